package kernel

import (
	"context"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// streamBytes is the size from which a matrix is written past the caches: a smaller one may still
// be in a cache when it is read.
const streamBytes = 4 << 20

// matrix writes a kernel matrix.
type matrix struct {
	*evaluation
	dst      blas.Matrix
	streamed bool
	aligned  bool // its rows begin at cache lines
}

func (ev *evaluation) into(dst blas.Matrix) matrix {
	return matrix{ev, dst, 8*len(dst.Data) >= streamBytes, dst.Stride%8 == 0 && asm.AtLine(dst.Data)}
}

// whole fills dst, all m x n of it.
func (w matrix) whole(ctx context.Context, t tiling) error {
	return w.rectangular(ctx, w.dst.Rows, w.dst.Cols, t, sink{end: w.end, tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		return nil
	}})
}

// symmetric fills dst from its lower triangle.
func (w matrix) symmetric(ctx context.Context, t tiling) error {
	return w.lower(ctx, w.dst.Rows, t, sink{end: w.end, tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		w.placeTransposed(b.before(b.Row))
		return nil
	}})
}

// transposed fills dst from its transpose.
func (w matrix) transposed(ctx context.Context, t tiling) error {
	return w.rectangular(ctx, w.dst.Cols, w.dst.Rows, t, sink{end: w.end, tile: func(b Block) error {
		w.placeTransposed(b)
		return nil
	}})
}

// before returns the columns of a block before column j of the whole matrix.
func (b Block) before(j int) Block {
	b.Matrix = b.Matrix.View(0, b.Matrix.Rows, 0, max(0, min(b.Matrix.Cols, j-b.Col)))
	return b
}

// place writes m to dst, beginning at (i, j).
func (w matrix) place(m blas.Matrix, i, j int) {
	if w.streamed {
		w.t.Stream(m.Rows, m.Cols, w.dst.Data[i*w.dst.Stride+j:], w.dst.Stride, m.Data, m.Stride)
		return
	}
	for r := range m.Rows {
		copy(w.dst.Row(i + r)[j:], m.Row(r))
	}
}

func (w matrix) placeTransposed(b Block) {
	m := b.Matrix
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	if w.streamed && w.aligned {
		w.t.StreamTransposed(w.dst.Data[b.Col*w.dst.Stride+b.Row:], w.dst.Stride, m.Data, m.Stride, m.Rows, m.Cols)
		return
	}
	turned := w.eng.GetMatrix(m.Cols, m.Rows)
	w.t.Interleave(turned.Data, turned.Stride, turned.Rows, m.Data, m.Stride, m.Rows)
	w.place(turned, b.Col, b.Row)
	w.eng.PutMatrix(turned)
}

func (w matrix) end() {
	if w.streamed {
		w.t.Fence()
	}
}
