package kmeans

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

func init() {
	register.DoFn1x1[State, error](&writeFn{})
}

// Summary is the summary of a job, which is written in addition to the centers.
type Summary struct {
	Rows       int64   `json:"rows"`
	Clusters   int     `json:"clusters"`
	Sizes      []int64 `json:"sizes"`
	Inertia    float64 `json:"inertia"`
	Iterations int64   `json:"iterations"`
	Converged  bool    `json:"converged"`
}

// Write writes the centers to a file, and a [Summary] next to it.
func Write(s beam.Scope, path string, state beam.PCollection) {
	beam.ParDo0(s.Scope("write"), &writeFn{Path: path}, state)
}

type writeFn struct{ Path string }

func (f *writeFn) ProcessElement(s State) error { return job.Wrap(f.write(s)) }

func (f *writeFn) write(s State) error {
	if s.Failed {
		return nil
	}
	m := s.Matrix()
	if err := shard.WriteMatrix(f.Path, m.Cols, m.Data, nil, nil); err != nil {
		return err
	}
	return results.Save(f.Path,
		Summary{Rows: s.Rows, Clusters: m.Rows, Sizes: s.Sizes, Inertia: s.Inertia, Iterations: s.Iterations,
			Converged: s.Converged})
}
