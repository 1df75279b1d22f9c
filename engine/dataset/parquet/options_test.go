package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// square writes a symmetric matrix of order 3 with ids.
func square(t *testing.T) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data.parquet")
	if err := dataset.WriteMatrix(path, 3, 3, []float64{2, 1, 0, 1, 2, 1, 0, 1, 2}, 3,
		[]string{"a", "b", "c"}, writing()); err != nil {
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
	for name, b := range map[string][]byte{"-": content, "data": content, "data.gz": gziptest.Zip(content)} {
		d, err := dataset.Decode(bytes.NewBuffer(b), name, "parquet", reading())
		if err != nil || !slices.Equal(rowData(d), rowData(want)) || !slices.Equal(d.IDs, want.IDs) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if !slices.Contains(dataset.Formats(Format()), "parquet") ||
		!slices.Contains(dataset.OutputFormats(Format()), "parquet") ||
		dataset.FormatOf("a/B.PARQUET", Format()) != "parquet" ||
		!dataset.Streams("x.parquet", "", Format()) ||
		dataset.CountsFirst("-", dataset.WriteOptions{Format: "parquet"}) {
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
	if _, err := dataset.Decode(bytes.NewReader(content), "data.csv", "", reading()); err == nil ||
		!strings.Contains(err.Error(), "a Parquet file") {
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
	read := func(limit int64) error {
		o := reading()
		o.MemoryLimit = limit
		return errOf(dataset.Read(path, o))
	}
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
			if e, ok := errors.AsType[*fault.MemoryError](err); !ok || e.Need <= limit || e.Limit > limit ||
				!strings.Contains(err.Error(), c.words) {
				t.Errorf("%s with a limit of %d: %v", c.name, limit, err)
			}
		}
	}
}

// drawTable writes a file of ids and two features in row groups of a few rows. The first feature is
// the row's number; the second one is missing where wrong returns true.
func drawTable(t *rapid.T, path string, wrong func(row int) bool) (rows int) {
	m := made{names: []string{"a", "b", "id"},
		nodes: []pq.Node{pq.Leaf(pq.DoubleType), pq.Optional(pq.Leaf(pq.DoubleType)), pq.String()}}
	m.group = rapid.IntRange(1, 12).Draw(t, "group")
	m.options = []pq.WriterOption{pq.PageBufferSize(rapid.IntRange(16, 256).Draw(t, "page"))}
	rows = rapid.IntRange(1, 40).Draw(t, "rows")
	for i := range rows {
		b := pq.DoubleValue(0.5).Level(0, 1, 1)
		if wrong(i) {
			b = pq.Value{}.Level(0, 0, 1)
		}
		m.rows = append(m.rows,
			pq.Row{pq.DoubleValue(float64(i)).Level(0, 0, 0), b,
				pq.ByteArrayValue([]byte(fmt.Sprint("p", i))).Level(0, 0, 2)})
	}
	if err := os.WriteFile(path, m.bytes(t), 0o666); err != nil {
		t.Fatal(err)
	}
	return rows
}

// After any sequence of skips and reads, the rows are those of the file, and bad rows are skipped.
func TestSkip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.parquet")
	propertytest.Check(t, func(rt *rapid.T) {
		period := rapid.IntRange(2, 50).Draw(rt, "period")
		wrong := func(row int) bool { return row%period == 1 }
		rows := drawTable(rt, path, wrong)
		passed := map[int]bool{}
		o := reading()
		o.BadRow = func(e *fault.DataError) {
			if e.Column != "b" || passed[e.Row] {
				rt.Fatalf("skipped with %v", e)
			}
			passed[e.Row] = true
		}
		s, err := dataset.OpenStream(path, o)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		for at := 0; at < rows; {
			k := rapid.IntRange(0, rows-at).Draw(rt, "skip")
			if err := s.Skip(k); err != nil {
				rt.Fatal(err)
			}
			if at += k; at == rows {
				break
			}
			d, err := s.Next(rapid.IntRange(1, rows-at).Draw(rt, "read"))
			if err == io.EOF { // the remaining rows were bad
				for ; at < rows; at++ {
					if !wrong(at) {
						rt.Fatalf("the stream ends before row %d", at)
					}
				}
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			x := d.Points.(*points.Dense)
			for i := range x.N {
				for ; wrong(at); at++ {
					if !passed[at] {
						rt.Fatalf("row %d was not reported", at)
					}
				}
				if !slices.Equal(x.Data[2*i:2*i+2], []float64{float64(at), 0.5}) ||
					d.IDs[i] != fmt.Sprint("p", at) {
					rt.Fatalf("row %d is %v, %s", at, x.Data[2*i:2*i+2], d.IDs[i])
				}
				at++
			}
			for passed[at] { // they were in the same block
				at++
			}
		}
	})
}

// The labels and ids of a Parquet file are those of the same file as CSV, read at once or in
// blocks, also as labels of another file.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	text, labeled := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.parquet")
	var content bytes.Buffer
	type row struct {
		ID    string  `parquet:"id"`
		Label string  `parquet:"label"`
		X     float64 `parquet:"x"`
		Note  string  `parquet:"note"`
	}
	w := pq.NewGenericWriter[row](&content)
	csv := "id,label,x,note\n"
	for i := range 9000 {
		r := row{fmt.Sprint("r", i), []string{"a", "", "b"}[i%3], float64(i), "text"}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		csv += fmt.Sprintf("%s,%s,%v,%s\n", r.ID, r.Label, r.X, r.Note)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write1(t, labeled, content.Bytes())
	write1(t, text, []byte(csv))
	want, err := dataset.ReadLabels(dataset.Input{Name: text}, reading())
	if err != nil || len(want.Labels) != 9000 {
		t.Fatal(len(want.Labels), err)
	}
	got, err := dataset.ReadLabels(dataset.Input{Name: labeled}, reading())
	if err != nil || !slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.IDs, want.IDs) {
		t.Errorf("%d labels, %d ids, %v", len(got.Labels), len(got.IDs), err)
	}
	s, err := dataset.OpenLabels(dataset.Input{Name: labeled}, reading())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for next := 0; next < 9000; next += 1000 {
		rows, err := s.Next(1000)
		if err != nil || !slices.Equal(rows.Labels, want.Labels[next:next+1000]) {
			t.Fatalf("block at %d: %v", next, err)
		}
	}
	o := reading()
	o.Label = "note"
	if rows, err := dataset.ReadLabels(dataset.Input{Name: labeled},
		o); err != nil || rows.Labels[8999] != "text" {
		t.Errorf("another column: %v", err)
	}
	o.Label, o.MemoryLimit = "", 100_000
	if _, err := dataset.ReadLabels(dataset.Input{Name: labeled}, o); !fault.IsInput(err) {
		t.Errorf("beyond the limit: error %v", err)
	}
	path, _ := square(t)
	if _, err := dataset.ReadLabels(dataset.Input{Name: path}, reading()); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "it has no column label") {
		t.Errorf("no labels: error %v", err)
	}
}
