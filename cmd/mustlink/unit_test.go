package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/cmd/internal/bytesize"
)

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"1073741824", 1 << 30}, {"8GiB", 8 << 30}, {"1.5g", 3 << 29}, {"500MB", 500e6}, {"2 KiB", 2048}, {"7b", 7}, {"1t", 1 << 40},
	} {
		var b bytesize.Size
		if err := b.Set(c.text); err != nil || int64(b) != c.want {
			t.Errorf("%q: %d, %v: want %d", c.text, int64(b), err, c.want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "NaN", "inf", "8 parsecs", "1e300", "0x"} {
		var b bytesize.Size
		if err := b.Set(text); err == nil {
			t.Errorf("%q is taken as %d: want an error", text, int64(b))
		}
	}
}

func TestParseParams(t *testing.T) {
	got, err := parseParams([]string{"a=1", "b=x,y=z", "c="})
	if err != nil || len(got) != 3 || got["a"] != "1" || got["b"] != "x,y=z" || got["c"] != "" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestQuantile(t *testing.T) {
	if v := quantile(nil, 0.5); !math.IsNaN(v) {
		t.Errorf("of nothing: %g", v)
	}
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 1: 5} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %g is %g: want %g", q, got, want)
		}
	}
	if values[0] != 5 {
		t.Error("the argument was sorted")
	}
}

func TestExitCode(t *testing.T) {
	live := context.Background()
	done, cancel := context.WithCancel(live)
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{live, nil, exitOK},
		{live, errors.New("disk full"), exitFailed},
		{live, usagef("wrong"), exitInput},
		{done, context.Canceled, exitInterrupted},
		{done, usagef("wrong"), exitInput},
	} {
		if got := exitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%v: %d: want %d", c.err, got, c.want)
		}
	}
}

func TestAwaitLeavesWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := await(ctx, func() (int, error) { <-release; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// recorder is a bar that counts.
type recorder struct{ shown, cleared int }

func (r *recorder) show(algorithms.Progress) { r.shown++ }
func (r *recorder) clear()                   { r.cleared++ }

func TestProgress(t *testing.T) {
	r := &recorder{}
	p := &progress{wanted: true, newBar: func() bar { return r }}
	p.report(algorithms.Progress{Stage: "a", Done: 1, Total: 2})
	p.report(algorithms.Progress{Stage: "b", Done: 2, Total: 2})
	p.done()
	p.done()
	p.report(algorithms.Progress{Stage: "late"})
	if r.shown != 2 || r.cleared != 1 {
		t.Errorf("shown %d times, cleared %d times: want 2 and 1", r.shown, r.cleared)
	}
	silent := &progress{newBar: func() bar { t.Error("a bar that nobody wants was made"); return r }}
	silent.report(algorithms.Progress{})
	silent.done()
}

// TestBar draws the bar of this build; what it must not do is hang or leave text behind
// the cursor.
func TestBar(t *testing.T) {
	var w lockedBuffer
	b := newBar(&w)
	for i := range 3 {
		b.show(algorithms.Progress{Stage: "kernel matrix", Done: i, Total: 2})
	}
	b.clear()
}

// TestChecksKeepTheFirst: the first mistake is the one that is told, and nothing is noted or tried after it.
func TestChecksKeepTheFirst(t *testing.T) {
	a := &app{}
	check := a.check(nil)
	check.least("--folds", 3, 2)
	check.input("-i, --input", "data.csv")
	check.least("--folds", 1, 2)
	check.refuse(true, "another mistake")
	check.oneOf("--links-by", "name", []string{"row", "id"})
	check.input("-c, --links", "links.csv")
	check.output("-o, --output", "data.csv")
	check.do(func() error { t.Error("a check after a mistake was made"); return nil })
	if check.err == nil || check.err.Error() != "--folds is 1: want a number >= 2" {
		t.Errorf("error %v", check.err)
	}
	if len(a.inputs) != 1 {
		t.Errorf("inputs %q: want the one before the mistake", a.inputs)
	}
}
