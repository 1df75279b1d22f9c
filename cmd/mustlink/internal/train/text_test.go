package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/internal/session"
)

// TestSelectText: the table has up to twenty candidates, or one more if that is the last; the
// others are counted, and what failed says why.
func TestSelectText(t *testing.T) {
	for trials, rest := range map[int]string{3: "", 21: "", 22: "... and 2 more\n"} {
		r := &selectReport{Result: &selection.Result{}, Model: &fitReport{}}
		r.Best.Method = "m1"
		for k := range trials {
			trial := selection.Trial{Scores: []float64{0.5}, Mean: 0.5}
			trial.Candidate.Method = fmt.Sprint("m", k+1)
			r.Trials = append(r.Trials, trial)
		}
		r.Trials[1].Error = "too few links"
		var out bytes.Buffer
		r.text(&out)
		shown := trials
		if rest != "" {
			shown = 20
		}
		for k := range trials {
			line := fmt.Sprintf("\nm%d\t0.5000\t", k+1)
			if k == 1 {
				line = "\nm2\tfailed: too few links\t"
			}
			if got := strings.Count(out.String(), line); got != map[bool]int{true: 1}[k < shown] {
				t.Errorf("%d candidates: line %d is there %d times in\n%s", trials, k, got, out.String())
			}
		}
		if !strings.Contains(out.String(), rest) || rest == "" && strings.Contains(out.String(), "more\n") {
			t.Errorf("%d candidates: want %q in\n%s", trials, rest, out.String())
		}
	}
}

// TestSuggestCanceled: pairs that are found too late are not written.
func TestSuggestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &suggestCommand{Session: &session.Session{}, out: filepath.Join(t.TempDir(), "pairs.csv")}
	if err := c.write(ctx, nil, nil, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(c.out); err == nil {
		t.Error("pairs were written")
	}
}

// TestPeople: a table of people is written whole or not at all.
func TestPeople(t *testing.T) {
	s := &session.Session{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: os.Getenv, Quiet: true}
	p := &peopleCommand{Session: s, records: 50, out: filepath.Join(t.TempDir(), "people.csv")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	if _, err := os.Stat(p.out); err == nil {
		t.Error("canceled: people were written")
	}
	if err := p.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.out)
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines != 51 {
		t.Errorf("%d lines, error %v: want a header and 50 records", lines, err)
	}
}
