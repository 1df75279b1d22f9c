package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// square writes a symmetric matrix of order 3 with ids.
func square(t *testing.T) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data.parquet")
	if err := dataset.WriteMatrix(path, 3, 3, []float64{2, 1, 0, 1, 2, 1, 0, 1, 2}, 3, []string{"a", "b", "c"}, writing()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

// The options of all formats work for Parquet: labels from another file, Gram matrices, gzip,
// format by name, pipes.
func TestOptions(t *testing.T) {
	path, content := square(t)
	want, err := dataset.Read(path, reading())
	if err != nil {
		t.Fatal(err)
	}
	o := reading()
	o.Labels = filepath.Join(filepath.Dir(path), "labels.csv")
	write1(t, o.Labels, []byte("id,label\na,x\nb,y\nc,x\n"))
	if d, err := dataset.Read(path, o); err != nil || !slices.Equal(d.Labels, []string{"x", "y", "x"}) {
		t.Errorf("labels: %v, %v", d, err)
	}
	write1(t, o.Labels, []byte("id,label\na,x\nc,y\nb,x\n"))
	if _, err := dataset.Read(path, o); err == nil || !strings.Contains(err.Error(), "same order") {
		t.Errorf("labels in another order: %v", err)
	}
	o = reading()
	o.Gram = true
	if d, err := dataset.Read(path, o); err != nil || d.Features != nil {
		t.Errorf("Gram matrix: %v, %v", d, err)
	} else if _, ok := d.Points.(*points.Gram); !ok {
		t.Errorf("Gram matrix: %T", d.Points)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(content)
	_ = w.Close()
	for name, b := range map[string][]byte{"-": content, "data": content, "data.gz": z.Bytes()} {
		d, err := dataset.Decode(bytes.NewBuffer(b), name, "parquet", reading())
		if err != nil || !slices.Equal(rowData(d), rowData(want)) || !slices.Equal(d.IDs, want.IDs) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if !slices.Contains(dataset.Formats(Format()), "parquet") || !slices.Contains(dataset.OutputFormats(Format()), "parquet") ||
		dataset.FormatOf("a/B.PARQUET", Format()) != "parquet" || !dataset.Streams("x.parquet", "", Format()) || dataset.CountsFirst("-", dataset.WriteOptions{Format: "parquet"}) {
		t.Error("the format is not found by its name")
	}
}

// Without the extension the file is refused, and the message names its format.
func TestWithoutExtension(t *testing.T) {
	path, content := square(t)
	_, err := dataset.Read(path, dataset.ReadOptions{})
	if _, ok := errors.AsType[*fault.ParamError](err); !ok {
		t.Errorf("error %v", err)
	}
	if _, err := dataset.Decode(bytes.NewReader(content), "data.csv", "", reading()); err == nil || !strings.Contains(err.Error(), "a Parquet file") {
		t.Errorf("named .csv: %v", err)
	}
	_, err = dataset.Read(path, dataset.ReadOptions{Format: "csv", Extensions: reading().Extensions})
	if err == nil || !strings.Contains(err.Error(), "a Parquet file") {
		t.Errorf("read as csv: %v", err)
	}
}

// The limit counts the values, the pages, and the copy of a pipe's content.
func TestMemoryLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.parquet")
	const n, d = 20_000, 4
	if err := dataset.WriteMatrix(path, n, d, make([]float64, n*d), d, nil, writing()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const values = 8 * n * d
	read := func(limit int64) error { o := reading(); o.MemoryLimit = limit; return errOf(dataset.Read(path, o)) }
	piped := func(limit int64) error {
		o := reading()
		o.MemoryLimit = limit
		return errOf(dataset.Decode(bytes.NewBuffer(content), "-", "parquet", o))
	}
	stream := func(limit int64) error {
		o := reading()
		o.MemoryLimit = limit
		return errOf(streamed(path, o, func() int { return 100 }))
	}
	for _, c := range []struct {
		name   string
		read   func(int64) error
		enough int64
		little []int64
		words  string
	}{
		{"file", read, values + values/2, []int64{100, 1 << 13, values, values + values/8}, "data.parquet"},
		{"pipe", piped, 3 * values, []int64{100, values, 2 * values}, "reading -"},
		{"stream", stream, values + values/16, []int64{100, values / 2}, "data.parquet"},
	} {
		if err := c.read(c.enough); err != nil {
			t.Errorf("%s within the limit: %v", c.name, err)
		}
		for _, limit := range c.little {
			err := c.read(limit)
			if e, ok := errors.AsType[*fault.MemoryError](err); !ok || e.Need <= limit || e.Limit > limit || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s with a limit of %d: %v", c.name, limit, err)
			}
		}
	}
}
