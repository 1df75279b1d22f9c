package job

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	// Coders and function calls without reflection, and the runners.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/mustlink/mustlink/engine/fault"
)

// Runners are the names of the runners: Prism, which is part of this program, and those for
// clusters.
var Runners = []string{"prism", "universal", "flink", "spark", "dataflow"}

// Report is the summary of a finished job.
type Report struct {
	Runner        string                  `json:"runner"`
	Seconds       float64                 `json:"seconds"`
	Counters      map[string]int64        `json:"counters"`
	Distributions map[string]Distribution `json:"distributions"`
}

// Distribution summarizes values that were recorded one by one.
type Distribution struct {
	Count int64   `json:"count"`
	Sum   int64   `json:"sum"`
	Min   int64   `json:"min"`
	Max   int64   `json:"max"`
	Mean  float64 `json:"mean"`
}

// Init initializes Beam, once in a process. In a process that a cluster has started as a worker it
// does the work and does not return. With a single thread, Prism's busy loop after a failed job
// would keep the failure from being reported, so Init sets GOMAXPROCS to at least 2.
var Init = sync.OnceFunc(func() {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	beam.Init()
})

// Silence discards the runner's log: failures are reported once, as errors. It initializes Beam
// first, because Beam sets up the loggers.
func Silence() {
	Init()
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

// Run builds a pipeline and waits until the runner has finished it. An input error of any worker is
// returned as an input error. An error of build is returned before the job begins.
func Run(ctx context.Context, runner string, build func(s beam.Scope) error) (*Report, error) {
	if !slices.Contains(Runners, runner) {
		return nil, fault.Unknown("runner", runner, Runners)
	}
	Init()
	p, s := beam.NewPipelineWithRoot()
	if err := build(s); err != nil {
		return nil, err
	}
	start := time.Now()
	result, err := beam.Run(ctx, runner, p)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, found(err)
	}
	r := &Report{Runner: runner, Seconds: time.Since(start).Seconds()}
	r.collect(result.Metrics().AllMetrics())
	return r, nil
}

// collect adds up the counters and distributions of all steps.
func (r *Report) collect(m metrics.QueryResults) {
	r.Counters, r.Distributions = map[string]int64{}, map[string]Distribution{}
	for _, c := range m.Counters() {
		if c.Namespace() == namespace {
			r.Counters[c.Name()] += c.Result()
		}
	}
	for _, d := range m.Distributions() {
		if d.Namespace() != namespace {
			continue
		}
		sum, v := r.Distributions[d.Name()], d.Result()
		if sum.Count == 0 {
			sum.Min, sum.Max = v.Min, v.Max
		}
		sum.Count, sum.Sum, sum.Min, sum.Max = sum.Count+v.Count, sum.Sum+v.Sum, min(sum.Min, v.Min),
			max(sum.Max, v.Max)
		if sum.Count > 0 {
			sum.Mean = float64(sum.Sum) / float64(sum.Count)
		}
		r.Distributions[d.Name()] = sum
	}
}

// errUnexplained is the error of a job whose runner gives no reason.
var errUnexplained = errors.New("the job failed, and its runner gave no reason")

// found returns the error that a worker has wrapped, or else the error of the runner.
func found(err error) error {
	if reported := decoded(err.Error()); reported != nil {
		return reported
	}
	if strings.TrimSpace(err.Error()) == "" {
		return errUnexplained
	}
	return err
}
