package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/engine/fault"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		text         string
		bad, rows    int64
		wrong, fails bool
	}{
		{"0", 0, 10, false, false}, {"0", 1, 10, false, true}, {"3", 3, 10, false, false},
		{"3", 4, 10, false, true},
		{"0%", 1, 10, false, true}, {"10%", 1, 10, false, false}, {"10%", 2, 10, false, true},
		{"0.5%", 5, 1000, false, false},
		{"100%", 10, 10, false, false}, {"-1", 0, 0, true, false}, {"101%", 0, 0, true, false},
		{"NaN%", 0, 0, true, false}, {"many", 0, 0, true, false}, {"", 0, 0, true, false},
	} {
		var l Limit
		if err := l.Set(c.text); (err != nil) != c.wrong {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if err := l.allows(c.bad, c.rows); !c.wrong && (err != nil) != c.fails || err != nil &&
			!fault.IsInput(err) {
			t.Errorf("%q allows %d of %d rows: %v", c.text, c.bad, c.rows, err)
		}
		var again Limit
		if err := again.Set(l.String()); err != nil || again != l {
			t.Errorf("%q is written as %q", c.text, l)
		}
	}
}

// A wrapped error keeps its message inside other text. Of several the first counts. An input error
// stays one.
func TestWrap(t *testing.T) {
	input := fault.Data("a.csv", "two\nlines; \"quotes\" [and] brackets")
	for _, err := range []error{input, errors.New("the disk is full"), fmt.Errorf("more: %w", input)} {
		sent := Wrap(fmt.Errorf("around: %w", Wrap(err)))
		got := found(fmt.Errorf("job failed:\n%w\n\tcaused by: %v", sent, Wrap(errors.New("later"))))
		if got.Error() != err.Error() || fault.IsInput(got) != fault.IsInput(err) {
			t.Errorf("%q came as %q", err, got)
		}
	}
	if Wrap(nil) != nil {
		t.Error("nil became an error")
	}
	plain := errors.New("the runner is gone [mustlink-input:not base64!;]")
	if got := found(plain); got != plain {
		t.Errorf("%v came as %v", plain, got)
	}
}

// A process has one worker for a model, until its file changes.
func TestWorkerIsCreatedOnce(t *testing.T) {
	c := Config{Workers: 1, Model: filepath.Join(t.TempDir(), "none.mlk")}
	if _, err := c.Worker(); !fault.IsInput(err) || !strings.Contains(err.Error(), "none.mlk") {
		t.Errorf("no model: %v", err)
	}
	plain := Config{Workers: 1, Rows: 7}
	first, err := plain.Worker()
	if err != nil {
		t.Fatal(err)
	}
	plain.Rows = 8 // a worker does not depend on it
	if again, err := plain.Worker(); err != nil || again != first {
		t.Errorf("another worker, %v", err)
	}
	if other, err := (Config{Workers: 2}).Worker(); err != nil || other == first {
		t.Errorf("the same worker for two goroutines, %v", err)
	}
	if err := os.WriteFile(c.Model, []byte("no model"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Worker(); err == nil || strings.Contains(err.Error(), "no such file") {
		t.Errorf("the new file was not read: %v", err)
	}
	made := 0
	for range 3 {
		if v, err := Cached(first, "seven", func() (int, error) {
			made++
			return 7, nil
		}); v != 7 || err != nil || made != 1 {
			t.Errorf("kept %d, %v, made %d times", v, err, made)
		}
	}
}

// No more elements run at a time than there are workers. A waiting element ends with the job.
func TestDoWaits(t *testing.T) {
	c := Config{Workers: 2}
	var now, peak atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := c.Do(context.Background(), func(context.Context, *Worker) (Tally, error) {
				for n := now.Add(1); n > peak.Load(); {
					peak.CompareAndSwap(peak.Load(), n)
				}
				time.Sleep(5 * time.Millisecond)
				now.Add(-1)
				return Tally{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if peak.Load() > 2 {
		t.Errorf("%d elements ran at a time: want 2", peak.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	w, err := c.Worker()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.slots <- struct{}{}
	}
	cancel()
	if _, err := c.Do(ctx, func(context.Context, *Worker) (Tally, error) {
		return Tally{}, nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want the end of the job", err)
	}
	for range 2 {
		<-w.slots
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := Run(t.Context(), "prisma", nil); !fault.IsInput(err) {
		t.Errorf("an unknown runner: %v", err)
	}
	stop := errors.New("stop")
	if _, err := Run(t.Context(), "prism", func(beam.Scope) error { return stop }); err != stop {
		t.Errorf("%v: want the builder's error", err)
	}
}
