package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

func TestWriteMatrixCSV(t *testing.T) {
	var b bytes.Buffer
	data := []float64{0.1, 1, -9, 1e5, 1e-7, -9} // stride 3, the third column is not part of it
	if err := WriteMatrix("-", 2, 2, data, 3, []string{"a,b", "c"}, WriteOptions{Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	// What C's %.17g prints.
	const want = "id,0,1\n\"a,b\",0.10000000000000001,1\nc,100000,9.9999999999999995e-08\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	if err := WriteMatrix("-", 1, 2, data, 3, nil,
		WriteOptions{Stdout: &b, Columns: []string{"u", "v w"}}); err != nil ||
		b.String() != "u,v w\n0.10000000000000001,1\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestNothingLeftAfterAnError(t *testing.T) {
	dir := t.TempDir()
	check := func(name string, err error) {
		t.Helper()
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input error", name, err)
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 {
			t.Errorf("%s: the folder holds %v", name, list)
		}
	}
	bad := []float64{1, 2, 3, math.NaN()}
	for _, name := range []string{"m.csv", "m.npy", "m.csv.gz", "m.npy.gz"} {
		path := filepath.Join(dir, name)
		err := WriteMatrix(path, 2, 2, bad, 2, nil, WriteOptions{})
		check(name, err)
		wantData(t, err, path, place{0, 1, "1"}, "NaN")
	}
	check("format", WriteMatrix(filepath.Join(dir, "m.txt"), 1, 1, bad, 1, nil, WriteOptions{}))
	check("labels in npy",
		WriteLabels(filepath.Join(dir, "m.npy"), []string{"a"}, nil, WriteOptions{Format: "npy"}))
	check("short data", WriteMatrix(filepath.Join(dir, "m.csv"), 2, 2, bad[:3], 2, nil, WriteOptions{}))
	check("stride", WriteMatrix(filepath.Join(dir, "m.csv"), 1, 2, bad, 1, nil, WriteOptions{}))
	check("ids", WriteMatrix(filepath.Join(dir, "m.csv"), 1, 2, bad, 2, []string{"a", "b"}, WriteOptions{}))
	check("no stdout", WriteMatrix("-", 1, 1, bad, 1, nil, WriteOptions{Format: "csv"}))
	check("sparse", WriteData(filepath.Join(dir, "m.csv"), &Data{Points: &points.CSR{}}, WriteOptions{}))

	canceled := WriteMeasuredPairs(filepath.Join(dir, "p.csv"), 2, nil,
		func(k int) (i, j int, numbers []float64, err error) {
			return 0, 1, nil, context.Canceled
		}, nil, WriteOptions{})
	if list, _ := os.ReadDir(dir); len(list) > 0 || !errors.Is(canceled, context.Canceled) {
		t.Errorf("canceled pairs: the folder holds %v, error %v", list, canceled)
	}
	stop := Atomic(filepath.Join(dir, "m"), func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return context.Canceled
	})
	if list, _ := os.ReadDir(dir); len(list) > 0 || !errors.Is(stop, context.Canceled) {
		t.Errorf("canceled: the folder holds %v, error %v", list, stop)
	}
}

func TestOutputFolderMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "m.csv")
	for name, err := range map[string]error{
		"matrix": WriteMatrix(path, 1, 1, []float64{1}, 1, nil, WriteOptions{}),
		"labels": WriteLabels(path, []string{"a"}, nil, WriteOptions{}),
		"pairs":  WritePairs(path, nil, nil, WriteOptions{}),
	} {
		var de *fault.DataError
		if !errors.As(err, &de) || de.File != path || !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: error %v, want a DataError that names %s", name, err, path)
		}
	}
}

func TestWriteDataRoundTrip(t *testing.T) {
	d, err := Generate("moons", GenerateOptions{N: 7, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	d.IDs = []string{"1", "2 3", "a\"b", "x,y", "n\u00a0b", "two\nlines", "é"}
	for _, format := range []string{"csv", "npy", "csv.gz", "npy.gz"} {
		roundTrip(t, d, format)
	}
}

// Rows in blocks of any size give the same file as the whole matrix.
func TestWriteRows(t *testing.T) {
	const rows, cols = 11, 3
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = float64(i) / 7
	}
	ids := strings.Split("abcdefghijk", "")
	for _, name := range []string{"m.csv", "m.npy", "m.csv.gz"} {
		dir := t.TempDir()
		whole, parts := filepath.Join(dir, "whole-"+name), filepath.Join(dir, "parts-"+name)
		if err := WriteMatrix(whole, rows, cols, data, cols, ids, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, number := range []int{rows, -1} {
			if number < 0 && name == "m.npy.gz" {
				continue
			}
			block, at, blocks := make([]float64, 0, rows*cols), 0, 0
			next := func() (Rows, error) { // blocks of 1, 2, 3 ... rows in the same memory
				if at == rows {
					return Rows{}, io.EOF
				}
				blocks++
				from, to := at, min(at+blocks, rows)
				at = to
				return Rows{Data: append(block[:0], data[from*cols:to*cols]...), IDs: ids[from:to]}, nil
			}
			if err := WriteRows(parts, number, cols, next, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			a, errA := os.ReadFile(whole)
			b, errB := os.ReadFile(parts)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s, %d rows: %d bytes at once, %d in blocks (%v, %v)", name, number, len(a), len(b),
					errA, errB)
			}
			if at != rows || blocks != 5 {
				t.Errorf("%s: asked for %d rows in %d blocks", name, at, blocks)
			}
		}
	}
	dir := t.TempDir()
	for name, block := range map[string]struct {
		rows Rows
		err  error
	}{
		"none":     {Rows{}, nil},
		"too many": {Rows{Data: make([]float64, (rows+1)*cols)}, nil},
		"half":     {Rows{Data: make([]float64, cols+1)}, nil},
		"NaN":      {Rows{Data: []float64{1, math.NaN(), 2}}, nil},
		"labels":   {Rows{Data: make([]float64, 2*cols), Labels: []string{"a"}}, nil},
		"ids":      {Rows{Data: make([]float64, 2*cols), IDs: []string{"a"}}, nil},
		"ended":    {Rows{}, io.EOF},
		"canceled": {Rows{}, context.Canceled},
	} {
		next := func() (Rows, error) { return block.rows, block.err }
		err := WriteRows(filepath.Join(dir, "m.csv"), rows, cols, next, WriteOptions{})
		if list, _ := os.ReadDir(dir); len(list) > 0 || err == nil || name == "canceled" &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: the folder holds %v, error %v", name, list, err)
		}
	}
	// the number of rows cannot be written into the header
	for _, path := range []string{filepath.Join(dir, "m.npy.gz"), "-"} {
		next := func() (Rows, error) { t.Errorf("%s: asked for rows", path); return Rows{}, io.EOF }
		o := WriteOptions{Format: "npy", Stdout: io.Discard}
		if !CountsFirst(path, o) {
			t.Errorf("%s: rows need not be counted", path)
		}
		err := WriteRows(path, -1, cols, next, o)
		if list, _ := os.ReadDir(dir); len(list) > 0 || !fault.IsInput(err) {
			t.Errorf("%s: the folder holds %v, error %v", path, list, err)
		}
	}
}

// TestWriteSingle: numbers in single precision take half the bytes in .npy and few digits in CSV,
// and are restored exactly.
func TestWriteSingle(t *testing.T) {
	values := []float64{float64(float32(0.1)), -3e38, 1, 1e-40, float64(math.Float32frombits(0x3f800001)), 0}
	for i, v := range values {
		values[i] = float64(float32(v))
	}
	dir := t.TempDir()
	for _, name := range []string{"a.npy", "a.csv", "a.npy.gz"} {
		path := filepath.Join(dir, name)
		if err := WriteMatrix(path, 2, 3, values, 3, nil, WriteOptions{Single: true}); err != nil {
			t.Fatal(err)
		}
		d, err := Read(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := d.Points.(*points.Dense).Data
		for i := range got { // the digits that restore a float32 denote another float64
			got[i] = float64(float32(got[i]))
		}
		if !slices.Equal(got, values) {
			t.Errorf("%s: got %v, want %v", name, got, values)
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, "a.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file, []byte("'<f4'")) || len(file) != 128+4*len(values) {
		t.Errorf(".npy has %d bytes, begins with %q: want single precision", len(file), file[:80])
	}
	text, err := os.ReadFile(filepath.Join(dir, "a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "0,1,2\n0.1,-3e+38,1\n1e-40,1.0000001,0\n"; string(text) != want {
		t.Errorf("CSV is %q: want %q", text, want)
	}
}
