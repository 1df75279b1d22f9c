package krca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestHelmert: F'F = I, FF' = H, and reduce and expand are products with F.
func TestHelmert(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		f := newHelmert(rapid.SliceOfN(rapid.IntRange(1, 9), 1, 6).Draw(t, "sizes"))
		n, r := f.points(), f.order()
		if r == 0 {
			return
		}
		// Column i of F' is F' e_i.
		ft := mat.NewDense(r, n, nil)
		for i := range n {
			v := make([]float64, n)
			v[i] = 1
			f.apply(v)
			ft.SetCol(i, v[:r])
		}
		var gram, projector mat.Dense
		gram.Mul(ft, ft.T())
		projector.Mul(ft.T(), ft)
		identity := mat.NewDense(r, r, nil)
		for i := range r {
			identity.Set(i, i, 1)
		}
		within(t, "F'F", &gram, identity, 1e-14*float64(n))
		within(t, "FF'", &projector, explicitH(f), 1e-14*float64(n))

		b := gaussian(n, n, 1)
		var k, want, left mat.Dense
		k.Mul(mat.NewDense(n, n, b.Data), mat.NewDense(n, n, b.Data).T())
		left.Mul(ft, &k)
		want.Mul(&left, ft.T())
		a, err := f.reduce(context.Background(), eng, blas.MatrixOf(n, n, k.RawMatrix().Data))
		if err != nil {
			t.Fatal(err)
		}
		within(t, "F'KF", toMat(a), &want, 1e-13*float64(n))

		w := gaussian(r, 3, 2)
		var fw mat.Dense
		fw.Mul(ft.T(), mat.NewDense(r, 3, w.Data))
		within(t, "Fw", toMat(f.expand(blas.MatrixOf(r, 3, w.Data))), &fw, 1e-13*float64(n))
	})
}

// TestReduceInBlocks crosses the block edges of reduce and mirror.
func TestReduceInBlocks(t *testing.T) {
	eng := enginetest.New(t, 2)
	f := newHelmert([]int{2, 130, 1, 63, 64, 40, 2, 2})
	n, r := f.points(), f.order()
	b := gaussian(n, n, 3)
	k := mat.NewDense(n, n, nil)
	k.Mul(mat.NewDense(n, n, b.Data), mat.NewDense(n, n, b.Data).T())
	want := mat.NewDense(r, n, nil)
	for j := range n {
		v := mat.Col(nil, j, k)
		f.apply(v)
		want.SetCol(j, v[:r])
	}
	square := mat.NewDense(r, r, nil)
	for i := range r {
		v := mat.Row(nil, i, want)
		f.apply(v)
		square.SetRow(i, v[:r])
	}
	a, err := f.reduce(context.Background(), eng, blas.MatrixOf(n, n, k.RawMatrix().Data))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "F'KF", toMat(a), square, 1e-13)
	for i := range r {
		for j := range i {
			if a.At(i, j) != a.At(j, i) {
				t.Fatalf("not symmetric at (%d,%d)", i, j)
			}
		}
	}
}

// TestDecompose: for matrices of known rank, the rank is found, U has orthonormal columns
// and U S U' gives the matrix back.
func TestDecompose(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, c := range []struct{ r, rank int }{{1, 1}, {5, 0}, {7, 7}, {40, 3}, {100, 99}, {129, 64}} {
		t.Run(fmt.Sprintf("r=%d,rank=%d", c.r, c.rank), func(t *testing.T) {
			a := mat.NewDense(c.r, c.r, nil)
			if c.rank > 0 {
				g := gaussian(c.r, c.rank, 4)
				b := mat.NewDense(c.r, c.rank, g.Data)
				a.Mul(b, b.T())
			}
			d, err := decompose(context.Background(), eng, blas.MatrixOf(c.r, c.r, a.RawMatrix().Data), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.values) != c.rank {
				t.Fatalf("rank %d", len(d.values))
			}
			if c.rank == 0 {
				return
			}
			u := toMat(d.basis)
			s := mat.NewDiagDense(c.rank, d.values)
			var us, back, gram mat.Dense
			for j, v := range d.values {
				for i := range c.r {
					u.Set(i, j, u.At(i, j)*math.Sqrt(v))
				}
			}
			us.Mul(u, s)
			back.Mul(&us, u.T())
			gram.Mul(u.T(), u)
			identity := mat.NewDense(c.rank, c.rank, nil)
			for i := range c.rank {
				identity.Set(i, i, 1)
			}
			condition := d.values[0] / d.values[c.rank-1]
			within(t, "USU'", &back, a, 1e-12)
			within(t, "U'U", &gram, identity, 1e-14*float64(c.r)*condition)
		})
	}
}

func TestDecomposeIndefinite(t *testing.T) {
	eng := enginetest.New(t, 2)
	for name, data := range map[string][]float64{
		"negative diagonal": {1, 0, 0, -1},
		"zero diagonal":     {0, 1, 1, 0},
		"negative later":    {1, 2, 2, 1},
	} {
		_, err := decompose(context.Background(), eng, blas.MatrixOf(2, 2, data), 0)
		var want *fault.DataError
		if !errors.As(err, &want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestLandmarksSample: distinct ascending rows, reproducible, uniform.
func TestLandmarksSample(t *testing.T) {
	hits := make([]int, 20)
	for seed := range uint64(2000) {
		rows := landmarks(20, 5, seed)
		if len(rows) != 5 {
			t.Fatalf("%d rows", len(rows))
		}
		for i, r := range rows {
			if i > 0 && rows[i-1] >= r {
				t.Fatalf("rows %v are not ascending", rows)
			}
			hits[r]++
		}
		if again := landmarks(20, 5, seed); fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Fatalf("seed %d: %v, then %v", seed, rows, again)
		}
	}
	for r, h := range hits { // 500 expected, standard deviation 19
		if h < 400 || h > 600 {
			t.Errorf("row %d drawn %d times of 2000", r, h)
		}
	}
	if got := landmarks(5, 0, 1); len(got) != 5 {
		t.Errorf("all of 5: %v", got)
	}
	if got := landmarks(maxLandmarks+1, 0, 1); len(got) != maxLandmarks {
		t.Errorf("default: %d rows", len(got))
	}
}

// TestWeakDirection: chunklets that span the feature space, one direction of it a million
// times weaker than the strongest. The spectral form divides by its eigenvalue, which is
// known to ten digits only; the order of the points changes those digits. With eps moderate
// FormAuto must see that the Cholesky form loses less.
func TestWeakDirection(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n, d = 10, 6
	x := gaussian(n, d, 1)
	chunklets := [][]int{{0, 2, 4, 5, 6, 7, 9}, {1, 3}}
	var first *mat.Dense
	for shift := range n {
		moved := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
		to := func(i int) int { return (i + shift) % n }
		for i := range n {
			copy(moved.Row(to(i)), x.Row(i))
		}
		var renamed [][]int
		for _, c := range chunklets {
			var rows []int
			for _, i := range c {
				rows = append(rows, to(i))
			}
			renamed = append(renamed, rows)
		}
		m := fittest.On[*Model](t, eng, withKernel(t, "linear", 3e-2), moved, chunkletSet(t, n, renamed...))
		if form := m.metric.form(); form != FormCholesky {
			t.Errorf("shift %d: form %s", shift, form)
		}
		kt := toMat(gramOf(t, eng, m, x, nil))
		if first == nil {
			first = kt
			continue
		}
		within(t, fmt.Sprintf("shift %d", shift), kt, first, 1e-12)
	}
}

// TestEqualRowsAreSemidefinite: all that is left of F'KF for chunklets of equal rows is
// rounding error of either sign, which is no sign of an indefinite kernel.
func TestEqualRowsAreSemidefinite(t *testing.T) {
	eng := enginetest.New(t, 2)
	for seed := range uint64(40) {
		x := gaussian(6, 2, seed)
		copy(x.Row(4), x.Row(0))
		copy(x.Row(5), x.Row(1))
		s := chunkletSet(t, 6, []int{0, 4}, []int{1, 5})
		for _, form := range forms {
			l := withKernel(t, "linear", 0.3)
			l.Params.Form = Form(form)
			m := fittest.On[*Model](t, eng, l, x, s)
			// Nothing varies inside chunklets: kt = k/eps.
			var want mat.Dense
			want.Scale(1/0.3, toMat(kernelOf(t, eng, "linear", x, x)))
			within(t, fmt.Sprintf("seed %d, %s", seed, form), toMat(gramOf(t, eng, m, x, nil)), &want, 1e-14)
		}
	}
}

// TestSubstitute: the coordinates of one point solve L c = F'k_x, in units of the rounding of r
// products.
func TestSubstitute(t *testing.T) {
	eng := enginetest.New(t, 1)
	for _, r := range []int{1, 2, 7, 50, 256} {
		b := gaussian(r, r, uint64(r))
		m := &metric{factor: blas.NewMatrix(r, r)}
		for i := range r {
			copy(m.factor.Row(i)[:i], b.Row(i))
			m.factor.Set(i, i, float64(r)+b.Row(i)[i])
		}
		want := gaussian(1, r, 9).Row(0)
		c := append([]float64(nil), want...)
		m.substitute(eng, c)
		for i := range r {
			sum, size := 0.0, math.Abs(want[i])
			for j, v := range m.factor.Row(i)[:i+1] {
				sum += v * c[j]
				size += math.Abs(v * c[j])
			}
			if math.Abs(sum-want[i]) > float64(r+1)*0x1p-53*size {
				t.Errorf("order %d: row %d of L c is %v, want %v", r, i, sum, want[i])
			}
		}
	}
}

// TestSemidefiniteTolerance: what the pivots leave is rounding up to 1e-8 of the matrix.
func TestSemidefiniteTolerance(t *testing.T) {
	eng, bt := enginetest.New(t, 1), blas.NewMatrix(3, 3)
	bt.Shift(1)
	for off, refused := range map[float64]bool{5e-9: false, 2e-8: true, -2e-8: true, math.NaN(): true} {
		a := bt.Clone()
		a.Set(0, 0, 1+off)
		if err := checkSemidefinite(eng, a, bt, 0); fault.IsInput(err) != refused || (err != nil) != refused {
			t.Errorf("an element that is off by %g: error %v", off, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pivotedCholesky(ctx, eng, bt, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestOrient: the largest component becomes positive, the first of those that are equal to 1e-9.
func TestOrient(t *testing.T) {
	for last, turned := range map[float64]bool{-1 - 5e-10: false, -1 - 5e-9: true, 2: false, -2: true} {
		u := []float64{1, last}
		if orient(u); (u[0] < 0) != turned || math.Abs(u[1]) != math.Abs(last) || u[0]*u[1]*last < 0 {
			t.Errorf("1 and %v become %v", last, u)
		}
	}
}
