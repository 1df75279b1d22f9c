package session

import (
	"context"
	"io"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
)

// Writing returns the write options for path.
func (s *Session) Writing(path, format string) dataset.WriteOptions {
	return dataset.WriteOptions{Format: OutputFormatFor(path, format), Stdout: s.Stdout, Extensions: Extensions(), Check: s.Files.Unchanged}
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
