package engine

import (
	"context"
	"math"
	"math/bits"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/hugepages"
)

// addressable bounds every request, with or without a limit: a process can address 2^47 bytes on
// amd64 and arm64. A larger allocation would panic instead of failing.
const addressable = int64(1) << 47

// Check returns a *fault.MemoryError when bytes exceed the memory limit (or what a process can
// address), and nil otherwise. Call it before allocating.
//
// what names the request ("kernel matrix 50000 x 50000"), hint says what to do ("use landmarks"). A
// negative count is a sign of overflow in the caller's arithmetic and is refused too.
func (e *Engine) Check(what string, bytes int64, hint string) error {
	limit := addressable
	if e.limit > 0 && e.limit < limit {
		limit = e.limit
	}
	if bytes < 0 {
		bytes = math.MaxInt64
	}
	if bytes <= limit {
		return nil
	}
	return &fault.MemoryError{What: what, Need: bytes, Limit: limit, Hint: hint}
}

// MatrixBytes returns the size of a rows x cols matrix of float64 values, or math.MaxInt64 if the
// size overflows. rows, cols >= 0.
func MatrixBytes(rows, cols int) int64 {
	hi, lo := bits.Mul64(uint64(rows), uint64(cols))
	if hi != 0 || lo > math.MaxInt64/8 {
		return math.MaxInt64
	}
	return int64(lo) * 8
}

// clearBlock is the number of values that a task clears: many times the cost of waking a worker.
const clearBlock = 1 << 18

// NewMatrix returns a rows x cols matrix of zeros, compact. On Linux a matrix of 4 MiB and more
// asks for huge pages, which makes its first touch several times faster, and all workers clear it.
// It does not check the memory limit; see [Engine.Check]. For a matrix that the caller fills,
// [Engine.UnclearedMatrix] takes less time.
func (e *Engine) NewMatrix(rows, cols int) blas.Matrix {
	m := e.UnclearedMatrix(rows, cols)
	if len(m.Data) >= hugepages.Large {
		// Without a cancel it cannot fail.
		_ = e.For(context.Background(), len(m.Data), clearBlock, func(lo, hi int) error {
			clear(m.Data[lo:hi])
			return nil
		})
	}
	return m
}

// UnclearedMatrix is [Engine.NewMatrix] with undefined contents: every element must be written
// before it is read.
func (e *Engine) UnclearedMatrix(rows, cols int) blas.Matrix {
	if rows*cols < hugepages.Large {
		return blas.NewMatrix(rows, cols)
	}
	return blas.MatrixOf(rows, cols, hugepages.Floats(rows*cols))
}

// Clone returns a compact copy of m, which all workers make. It does not check the memory limit.
func (e *Engine) Clone(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Rows, m.Cols)
	e.Copy(out, m)
	return out
}

// Copy copies src, which must have the same shape, into dst, on all workers.
func (e *Engine) Copy(dst, src blas.Matrix) {
	if dst.Rows != src.Rows || dst.Cols != src.Cols {
		panic("engine: Copy: shapes differ")
	}
	block := max(1, clearBlock/max(1, src.Cols))
	_ = e.For(context.Background(), src.Rows, block, func(lo, hi int) error { // see NewMatrix
		dst.View(lo, hi, 0, dst.Cols).CopyFrom(src.View(lo, hi, 0, src.Cols))
		return nil
	})
}

// mirrorRows is the number of rows or columns that a task of Mirror or Transposed copies.
const mirrorRows = 64

// Transposed returns the transpose of m, compact. It does not check the memory limit.
func (e *Engine) Transposed(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Cols, m.Rows)
	_ = e.For(context.Background(), m.Cols, mirrorRows, func(lo, hi int) error { // see NewMatrix
		m.View(0, m.Rows, lo, hi).TransposeTo(out.View(lo, hi, 0, m.Rows))
		return nil
	})
	return out
}

// Mirror copies the lower triangle of a square m to the upper one, on all workers.
func (e *Engine) Mirror(m blas.Matrix) {
	// The last rows are the longest, so they come first. Without a cancel it cannot fail.
	_ = e.For(context.Background(), m.Rows, mirrorRows, func(lo, hi int) error {
		m.MirrorRows(m.Rows-hi, m.Rows-lo)
		return nil
	})
}
