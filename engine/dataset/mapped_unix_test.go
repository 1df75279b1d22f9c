//go:build unix && !netlib

package dataset

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/panics"
)

// A mapped file takes no memory: it may be larger than the limit.
func TestMapTakesNoMemory(t *testing.T) {
	values, shape := large()
	path := write(t, "x.npy", aligned(npyFile("<f8", false, shape, values), len(values)))
	if _, err := Read(path, ReadOptions{MemoryLimit: 1 << 20}); err == nil {
		t.Error("Read with too low a memory limit: no error")
	}
	var files Mappings
	if _, err := files.Map(path, ReadOptions{MemoryLimit: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := files.Release(); err != nil {
		t.Error(err)
	}
}

// A file that shrinks while its points are in use gives a typed error on the caller's goroutine and
// on those of a parallel loop; so does a file that is written to. Other panics stay.
func TestMapChanges(t *testing.T) {
	values, shape := large()
	content := aligned(npyFile("<f8", false, shape, values), len(values))
	sum := func(x []float64) (s float64) {
		for _, v := range x {
			s += v
		}
		return s
	}
	for name, change := range map[string]func(path string, x []float64) error{
		"shrinks, and is read": func(path string, x []float64) error {
			err := os.Truncate(path, 4096)
			t.Log(sum(x))
			return err
		},
		"shrinks, and is read by others": func(path string, x []float64) error {
			err := os.Truncate(path, 4096)
			panics.Run(4, func() { t.Log(sum(x)) })
			return err
		},
		"shrinks, and is not read": func(path string, _ []float64) error {
			return os.Truncate(path, int64(len(content))-8)
		},
		"grows": func(path string, _ []float64) error {
			return os.Truncate(path, int64(len(content))+8)
		},
		"is touched": func(path string, _ []float64) error {
			return os.Chtimes(path, time.Now(), time.Unix(1, 0))
		},
	} {
		path := write(t, "x.npy", content)
		var files Mappings
		err := files.Guard(func() error {
			d, err := files.Map(path, ReadOptions{})
			if err != nil {
				return err
			}
			return change(path, d.Points.(*points.Dense).Data)
		})
		if changed, is := errors.AsType[*ChangedError](err); !is || changed.Path != path ||
			fault.IsInput(err) {
			t.Errorf("a file that %s: error %v", name, err)
		}
		if err := files.Release(); err != nil {
			t.Errorf("a file that %s: %v", name, err)
		}
	}
	var files Mappings
	defer func() {
		if v := recover(); v != "another" {
			t.Errorf("recovered %v: want the panic of the work", v)
		}
	}()
	t.Error(files.Guard(func() error { panic("another") }))
}

// A file that is replaced by another one of its name stays mapped as it was.
func TestMapReplaced(t *testing.T) {
	values, shape := large()
	path := write(t, "x.npy", aligned(npyFile("<f8", false, shape, values), len(values)))
	var files Mappings
	err := files.Guard(func() error {
		d, err := files.Map(path, ReadOptions{})
		if err != nil {
			return err
		}
		if err := Atomic(path, func(io.Writer) error { return nil }); err != nil {
			return err
		}
		if !slices.Equal(d.Points.(*points.Dense).Data, values) {
			t.Error("the points changed with the name of the file")
		}
		return nil
	})
	if err = errors.Join(err, files.Release()); err != nil {
		t.Error(err)
	}
}

// elsewhere is a fault at an address of no file.
type elsewhere struct{}

func (elsewhere) Error() string { return "elsewhere" }
func (elsewhere) Addr() uintptr { return 1 }

// Files are mapped, looked at and released by many goroutines.
func TestMapTogether(t *testing.T) {
	values, shape := large()
	path := write(t, "x.npy", aligned(npyFile("<f8", false, shape, values), len(values)))
	var files Mappings
	panics.Run(3, func() {
		d, err := files.Map(path, ReadOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		if files.Unchanged() != nil || files.lost(elsewhere{}) != nil {
			t.Errorf("%d rows: %v, %v", d.Points.Len(), files.Unchanged(), files.lost(elsewhere{}))
		}
	})
	if len(files.list) != 3 {
		t.Errorf("%d files are mapped: want 3", len(files.list))
	}
	panics.Run(4, func() {
		if err := files.Release(); err != nil {
			t.Error(err)
		}
	})
}
