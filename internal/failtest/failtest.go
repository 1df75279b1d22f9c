// Package failtest makes readers and writers fail at every call, one after the other.
package failtest

import (
	"errors"
	"io"
	"testing"
)

// Err is the error of what fails.
var Err = errors.New("this part is broken")

// Writer fails at one call, and counts all.
type Writer struct{ at, calls int }

// Write fails at one call, after half of p.
func (w *Writer) Write(p []byte) (int, error) {
	if w.calls++; w.calls == w.at {
		return len(p) / 2, Err
	}
	return len(p), nil
}

// Calls returns their number.
func (w *Writer) Calls() int { return w.calls }

// Writes lets write fail at every call of its writer: it must return the writer's error, and write
// nothing more.
func Writes(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	whole := &Writer{}
	if err := write(whole); err != nil || whole.calls == 0 {
		t.Fatalf("%s: %d writes, error %v", name, whole.calls, err)
	}
	for k := 1; k <= whole.calls; k++ {
		w := &Writer{at: k}
		if err := write(w); !errors.Is(err, Err) || w.calls > k {
			t.Errorf("%s, failing at write %d of %d: %d more, error %v", name, k, whole.calls, w.calls-k, err)
		}
	}
}

// reader returns its content in parts. At one call it fails: with a part of the content at every
// other number of the call.
type reader struct {
	content         []byte
	part, at, calls int
}

func (r *reader) Read(p []byte) (n int, err error) {
	r.calls++
	switch {
	case r.calls == r.at && r.at%2 == 0:
		return 0, Err
	case r.calls == r.at:
		err = Err
	case len(r.content) == 0:
		return 0, io.EOF
	}
	n = copy(p[:min(len(p), r.part)], r.content)
	r.content = r.content[n:]
	return n, err
}

// Reads lets read fail at every call of its reader, the last one in the place of the end: it must
// return the reader's error.
func Reads(t *testing.T, name string, content []byte, read func(io.Reader) error) {
	t.Helper()
	const parts = 12
	part := len(content)/parts + 1
	if err := read(&reader{content: content, part: part}); err != nil || len(content) == 0 {
		t.Fatalf("%s, %d bytes: %v", name, len(content), err)
	}
	for k := 1; k <= (len(content)-1)/part+2; k++ {
		if err := read(&reader{content: content, part: part, at: k}); !errors.Is(err, Err) {
			t.Errorf("%s, failing at read %d: error %v", name, k, err)
		}
	}
}

// file is one of which one read fails.
type file struct {
	io.ReaderAt
	at, calls int
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.calls++; f.calls == f.at {
		return 0, Err
	}
	return f.ReaderAt.ReadAt(p, offset)
}

// ReadsAt lets read fail at every read of a file: it must return the error of the file.
func ReadsAt(t *testing.T, name string, content io.ReaderAt, read func(io.ReaderAt) error) {
	t.Helper()
	whole := &file{ReaderAt: content}
	if err := read(whole); err != nil || whole.calls == 0 {
		t.Fatalf("%s: %d reads, error %v", name, whole.calls, err)
	}
	for k := 1; k <= whole.calls; k++ {
		if err := read(&file{ReaderAt: content, at: k}); !errors.Is(err, Err) {
			t.Errorf("%s, failing at read %d of %d: error %v", name, k, whole.calls, err)
		}
	}
}
