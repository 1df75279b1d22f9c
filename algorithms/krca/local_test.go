package krca

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// With all chunklets near, every query has the metric of all links; with one, that of the nearest
// chunklet alone.
func TestLocalIsTheFitOfItsChunklets(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 60, 3, 30, 4)
	p := DefaultParams()
	p.EpsRel, p.Eps = 0, 0.02
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=1.5"), Params: p}
	queries := []int{0, 17, 59, 17}
	all, err := FitLocal(ctx, eng, l, x, set, 1000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := all.Distances(ctx, eng, x, queries)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(name string, l Learner, chunklets [][]int, q int, got []float64) {
		t.Helper()
		m, err := FitMetric(ctx, eng, l, x, chunkletSet(t, x.Len(), chunklets...))
		if err != nil {
			t.Fatal(err)
		}
		pairs := make([][2]int, x.Len())
		for j := range pairs {
			pairs[j] = [2]int{q, j}
		}
		want, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range want {
			if math.Abs(got[j]-v) > 1e-9*(1+v) {
				t.Errorf("%s: query %d, point %d: %g, by a fit %g", name, q, j, got[j], v)
			}
		}
	}
	large := slices.DeleteFunc(set.Chunklets(), func(c []int) bool { return len(c) < 2 })
	if all.Chunklets() != len(large) {
		t.Fatalf("%d chunklets, want %d", all.Chunklets(), len(large))
	}
	for at, q := range queries {
		compare("all", l, large, q, d.Row(at))
	}
	one, err := FitLocal(ctx, eng, l, x, set, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = one.Distances(ctx, eng, x, queries); err != nil {
		t.Fatal(err)
	}
	for at, q := range queries {
		nearest, best := -1, math.Inf(1)
		for c, rows := range large {
			for _, i := range rows {
				if v := squaredDistance(x.Row(q), x.Row(i)); v < best { // of a Gaussian kernel in the same order
					nearest, best = c, v
				}
			}
		}
		compare("one", l, large[nearest:nearest+1], q, d.Row(at))
	}
}

func TestLocalDoesNotDependOnWorkers(t *testing.T) {
	ctx := context.Background()
	x, _, set := enginetest.Bands(t, 80, 3, 40, 5)
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		eng := enginetest.New(t, workers)
		m, err := FitLocal(ctx, eng, Learner{Params: DefaultParams()}, x, set, 4)
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.Distances(ctx, eng, x, []int{3, 9, 70})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = d.Data
		}
		if !slices.Equal(first, d.Data) {
			t.Errorf("%d workers give other bits", workers)
		}
	}
}

func TestLocalBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, _, set := enginetest.Bands(t, 30, 3, 10, 6)
	l := Learner{Params: DefaultParams()}
	if _, err := FitLocal(ctx, eng, l, x, set, 0); !isParam(err, "nearest") {
		t.Errorf("no chunklets near: %v", err)
	}
	if _, err := FitLocal(ctx, eng, l, x.Select([]int{0, 1}), set, 1); !fault.IsInput(err) {
		t.Errorf("links of other points: %v", err)
	}
	m, err := FitLocal(ctx, eng, l, x, set, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, queries := range [][]int{{-1}, {30}} {
		if _, err := m.Distances(ctx, eng, x, queries); !fault.IsInput(err) {
			t.Errorf("queries %v: %v", queries, err)
		}
	}
	if _, err := m.Distances(ctx, eng, &points.Dense{N: 2, D: 2, Data: make([]float64, 4)}, []int{0}); !fault.IsInput(err) {
		t.Errorf("other features: %v", err)
	}
	if d, err := m.Distances(ctx, eng, x, nil); err != nil || d.Rows != 0 {
		t.Errorf("no queries: %d rows, %v", d.Rows, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Distances(canceled, eng, x, []int{0}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func isParam(err error, name string) bool {
	p, ok := errors.AsType[*fault.ParamError](err)
	return ok && p.Param == name
}
