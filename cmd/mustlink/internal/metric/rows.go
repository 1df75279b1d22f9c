package metric

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/session"
)

// Rows returns the coordinates of rows in blocks. stage names the work on the bar, which ends with
// the reading; "" shows none.
func (m *Metric) Rows(open source.Opener, stage string) *mustlink.Rows {
	var bar *session.Progress
	opened := func(ctx context.Context) (*mustlink.RowSource, error) {
		src, err := open(ctx)
		if err != nil {
			return nil, err
		}
		bar = m.Progress()
		end := func() { src.Close(); bar.Done() }
		return &mustlink.RowSource{Rows: src.Rows, Next: src.Next, Close: end}, nil
	}
	return &mustlink.Rows{
		Model: m.Model, Open: opened, Place: m.Coordinates, Stage: stage,
		Progress: func(p mustlink.Progress) { bar.Report(p) },
	}
}

// Once returns the opener of rows that are read once.
func Once(src *mustlink.RowSource) source.Opener {
	return func(context.Context) (*mustlink.RowSource, error) { return src, nil }
}

// WriteLabels calls label for each block and writes the labels that it returns. It writes one block
// while label works on the next.
func WriteLabels(ctx context.Context, path string, rows *mustlink.Rows, options dataset.WriteOptions,
	label func(context.Context, mustlink.Block) ([]string, error)) error {
	next, stop, err := mustlink.EachBlock(ctx, rows,
		func(ctx context.Context, block mustlink.Block) (dataset.LabelRows, error) {
			labels, err := label(ctx, block)
			return dataset.LabelRows{Labels: labels, IDs: block.Data.IDs}, err
		})
	if err != nil {
		return err
	}
	defer stop()
	return dataset.WriteLabelRows(path, next, options)
}

// WriteCoordinates writes the coordinates block by block and returns the number of rows. dim is the
// number of columns. count is the number of rows, negative when it is not known.
func WriteCoordinates(ctx context.Context, path string, rows *mustlink.Rows, count, dim int,
	options dataset.WriteOptions) (int, error) {
	next, stop, err := rows.Blocks(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	written := 0
	err = dataset.WriteRows(path, count, dim, func() (dataset.Rows, error) {
		block, err := next()
		if err != nil {
			return dataset.Rows{}, err
		}
		x := block.Coordinates
		written += x.Rows
		if x.Stride != dim {
			x = x.Clone()
		}
		return dataset.Rows{Data: x.Data[:x.Rows*dim], IDs: block.Data.IDs}, nil
	}, options)
	return written, err
}
