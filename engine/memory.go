package engine

import (
	"math"
	"math/bits"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
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

// hugeBytes is the size from which a matrix asks for huge pages. For smaller matrices the first
// touch of 4 KiB pages is cheap compared with any computation that fills them.
const hugeBytes = 4 << 20

// NewMatrix returns a rows x cols matrix of zeros, compact. On Linux a matrix of 4 MiB and more
// asks for huge pages, which makes its first touch several times faster. It does not check the
// memory limit; see [Engine.Check].
func (e *Engine) NewMatrix(rows, cols int) blas.Matrix {
	m := blas.NewMatrix(rows, cols)
	if len(m.Data) >= hugeBytes/8 {
		adviseHuge(m.Data)
	}
	return m
}
