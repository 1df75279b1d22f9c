package dataset

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
)

// large returns rows x 2 values, and the name of a shape that is large enough to be mapped.
func large() ([]float64, string) {
	values := make([]float64, mapFrom/8+2)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	return values, "(1048577, 2)"
}

// aligned pads the header of a .npy file of so many values as NumPy does, so that the values are
// aligned.
func aligned(file []byte, values int) []byte {
	pad := -(len(file) - values*8) & 63
	head := slices.Clone(file[:len(file)-values*8])
	head = append(head[:len(head)-1], append(slices.Repeat([]byte{' '}, pad), '\n')...)
	head[8] += byte(pad)
	return append(head, file[len(file)-values*8:]...)
}

// A mapped file gives the same data as a file that is read, and so do files that cannot be mapped.
func TestMapIsRead(t *testing.T) {
	values, shape := large()
	header := func(file []byte) []byte { return aligned(file, len(values)) }
	for name, file := range map[string][]byte{
		"aligned":   header(npyFile("<f8", false, shape, values)),
		"unaligned": npyFile("<f8", false, shape+" ", values),
		"fortran":   header(npyFile("<f8", true, shape, values)),
		"integers":  header(npyFile("<i8", false, shape, values)),
		"small":     npyFile("<f8", false, "(2, 2)", values[:4]),
	} {
		path := write(t, "x.npy", file)
		want, err := Read(path, ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var files Mappings
		got, err := files.Map(path, ReadOptions{MemoryLimit: 17 << 20})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, b := want.Points.(*points.Dense), got.Points.(*points.Dense)
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: values read and mapped differ", name)
		}
		if want.Mapped() || got.Mapped() != (len(files.list) > 0) {
			t.Errorf("%s: %d files are mapped, but not the data of one", name, len(files.list))
		}
		want.Rest()
		got.Rest() // the pages come back
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: values differ after the pages rested", name)
		}
		a.Data, b.Data, got.pages = nil, nil, nil // difftest.Diff compares every number by reflection, which is slow
		if diff := difftest.Diff(want, got); diff != "" {
			t.Errorf("%s: read and mapped differ: %.500s", name, diff)
		}
		if err := errors.Join(files.Unchanged(), files.Release()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMapBadInput(t *testing.T) {
	var files Mappings
	values, shape := large()
	values[5] = math.NaN()
	path := write(t, "x.npy", npyFile("<f8", false, shape+"    ", values))
	_, err := files.Map(path, ReadOptions{})
	wantData(t, err, path, place{0, 2, "1"}, "NaN")

	path = write(t, "x.npy", npyFile("<f8", false, "(1048577, 3)", values))
	if _, err := files.Map(path, ReadOptions{}); !fault.IsInput(err) {
		t.Errorf("a file that is cut off: error %v", err)
	}
	if _, err := files.Map(filepath.Join(t.TempDir(), "x.npy"), ReadOptions{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	if _, err := files.Map("x.what", ReadOptions{}); !fault.IsInput(err) {
		t.Errorf("no format: error %v", err)
	}
}
