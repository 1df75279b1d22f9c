package kmeans

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

func init() {
	register.DoFn2x2[context.Context, shard.Element, job.Tally, error](&assignFn{})
}

// AssignColumns are the columns that [Assign] writes: the number of the nearest center, and its
// squared distance.
var AssignColumns = []string{"cluster", "squared_distance"}

// Assign assigns the rows of all elements to the nearest of the centers in a file, and writes a
// file for each element.
func Assign(s beam.Scope, c job.Config, elements []shard.Element, centers string, out shard.Output) {
	c.Over(s.Scope("assign"), &assignFn{Config: c, Centers: centers, Output: out}, elements)
}

// assignFn assigns the rows of an element.
type assignFn struct {
	Config  job.Config
	Centers string
	Output  shard.Output

	assigner *cluster.Assigner // of this bundle
}

func (f *assignFn) ProcessElement(ctx context.Context, e shard.Element) (job.Tally, error) {
	return f.Config.Each(ctx, e, func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
		if f.assigner == nil {
			centers, err := coordinates.Read(f.Centers)
			if err != nil {
				return 0, err
			}
			if f.assigner, err = cluster.NewAssigner(centers); err != nil {
				return 0, err
			}
		}
		return f.assign(ctx, w, r, f.Output.Name(e.Index, e.Count))
	})
}

// assign writes the clusters of an element, two numbers a row. They are kept in memory until all
// rows are assigned.
func (f *assignFn) assign(ctx context.Context, w *job.Worker, r *shard.Reader, path string) (int64, error) {
	var out []float64
	var ids []string
	rows, err := coordinates.Each(ctx, w, r, func(block shard.Block, x blas.Matrix) error {
		labels, squared := make([]int, x.Rows), make([]float64, x.Rows)
		if err := f.assigner.Assign(ctx, w.Engine, x, labels, squared); err != nil {
			return err
		}
		for i, c := range labels {
			out = append(out, float64(c), squared[i])
		}
		ids = append(ids, block.IDs...)
		return nil
	})
	if err != nil {
		return rows, err
	}
	return rows, shard.WriteMatrix(path, len(AssignColumns), out, AssignColumns, ids)
}
