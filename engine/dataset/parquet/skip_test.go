package parquet

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// drawTable writes a file of ids and two features in row groups of a few rows. The first feature is
// the row's number; the second one is missing where wrong returns true.
func drawTable(t *rapid.T, path string, wrong func(row int) bool) (rows int) {
	m := made{names: []string{"a", "b", "id"}, nodes: []pq.Node{pq.Leaf(pq.DoubleType), pq.Optional(pq.Leaf(pq.DoubleType)), pq.String()}}
	m.group = rapid.IntRange(1, 12).Draw(t, "group")
	m.options = []pq.WriterOption{pq.PageBufferSize(rapid.IntRange(16, 256).Draw(t, "page"))}
	rows = rapid.IntRange(1, 40).Draw(t, "rows")
	for i := range rows {
		b := pq.DoubleValue(0.5).Level(0, 1, 1)
		if wrong(i) {
			b = pq.Value{}.Level(0, 0, 1)
		}
		m.rows = append(m.rows, pq.Row{pq.DoubleValue(float64(i)).Level(0, 0, 0), b, pq.ByteArrayValue([]byte(fmt.Sprint("p", i))).Level(0, 0, 2)})
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
				if !slices.Equal(x.Data[2*i:2*i+2], []float64{float64(at), 0.5}) || d.IDs[i] != fmt.Sprint("p", at) {
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
