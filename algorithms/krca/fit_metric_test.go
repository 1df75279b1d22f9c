package krca

import (
	"context"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// What a metric says is what the model of the same fit says, bit for bit.
func TestMetricIsTheModels(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 80, 4, 25, 1)
	l := Learner{Params: DefaultParams()}
	fitted, err := l.Fit(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	model := fitted.(*Model)
	metric, err := FitMetric(ctx, eng, l, x, set)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 77}, {3, 3}, {0, 1}}
	a, errA := model.Distances(ctx, eng, x, pairs)
	b, errB := metric.Distances(ctx, eng, x, pairs)
	if errA != nil || errB != nil || !slices.Equal(a, b) || metric.Eps() != model.Eps() {
		t.Errorf("distances %v, eps %v: want %v, %v (%v, %v)", b, metric.Eps(), a, model.Eps(), errA, errB)
	}
	ga, errA := model.Gram(ctx, eng, x, nil)
	gb, errB := metric.Gram(ctx, eng, x, nil)
	if errA != nil || errB != nil || !slices.Equal(ga.Data, gb.Data) {
		t.Errorf("another Gram matrix (%v, %v)", errA, errB)
	}
	narrow, _, _ := enginetest.Bands(t, 6, 3, 1, 1)
	if _, err := metric.Gram(ctx, eng, narrow, nil); !fault.IsInput(err) {
		t.Errorf("points of 3 features: %v", err)
	}
	if _, err := metric.Distances(ctx, eng, x, [][2]int{{0, 80}}); !fault.IsInput(err) {
		t.Errorf("a row that is not there: %v", err)
	}
}

// BenchmarkFitMetric is the learning alone: 150 points of 4 features, 50 must-links, bandwidth as a
// number.
func BenchmarkFitMetric(b *testing.B) {
	ctx := context.Background()
	x, _, set := enginetest.Bands(b, 150, 4, 50, 1)
	l := Learner{Kernel: enginetest.Spec(b, "rbf:sigma=2"), Params: DefaultParams()}
	eng := enginetest.New(b, 1)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := FitMetric(ctx, eng, l, x, set); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if _, err := FitMetric(ctx, eng, l, x, set); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
