package kernel

import (
	"context"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// GramBlocks evaluates the kernel matrix of x without storing it: it calls f with blocks that cover
// the lower triangle. The row blocks are a fixed partition of the rows. The blocks of one row block
// come one after another in the order of their columns; different row blocks run concurrently on
// the engine's workers. The last ones contain the whole diagonal block of the row block: elements
// (i, j) with j beyond the row block never occur. Values, errors and cost are those of
// [Kernel.GramTo]; scratch memory is a packed copy of the points and a few blocks.
//
// f may change the block but must not keep it. After an error of f no further blocks start, and
// GramBlocks returns the error.
func (k Kernel) GramBlocks(ctx context.Context, eng *engine.Engine, x points.Points, f func(b Block) error) error {
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.lower(ctx, x.Len(), tiling{}, sink{tile: f})
}

// CrossBlocks is GramBlocks for the whole kernel matrix between x and y. Errors are those of
// [Kernel.Cross] and of f.
func (k Kernel) CrossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, f func(b Block) error) error {
	return k.crossBlocks(ctx, eng, x, y, tiling{}, f)
}

// CrossRows is like CrossBlocks, with blocks of the given number of whole rows, fewer in the last
// one; 0 means blocks of about 2 MiB. The |x| x |y| matrix is never stored: scratch memory is two
// blocks for each worker. Errors are those of CrossBlocks, and two blocks above the memory limit.
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

// Squared returns a kernel whose values are the squared distances in the feature space of k, K_ii +
// K_jj - 2 K_ij, never negative, with a diagonal of zeros. It is not positive semidefinite, and has
// no text of its own.
func (k Kernel) Squared() Kernel {
	stages := append(make([]stage, 0, len(k.stages)+1), k.stages...)
	return Kernel{spec: k.spec, stages: append(stages, stage{kind: distance})}
}
