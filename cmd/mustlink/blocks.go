package main

import (
	"context"
	"io"
	"iter"
	"os"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// located is a block of rows with their coordinates: those of the model, or their own.
type located struct {
	*dataset.Data
	at    blas.Matrix
	first int // number of the first row
}

// locator reads points a block at a time and finds their coordinates.
type locator struct {
	*metric
	open  func(ctx context.Context) (*pointSource, error)
	place func(ctx context.Context, part *dataset.Data) (blas.Matrix, error) // nil for the coordinates of the metric
	stage string                                                             // names the work on the bar
}

// begin returns a function that gives every row in blocks, from the first one on, and then io.EOF. One block is read, and the
// coordinates of one are computed, while the caller works with a third. The caller must call stop.
func (l *locator) begin(ctx context.Context) (next func() (located, error), stop func(), err error) {
	src, err := l.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	most := 1 // until the first row tells how wide rows are
	if l.fitted != nil {
		most = l.fitted.BlockRows(int64(l.MemoryLimit))
	}
	read, stopReading := dataset.Ahead(ctx, func(ctx context.Context) (*dataset.Data, error) {
		part, err := src.next(ctx, most)
		if err == nil && l.fitted == nil {
			most = catalog.BlockRows(part.Points.Dim(), int64(l.MemoryLimit))
		}
		return part, err
	})
	place := l.place
	if place == nil {
		place = l.coordinates
	}
	bar, start, done := l.Progress(), time.Now(), 0
	next, stopPlacing := dataset.Ahead(ctx, func(ctx context.Context) (located, error) {
		part, err := read()
		if err != nil {
			return located{}, err
		}
		if l.stage != "" {
			bar.Report(algorithms.Progress{Stage: l.stage, Done: done, Total: max(0, src.rows), Elapsed: time.Since(start)})
		}
		at, err := place(ctx, part)
		if err != nil {
			return located{}, fault.InRows(err, done)
		}
		block := located{part, at, done}
		done += at.Rows
		return block, nil
	})
	return next, func() { stopReading(); stopPlacing(); src.close(); bar.Done() }, nil
}

// places gives the coordinates of every row, in blocks, from the first one on each time it is ranged over.
func (l *locator) places(ctx context.Context) iter.Seq2[blas.Matrix, error] {
	return func(yield func(blas.Matrix, error) bool) {
		next, stop, err := l.begin(ctx)
		if err != nil {
			yield(blas.Matrix{}, err)
			return
		}
		defer stop()
		for {
			block, err := next()
			if err == io.EOF || !yield(block.at, err) || err != nil {
				return
			}
		}
	}
}

// reopening returns a function that opens the points that d describes at their first row, as often as it is called: a file
// that is read on the way is opened again, and what has to be held is read once.
func (a *app) reopening(ctx context.Context, d *dataFlags) (func(context.Context) (*pointSource, error), error) {
	if inBlocks(d.path, d.options(a)) {
		return func(ctx context.Context) (*pointSource, error) { return a.openPoints(ctx, d, false) }, nil
	}
	data, err := a.readData(ctx, d)
	if err != nil {
		return nil, err
	}
	return func(context.Context) (*pointSource, error) { return inMemory(data), nil }, nil
}

// readTwice says whether the points at path can be read more than once.
func readTwice(path string) bool {
	if path == session.Stream {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() // what is wrong with it shows when it is opened
}

// writeLabels writes what label makes of each block, block by block: one is written while it makes the next.
func (l *locator) writeLabels(ctx context.Context, path string, label func(context.Context, located) ([]string, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, stop, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ahead, stopAhead := dataset.Ahead(ctx, func(ctx context.Context) (dataset.LabelRows, error) {
		block, err := next()
		if err != nil {
			return dataset.LabelRows{}, err
		}
		labels, err := label(ctx, block)
		return dataset.LabelRows{Labels: labels, IDs: block.IDs}, fault.InFile(fault.InRows(err, block.first), block.Name)
	})
	defer stopAhead()
	defer cancel() // first: nobody waits for blocks that nobody wants
	return dataset.WriteLabelRows(path, ahead, l.WritingText())
}

// writeCoordinates writes the coordinates block by block, and returns the number of rows. dim is
// the number of their columns, rows that of rows, below 0 when it is not known.
func (l *locator) writeCoordinates(ctx context.Context, path string, rows, dim int, options dataset.WriteOptions) (int, error) {
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
		written += block.at.Rows
		if block.at.Stride != dim {
			block.at = block.at.Clone()
		}
		return dataset.Rows{Data: block.at.Data[:block.at.Rows*dim], IDs: block.IDs}, nil
	}, options)
	return written, err
}
