package selection

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// At whichever report a callback cancels or panics, Select returns the error or panics, and a run
// that resumes from the state file has the scores of an undisturbed one, with halving and without.
func TestStoppedAnywhere(t *testing.T) {
	reports := 0
	for _, halving := range []bool{true, false} {
		o := DefaultOptions()
		o.Candidates, o.Halving = candidates("rca", "krca", "dca", "xrca"), halving
		reports += stoppedAnywhere(t, o)
	}
	t.Logf("selections canceled: %d, panics of a listener that reached the caller: %d", reports, reports)
}

// stoppedAnywhere returns the number of reports at which the selection was stopped.
func stoppedAnywhere(t *testing.T, o Options) (reports int) {
	t.Helper()
	x, _, set := rings(t)
	eng := enginetest.New(t, 2)
	o.Progress = func(algorithms.Progress) { reports++ }
	want, err := Select(context.Background(), eng, x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= reports; at++ {
		o.State = filepath.Join(t.TempDir(), "state")
		ctx, cancel := context.WithCancel(context.Background())
		cause, seen := errors.New("a panic"), 0
		o.Progress = func(algorithms.Progress) {
			if seen++; seen == at {
				cancel()
			}
		}
		if _, err := Select(ctx, eng, x, set, o); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled at report %d of %d: error %v", at, reports, err)
		}
		cancel()
		seen = 0
		o.Progress = func(algorithms.Progress) {
			if seen++; seen == at {
				panic(cause)
			}
		}
		func() {
			defer func() {
				if got, ok := recover().(*engine.Panic); !ok || !errors.Is(got, cause) {
					t.Errorf("the panic at report %d arrives as %v", at, got)
				}
			}()
			_, _ = Select(context.Background(), eng, x, set, o)
		}()
		if open := timesOpen(o.State); open != 0 {
			t.Errorf("after the panic at report %d the state file is open %d times", at, open)
		}
		o.Progress = nil
		got, err := Select(context.Background(), eng, x, set, o)
		if err != nil {
			t.Fatal(err)
		}
		for k, trial := range got.Trials {
			if trial.Candidate.String() != want.Trials[k].Candidate.String() ||
				!slices.Equal(trial.Scores, want.Trials[k].Scores) {
				t.Errorf("after a panic at report %d candidate %d is %q with %v: want %q with %v", at, k,
					trial.Candidate, trial.Scores, want.Trials[k].Candidate, want.Trials[k].Scores)
			}
		}
	}
	return reports
}

// timesOpen returns how many times this process has the file open, 0 if the system does not report
// it.
func timesOpen(path string) (open int) {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		panic(err) // only for an invalid pattern
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == path {
			open++
		}
	}
	return open
}

// If no candidate fits into the memory limit, that is an input error.
func TestAllRefused(t *testing.T) {
	x, _, set := rings(t)
	eng, err := engine.New(engine.Options{MemoryLimit: 20000})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates = candidates("krca", "kbeta")
	var refused *fault.MemoryError
	if _, err := Select(context.Background(), eng, x, set, o); !errors.As(err, &refused) {
		t.Errorf("error %v: want a MemoryError", err)
	}
}

// The links of every fold, and the copy of the points of a fit, have a price.
func TestPrices(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates = candidates("rca")
	for what, limit := range map[string]int64{"links": o.linkBytes(set) - 1, "points": points.Bytes(x) - 1} {
		eng, err := engine.New(engine.Options{MemoryLimit: limit, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var refused *fault.MemoryError
		if what == "links" {
			_, err = Select(t.Context(), eng, x, set, o)
		} else {
			_, _, _, err = evaluated(t, x, set).folds[0].Training(eng, nil, x)
		}
		if !errors.As(err, &refused) || !strings.Contains(refused.What, what) || refused.Need != limit+1 {
			t.Errorf("%s: error %v, want one of %d bytes", what, err, limit+1)
		}
	}
}

// What fails anywhere is the error of the selection, or of the candidate that it happens to. A
// candidate that fails on one fold only has no scores of later folds.
func TestFailingLooks(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates = candidates("rca", "krca")
	enginetest.FailEverywhere(t, "select", 60, func(ctx context.Context) error {
		got, err := Select(ctx, enginetest.New(t, 1), x, set, o)
		if err == nil && slices.ContainsFunc(got.Trials, func(trial Trial) bool {
			return strings.Contains(trial.Error, enginetest.ErrBroken.Error())
		}) {
			return enginetest.ErrBroken
		}
		return err
	}, "krca.(*metric).solve", "krca.(*metric).scaleResidual") // see algorithms/catalog
}
