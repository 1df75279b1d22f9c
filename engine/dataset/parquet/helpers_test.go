package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// reading returns read options with the Parquet format.
func reading() dataset.ReadOptions {
	return dataset.ReadOptions{Extensions: []dataset.Extension{Format()}}
}

func writing() dataset.WriteOptions {
	return dataset.WriteOptions{Extensions: []dataset.Extension{Format()}}
}

// made is a table that another library writes: the columns are in the order of their names.
type made struct {
	names   []string
	nodes   []pq.Node
	rows    []pq.Row
	group   int // rows per row group
	options []pq.WriterOption
}

// bytes returns the file.
func (m *made) bytes(t fatal) []byte {
	t.Helper()
	group := pq.Group{}
	for j, name := range m.names {
		group[name] = m.nodes[j]
	}
	var b bytes.Buffer
	w := pq.NewWriter(&b, append([]pq.WriterOption{pq.NewSchema("rows", group)}, m.options...)...)
	for i, row := range m.rows {
		if _, err := w.WriteRows([]pq.Row{row}); err != nil {
			t.Fatal(err)
		}
		if m.group > 0 && (i+1)%m.group == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// table returns a file of single values; nil is a missing value.
func table(t fatal, names []string, nodes []pq.Node, rows ...[]any) []byte {
	t.Helper()
	m := made{names: names, nodes: nodes}
	for _, values := range rows {
		var row pq.Row
		for j, v := range values {
			level := 0
			if nodes[j].Optional() && v != nil {
				level = 1
			}
			row = append(row, pq.ValueOf(v).Level(0, level, j))
		}
		m.rows = append(m.rows, row)
	}
	return m.bytes(t)
}

// decode reads a file from memory.
func decode(b []byte, o dataset.ReadOptions) (*dataset.Data, error) {
	return dataset.Decode(bytes.NewReader(b), "data.parquet", "", o)
}

func write1(t fatal, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// streamed reads a file in blocks of the sizes that limit returns.
func streamed(path string, o dataset.ReadOptions, limit func() int) (*dataset.Data, error) {
	s, err := dataset.OpenStream(path, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x, out := &points.Dense{}, &dataset.Data{Name: path}
	for {
		d, err := s.Next(limit())
		if err == io.EOF {
			out.Points = x
			if s.Done() != x.N || s.Rows() != x.N {
				return nil, fmt.Errorf("done %d of %d rows, read %d", s.Done(), s.Rows(), x.N)
			}
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		part := d.Points.(*points.Dense)
		x.N, x.D, x.Data, out.Features = x.N+part.N, part.D, append(x.Data, part.Data...), d.Features
		out.IDs, out.Labels = append(out.IDs, d.IDs...), append(out.Labels, d.Labels...)
	}
}

// sameBits describes where two tables differ; it returns "" if they are bit-identical.
func sameBits(got points.Points, n, d int, want []float64) string {
	x := got.(*points.Dense)
	if x.N != n || x.D != d {
		return fmt.Sprintf("%d x %d: want %d x %d", x.N, x.D, n, d)
	}
	for i, v := range want {
		if math.Float64bits(x.Data[i]) != math.Float64bits(v) {
			return fmt.Sprintf("row %d, column %d is %v: want %v", i/d, i%d, x.Data[i], v)
		}
	}
	return ""
}

// wantData checks the row and column of an error and that its message contains words.
func wantData(t *testing.T, err error, row int, column string, words ...string) {
	t.Helper()
	de, ok := errors.AsType[*fault.DataError](err)
	if !ok {
		t.Fatalf("error %v (%T): want a *fault.DataError", err, err)
	}
	if de.File != "data.parquet" || de.Row != row || de.Column != column {
		t.Errorf("error is at %q, row %d, column %q: want row %d, column %q (%v)", de.File, de.Row, de.Column,
			row, column, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in: %v", w, err)
		}
	}
}

func rowData(d *dataset.Data) []float64 { return d.Points.(*points.Dense).Data }
