package input_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/operator"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// The errors of solvers are errors of the input, which name the method and keep their cause; others
// stay as they are, and those of a canceled context say what was canceled.
func TestFailed(t *testing.T) {
	pivot := &blas.NotPositiveDefiniteError{Pivot: 3}
	for _, cause := range []error{pivot,
		fmt.Errorf("eigenvectors: %w", &operator.NoEigenpairsError{Best: &operator.Eigenpairs{}}),
		optimize.ErrUnbounded} {
		err := input.Failed(t.Context(), "npkl: fit", cause)
		if !fault.IsInput(err) || !errors.Is(err, cause) ||
			!strings.HasPrefix(err.Error(), "npkl: fit failed") {
			t.Errorf("%v becomes %v", cause, err)
		}
	}
	param := &fault.ParamError{Param: "dims"}
	for _, cause := range []error{nil, io.EOF, param} {
		if err := input.Failed(t.Context(), "npkl: fit", cause); err != cause {
			t.Errorf("%v becomes %v", cause, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := input.Failed(canceled, "npkl: fit", pivot); !errors.Is(err, context.Canceled) ||
		fault.IsInput(err) {
		t.Errorf("error %v: want that of the context", err)
	}
}
