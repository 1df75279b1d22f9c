package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/score"
)

func init() {
	register.DoFn2x2[context.Context, shard.Pair, Counts, error](&countFn{})
	register.DoFn3x1[context.Context, shard.Pair, func(Sampled), error](&sampleFn{})
	register.DoFn3x1[[]byte, func(*Counts) bool, func(*Sampled) bool, error](&scoreFn{})
	register.Combiner1[Counts](&mergeCountsFn{})
	register.Emitter1[Sampled]()
	register.Iter1[Counts]()
	register.Iter1[Sampled]()
}

// Scoring is the task of a score. Pairs are runs of rows of the true labels and of the data that
// are compared with them.
type Scoring struct {
	Predicted []shard.Pair // with predicted labels, nil for none
	Embedding []shard.Pair // with coordinates, nil for none
	Rows      int64
	Sample    int64 // approximate number of rows of the embedding to draw
	Seed      uint64
	Output    string // the file of scores, as JSON
}

// Score counts the pairs of labels, draws rows of an embedding, and writes the scores of both to a
// file.
func Score(s beam.Scope, c job.Config, what Scoring) {
	s = s.Scope("score")
	counts := beam.CreateList(s, []Counts{{}})
	if what.Predicted != nil {
		pairs := beam.Reshuffle(s, beam.CreateList(s, what.Predicted))
		counts = beam.Combine(s, &mergeCountsFn{}, beam.ParDo(s, &countFn{Config: c}, pairs))
	}
	sample := beam.CreateList(s, []Sampled{{Number: -1}})
	if what.Embedding != nil {
		pairs := beam.Reshuffle(s, beam.CreateList(s, what.Embedding))
		share := float64(what.Sample) / float64(what.Rows)
		sample = beam.ParDo(s, &sampleFn{Config: c, Share: share, Seed: what.Seed}, pairs)
	}
	beam.ParDo0(s, &scoreFn{Output: what.Output}, beam.Impulse(s), beam.SideInput{Input: counts},
		beam.SideInput{Input: sample})
}

// Counts are the numbers of rows with each pair of a true and a predicted label that occurs.
type Counts struct {
	Truth, Predicted []string
	Rows             []int64
}

// countFn counts the pairs of labels in some rows.
type countFn struct{ Config job.Config }

func (f *countFn) ProcessElement(ctx context.Context, p shard.Pair) (Counts, error) {
	var c Counts
	_, err := f.Config.Do(ctx, func(context.Context, *job.Worker) (job.Tally, error) {
		truth, err := p.A.Labels(f.Config.Reading())
		if err != nil {
			return job.Tally{}, err
		}
		predicted, err := p.B.Labels(f.Config.Reading())
		if err != nil {
			return job.Tally{}, err
		}
		counts := map[labelPair]int64{}
		for i, label := range truth {
			counts[labelPair{label, predicted[i]}]++
		}
		c = list(counts)
		return job.Tally{Index: p.A.Index, Read: p.A.Rows}, nil
	})
	return c, err
}

// labelPair is a true label and a predicted one.
type labelPair struct{ truth, predicted string }

// list returns the counts in the order of the labels.
func list(counts map[labelPair]int64) Counts {
	var c Counts
	pairs := slices.SortedFunc(maps.Keys(counts), func(a, b labelPair) int {
		return cmp.Or(cmp.Compare(a.truth, b.truth), cmp.Compare(a.predicted, b.predicted))
	})
	for _, p := range pairs {
		c.Truth, c.Predicted, c.Rows = append(c.Truth, p.truth), append(c.Predicted, p.predicted),
			append(c.Rows, counts[p])
	}
	return c
}

// addTo adds the counts to others.
func (c Counts) addTo(counts map[labelPair]int64) {
	for i, n := range c.Rows {
		counts[labelPair{c.Truth[i], c.Predicted[i]}] += n
	}
}

// mergeCountsFn adds counts.
type mergeCountsFn struct{}

func (*mergeCountsFn) MergeAccumulators(a, b Counts) Counts {
	sum := make(map[labelPair]int64, len(a.Rows)+len(b.Rows))
	a.addTo(sum)
	b.addTo(sum)
	return list(sum)
}

// Sampled is a row of an embedding that was drawn.
type Sampled struct {
	Number int64 // of the row
	Label  string
	Place  []float64
}

// sampleFn draws rows. The random number of a row depends only on the seed and the row, so that
// repetitions draw the same rows.
type sampleFn struct {
	Config job.Config
	Share  float64
	Seed   uint64
}

const sampleStream = 17 // of draw.Uniform

func (f *sampleFn) ProcessElement(ctx context.Context, p shard.Pair, emit func(Sampled)) error {
	labels, err := p.A.Labels(f.Config.Reading())
	if err != nil {
		return job.Wrap(err)
	}
	_, err = f.Config.Each(ctx, p.B,
		func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
			for {
				block, err := r.Next(catalog.BlockRows(1, 0))
				if err != nil {
					return 0, err
				}
				x, err := coordinates.Values(block.Data)
				if err != nil {
					return 0, err
				}
				for i, number := range block.Numbers {
					label := labels[number-p.B.Start]
					if label != "" && rowrandom.Uniform(f.Seed, sampleStream, number) < f.Share {
						emit(Sampled{Number: number, Label: label, Place: slices.Clone(x.Row(i))})
					}
				}
			}
		})
	return err
}

// scoreFn computes the scores from the counts and the rows drawn.
type scoreFn struct{ Output string }

func (f *scoreFn) ProcessElement(_ []byte, counts func(*Counts) bool, sample func(*Sampled) bool) error {
	var r Scores
	var c Counts
	counts(&c)
	rows := slices.DeleteFunc(job.Collect(sample), func(s Sampled) bool { return s.Number < 0 })
	err := r.labels(c)
	if err == nil {
		err = r.embedding(rows)
	}
	if err == nil {
		err = r.write(f.Output)
	}
	return job.Wrap(err)
}

// Scores are the results of a score.
type Scores struct {
	Labels *score.Report `json:"labels,omitempty"` // scores of predicted labels
	J      *float64      `json:"j,omitempty"`      // score of the embedding
	Sample int           `json:"sample,omitempty"` // number of rows of the sample for J
}

// labels computes the scores of labels.
func (r *Scores) labels(c Counts) error {
	if len(c.Rows) == 0 {
		return nil
	}
	var t score.Table
	for i, n := range c.Rows {
		if err := t.AddCount(c.Truth[i], c.Predicted[i], int(n)); err != nil {
			return err
		}
	}
	var err error
	if r.Labels, err = t.Report(); err == nil && r.Labels.Numbered {
		r.Labels.OfClusters()
	}
	return err
}

// embedding computes the score of the rows drawn, in the order of their numbers.
func (r *Scores) embedding(rows []Sampled) error {
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(a, b Sampled) int { return cmp.Compare(a.Number, b.Number) })
	var x []float64
	var labels []string
	for _, s := range rows {
		x, labels = append(x, s.Place...), append(labels, s.Label)
	}
	j, err := score.JRatio(x, len(rows), len(rows[0].Place), labels)
	if err != nil {
		return err
	}
	r.J, r.Sample = &j, len(rows)
	return nil
}

func (r *Scores) write(path string) error {
	return dataset.Atomic(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	})
}
