package apply

import (
	"context"
	"math"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
)

// shrinking is a model of numbers whose embedding holds this share of their squared distances.
type shrinking struct {
	algorithms.Model
	share float64
}

func (m shrinking) Projected() bool { return true }
func (m shrinking) Share() float64  { return m.share }

func (m shrinking) Embed(_ context.Context, _ *engine.Engine, x points.Points) (blas.Matrix, error) {
	z := blas.NewMatrix(x.Len(), 1)
	for i := range z.Rows {
		z.Set(i, 0, math.Sqrt(m.share)*x.(*points.Dense).Row(i)[0])
	}
	return z, nil
}

func (m shrinking) Distances(_ context.Context, _ *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	var out []float64
	for _, p := range pairs {
		out = append(out, points.SquaredDistance(x.(*points.Dense).Row(p[0]), x.(*points.Dense).Row(p[1])))
	}
	return out, nil
}

// TestShare: the share of an embedding that leaves out more than rounding is known from a few rows.
func TestShare(t *testing.T) {
	for share, known := range map[float64]bool{0: false, 0.25: true, 1 - 3e-9: true, 1 - 3e-10: false,
		1: false} {
		m := metric.Of(nil, enginetest.New(t, 1), &catalog.Fitted{Model: shrinking{share: share}})
		s := newShareSample(m)
		for i := range 5 {
			s.add(&points.Dense{N: 1, D: 1, Data: []float64{float64(i * i)}})
		}
		got, err := s.share(t.Context(), m)
		if err != nil || (got != nil) != known || known && math.Abs(*got-share) > 1e-12 {
			t.Errorf("a share of %v: %v, error %v", share, got, err)
		}
	}
	var none *shareSample
	if got, err := none.share(t.Context(), nil); got != nil || err != nil {
		t.Errorf("without a sample: %v, error %v", got, err)
	}
}
