// Package measure times the same work done by several contenders in turn, and compares them round
// by round.
//
// Its results are reliable on a machine whose speed drifts: contenders alternate within a round,
// every round gives one ratio, and the report has the median and the extremes over the rounds.
// Every turn begins with a pause, in which the threads of the previous contender go to sleep, and
// with calls that are not timed.
package measure

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Work is one piece of work at one size, with its contenders.
type Work struct {
	Name    string  // "gemm"
	Size    string  // "n=2048"
	Threads int     // that each contender may use
	Flops   float64 // of one call, 0 where their number is not meaningful
	Bytes   float64 // written to memory by one call, 0 where the caches may hold them
	// Contenders do the same work; the others are compared with the first.
	Contenders []Contender
}

// Contender does the work.
type Contender struct {
	Name string
	// Time does the work calls times and returns how long that took, without its preparation.
	// calls >= 1.
	Time func(calls int) (time.Duration, error)
}

// Func returns a contender that calls run. Before every call it calls prepare, if that is not nil,
// which is not timed.
func Func(name string, prepare, run func()) Contender {
	return Contender{name, func(calls int) (time.Duration, error) {
		if prepare == nil {
			start := time.Now()
			for range calls {
				run()
			}
			return time.Since(start), nil
		}
		var total time.Duration
		for range calls {
			prepare()
			start := time.Now()
			run()
			total += time.Since(start)
		}
		return total, nil
	}}
}

// Options are the settings of a measurement. The zero value is right for most.
type Options struct {
	Rounds  int           // 0: 7
	MinTime time.Duration // shortest time of one contender in a round; 0: 200 ms
	// Pause is the time before every contender in which the threads of the previous one go to sleep
	// (those of OpenBLAS spin for about 30 ms after a call). 0: 60 ms; negative: none.
	Pause time.Duration
	// WarmUpTo is the time of a call from which no untimed calls precede it, since long calls need
	// no warm-up; 0: they always do.
	WarmUpTo time.Duration
	// Progress is called before every work.
	Progress func(done, total int, w Work)
}

// Measurement is the result for one work.
type Measurement struct {
	Name    string  `json:"name"`
	Size    string  `json:"size"`
	Threads int     `json:"threads"`
	Flops   float64 `json:"flops,omitempty"`
	Bytes   float64 `json:"bytes,omitempty"`
	Entries []Entry `json:"entries"` // one for each contender, in their order
}

// Entry is the result of one contender. Seconds are per call. Ratio is how many times faster the
// first contender is: the time of this one divided by that of the first, in the same round.
type Entry struct {
	Name    string  `json:"name"`
	Seconds Spread  `json:"seconds"`
	GFlops  float64 `json:"gflops,omitempty"` // at the median time
	Ratio   Spread  `json:"ratio"`
}

// Spread is the median and the extremes over the rounds.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Run measures all works one after the other. It stops between two calls when ctx ends, and at the
// first contender that fails.
func Run(ctx context.Context, works []Work, o Options) ([]Measurement, error) {
	o.fill()
	var measurements []Measurement
	for i, w := range works {
		if o.Progress != nil {
			o.Progress(i, len(works), w)
		}
		f, err := w.measure(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", w.Name, w.Size, err)
		}
		measurements = append(measurements, f)
	}
	return measurements, nil
}

func (o *Options) fill() {
	if o.Rounds <= 0 {
		o.Rounds = 7
	}
	if o.MinTime <= 0 {
		o.MinTime = 200 * time.Millisecond
	}
	if o.Pause == 0 {
		o.Pause = 60 * time.Millisecond
	}
}

// measure runs the rounds of one work.
func (w Work) measure(ctx context.Context, o Options) (Measurement, error) {
	calls, warm := make([]int, len(w.Contenders)), make([]bool, len(w.Contenders))
	for i, c := range w.Contenders {
		perCall, err := c.calibrate(ctx, o.MinTime)
		if err != nil {
			return Measurement{}, err
		}
		calls[i] = max(1, int((o.MinTime+perCall-1)/perCall))
		warm[i] = o.WarmUpTo == 0 || perCall < o.WarmUpTo
	}
	seconds := make([][]float64, len(w.Contenders))
	for round := range o.Rounds {
		for k := range w.Contenders {
			// Every other round goes backwards, so that a drift of the machine's speed cancels.
			if round%2 == 1 {
				k = len(w.Contenders) - 1 - k
			}
			if err := sleep(ctx, o.Pause); err != nil {
				return Measurement{}, err
			}
			d, err := w.Contenders[k].turn(calls[k], warm[k])
			if err != nil {
				return Measurement{}, fmt.Errorf("%s: %w", w.Contenders[k].Name, err)
			}
			seconds[k] = append(seconds[k], d.Seconds()/float64(calls[k]))
		}
	}
	return w.summarize(seconds), nil
}

// turn times calls calls. If warm is true, a quarter as many calls come first; they wake threads,
// spread them over the processors and fill caches.
func (c Contender) turn(calls int, warm bool) (time.Duration, error) {
	if warm {
		if _, err := c.Time((calls + 3) / 4); err != nil {
			return 0, err
		}
	}
	return c.Time(calls)
}

// calibrate returns the time of a call, from as many calls as take about least. The first call,
// which also warms up, is not counted when it is short.
func (c Contender) calibrate(ctx context.Context, minimum time.Duration) (time.Duration, error) {
	for calls := 1; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		d, err := c.Time(calls)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.Name, err)
		}
		if d >= minimum/2 || calls >= 1<<24 {
			return max(d/time.Duration(calls), 1), nil
		}
		calls *= 4
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// summarize summarizes seconds[contender][round].
func (w Work) summarize(seconds [][]float64) Measurement {
	f := Measurement{Name: w.Name, Size: w.Size, Threads: w.Threads, Flops: w.Flops, Bytes: w.Bytes}
	for i, c := range w.Contenders {
		ratios := make([]float64, len(seconds[i]))
		for r, s := range seconds[i] {
			ratios[r] = s / seconds[0][r]
		}
		e := Entry{Name: c.Name, Seconds: SpreadOf(seconds[i]), Ratio: SpreadOf(ratios)}
		e.GFlops = w.Flops / e.Seconds.Median / 1e9
		f.Entries = append(f.Entries, e)
	}
	return f
}

// Compare returns the measurement for seconds that were measured elsewhere, with one value for each
// contender and round.
func Compare(name, size string, threads int, contenders []string, seconds [][]float64) Measurement {
	w := Work{Name: name, Size: size, Threads: threads}
	for _, c := range contenders {
		w.Contenders = append(w.Contenders, Contender{Name: c})
	}
	return w.summarize(seconds)
}

// SpreadOf returns the extremes and the median (for an even number of values, the mean of the
// middle two) of at least one value.
func SpreadOf(values []float64) Spread {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return Spread{Median: (s[(n-1)/2] + s[n/2]) / 2, Min: s[0], Max: s[n-1]}
}
