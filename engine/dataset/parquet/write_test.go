package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// drawn returns random dense data; the values are any finite float64.
func drawn(t *rapid.T) *dataset.Data {
	n, d := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = rapid.Float64().Filter(func(v float64) bool { return v-v == 0 }).Draw(t, "value")
	}
	data := &dataset.Data{Points: x}
	for j := range d {
		data.Features = append(data.Features, fmt.Sprint("f", j))
	}
	if rapid.Bool().Draw(t, "ids") {
		for i := range n {
			data.IDs = append(data.IDs, fmt.Sprintf("ä \"%d\",", i))
		}
	}
	if rapid.Bool().Draw(t, "labels") {
		for i := range n {
			data.Labels = append(data.Labels, fmt.Sprint("class ", i%3))
		}
	}
	return data
}

// Data written to .parquet, .csv and .npy are bit-identical after reading.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		data := drawn(rt)
		var read []*dataset.Data
		for _, ending := range []string{"parquet", "parquet.gz", "csv", "npy"} {
			path := filepath.Join(dir, "data."+ending)
			if err := dataset.WriteData(path, data, writing()); err != nil {
				rt.Fatal(err)
			}
			got, err := dataset.Read(path, reading())
			if err != nil {
				rt.Fatal(err)
			}
			got.Name = ""
			read = append(read, got)
		}
		for _, other := range read[1:3] {
			if diff := difftest.Diff(read[0], other); diff != "" {
				rt.Errorf("-parquet +other:\n%s", diff)
			}
		}
		if dataset.Fingerprint(read[0].Points) != dataset.Fingerprint(read[3].Points) {
			rt.Error("the values are not those of .npy")
		}
	})
}

// Another library can read the written files.
func TestOthersReadIt(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		data := drawn(rt)
		x := data.Points.(*points.Dense)
		var b bytes.Buffer
		o := writing()
		o.Stdout, o.Format = &b, "parquet"
		if err := dataset.WriteData("-", data, o); err != nil {
			rt.Fatal(err)
		}
		f, err := pq.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			rt.Fatal(err)
		}
		rows := make([]pq.Row, x.N+1)
		r := pq.NewReader(f)
		n, err := r.ReadRows(rows)
		if n != x.N || err != nil && err != io.EOF {
			rt.Fatalf("%d rows, %v: want %d", n, err, x.N)
		}
		for i, row := range rows[:n] {
			var want pq.Row
			if data.IDs != nil {
				want = append(want, pq.ValueOf(data.IDs[i]))
			}
			for _, v := range x.Row(i) {
				want = append(want, pq.ValueOf(v))
			}
			if data.Labels != nil {
				want = append(want, pq.ValueOf(data.Labels[i]))
			}
			if !slices.EqualFunc(row, want, func(a, b pq.Value) bool {
				return pq.Equal(a, b) &&
					(a.Kind() != pq.Double || math.Float64bits(a.Double()) == math.Float64bits(b.Double()))
			}) {
				rt.Fatalf("row %d is %v: want %v", i, row, want)
			}
		}
	})
}

// rowsOf returns blocks of at most limit rows of a matrix.
func rowsOf(x *points.Dense, ids []string, limit int) func() (dataset.Rows, error) {
	at := 0
	return func() (dataset.Rows, error) {
		n := min(limit, x.N-at)
		if n == 0 {
			return dataset.Rows{}, io.EOF
		}
		at += n
		return dataset.Rows{Data: x.Data[(at-n)*x.D : at*x.D], IDs: ids[at-n : at]}, nil
	}
}

// Rows in blocks fill more than one row group and page, and can be read in blocks of any size
// within a memory limit that the whole exceeds.
func TestManyGroups(t *testing.T) {
	const d = 5
	n := 5 * dataset.PartBytes / 8 / d / 2
	x, ids := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range x.Data {
		x.Data[i] = float64(i) / 3
	}
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	path := filepath.Join(t.TempDir(), "data.parquet")
	if err := dataset.WriteRows(path, -1, d, rowsOf(x, ids, 40_000), writing()); err != nil {
		t.Fatal(err)
	}
	o := reading()
	o.MemoryLimit = 24 << 20
	sizes := 0
	got, err := streamed(path, o, func() int { sizes = (sizes*7 + 1) % 50_000; return sizes + 1 })
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameBits(got.Points, n, d, x.Data); diff != "" || !slices.Equal(got.IDs, ids) {
		t.Error(diff)
	}
	if _, err := dataset.Read(path, o); err == nil {
		t.Error("the whole file is within the limit")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	parsed, err := openFile(f, info.Size(), reading())
	if err != nil || len(parsed.meta.RowGroups) != 3 {
		t.Errorf("%d row groups, %v: want 3", len(parsed.meta.RowGroups), err)
	}
}

// A matrix without rows keeps its columns, and is refused as points.
func TestWriteNoRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.parquet")
	if err := dataset.WriteMatrix(path, 0, 2, nil, 2, nil, writing()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = decode(b, reading())
	wantData(t, err, -1, "", "no rows")
	f, err := pq.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(f.Schema().Columns()) != 2 {
		t.Errorf("%v, %v", f, err)
	}
}

// Two columns with one name are an error, whether features, ids or labels.
func TestSameNames(t *testing.T) {
	x := &points.Dense{N: 1, D: 2, Data: []float64{1, 2}}
	for _, d := range []*dataset.Data{
		{Points: x, Features: []string{"a", "a"}},
		{Points: x, Features: []string{"a", "id"}, IDs: []string{"p"}},
		{Points: x, Features: []string{"label", "a"}, Labels: []string{"p"}},
		{Points: x, Features: []string{"a", ""}},
	} {
		path := filepath.Join(t.TempDir(), "data.parquet")
		if err := dataset.WriteData(path, d, writing()); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Read(path, reading()); !fault.IsInput(err) {
			t.Errorf("features %q: %v", d.Features, err)
		}
	}
}

// A write that fails leaves no new file, and an older file unchanged.
func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data.parquet")
	block := dataset.Rows{Data: make([]float64, 100_000)}
	bad := dataset.Rows{Data: append(make([]float64, 999), math.NaN())}
	for _, last := range []struct {
		rows dataset.Rows
		err  error
	}{{err: context.Canceled}, {rows: bad},
		{rows: dataset.Rows{Data: make([]float64, 3), IDs: []string{"a"}}}} {
		for _, old := range []string{"", "old"} {
			os.Remove(path)
			if old != "" {
				write1(t, path, []byte(old))
			}
			blocks := 0
			err := dataset.WriteRows(path, -1, 1, func() (dataset.Rows, error) {
				if blocks++; blocks < 25 { // beyond a row group
					return block, nil
				}
				return last.rows, last.err
			}, writing())
			if err == nil || last.err != nil && !errors.Is(err, last.err) {
				t.Errorf("error %v", err)
			}
			entries, _ := os.ReadDir(dir)
			got, _ := os.ReadFile(path)
			if string(got) != old || len(entries) != len(old)/3 {
				t.Errorf("%v are left, with %d bytes", entries, len(got))
			}
		}
	}
}
