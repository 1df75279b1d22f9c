package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"

	"gonum.org/v1/gonum/stat"
)

// Options are the settings of a run. The zero value runs the table with its number of repetitions
// and seed 0, on the workers of the engine, without a state file.
type Options struct {
	Seed        uint64
	Workers     int    // number of trials at a time; 0: the number of workers of the engine
	State       string // path of the state file, "" for none
	Repetitions int    // 0: the number of the table
	Kept        bool   // take more repetitions if the state file has them, up to the number of the table
	Data        string // folder of the data sets, needed by tables with Data
	// Progress is called for every finished trial or, if the table has Steps, for every step. Done
	// and Total count steps, including those of trials from the state file.
	Progress algorithms.ProgressFunc
}

// Result is a table with our results.
type Result struct {
	Table       Table     `json:"table"`
	Seed        uint64    `json:"seed"`
	Repetitions int       `json:"repetitions"`
	Resumed     int       `json:"resumed"` // trials taken from the state file
	Ours        [][]Value `json:"ours"`    // [row][column]; SD is NaN for one repetition
	// Intervals are 95 % intervals for the means of Ours, by the bootstrap over the repetitions;
	// nil for values that are missing in all of them.
	Intervals [][]*statistics.Interval `json:"intervals"`
	Build     Build                    `json:"build"`
	// Seconds is the wall time of this run. TrialSeconds is the sum of the times of all trials,
	// including resumed ones.
	Seconds      float64 `json:"seconds"`
	TrialSeconds float64 `json:"trial_seconds"`
	// Notes are the sentences of the Notes function of the table.
	Notes []string `json:"notes,omitempty"`
	// Trials holds the values of every trial: Trials[trial][row][column].
	Trials []Values `json:"trials"`
}

// Run repeats the trial of a table and averages its values. Ours and Trials of the result depend
// only on the table, the seed, the number of repetitions and the build. They do not depend on the
// number of workers, on the order in which trials finish, or on whether some come from the state
// file.
//
// If a trial fails, the run stops as soon as the trials that have started end; the error names the
// lowest trial that failed. Canceling ctx does the same and gives an error that wraps ctx.Err(). In
// both cases the finished trials are in the state file.
//
// If several trials run at a time, each gets an equal part of the workers and of the memory limit
// of the engine.
func Run(ctx context.Context, eng *engine.Engine, table Table, o Options) (*Result, error) {
	start := time.Now()
	if err := table.validate(); err != nil {
		return nil, err
	}
	if err := o.fill(eng, table); err != nil {
		return nil, err
	}
	if err := table.checkData(o.Data); err != nil {
		return nil, err
	}
	table = table.in(o.Data)
	r := &run{table: table, options: o, start: start, finished: make(map[int]record)}
	if err := r.open(eng); err != nil {
		return nil, err
	}
	resumed := len(r.finished)
	err := r.trials(ctx, eng)
	if closeErr := r.state.close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	result := r.result()
	result.Resumed = resumed
	result.Build = DescribeBuild(eng, o.Workers)
	if table.Notes != nil {
		result.Notes = table.Notes(result)
	}
	result.Seconds = time.Since(start).Seconds()
	return result, nil
}

// fill replaces zero values by defaults.
func (o *Options) fill(eng *engine.Engine, table Table) error {
	if o.Repetitions < 0 {
		return &fault.ParamError{Param: "repetitions", Value: o.Repetitions,
			Want: "a number >= 1 (0: that of the table)"}
	}
	if o.Repetitions == 0 {
		o.Repetitions = table.Repetitions
	}
	if o.Workers < 0 {
		return &fault.ParamError{Param: "workers", Value: o.Workers,
			Want: "a number >= 1 (0: the workers of the engine)"}
	}
	if o.Workers == 0 {
		o.Workers = eng.Workers()
	}
	o.Workers = min(o.Workers, o.Repetitions)
	return nil
}

// run is a running call of Run.
type run struct {
	table    Table
	options  Options
	start    time.Time
	state    *stateFile     // nil without a state file
	finished map[int]record // by trial number, each below options.Repetitions
	shared   any            // from table.Prepare

	mu    sync.Mutex // protects steps and, while trials run, state and finished
	steps int        // number of finished steps of all trials
}

// open reads the state file, if there is one, and takes over its finished trials.
func (r *run) open(eng *engine.Engine) error {
	if r.options.State == "" {
		return nil
	}
	id, err := fingerprint(r.table, r.options.Seed, eng)
	if err != nil {
		return err
	}
	state, records, err := openState(r.options.State, id)
	if err != nil {
		return err
	}
	r.state = state
	for _, rec := range records {
		if err := r.table.check(rec.Values); err != nil {
			return errors.Join(fault.Data(r.options.State, "trial %d: %w", rec.Trial, err), state.close())
		}
		r.finished[rec.Trial] = rec
	}
	if r.options.Kept {
		for r.options.Repetitions < r.table.Repetitions && r.has(r.options.Repetitions) {
			r.options.Repetitions++
		}
	}
	maps.DeleteFunc(r.finished, func(trial int, _ record) bool { return trial >= r.options.Repetitions })
	return nil
}

// has reports whether a trial is finished.
func (r *run) has(trial int) bool {
	_, ok := r.finished[trial]
	return ok
}

// outcome is the result of one trial.
type outcome struct {
	record
	steps int // number of steps that the trial did not report
	err   error
}

// trials runs the trials that are not finished.
func (r *run) trials(ctx context.Context, eng *engine.Engine) error {
	var pending []int
	for trial := range r.options.Repetitions {
		if _, ok := r.finished[trial]; !ok {
			pending = append(pending, trial)
		}
	}
	r.advance(len(r.finished) * max(1, r.table.Steps))
	if len(pending) > 0 {
		if err := r.prepare(ctx, eng); err != nil {
			return err
		}
	}
	workers := max(1, min(r.options.Workers, len(pending)))
	part, err := eng.Share(workers)
	if err != nil {
		return err
	}
	pool, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: workers})
	if err != nil {
		return err
	}
	// Trials start in ascending order, and the error is that of the lowest trial that failed, so
	// that it is the same in every run.
	err = pool.For(ctx, len(pending), 1, func(i, _ int) error {
		return r.keep(r.trial(ctx, part, pending[i]))
	})
	if len(r.finished) < r.options.Repetitions && ctx.Err() != nil &&
		(err == nil || errors.Is(err, ctx.Err())) {
		return fmt.Errorf("table %s: stopped after %d of %d trials: %w", r.table.Name, len(r.finished),
			r.options.Repetitions, ctx.Err())
	}
	return err
}

// keep records a finished trial, one at a time.
func (r *run) keep(o outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.err != nil {
		return fmt.Errorf("table %s: trial %d: %w", r.table.Name, o.Trial, o.err)
	}
	if err := r.state.append(o.record); err != nil {
		return err
	}
	r.finished[o.Trial] = o.record
	r.count(o.steps)
	return nil
}

// prepare computes what trials share.
func (r *run) prepare(ctx context.Context, eng *engine.Engine) error {
	if r.table.Prepare == nil {
		return nil
	}
	shared, err := r.table.Prepare(ctx, eng, Trial{Number: -1, Data: r.options.Data, seed: r.options.Seed})
	if err != nil {
		return fmt.Errorf("table %s: preparing the trials: %w", r.table.Name, err)
	}
	r.shared = shared
	return nil
}

// advance counts steps and reports progress, one call at a time.
func (r *run) advance(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(steps)
}

// count is advance for a caller that has the lock.
func (r *run) count(steps int) {
	r.steps += steps
	r.options.Progress.Report(algorithms.Progress{
		Stage:     "trials",
		Done:      r.steps,
		Total:     r.options.Repetitions * max(1, r.table.Steps),
		Objective: math.NaN(),
		Residual:  math.NaN(),
		Elapsed:   time.Since(r.start),
	})
}

// trial runs one trial and checks what it returns.
func (r *run) trial(ctx context.Context, eng *engine.Engine, number int) outcome {
	start := time.Now()
	last := int64(max(1, r.table.Steps) - 1) // the end of the trial is the last step
	var taken atomic.Int64
	values, err := r.table.Trial(ctx, eng, Trial{
		Number: number, Data: r.options.Data, Shared: r.shared, seed: r.options.Seed,
		step: func() {
			if taken.Add(1) <= last {
				r.advance(1)
			}
		},
	})
	if err == nil {
		err = r.table.check(values)
	}
	left := int(last + 1 - min(taken.Load(), last))
	return outcome{record{Trial: number, Seconds: time.Since(start).Seconds(), Values: values}, left, err}
}

// result averages over the trials in ascending order.
func (r *run) result() *Result {
	n := r.options.Repetitions
	res := &Result{Table: r.table, Seed: r.options.Seed, Repetitions: n}
	for trial := range n {
		rec := r.finished[trial]
		res.Trials = append(res.Trials, rec.Values)
		res.TrialSeconds += rec.Seconds
	}
	for i := range r.table.Rows {
		row, intervals := make([]Value, len(r.table.Columns)),
			make([]*statistics.Interval, len(r.table.Columns))
		for j := range row {
			values := given(n, func(trial int) float64 { return res.Trials[trial][i][j] })
			row[j] = summarize(values)
			if len(values) > 0 {
				in, err := statistics.BootstrapMean([][]float64{values}, confidence, r.options.Seed)
				if err != nil { // values are finite
					panic(err)
				}
				intervals[j] = &in
			}
		}
		res.Ours, res.Intervals = append(res.Ours, row), append(res.Intervals, intervals)
	}
	return res
}

// confidence is the level of the intervals.
const confidence = 0.95

// given returns the values that are not NaN.
func given(n int, value func(i int) float64) []float64 {
	var out []float64
	for i := range n {
		if v := value(i); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// summarize returns the mean of values and their standard deviation with divisor n-1. Both are NaN
// if there are no values.
func summarize(values []float64) Value {
	mean, sd := stat.MeanStdDev(values, nil)
	return Value{Mean: mean, SD: sd}
}

// Decode reads the JSON of a result of one of the tables, so that it can be drawn again. JSON of
// something else, or with another shape than the table of that name, is a *fault.DataError.
func Decode(text []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(text, &r); err != nil || r.Table.Name == "" {
		return nil, fault.Data("",
			"not a result of a table: want the JSON that mustlink-bench paper TABLE writes")
	}
	t, err := Lookup(r.Table.Name)
	if err != nil {
		return nil, err
	}
	t.Absent = r.Table.Absent
	if err := r.fits(t); err != nil {
		return nil, fault.Data("", "result of table %s: %w", t.Name, err)
	}
	r.Table = t
	return &r, nil
}

// fits returns an error if the result does not have the shape of the table.
func (r *Result) fits(t Table) error {
	if len(r.Trials) == 0 || len(r.Ours) != len(t.Rows) {
		return fmt.Errorf("%d trials of %d rows: want at least one trial of %d rows", len(r.Trials),
			len(r.Ours), len(t.Rows))
	}
	for _, row := range r.Ours {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("%d columns: want %d", len(row), len(t.Columns))
		}
	}
	for _, values := range r.Trials {
		if err := t.check(values); err != nil {
			return err
		}
	}
	return nil
}
