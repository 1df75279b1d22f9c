package shard_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/session"
)

// writeRows writes n rows of random numbers, with ids and labels, to a file.
func writeRows(t interface{ Fatal(...any) }, path string, n, d int, rng *rand.Rand) []float64 {
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	data := &dataset.Data{Points: x}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range n {
		data.IDs = append(data.IDs, fmt.Sprintf("row %d, \"quoted\"\nand broken", i))
		data.Labels = append(data.Labels, fmt.Sprint(i%3))
	}
	if err := dataset.WriteData(path, data,
		dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
		t.Fatal(err)
	}
	return x.Data
}

// readAll reads the elements of a set in any order, each in blocks, and returns the values in the
// order of the row numbers.
func readAll(t *rapid.T, set *shard.Set, o shard.Options) []float64 {
	t.Helper()
	out := make([]float64, set.Rows*int64(set.Dim))
	seen := make([]bool, set.Rows)
	for _, i := range rapid.Permutation(set.Elements).Draw(t, "order") {
		r, err := i.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(1, 12).Draw(t, "block")
		for {
			b, err := r.Next(limit)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Len() != b.Points.Len() || b.Len() > limit {
				t.Fatalf("a block has %d numbers and %d rows", b.Len(), b.Points.Len())
			}
			for k, number := range b.Numbers {
				if seen[number] || number < i.Start || number >= i.Start+i.Rows {
					t.Fatalf("row %d was read twice, or from another element", number)
				}
				seen[number] = true
				copy(out[number*int64(set.Dim):], b.Points.(*points.Dense).Data[k*set.Dim:(k+1)*set.Dim])
			}
		}
		if r.Rows() != i.Rows {
			t.Fatalf("%d rows were passed of %v", r.Rows(), i)
		}
		if bad, err := r.Bad(); err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if k := slices.Index(seen, false); k >= 0 {
		t.Fatalf("row %d is in no element", k)
	}
	return out
}

// The elements of a set contain every row of its files once, for any formats, file sizes and
// element sizes.
func TestElementsContainEveryRow(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		ending := rapid.SampledFrom([]string{"csv", "npy", "parquet", "arrow", "csv.gz", "npy.gz",
			"parquet.gz", "arrow.gz"}).Draw(rt, "format")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		d := rapid.IntRange(1, 4).Draw(rt, "d")
		var want []float64
		for i := range rapid.IntRange(1, 4).Draw(rt, "files") {
			n := rapid.SampledFrom([]int{0, 1, 3, 40}).Draw(rt, "rows") // empty and uneven
			if i == 0 {
				n = max(1, n)
			}
			path := filepath.Join(dir, fmt.Sprintf("part-%02d.%s", i, ending))
			if n == 0 && ending == "csv" && rapid.Bool().Draw(rt, "without a byte") {
				if err := os.WriteFile(path, nil, 0o666); err != nil {
					rt.Fatal(err)
				}
				continue
			}
			want = append(want, writeRows(rt, path, n, d, rng)...)
		}
		o := shard.Options{Rows: rapid.IntRange(1, 50).Draw(rt, "element")}
		set, err := shard.Plan(context.Background(), filepath.Join(dir, "part-*"), o)
		if err != nil {
			rt.Fatal(err)
		}
		for i, e := range set.Elements {
			if e.Index != int64(i) || e.Count != int64(len(set.Elements)) || e.Rows < 1 ||
				e.Rows > int64(o.Rows) && !strings.HasSuffix(ending, ".gz") {
				rt.Fatalf("element %d of %d: %+v", i, len(set.Elements), e)
			}
		}
		if got := readAll(rt, set, o); set.Dim != d || !slices.Equal(got, want) {
			rt.Fatalf("%d values of %d features are not the %d of %d that were written", len(got), set.Dim,
				len(want), d)
		}
	})
}

// Text is divided at the ends of records: the elements have the same good and bad records as the
// library reads.
func TestTextElementsMatchReader(t *testing.T) {
	dir := t.TempDir()
	pieces := []string{"p,1,2\n", "p,1,2\r\n", "\"p\nq\",1,2\n", "\"p\"\"\n,\",1,2\n", "p,1\n", "p,x,2\n",
		"\n", "\r\n\n", "p\"q,1,2\n",
		"\"p\"q,1,2\n", " \"p\n\",1,2\n", "\ufeffp,1,2\n", "p\xff\",1,2\n", "\"p\n\xff\n", "p,NaN,2\n",
		"\u00a0\"p\nq\",1,2\n", "p,1,2\r\r\n", "a,\"1\",\"2\"\n"}
	propertytest.Check(t, func(rt *rapid.T) {
		text := "id,a,b\n" + strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "text"), "")
		path := filepath.Join(dir, "data.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			rt.Fatal(err)
		}
		// All at once, by the library.
		var wantBad []int
		var want, got []float64
		whole, err := dataset.OpenStream(path, dataset.ReadOptions{BadRow: func(e *fault.DataError) {
			wantBad = append(wantBad, e.Row)
		}})
		var d *dataset.Data
		for err == nil {
			if d, err = whole.Next(100); err == nil {
				want = append(want, d.Points.(*points.Dense).Data...)
			}
		}
		if err != io.EOF {
			rt.Skip("a quote is open to the end") // the library cannot continue after it
		}
		o := shard.Options{Rows: rapid.IntRange(1, 4).Draw(rt, "element")}
		set, err := shard.Plan(context.Background(), path, o)
		if err != nil {
			if len(want)+len(wantBad) == 0 {
				return
			}
			rt.Fatal(err)
		}
		if set.Rows != int64(len(want)/2+len(wantBad)) {
			rt.Fatalf("%d rows: want %d and %d bad ones", set.Rows, len(want)/2, len(wantBad))
		}
		var gotBad []int
		for _, e := range set.Elements {
			block, bad, err := e.Whole(o)
			if err != nil {
				rt.Fatal(err)
			}
			if block.Len() > 0 {
				got = append(got, block.Points.(*points.Dense).Data...)
			}
			for _, b := range bad {
				gotBad = append(gotBad, int(b.Row))
				if b.Offset < e.Offset || b.Offset >= e.Offset+e.Bytes || b.Offset > 0 &&
					text[b.Offset-1] != '\n' {
					rt.Fatalf("a bad row is at %d of %q", b.Offset, text)
				}
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(gotBad, wantBad) {
			rt.Fatalf("%q\nrows %v, bad %v: want %v, %v", text, got, gotBad, want, wantBad)
		}
	})
}

// A bad row is reported with its file, number, offset and column, and the rows around it are read.
func TestBadRows(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "a.csv")
	text := "x,y\n1,2\n3,oops\n5,6\n7\n9,10\n"
	if err := os.WriteFile(csv, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	npy := filepath.Join(dir, "a.npy")
	if err := dataset.WriteMatrix(npy, 5, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2, nil,
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(npy)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{3, 6, 7} {
		binary.LittleEndian.PutUint64(b[len(b)-8*10+8*at:], math.Float64bits(math.NaN()))
	}
	if err := os.WriteFile(npy, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want []shard.Bad
	}{
		{csv, []shard.Bad{
			{File: csv, Row: 1, Line: 3, Offset: int64(strings.Index(text, "3,oops")), Column: "y"},
			{File: csv, Row: 3, Line: 5, Offset: int64(strings.Index(text, "7\n"))}}},
		{npy, []shard.Bad{{File: npy, Row: 1, Offset: -1, Column: "1"},
			{File: npy, Row: 3, Offset: -1, Column: "0"}}},
	} {
		for _, rows := range []int{1, 2, 3, 5} {
			set, err := shard.Plan(t.Context(), c.path, shard.Options{Rows: rows})
			if err != nil {
				t.Fatal(err)
			}
			var numbers []int64
			var bad []shard.Bad
			for _, e := range set.Elements {
				block, found, err := e.Whole(shard.Options{})
				if err != nil {
					t.Fatal(err)
				}
				numbers, bad = append(numbers, block.Numbers...), append(bad, found...)
			}
			for i := range bad {
				if bad[i].Reason == "" || !fault.IsInput(bad[i].Err()) {
					t.Errorf("%+v has no reason", bad[i])
				}
				bad[i].Reason = ""
			}
			if !slices.Equal(numbers, []int64{0, 2, 4}) || !slices.Equal(bad, c.want) {
				t.Errorf("%s in elements of %d rows: rows %v, bad %+v", c.path, rows, numbers, bad)
			}
		}
	}
}

// Incompatible files are refused by name.
func TestPlanRefuses(t *testing.T) {
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		files   map[string]string
		pattern string
		rows    int
		want    string
	}{
		"none":       {nil, "*.csv", 0, "no such file"},
		"no pattern": {nil, "[", 0, "want a name with"},
		"twice":      {map[string]string{"a.csv": "x\n1\n"}, "a.csv,*", 0, "no file twice"},
		"no rows":    {map[string]string{"a.csv": "x\n", "b.csv": ""}, "*", 0, "no file has a row"},
		"number of features": {map[string]string{"a.csv": "x\n1\n", "b.csv": "x,y\n1,2\n"}, "*", 0,
			"b.csv: it has 2 features: want 1"},
		"other names": {map[string]string{"a.csv": "x\n1\n", "b.csv": "y\n1\n"}, "*", 0,
			"b.csv: its features are y"},
		"labels": {map[string]string{"a.csv": "x\n1\n", "b.csv": "x,label\n1,2\n"}, "*", 0,
			"has labels"},
		"ids": {map[string]string{"a.csv": "x\n1\n", "b.csv": "x,id\n1,2\n"}, "*", 0,
			"has ids"},
		"unknown":         {map[string]string{"a.txt": "x\n1\n"}, "*", 0, ".txt"},
		"not by rows":     {map[string]string{"a.svm": "1 1:2\n"}, "*", 0, "row by row"},
		"negative":        {map[string]string{"a.csv": "x\n1\n"}, "*", -1, "rows of an element"},
		"header is wrong": {map[string]string{"a.csv": "x,x\n1,2\n"}, "*", 0, "a.csv, line 1"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			write(dir, file, text)
		}
		var patterns []string
		for p := range strings.SplitSeq(c.pattern, ",") {
			patterns = append(patterns, filepath.Join(dir, p))
		}
		_, err := shard.Plan(t.Context(), strings.Join(patterns, ","), shard.Options{Rows: c.rows})
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v: want %q", name, err, c.want)
		}
	}
}

// A file that changes during a job is an error.
func TestChangedFile(t *testing.T) {
	for _, ending := range []string{"csv", "npy", "parquet", "arrow", "csv.gz"} {
		path := filepath.Join(t.TempDir(), "a."+ending)
		writeRows(t, path, 20, 2, rand.New(rand.NewPCG(1, 1)))
		set, err := shard.Plan(t.Context(), path, shard.Options{Rows: 15})
		if err != nil {
			t.Fatal(err)
		}
		writeRows(t, path, 10, 2, rand.New(rand.NewPCG(2, 1)))
		last := set.Elements[len(set.Elements)-1]
		if _, _, err := last.Whole(shard.Options{}); !fault.IsInput(err) {
			t.Errorf("%s: %v: want an error", path, err)
		}
	}
}
