package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/fault"
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
				fmt.Fprintf(os.Stderr,
					"\n%s: stopping after the current step; press Ctrl-C again to end at once\n", root.Name())
			})
		}
	})
	out := &helpOutput{w: root.OutOrStdout()}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
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

// helpOutput keeps the first error of writing help, which its writers ignore.
type helpOutput struct {
	w   io.Writer
	err error
}

func (o *helpOutput) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
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

// ending are the signals that ask a program to end: Ctrl-C, kill, a closed terminal, Ctrl-\.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Interruption is the cause of a context that a signal has canceled.
type Interruption struct{ Signal syscall.Signal }

func (i *Interruption) Error() string {
	if i.Signal == syscall.SIGINT {
		return "interrupted"
	}
	return "interrupted by the signal " + i.Signal.String()
}

// Is says that an interruption cancels.
func (*Interruption) Is(err error) bool { return err == context.Canceled }

// untilSignal returns a context that the first signal cancels; a second one ends the process at
// once, as it does in programs without a handler. Signals that the parent lets the process ignore,
// as nohup does, remain ignored.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	arrived := make(chan os.Signal, 1)
	for _, s := range ending {
		if !signal.Ignored(s) {
			signal.Notify(arrived, s)
		}
	}
	go func() {
		select {
		case s := <-arrived:
			signal.Stop(arrived)
			number, _ := s.(syscall.Signal)
			cancel(&Interruption{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(arrived)
		cancel(nil)
	}
}

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
