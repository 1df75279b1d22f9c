package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mustlink/mustlink/engine/fault"
)

// Exit codes, a contract with calling programs.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInput       = 2
	exitInterrupted = 130
)

// garbage is how many bytes of it there may be before it is collected, beside as many as are in use: small fits leave some 30 KB each, and thousands are made in a second.
// More than so much was not seen to be faster.
const garbage = 32 << 20

func main() {
	log.SetOutput(io.Discard) // the plotting library logs what it also returns
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		// With the handler gone a second signal ends the process at once, as it does for
		// programs that handle none.
		stop()
		if isTerminal(os.Stderr) {
			time.AfterFunc(time.Second, func() {
				fmt.Fprintln(os.Stderr, "\nmustlink: stopping after the step under way; press Ctrl-C again to end at once")
			})
		}
	})

	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	a.garbage = garbage
	err := newRoot(a).ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if err != nil {
		message := err.Error()
		if code == exitInterrupted {
			message = "interrupted"
		}
		fmt.Fprintln(os.Stderr, "mustlink: "+message)
	}
	os.Exit(code)
}

// exitCode sorts an error into the caller's mistakes, an interrupt and all else.
func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case fault.IsInput(err):
		return exitInput
	}
	return exitFailed
}
