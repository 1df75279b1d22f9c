package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// checks look for mistakes in a command line, one after the other, before anything is read or
// written. The first mistake stays in err; nothing is looked for after it. Inputs are checked
// before outputs, so that no output replaces an input.
type checks struct {
	a   *app
	cmd *cobra.Command
	err error
}

func (a *app) check(cmd *cobra.Command) *checks { return &checks{a: a, cmd: cmd} }

// do makes a check of a command's own.
func (c *checks) do(check func() error) {
	if c.err == nil {
		c.err = check()
	}
}

// refuse reports something that is wrong.
func (c *checks) refuse(wrong bool, format string, args ...any) {
	if c.err == nil && wrong {
		c.err = usagef(format, args...)
	}
}

// least reports a number that is too small.
func (c *checks) least(flag string, value, least int) {
	c.refuse(value < least, "%s is %d: want a number >= %d", flag, value, least)
}

// oneOf reports a word that is none of the choices.
func (c *checks) oneOf(flag, value string, choices []string) {
	if c.err == nil && !slices.Contains(choices, value) {
		c.err = fault.Unknown(flag, value, choices)
	}
}

// required reports the first of the flags that was not given, with its own words on what it holds.
func (c *checks) required(names ...string) {
	for _, name := range names {
		f := c.cmd.Flags().Lookup(name)
		given := f.Changed && f.Value.String() != ""
		c.refuse(!given, "%s is missing: want %s %s", flagName(f), flagUsage(f), helpHint(c.cmd))
	}
}

// exclusive reports flags of which more than one was given.
func (c *checks) exclusive(names ...string) {
	var given []string
	for _, name := range names {
		if c.cmd.Flags().Changed(name) {
			given = append(given, flagName(c.cmd.Flags().Lookup(name)))
		}
	}
	c.refuse(len(given) > 1, "%s cannot be given together: want one of them %s", strings.Join(given, " and "), helpHint(c.cmd))
}

// input notes that the file at path, if there is one, is read for a flag. Standard input can serve
// one flag only.
func (c *checks) input(flag, path string) {
	switch {
	case path == "" || c.err != nil:
	case path != stream:
		c.a.inputs = append(c.a.inputs, path)
	case c.a.stdinUsed != "":
		c.err = usagef("%s and %s are both \"-\": standard input can be read only once", c.a.stdinUsed, flag)
	default:
		c.a.stdinUsed = flag
	}
}

// file is input for what cannot be standard input.
func (c *checks) file(flag, path, why string) {
	c.refuse(path == stream, "%s is \"-\": want a file%s", flag, why)
	c.input(flag, path)
}

// models notes that models are read.
func (c *checks) models(paths []string) {
	for _, path := range paths {
		c.input("MODEL", path)
	}
}

// data checks the flags of points, and notes what is read.
func (c *checks) data(d *dataFlags) {
	c.input("-i, --input", d.path)
	c.refuse(d.gramDiagonal != "" && !d.gram, "--gram-diagonal is given without --gram: want both, or neither")
	c.refuse(d.labels != "" && d.headerLabels, "--labels and --labels-from-header are given together: want one of them")
	c.refuse(d.features < 0, "--features is %d: want a number >= 1", d.features)
	format := d.formatName()
	for _, f := range []struct {
		given      bool
		flag, name string
	}{{d.alphabet != "", "--alphabet", "fasta"}, {d.headerLabels, "--labels-from-header", "fasta"}, {d.features > 0, "--features", "svm"}} {
		other := f.given && format != "" && format != f.name
		c.refuse(other, "%s is for .%s data, but %s is read as %s: want no %s", f.flag, f.name, d.path, format, f.flag)
	}
	c.file("--labels", d.labels, "")
	c.file("--gram-diagonal", d.gramDiagonal, "")
}

// by checks how links name rows.
func (c *checks) by(l *linkFlags) { c.oneOf("--links-by", l.by, []string{dataset.ByRow, dataset.ByID}) }

// links checks the flags of links, and notes that they are read, if they are.
func (c *checks) links(l *linkFlags) {
	c.by(l)
	c.input(nameOr(l.flag, "-c, --links"), l.path)
}

// scaling refuses what does not go with a change of features.
func (c *checks) scaling(s *scalingFlags, model, gram bool) {
	c.refuse(s.standardize && s.tfidf, "--standardize and --tfidf are given together: want one of the two")
	c.refuse(s.any() && model, "%s is given with MODEL: the model scales points as it was fitted, want one of the two", s.name())
	c.refuse(s.any() && gram, "%s and --gram are given together: a Gram matrix has no columns to scale", s.name())
}

// state notes a file that keeps what is finished.
func (c *checks) state(path string) { c.file("--state", path, ", as it is both read and written") }

// errProbe ends a trial write.
var errProbe = errors.New("trial write")

// output finds out before the work starts whether path, if there is one, can be written.
func (c *checks) output(flag, path string) {
	if path == "" || path == stream || c.err != nil {
		return
	}
	for _, in := range c.a.inputs {
		c.refuse(sameFile(in, path), "%s is %q, which is also read: want another file", flag, path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return // a pipe or a device: opening it for a trial could end its other side
	}
	c.do(func() error {
		if err := dataset.Atomic(path, func(io.Writer) error { return errProbe }); !errors.Is(err, errProbe) {
			return err
		}
		return nil
	})
}

// binary refuses to write bytes to a terminal.
func (c *checks) binary(flag, path, what string) {
	terminal := path == stream && isTerminal(c.a.stdout)
	c.refuse(terminal, "%s is \"-\", but %s is binary and standard output is a terminal: want a file or a pipe", flag, what)
}

// model is output for a model.
func (c *checks) model(path string) {
	c.binary("-o, --output", path, "a model")
	c.output("-o, --output", path)
}

// matrix is output for a matrix, whose format must be known too.
func (c *checks) matrix(flag, path, format string) {
	name := outputFormatFor(path, format)
	if name != "csv" {
		c.binary(flag, path, name)
	}
	c.do(func() error {
		if name == "" && !slices.Contains(outputFormats(), formatOf(path)) {
			return &fault.ParamError{Param: flag, Value: path,
				Want: "a name that ends in ." + strings.Join(outputFormats(), " or .") + " (each also .gz)" + orFormat(flag)}
		}
		// A trial write of nothing to nowhere finds out about the format's name.
		err := dataset.WriteMatrix(stream, 0, 0, nil, 1, nil, dataset.WriteOptions{Format: nameOr(name, "csv"), Stdout: io.Discard, Extensions: extensions()})
		return renameParams(err, "format", "--format")
	})
	c.output(flag, path)
}

// orFormat ends what is wanted of a file's name; --format is about -i and -o only.
func orFormat(flag string) string {
	if flag == "-o, --output" {
		return ", or --format"
	}
	return ""
}

// ending reports a name of an output that does not end as one of the formats does.
func (c *checks) ending(flag, path string, formats ...string) {
	if path == stream || c.err != nil || slices.ContainsFunc(formats, func(f string) bool { return hasEnding(path, f) }) {
		return
	}
	want := "a name that ends in ." + strings.Join(formats, ", .") + ", or \"-\""
	if len(formats) == 2 {
		want = fmt.Sprintf("a name that ends in .%s or .%s, or \"-\"", formats[0], formats[1])
	}
	c.err = &fault.ParamError{Param: flag, Value: path, Want: want}
}

// hasEnding says whether the name of a file ends as those of a format do.
func hasEnding(path, format string) bool { return strings.HasSuffix(strings.ToLower(path), "."+format) }
