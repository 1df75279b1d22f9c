package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// all reads a stream to its end in blocks of random sizes and joins them.
func all(t *rapid.T, s *Stream) *Data {
	t.Helper()
	out := &Data{}
	var x *points.Dense
	for {
		d, err := s.Next(rapid.IntRange(1, 9).Draw(t, "limit"))
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		part := d.Points.(*points.Dense)
		if x == nil {
			x = &points.Dense{D: part.D}
			out.Points, out.Features, out.Name = x, d.Features, d.Name
		}
		x.N, x.Data = x.N+part.N, append(x.Data, part.Data...)
		out.IDs, out.Labels = append(out.IDs, d.IDs...), append(out.Labels, d.Labels...)
	}
	if x == nil || s.Done() != x.N || s.Rows() >= 0 && s.Rows() != x.N {
		t.Fatalf("done %d of %d rows", s.Done(), s.Rows())
	}
	return out
}

// A file read in blocks of any size gives the same data as the file read at once.
func TestStreamIsRead(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(rt, "n"), rapid.IntRange(1, 5).Draw(rt, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		data := &Data{Points: x}
		if rapid.Bool().Draw(rt, "named") {
			for i := range n {
				data.IDs = append(data.IDs, fmt.Sprint("p", i))
				data.Labels = append(data.Labels, fmt.Sprint(i%3))
			}
		}
		path := filepath.Join(dir,
			"data."+rapid.SampledFrom([]string{"csv", "npy", "csv.gz", "npy.gz"}).Draw(rt, "format"))
		if err := WriteData(path, data, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		want, err := Read(path, ReadOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		s, err := OpenStream(path, ReadOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		if diff := difftest.Diff(want, all(rt, s)); diff != "" {
			rt.Errorf("%s (-read +streamed):\n%s", path, diff)
		}
		if _, err := s.Next(1); err != io.EOF {
			rt.Errorf("after the end: %v", err)
		}
	})
}

// A mistake is reported with its row in the file, not in the block.
func TestStreamNamesTheRow(t *testing.T) {
	for _, c := range []struct {
		name, format, text string
		words              []string
	}{
		{"text", "csv", "a,b\n1,2\n3,4\n5,six\n", []string{"line 4", "row 2", `"b"`, `"six"`}},
		{"ragged", "csv", "a,b\n1,2\n3,4\n5\n", []string{"line 4", "row 2", "1 field"}},
		{"empty", "csv", "", []string{"empty"}},
		{"header only", "csv", "a,b\n", []string{"no rows"}},
		{"NaN", "npy", string(npyPreamble("<f8", 3, 1)) + strings.Repeat("\x00", 22) + "\xf8\x7f",
			[]string{"row 2", "NaN"}},
		{"cut off", "npy", string(npyPreamble("<f8", 3, 1)) + strings.Repeat("\x00", 20),
			[]string{"cut off"}},
		{"more", "npy", string(npyPreamble("<f8", 3, 1)) + strings.Repeat("\x00", 25),
			[]string{"more bytes"}},
		{"columns first", "npy", strings.Replace(string(npyPreamble("<f8", 3, 2)), "False", "True ", 1) +
			strings.Repeat("\x00", 48), []string{"column by column", "ascontiguousarray"}},
		{"not in rows", "svm", "1 1:2\n", []string{"csv", "npy"}},
	} {
		s, err := DecodeStream(strings.NewReader(c.text), "input", c.format, ReadOptions{})
		for err == nil {
			_, err = s.Next(2)
		}
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in: %v", c.name, w, err)
			}
		}
		if s != nil {
			if _, again := s.Next(1); again != err {
				t.Errorf("%s: then %v", c.name, again)
			}
		}
	}
	if _, err := DecodeStream(&bytes.Buffer{}, "input", "csv", ReadOptions{Gram: true}); !fault.IsInput(err) {
		t.Errorf("a Gram matrix: %v", err)
	}
	if _, err := OpenStream(filepath.Join(t.TempDir(), "nosuch.csv"), ReadOptions{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Prefetched values arrive in order, end with the error, stop on request and leave no goroutine.
func TestPrefetch(t *testing.T) {
	defer goleak.VerifyNone(t)
	n := 0
	next, stop := Prefetch(context.Background(), func(context.Context) (int, error) {
		n++
		if n > 100 {
			return 0, io.EOF
		}
		return n, nil
	})
	for i := 1; i <= 100; i++ {
		if v, err := next(); v != i || err != nil {
			t.Fatalf("%d: %d, %v", i, v, err)
		}
	}
	for range 2 {
		if _, err := next(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
	stop()
	ctx, cancel := context.WithCancel(context.Background())
	next, stop = Prefetch(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
	cancel()
	if _, err := next(); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	stop()
	_, stop = Prefetch(context.Background(), func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 1, nil
	})
	stop() // before any call
}

// TestStreamForgetsLabels: if every row has a different label, a stream does not keep them all.
func TestStreamForgetsLabels(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,label\n")
	const n = 20000
	for i := range n {
		fmt.Fprintf(&text, "1,row%d\n", i)
	}
	s, err := DecodeStream(strings.NewReader(text.String()), "-", "csv", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for {
		d, err := s.Next(100)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("row", s.Done()-1); d.Labels[99] != want {
			t.Fatalf("label %q: want %q", d.Labels[99], want)
		}
		most = max(most, len(s.rows.(*csvRows).labels.seen))
	}
	if s.Done() != n || most == 0 || most > n/3 {
		t.Errorf("%d of %d labels were kept", most, s.Done())
	}
}
