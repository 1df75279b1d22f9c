package nonlinear

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestKleinShortestPaths compares the lengths with those of Floyd & Warshall over all points with
// must-links of length 0, and checks that cannot-links, with their closure, are then longer than
// all others.
func TestKleinShortestPaths(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(8, 30).Draw(rt, "n")
		pairs := rapid.IntRange(1, 6).Draw(rt, "pairs")
		x, _, set := enginetest.Rings(rt, n, pairs, rapid.Uint64().Draw(rt, "seed"))
		ctx, eng := context.Background(), enginetest.New(rt, 0)
		d, err := kernel.Linear().SquaredDistances(ctx, eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		want := make([][]float64, n)
		for i := range n {
			want[i] = make([]float64, n)
			for j := range n {
				want[i][j] = math.Sqrt(d.At(i, j))
			}
		}
		for _, l := range set.Must() {
			want[l.I][l.J], want[l.J][l.I] = 0, 0
		}
		for k := range n {
			for i := range n {
				for j := range n {
					want[i][j] = min(want[i][j], want[i][k]+want[k][j])
				}
			}
		}
		most, mean := 0.0, 0.0
		for i := range n {
			for j := range n {
				most, mean = max(most, want[i][j]), mean+want[i][j]/float64(n*n)
			}
		}
		component := set.Components()
		for _, l := range set.Cannot() {
			for i := range n {
				for j := range n {
					if component[i] == component[l.I] && component[j] == component[l.J] {
						want[i][j], want[j][i] = most+mean, most+mean
					}
				}
			}
		}
		if err := shorten(ctx, eng, d, set); err != nil {
			rt.Fatal(err)
		}
		for i := range n {
			for j := range n {
				if math.Abs(d.At(i, j)-want[i][j]) > 1e-12*most {
					rt.Fatalf("from %d to %d: %.15g, want %.15g", i, j, d.At(i, j), want[i][j])
				}
			}
		}
	})
}

// TestKleinLearns checks that must-links bring whole arcs together, and that new points follow.
func TestKleinLearns(t *testing.T) {
	x, labels, set := enginetest.Rings(t, 200, 80, 3)
	other, classes, _ := enginetest.Rings(t, 100, 5, 4)
	m := fittest.Fit[*KleinModel](t, KleinLearner{Params: param.Default[Klein]()}, x, set)
	y, err := m.Embed(context.Background(), enginetest.New(t, 0), other)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range y.Rows {
		best := 0
		for j := range x.N {
			if points.SquaredDistance(y.Row(i), m.Coordinates().Row(j)) < points.SquaredDistance(y.Row(i),
				m.Coordinates().Row(best)) {
				best = j
			}
		}
		if labels[best] == classes[i] {
			right++
		}
	}
	if right < 95 {
		t.Errorf("%d of 100 new points are nearest to one of their class", right)
	}
	// Distances within classes shrink against those between.
	ratio := func(row func(i int) []float64) float64 {
		var sum, count [2]float64
		for i := range x.N {
			for j := range i {
				k := 0
				if labels[i] != labels[j] {
					k = 1
				}
				sum[k] += math.Sqrt(points.SquaredDistance(row(i), row(j)))
				count[k]++
			}
		}
		return sum[1] / count[1] / (sum[0] / count[0])
	}
	if before, after := ratio(x.Row), ratio(m.Coordinates().Row); after < 1.2*before {
		t.Errorf("distances between classes over those within are %g, %g before", after, before)
	}
}

func TestKleinModelFile(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 20, 5)
	m := fittest.Fit[*KleinModel](t, KleinLearner{Params: param.Default[Klein]()}, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.Decode[Klein](KleinMethod, f, outofsample.ReadBarycentric)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := enginetest.Rings(t, 20, 2, 6)
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), other)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), other)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestKleinBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Rings(t, 40, 10, 6)
	none, err := links.New(40, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(p *Klein)
		x      points.Points
		set    *links.Set
	}{
		"no links":  {func(*Klein) {}, x, none},
		"dims":      {func(p *Klein) { p.Dims = 0 }, x, set},
		"neighbors": {func(p *Klein) { p.Neighbors = 0 }, x, set},
		"rows":      {func(*Klein) {}, x.Select([]int{1, 2}), set},
	} {
		l := KleinLearner{Params: param.Default[Klein]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	must, err := links.FromChunklets(40, [][]int{slices.Collect(func(yield func(int) bool) {
		for i := range 40 {
			if !yield(i) {
				return
			}
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (KleinLearner{Params: param.Default[Klein]()}).Fit(ctx, eng, x, must); !fault.IsInput(err) {
		t.Errorf("all points in one: error %v, want one of the input", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (KleinLearner{Params: param.Default[Klein]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
