package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

func params(base string, count, dims int) Params {
	return Params{Base: base, Size: count, Dims: dims}
}

func divided(p Params) algorithms.Learner { return learner.New(p, algorithms.Common{Seed: 1}) }

func embedded(t *testing.T, m algorithms.Model, x points.Points) blas.Matrix {
	t.Helper()
	y, err := m.Embed(t.Context(), enginetest.New(t, 2), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestDivide: every link is in one part, with its sign; the parts have equal shares of both kinds;
// every point is in a part, and points without links are in one part.
func TestDivide(t *testing.T) {
	_, labels, _ := enginetest.Blobs(t, 300, 2, 10, 5)
	set := enginetest.Drawn(t, labels, 61, 40, 3)
	pieces, err := divide(set, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		i, j int
		sign links.Sign
	}
	found, in := map[pair]int{}, make([]int, set.N())
	for k, piece := range pieces {
		must, cannot := piece.links.Count()
		if must < 15 || must > 16 || cannot != 10 || piece.links.N() != len(piece.rows) ||
			!slices.IsSorted(piece.rows) {
			t.Errorf("part %d has %d must-links and %d cannot-links among %d of %d rows", k, must, cannot,
				piece.links.N(), len(piece.rows))
		}
		for _, i := range piece.rows {
			in[i]++
		}
		for _, l := range slices.Concat(piece.links.Must(), piece.links.Cannot()) {
			found[pair{piece.rows[l.I], piece.rows[l.J], l.Sign}]++
		}
	}
	linked := make([]bool, set.N())
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		linked[l.I], linked[l.J] = true, true
		if n := found[pair{l.I, l.J, l.Sign}]; n != 1 {
			t.Errorf("link %d-%d is in %d parts", l.I, l.J, n)
		}
	}
	if len(found) != set.Len() {
		t.Errorf("%d links in the parts: want %d", len(found), set.Len())
	}
	for i, n := range in {
		if n == 0 || !linked[i] && n != 1 {
			t.Errorf("row %d is in %d parts, linked %v", i, n, linked[i])
		}
	}
}

// TestMean: with all directions, the learned kernel is the mean of those of the parts, up to a
// constant per point: squared distances are the means of theirs.
func TestMean(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 120, 3, 10, 3)
	fresh, _, _ := enginetest.Blobs(t, 20, 3, 5, 9)
	set, eng := enginetest.Drawn(t, labels, 40, 40, 4), enginetest.New(t, 2)
	for base := range kinds() {
		p := params(base, 20, 1000)
		m := fittest.Fit[*Model](t, divided(p), x, set)
		if len(m.parts) != 4 || !m.Status().Converged {
			t.Fatalf("%s: %d parts, converged %v", base, len(m.parts), m.Status().Converged)
		}
		pieces, err := divide(set, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		pairs, mean := [][2]int{{0, 1}, {2, 5}, {7, 19}}, make([]float64, 3)
		for _, piece := range pieces {
			own, err := kinds()[base].new(p.Dims, len(piece.rows),
				algorithms.Common{Seed: 1}).Fit(t.Context(), eng, x.Select(piece.rows), piece.links)
			if err != nil {
				t.Fatal(err)
			}
			y := embedded(t, own, fresh)
			for k, pair := range pairs {
				mean[k] += points.SquaredDistance(y.Row(pair[0]), y.Row(pair[1])) / 4
			}
		}
		got, err := m.Distances(t.Context(), eng, fresh, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range got { // directions in which the sample of the points does not vary are left out
			if !(math.Abs(v-mean[k]) <= 0.02*mean[k]) {
				t.Errorf("%s: squared distance %g: the mean of the parts is %g", base, v, mean[k])
			}
		}
		few := fittest.Fit[*Model](t, divided(params(base, 20, 2)), x, set)
		if few.Dim() != 2 {
			t.Errorf("%s: %d dimensions: want 2", base, few.Dim())
		}
	}
}

// TestOnePart: one part is the base method turned, so distances between all points stay.
func TestOnePart(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 4, 30, 3)
	eng := enginetest.New(t, 2)
	whole := fittest.Fit[*Model](t, divided(param.Default[Params]()), x, set)
	own, err := kinds()["lleratio"].new(0, x.N, algorithms.Common{Seed: 1}).Fit(t.Context(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	y, z := embedded(t, whole, x), embedded(t, own, x)
	for i := range 20 {
		a, b := points.SquaredDistance(y.Row(i), y.Row(i+20)), points.SquaredDistance(z.Row(i), z.Row(i+20))
		if !(math.Abs(a-b) <= 1e-9*(1+b)) {
			t.Errorf("squared distance %g: want %g", a, b)
		}
	}
}

// TestPartsBits checks that the number of workers does not change a bit, and that a model of
// several parts survives its file.
func TestPartsBits(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 120, 3, 10, 3)
	set, one := enginetest.Drawn(t, labels, 40, 40, 4), enginetest.New(t, 1)
	var before []float64
	for _, workers := range []int{1, 2, 5} {
		eng := enginetest.With(t, engine.Options{Workers: workers, Backend: one.Backend()})
		m, err := divided(params("krca", 20, 5)).Fit(t.Context(), eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		var f model.File
		if err := m.Encode(&f); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(&f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []algorithms.Model{m, again} {
			y := embedded(t, m, x)
			if before != nil && !slices.Equal(before, y.Data) {
				t.Errorf("%d workers, or a file, give other bits", workers)
			}
			before = y.Data
		}
	}
}

// TestPartsErrors: a part that cannot learn is named, a Gram matrix is refused, and so are files
// without parts, with another method, and with axes of another size.
func TestPartsErrors(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 120, 3, 10, 3)
	eng := enginetest.New(t, 2)
	_, err := divided(params("lleratio", 10, 5)).Fit(t.Context(), eng, x,
		enginetest.Drawn(t, labels, 40, 1, 4))
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "part 0 of 5") {
		t.Errorf("too few cannot-links: error %v", err)
	}
	m := fittest.Fit[*Model](t, divided(params("krca", 20, 5)), x, enginetest.Drawn(t, labels, 40, 40, 4))
	for name, spoil := range map[string]func(f *model.File, head *about){
		"no parts":     func(_ *model.File, head *about) { head.Parts = nil },
		"other method": func(_ *model.File, head *about) { head.Parts[1].Method = "rca" },
		"other size": func(f *model.File, _ *about) {
			f.SetFloat64s("parts.axes", make([]float64, 7), 7, 1)
		},
	} {
		var f model.File
		var head about
		if err := m.Encode(&f); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(f.Header.Extra[Method], &head); err != nil {
			t.Fatal(err)
		}
		spoil(&f, &head)
		text, err := json.Marshal(head)
		if err != nil {
			t.Fatal(err)
		}
		f.Header.Extra[Method] = text
		if _, err := Decode(&f); !fault.IsInput(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestSuits: rows in must-linked groups and in cannot-links count, for base methods alone, and not
// where links are far more than rows.
func TestSuits(t *testing.T) {
	const n = manyRows + 2
	var pairs []links.Link
	for i := 0; i < n; i += 2 {
		pairs = append(pairs, links.NewLink(i, i+1, []links.Sign{links.Must, links.Cannot}[i/2%2]))
	}
	build := func(n int, list []links.Link) *links.Set {
		set, err := links.New(n, list)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	crowd, err := links.FromChunklets(n, [][]int{group})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method string
		set    *links.Set
		want   bool
	}{
		"all rows":  {"lleratio", build(n, pairs), true},
		"no base":   {"itml", build(n, pairs), false},
		"few rows":  {"krca", build(n, pairs[:len(pairs)-1]), false},
		"all pairs": {"krca", crowd, false},
	} {
		if got := Suits(c.method, c.set); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestMemory: where two parts exceed the memory limit, one is fitted after the other, with the same
// result. Where one does, the error names a smaller size. Another request of it may still be too
// large, but a few errors lead to a size that fits.
func TestMemory(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 600, 4, 250, 1)
	for _, base := range []string{"lleratio", "krca", "gml"} {
		fit := func(limit int64, size int) (algorithms.Model, *fault.MemoryError) {
			t.Helper()
			m, err := divided(params(base, size, 5)).Fit(t.Context(),
				enginetest.With(t, engine.Options{Workers: 2, MemoryLimit: limit}), x, set)
			var memory *fault.MemoryError
			if err != nil && !errors.As(err, &memory) {
				t.Fatal(err)
			}
			return m, memory
		}
		const size = 300
		want, _ := fit(0, size)
		_, refused := fit(1<<16, size)
		if refused == nil || refused.Limit != 1<<16 || !strings.Contains(refused.What, "part of 250 links") {
			t.Fatalf("%s: error %v: want one of a part of 250 links", base, refused)
		}
		limit := refused.Need
		got, _ := fit(limit, size)
		for got == nil {
			limit += limit / 4
			got, _ = fit(limit, size)
		}
		if !slices.Equal(embedded(t, got, x).Data, embedded(t, want, x).Data) {
			t.Errorf("%s: another result within %d bytes", base, limit)
		}
		for least, steps := size, 0; ; steps++ {
			_, refused := fit(limit/2, least)
			if refused == nil {
				break
			}
			before := least
			_, err := fmt.Sscanf(refused.Hint, "use size=%d or less, or raise the memory limit", &least)
			if err != nil || least >= before || steps > 3 {
				t.Fatalf("%s: size=%d: %v: want a smaller size", base, before, refused)
			}
		}
	}
}

// TestAxes: the axes are the directions in which the coordinates of all parts vary by more than
// 1e-12 of the largest variance.
func TestAxes(t *testing.T) {
	x := &points.Dense{N: 4, D: 2, Data: []float64{1, 1, 1, -1, -1, 1, -1, -1}}
	f := &learner.Fit{Eng: enginetest.New(t, 1), X: x}
	for variance, directions := range map[float64]int{3e-12: 2, 3e-13: 1} {
		maps := []*fitted.Map{
			fitted.NewLinear("test", []float64{0, 0}, blas.MatrixOf(1, 2, []float64{1, 0})),
			fitted.NewLinear("test", []float64{0, 0}, blas.MatrixOf(1, 2, []float64{0, math.Sqrt(variance)})),
		}
		axes, err := params("krca", 1, 2).axes(t.Context(), f, maps)
		if err != nil || axes.Cols != directions || math.Abs(math.Abs(axes.At(0, 0))-math.Sqrt(.5)) > 1e-9 {
			t.Errorf("variance %g: axes %v, want %d (%v)", variance, axes.Data, directions, err)
		}
	}
}

// TestPartOfError: the error of a part names how many links the largest part has.
func TestPartOfError(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 200, 4, 32, 1)
	eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 4 << 10})
	_, err := divided(params("krca", 25, 5)).Fit(t.Context(), eng, x, set) // 64 links in three parts
	memory, is := errors.AsType[*fault.MemoryError](err)
	if !is || !strings.Contains(memory.What, "part of 22 links") {
		t.Errorf("error %v: want one of a part of 22 links", err)
	}
}
