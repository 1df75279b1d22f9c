package catalog

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// A block of rows takes at most about so many bytes, as points or as coordinates, and has at most so many rows. Of the
// memory limit it takes a small share, since a stream has several blocks in memory at a time.
const (
	blockBytes = 16 << 20
	blockShare = 32
	blockRows  = 1 << 14
)

// BlockRows returns the number of rows of the given width to work on at a time, within a memory limit in bytes, 0 for none.
// Everything that embeds many rows takes them in these blocks, so that all have the same bits in every build: with OpenBLAS
// the bits of a row depend on the size of its block.
func BlockRows(width int, limit int64) int {
	bytes := int64(blockBytes)
	if limit > 0 {
		bytes = min(bytes, limit/blockShare)
	}
	return int(min(max(1, bytes/8/int64(max(1, width))), blockRows))
}

// BlockRows returns the number of rows that the model embeds at a time, within a memory limit in bytes, 0 for none.
func (f *Fitted) BlockRows(limit int64) int {
	return BlockRows(max(f.Model.Dim(), f.InputDim()), limit)
}

// EmbedBlocks embeds the rows of d block by block and hands every block of coordinates to use, with the number of its first
// row. Rows in errors are those of d; data without rows are one block, so that their features are checked too. Errors are those
// of [Fitted.Prepare], of Model.Embed, and of use.
func (f *Fitted) EmbedBlocks(ctx context.Context, eng *engine.Engine, d *dataset.Data, use func(first int, y blas.Matrix) error) error {
	n, rows := d.Points.Len(), f.BlockRows(0)
	for lo := 0; lo == 0 || lo < n; lo += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := *d
		part.Points = points.Slice(d.Points, lo, min(lo+rows, n))
		y, err := f.Embed(ctx, eng, &part)
		if err != nil {
			return fault.InRows(err, lo)
		}
		if err := use(lo, y); err != nil {
			return err
		}
	}
	return nil
}

// Embed prepares and embeds the rows of d as one block.
func (f *Fitted) Embed(ctx context.Context, eng *engine.Engine, d *dataset.Data) (blas.Matrix, error) {
	x, err := f.Prepare(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	return f.Model.Embed(ctx, eng, x)
}
