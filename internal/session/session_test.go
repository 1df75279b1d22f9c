package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
)

func TestQuantile(t *testing.T) {
	if v := Quantile(nil, 0.5); !math.IsNaN(v) {
		t.Errorf("of nothing: %g", v)
	}
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 1: 5} {
		if got := Quantile(values, q); got != want {
			t.Errorf("quantile %g is %g: want %g", q, got, want)
		}
	}
	if values[0] != 5 {
		t.Error("the argument was sorted")
	}
}

func TestAwaitLeavesWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := Await(ctx, func() (int, error) { <-release; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// recorder is a bar that counts calls.
type recorder struct{ shown, cleared int }

func (r *recorder) Show(algorithms.Progress) { r.shown++ }
func (r *recorder) Clear()                   { r.cleared++ }

func TestProgress(t *testing.T) {
	r := &recorder{}
	p := &Progress{wanted: true, newBar: func() Bar { return r }}
	p.Report(algorithms.Progress{Stage: "a", Done: 1, Total: 2})
	p.Report(algorithms.Progress{Stage: "b", Done: 2, Total: 2})
	p.Done()
	p.Done()
	p.Report(algorithms.Progress{Stage: "late"})
	if r.shown != 2 || r.cleared != 1 {
		t.Errorf("shown %d times, cleared %d times: want 2 and 1", r.shown, r.cleared)
	}
	silent := &Progress{newBar: func() Bar { t.Error("an unnecessary bar was made"); return r }}
	silent.Report(algorithms.Progress{})
	silent.Done()
}

// TestChecksKeepTheFirst: the first mistake is reported; later checks record and try nothing.
func TestChecksKeepTheFirst(t *testing.T) {
	a := &Session{}
	check := a.Check(nil)
	check.AtLeast("--folds", 3, 2)
	check.Input("-i, --input", "data.csv")
	check.AtLeast("--folds", 1, 2)
	check.Refuse(true, "another mistake")
	check.OneOf("--links-by", "name", []string{"row", "id"})
	check.Input("-c, --links", "links.csv")
	check.Output("-o, --output", "data.csv")
	check.Do(func() error { t.Error("a check after a mistake was made"); return nil })
	if check.Err == nil || check.Err.Error() != "--folds is 1: want a number >= 2" {
		t.Errorf("error %v", check.Err)
	}
	if len(a.inputs) != 1 {
		t.Errorf("inputs %q: want the one before the mistake", a.inputs)
	}
}

// What a user's file holds does not reach the terminal as it is.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Köln, O'Hara": "Köln, O'Hara", "a\nb": `a\nb`, "\x1b[31mred": `\x1b[31mred`, "\x00": `\x00`,
		"a\u202eb": `a\u202eb`, "a\tb": `a\tb`, "a\u00a0b": `a\u00a0b`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is shown as %s: want %s", text, got, want)
		}
	}
	var out, warned strings.Builder
	s := &Session{Name: "mustlink", Stdout: &out, Stderr: &warned}
	if err := s.Print(nil, func(w io.Writer) {
		fmt.Fprintf(w, "a\tb\n\x1b[2Jlong\tü\u009b\n")
	}); err != nil || out.String() != "a         b\n\\x1b[2Jlong  ü\\u009b\n" {
		t.Errorf("printed %q, error %v", out.String(), err)
	}
	if s.Warnf("all cells are %s",
		"\x1b]0;title\a\n"); warned.String() != "mustlink: warning: all cells are \\x1b]0;title\\a\\n\n" {
		t.Errorf("warned %q", warned.String())
	}
}
