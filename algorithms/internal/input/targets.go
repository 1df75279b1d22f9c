package input

import (
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Targets validates the targets of a fit of n points: one finite number for each, not all equal.
func Targets(method string, targets []float64, n int) error {
	if len(targets) == 0 {
		return fault.Data("", "%s learns from targets: want a number for each of the %d points, got none", method, n)
	}
	if len(targets) != n {
		return &fault.ShapeError{What: "number of targets", Got: len(targets), Want: fmt.Sprintf("%d, the number of points", n)}
	}
	equal := true
	for i, v := range targets {
		if v-v != 0 {
			return &fault.DataError{Row: i, Column: "target", Err: fmt.Errorf("%v is not finite: want a finite number", v)}
		}
		equal = equal && v == targets[0]
	}
	if equal {
		return &fault.DataError{Row: -1, Column: "target", Err: errors.New("all targets are equal: want numbers that vary")}
	}
	return nil
}
