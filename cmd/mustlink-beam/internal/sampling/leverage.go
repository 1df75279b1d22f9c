package sampling

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func init() {
	register.DoFn4x1[context.Context, shard.Element, func(*rowrandom.Rows) bool, func(rowrandom.Rows),
		error](&leverageFn{})
}

// leverageFn draws rows of an element with their leverage scores as weights. Its side input is the
// sample from which the scores are estimated. In a job that has failed there is none, and
// leverageFn returns no error, which could hide the first one.
type leverageFn struct {
	Config job.Config
	Kernel string // bandwidth rules are evaluated on the sample
	M      int
	Seed   uint64
	Rows   int64 // number of rows of the set

	scorer *Scorer // of this bundle
}

func (f *leverageFn) ProcessElement(ctx context.Context, e shard.Element, samples func(*rowrandom.Rows) bool,
	emit func(rowrandom.Rows)) error {
	var sample, all rowrandom.Rows
	if !samples(&sample) {
		return nil
	}
	_, err := coordinates.OfElement(ctx, f.Config, e,
		func(w *job.Worker, block shard.Block, x blas.Matrix) (err error) {
			if f.scorer == nil {
				if f.scorer, err = f.prepare(ctx, w.Engine, sample); err != nil {
					return err
				}
			}
			scores, err := f.scorer.Scores(ctx, w.Engine, coordinates.Vectors(x))
			if err != nil {
				return err
			}
			for i, number := range block.Numbers {
				all.Offer(rowrandom.Exponential(f.Seed, streamLandmarks, number, scores[i]), number, x.Row(i))
			}
			all.Smallest(f.M, nil)
			return nil
		})
	if err == nil {
		emit(all)
	}
	return err
}

// prepare creates the scorer. It estimates the trace of the kernel matrix of all rows from the
// sample.
func (f *leverageFn) prepare(ctx context.Context, eng *engine.Engine,
	sample rowrandom.Rows) (*Scorer, error) {
	sample.Ascending()
	x := coordinates.Vectors(sample.Matrix())
	k, err := resolved(ctx, eng, f.Kernel, x)
	if err != nil {
		return nil, err
	}
	diagonal, err := k.Diagonal(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	trace := 0.0
	for _, v := range diagonal {
		trace += v / float64(x.N) * float64(f.Rows)
	}
	return NewScorer(ctx, eng, k, x, f.M, int(f.Rows), trace)
}

// resolved returns the kernel, with its bandwidth rules evaluated on x.
func resolved(ctx context.Context, eng *engine.Engine, text string, x points.Points) (kernel.Kernel, error) {
	spec, err := kernel.Parse(text)
	if err != nil {
		return kernel.Kernel{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.New(spec)
}

// leverage returns a collection of the M rows drawn.
func leverage(s beam.Scope, c job.Config, elements beam.PCollection, o Options) beam.PCollection {
	sample := reservoir(s.Scope("sample"), elements,
		&drawFn{Config: c, M: 2 * o.M, Seed: o.Seed, Stream: streamSample})
	parts := beam.ParDo(s, &leverageFn{Config: c, Kernel: o.Kernel, M: o.M, Seed: o.Seed, Rows: c.Rows},
		elements, beam.SideInput{Input: sample})
	return beam.Combine(s, &smallestFn{M: o.M}, parts)
}
