package source

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
)

// Opener opens points at their first row; it can be called several times.
type Opener func(ctx context.Context) (*mustlink.RowSource, error)

// Reopen returns an Opener for the points that d describes. It opens a file that can be streamed
// again at each call, and reads other points once.
func (d *Data) Reopen(ctx context.Context, s *session.Session) (Opener, error) {
	if d.InBlocks(s) {
		return func(ctx context.Context) (*mustlink.RowSource, error) { return d.Open(ctx, s, false) }, nil
	}
	data, err := d.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	return func(context.Context) (*mustlink.RowSource, error) { return inMemory(data), nil }, nil
}

// Open begins to read the points that d describes. With counted the number of rows is known from
// the start: a text file, which does not contain it, is first read to its end.
func (d *Data) Open(ctx context.Context, s *session.Session, counted bool) (*mustlink.RowSource, error) {
	if !d.InBlocks(s) || counted && d.FormatName() == "csv" {
		data, err := d.Read(ctx, s)
		if err != nil {
			return nil, err
		}
		return inMemory(data), nil
	}
	stream, err := session.Await(ctx, func() (*dataset.Stream, error) {
		o := d.Options(s)
		if d.Path == session.Stream {
			return dataset.DecodeStream(s.Stdin, "standard input", o.Format, o)
		}
		return dataset.OpenStream(d.Path, o)
	})
	if err != nil {
		return nil, FormatError(err, d.Path)
	}
	var odd catalog.Remarks
	name := ""
	next := func(ctx context.Context, limit int) (*dataset.Data, error) {
		part, err := session.Await(ctx, func() (*dataset.Data, error) { return stream.Next(limit) })
		switch {
		case err == io.EOF:
			s.WarnOf(name, odd.Text())
		case err == nil && d.model != nil:
			name = part.Name
			odd.Add(d.model, part)
		}
		return part, err
	}
	return &mustlink.RowSource{Rows: stream.Rows(), Next: next, Close: func() { _ = stream.Close() }}, nil // nothing was written
}

// InBlocks reports whether the data are read a block at a time.
func (d *Data) InBlocks(s *session.Session) bool {
	o := d.Options(s)
	return dataset.Streams(d.Path, o.Format, o.Extensions...) && !o.Gram && o.Labels == ""
}

// inMemory returns the blocks of data in memory.
func inMemory(data *dataset.Data) *mustlink.RowSource {
	n, at := data.Points.Len(), 0
	next := func(_ context.Context, limit int) (*dataset.Data, error) {
		if at == n {
			return nil, io.EOF
		}
		lo, hi := at, min(at+limit, n)
		at = hi
		part := *data
		part.Points = points.Slice(data.Points, lo, hi)
		if data.IDs != nil {
			part.IDs = data.IDs[lo:hi]
		}
		if data.Labels != nil {
			part.Labels = data.Labels[lo:hi]
		}
		return &part, nil
	}
	return &mustlink.RowSource{Rows: n, Next: next, Close: func() {}}
}

// CanReadTwice reports whether the file at path can be read more than once.
func CanReadTwice(path string) bool {
	if path == session.Stream {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() // opening it reports what is wrong
}

// LinesOfBlock returns the number of lines of labels or pairs to read at a time; a line takes as
// much memory as a row of 12 numbers.
func LinesOfBlock(s *session.Session) int { return catalog.BlockRows(12, int64(s.MemoryLimit)) }

// EntryBytes is the approximate size of an entry of a table of labels or names.
const EntryBytes = 150

// CheckCounts refuses a table of labels that is too large.
func CheckCounts(eng *engine.Engine, t *score.Table) error {
	what := fmt.Sprintf("counts of %d labels and pairs of labels", t.Entries())
	return eng.Check(what, int64(t.Entries())*EntryBytes, "want fewer labels")
}
