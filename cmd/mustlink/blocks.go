package main

import (
	"context"
	"io"
	"iter"
	"os"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

// located is a block of rows with their coordinates: those of the model, or their own.
type located struct {
	*dataset.Data
	at    blas.Matrix
	first int // number of the first row
}

// locator reads points a block at a time and finds their coordinates.
type locator struct {
	a      *app
	eng    *engine.Engine
	fitted *catalog.Fitted   // nil for the coordinates of the points themselves
	scale  dataset.Transform // what is done to points before, or nil
	open   func(ctx context.Context) (*pointSource, error)
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
		most = l.a.rowsOfBlock(l.fitted)
	}
	read, stopReading := dataset.Ahead(ctx, func(ctx context.Context) (*dataset.Data, error) {
		part, err := src.next(ctx, most)
		if err == nil && l.fitted == nil {
			most = l.a.rowsOfWidth(part.Points.Dim())
		}
		return part, err
	})
	done := 0
	next, stopPlacing := dataset.Ahead(ctx, func(ctx context.Context) (located, error) {
		part, err := read()
		if err != nil {
			return located{}, err
		}
		at, err := l.place(ctx, part)
		if err != nil {
			return located{}, inRows(err, done)
		}
		block := located{part, at, done}
		done += at.Rows
		return block, nil
	})
	return next, func() { stopReading(); stopPlacing(); src.close() }, nil
}

func (l *locator) place(ctx context.Context, part *dataset.Data) (blas.Matrix, error) {
	if l.scale != nil {
		var err error
		if part.Points, err = l.scale.Apply(part.Points); err != nil {
			return blas.Matrix{}, err
		}
	}
	return coordinates(ctx, l.eng, l.fitted, part)
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
	if path == stream {
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
		return dataset.LabelRows{Labels: labels, IDs: block.IDs}, err
	})
	defer stopAhead()
	defer cancel() // first: nobody waits for blocks that nobody wants
	return dataset.WriteLabelRows(path, ahead, l.a.writingText())
}
