package usage

import (
	"context"
	"errors"
	"syscall"

	"github.com/mustlink/mustlink/engine/fault"
)

// Exit codes, on which calling programs rely. After a signal the code is 128 and the number of the
// signal, as shells have it: 143 after kill.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitInput       = 2
	ExitInterrupted = exitSignal + int(syscall.SIGINT) // after Ctrl-C
	exitSignal      = 128
)

// ExitCode distinguishes the caller's mistakes, interruptions and other errors.
func ExitCode(ctx context.Context, err error) int {
	var by *Interruption
	switch {
	case err == nil:
		return ExitOK
	case errors.As(context.Cause(ctx), &by) && errors.Is(err, context.Canceled):
		return exitSignal + int(by.Signal)
	case fault.IsInput(err):
		return ExitInput
	}
	return ExitFailed
}
