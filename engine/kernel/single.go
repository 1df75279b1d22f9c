package kernel

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Gram32 is [Kernel.Gram] stored in single precision: values are computed in double precision
// and rounded once. Half the memory. A value beyond the range of float32 becomes infinite.
// Errors are those of Gram, with 4n^2 bytes.
func (k Kernel) Gram32(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix32, error) {
	n := x.Len()
	if err := checkMemory32(eng, n, n); err != nil {
		return blas.Matrix32{}, err
	}
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return blas.Matrix32{}, err
	}
	defer ev.base.release()
	w := single{ev, blas.NewMatrix32(n, n)}
	return w.dst, ev.lower(ctx, n, tiling{}, sink{tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		left := b.before(b.Row)
		if left.Matrix.Rows == 0 || left.Matrix.Cols == 0 {
			return nil
		}
		turned := ev.eng.GetMatrix(left.Matrix.Cols, left.Matrix.Rows)
		ev.t.Interleave(turned.Data, turned.Stride, turned.Rows, left.Matrix.Data, left.Matrix.Stride, left.Matrix.Rows)
		w.place(turned, left.Col, left.Row)
		ev.eng.PutMatrix(turned)
		return nil
	}})
}

// Cross32 is [Kernel.Cross] stored in single precision, as in [Kernel.Gram32].
// Errors are those of Cross, with 4 |x| |y| bytes.
func (k Kernel) Cross32(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix32, error) {
	if err := checkMemory32(eng, x.Len(), y.Len()); err != nil {
		return blas.Matrix32{}, err
	}
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return blas.Matrix32{}, err
	}
	defer ev.base.release()
	w := single{ev, blas.NewMatrix32(x.Len(), y.Len())}
	return w.dst, ev.rectangular(ctx, x.Len(), y.Len(), tiling{}, sink{tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		return nil
	}})
}

// single writes a kernel matrix in single precision.
type single struct {
	*evaluation
	dst blas.Matrix32
}

func (w single) place(m blas.Matrix, i, j int) {
	for r := range m.Rows {
		w.t.Narrow(w.dst.Row(i + r)[j:j+m.Cols], m.Row(r))
	}
}

func checkMemory32(eng *engine.Engine, rows, cols int) error {
	bytes := engine.MatrixBytes(rows, cols) / 2
	return eng.Check(fmt.Sprintf("kernel matrix %d x %d of single precision", rows, cols), bytes, "use fewer points or landmarks, or raise the memory limit")
}
