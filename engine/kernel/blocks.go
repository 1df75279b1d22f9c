package kernel

import (
	"context"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// GramBlocks evaluates the kernel matrix of x without storing it: it calls f with blocks that
// cover the lower triangle. Row blocks are a fixed partition of the rows; those of one row
// block come one after the other, in the order of their columns, others concurrently on up to
// the engine's workers. The last ones hold the row block's diagonal block, which is whole:
// elements (i, j) with j beyond the row block never appear. Values, errors and cost are those
// of [Kernel.GramTo], scratch memory a packed copy of the points and a few blocks.
//
// f may change the block and must not keep it. When f returns an error, no further blocks
// start, and GramBlocks returns it.
func (k Kernel) GramBlocks(ctx context.Context, eng *engine.Engine, x points.Points, f func(b Block) error) error {
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.lower(ctx, x.Len(), tiling{}, sink{tile: f})
}

// CrossBlocks is GramBlocks for the whole kernel matrix between x and y.
// Errors are those of [Kernel.Cross], and that of f.
func (k Kernel) CrossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, f func(b Block) error) error {
	return k.crossBlocks(ctx, eng, x, y, tiling{}, f)
}

// CrossRows is CrossBlocks with blocks of rows whole rows, the last one of fewer; 0 takes
// about 2 MiB of them. |x| x |y| values exist nowhere: scratch memory is two blocks for each
// worker.
// Errors are those of CrossBlocks, and two blocks above the memory limit.
func (k Kernel) CrossRows(ctx context.Context, eng *engine.Engine, x, y points.Points, rows int, f func(b Block) error) error {
	if rows == 0 {
		rows = max(16, min(denseTiling.rows, (2<<20)/8/max(1, y.Len())/16*16))
	}
	if err := checkMemory(eng, 2*rows, y.Len()); err != nil {
		return err
	}
	return k.crossBlocks(ctx, eng, x, y, tiling{rows, max(1, y.Len())}, f)
}

func (k Kernel) crossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, t tiling, f func(b Block) error) error {
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.rectangular(ctx, x.Len(), y.Len(), t, sink{tile: f})
}

// Squared returns the kernel whose values are the squared distances in this one's feature
// space, K_ii + K_jj - 2 K_ij, never negative, with a diagonal of zeros. It is not positive
// semidefinite and has no text.
func (k Kernel) Squared() Kernel {
	stages := append(make([]stage, 0, len(k.stages)+1), k.stages...)
	return Kernel{spec: k.spec, stages: append(stages, stage{kind: distance})}
}
