package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
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

// recorder is a bar that keeps what it shows.
type recorder struct {
	shares  []float64
	cleared int
}

func (r *recorder) Show(s Shown) { r.shares = append(r.shares, s.Share) }
func (r *recorder) Clear()       { r.cleared++ }

// device is a session whose standard error passes for a terminal, and its bar.
func device(t *testing.T) (*Session, *recorder) {
	f, err := os.OpenFile("/dev/zero", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that takes and forgets output: ", err)
	}
	t.Cleanup(func() { f.Close() })
	r := &recorder{}
	return &Session{Stderr: f, NewBar: func(io.Writer) Bar { return r }}, r
}

// TestProgress: the parts of a command share one bar, which never falls and is full once.
func TestProgress(t *testing.T) {
	s, r := device(t)
	whole := s.Progress()
	whole.Part(0.5)
	first := s.Progress()
	first.Step(1, 2, "a")
	first.Step(1, 4, "behind")
	first.Done()
	first.Done()
	first.Step(1, 1, "late")
	whole.Part(1)
	whole.Report(algorithms.Progress{Stage: "unknown", Done: 7})
	s.Warnf("the bar is out of the way")
	second := s.Progress()
	stages := second.Stages(0.5, 0.5)
	stages(algorithms.Progress{Stage: "d", Done: 1, Total: 1})
	stages(algorithms.Progress{Stage: "e", Done: 3, Total: 2})
	second.Step(9, 9, "all steps, but not done")
	second.Done()
	whole.Done()
	whole.Done()
	// a, behind, unknown, after the warning, d, e, all steps, done
	if want := []float64{0.25, 0.25, 0.5, 0.5, 0.75, 0.875, 0.875, 1}; !slices.Equal(r.shares, want) {
		t.Errorf("shares %v: want %v", r.shares, want)
	}
	if r.cleared != 2 { // for the warning, and at the end
		t.Errorf("cleared %d times", r.cleared)
	}
	for _, silent := range []*Session{{Quiet: true}, {JSON: true}, {Stderr: io.Discard}} {
		if silent.Stderr == nil {
			silent.Stderr = s.Stderr
		}
		silent.NewBar = func(io.Writer) Bar { t.Error("an unnecessary bar was made"); return r }
		p := silent.Progress()
		p.Step(1, 2, "a")
		p.Done()
	}
}

// TestProgressOfMany: work that runs at once shares the one bar, whose share never falls; it ends
// with the last work. The race detector sees what is not locked.
func TestProgressOfMany(t *testing.T) {
	s, r := device(t)
	open := []*Progress{s.Progress()}
	open[0].Step(0, 1, "all")
	var wg sync.WaitGroup
	together := make(chan struct{})
	for k := range 8 {
		p := s.Progress()
		do := []func(step int){func(step int) { p.Step(step, 8, "one of many") },
			func(int) { p.Resize(0.5) }, func(step int) { s.Warnf("warning %d of %d", step, k) },
			func(int) { s.Progress().Done() }}[k/2]
		wg.Go(func() {
			<-together
			for step := range 8 {
				do(step)
			}
		})
		open = append(open, p)
	}
	close(together)
	wg.Wait()
	for _, p := range open {
		p.Done()
	}
	if !slices.IsSorted(r.shares) || r.shares[len(r.shares)-1] != 1 {
		t.Errorf("shares %v: want a rise to 1", r.shares)
	}
	if s.course.open != 0 || s.course.bar != nil || len(s.Warnings()) != 16 {
		t.Errorf("%d are open, the bar is %v, warnings %q", s.course.open, s.course.bar, s.Warnings())
	}
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

// TestWarningsOfMany: warnings are kept once each, while goroutines print and list them.
func TestWarningsOfMany(t *testing.T) {
	s, _ := device(t)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			s.Warnf("number %d", k/2)
			if list := s.Warnings(); len(list) < 1 || len(list) > 4 {
				t.Errorf("%d warnings of 4", len(list))
			}
		})
	}
	wg.Wait()
	if list := s.Warnings(); len(list) != 4 {
		t.Errorf("warnings %q, want 4", list)
	}
}
