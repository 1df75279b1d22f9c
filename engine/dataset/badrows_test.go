package dataset

import (
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

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// wrongRows are bad lines of a CSV file with the columns id, a, b, label.
var wrongRows = []string{"p%d,1,oops,x", "p%d,1,x", "p%d,NaN,2,x", "p%d,1,2,", "p\xff%d,1,2,x", `p%d,1,2,x"y`, "p%d,,Inf,x", ""}

// A stream that skips bad rows returns the others and reports each bad row once.
func TestBadRowsOfCSV(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		var text strings.Builder
		text.WriteString("id,a,b,label\n")
		var right, wrong []int
		for i := range n {
			kind := rapid.IntRange(-3*len(wrongRows), len(wrongRows)-1).Draw(rt, "kind")
			if kind >= 0 && wrongRows[kind] == "" && (i == n-1 || len(wrong) > 0 && wrong[len(wrong)-1] == i-1) {
				kind = 0 // consecutive blank lines are one bad row, and none at the end
			}
			if kind < 0 {
				fmt.Fprintf(&text, "p%d,%d,0.5,x\n", i, i)
				right = append(right, i)
				continue
			}
			wrong = append(wrong, i)
			if wrongRows[kind] != "" {
				fmt.Fprintf(&text, wrongRows[kind], i)
			}
			text.WriteString("\n")
		}
		path := filepath.Join(dir, "data.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			rt.Fatal(err)
		}
		checkBadRows(rt, path, right, wrong, nil)
	})
}

// checkBadRows reads a file whose first column is the row number.
func checkBadRows(rt *rapid.T, path string, right, wrong []int, extensions []Extension) {
	rt.Helper()
	var passed, kept []int
	s, err := OpenStream(path, ReadOptions{Extensions: extensions, BadRow: func(e *fault.DataError) {
		if e.File != path || e.Err == nil {
			rt.Fatalf("skipped with %v", e)
		}
		passed = append(passed, e.Row)
	}})
	if err != nil {
		rt.Fatal(err)
	}
	defer s.Close()
	for {
		d, err := s.Next(rapid.IntRange(1, 9).Draw(rt, "limit"))
		if err == io.EOF {
			break
		}
		if err != nil {
			rt.Fatal(err)
		}
		x := d.Points.(*points.Dense)
		if x.N == 0 || len(x.Data) != x.N*x.D || d.IDs != nil && len(d.IDs) != x.N || d.Labels != nil && len(d.Labels) != x.N {
			rt.Fatalf("a block of %d rows has %d values, %d ids, %d labels", x.N, len(x.Data), len(d.IDs), len(d.Labels))
		}
		for i := range x.N {
			row := int(x.Data[i*x.D])
			kept = append(kept, row)
			if d.IDs != nil && d.IDs[i] != fmt.Sprint("p", row) {
				rt.Fatalf("row %d has the id %s", row, d.IDs[i])
			}
		}
	}
	slices.Sort(passed) // within a block of columns the order is that of columns
	if !slices.Equal(kept, right) || !slices.Equal(passed, wrong) {
		rt.Fatalf("kept %v and skipped %v: want %v and %v", kept, passed, right, wrong)
	}
	if s.Done() != len(right) {
		rt.Fatalf("done %d of %d", s.Done(), len(right))
	}
}

func TestBadRowsOfNPY(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 30).Draw(rt, "n"), rapid.IntRange(2, 4).Draw(rt, "d")
		data := make([]float64, n*d)
		var right, wrong []int
		for i := range n {
			data[i*d] = float64(i)
			if rapid.IntRange(0, 3).Draw(rt, "wrong") > 0 {
				right = append(right, i)
				continue
			}
			wrong = append(wrong, i)
			for range 2 { // in one place or two
				data[i*d+1+rapid.IntRange(0, d-2).Draw(rt, "at")] = []float64{math.NaN(), math.Inf(1)}[i%2]
			}
		}
		path := filepath.Join(dir, "data.npy")
		text := npyPreamble("<f8", n, d)
		for _, v := range data {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			rt.Fatal(err)
		}
		checkBadRows(rt, path, right, wrong, nil)
	})
}

// A problem of the file as a whole is still an error.
func TestBadRowsAndBadFile(t *testing.T) {
	for name, text := range map[string]string{
		"header": "a,a\n1,2\n", "a quote is open": "a,id\n1,x\n2,\"y\n", "binary": "a,b\n1,2\n\x00\n", "no features": "id,label\nx,y\n",
	} {
		passed := 0
		o := ReadOptions{BadRow: func(*fault.DataError) { passed++ }}
		s, err := DecodeStream(strings.NewReader(text), name, "csv", o)
		for err == nil {
			_, err = s.Next(1)
		}
		if !fault.IsInput(err) || passed > 0 {
			t.Errorf("%s: %v, after %d skipped rows", name, err, passed)
		}
	}
}

// After any sequence of skips and reads, the next rows are those of the whole file.
func TestSkip(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		path := filepath.Join(dir, "data."+rapid.SampledFrom([]string{"csv", "npy", "csv.gz", "npy.gz"}).Draw(rt, "format"))
		if err := WriteData(path, &Data{Points: x}, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		checkSkip(rt, path, x.Data, ReadOptions{})
	})
}

// checkSkip reads and skips rows of a file of three columns at random.
func checkSkip(rt *rapid.T, path string, want []float64, o ReadOptions) {
	s, err := OpenStream(path, o)
	if err != nil {
		rt.Fatal(err)
	}
	defer s.Close()
	n := len(want) / 3
	for at := 0; at < n; {
		k := rapid.IntRange(0, n-at).Draw(rt, "skip")
		if err := s.Skip(k); err != nil {
			rt.Fatal(err)
		}
		if at += k; at == n {
			break
		}
		d, err := s.Next(rapid.IntRange(1, n-at).Draw(rt, "read"))
		if err != nil {
			rt.Fatal(err)
		}
		got := d.Points.(*points.Dense).Data
		if !slices.Equal(got, want[3*at:3*at+len(got)]) {
			rt.Fatalf("rows from %d on differ", at)
		}
		at += d.Points.Len()
		if s.Done() != at {
			rt.Fatalf("done %d: want %d", s.Done(), at)
		}
	}
	if err := s.Skip(1); err != io.EOF {
		rt.Fatalf("skipping after the end: %v", err)
	}
	if _, err := s.Next(1); err != io.EOF {
		rt.Fatalf("reading after the end: %v", err)
	}
}
