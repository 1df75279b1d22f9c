package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
	"github.com/mustlink/mustlink/engine/fault"
)

// Stream is the path of standard input or output.
const Stream = "-"

// Input returns the input at path, which may be standard input.
func (s *Session) Input(path string) dataset.Input {
	if path == Stream {
		return dataset.Input{Name: "standard input", Stream: s.Stdin}
	}
	return dataset.Input{Name: path}
}

// NameOr returns name, or other if name is empty.
func NameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// SameFile reports whether two paths name one file; one that does not exist is compared by
// its cleaned path.
func SameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// FormatFor returns the name of the format of path: "" if the extension implies it, else the
// value of --format, which for a Stream defaults to CSV.
func FormatFor(path, flag string) string {
	if path == Stream {
		return NameOr(flag, "csv")
	}
	if FormatOf(path) != "" {
		return ""
	}
	return flag
}

// OutputFormatFor is FormatFor for a file to write. --format is about the input first: if it
// names a format that matrices are not written in, it is ignored for the output.
func OutputFormatFor(path, flag string) string {
	if name := FormatOf("." + flag); name != "" && !slices.Contains(OutputFormats(), name) {
		flag = ""
	}
	return FormatFor(path, flag)
}

// MakeFolder creates the folder of an output, if there is one, but not its parents, and checks
// that it is writable.
func MakeFolder(path string) error {
	if path == "" {
		return nil
	}
	switch err := os.Mkdir(path, 0o777); {
	case errors.Is(err, os.ErrNotExist):
		return fault.Data(path, "cannot make the folder: no such folder %s: %w", filepath.Dir(path),
			errors.Unwrap(err))
	case err != nil && !errors.Is(err, os.ErrExist):
		return fault.Data(path, "cannot make the folder: %w", errors.Unwrap(err))
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fault.Data(path, "it is a file: want a folder")
	}
	return nil
}

// Extensions returns the formats of data that are in packages of their own. All questions of the
// commands about formats go through this file.
func Extensions() []dataset.Extension { return []dataset.Extension{parquet.Format(), arrow.Format()} }

// Formats returns the names of the input formats of data.
func Formats() []string { return dataset.Formats(Extensions()...) }

// OutputFormats returns the names of the output formats of matrices.
func OutputFormats() []string { return dataset.OutputFormats(Extensions()...) }

// Endings lists the endings of tables and matrices, which are read and written block by block, but
// some, for help texts: ".csv, .npy, .parquet" and, after the word last, ".arrow". Each may be
// followed by .gz.
func Endings(last string, but ...string) string {
	// a kind of csv
	but = append(but, "tsv")
	names := slices.DeleteFunc(OutputFormats(), func(name string) bool { return slices.Contains(but, name) })
	end := len(names) - 1
	return "." + strings.Join(names[:end], ", .") + last + "." + names[end]
}

// InputEndings lists the endings of all formats that are read, for help texts: those that are
// also written first.
func InputEndings() string {
	notes := map[string]string{"svm": " (svmlight)", "idx": " or -ubyte (MNIST)", "fasta": " (sequences)"}
	names := OutputFormats()
	for _, name := range Formats() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := ""
	for _, name := range names {
		text += "." + name + notes[name] + ", "
	}
	return text + "each also .gz"
}

// FormatOf returns the format that a file's name implies, "" for none.
func FormatOf(path string) string { return dataset.FormatOf(path, Extensions()...) }

// ReadWithin reads all of in, up to the memory limit.
func (s *Session) ReadWithin(what string, in io.Reader) ([]byte, error) {
	limit := int64(s.MemoryLimit)
	if limit > 0 {
		in = io.LimitReader(in, limit+1)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if n := int64(len(b)); limit > 0 && n > limit {
		return nil, &fault.MemoryError{What: "reading " + what, Need: n, Limit: limit,
			Hint: "raise the limit if you trust the sender"}
	}
	return b, nil
}

// ReadPipe reads all of a file that is not regular, up to the memory limit.
func (s *Session) ReadPipe(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.ReadWithin(path, f)
}

// Writing returns the write options for path.
func (s *Session) Writing(path, format string) dataset.WriteOptions {
	return dataset.WriteOptions{Format: OutputFormatFor(path, format), Stdout: s.Stdout,
		Extensions: Extensions(), Check: s.Files.Unchanged}
}

// WritingText returns the write options for labels, links and pairs, which are CSV for any file
// name.
func (s *Session) WritingText() dataset.WriteOptions {
	return dataset.WriteOptions{Stdout: s.Stdout, Check: s.Files.Unchanged}
}

// WriteMatrix writes m unless ctx has ended.
func (s *Session) WriteMatrix(ctx context.Context, path, format string, m blas.Matrix, ids []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return dataset.WriteMatrix(path, m.Rows, m.Cols, m.Data, m.Stride, ids, s.Writing(path, format))
}

// WriteFile writes a complete file or none, or writes to standard output.
func (s *Session) WriteFile(path string, write func(w io.Writer) error) error {
	if path == Stream {
		return write(s.Stdout)
	}
	return dataset.Atomic(path, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return s.Files.Unchanged()
	})
}

// WriteText is WriteFile for a text in memory.
func (s *Session) WriteText(path, text string) error {
	return s.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteJSON is WriteFile for a value as JSON.
func (s *Session) WriteJSON(path string, v any) error {
	return s.WriteFile(path, func(w io.Writer) error { return EncodeJSON(w, v) })
}
