package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// TestMeanAveragePrecision: values worked out by hand, and the definition by sorted lists.
func TestMeanAveragePrecision(t *testing.T) {
	for name, c := range map[string]struct {
		x      []float64
		labels []string
		want   float64
	}{
		"all right": {[]float64{0, 1, 10, 11}, []string{"a", "a", "b", "b"}, 1},
		"always second": {[]float64{0, 1, 2, 3}, []string{"a", "b", "a", "b"},
			(1./2 + 1./3 + 1./3 + 1./2) / 4},
		"equal points":         {[]float64{5, 5, 5, 5}, []string{"a", "a", "b", "b"}, 1. / 3},
		"a class of one point": {[]float64{0, 1, 10}, []string{"a", "a", "b"}, 1},
	} {
		y := blas.MatrixOf(len(c.x), 1, c.x)
		got, err := meanAveragePrecision(context.Background(), newEngine(t, 2), y, c.labels)
		if err != nil || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %g, error %v: want %g", name, got, err, c.want)
		}
	}
	y := blas.MatrixOf(30, 1, make([]float64, 30))
	labels, random := make([]string, 30), rand.New(rand.NewPCG(1, 2))
	for i := range labels {
		y.Data[i] = random.Float64()
		labels[i] = []string{"a", "b", "c"}[i*i%7%3]
	}
	want := 0.0
	for i := range labels {
		var others []int
		for j := range labels {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int {
			return int(1e9 * (math.Abs(y.Data[a]-y.Data[i]) - math.Abs(y.Data[b]-y.Data[i])))
		})
		hits, sum := 0.0, 0.0
		for rank, j := range others {
			if labels[j] == labels[i] {
				hits++
				sum += hits / float64(rank+1)
			}
		}
		want += sum / hits / 30
	}
	got, err := meanAveragePrecision(context.Background(), newEngine(t, 2), y, labels)
	if err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, error %v: want %g", got, err, want)
	}
}
