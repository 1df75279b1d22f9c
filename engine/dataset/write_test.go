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
	if err := WriteMatrix("-", 1, 2, data, 3, nil, WriteOptions{Stdout: &b, Columns: []string{"u", "v w"}}); err != nil || b.String() != "u,v w\n0.10000000000000001,1\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestNothingLeftAfterAnError(t *testing.T) {
	dir := t.TempDir()
	check := func(name string, err error) {
		t.Helper()
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input fault", name, err)
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
	check("labels in npy", WriteLabels(filepath.Join(dir, "m.npy"), []string{"a"}, nil, WriteOptions{Format: "npy"}))
	check("short data", WriteMatrix(filepath.Join(dir, "m.csv"), 2, 2, bad[:3], 2, nil, WriteOptions{}))
	check("stride", WriteMatrix(filepath.Join(dir, "m.csv"), 1, 2, bad, 1, nil, WriteOptions{}))
	check("ids", WriteMatrix(filepath.Join(dir, "m.csv"), 1, 2, bad, 2, []string{"a", "b"}, WriteOptions{}))
	check("no stdout", WriteMatrix("-", 1, 1, bad, 1, nil, WriteOptions{Format: "csv"}))
	check("sparse", WriteData(filepath.Join(dir, "m.csv"), &Data{Points: &points.CSR{}}, WriteOptions{}))

	stop := Atomic(filepath.Join(dir, "m"), func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return context.Canceled
	})
	if list, _ := os.ReadDir(dir); len(list) > 0 || !errors.Is(stop, context.Canceled) {
		t.Errorf("cancelled: the folder holds %v, error %v", list, stop)
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
		if !errors.As(err, &de) || de.File != path || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: error %v, want a DataError that names %s", name, err, path)
		}
	}
}

func TestWriteDataRoundTrip(t *testing.T) {
	d, err := Generate("moons", GenerateOptions{N: 7, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	d.IDs = []string{"1", " 2", "a\"b", "x,y", "\u00a0nb", "two\nlines", "é"}
	for _, format := range []string{"csv", "npy", "csv.gz", "npy.gz"} {
		roundTrip(t, d, format)
	}
}

// Rows that come in blocks of any size make the file of the whole matrix.
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
		block, asked := make([]float64, 0, rows*cols), []int(nil)
		next := func(i int) ([]float64, error) { // blocks of 1, 2, 3 ... rows in the same memory
			asked = append(asked, i)
			return append(block[:0], data[i*cols:min(i+len(asked), rows)*cols]...), nil
		}
		if err := WriteRows(parts, rows, cols, ids, next, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		a, errA := os.ReadFile(whole)
		b, errB := os.ReadFile(parts)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes whole, %d in parts (%v, %v)", name, len(a), len(b), errA, errB)
		}
		if !slices.Equal(asked, []int{0, 1, 3, 6, 10}) {
			t.Errorf("%s: asked for rows %v", name, asked)
		}
	}
	dir := t.TempDir()
	for name, next := range map[string]func(int) ([]float64, error){
		"none":      func(int) ([]float64, error) { return nil, nil },
		"too many":  func(int) ([]float64, error) { return make([]float64, (rows+1)*cols), nil },
		"half":      func(int) ([]float64, error) { return make([]float64, cols+1), nil },
		"NaN":       func(int) ([]float64, error) { return []float64{1, math.NaN(), 2}, nil },
		"cancelled": func(int) ([]float64, error) { return nil, context.Canceled },
	} {
		err := WriteRows(filepath.Join(dir, "m.csv"), rows, cols, nil, next, WriteOptions{})
		if list, _ := os.ReadDir(dir); len(list) > 0 || err == nil || name == "cancelled" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the folder holds %v, error %v", name, list, err)
		}
	}
}
