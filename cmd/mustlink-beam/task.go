package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// task is a command with its input, which is divided into elements.
type task struct {
	*app
	*jobFlags
	cmd    *cobra.Command
	set    *shard.Set
	config job.Config // of its workers
}

// begin divides the input of a command whose flags were checked. args are the arguments of the
// command: a model, or none.
func (a *app) begin(check *session.Checks, args []string, j *jobFlags) (*task, error) {
	if check.Err != nil {
		return nil, check.Err
	}
	c := a.config()
	c.BadRows, c.BadOutput = j.badRows, j.badOutput
	if len(args) > 0 {
		c.Model = args[0]
	}
	w, err := c.Worker() // report a bad model before the job begins
	if err != nil {
		return nil, err
	}
	set, err := shard.Plan(check.Cmd.Context(), j.input, w.Reading(shard.Options{Rows: j.rows, MemoryLimit: int64(a.MemoryLimit)}))
	if err != nil {
		return nil, err
	}
	c.Rows = set.Rows
	return &task{a, j, check.Cmd, set, c}, nil
}

// width returns the number of coordinates of a row.
func (t *task) width() (int, error) {
	w, err := t.config.Worker()
	if err != nil {
		return 0, err
	}
	return coordinates.Dim(w, t.set.Dim), nil
}

// output checks that a file can be written for every element, in one of the formats (nil: any
// matrix format), and that no output file is also an input file.
func (t *task) output(formats ...string) (shard.Output, error) {
	out := shard.Output{Path: t.out}
	if formats == nil {
		formats = dataset.OutputFormats(shard.Extensions()...)
	}
	if err := out.Check(formats); err != nil {
		return out, usage.RenameParams(err, "output path", "-o, --output")
	}
	for _, in := range t.set.Files {
		if matches(out.Pattern(), in) {
			return out, usage.Errorf("-o, --output %q names %s, which is also read: want another file", out.Path, in)
		}
	}
	return out, out.Prepare(int64(len(t.set.Elements)))
}

// matches reports whether a path matches a pattern.
func matches(pattern, path string) bool {
	ok, err := filepath.Match(filepath.Clean(pattern), filepath.Clean(path))
	return err == nil && ok
}

// outputFile checks that a matrix can be written to the output file, and that this is not an input
// file.
func (t *task) outputFile() error {
	for _, in := range t.set.Files {
		if in == t.out {
			return usage.Errorf("-o, --output is %q, which is also read: want another file", t.out)
		}
	}
	_, err := shard.Output{Path: t.out}.Matrix(nil)
	return usage.RenameParams(err, "output path", "-o, --output")
}

// run runs a job and returns its report.
func (t *task) run(build func(s beam.Scope) error) (*report, error) {
	done, err := job.Run(t.cmd.Context(), t.runner, build)
	if err != nil {
		return nil, err
	}
	return &report{Command: t.cmd.Name(), Rows: t.set.Rows, Files: len(t.set.Files), Elements: len(t.set.Elements),
		BadRows: t.badPattern(), Job: done}, nil
}

// infallible adapts a function that builds a pipeline and cannot fail.
func infallible(build func(s beam.Scope)) func(s beam.Scope) error {
	return func(s beam.Scope) error {
		build(s)
		return nil
	}
}

// perElement runs a job that writes a file for each element, in one of the formats (see output). It
// checks that all files exist, and prints the report. The function more, nil for none, adds lines
// of text.
func (t *task) perElement(more func(w io.Writer), build func(s beam.Scope, out shard.Output), formats ...string) error {
	out, err := t.output(formats...)
	if err != nil {
		return err
	}
	r, err := t.run(infallible(func(s beam.Scope) { build(s, out) }))
	if err != nil {
		return err
	}
	count := int64(len(t.set.Elements))
	for i := range count {
		if _, err := os.Stat(out.Name(i, count)); err != nil {
			return fmt.Errorf("the job ended, but an output file is missing: %w", err)
		}
	}
	r.Output = out.Pattern()
	return t.print(r, more)
}

// reporting runs a job whose workers save a summary in a file next to the output, and reads this
// summary into found.
func (t *task) reporting(found any, build func(s beam.Scope) error) (*report, error) {
	if err := results.Clear(t.out); err != nil {
		return nil, err
	}
	r, err := t.run(build)
	if err != nil {
		return nil, err
	}
	if err := results.Take(t.out, found); err != nil {
		return nil, err
	}
	r.Output, r.Results = t.out, found
	return r, nil
}

// checkPoints checks that the points in a file have as many coordinates as the rows of the job, and
// returns the number of points.
func (t *task) checkPoints(path, what string) (int, error) {
	m, err := coordinates.Read(path)
	if err != nil {
		return 0, err
	}
	width, err := t.width()
	if err != nil {
		return 0, err
	}
	if m.Cols != width {
		return 0, fault.Data(path, "its %s have %d coordinates: want %d, as the rows have", what, m.Cols, width)
	}
	return m.Rows, nil
}
