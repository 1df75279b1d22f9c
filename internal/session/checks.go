package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// Checks looks for mistakes in a command line, one after the other, before anything is read or
// written. Err is the first mistake; later checks are skipped. Inputs are checked before outputs,
// so that no output replaces an input.
type Checks struct {
	s   *Session
	Cmd *cobra.Command
	Err error

	outputs []output
}

// output is a file that a flag names.
type output struct{ flag, path string }

// Check returns the checks of a command line.
func (s *Session) Check(cmd *cobra.Command) *Checks { return &Checks{s: s, Cmd: cmd} }

// Checked returns the RunE of a command: check looks for mistakes that do not require reading
// anything, and work follows if there are none. A file that changes while it is in use is an error.
func (s *Session) Checked(check func(c *Checks, args []string),
	work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c := s.Check(cmd)
		c.Err = usage.CheckFlags(cmd)
		if check(c, args); c.Err != nil {
			return c.Err
		}
		return s.Files.Guard(func() error { return work(cmd.Context(), args) })
	}
}

// Do runs a command's own check.
func (c *Checks) Do(check func() error) {
	if c.Err == nil {
		c.Err = check()
	}
}

// Refuse records an error if wrong is true.
func (c *Checks) Refuse(wrong bool, format string, args ...any) {
	if c.Err == nil && wrong {
		c.Err = usage.Errorf(format, args...)
	}
}

// AtLeast refuses a number that is too small.
func (c *Checks) AtLeast(flag string, value, least int) {
	c.Refuse(value < least, "%s is %d: want a number >= %d", flag, value, least)
}

// OneOf refuses a word that is not one of the choices.
func (c *Checks) OneOf(flag, value string, choices []string) {
	if c.Err == nil && !slices.Contains(choices, value) {
		c.Err = fault.Unknown(flag, value, choices)
	}
}

// Required refuses a command line without one of the flags; the message quotes the flag's
// description of its value.
func (c *Checks) Required(names ...string) {
	for _, name := range names {
		c.Do(func() error { return usage.MissingFlag(c.Cmd, c.Cmd.Flags().Lookup(name)) })
	}
}

// Input records that the file at path, if not empty, is read for a flag. Only one flag can read
// standard input.
func (c *Checks) Input(flag, path string) {
	switch {
	case path == "" || c.Err != nil:
	case path != Stream:
		c.s.inputs = append(c.s.inputs, path)
	case c.s.stdinUsed != "":
		c.Err = usage.Errorf("%s and %s are both \"-\": standard input can be read only once", c.s.stdinUsed,
			flag)
	default:
		c.s.stdinUsed = flag
	}
}

// File is Input for a file that cannot be standard input.
func (c *Checks) File(flag, path, why string) {
	c.Refuse(path == Stream, "%s is \"-\": want a file%s", flag, why)
	c.Input(flag, path)
}

// Models records that models are read.
func (c *Checks) Models(paths []string) {
	for _, path := range paths {
		c.Input("MODEL", path)
	}
}

// State records a file of finished work.
func (c *Checks) State(path string) { c.File("--state", path, ", as it is both read and written") }

// errProbe ends a trial write.
var errProbe = errors.New("trial write")

// Output checks, before the work starts, that path can be written, if it is not empty. Two flags
// cannot name the same file.
func (c *Checks) Output(flag, path string) {
	if path == "" || c.Err != nil {
		return
	}
	for _, o := range c.outputs {
		if o.flag != flag {
			c.Refuse(sameOutput(o.path, path), "%s and %s are both %q: want different files", o.flag, flag,
				path)
		}
	}
	c.outputs = append(c.outputs, output{flag, path})
	if path == Stream {
		c.Do(func() error {
			if usage.IsClosed(c.s.Stdout) {
				return fmt.Errorf("%s is \"-\", and standard output is closed: want a file, a pipe or >%s",
					flag, os.DevNull)
			}
			return nil
		})
		return
	}
	for _, in := range c.s.inputs {
		c.Refuse(SameFile(in, path), "%s is %q, which is also read: want another file", flag, path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return // a pipe or a device: opening it for a trial could end its other side
	}
	c.Do(func() error {
		if err := dataset.Atomic(path, func(io.Writer) error { return errProbe }); !errors.Is(err, errProbe) {
			return err
		}
		return nil
	})
}

// sameOutput reports whether two outputs are the same file, which need not exist yet. A device
// takes any number of them.
func sameOutput(a, b string) bool {
	if info, err := os.Stat(a); err == nil && info.Mode()&os.ModeDevice != 0 {
		return false
	}
	return filepath.Clean(a) == filepath.Clean(b) || a != Stream && b != Stream && SameFile(a, b)
}

// Binary refuses to write bytes to a terminal.
func (c *Checks) Binary(flag, path, what string) {
	terminal := path == Stream && usage.IsTerminal(c.s.Stdout)
	c.Refuse(terminal, "%s is \"-\", but %s is binary and standard output is a terminal: want a file or a "+
		"pipe", flag, what)
}

// Model is Output for a model.
func (c *Checks) Model(path string) {
	c.Binary("-o, --output", path, "a model")
	c.Output("-o, --output", path)
}

// Matrix is Output for a matrix, whose format must also be known.
func (c *Checks) Matrix(flag, path, format string) {
	name := OutputFormatFor(path, format)
	if name != "csv" {
		c.Binary(flag, path, name)
	}
	c.Do(func() error {
		if name == "" && !slices.Contains(OutputFormats(), FormatOf(path)) {
			want := "a name that ends in ." + strings.Join(OutputFormats(), " or .") + " (each also .gz)"
			if flag == "-o, --output" { // --format is about -i and -o only
				want += ", or --format"
			}
			return &fault.ParamError{Param: flag, Value: path, Want: want}
		}
		// A trial write of an empty matrix to nowhere checks the name of the format.
		err := dataset.WriteMatrix(Stream, 0, 0, nil, 1, nil,
			dataset.WriteOptions{Format: NameOr(name, "csv"), Stdout: io.Discard, Extensions: Extensions()})
		return usage.RenameParams(err, "format", "--format")
	})
	c.Output(flag, path)
}

// Ending refuses the name of an output without the extension of one of the formats.
func (c *Checks) Ending(flag, path string, formats ...string) {
	if path == Stream || c.Err != nil || slices.ContainsFunc(formats, func(f string) bool {
		return HasEnding(path, f)
	}) {
		return
	}
	want := "a name that ends in ." + strings.Join(formats, ", .") + ", or \"-\""
	if len(formats) == 2 {
		want = fmt.Sprintf("a name that ends in .%s or .%s, or \"-\"", formats[0], formats[1])
	}
	c.Err = &fault.ParamError{Param: flag, Value: path, Want: want}
}

// HasEnding reports whether a file name has the extension of a format.
func HasEnding(path, format string) bool { return strings.HasSuffix(strings.ToLower(path), "."+format) }
