package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toy is a table with very short trials: two columns of random numbers, the second row from another
// stream, scaled so that the last bits of sums depend on their order.
func toy() Table {
	return Table{
		Name:        "toy",
		Paper:       "Nobody (1900). Nothing.",
		Label:       "Table 0",
		Caption:     "random numbers",
		Columns:     []string{"a", "b"},
		Rows:        []Row{{"first", Means(0.5, math.NaN())}, {"second", []Value{{1, 0.1}, {2, 0.2}}}},
		Repetitions: 40,
		Decimals:    3,
		Trial: func(_ context.Context, _ *engine.Engine, t Trial) ([][]float64, error) {
			values := make([][]float64, 2)
			for i := range values {
				r := t.Rand(i)
				values[i] = []float64{math.Exp(10 * r.NormFloat64()), r.Float64()}
			}
			return values, nil
		},
	}
}

// counted returns the table with its trials counted.
func counted(t Table) (Table, *atomic.Int64) {
	var n atomic.Int64
	trial := t.Trial
	t.Trial = func(ctx context.Context, eng *engine.Engine, tr Trial) ([][]float64, error) {
		n.Add(1)
		return trial(ctx, eng, tr)
	}
	return t, &n
}

func newEngine(t testing.TB) *engine.Engine {
	t.Helper()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

func mustRun(t testing.TB, table Table, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), newEngine(t), table, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameResults requires bit-identical results.
func sameResults(t testing.TB, got, want *Result) {
	t.Helper()
	if d := difftest.Diff(want.Trials, got.Trials); d != "" {
		t.Errorf("trials differ: %s", d)
	}
	if d := difftest.Diff(want.Ours, got.Ours); d != "" {
		t.Errorf("means differ: %s", d)
	}
}

func TestRunSameBitsForAnyWorkers(t *testing.T) {
	table := toy()
	trial := table.Trial
	// Early trials sleep longest, so that with several workers they finish out of order.
	table.Trial = func(ctx context.Context, eng *engine.Engine, tr Trial) ([][]float64, error) {
		time.Sleep(time.Duration(40-tr.Number) * 20 * time.Microsecond)
		return trial(ctx, eng, tr)
	}
	want := mustRun(t, table, Options{Seed: 7, Workers: 1})
	for workers := 2; workers <= 8; workers++ {
		sameResults(t, mustRun(t, table, Options{Seed: 7, Workers: workers}), want)
	}
	if other := mustRun(t, table, Options{Seed: 8}); difftest.Diff(other.Trials, want.Trials) == "" {
		t.Error("another seed gives the same trials")
	}
}

func TestRunMeans(t *testing.T) {
	table := toy()
	table.Trial = func(_ context.Context, _ *engine.Engine, tr Trial) ([][]float64, error) {
		x := float64(tr.Number)
		return [][]float64{{x, 3}, {-x, x * x}}, nil
	}
	// The numbers 0..4: mean 2, sum of squared differences from it 10, divisor 4. Their squares:
	// mean 6, sum of squared differences from it 36+25+4+9+100 = 174.
	got := mustRun(t, table, Options{Repetitions: 5})
	want := [][]Value{
		{{2, math.Sqrt(2.5)}, {3, 0}},
		{{-2, math.Sqrt(2.5)}, {6, math.Sqrt(43.5)}},
	}
	if difftest.Diff(got.Ours, want) != "" {
		t.Errorf("means and standard deviations are %v: want %v", got.Ours, want)
	}
	one := mustRun(t, table, Options{Repetitions: 1})
	if v := one.Ours[1][1]; v.Mean != 0 || !math.IsNaN(v.SD) {
		t.Errorf("one repetition gives %v: want mean 0 and no standard deviation", v)
	}
}

func TestTrialStreams(t *testing.T) {
	seen := make(map[uint64]string)
	for _, seed := range []uint64{0, 1, 2, math.MaxUint64} {
		for number := range 50 {
			for stream := range 5 {
				s := Trial{Number: number, seed: seed}.Seed(stream)
				at := fmt.Sprintf("seed %d, trial %d, stream %d", seed, number, stream)
				if other, ok := seen[s]; ok {
					t.Fatalf("%s and %s have the same seed", at, other)
				}
				seen[s] = at
			}
		}
	}
}

// TestRunShares: trials that run at the same time divide the engine among them.
func TestRunShares(t *testing.T) {
	eng, err := engine.New(engine.Options{Workers: 6, MemoryLimit: 600})
	if err != nil {
		t.Fatal(err)
	}
	table := toy()
	trial := table.Trial
	var bad atomic.Int64
	table.Trial = func(ctx context.Context, e *engine.Engine, tr Trial) ([][]float64, error) {
		if e.Workers() != 2 || e.MemoryLimit() != 200 {
			bad.Add(1)
		}
		return trial(ctx, e, tr)
	}
	if _, err := Run(context.Background(), eng, table, Options{Workers: 3}); err != nil {
		t.Fatal(err)
	}
	if bad.Load() > 0 {
		t.Error("a trial of three at a time does not have a third of the workers and the memory limit")
	}
}

func TestRunBadOptions(t *testing.T) {
	for _, o := range []Options{{Repetitions: -1}, {Workers: -1}} {
		if _, err := Run(context.Background(), newEngine(t), toy(), o); !fault.IsInput(err) {
			t.Errorf("options %+v give %v: want an input error", o, err)
		}
	}
}

func TestRunBadTable(t *testing.T) {
	for name, spoil := range map[string]func(*Table){
		"name":        func(b *Table) { b.Name = "" },
		"trial":       func(b *Table) { b.Trial = nil },
		"rows":        func(b *Table) { b.Rows = nil },
		"columns":     func(b *Table) { b.Columns = nil },
		"printed":     func(b *Table) { b.Rows[1].Printed = Means(1) },
		"repetitions": func(b *Table) { b.Repetitions = 0 },
		"decimals":    func(b *Table) { b.Decimals = -1 },
	} {
		table := toy()
		spoil(&table)
		if _, err := Run(context.Background(), newEngine(t), table, Options{}); err == nil {
			t.Errorf("%s: the table runs: want an error", name)
		}
	}
}

func TestRunTrialError(t *testing.T) {
	fails := errors.New("does not work")
	for _, workers := range []int{1, 4} {
		table := toy()
		trial := table.Trial
		// Trial 9 fails at once, trial 8 a little later: the error must name 8.
		table.Trial = func(ctx context.Context, eng *engine.Engine, tr Trial) ([][]float64, error) {
			switch tr.Number {
			case 8:
				time.Sleep(10 * time.Millisecond)
				return nil, fails
			case 9:
				return nil, fails
			}
			return trial(ctx, eng, tr)
		}
		table, n := counted(table)
		_, err := Run(context.Background(), newEngine(t), table, Options{Workers: workers})
		if !errors.Is(err, fails) || !strings.Contains(err.Error(), "trial 8:") ||
			!strings.Contains(err.Error(), "toy") {
			t.Errorf("workers %d: error is %v: want table, trial 8 and the cause", workers, err)
		}
		// One worker takes them in order. Several may all be past trial 9 before it ends.
		if workers == 1 && n.Load() != 9 {
			t.Errorf("%d trials ran: want 9, none after the one that failed", n.Load())
		}
	}
}

func TestRunBadValues(t *testing.T) {
	for name, values := range map[string][][]float64{
		"no rows":  nil,
		"row":      {{1, 2}},
		"column":   {{1, 2}, {3}},
		"nan":      {{1, 2}, {3, math.NaN()}},
		"infinite": {{1, math.Inf(-1)}, {3, 4}},
	} {
		table := toy()
		table.Trial = func(context.Context, *engine.Engine, Trial) ([][]float64, error) { return values, nil }
		if _, err := Run(context.Background(), newEngine(t), table, Options{Workers: 1}); err == nil ||
			!strings.Contains(err.Error(), "trial 0") {
			t.Errorf("%s: error is %v: want one that names trial 0", name, err)
		}
	}
}

func TestRunProgress(t *testing.T) {
	var done []int
	mustRun(t, toy(), Options{Workers: 3, Progress: func(p algorithms.Progress) {
		if p.Total != 40 {
			t.Errorf("total is %d: want 40", p.Total)
		}
		done = append(done, p.Done)
	}})
	if len(done) != 41 || !slices.IsSorted(done) || done[0] != 0 || done[40] != 40 {
		t.Errorf("progress went %v: want 0..40", done)
	}
}

// interrupt runs the table with a state file and cancels after some trials.
func interrupt(t *testing.T, table Table, o Options, after int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(p algorithms.Progress) {
		if p.Done >= after {
			cancel()
		}
	}
	_, err := Run(ctx, newEngine(t), table, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("canceled run gives %v: want an error that wraps context.Canceled", err)
	}
}

// TestKept: a run of few repetitions takes those that the state file has on request, and no others.
func TestKept(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	mustRun(t, toy(), Options{State: state, Repetitions: 7})
	for _, c := range []struct {
		kept       bool
		asked, got int
	}{{true, 3, 7}, {false, 3, 3}, {true, 9, 9}} {
		if r := mustRun(t, toy(),
			Options{State: state, Repetitions: c.asked, Kept: c.kept}); r.Repetitions != c.got ||
			len(r.Trials) != c.got {
			t.Errorf("kept %v, %d repetitions: got %d of %d trials, want %d", c.kept, c.asked, r.Repetitions,
				len(r.Trials), c.got)
		}
	}
}

func TestResumeIsTheSame(t *testing.T) {
	want := mustRun(t, toy(), Options{Seed: 3})
	propertytest.Check(t, func(rt *rapid.T) {
		state := filepath.Join(t.TempDir(), "state.jsonl")
		o := Options{Seed: 3, State: state, Workers: rapid.IntRange(1, 8).Draw(rt, "workers")}
		interrupt(t, toy(), o, rapid.IntRange(0, 25).Draw(rt, "after"))
		o.Workers = rapid.IntRange(1, 8).Draw(rt, "workers after")
		table, n := counted(toy())
		got := mustRun(t, table, o)
		sameResults(t, got, want)
		if got.Resumed+int(n.Load()) != 40 {
			rt.Errorf("%d trials resumed and %d run: want 40 together", got.Resumed, n.Load())
		}
		again, n := counted(toy())
		if sameResults(t, mustRun(t, again, o), want); n.Load() != 0 {
			rt.Errorf("%d trials of a finished run were repeated", n.Load())
		}
	})
}

// TestCancelKeepsFinished: trials that the progress function reported as finished are in the file.
func TestCancelKeepsFinished(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	interrupt(t, toy(), Options{State: state, Workers: 1}, 10)
	table, n := counted(toy())
	if r := mustRun(t, table, Options{State: state}); r.Resumed < 10 || n.Load() > 30 {
		t.Errorf("%d trials resumed, %d run again: want at least 10 and at most 30", r.Resumed, n.Load())
	}
}

func TestCancelInsideTrial(t *testing.T) {
	table := toy()
	ctx, cancel := context.WithCancel(context.Background())
	table.Trial = func(ctx context.Context, _ *engine.Engine, tr Trial) ([][]float64, error) {
		cancel()
		<-ctx.Done()
		return nil, fmt.Errorf("interrupted: %w", ctx.Err())
	}
	_, err := Run(ctx, newEngine(t), table, Options{Workers: 2})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 of 40") {
		t.Errorf("error is %v: want one that wraps context.Canceled and counts the trials", err)
	}
}

func TestStateTornLine(t *testing.T) {
	want := mustRun(t, toy(), Options{})
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	mustRun(t, toy(), Options{State: whole, Workers: 1})
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	end := 0 // of the 20th line
	for range 20 {
		end += strings.IndexByte(string(text[end:]), '\n') + 1
	}
	next := end + strings.IndexByte(string(text[end:]), '\n')
	cuts := map[string][]byte{"zeros": append(slices.Clone(text[:end]), make([]byte, 100)...)}
	for cut := end; cut <= next; cut += 7 {
		cuts[fmt.Sprintf("%d bytes of a line", cut-end)] = text[:cut]
	}
	cuts["all but the end of the line"] = text[:next]
	for name, torn := range cuts {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "torn.jsonl")
			if err := os.WriteFile(path, torn, 0o644); err != nil {
				t.Fatal(err)
			}
			got := mustRun(t, toy(), Options{State: path, Workers: 1})
			if sameResults(t, got, want); got.Resumed != 20 {
				t.Errorf("%d trials resumed: want 20", got.Resumed)
			}
			// The new lines must not continue the torn one.
			table, n := counted(toy())
			if mustRun(t, table, Options{State: path}); n.Load() != 0 {
				t.Errorf("%d trials of a finished run were repeated", n.Load())
			}
		})
	}
}

// TestStateOtherRuns: a run with another seed or another definition does not take trials over, and
// the run to which they belong keeps them.
func TestStateOtherRuns(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	mustRun(t, toy(), Options{Seed: 1, State: state})
	runs := []struct {
		name   string
		seed   uint64
		change func(*Table)
	}{
		{"seed", 2, func(*Table) {}},
		{"revision", 1, func(b *Table) { b.Revision++ }},
		{"row", 1, func(b *Table) { b.Rows[0].Name = "other" }},
		{"printed", 1, func(b *Table) { b.Rows[0].Printed = Means(0.25, math.NaN()) }},
		{"set-up", 1, func(b *Table) { b.Setup = []string{"sigma = 2"} }},
	}
	for _, run := range runs {
		table := toy()
		run.change(&table)
		table, n := counted(table)
		if mustRun(t, table, Options{Seed: run.seed, State: state}); n.Load() != 40 {
			t.Errorf("%s: %d trials run: want all 40", run.name, n.Load())
		}
	}
	table, n := counted(toy())
	if mustRun(t, table, Options{Seed: 1, State: state}); n.Load() != 0 {
		t.Errorf("%d trials of the first run were repeated", n.Load())
	}
}

// TestStateMoreRepetitions: trials do not depend on their number.
func TestStateMoreRepetitions(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	mustRun(t, toy(), Options{State: state, Repetitions: 15})
	got := mustRun(t, toy(), Options{State: state})
	if sameResults(t, got, mustRun(t, toy(), Options{})); got.Resumed != 15 {
		t.Errorf("%d trials resumed: want 15", got.Resumed)
	}
	few := mustRun(t, toy(), Options{State: state, Repetitions: 5})
	sameResults(t, few, mustRun(t, toy(), Options{Repetitions: 5}))
}

// TestStateForeignFile: a file that is not a state file is an error and does not change.
func TestStateForeignFile(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.jsonl")
	mustRun(t, toy(), Options{State: good, Repetitions: 2})
	lines, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(lines), "\n")
	for name, text := range map[string]string{
		"csv":            "x,y\n1,2\n",
		"no end":         "important text without an end",
		"json":           "{\"run\":1}\n{}\n",
		"damaged middle": "{\"run\":\"ab\n" + first + "\n",
		"no values":      `{"run":"ab","trial":1,"seconds":1}` + "\n" + first + "\n",
		"negative trial": `{"run":"ab","trial":-1,"seconds":1,"values":[]}` + "\n" + first + "\n",
		"two in a line":  first + first + "\n" + first + "\n",
		"shape":          strings.Replace(first, `"values":[[`, `"values":[[1],[`, 1) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Run(context.Background(), newEngine(t), toy(), Options{State: path})
			var data *fault.DataError
			if !errors.As(err, &data) || data.File != path {
				t.Errorf("error is %v: want a *fault.DataError that names the file", err)
			}
			if after, _ := os.ReadFile(path); string(after) != text {
				t.Errorf("the file was changed to %q", after)
			}
		})
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none", "state.jsonl")} {
		if _, err := Run(context.Background(), newEngine(t), toy(),
			Options{State: path}); !fault.IsInput(err) {
			t.Errorf("state file %s gives %v: want an input error", path, err)
		}
	}
}

// FuzzParseState: any text gives records or a typed error; the part that is whole lines gives the
// same records again.
func FuzzParseState(f *testing.F) {
	line, err := json.Marshal(record{Run: "ab", Trial: 3, Seconds: 0.5, Values: [][]float64{{1, 1e-300}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, '\n'))
	f.Add(append(append(line, '\n'), line[:20]...))
	f.Add([]byte("x,y\n1,2\n"))
	f.Add([]byte("\x00\x00"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, whole, err := parseState(text, "file", "ab")
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v: want an input error", err)
			}
			return
		}
		if whole < 0 || whole > len(text) || whole > 0 && text[whole-1] != '\n' {
			t.Fatalf("%d of %d bytes are whole lines", whole, len(text))
		}
		again, rest, err := parseState(text[:whole], "file", "ab")
		if err != nil || rest != whole || difftest.Diff(again, records) != "" {
			t.Fatalf("the whole lines give %v, %d, %v: want %v, %d", again, rest, err, records, whole)
		}
	})
}

func TestLookup(t *testing.T) {
	for _, table := range Tables() {
		if err := table.validate(); err != nil {
			t.Error(err)
		}
		got, err := Lookup(table.Name)
		if err != nil || got.Caption != table.Caption {
			t.Errorf("Lookup(%q) gives %q, %v", table.Name, got.Caption, err)
		}
	}
	_, err := Lookup("tsang1")
	var param *fault.ParamError
	if !errors.As(err, &param) || !strings.HasSuffix(err.Error(), `did you mean "tsang-1"?`) {
		t.Errorf("error is %v: want one that suggests tsang-1", err)
	}
}

// TestStateForeign: a whole line of another program is not a line cut short by a crash, and is
// kept.
func TestStateForeign(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	const foreign = `{"run":"r","candidate":"rca","fold":0,"score":1}` + "\n"
	if err := os.WriteFile(state, []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), newEngine(t), toy(), Options{State: state}); !fault.IsInput(err) {
		t.Errorf("error %v: want one about the file", err)
	}
	if now, _ := os.ReadFile(state); string(now) != foreign {
		t.Errorf("the file has changed to %q", now)
	}
}
