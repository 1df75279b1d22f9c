package rows

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

func init() {
	register.DoFn2x2[context.Context, shard.Element, job.Tally, error](&classifyFn{})
}

// Training is the pattern of the labeled rows, which every process keeps in memory, and the number
// of neighbors that vote.
type Training struct {
	Pattern   string
	Neighbors int
}

// Classify assigns to every row the label that most of its nearest training rows have, and writes a
// file of labels for each element.
func Classify(s beam.Scope, c job.Config, t Training, elements []shard.Element, out shard.Output) {
	c.Over(s.Scope("classify"), &classifyFn{Config: c, Training: t, Output: out}, elements)
}

// classifyFn classifies the rows of an element.
type classifyFn struct {
	Config   job.Config
	Training Training
	Output   shard.Output
}

func (f *classifyFn) ProcessElement(ctx context.Context, e shard.Element) (job.Tally, error) {
	return f.Config.Each(ctx, e, func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
		training, err := f.Training.Load(ctx, w)
		if err != nil {
			return 0, err
		}
		return f.classify(ctx, w, r, training, f.Output.Name(e.Index, e.Count))
	})
}

// classify writes labels to a file, block by block.
func (f *classifyFn) classify(ctx context.Context, w *job.Worker, r *shard.Reader, training *TrainingSet,
	path string) (int64, error) {
	labeled, stop := prefetch(ctx, r, catalog.BlockRows(training.Dim, 0),
		func(ctx context.Context, block shard.Block) (dataset.LabelRows, error) {
			x, err := coordinates.Of(ctx, w, block)
			if err != nil {
				return dataset.LabelRows{}, err
			}
			labels, err := neighbors.Classify(ctx, w.Engine, training.at, training.labels, x,
				f.Training.Neighbors)
			return dataset.LabelRows{Labels: labels, IDs: block.IDs}, block.Locate(err)
		})
	defer stop()
	written := int64(0)
	err := dataset.WriteLabelRows(path, func() (dataset.LabelRows, error) {
		rows, err := labeled()
		written += int64(len(rows.Labels))
		return rows, err
	}, dataset.WriteOptions{})
	return written, err
}

// TrainingSet is the training rows in memory.
type TrainingSet struct {
	Dim    int // number of features
	at     blas.Matrix
	labels []string
}

// Load returns the training rows of this process.
func (t Training) Load(ctx context.Context, w *job.Worker) (*TrainingSet, error) {
	return job.Cached(w, "training "+t.Pattern, func() (*TrainingSet, error) { return t.read(ctx, w) })
}

// read reads the training rows and computes their coordinates. Bad rows are errors.
func (t Training) read(ctx context.Context, w *job.Worker) (*TrainingSet, error) {
	set, err := shard.Plan(ctx, t.Pattern, w.Reading(shard.Options{}))
	if err != nil {
		return nil, err
	}
	training := &TrainingSet{Dim: set.Dim}
	for _, e := range set.Elements {
		block, err := e.Labeled(w.Reading(shard.Options{MemoryLimit: w.Engine.MemoryLimit()}))
		if err != nil {
			return nil, err
		}
		x, err := coordinates.Of(ctx, w, block)
		if err != nil {
			return nil, err
		}
		training.labels = append(training.labels, block.Labels...)
		training.at.Data, training.at.Cols, training.at.Stride = append(training.at.Data, x.Data...), x.Cols,
			x.Cols
	}
	training.at.Rows = len(training.labels)
	if training.at, training.labels, err = neighbors.Labeled(training.at, training.labels); err != nil {
		return nil, fault.InFile(err, t.Pattern)
	}
	if t.Neighbors < 1 || t.Neighbors > training.at.Rows {
		return nil, &fault.ParamError{Param: "neighbors", Value: t.Neighbors,
			Want: fmt.Sprintf("a number from 1 to %d, the number of labeled training rows", training.at.Rows)}
	}
	return training, nil
}
