package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// stream is the path that stands for standard input or output.
const stream = "-"

// useInput notes that the file at path is read for the named flag. Standard input can
// serve one flag only.
func (a *app) useInput(flag, path string) error {
	if path != stream {
		a.inputs = append(a.inputs, path)
		return nil
	}
	if a.stdinUsed != "" {
		return usagef("%s and %s are both \"-\": standard input can be read only once", a.stdinUsed, flag)
	}
	a.stdinUsed = flag
	return nil
}

// errProbe ends a trial write.
var errProbe = errors.New("trial write")

// checkOutput finds out before the work starts whether path can be written. It must come
// after useInput for all inputs, so that none of them is overwritten.
func (a *app) checkOutput(flag, path string) error {
	if path == stream {
		return nil
	}
	for _, in := range a.inputs {
		if sameFile(in, path) {
			return usagef("%s is %q, which is also read: want another file", flag, path)
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe or a device: opening it for a trial could end its other side
	}
	err := dataset.Atomic(path, func(io.Writer) error { return errProbe })
	if errors.Is(err, errProbe) {
		return nil
	}
	return err
}

// checkMatrixOutput is checkOutput for a matrix, whose format must be known too and whose
// bytes, in a binary format, are not for a terminal.
func (a *app) checkMatrixOutput(path, format string) error {
	return a.checkMatrixFile("-o, --output", path, format)
}

// checkMatrixFile is checkMatrixOutput for the file of another flag.
func (a *app) checkMatrixFile(flag, path, format string) error {
	name := outputFormatFor(path, format)
	if path == stream && isTerminal(a.stdout) && name != "csv" {
		return usagef("%s is \"-\", but %s is binary and standard output is a terminal: want a file or a pipe", flag, name)
	}
	if name == "" && !slices.Contains(outputFormats(), formatOf(path)) {
		return &fault.ParamError{Param: flag, Value: path,
			Want: "a name that ends in ." + strings.Join(outputFormats(), " or .") + " (each also .gz)" + orFormat(flag)}
	}
	// A trial write of nothing to nowhere finds out about the format's name.
	if err := dataset.WriteMatrix(stream, 0, 0, nil, 1, nil, dataset.WriteOptions{Format: nameOr(name, "csv"), Stdout: io.Discard, Extensions: extensions()}); err != nil {
		return renameParams(err, "format", "--format")
	}
	return a.checkOutput(flag, path)
}

// orFormat ends what is wanted of a file's name; --format is about -i and -o only.
func orFormat(flag string) string {
	if flag == "-o, --output" {
		return ", or --format"
	}
	return ""
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// sameFile reports whether two paths name one file; one that does not exist is compared by
// its cleaned path.
func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// formatFor returns the format name to read path in: "" where the extension says it, else
// the value of --format, which for a stream defaults to CSV.
func formatFor(path, flag string) string {
	if path == stream {
		if flag == "" {
			return "csv"
		}
		return flag
	}
	if formatOf(path) != "" {
		return ""
	}
	return flag
}

// outputFormatFor is formatFor for a file to write. --format speaks of what is read first:
// where it names a format that matrices are not written in, it says nothing here.
func outputFormatFor(path, flag string) string {
	if name := formatOf("." + flag); name != "" && !slices.Contains(outputFormats(), name) {
		flag = ""
	}
	return formatFor(path, flag)
}
