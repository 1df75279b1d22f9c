package apply

import (
	"context"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/points"
)

// shareSample draws rows in which the share of the learned distance that an embedding holds is
// measured. It draws from all rows of a table, whatever the size of its blocks, and from the first
// block of other points.
type shareSample struct {
	rng  *rand.Rand
	seen int
	rows points.Points // nil for none
}

// newShareSample returns a sample for the model of m, and nil for a model whose embedding is exact.
func newShareSample(m *metric.Metric) *shareSample {
	if p, is := m.Record().Model.(algorithms.Projection); !is || !p.Projected() {
		return nil
	}
	return &shareSample{rng: rand.New(rand.NewPCG(0, 0x656d626564))}
}

// add draws from a block of prepared rows.
func (s *shareSample) add(x points.Points) {
	dense, is := x.(*points.Dense)
	switch {
	case s == nil:
	case is:
		s.addTable(dense)
	case s.rows == nil:
		s.rows = x
	}
}

// addTable keeps each of the rows so far with the same probability.
func (s *shareSample) addTable(x *points.Dense) {
	if s.rows == nil {
		s.rows = &points.Dense{D: x.D}
	}
	kept := s.rows.(*points.Dense)
	for i := range x.N {
		s.seen++
		if kept.N < catalog.ShareRows {
			kept.N, kept.Data = kept.N+1, append(kept.Data, x.Row(i)...)
		} else if at := s.rng.IntN(s.seen); at < kept.N {
			copy(kept.Row(at), x.Row(i))
		}
	}
}

// share returns the share in the rows of the sample, nil if it is unknown or the embedding is
// exact.
func (s *shareSample) share(ctx context.Context, m *metric.Metric) (*float64, error) {
	if s == nil || s.rows == nil {
		return nil, nil
	}
	share, err := m.Record().Share(ctx, m.Eng, s.rows)
	if err != nil || share == 0 || share > 1-1e-9 {
		return nil, err
	}
	return &share, nil
}
