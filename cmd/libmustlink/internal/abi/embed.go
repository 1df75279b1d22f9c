package abi

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
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
	"github.com/mustlink/mustlink/export"
)

// Embed implements mustlink_embed.
func Embed(e *engine.Engine, m *mustlink.Model, p *Points, c *Control, out *Array) error {
	d, err := p.unchecked(false)
	if err != nil {
		return err
	}
	if x, ok := d.Points.(*points.Dense); ok && p.Kind == Dense { // before anything is written
		if d.Points, err = checked(x, finite(e, x), fills(m), nil); err != nil {
			return err
		}
	}
	if err := out.checkShape(d.Points.Len(), m.Dim()); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		return m.CoordinateBlocks(ctx, mustlink.FromData(d), func(first int, y blas.Matrix) error {
			return out.write(ctx, e, first, y)
		})
	})
}

// finite validates dense points on all workers. Other kinds were validated when they were read.
func finite(e *engine.Engine, x *points.Dense) error {
	return e.For(context.Background(), x.N, copied/max(1, x.D)+1, func(lo, hi int) error {
		return fault.InRows(points.Slice(x, lo, hi).Validate(), lo)
	})
}

// Remarks implements mustlink_remarks.
func Remarks(m *mustlink.Model, p *Points) (any, error) {
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return nil, err
	}
	return append([]string{}, m.Remarks(t)...), nil
}

// Export implements mustlink_export. An empty precision is double.
func Export(e *engine.Engine, m *mustlink.Model, path, precision string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if !slices.Contains(export.Formats(), format) {
		return fault.Param("path", path, "a name that ends in .onnx, .json or .sql")
	}
	o := export.ONNXOptions{Precision: export.Precision(precision),
		Limits: export.Limits{Memory: e.MemoryLimit()}}
	return dataset.Atomic(path, func(w io.Writer) error {
		_, err := export.Write(context.Background(), w, m, format, export.Options{ONNXOptions: o})
		return err
	})
}

// GramMatrix implements mustlink_gram. A nil q means p.
func GramMatrix(e *engine.Engine, m *mustlink.Model, p, q *Points, c *Control, out *Array) error {
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return err
	}
	u := t
	if q != nil {
		if u, err = q.table(false, fills(m), nil); err != nil {
			return err
		}
	}
	if err := out.checkShape(t.Rows(), u.Rows()); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		k, err := m.Gram(ctx, t, u)
		if err != nil {
			return err
		}
		raw := k.RawMatrix()
		return out.write(ctx, e, 0,
			blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data})
	})
}

// Distances implements mustlink_euclidean_distances and, squared, mustlink_distances.
func Distances(m *mustlink.Model, p *Points, pair unsafe.Pointer, count int64, c *Control, squared bool,
	out unsafe.Pointer) error {
	switch {
	case count < 0 || count > 1<<40:
		return argument("there are %d pairs: want a number >= 0", count)
	case count > 0 && (pair == nil || out == nil):
		return argument("the pairs or the output are NULL: want pointers")
	}
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return err
	}
	x, err := m.Prepared(t.Data())
	if err != nil {
		return err
	}
	pairs := make([][2]int, count)
	rows := list[int64](pair, 2*count)
	for k := range pairs {
		pairs[k] = [2]int{int(rows[2*k]), int(rows[2*k+1])}
	}
	var d []float64
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		d, err = m.SquaredDistances(ctx, x, pairs)
		return err
	})
	for k, v := range d {
		if !squared {
			d[k] = math.Sqrt(v)
		}
	}
	if err == nil {
		copy(list[float64](out, count), d)
	}
	return err
}

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
