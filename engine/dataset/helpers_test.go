package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// write writes a file in a new folder and returns its path.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// overwrite writes a file for a property test, which runs too often for a new folder each time.
func overwrite(t interface{ Fatal(...any) }, path string, content []byte) {
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// decode reads a CSV text from memory.
func decode(text string, o ReadOptions) (*Data, error) {
	return Decode(strings.NewReader(text), "data.csv", "", o)
}

func dense(t testing.TB, d *Data, err error) *points.Dense {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	x, ok := d.Points.(*points.Dense)
	if !ok {
		t.Fatalf("points are %T, want *points.Dense", d.Points)
	}
	return x
}

// place is the location that an error names.
type place struct {
	line, row int
	column    string
}

// wantData checks that err is a DataError for that file and place whose message contains text.
func wantData(t testing.TB, err error, file string, at place, text string) {
	t.Helper()
	var de *fault.DataError
	if !errors.As(err, &de) {
		t.Fatalf("error %v (%T), want a *fault.DataError", err, err)
	}
	if de.File != file {
		t.Errorf("error names file %q, want %q", de.File, file)
	}
	if got := (place{de.Line, de.Row, de.Column}); got != at {
		t.Errorf("error is at %+v, want %+v (%v)", got, at, err)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("message %q, want %q in it", err, text)
	}
}

// writeChunklets writes the chunklets of s, numbered from 0, to the standard output of o.
func writeChunklets(s *links.Set, ids []string, o WriteOptions) error {
	return WriteTable("-", []string{"i", "chunklet"}, func(yield func([]string, error) bool) {
		for k, rows := range s.Chunklets() {
			for _, i := range rows {
				if !yield([]string{rowName(i, ids), strconv.Itoa(k)}, nil) {
					return
				}
			}
		}
	}, o)
}
