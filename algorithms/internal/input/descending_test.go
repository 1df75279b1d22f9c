package input_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/input"
)

// Descending visits each value once, the largest first, with all its positions in ascending order.
// The first error ends it.
func TestDescending(t *testing.T) {
	var values []float64
	var positions [][]int
	err := input.Descending([]float64{1, 3, 1, 0.5, 3}, func(v float64, at []int) error {
		values, positions = append(values, v), append(positions, slices.Clone(at))
		return nil
	})
	if err != nil || !slices.Equal(values, []float64{3, 1, 0.5}) ||
		!slices.EqualFunc(positions, [][]int{{1, 4}, {0, 2}, {3}}, slices.Equal[[]int]) {
		t.Errorf("values %v at %v, error %v", values, positions, err)
	}
	broken, calls := errors.New("broken"), 0
	if err := input.Descending([]float64{1, 2}, func(float64, []int) error {
		calls++
		return broken
	}); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}
