package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

// begin divides the input of a command and returns what its workers are told. args are those of the command: a model, or none.
func (a *app) begin(cmd *cobra.Command, args []string, in *inputFlags, bad badFlags) (*shard.Set, job.Config, error) {
	set, err := in.plan(cmd.Context(), a)
	if err != nil {
		return nil, job.Config{}, err
	}
	c, err := a.config(set, bad)
	if err != nil {
		return nil, c, err
	}
	if len(args) > 0 {
		c.Model = args[0]
	}
	_, err = c.Worker() // what is wrong with the model shows here
	return set, c, err
}

// prepareFile looks whether a matrix can be written to one file, which is not one of those read.
func prepareFile(flag, path string, set *shard.Set) error {
	for _, in := range set.Files {
		if in == path {
			return usagef("%s is %s, which is also read: want another name", flag, path)
		}
	}
	_, err := shard.Output{Path: path}.Matrix(nil)
	if pe, ok := err.(*fault.ParamError); ok {
		pe.Param = flag
	}
	return err
}

// newReport returns the report of a job on a set.
func newReport(command string, set *shard.Set, bad badFlags, done *job.Report) *report {
	return &report{Command: command, Rows: set.Rows, Files: len(set.Files), Elements: len(set.Elements), BadRows: bad.pattern(), Job: done}
}
