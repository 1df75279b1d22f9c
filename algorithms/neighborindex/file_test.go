package neighborindex

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// small returns an index of 300 rows, and its file.
func small(t testing.TB) (*Searcher, []byte) {
	t.Helper()
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(1, 1))
	s := build(t, eng, blobs(rng, 300, 3, 6), Options{Neighbors: 4, Cells: 12, Seed: 2})
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != int64(b.Len()) || n == 0 {
		t.Fatalf("%d bytes written, %d there, error %v", n, b.Len(), err)
	}
	return s, b.Bytes()
}

func read(b []byte) (*Index, error) {
	f, err := model.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, unusable(err)
	}
	return decode(f)
}

// An index that was written and read finds the same neighbors, and writes the same file.
func TestFileKeepsTheIndex(t *testing.T) {
	s, b := small(t)
	path := filepath.Join(t.TempDir(), "index")
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile(path); err != nil || !bytes.Equal(file, b) {
		t.Errorf("the file has other bytes than WriteTo writes: %v", err)
	}
	x, err := ReadFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if x.Source() != s.Source() || x.Neighbors() != 4 || x.Rows() != 300 {
		t.Errorf("the file is of %v, %d neighbors of %d rows", x.Source(), x.Neighbors(), x.Rows())
	}
	again, err := x.Open(t.Context(), s.eng, s.rows)
	if err != nil {
		t.Fatal(err)
	}
	for probes := 1; probes <= s.Cells(); probes += 3 {
		if x.Recall(probes) != s.Recall(probes) {
			t.Errorf("recall of %d probes is %v, want %v", probes, x.Recall(probes), s.Recall(probes))
		}
		want, _, err1 := s.Search(t.Context(), s.rows, 4, probes)
		got, _, err2 := again.Search(t.Context(), s.rows, 4, probes)
		if err1 != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%d probes find other neighbors: %v %v", probes, err1, err2)
		}
	}
	var written bytes.Buffer
	if _, err := x.WriteTo(&written); err != nil || !bytes.Equal(written.Bytes(), b) {
		t.Errorf("the file changed by reading and writing: %v", err)
	}
}

// A changed bit or a missing end of the file is found.
func TestChangedFiles(t *testing.T) {
	s, b := small(t)
	want, _ := s.file()
	for at := 0; at < len(b); at += 7 {
		if _, err := read(b[:at]); !fault.IsInput(err) {
			t.Fatalf("first %d bytes: error %v", at, err)
		}
		b[at] ^= 4
		x, err := read(b)
		b[at] ^= 4
		if err == nil { // a changed name of the checksum of the header, as other unknown keys
			got, _ := x.file()
			if !slices.Equal(got.Tensors["centers"].F64, want.Tensors["centers"].F64) ||
				!slices.Equal(got.Tensors["cells"].I64, want.Tensors["cells"].I64) {
				t.Fatalf("byte %d changed: not found", at)
			}
		} else if !fault.IsInput(err) {
			t.Fatalf("byte %d changed: error %v", at, err)
		}
	}
}

// What a file may not say, with valid checksums, and the message.
func TestImpossibleFiles(t *testing.T) {
	s, _ := small(t)
	for _, c := range []struct {
		what, want string
		change     func(f *model.File)
	}{
		{"a model", "the model of a method, rca: want an index", func(f *model.File) {
			f.Header.Method = "rca"
		}},
		{"parameters", "parameters of the index", func(f *model.File) { f.Header.Params = []byte(`[]`) }},
		{"no neighbors", "0 neighbors of 300 rows: want 1 to 299", func(f *model.File) {
			f.Header.Params = []byte(`{"neighbors":0}`)
		}},
		{"too many neighbors", "300 neighbors of 300 rows", func(f *model.File) {
			f.Header.Params = []byte(`{"neighbors":300}`)
		}},
		{"no centers", `tensor "centers" is missing`, func(f *model.File) {
			delete(f.Tensors, "centers")
			f.List()
		}},
		{"no dimensions", "12 cells of 0 dimensions", func(f *model.File) {
			f.SetFloat64s("centers", nil, 12, 0)
		}},
		{"an infinite center", "centers of the index is +Inf", func(f *model.File) {
			f.Tensors["centers"].F64[5] = math.Inf(1)
		}},
		{"a cell that is none", "row 7 of the index is in cell 12: want 0 to 11", func(f *model.File) {
			f.Tensors["cells"].I64[7] = 12
		}},
		{"a negative cell", "in cell -1", func(f *model.File) { f.Tensors["cells"].I64[7] = -1 }},
		{"an empty cell", "has no rows", func(f *model.File) { clear(f.Tensors["cells"].I64) }},
		{"few ranks", `"sample.held" has shape 11: want 12`, func(f *model.File) {
			f.SetInt64s("sample.held", f.Tensors["sample.held"].I64[1:])
		}},
		{"negative hits", "-1 neighbors", func(f *model.File) { f.Tensors["sample.chosen"].I64[3] = -1 }},
		{"no hits", "has 0 neighbors: want a multiple of 4", func(f *model.File) {
			clear(f.Tensors["sample.chosen"].I64)
		}},
		{"few squares", "rank 11 of tensor \"sample.chosen.squares\"", func(f *model.File) {
			f.Tensors["sample.chosen.squares"].I64[11] = 7
		}},
		{"large squares", "rank 0 of tensor", func(f *model.File) {
			f.Tensors["sample.chosen.squares"].I64[0] = 1 << 40
		}},
		{"odd hits", "a multiple of 4", func(f *model.File) { f.Tensors["sample.held"].I64[0]++ }},
	} {
		f, err := s.file()
		if err != nil {
			t.Fatal(err)
		}
		f.SetFloat64s("centers", slices.Clone(s.centers.Data), 12, 3)
		f.SetInt64s("sample.chosen", slices.Clone(s.chosen.hits))
		f.SetInt64s("sample.chosen.squares", slices.Clone(s.chosen.squares))
		f.SetInt64s("sample.held", slices.Clone(s.held.hits))
		c.change(f)
		var b bytes.Buffer
		if _, err := f.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := read(b.Bytes()); !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
}

// Errors of files name them.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if _, err := ReadFile(path, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that of a missing file", err)
	}
	if err := os.WriteFile(path, []byte("id,label\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 0); !errors.Is(err, model.ErrForeign) ||
		!strings.HasPrefix(err.Error(), path+": not a usable index: ") {
		t.Errorf("error %v", err)
	}
	s, _ := small(t)
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 100); !isMemory(err) {
		t.Errorf("error %v, want one of memory", err)
	}
	if err := s.WriteFile(filepath.Join(dir, "none", "x")); !fault.IsInput(err) {
		t.Errorf("error %v, want that of a missing folder", err)
	}
}

func isMemory(err error) bool {
	_, ok := errors.AsType[*fault.MemoryError](err)
	return ok
}

// FuzzRead reads files of any content, with valid checksums or as they are: an error of input or an
// index that can be searched, in memory that is in proportion to the file.
func FuzzRead(f *testing.F) {
	s, b := small(f)
	f.Add(b, "", []byte{})
	f.Add(b[:len(b)/2], `{"neighbors":4}`, []byte{0, 0, 1, 1})
	f.Add([]byte("x"), `{"neighbors":-1}`, []byte{12, 3})
	f.Fuzz(func(t *testing.T, content []byte, params string, cells []byte) {
		if params != "" {
			content = packed(s, params, cells)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := read(content)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20+200*uint64(len(content)) {
			t.Fatalf("%d bytes allocated for a file of %d", used, len(content))
		}
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		if p, err := x.Probes(0.9); err != nil || p < 1 || p > x.Cells() {
			t.Fatalf("%d of %d cells: %v", p, x.Cells(), err)
		}
		if r := x.Recall(1); !(r.Value >= 0 && r.Value <= 1) || r.Rows < 1 {
			t.Fatalf("recall %v", r)
		}
		if x.checkRows(s.rows) != nil {
			return
		}
		open, err := x.Open(context.Background(), s.eng, s.rows)
		if err == nil {
			_, _, err = open.Search(context.Background(), s.rows, x.neighbors, 1)
		}
		if err != nil && !fault.IsInput(err) {
			t.Fatal(err)
		}
	})
}

// packed returns the file of s with other parameters and other cells of the first rows.
func packed(s *Searcher, params string, cells []byte) []byte {
	f, err := s.file()
	if err != nil {
		return nil
	}
	f.Header.Params = []byte(params)
	for i, c := range cells {
		f.Tensors["cells"].I64[i%s.Rows()] = int64(c) - 2
	}
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		return nil // parameters that are no JSON
	}
	return b.Bytes()
}
