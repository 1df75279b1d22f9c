package abi

import (
	"context"
	"math"
	"unsafe"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// NewIndex implements mustlink_index_new.
func NewIndex(e *engine.Engine, p *Points, neighbors int64, seed uint64, c *Control) (*neighborindex.Searcher, error) {
	rows, err := p.matrix(true)
	if err != nil {
		return nil, err
	}
	var s *neighborindex.Searcher
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		o := neighborindex.Options{Neighbors: int(neighbors), Seed: seed, Progress: progress}
		x, err := neighborindex.Build(ctx, e, rows, neighborindex.Source{}, o)
		if err == nil {
			s, err = x.Open(ctx, e, rows)
		}
		return err
	})
	return s, err
}

// Search implements mustlink_index_search.
func Search(s *neighborindex.Searcher, p *Points, k int64, recall float64, c *Control, neighbor, distance unsafe.Pointer, measured *float64) error {
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
		rows, distances := list[int64](neighbor, int64(len(index))), list[float64](distance, int64(len(index)))
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
	return blas.Matrix{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data}, nil
}
