package metric

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Block is a block of rows with their coordinates: those of the model, or their own.
type Block struct {
	*dataset.Data
	At    blas.Matrix
	First int // number of the first row
}

// Rows reads points a block at a time and computes their coordinates.
type Rows struct {
	*Metric
	Open  source.Opener
	Place func(ctx context.Context, part *dataset.Data) (blas.Matrix, error) // nil for the coordinates of the metric
	Stage string                                                             // names the work on the bar
	Most  int                                                                // rows of a block, at most; 0 for those that the memory limit allows
}

// begin returns a function that returns all rows in blocks, from the first row on, and then io.EOF.
// While the caller works with one block, the coordinates of the next are computed and the one after
// it is read. The caller must call stop.
func (l *Rows) begin(ctx context.Context) (next func() (Block, error), stop func(), err error) {
	src, err := l.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	most := 1 // the first row fixes the width
	if l.Fitted != nil {
		most = l.Fitted.BlockRows(int64(l.MemoryLimit))
	}
	read, stopReading := dataset.Prefetch(ctx, func(ctx context.Context) (*dataset.Data, error) {
		if l.Most > 0 {
			most = min(most, l.Most)
		}
		part, err := src.Next(ctx, most)
		if err == nil && l.Fitted == nil {
			most = catalog.BlockRows(part.Points.Dim(), int64(l.MemoryLimit))
			if l.Before != nil {
				most = min(most, l.Before.BlockRows(int64(l.MemoryLimit)))
			}
		}
		return part, err
	})
	place := l.Place
	if place == nil {
		place = l.Coordinates
	}
	bar, start, done := l.Progress(), time.Now(), 0
	next, stopPlacing := dataset.Prefetch(ctx, func(ctx context.Context) (Block, error) {
		part, err := read()
		if err != nil {
			return Block{}, err
		}
		if l.Stage != "" {
			bar.Report(algorithms.Progress{Stage: l.Stage, Done: done, Total: max(0, src.Rows), Elapsed: time.Since(start)})
		}
		at, err := place(ctx, part)
		if err != nil {
			return Block{}, fault.InRows(err, done)
		}
		block := Block{part, at, done}
		done += at.Rows
		return block, nil
	})
	return next, func() { stopReading(); stopPlacing(); src.Close(); bar.Done() }, nil
}

// All yields the coordinates of all rows, in blocks. Each range over it starts at the first row.
func (l *Rows) All(ctx context.Context) iter.Seq2[blas.Matrix, error] {
	return func(yield func(blas.Matrix, error) bool) {
		next, stop, err := l.begin(ctx)
		if err != nil {
			yield(blas.Matrix{}, err)
			return
		}
		defer stop()
		for {
			block, err := next()
			if err == io.EOF || !yield(block.At, err) || err != nil {
				return
			}
		}
	}
}

// Ahead returns a function that returns what f makes of each block, and then io.EOF. f works on one
// block while the caller works with the result of the one before. The caller must call stop.
func Ahead[T any](ctx context.Context, l *Rows, f func(context.Context, Block) (T, error)) (next func() (T, error), stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	blocks, stopBlocks, err := l.begin(ctx)
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
		return out, fault.InFile(fault.InRows(err, block.First), block.Name)
	})
	return next, func() {
		cancel() // first: nobody waits for blocks that nobody wants
		stopAhead()
		stopBlocks()
	}, nil
}

// WriteLabels calls label for each block and writes the labels that it returns. It writes one block
// while label works on the next.
func (l *Rows) WriteLabels(ctx context.Context, path string, label func(context.Context, Block) ([]string, error)) error {
	next, stop, err := Ahead(ctx, l, func(ctx context.Context, block Block) (dataset.LabelRows, error) {
		labels, err := label(ctx, block)
		return dataset.LabelRows{Labels: labels, IDs: block.IDs}, err
	})
	if err != nil {
		return err
	}
	defer stop()
	return dataset.WriteLabelRows(path, next, l.WritingText())
}

// WriteCoordinates writes the coordinates block by block and returns the number of rows. dim is the
// number of columns. rows is the number of rows, negative when it is not known.
func (l *Rows) WriteCoordinates(ctx context.Context, path string, rows, dim int, options dataset.WriteOptions) (int, error) {
	next, stop, err := l.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	written := 0
	err = dataset.WriteRows(path, rows, dim, func() (dataset.Rows, error) {
		block, err := next()
		if err != nil {
			return dataset.Rows{}, err
		}
		written += block.At.Rows
		if block.At.Stride != dim {
			block.At = block.At.Clone()
		}
		return dataset.Rows{Data: block.At.Data[:block.At.Rows*dim], IDs: block.IDs}, nil
	}, options)
	return written, err
}
