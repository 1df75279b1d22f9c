package apply

import (
	"context"
	"io"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
)

// sampleRows is the number of rows that the preparation of streamed rows is fitted to: their
// medians are within 1.1 % of the ranks of all rows, see prepare.Sample.
const sampleRows = 1 << 16

// prepareStreamed finds how m prepares streamed rows without a model: it reads them once, and fits
// the preparation to a sample of them.
func prepareStreamed(ctx context.Context, m *metric.Metric, data *source.Data, preparing *source.Preparing,
	seed uint64) error {
	if m.Learned() || preparing.AsRead() {
		return nil
	}
	open, err := data.Reopen(ctx, m.Session)
	if err != nil {
		return err
	}
	sample, err := sampled(ctx, m.Session, open, seed)
	if err != nil {
		return err
	}
	d, rows := sample.Data()
	table, err := preparing.Apply(ctx, m.Session, d)
	if err != nil {
		return fault.InSelection(err, rows)
	}
	m.Preparing(d.Features, table.Transform())
	if len(rows) < sample.Rows() {
		m.Warnf("%s: the preparation is fitted to a sample of %d of the %d rows", data.Path, len(rows),
			sample.Rows())
	}
	return nil
}

// sampleSize returns the number of rows of a sample that takes no more than an eighth of the memory
// limit.
func sampleSize(limit int64, columns int) int {
	const copies, word = 6, 8 // the sample keeps up to two rows for one, and the fit works on copies
	if limit == 0 {
		return sampleRows
	}
	return int(min(max(1, limit/8/(copies*word*int64(max(1, columns)))), sampleRows))
}

// sampled reads all rows and keeps a sample of them.
func sampled(ctx context.Context, s *session.Session, open source.Opener, seed uint64) (*prepare.Sample,
	error) {
	src, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	bar, begin := s.Progress(), time.Now()
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
			most = catalog.BlockRows(part.Points.Dim(), int64(s.MemoryLimit))
			sample = prepare.NewSample(sampleSize(int64(s.MemoryLimit), part.Points.Dim()), seed)
		}
		if err := sample.Add(part); err != nil {
			return nil, err
		}
		bar.Report(algorithms.Progress{Stage: "reading columns", Done: sample.Rows(), Total: max(0, src.Rows), Elapsed: time.Since(begin)})
	}
}
