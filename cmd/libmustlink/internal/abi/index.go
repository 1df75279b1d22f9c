package abi

import (
	"context"
	"math"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// NewIndex implements mustlink_index_new.
func NewIndex(e *engine.Engine, p *Points, neighbors int64, seed uint64,
	c *Control) (*neighborindex.Searcher, error) {
	rows, err := p.matrix(true)
	if err != nil {
		return nil, err
	}
	var s *neighborindex.Searcher
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		o := neighborindex.Options{Neighbors: int(neighbors), Seed: seed, Progress: progress}
		x, err := neighborindex.Build(ctx, e, rows, neighborindex.Source{Data: fingerprint(rows)}, o)
		if err == nil {
			s, err = x.Open(ctx, e, rows)
		}
		return err
	})
	return s, err
}

// fingerprint returns that of coordinates, which are contiguous.
func fingerprint(rows blas.Matrix) string {
	return dataset.Fingerprint(kernel.Rows(rows))
}

// LoadIndex implements mustlink_index_load; m is nil for no model.
func LoadIndex(e *engine.Engine, path string, m *mustlink.Model, p *Points,
	c *Control) (*neighborindex.Searcher, error) {
	rows, err := p.matrix(true)
	if err != nil {
		return nil, err
	}
	x, err := neighborindex.ReadFile(path, e.MemoryLimit())
	if err != nil {
		return nil, err
	}
	var s *neighborindex.Searcher
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		err := belongs(ctx, e, x, m, rows)
		if err == nil {
			s, err = x.Open(ctx, e, rows)
		}
		return fault.InFile(err, path)
	})
	return s, err
}

// belongs returns an error unless the index is of the model, if there is one, and of the rows. A
// file of the command has the digest of the rows that the model took, not of their coordinates, so
// the cells of these are compared.
func belongs(ctx context.Context, e *engine.Engine, x *neighborindex.Index, m *mustlink.Model,
	rows blas.Matrix) error {
	of := x.Source()
	if m != nil && of.Model != "" {
		digest, err := m.Record().Digest()
		if err != nil {
			return err
		}
		if digest != of.Model {
			return fault.Data("", "it is the index of another model: want that which gave the coordinates")
		}
	}
	switch {
	case of.Data == fingerprint(rows):
		return nil
	case of.Model == "":
		return fault.Data("",
			"it is the index of other rows: want those that it was made from, as the same model gives them")
	}
	return x.Verify(ctx, e, rows)
}

// Search implements mustlink_index_search.
func Search(s *neighborindex.Searcher, p *Points, k int64, recall float64, c *Control, neighbor,
	distance unsafe.Pointer, measured *float64) error {
	rows, err := p.matrix(false)
	if err != nil {
		return err
	}
	if rows.Rows > 0 && (neighbor == nil || distance == nil) {
		return argument("the neighbors or the distances are NULL: want pointers")
	}
	probes, err := s.Probes(recall)
	if err != nil {
		return err
	}
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		index, squared, err := s.Search(ctx, rows, int(k), probes)
		if err != nil {
			return err
		}
		rows, distances := list[int64](neighbor, int64(len(index))),
			list[float64](distance, int64(len(index)))
		for at, i := range index {
			rows[at], distances[at] = int64(i), math.Sqrt(squared[at])
		}
		return nil
	})
	if err == nil && measured != nil {
		*measured = s.Recall(probes).Value
	}
	return err
}

// matrix returns dense points. With keep they share no memory with the caller.
func (p *Points) matrix(keep bool) (blas.Matrix, error) {
	if p != nil && p.Kind != Dense {
		return blas.Matrix{}, argument("kind of the points is %d: want %d (dense)", p.Kind, Dense)
	}
	d, err := p.unchecked(keep)
	if err != nil {
		return blas.Matrix{}, err
	}
	x := d.Points.(*points.Dense)
	return kernel.Matrix(x), nil
}
