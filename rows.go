package mustlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// RowSource gives rows a block at a time. It is for programs that work with internal packages.
type RowSource struct {
	// Rows is their number, -1 when it is not known before the end.
	Rows int
	// Next returns at most limit rows, and io.EOF behind the last one.
	Next func(ctx context.Context, limit int) (*dataset.Data, error)
	// Close ends the reading.
	Close func()
}

// Block is a block of rows with their coordinates.
type Block struct {
	Data        *dataset.Data // as they were read
	Coordinates blas.Matrix   // a row for each
	First       int           // number of the first row
}

// Rows computes the coordinates of rows that are read a block at a time, so that their number is
// bounded by the disk and not by memory. The size of the blocks depends on the width of the rows
// and on the memory limit of the model, and the coordinates are bit-identical to those
// of [Model.Embed]. It is for programs that work with internal packages.
type Rows struct {
	Model *Model
	// Open begins to read the rows, from the first one on. It is called each time that they are
	// read.
	Open func(ctx context.Context) (*RowSource, error)
	// Place returns the coordinates of a block, nil for [Model.Coordinates].
	Place    func(ctx context.Context, part *dataset.Data) (blas.Matrix, error)
	Most     int            // rows of a block, at most; 0 for those that the memory limit allows
	Progress func(Progress) // nil for none
	Stage    string         // of the progress, "" for no reports
}

// Blocks returns a function that returns all rows in blocks, from the first row on, and then
// io.EOF. While the caller works with one block, the coordinates of the next are computed and the
// one after it is read. The caller must call stop. Rows in errors count the rows of all blocks.
func (r *Rows) Blocks(ctx context.Context) (next func() (Block, error), stop func(), err error) {
	src, err := r.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	read, stopReading := dataset.Prefetch(ctx, r.reader(src))
	place := r.Place
	if place == nil {
		place = r.Model.Coordinates
	}
	start, done := time.Now(), 0
	next, stopPlacing := dataset.Prefetch(ctx, func(ctx context.Context) (Block, error) {
		part, err := read()
		if err != nil {
			return Block{}, err
		}
		if r.Stage != "" && r.Progress != nil {
			r.Progress(Progress{Stage: r.Stage, Done: done, Total: max(0, src.Rows),
				Elapsed: time.Since(start)})
		}
		x, err := place(ctx, part)
		if err != nil {
			return Block{}, fault.InRows(err, done)
		}
		block := Block{part, x, done}
		done += x.Rows
		return block, nil
	})
	return next, func() { stopReading(); stopPlacing(); src.Close() }, nil
}

// reader returns a function that reads the next block of a source. Without a learned model the
// first block is one row, which has the width.
func (r *Rows) reader(src *RowSource) func(ctx context.Context) (*dataset.Data, error) {
	limit := r.Model.eng.MemoryLimit()
	most := 1
	if r.Model.Learned() {
		most = r.Model.fitted.BlockRows(limit)
	}
	return func(ctx context.Context) (*dataset.Data, error) {
		if r.Most > 0 {
			most = min(most, r.Most)
		}
		part, err := src.Next(ctx, most)
		if err == nil && !r.Model.Learned() {
			most = min(catalog.BlockRows(part.Points.Dim(), limit), r.Model.fitted.BlockRows(limit))
		}
		return part, err
	}
}

// All yields the coordinates of all rows, in blocks. Each range over it starts at the first row.
func (r *Rows) All(ctx context.Context) iter.Seq2[blas.Matrix, error] {
	return func(yield func(blas.Matrix, error) bool) {
		next, stop, err := r.Blocks(ctx)
		if err != nil {
			yield(blas.Matrix{}, err)
			return
		}
		defer stop()
		for {
			block, err := next()
			if err == io.EOF || !yield(block.Coordinates, err) || err != nil {
				return
			}
		}
	}
}

// EachBlock returns a function that returns what f makes of each block of rows, and then io.EOF.
// f works on one block while the caller works with the result of the one before. The caller must
// call stop. Errors of f are about the rows and the file of the block. It is for programs that
// work with internal packages.
func EachBlock[T any](ctx context.Context, r *Rows,
	f func(context.Context, Block) (T, error)) (next func() (T, error), stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	blocks, stopBlocks, err := r.Blocks(ctx)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	next, stopAhead := dataset.Prefetch(ctx, func(ctx context.Context) (T, error) {
		block, err := blocks()
		if err != nil {
			var none T
			return none, err
		}
		out, err := f(ctx, block)
		return out, fault.InFile(fault.InRows(err, block.First), block.Data.Name)
	})
	return next, func() {
		cancel() // first: nobody waits for blocks that nobody wants
		stopAhead()
		stopBlocks()
	}, nil
}

// Coordinates prepares the rows of d and returns their coordinates, a row of [Model.Dim] columns
// for each. Many rows are prepared in blocks, so that memory has no prepared copy of all; features
// as they are need no copy. Errors are those of [Model.Embed], with the name of d. It is for
// programs that work with internal packages.
func (m *Model) Coordinates(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	if m.Learned() {
		return m.embed(ctx, "table", FromData(d))
	}
	x, err := m.Prepared(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	y, err := m.fitted.Model.Embed(ctx, m.eng, x)
	return y, fault.InFile(err, d.Name)
}

// Prepared returns the rows of d as the metric takes them: prepared as the training rows were. It
// is for programs that work with internal packages.
func (m *Model) Prepared(d *dataset.Data) (points.Points, error) {
	if !m.Learned() && m.fitted.Features == nil && m.fitted.Scaling == nil {
		return d.Points, nil
	}
	return m.fitted.Prepare(d)
}

// CoordinateBlocks embeds the rows of a table block by block and calls use for each block of
// coordinates, with the number of its first row: [Model.Embed] for a program that has no room for
// all coordinates, or another place for them. A table without rows is one block. It stops at the
// first error of use, which it returns. It is for programs that work with internal packages.
func (m *Model) CoordinateBlocks(ctx context.Context, t *Table,
	use func(first int, y blas.Matrix) error) error {
	if err := m.ready(ctx, "table", t); err != nil {
		return err
	}
	return m.fitted.EmbedBlocks(ctx, m.eng, t.raw, use)
}

// SquaredDistances returns the squared learned distance between the two rows of each pair of rows
// that [Model.Prepared] returned; see [Model.Distances]. It is for programs that work with
// internal packages.
func (m *Model) SquaredDistances(ctx context.Context, x points.Points, pairs [][2]int) ([]float64, error) {
	return m.fitted.Model.Distances(ctx, m.eng, x, pairs)
}

// Unlearned returns the metric of rows as they are, in which nothing was learned: their
// coordinates are their features, and their distance is Euclidean. It prepares rows by a
// transform, nil for none. The rows have columns with these names, nil if they have none, of which
// a preparation by columns takes its own.
// Unlike a model of the method raw it takes rows of any width, and Dim is 0; it cannot be saved.
// Sequences and Gram matrices have no coordinates, which is a *fault.DataError. It is for
// programs that work with internal packages.
func Unlearned(eng *engine.Engine, features []string, by dataset.Transform) *Model {
	f := &catalog.Fitted{Model: unlearned{}, Features: features, Scaling: by}
	if some := prepare.ByColumn(by); some != nil {
		f.Features, f.LeftOut = some.Columns(), leftOut(some, features)
	}
	return NewModel(f, eng)
}

// Learned reports whether the metric is that of a model, and not one of [Unlearned].
func (m *Model) Learned() bool {
	if m.empty() {
		return false
	}
	_, without := m.fitted.Model.(unlearned)
	return !without
}

// unlearned is the metric of prepared rows as they are.
type unlearned struct{}

// Method returns the name of the method that learns nothing either.
func (unlearned) Method() string { return baseline.RawMethod }

// Status reports that there was nothing to do.
func (unlearned) Status() algorithms.Status { return algorithms.Status{Converged: true} }

// Dim returns 0, as the number of coordinates is that of the features of a row.
func (unlearned) Dim() int { return 0 }

// Embed returns the features of points. It shares the memory of dense ones.
func (unlearned) Embed(_ context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	switch x := x.(type) {
	case *points.Dense:
		return blas.MatrixOf(x.N, x.D, x.Data), nil
	case *points.CSR:
		return spread(eng, x)
	case *points.Sequences:
		return blas.Matrix{}, fault.Data("", "sequences have no coordinates: want a model")
	}
	return blas.Matrix{}, fault.Data("", "a Gram matrix has no coordinates: want a model")
}

// spread returns sparse points as a matrix.
func spread(eng *engine.Engine, x *points.CSR) (blas.Matrix, error) {
	what := fmt.Sprintf("%d x %d sparse points as a dense matrix", x.N, x.D)
	const hint = "fit a model and pass it, or raise the memory limit"
	need := engine.MatrixBytes(x.N, x.D)
	if err := eng.Check(what, need, hint); err != nil {
		return blas.Matrix{}, err
	}
	if eng.MemoryLimit() == 0 && need > dataset.DefaultBudget { // one number in a file makes it so wide
		return blas.Matrix{}, &fault.MemoryError{What: what, Need: need, Limit: dataset.DefaultBudget,
			Hint: hint}
	}
	m := eng.NewMatrix(x.N, x.D)
	for i := range x.N {
		columns, values := x.Row(i)
		for k, c := range columns {
			m.Row(i)[c] = values[k]
		}
	}
	return m, nil
}

// Gram returns the inner products of the rows.
func (unlearned) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if y == nil {
		return kernel.Linear().Gram(ctx, eng, x)
	}
	return kernel.Linear().Cross(ctx, eng, x, y)
}

// Distances returns the squared Euclidean distances.
func (unlearned) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return kernel.Linear().Squared().Pairs(ctx, eng, x, pairs)
}

// Encode refuses: there is no model.
func (unlearned) Encode(*model.File) error {
	return errors.New("the metric of rows without learning has no file: want a model of the method " +
		baseline.RawMethod)
}
