// Command mustlink-beam runs the models of mustlink over data that are spread over many files, on
// Apache Beam: in this process by its Prism runner, or on a cluster of Flink, Spark or Dataflow.
// See mustlink-beam --help and docs/scale-out.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// name is that of the program.
const name = "mustlink-beam"

func main() { os.Exit(execute()) }

// execute is the program; it returns the exit code.
func execute() int {
	if slices.ContainsFunc(os.Args[1:], isWorkerFlag) {
		flag.Parse() // the runner's own flags
		job.Init()   // does not return
	}
	remove, err := job.Temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+": no room for temporary files: "+err.Error())
		return usage.ExitFailed
	}
	defer remove()
	s := &session.Session{Name: name, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	return usage.Run(newRoot(&app{Session: s}))
}

// isWorkerFlag says whether an argument makes this program a worker of a cluster.
func isWorkerFlag(arg string) bool {
	return slices.Contains([]string{"--worker", "-worker", "--worker=true", "-worker=true"}, arg)
}
