// Command mustlink-beam applies the models of mustlink to data in many files, as a pipeline of
// Apache Beam. The pipeline runs in this process on the Prism runner, or on a cluster of Flink,
// Spark or Dataflow. See mustlink-beam --help and docs/scale-out.md.
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

// name is the name of the program.
const name = "mustlink-beam"

func main() { os.Exit(execute()) }

// execute runs the program and returns its exit code.
func execute() int {
	if slices.ContainsFunc(os.Args[1:], isWorkerFlag) {
		flag.Parse() // the runner's own flags
		job.Init()   // does not return
	}
	remove, err := job.Temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+": cannot make a folder for temporary files: "+err.Error())
		return usage.ExitFailed
	}
	defer remove()
	s := &session.Session{Name: name, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv}
	return usage.Run(newRoot(&app{Session: s}))
}

// isWorkerFlag reports whether an argument starts this program as a worker of a cluster.
func isWorkerFlag(arg string) bool {
	return slices.Contains([]string{"--worker", "-worker", "--worker=true", "-worker=true"}, arg)
}
