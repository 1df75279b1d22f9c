package tile

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// Pack copies lanes [i0, i1) and depths [l0, l1) of m into panels of width lanes: element (i, l)
// goes to index (l-l0)*width + (i-i0)%width of panel (i-i0)/width. Lanes are rows of m and depths
// its columns if byRow is set, or the reverse. The last panel is padded with zeros. Panels are size
// elements apart, at least (l1-l0)*width.
func Pack(t *asm.Table, dst []float64, width, size int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if l0 == l1 {
		return
	}
	if !byRow {
		for l := l0; l < l1; l++ {
			packRow(dst[(l-l0)*width:], width, size, m.Data[l*m.Stride+i0:l*m.Stride+i1])
		}
		return
	}
	for i := i0; i < i1; i += width {
		t.Interleave(dst, width, l1-l0, m.Data[i*m.Stride+l0:], m.Stride, min(width, i1-i))
		dst = dst[min(size, len(dst)):]
	}
}

// packRow distributes a row to the panels of its columns, size elements apart: along the row,
// because memory is read fastest in its order.
func packRow(dst []float64, width, size int, row []float64) {
	switch width {
	case 4:
		for len(row) >= 4 {
			*(*[4]float64)(dst) = *(*[4]float64)(row)
			row, dst = row[4:], dst[min(size, len(dst)):]
		}
	case 8:
		for len(row) >= 8 {
			*(*[8]float64)(dst) = *(*[8]float64)(row)
			row, dst = row[8:], dst[min(size, len(dst)):]
		}
	case 12:
		for len(row) >= 12 {
			*(*[12]float64)(dst) = *(*[12]float64)(row)
			row, dst = row[12:], dst[min(size, len(dst)):]
		}
	case 24:
		for len(row) >= 24 {
			*(*[24]float64)(dst) = *(*[24]float64)(row)
			row, dst = row[24:], dst[min(size, len(dst)):]
		}
	default:
		for len(row) >= width {
			copy(dst[:width], row)
			row, dst = row[width:], dst[min(size, len(dst)):]
		}
	}
	if len(row) > 0 {
		clear(dst[copy(dst[:width], row):width])
	}
}

// Unpack reverses [Pack]: it copies lanes [i0, i1) and depths [l0, l1) from panels, size elements
// apart, to m.
func Unpack(src []float64, width, size int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if !byRow {
		for l := l0; l < l1; l++ {
			from := src[(l-l0)*width:]
			for row := m.Data[l*m.Stride+i0 : l*m.Stride+i1]; len(row) > 0; {
				n := copy(row, from[:min(width, len(row))])
				row, from = row[n:], from[min(size, len(from)):]
			}
		}
		return
	}
	for i := i0; i < i1; i++ {
		from := src[(i-i0)/width*size+(i-i0)%width:]
		for row := m.Data[i*m.Stride+l0 : i*m.Stride+l1]; len(row) > 0; row = row[1:] {
			row[0] = from[0]
			from = from[min(width, len(from)):]
		}
	}
}

// packSymmetric is Pack for the symmetric matrix whose lower triangle is m's: left of the
// diagonal the lanes are rows of m, right of it columns.
func packSymmetric(t *asm.Table, dst []float64, width int, m blas.Matrix, i0, i1, l0, l1 int) {
	size := width * (l1 - l0)
	for i := i0; i < i1; i += width {
		end := min(i+width, i1)
		left, right := min(max(i, l0), l1), min(max(end, l0), l1)
		panel := dst[:size]
		Pack(t, panel, width, size, m, true, i, end, l0, left)
		across(panel[(left-l0)*width:], width, m, i, end, left, right)
		Pack(t, panel[(right-l0)*width:], width, size, m, false, i, end, right, l1)
		dst = dst[size:]
	}
}

// across is the part of packSymmetric that meets the diagonal, element by element.
func across(dst []float64, width int, m blas.Matrix, i0, i1, l0, l1 int) {
	for l := l0; l < l1; l++ {
		row := dst[(l-l0)*width:][:width]
		clear(row)
		for i := i0; i < i1; i++ {
			row[i-i0] = m.At(max(i, l), min(i, l))
		}
	}
}

// Packed is a set of vectors of length k laid out once for many products: as the rows of a left
// factor, or as the columns of a right one. Products of the vectors of two sets are bit-identical
// to the elements that [Nest.Multiply] computes.
type Packed struct {
	t     *asm.Table
	width int // vectors in a panel: MR or NR
	k     int
	depth int // of a block of k
	lanes int // vectors, rounded up to whole panels
	data  []float64
}

// LeftSize returns the number of elements that n vectors of length k take as a left factor.
func LeftSize(t *asm.Table, n, k int) int { return blocks(n, t.MR) * t.MR * k }

// RightSize returns the number of elements that n vectors of length k take as a right factor.
func RightSize(t *asm.Table, n, k int) int { return blocks(n, t.NR) * t.NR * k }

// NewLeft returns n vectors of length k as a left factor in memory of [LeftSize], to be
// filled by Pack.
func NewLeft(t *asm.Table, n, k int, memory []float64) Packed {
	return newPacked(t, t.MR, n, k, memory)
}

// NewRight returns n vectors of length k as a right factor in memory of [RightSize], to be
// filled by Pack.
func NewRight(t *asm.Table, n, k int, memory []float64) Packed {
	return newPacked(t, t.NR, n, k, memory)
}

func newPacked(t *asm.Table, width, n, k int, memory []float64) Packed {
	lanes := blocks(n, width) * width
	return Packed{t, width, k, share(k, t.KC, 1), lanes, memory[:lanes*k]}
}

// Unit returns the number of vectors in a panel: calls of Pack for different multiples of it
// write to different places.
func (p *Packed) Unit() int { return p.width }

// Pack stores the rows of m as vectors from i0 on, a multiple of Unit. Unless they are the last
// ones, the number of rows is a multiple of Unit, too.
func (p *Packed) Pack(m blas.Matrix, i0 int) {
	for b := range blocks(p.k, p.depth) {
		l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
		Pack(p.t, p.panels(b, i0), p.width, p.width*(l1-l0), m, true, 0, m.Rows, l0, l1)
	}
}

// panels returns block b of k from the panel that begins with vector i0 on.
func (p *Packed) panels(b, i0 int) []float64 {
	l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
	return p.data[p.lanes*l0+i0*(l1-l0) : p.lanes*l1]
}

// PackColumns is Pack for the columns of m.
func (p *Packed) PackColumns(m blas.Matrix, i0 int) {
	for b := range blocks(p.k, p.depth) {
		l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
		Pack(p.t, p.panels(b, i0), p.width, p.width*(l1-l0), m, false, 0, m.Cols, l0, l1)
	}
}

// MultiplyPacked writes the inner products of a's vectors with b's from j0 on, a multiple of b's
// Unit, plus beta C to c, on the calling goroutine. c has whole tiles: its rows are a multiple of
// MR, at most as many as a has vectors, and its columns a multiple of NR. 2 k flops per element.
func MultiplyPacked(beta float64, c blas.Matrix, a, b *Packed, j0 int) {
	if a.k == 0 {
		form.Scale(beta, c)
		return
	}
	j := job{Product: Product{Alpha: 1, C: c}, t: a.t}
	for i := range blocks(a.k, a.depth) {
		s := sweep{job: &j, depth: min(a.depth, a.k-i*a.depth), i1: c.Rows, j1: c.Cols}
		if s.beta = beta; i > 0 {
			s.beta = 1
		}
		s.tiles(a.panels(i, 0), b.panels(i, j0), 0, 0)
	}
}
