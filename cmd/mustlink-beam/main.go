// Command mustlink-beam runs the models of mustlink over data that are spread over many files, on Apache Beam: in this process by its
// Prism runner, or on a cluster of Flink, Spark or Dataflow. See mustlink-beam --help and docs/scale-out.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/engine/fault"
)

// Exit codes, those of the command mustlink.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInput       = 2
	exitInterrupted = 130
)

func main() { os.Exit(execute()) }

// execute is the program; it returns the exit code.
func execute() int {
	if slices.ContainsFunc(os.Args[1:], isWorkerFlag) {
		flag.Parse() // the runner's own flags
		job.Init()   // does not return
	}
	remove, err := job.Temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mustlink-beam: no room for temporary files: "+err.Error())
		return exitFailed
	}
	defer remove()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	a := &app{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	err = newRoot(a).ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if err != nil {
		message := err.Error()
		if code == exitInterrupted {
			message = "interrupted"
		}
		fmt.Fprintln(os.Stderr, "mustlink-beam: "+message)
	}
	return code
}

// isWorkerFlag says whether an argument makes this program a worker of a cluster.
func isWorkerFlag(arg string) bool {
	return slices.Contains([]string{"--worker", "-worker", "--worker=true", "-worker=true"}, arg)
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
