package nearest

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

func init() {
	register.DoFn3x2[context.Context, shard.Element, func(*rowrandom.Rows) bool, SampleDistances,
		error](&sampleFn{})
	register.Combiner1[SampleDistances](&mergeDistancesFn{})
	register.DoFn2x1[SampleDistances, func(*BucketDistances) bool, error](&recallFn{})
	register.Iter1[BucketDistances]()
}

// Sampling describes the sample of rows. Each row has the same chance, which depends only on its
// number and the seed.
type Sampling struct {
	Seed   uint64
	Chance float64
}

// sampling is the stream of random numbers of the sample.
const sampling = 0x726563616c6c // "recall"

func (s Sampling) draws(number int64) bool {
	return rowrandom.Uniform(s.Seed, sampling, number) < s.Chance
}

// BucketDistances are the squared distances, ascending, that the bucket of a row of the sample has
// found.
type BucketDistances struct {
	Row     int64
	Squared []float64
}

// SampleDistances are the squared distances of the nearest neighbors among some rows, K for each
// row of the sample, ascending.
type SampleDistances struct {
	Rows    []int64
	Squared []float64
}

// sampleFn finds the nearest neighbors of the sample among the rows of an element.
type sampleFn struct {
	Config job.Config
	K      int
}

func (f *sampleFn) ProcessElement(ctx context.Context, e shard.Element,
	samples func(*rowrandom.Rows) bool) (SampleDistances, error) {
	found := newLists(f.K, rowrandom.Join(samples))
	_, err := coordinates.OfElement(ctx, f.Config, e,
		func(w *job.Worker, block shard.Block, more blas.Matrix) error {
			return found.search(ctx, w.Engine, more, block.Numbers)
		})
	found.pad()
	return SampleDistances{found.of.Numbers, squared(found.found...)}, err
}

// mergeDistancesFn merges the distances in two sets of elements. The order of the merges does not
// matter.
type mergeDistancesFn struct{}

func (*mergeDistancesFn) MergeAccumulators(a, b SampleDistances) SampleDistances {
	if len(a.Rows) == 0 || len(b.Rows) == 0 {
		a.Rows, a.Squared = append(a.Rows, b.Rows...), append(a.Squared, b.Squared...)
		return a
	}
	k := len(a.Squared) / len(a.Rows)
	out := SampleDistances{a.Rows, make([]float64, 0, len(a.Squared))}
	for i := range a.Rows {
		both := slices.Concat(a.Squared[i*k:(i+1)*k], b.Squared[i*k:(i+1)*k])
		slices.Sort(both)
		out.Squared = append(out.Squared, both[:k]...)
	}
	return out
}

// Recall is the recall of an approximate graph.
type Recall struct {
	Rows int `json:"rows"` // of the sample
	K    int `json:"neighbors"`
	// share of the exact neighbors that were found; others at the same distance count
	Recall float64 `json:"recall"`
}

// recallFn compares the approximate distances with the exact ones.
type recallFn struct {
	K      int
	Output string
}

func (f *recallFn) ProcessElement(exact SampleDistances, found func(*BucketDistances) bool) error {
	of := map[int64][]float64{}
	for v := (BucketDistances{}); found(&v); v = (BucketDistances{}) {
		of[v.Row] = v.Squared
	}
	hits := 0
	for i, row := range exact.Rows {
		limit := exact.Squared[(i+1)*f.K-1]
		for _, d := range of[row] {
			if d <= limit {
				hits++
			}
		}
	}
	r := Recall{Rows: len(exact.Rows), K: f.K}
	if r.Rows > 0 {
		r.Recall = float64(hits) / float64(r.Rows*f.K)
	}
	return job.Wrap(results.Save(f.Output, r))
}

// measure computes the recall of the approximate graph on the sample.
func measure(s beam.Scope, c job.Config, elements []shard.Element, k int, output string, samples,
	found beam.PCollection) {
	s = s.Scope("recall")
	exact := beam.ParDo(s, &sampleFn{Config: c, K: k}, job.Elements(s, elements),
		beam.SideInput{Input: samples})
	beam.ParDo0(s, &recallFn{K: k, Output: output}, beam.Combine(s, &mergeDistancesFn{}, exact),
		beam.SideInput{Input: found})
}
