package maps

import (
	"context"
	"sync"

	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Table holds training rows and their coordinates.
type Table struct {
	Kernel  kernel.Kernel // its feature space is where neighbors are searched; its bandwidth is a number
	Support points.Points // the training rows, without their values if they are rows of a Gram matrix
	// Coordinates are n x Dim; their inner products are the learned kernel matrix. They have no data
	// if the extension computes them.
	Coordinates blas.Matrix
	Dim         int
}

// NewTable returns the table of the training rows x and their coordinates, one per row. Neighbors
// are searched in the feature space of k.
func NewTable(k kernel.Kernel, x points.Points, coordinates blas.Matrix) Table {
	return Table{k, stored.Strip(x), coordinates, coordinates.Cols}
}

// Extension computes the coordinates of points: training rows and new ones.
type Extension interface {
	// Begin prepares an embedding and returns the function that embeds a block of points. The Row of
	// its *fault.DataError counts from the start of the block.
	Begin(ctx context.Context, eng *engine.Engine) (Block, error)
	// Encode stores in f what the extension needs besides the table. It takes the table's members of
	// the header and returns the members of both.
	Encode(f *model.File, method string, about About) any
}

// Block writes the coordinates of the points x to the rows of a matrix.
type Block func(x points.Points, to blas.Matrix) error

// table is a table with an extension to new rows.
type table struct {
	basis
	coordinates blas.Matrix
	dim         int
	ext         Extension
	index       func() *points.Index // of the stored training rows
}

// Extended returns the map of a table and its extension.
func Extended(method string, t Table, e Extension) *Map {
	index := sync.OnceValue(func() *points.Index { return points.NewIndex(t.Support) })
	return &Map{&table{basis{t.Kernel, t.Support}, t.Coordinates, t.Dim, e, index}, method}
}

// Coordinates returns the coordinates of a table's training rows, n x Dim, and no data for another
// map. They are shared: do not change them.
func (m *Map) Coordinates() blas.Matrix {
	if t, is := m.form.(*table); is {
		return t.coordinates
	}
	return blas.Matrix{}
}

// Extension returns the extension of a table, and nil for another map.
func (m *Map) Extension() Extension {
	if t, is := m.form.(*table); is {
		return t.ext
	}
	return nil
}

func (t *table) Dim() int { return t.dim }

// rows is the number of points that are embedded at a time.
const rows = 16384

// training returns the coordinates of points that are training rows in their order: all of them, or
// a run of rows that equals no other run. Only then equal rows have coordinates of their own.
func (t *table) training(x points.Points) (y blas.Matrix, is bool) {
	if t.coordinates.Data == nil {
		return y, false
	}
	first, is := t.index().Run(x)
	if !is {
		return y, false
	}
	return t.coordinates.View(first, first+x.Len(), 0, t.dim), true
}

func (t *table) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if own, is := t.training(x); is {
		y.CopyFrom(own)
		return ctx.Err()
	}
	block, err := t.ext.Begin(ctx, eng)
	if err != nil {
		return err
	}
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		if err := block(points.Slice(x, lo, hi), y.View(lo, hi, 0, y.Cols)); err != nil {
			return fault.InRows(err, lo)
		}
	}
	if t.coordinates.Data == nil {
		return ctx.Err()
	}
	index := t.index()
	return eng.Each(ctx, y.Rows, 256, func(i int) { t.copyEqual(y.Row(i), index.Find(x, i)) })
}

// copyEqual writes the mean of the coordinates of training rows, and nothing if there are none.
func (t *table) copyEqual(to []float64, rows []int) {
	if len(rows) == 0 {
		return
	}
	clear(to)
	for _, r := range rows {
		for c, v := range t.coordinates.Row(r) {
			to[c] += v
		}
	}
	for c := range to {
		to[c] /= float64(len(rows))
	}
}

func (t *table) single(_ context.Context, _ *engine.Engine, method string, _ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for a model of method " + method + ", which embeds points by their nearest neighbors"}
}

const tensorCoordinates = ".places" // suffix of the tensor of the coordinates

func (t *table) encode(f *model.File, method string) any {
	if t.coordinates.Data != nil {
		stored.SetMatrix(f, method+tensorCoordinates, t.coordinates)
	}
	return t.ext.Encode(f, method, t.basis.encode(f))
}

// ReadTable reads a table; about holds its members of the header. An unusable tensor or kernel is a
// *fault.DataError.
func ReadTable(method string, f *model.File, about About) (Table, error) {
	k, support, err := ReadSupport(f, about)
	if err != nil {
		return Table{}, err
	}
	count := support.Len()
	data, err := stored.Finite(f, method+tensorCoordinates, count, -1)
	if err != nil {
		return Table{}, err
	}
	if len(data) == 0 {
		return Table{}, stored.Empty(method + tensorCoordinates)
	}
	dim := len(data) / count
	return Table{k, support, blas.MatrixOf(count, dim, data), dim}, nil
}
