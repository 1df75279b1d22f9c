package krca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

const never, always = math.MaxInt, 0 // products after which Kt is computed

// embeddingOf is fitEmbedding by Kt, or by a number of products and then by Kt.
func embeddingOf(t *testing.T, eng *engine.Engine, m *metric, x points.Points, rows, refs []int, p Params,
	search bool, products int) (*embedding, spectrum) {
	t.Helper()
	ctx := context.Background()
	g, err := m.begin(ctx, eng, x.Select(refs), positions(refs, rows), search)
	if err != nil {
		t.Fatal(err)
	}
	var s spectrum
	if search {
		s, err = m.search(ctx, eng, &g, p.Dims, products)
		if err == nil && s.values == nil {
			t.Fatal("the search has found nothing")
		}
		if g.open == (products == always) {
			t.Errorf("Kt is to come: %t, after %d products", g.open, products)
		}
	} else {
		s, err = m.leading(ctx, eng, &g, refs, p.Dims, false, func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	columns, offset, err := s.projection(p)
	if err != nil {
		t.Fatal(err)
	}
	return m.choleskyEmbedding(x, rows, refs, m.fold(ctx, eng, &g, columns), columns, offset), s
}

// TestImplicit compares eigenvectors by products with those of Kt: eigenvalues, and embeddings of
// training points and others. A product has rounding errors of a few u |K|/eps, the search stops at
// residuals of 1e-12 |Kt|, and an eigenvector moves by its residual over the gap to its neighbors.
func TestImplicit(t *testing.T) {
	const n = 640
	blobs, _, blobLinks := enginetest.Blobs(t, n, 6, 250, 1)
	repeated := gaussian(n, 5, 4)
	for i := range n - n%3 {
		copy(repeated.Row(i), repeated.Row(i%(n/3)))
	}
	spread := chunkletSet(t, n, runs(n, 7, slices.Repeat([]int{4, 2, 3, 5, 1}, 20)...)...)
	for _, c := range []struct {
		name   string
		x      *points.Dense
		kernel string
		eps    float64
		params Params
		sets   [][]int
		tol    float64
	}{
		{"blobs", blobs, "rbf:sigma=median", 1e-3, Params{Dims: 12}, blobLinks.Chunklets(), 1e-9},
		{"blobs, power", blobs, "exp:width=3", 1e-3, Params{Dims: 7, Power: 0.5}, blobLinks.Chunklets(),
			1e-9},
		{"flat", gaussian(n, 300, 2), "rbf:sigma=median", 1e-3, Params{Dims: 10}, spread.Chunklets(), 1e-8},
		{"flat, large eps", gaussian(n, 300, 3), "rbf:sigma=median", 1, Params{Dims: 10}, spread.Chunklets(),
			1e-8},
		{"repeated rows", repeated, "rbf:sigma=2", 1e-3, Params{Dims: 12}, spread.Chunklets(), 1e-9},
		{"rank below dims", gaussian(n, 3, 5), "poly:degree=2,coef=1,scale=1", 1, Params{Dims: 12},
			spread.Chunklets(), 1e-9},
		{"a seventh of the points", blobs, "rbf:sigma=median", 1e-3, Params{Dims: 12},
			blobLinks.Chunklets()[:20], 1e-9},
	} {
		t.Run(c.name, func(t *testing.T) {
			eng := enginetest.New(t, 2)
			refs := sequence(n)
			if c.name == "blobs, power" { // some anchors are no reference points
				refs = refs[:n-100]
			}
			l := withKernel(t, c.kernel, c.eps)
			l.Params.Form = FormCholesky
			m := fittest.On[*Model](t, eng, l, c.x, chunkletSet(t, n, c.sets...))
			rows, _ := flatten(chunkletSet(t, n, c.sets...).Chunklets())
			want, exact := embeddingOf(t, eng, m.metric, c.x, rows, refs, c.params, false, 0)
			fresh := c.x.Select(refs[:50]).(*points.Dense)
			for i := range fresh.Data {
				fresh.Data[i] += 0.1 * math.Sin(float64(i))
			}
			for _, products := range []int{never, always} {
				got, s := embeddingOf(t, eng, m.metric, c.x, rows, refs, c.params, true, products)
				for i, w := range s.values {
					if !(math.Abs(w-exact.values[i]) <= 1e-11*exact.values[0]) {
						t.Errorf("eigenvalue %d is %v: want %v", i, w, exact.values[i])
					}
				}
				for what, x := range map[string]points.Points{"training points": c.x, "others": fresh} {
					a, b := blas.NewMatrix(x.Len(), got.dim()), blas.NewMatrix(x.Len(), want.dim())
					if err := errors.Join(got.embed(context.Background(), eng, m.metric, x, a),
						want.embed(context.Background(), eng, m.metric, x, b)); err != nil {
						t.Fatal(err)
					}
					within(t, what, toMat(a), toMat(b), c.tol)
				}
			}
		})
	}
}

// TestKnown checks that kernel values of anchors that are reference points are where they belong,
// and those of other anchors.
func TestKnown(t *testing.T) {
	const n = 60
	eng, ctx := enginetest.New(t, 2), context.Background()
	x := gaussian(n, 4, 1)
	set := chunkletSet(t, n, runs(n, 7, 5, 2, 3, 8, 2)...)
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=2", 1e-2), x, set).metric
	rows, _ := flatten(set.Chunklets())
	for _, refs := range [][]int{sequence(n), sequence(n)[:30], {0, 3, 59}} {
		want, err := m.begin(ctx, eng, x.Select(refs), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.begin(ctx, eng, x.Select(refs), positions(refs, rows), false)
		if err != nil {
			t.Fatal(err)
		}
		within(t, fmt.Sprint(len(refs), " reference points"), toMat(got.c), toMat(want.c), 1e-13)
	}
}

// TestImplicitGrown checks products with the basis of an updated model.
func TestImplicitGrown(t *testing.T) {
	const n = 600
	eng, ctx := enginetest.New(t, 2), context.Background()
	x, _, set := enginetest.Blobs(t, n, 6, 100, 1)
	u, err := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=3", 1e-2), x, set).Incremental()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, eng, x, []int{0, 300, 599}, []int{7, 8, 9}); err != nil {
		t.Fatal(err)
	}
	p := Params{Dims: 8}
	want, _ := embeddingOf(t, eng, u.metric(), u.store, u.positions, u.refs, p, false, 0)
	got, _ := embeddingOf(t, eng, u.metric(), u.store, u.positions, u.refs, p, true, never)
	within(t, "weights", toMat(got.weights), toMat(want.weights), 1e-8)
}

// TestImplicitFit checks fits of so many points that they search by products: the result is
// bit-identical for any number of workers, agrees with the one of Kt, and needs less memory.
func TestImplicitFit(t *testing.T) {
	ctx := context.Background()
	x, _, set := enginetest.Blobs(t, implicitLeast, 8, 200, 1)
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=4"), Params: Params{EpsRel: 1e-3, Dims: 9}}
	var first *Model
	for workers := 1; workers <= 3; workers++ {
		m := fittest.On[*Model](t, enginetest.New(t, workers), l, x, set)
		if first == nil {
			first = m
			continue
		}
		sameBits(t, fmt.Sprintf("weights on %d workers", workers), m.embed.weights, first.embed.weights)
	}
	eng := enginetest.New(t, 2)
	rows, f := flatten(set.Chunklets())
	if !first.metric.implicit(x, x.N, 9) {
		t.Fatal("the fit did not search by products")
	}
	want, _ := embeddingOf(t, eng, first.metric, x, rows, sequence(x.N), l.Params, false, 0)
	within(t, "weights", toMat(first.embed.weights), toMat(want.weights), 1e-8)

	square := engine.MatrixBytes(x.N, x.N)
	limit := 2*square + engine.MatrixBytes(x.N, f.order()) + engine.MatrixBytes(f.order(), f.order())
	small := enginetest.With(t, engine.Options{MemoryLimit: limit})
	fittest.On[*Model](t, small, l, x, set)
	l.Params.Dims = 0
	if _, err := l.Fit(ctx, small, x, set); !isMemory(err) {
		t.Errorf("all dimensions in %d bytes: %v", limit, err)
	}
}

func isMemory(err error) bool {
	_, ok := errors.AsType[*fault.MemoryError](err)
	return ok
}

// TestImplicitOrNot checks what is not searched by products, and what is given up.
func TestImplicitOrNot(t *testing.T) {
	const n = 600
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := gaussian(n, 4, 1)
	set := chunkletSet(t, n, runs(n, 1, 3, 4, 2)...)
	for _, c := range []struct {
		kernel string
		dims   int
		want   bool
	}{
		{"rbf:sigma=1", 20, true}, {"linear", 20, true}, {"rbf:sigma=1@poly:degree=2", 20, true},
		{"rbf:sigma=1", 0, false}, {"rbf:sigma=1", 500, false}, {"sigmoid", 20, false},
		{"rbf:sigma=1@sigmoid", 20, false},
	} {
		m := &metric{kernel: enginetest.Kernel(t, c.kernel)}
		if got := m.implicit(x, 5000, c.dims); got != c.want {
			t.Errorf("%d dimensions of %s by products: %t", c.dims, c.kernel, got)
		}
		m.values = []float64{1}
		if m.implicit(x, 5000, c.dims) {
			t.Errorf("%d dimensions of %s by products, in the spectral form", c.dims, c.kernel)
		}
	}
	if (&metric{kernel: enginetest.Kernel(t, "linear")}).implicit(x, implicitLeast-1, 5) {
		t.Error("by products for few points")
	}
	big := x.Select(sequence(n)).(*points.Dense)
	for i := range big.Data {
		big.Data[i] *= 1e55
	}
	flat := x.Select(sequence(n)).(*points.Dense)
	for i := range flat.Data {
		flat.Data[i] = 1 + 1e-9*flat.Data[i]
	}
	for name, c := range map[string]struct {
		x      points.Points
		kernel string
	}{
		"values that are immoderate":            {big, "linear"},
		"points that coincide but for rounding": {flat, "rbf:sigma=1"},
	} {
		l := withKernel(t, c.kernel, 1e-3)
		l.Params = Params{EpsRel: 1, Form: FormCholesky, Dims: 3}
		m, err := FitMetric(ctx, eng, l, c.x, set)
		if err != nil {
			t.Fatal(name, err)
		}
		g, err := m.metric.begin(ctx, eng, c.x, nil, true)
		if err != nil {
			t.Fatal(name, err)
		}
		if s, err := m.metric.search(ctx, eng, &g, 3, never); err != nil || s.values != nil {
			t.Errorf("%s: eigenvalues %v, error %v: want none", name, s.values, err)
		}
		if s, err := m.metric.leading(ctx, eng, &g, sequence(n), 3, true, func(string) {}); err != nil ||
			len(s.values) != 3 {
			t.Errorf("%s: eigenvalues %v, error %v: want those of Kt", name, s.values, err)
		}
	}
}

// TestImplicitResidual checks that a residual above the limit is found.
func TestImplicitResidual(t *testing.T) {
	const n = 520
	eng := enginetest.New(t, 1)
	x, _, set := enginetest.Blobs(t, n, 6, 100, 1)
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=3", 1e-3), x, set).metric
	g, err := m.begin(context.Background(), eng, x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.search(context.Background(), eng, &g, 4, never)
	if err != nil {
		t.Fatal(err)
	}
	u := blas.NewMatrix(n, 4)
	for j := range 4 {
		for i, v := range s.vectors.Row(j) {
			u.Set(i, j, v)
		}
	}
	limit := 1e-10 * s.values[0]
	if !m.confirm(t.Context(), eng, &g, &s, u, limit) {
		t.Error("eigenvectors are refused")
	}
	for _, wrong := range []float64{2 * limit, math.NaN()} {
		moved := spectrum{values: slices.Clone(s.values)}
		moved.values[2] += wrong
		if m.confirm(t.Context(), eng, &g, &moved, u, limit) {
			t.Errorf("an eigenvalue that is wrong by %v passes", wrong)
		}
	}
}

// TestImplicitCancel cancels a search everywhere, before Kt and with it.
func TestImplicitCancel(t *testing.T) {
	const n = 520
	eng := enginetest.New(t, 2)
	x, _, set := enginetest.Blobs(t, n, 6, 100, 1)
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=3", 1e-3), x, set).metric
	for _, products := range []int{never, 20} {
		for at := 1; ; at += 1 + at/4 {
			g, err := m.begin(context.Background(), eng, x, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			ctx := enginetest.StopAt(at)
			s, err := m.search(ctx, eng, &g, 5, products)
			if !ctx.Stopped() {
				if err != nil || s.values == nil || at < 20 {
					t.Errorf("not canceled at %d: %v, %v", at, s.values, err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || s.values != nil {
				t.Fatalf("canceled at %d: %v, %v", at, s.values, err)
			}
		}
	}
}

// TestRowOfError checks that the row of an error is one of the points, also where products take
// them in another order.
func TestRowOfError(t *testing.T) {
	const n, bad = 60, 41
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := gaussian(n, 4, 1)
	set := chunkletSet(t, n, runs(n, 7, 5, 2, 3, 8, 2)...)
	m := fittest.On[*Model](t, eng, withKernel(t, "poly:degree=3", 1e-2), x, set).metric
	rows, _ := flatten(set.Chunklets())
	if slices.Contains(rows, bad) {
		t.Fatalf("row %d is in a chunklet", bad)
	}
	other := x.Select(sequence(n)).(*points.Dense)
	other.Row(bad)[0] = 1e110
	for _, short := range []bool{true, false} {
		_, err := m.begin(ctx, eng, other, positions(sequence(n), rows), short)
		if e, is := errors.AsType[*fault.DataError](err); !is || e.Row != bad {
			t.Errorf("error %v: want one of row %d", err, bad)
		}
	}
}
