package fault_test

import (
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Input errors state the given value and what was expected; IsInput distinguishes them from
// failures.
func Example() {
	err := fmt.Errorf("reading flags: %w", fault.Unknown("kernel", "rfb", []string{"linear", "rbf"}))
	param, ok := errors.AsType[*fault.ParamError](err)
	fmt.Println(fault.IsInput(err), ok, param.Param)
	fmt.Println(fault.IsInput(errors.New("disk on fire")))
	// Output:
	// true true kernel
	// false
}
