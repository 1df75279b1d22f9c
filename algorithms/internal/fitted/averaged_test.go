package fitted

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Averages are those of the definition, of coordinates of any and of unit length, in each block of
// rows, and leave out the row itself.
func TestAveraged(t *testing.T) {
	const near, d = 4, 2
	n := averagedRows + 8
	rng, eng := rand.New(rand.NewPCG(1, 2)), enginetest.New(t, 2)
	x := enginetest.Normal(rng, n, 3, 0)
	flat := NewLinear("test", []float64{1, 2, 3}, enginetest.Matrix(rng, d, 3, 0))
	unit := Unit{Least: 1e-12}
	for name, m := range map[string]*Map{"linear": flat, "directed": NewDirected(unit, flat, unit)} {
		z, err := m.Embed(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		support := z.View(0, 40, 0, d).Clone()
		a := Averaged(m, support, near)
		same := 0.0
		for _, v := range support.Data { // now numbers of single precision
			same += 1e-6 * v * v / float64(support.Rows)
		}
		y, err := a.Embed(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			var rows []neighbor
			for r := range support.Rows {
				if v := points.SquaredDistance(z.Row(i), support.Row(r)); v >= same {
					rows = append(rows, neighbor{r, v})
				}
			}
			slices.SortFunc(rows, func(a, b neighbor) int { return cmp.Compare(a.squared, b.squared) })
			average, sum := make([]float64, d), 0.0
			for _, r := range rows[:near+1] {
				w := 1 - r.squared/rows[near].squared
				sum += w
				for j, v := range support.Row(r.row) {
					average[j] += w * v
				}
			}
			length := math.Hypot(average[0], average[1])
			for j, v := range average {
				got, want := y.At(i, j), (z.At(i, j)+v/sum)/2
				if a.Directed() {
					got, want = y.At(i, d+j), v/length/math.Sqrt2
					if e := math.Abs(y.At(i, j) - z.At(i, j)/math.Sqrt2); e > 1e-15 {
						t.Fatalf("%s: coordinate %d of row %d differs by %v from that of the map", name, j, i, e)
					}
				}
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("%s: coordinate %d of row %d is %v: want %v", name, j, i, got, want)
				}
			}
		}
	}
}

// Gram matrices and distances are those of the learned kernel, and no matrix is made that does not
// fit into the memory.
func TestCorrected(t *testing.T) {
	const rows, cols = 40, 30
	rng, eng := rand.New(rand.NewPCG(3, 4)), enginetest.New(t, 1)
	x, y := enginetest.Normal(rng, rows, 3, 0), enginetest.Normal(rng, cols, 3, 0)
	support := enginetest.Normal(rng, 4, 3, 0)
	c := Correction{Scale: 2, Rows: []int{0, 2}, Turn: blas.MatrixOf(2, 2, []float64{1, 0.5, 0, 2}),
		Change: blas.MatrixOf(2, 2, []float64{-2, 0.3, 0.3, -1})}
	m := Corrected(NewExpansion("test", kernel.Linear(), support, enginetest.Matrix(rng, 2, 4, 0), nil), c)
	changes := func(x []float64) [2]float64 {
		k, l := blas.Dot(support.Row(0), x), blas.Dot(support.Row(2), x)
		return [2]float64{k, 0.5*k + 2*l}
	}
	learned := func(x, y []float64) float64 {
		a, b := changes(x), changes(y)
		return 2*blas.Dot(x, y) + 2*a[0]*b[0] - 0.3*(a[0]*b[1]+a[1]*b[0]) + a[1]*b[1]
	}
	between, err := m.Gram(t.Context(), eng, x, y)
	if err != nil {
		t.Fatal(err)
	}
	among, err := m.Gram(t.Context(), eng, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	distance, err := m.Distances(t.Context(), eng, x, [][2]int{{0, 1}, {3, 1}, {4, 4}})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-10 {
			t.Errorf("%s is %v: want %v", what, got, want)
		}
	}
	for i := range rows {
		for j := range cols {
			near("kernel value", between.At(i, j), learned(x.Row(i), y.Row(j)))
		}
		for j := range rows {
			near("kernel value of a Gram matrix", among.At(i, j), learned(x.Row(i), x.Row(j)))
		}
	}
	for p, pair := range [][2]int{{0, 1}, {3, 1}, {4, 4}} {
		a, b := x.Row(pair[0]), x.Row(pair[1])
		near("distance", distance[p], learned(a, a)+learned(b, b)-2*learned(a, b))
	}
	need := engine.MatrixBytes(rows, cols) + engine.MatrixBytes(cols+2*rows, 2)
	for limit, fits := range map[int64]bool{need: true, need - 1: false} {
		small := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		_, err := m.Gram(t.Context(), small, x, y)
		memory, is := errors.AsType[*fault.MemoryError](err)
		if is == fits || fits && err != nil || is && memory.What != "learned kernel matrix 40 x 30" {
			t.Errorf("%d bytes: error %v", limit, err)
		}
	}
}
