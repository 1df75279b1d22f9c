package fitted

import (
	"context"
	"sync"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Table holds training rows and their coordinates.
type Table struct {
	Kernel kernel.Kernel // its feature space is where neighbors are searched; its bandwidth is a number
	// Support are the training rows, without values if they are rows of a Gram matrix. If these are
	// some of them only, all points are new ones.
	Support points.Points
	// Coordinates are n x Dim; their inner products are the learned kernel matrix. They have no
	// data if the extension computes them.
	Coordinates blas.Matrix
	Dim         int
}

// NewTable returns the table of the training rows x and their coordinates, one per row. Neighbors
// are searched in the feature space of k.
func NewTable(k kernel.Kernel, x points.Points, coordinates blas.Matrix) Table {
	return Table{k, StripPoints(x), coordinates, coordinates.Cols}
}

// Extension computes the coordinates of points: training rows and new ones.
type Extension interface {
	// Begin prepares an embedding and returns the function that embeds a block of points. The Row
	// of its *fault.DataError counts from the start of the block.
	Begin(ctx context.Context, eng *engine.Engine) (Block, error)
	// Encode stores in f what the extension needs besides the table. It takes the table's members
	// of the header and returns the members of both.
	Encode(f *model.File, method string, about MapHeader) any
}

// Block writes the coordinates of the points x to the rows of a matrix.
type Block func(x points.Points, to blas.Matrix) error

// table is a table with an extension to new rows.
type table struct {
	basis
	coordinates blas.Matrix
	dim         int
	ext         Extension
	known       func() known
}

// known finds training rows by their values.
type known struct {
	index *points.Index
	means blas.Matrix // n x dim: the row of the first of equal training rows has the mean of theirs
}

// Extended returns the map of a table and its extension.
func Extended(method string, t Table, e Extension) *Map {
	known := sync.OnceValue(func() known {
		ix := points.NewIndex(t.Support)
		return known{ix, Means(ix, t.Support, t.Coordinates)}
	})
	return &Map{&table{basis{t.Kernel, t.Support}, t.Coordinates, t.Dim, e, known}, method}
}

// Means returns the coordinates of training rows x, with an index of these, in which the first of
// equal rows has the mean of all. Cost: a copy of the coordinates if rows are equal.
func Means(ix *points.Index, x points.Points, coordinates blas.Matrix) blas.Matrix {
	means, counts := coordinates, make(map[int]int) // of repeated rows, by the first one
	for j := range x.Len() {
		first := ix.Find(x, j)
		if first == j {
			continue
		}
		if len(counts) == 0 {
			means = coordinates.Clone()
		}
		counts[first]++
		for c, v := range coordinates.Row(j) {
			means.Row(first)[c] += v
		}
	}
	for first, repeated := range counts {
		for c := range means.Cols {
			means.Row(first)[c] /= float64(repeated + 1)
		}
	}
	return means
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

// embed gives a training row its coordinates, or the mean of those of all training rows that are
// equal to it, and other points what the extension computes. So a row depends on its values alone.
func (t *table) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	block := sync.OnceValues(func() (Block, error) { return t.ext.Begin(ctx, eng) })
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		part, to := points.Slice(x, lo, hi), y.View(lo, hi, 0, y.Cols)
		fresh, err := t.recall(ctx, eng, part, to)
		if err == nil && len(fresh) > 0 {
			err = extend(eng, block, part, fresh, to)
		}
		if err != nil {
			return fault.InRows(err, lo)
		}
	}
	return ctx.Err()
}

// recall writes the coordinates of points that are training rows and returns the numbers of the
// others.
func (t *table) recall(ctx context.Context, eng *engine.Engine, x points.Points,
	y blas.Matrix) (fresh []int, err error) {
	first, stored := make([]int, x.Len()), t.coordinates.Rows == t.support.Len()
	err = eng.Each(ctx, x.Len(), 256, func(i int) {
		if first[i] = -1; stored {
			first[i] = t.known().index.Find(x, i)
		}
		if first[i] >= 0 {
			copy(y.Row(i), t.known().means.Row(first[i]))
		}
	})
	for i, r := range first {
		if r < 0 {
			fresh = append(fresh, i)
		}
	}
	return fresh, err
}

// extend writes the coordinates of some rows of x.
func extend(eng *engine.Engine, begin func() (Block, error), x points.Points, some []int,
	y blas.Matrix) error {
	block, err := begin()
	if err != nil {
		return err
	}
	if len(some) == x.Len() {
		return block(x, y)
	}
	own := eng.GetMatrix(len(some), y.Cols)
	defer eng.PutMatrix(own)
	if err := block(x.Select(some), own); err != nil {
		return fault.InSelection(err, some)
	}
	for k, i := range some {
		copy(y.Row(i), own.Row(k))
	}
	return nil
}

func (t *table) single(_ context.Context, _ *engine.Engine, method string,
	_ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{},
		&fault.ParamError{Param: "precision", Value: "single", Want: "double for a model of method " +
			method + ", which embeds points by their nearest neighbors"}
}

const tensorCoordinates = ".places" // suffix of the tensor of the coordinates

func (t *table) encode(f *model.File, method string) any {
	if t.coordinates.Data != nil {
		SetMatrix(f, method+tensorCoordinates, t.coordinates)
	}
	return t.ext.Encode(f, method, t.basis.encode(f))
}

// ReadTable reads a table; about holds its members of the header. An unusable tensor or kernel is a
// *fault.DataError.
func ReadTable(method string, f *model.File, about MapHeader) (Table, error) {
	t, err := ReadSome(method, f, about)
	if err == nil && (t.Dim == 0 || t.Coordinates.Rows != t.Support.Len()) {
		_, err = f.Float64s(method+tensorCoordinates, t.Support.Len(), -1) // says what is wrong
	}
	return t, err
}

// ReadSome is [ReadTable] for tables that may lack some of the training rows, or all coordinates.
func ReadSome(method string, f *model.File, about MapHeader) (Table, error) {
	k, support, err := ReadSupport(f, about)
	if err != nil || !f.Has(method+tensorCoordinates) {
		return Table{Kernel: k, Support: support}, err
	}
	data, err := ReadFinite(f, method+tensorCoordinates, -1, -1)
	if err != nil {
		return Table{}, err
	}
	if len(data) == 0 {
		return Table{}, EmptyTensor(method + tensorCoordinates)
	}
	shape := f.Tensors[method+tensorCoordinates].Shape
	return Table{k, support, blas.MatrixOf(shape[0], shape[1], data), shape[1]}, nil
}
