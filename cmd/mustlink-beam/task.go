package main

import (
	"errors"
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
	staged []*shard.Staging
}

// begin divides the input of a command whose flags were checked. args are the arguments of the
// command: a model, or none.
func (a *app) begin(check *session.Checks, args []string, j *jobFlags) (*task, error) {
	if check.Err != nil {
		return nil, check.Err
	}
	c := a.config()
	c.BadRows = j.badRows
	if len(args) > 0 {
		c.Model = args[0]
	}
	w, err := c.Worker() // report a bad model before the job begins
	if err != nil {
		return nil, err
	}
	set, err := shard.Plan(check.Cmd.Context(), j.input,
		w.Reading(shard.Options{Rows: j.rows, MemoryLimit: int64(a.MemoryLimit)}))
	if err != nil {
		return nil, err
	}
	c.Rows = set.Rows
	return &task{app: a, jobFlags: j, cmd: check.Cmd, set: set, config: c}, nil
}

// width returns the number of coordinates of a row.
func (t *task) width() (int, error) {
	w, err := t.config.Worker()
	if err != nil {
		return 0, err
	}
	return coordinates.Dim(w, t.set.Dim), nil
}

// output checks that the files of an output may have this name, in one of the formats (nil: any
// matrix format), and that none of them is also an input file.
func (t *task) output(formats ...string) error {
	out := shard.Output{Path: t.out}
	if formats == nil {
		formats = session.OutputFormats()
	}
	if err := out.Check(formats); err != nil {
		return usage.RenameParams(err, "output path", "-o, --output")
	}
	for _, in := range t.set.Files {
		if matches(out.Pattern(), in) {
			return usage.Errorf("-o, --output %q names %s, which is also read: want another file", out.Path,
				in)
		}
	}
	return nil
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

// stage returns where the job writes an output until it has succeeded.
func (t *task) stage(how func(path string) (*shard.Staging, error), path string) (string, error) {
	s, err := how(path)
	if err != nil {
		return "", err
	}
	t.staged = append(t.staged, s)
	return s.Output().Path, nil
}

// discard removes what the job has staged and not published.
func (t *task) discard() {
	for _, s := range t.staged {
		_ = s.Discard() // the next job does
	}
	t.staged = nil
}

// publish replaces the outputs of an earlier job by those that are staged.
func (t *task) publish() error {
	for _, s := range t.staged {
		if err := s.Publish(); err != nil {
			return err
		}
	}
	return nil
}

// run runs a job and returns its report. The outputs of an earlier job are replaced if the job
// succeeds and check, which looks at the staged ones, finds no fault; the lists of bad rows also if
// the job fails because of its input.
func (t *task) run(build func(s beam.Scope) error, check func() error) (*report, error) {
	defer t.discard()
	if t.badOutput != "" {
		staged, err := t.stage(shard.StageFiles, t.badOutput)
		if err != nil {
			return nil, err
		}
		t.config.BadOutput = staged
	}
	done, err := job.Run(t.cmd.Context(), t.runner, build)
	if err == nil {
		err = check()
	}
	if err != nil {
		if t.badOutput != "" && fault.IsInput(err) {
			err = errors.Join(err, t.staged[len(t.staged)-1].Publish())
		}
		return nil, err
	}
	return &report{Command: t.cmd.Name(), Rows: t.set.Rows, Files: len(t.set.Files),
		Elements: len(t.set.Elements),
		BadRows:  t.badPattern(), Job: done}, t.publish()
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
func (t *task) perElement(more func(w io.Writer), build func(s beam.Scope, out shard.Output),
	formats ...string) error {
	if err := t.output(formats...); err != nil {
		return err
	}
	staged, err := t.stage(shard.StageFiles, t.out)
	if err != nil {
		return err
	}
	out, count := shard.Output{Path: staged}, int64(len(t.set.Elements))
	all := func() error {
		for i := range count {
			if _, err := os.Stat(out.Name(i, count)); err != nil {
				return fmt.Errorf("the job ended, but an output file is missing: %w", err)
			}
		}
		return nil
	}
	r, err := t.run(infallible(func(s beam.Scope) { build(s, out) }), all)
	if err != nil {
		return err
	}
	r.Output = shard.Output{Path: t.out}.Pattern()
	return t.print(r, more)
}

// reporting runs a job that writes one file, whose path it is given. Its workers save a summary
// next to that, which is read into found.
func (t *task) reporting(found any, build func(s beam.Scope, out string) error) (*report, error) {
	out, err := t.stage(shard.StageFile, t.out)
	if err != nil {
		return nil, err
	}
	r, err := t.run(func(s beam.Scope) error {
		return build(s, out)
	}, func() error { return results.Take(out, found) })
	if err != nil {
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
		return 0, fault.Data(path, "its %s have %d coordinates: want %d, as the rows have", what, m.Cols,
			width)
	}
	return m.Rows, nil
}
