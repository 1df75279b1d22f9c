package throughput

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tiny returns options for a very short measurement.
func tiny(t *testing.T, cases ...string) Options {
	return Options{Cases: cases, Goroutines: []int{1, 3}, Rounds: 2, MinTime: 5 * time.Millisecond,
		CSVBytes: 20_000,
		Open:     func(workers int) (*engine.Engine, error) { return enginetest.New(t, workers), nil }}
}

// TestRun: fits and bytes are counted, and the temporary files are removed.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	var heard []string
	o := tiny(t, krcaCase, kbetaCase, csvCase)
	o.Progress = func(_, _ int, name string) { heard = append(heard, name) }
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Fits) != 4 || r.Fits[1].GOGC != goOwn || r.Fits[2].Kept != kept || r.Fits[3].Name != kbetaCase ||
		len(r.Parses) != 2 || r.Flows != nil || len(heard) != 3 {
		t.Fatalf("%+v after %v: want fits of krca with the GOGC of the program, with another GOGC, and "+
			"with models kept, fits of kbeta, and two kinds of CSV", r, heard)
	}
	for _, f := range r.Fits {
		one, three := f.Among[0], f.Among[1]
		if one.Gain.Median != 1 || one.Goroutines != 1 || three.Goroutines != 3 || !(three.Gain.Median > 0) ||
			!(three.PerSecond.Min <= three.PerSecond.Median &&
				three.PerSecond.Median <= three.PerSecond.Max) {
			t.Errorf("%s: %+v", f.Name, f.Among)
		}
	}
	for _, p := range r.Parses {
		if p.Bytes < 10_000 || p.Bytes > 40_000 || !(p.BytesPerSecond.Median > 0) {
			t.Errorf("%+v: want about 20,000 bytes", p)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	if err := view.Write(&bytes.Buffer{}, "svg", view.Size{}, r.Panels()...); err != nil {
		t.Error(err)
	}
}

// TestCancel: canceled while a case runs, Run returns the error of the context and leaves no files.
func TestCancel(t *testing.T) {
	for _, name := range []string{krcaCase, kbetaCase, csvCase} {
		folder := t.TempDir()
		t.Setenv("TMPDIR", folder)
		ctx, cancel := context.WithCancel(context.Background())
		o := tiny(t, name)
		o.MinTime, o.CSVBytes = time.Hour, 1<<20
		time.AfterFunc(50*time.Millisecond, cancel)
		if r, err := Run(ctx, o); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%s: %+v, error %v: want that of the context", name, r, err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s has left %v, error %v", name, left, err)
		}
	}
}

// TestShare: the goroutines make exactly the given number of calls, and an error ends them.
func TestShare(t *testing.T) {
	var calls atomic.Int64
	if err := share(4, 1000, func(int) error {
		calls.Add(1)
		return nil
	}); err != nil || calls.Load() != 1000 {
		t.Errorf("%d calls, error %v: want 1000", calls.Load(), err)
	}
	broken := errors.New("broken")
	calls.Store(0)
	if err := share(4, 1000, func(int) error {
		calls.Add(1)
		return broken
	}); !errors.Is(err, broken) || calls.Load() > 4 {
		t.Errorf("%d calls, error %v: want one of each goroutine at most", calls.Load(), err)
	}
}

// TestSendNPY: the stream is a valid .npy file, for whole blocks and for a part of one.
func TestSendNPY(t *testing.T) {
	for _, rows := range []int{1, block, 2*block + 7} {
		var b bytes.Buffer
		if err := sendNPY(context.Background(), &b, rows); err != nil {
			t.Fatal(err)
		}
		if header := b.Len() - rows*columns*8; header%64 != 0 {
			t.Errorf("a header of %d bytes: want a multiple of 64", header)
		}
		d, err := dataset.Decode(&b, "stream", "npy", dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x := d.Points.(*points.Dense)
		if x.N != rows || x.D != columns || x.Data[0] != x.Data[(rows-1)/block*block*columns] {
			t.Errorf("%d x %d: want %d x %d, repetitions of the block", x.N, x.D, rows, columns)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sendNPY(ctx, &bytes.Buffer{}, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want that of the context", err)
	}
}

// TestFiles: files have the right number of rows, and numbers with three decimals have three.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	text, binary := filepath.Join(dir, "n.csv"), filepath.Join(dir, "n.npy")
	if err := errors.Join(writeCSV(context.Background(), text, 7, 'f', 3),
		writeNPY(context.Background(), binary, block+3, 2)); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Read(text, dataset.ReadOptions{})
	if err != nil || d.Points.Len() != 7 || len(d.Features) != columns {
		t.Fatalf("%v, error %v", d, err)
	}
	for _, v := range d.Points.(*points.Dense).Data {
		if v != math.Round(v*1e3)/1e3 {
			t.Fatalf("%v has more than three decimals", v)
		}
	}
	if d, err = dataset.Read(binary, dataset.ReadOptions{}); err != nil || d.Points.Len() != block+3 {
		t.Errorf("%v, error %v", d, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := writeNPY(ctx, filepath.Join(dir, "x.npy"), 10, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want that of the context", err)
	}
}

func TestRefuses(t *testing.T) {
	for word, change := range map[string]func(*Options){
		"embed":       func(o *Options) { o.Cases = []string{"embde"} },
		"goroutines":  func(o *Options) { o.Goroutines = []int{2, 4} },
		"increasing":  func(o *Options) { o.Goroutines = []int{1, 4, 2} },
		"1024":        func(o *Options) { o.Goroutines = []int{1, 5000} },
		"rounds":      func(o *Options) { o.Rounds = -1 },
		"stream-rows": func(o *Options) { o.StreamRows = -1 },
		"make build":  func(o *Options) { o.Cases = []string{streamCase} },
	} {
		o := tiny(t, krcaCase)
		change(&o)
		if _, err := Run(context.Background(), o); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), word) {
			t.Errorf("error %v: want one with %q", err, word)
		}
	}
	o := tiny(t, embedCase)
	o.Rows, o.Program, o.Timer = 10, "mustlink", filepath.Join(t.TempDir(), "none")
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a program that does not exist: error %v", err)
	}
}

func TestMarkdown(t *testing.T) {
	s := measure.Spread{Median: 25_000, Min: 20_000, Max: 1_234_567}
	r := &Report{
		Fits: []Fits{{What: "a fit",
			Among: []Among{{2, s, measure.Spread{Median: 1.9, Min: 1.8, Max: 2}}}}},
		Flows:  []Flow{{What: "rows", Rows: 1000, Bytes: 80_000, RowsPerSecond: s, Peak: 1 << 30}},
		Parses: []Parse{{"numbers", 5e6, measure.Spread{Median: 2e8, Min: 1e8, Max: 3e8}}},
	}
	text := r.Markdown()
	for _, line := range []string{
		"| a fit | 2 | 25,000 | 1.90 | 1.80 | 2.00 |",
		"| rows | 1,000 | 25,000 | 20,000 | 1,234,567 | 2 | 1.0 GiB |",
		"| numbers | 5 | 200 | 100 | 300 |",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	for v, want := range map[float64]string{3.14159: "3.14", 99.9: "99.9", 100: "100", 999: "999",
		1000: "1,000", 1e8: "100,000,000"} {
		if got := count(v); got != want {
			t.Errorf("%v is written %q: want %q", v, got, want)
		}
	}
}
