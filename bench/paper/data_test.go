package paper

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// reader is a table whose trials read a number from a file, in three steps.
func reader() Table {
	table := toy()
	table.Data = []string{"number.txt", "other.txt"}
	table.Steps = 3
	table.Trial = func(_ context.Context, _ *engine.Engine, t Trial) ([][]float64, error) {
		text, err := os.ReadFile(t.Path("number.txt"))
		if err != nil {
			return nil, err
		}
		t.Step()
		v := float64(len(text)) + t.Rand(0).Float64()
		t.Step()
		return [][]float64{{v, v}, {v, v}}, nil
	}
	return table
}

// dataFolder returns a new folder with the named files.
func dataFolder(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunWithoutData(t *testing.T) {
	table, n := counted(reader())
	_, err := Run(context.Background(), newEngine(t), table, Options{})
	var param *fault.ParamError
	if !errors.As(err, &param) || !strings.Contains(err.Error(), "number.txt") {
		t.Errorf("no folder: error is %v: want a *fault.ParamError that names the file", err)
	}
	dir := dataFolder(t, "number.txt")
	_, err = Run(context.Background(), newEngine(t), table, Options{Data: dir})
	var data *fault.DataError
	if !errors.As(err, &data) || data.File != filepath.Join(dir, "other.txt") {
		t.Errorf("a file is missing: error is %v: want a *fault.DataError that names it", err)
	}
	if n.Load() != 0 {
		t.Errorf("%d trials ran", n.Load())
	}
}

// TestStateOtherFolder: trials do not depend on the folder of the data sets.
func TestStateOtherFolder(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	want := mustRun(t, reader(), Options{State: state, Data: dataFolder(t, reader().Data...)})
	table, n := counted(reader())
	table.Differences = []string{"a comment written afterwards"}
	got := mustRun(t, table, Options{State: state, Data: dataFolder(t, reader().Data...)})
	if sameResults(t, got, want); n.Load() != 0 {
		t.Errorf("%d trials ran again", n.Load())
	}
}

// TestRunSteps: progress counts the parts of trials, also of resumed ones, and reaches the total
// even if a trial does not report all of its steps.
func TestRunSteps(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	o := Options{State: state, Data: dataFolder(t, reader().Data...), Repetitions: 4, Workers: 2}
	mustRun(t, reader(), o)
	for _, extra := range []int{0, 5} {
		table := reader()
		trial := table.Trial
		table.Trial = func(ctx context.Context, eng *engine.Engine, tr Trial) ([][]float64, error) {
			for range extra {
				tr.Step()
			}
			return trial(ctx, eng, tr)
		}
		var done []int
		o.Repetitions = 10 + extra
		o.Progress = func(p algorithms.Progress) {
			if p.Total != 3*o.Repetitions {
				t.Errorf("total is %d: want %d", p.Total, 3*o.Repetitions)
			}
			done = append(done, p.Done)
		}
		before := 12 + 18*extra/5
		mustRun(t, table, o)
		var want []int
		for i := before; i <= 3*o.Repetitions; i++ {
			want = append(want, i)
		}
		if !slices.Equal(done, want) {
			t.Errorf("progress went %v: want %v", done, want)
		}
	}
}

// TestRunPrepare: the shared value is computed once, before the first trial, from streams that no
// trial uses, and not at all if no trial has to run.
func TestRunPrepare(t *testing.T) {
	var mu sync.Mutex
	made := 0
	table := toy()
	table.Prepare = func(_ context.Context, _ *engine.Engine, tr Trial) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		made++
		return tr.Rand(0).Float64(), nil
	}
	table.Trial = func(_ context.Context, _ *engine.Engine, tr Trial) ([][]float64, error) {
		v := tr.Shared.(float64)
		return [][]float64{{v, v}, {tr.Rand(0).Float64(), 0}}, nil
	}
	o := Options{Seed: 9, State: filepath.Join(t.TempDir(), "state.jsonl")}
	r := mustRun(t, table, o)
	for trial, values := range r.Trials {
		if values[0][0] != r.Trials[0][0][0] || values[1][0] == values[0][0] {
			t.Errorf("trial %d has shared %v and own number %v", trial, values[0][0], values[1][0])
		}
	}
	if mustRun(t, table, o); made != 1 {
		t.Errorf("the shared value was computed %d times in a run and its repetition: want once", made)
	}
	fails := errors.New("does not work")
	table.Prepare = func(context.Context, *engine.Engine, Trial) (any, error) { return nil, fails }
	if _, err := Run(context.Background(), newEngine(t), table, Options{}); !errors.Is(err, fails) {
		t.Errorf("error is %v: want the cause", err)
	}
}

// TestMarkdownSideBySide: a table without printed values has one line for each column, and its
// notes are computed from the values.
func TestMarkdownSideBySide(t *testing.T) {
	table := reader()
	for i := range table.Rows {
		table.Rows[i].Printed = Means(math.NaN(), math.NaN())
	}
	table.Notes = func(r *Result) []string { return []string{"first is " + r.value(r.Ours[0][0])} }
	r := mustRun(t, table, Options{Data: dataFolder(t, table.Data...), Repetitions: 2})
	page := r.Markdown()
	for _, want := range []string{
		"| column | first | second |\n| --- | ---: | ---: |\n",
		"| b | " + r.value(r.Ours[0][1]) + " | " + r.value(r.Ours[1][1]) + " |\n",
		"## Comparisons\n\n- first is " + r.value(r.Ours[0][0]) + "\n",
		" --data DIR\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
