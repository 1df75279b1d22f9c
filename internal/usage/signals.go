package usage

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

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
