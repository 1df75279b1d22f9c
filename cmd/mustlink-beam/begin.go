package main

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/places"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/told"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// task is a command with its input, divided into elements.
type task struct {
	*app
	*jobFlags
	command string
	set     *shard.Set
	config  job.Config // for its workers
}

// begin divides the input of a command. args are those of the command: a model, or none.
func (a *app) begin(cmd *cobra.Command, args []string, fl *jobFlags) (*task, error) {
	set, err := fl.in.plan(cmd.Context(), a)
	if err != nil {
		return nil, err
	}
	c, err := a.config(set, fl.bad)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		c.Model = args[0]
	}
	if _, err := c.Worker(); err != nil { // what is wrong with the model shows here
		return nil, err
	}
	return &task{a, fl, cmd.Name(), set, c}, nil
}

// width returns the number of coordinates of the rows.
func (t *task) width() (int, error) {
	w, err := t.config.Worker()
	if err != nil {
		return 0, err
	}
	return places.Dim(w, t.set.Dim), nil
}

// output looks whether files can be written for the elements, in one of the formats, all that matrices are written in for none given, and
// that none of them is read.
func (t *task) output(formats ...string) (shard.Output, error) {
	out := shard.Output{Path: t.out}
	if formats == nil {
		formats = dataset.OutputFormats(shard.Extensions()...)
	}
	if err := out.Check(formats); err != nil {
		return out, renamed(err, "output path", "-o, --output")
	}
	for _, in := range t.set.Files {
		if matches(out.Pattern(), in) {
			return out, usagef("-o, --output %q stands for %s, which is also read: want another name", out.Path, in)
		}
	}
	return out, out.Prepare(int64(len(t.set.Elements)))
}

// outputFile looks whether a matrix can be written to one file, which is not one of those read.
func (t *task) outputFile() error {
	for _, in := range t.set.Files {
		if in == t.out {
			return usagef("-o, --output is %s, which is also read: want another name", t.out)
		}
	}
	_, err := shard.Output{Path: t.out}.Matrix(nil)
	return renamed(err, "output path", "-o, --output")
}

// perElement runs a job that writes a file for each element, and looks whether all are there.
func (t *task) perElement(ctx context.Context, out shard.Output, build func(s beam.Scope)) (*report, error) {
	done, err := t.run(ctx, build)
	if err != nil {
		return nil, err
	}
	count := int64(len(t.set.Elements))
	for i := range count {
		if _, err := os.Stat(out.Name(i, count)); err != nil {
			return nil, fmt.Errorf("the job is done, but not all of its output is there: %w", err)
		}
	}
	r := t.report(done)
	r.Output = out.Pattern()
	return r, nil
}

// reporting runs a job whose workers report what they have found, in a file next to the output.
func (t *task) reporting(ctx context.Context, found any, build func(s beam.Scope) error) (*report, error) {
	if err := told.Clear(t.out); err != nil {
		return nil, err
	}
	done, err := job.Run(ctx, t.runner, build)
	if err != nil {
		return nil, err
	}
	if err := told.Take(t.out, found); err != nil {
		return nil, err
	}
	r := t.report(done)
	r.Output, r.Figures = t.out, found
	return r, nil
}

// report returns the report of the job.
func (t *task) report(done *job.Report) *report {
	return &report{Command: t.command, Rows: t.set.Rows, Files: len(t.set.Files), Elements: len(t.set.Elements), BadRows: t.bad.pattern(), Job: done}
}

// checkPoints makes sure that a file has points with as many coordinates as the rows of the job, and returns their number.
func (t *task) checkPoints(path, what string) (int, error) {
	m, err := places.Read(path)
	if err != nil {
		return 0, err
	}
	width, err := t.width()
	if err != nil {
		return 0, err
	}
	if m.Cols != width {
		return 0, fault.Data(path, "its %s have %d values: want %d, as the rows have", what, m.Cols, width)
	}
	return m.Rows, nil
}
