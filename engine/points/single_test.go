package points_test

import (
	"errors"
	"math"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// TestNewSingle: points in single precision keep the given memory, round once, widen exactly, and
// refuse values that are not finite and wrong lengths.
func TestNewSingle(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, math.MaxFloat32}
	p, err := points.NewSingle(2, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	data[3] = -4
	if got := p.Row(1)[0]; got != -4 {
		t.Errorf("row 1 begins with %v: want the memory that was given", got)
	}
	again, err := points.Narrow(p.Widened())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range again.Data {
		if v != data[i] {
			t.Errorf("value %d is %v after narrowing and widening: want %v", i, v, data[i])
		}
	}
	var shape *fault.ShapeError
	if _, err := points.NewSingle(2, 2, data); !errors.As(err, &shape) {
		t.Errorf("six values of 2 x 2: %v", err)
	}
	var bad *fault.DataError
	if _, err := points.NewSingle(2, 3, []float32{0, 0, 0, 0, float32(math.NaN()), 0}); !errors.As(err, &bad) || bad.Row != 1 || bad.Column != "1" {
		t.Errorf("a NaN: %v", err)
	}
	if _, err := points.Narrow(&points.Dense{N: 1, D: 2, Data: []float64{0, 1e300}}); !errors.As(err, &bad) || bad.Row != 0 || bad.Column != "1" {
		t.Errorf("a value beyond float32: %v", err)
	}
}
