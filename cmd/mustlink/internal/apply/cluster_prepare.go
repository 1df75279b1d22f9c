package apply

import (
	"context"
	"io"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/prepare"
)

// sampleRows is the number of rows that the preparation of streamed rows is fitted to: their
// medians are within 1.1 % of the ranks of all rows, see prepare.Sample.
const sampleRows = 1 << 16

// prepareStreamed finds how to prepare streamed rows without a model: it reads them once, and fits
// the preparation to a sample of them.
func (c *clusterCommand) prepareStreamed(ctx context.Context) error {
	if c.m.Fitted != nil || c.preparing.AsRead() {
		return nil
	}
	open, err := c.data.Reopen(ctx, c.Session)
	if err != nil {
		return err
	}
	sample, err := c.sample(ctx, open)
	if err != nil {
		return err
	}
	d, rows := sample.Data()
	table, err := c.preparing.Apply(c.Session, d)
	if err != nil {
		return fault.InSelection(err, rows)
	}
	c.m.Before = &catalog.Fitted{Features: d.Features, Scaling: table.Transform()}
	if len(rows) < sample.Rows() {
		c.Warnf("%s: the preparation is fitted to a sample of %d of the %d rows", c.data.Path, len(rows), sample.Rows())
	}
	return nil
}

// sampleSize returns the number of rows of a sample that takes no more than an eighth of the memory
// limit.
func (c *clusterCommand) sampleSize(columns int) int {
	const copies, word = 6, 8 // the sample keeps up to two rows for one, and the fit works on copies
	if c.MemoryLimit == 0 {
		return sampleRows
	}
	return int(min(max(1, int64(c.MemoryLimit)/8/(copies*word*int64(max(1, columns)))), sampleRows))
}

// sample reads all rows and keeps a sample of them.
func (c *clusterCommand) sample(ctx context.Context, open source.Opener) (*prepare.Sample, error) {
	src, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	bar, begin := c.Progress(), time.Now()
	defer bar.Done()
	var sample *prepare.Sample
	for most := 1; ; {
		part, err := src.Next(ctx, most)
		if err == io.EOF {
			return sample, nil
		}
		if err != nil {
			return nil, err
		}
		if sample == nil { // the first row has the width
			most = catalog.BlockRows(part.Points.Dim(), int64(c.MemoryLimit))
			sample = prepare.NewSample(c.sampleSize(part.Points.Dim()), c.seed)
		}
		if err := sample.Add(part); err != nil {
			return nil, err
		}
		bar.Report(algorithms.Progress{Stage: "reading columns", Done: sample.Rows(), Total: max(0, src.Rows), Elapsed: time.Since(begin)})
	}
}
