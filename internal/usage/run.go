package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

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

// Run runs a program's command line and returns the exit code. A first signal stops it after the
// current step, a second one at once. An error is one line on standard error, after the name of the
// program.
func Run(root *cobra.Command) int {
	ctx, stop := untilSignal()
	defer stop()
	context.AfterFunc(ctx, func() {
		if IsTerminal(os.Stderr) {
			time.AfterFunc(time.Second, func() {
				fmt.Fprintf(os.Stderr, "\n%s: stopping after the current step; press Ctrl-C again to end at once\n", root.Name())
			})
		}
	})
	err := root.ExecuteContext(ctx)
	code := ExitCode(ctx, err)
	if err != nil {
		message := err.Error()
		if code > exitSignal {
			message = context.Cause(ctx).Error()
		}
		fmt.Fprintln(os.Stderr, root.Name()+": "+message)
	}
	return code
}

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

// IsTerminal reports whether w is a terminal. It counts every character device as one except the
// null device, which people use to discard output.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
