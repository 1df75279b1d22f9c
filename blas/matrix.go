package blas

import "math"

// Matrix is a row-major view of float64 values: element (i, j) is Data[i*Stride+j].
//
// A Matrix does not own its data; copies share it. Invariants: Rows, Cols >= 0,
// Stride >= max(1, Cols), and len(Data) >= (Rows-1)*Stride+Cols when Rows, Cols > 0.
type Matrix struct {
	Rows, Cols int
	Stride     int
	Data       []float64
}

// NewMatrix returns a rows x cols matrix of zeros with Stride = max(1, cols).
// It panics if rows or cols is negative.
func NewMatrix(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(errNegativeDimension)
	}
	return MatrixOf(rows, cols, make([]float64, rows*cols))
}

// Identity returns the identity matrix of order n.
func Identity(n int) Matrix {
	m := NewMatrix(n, n)
	m.Shift(1)
	return m
}

// MatrixOf returns the rows x cols matrix whose rows follow each other in data, which it shares.
// It does not check the length.
func MatrixOf(rows, cols int, data []float64) Matrix {
	return Matrix{Rows: rows, Cols: cols, Stride: max(1, cols), Data: data}
}

// At returns element (i, j).
func (m Matrix) At(i, j int) float64 { return m.Data[i*m.Stride+j] }

// Set assigns element (i, j).
func (m Matrix) Set(i, j int, v float64) { m.Data[i*m.Stride+j] = v }

// Row returns row i as a slice of length Cols that shares the matrix's data. It is nil
// when Cols is 0, where there may be no data to slice.
func (m Matrix) Row(i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// View returns rows [i0, i1) and columns [j0, j1) as a matrix that shares the data.
func (m Matrix) View(i0, i1, j0, j1 int) Matrix {
	if i0 < 0 || i1 < i0 || m.Rows < i1 || j0 < 0 || j1 < j0 || m.Cols < j1 {
		panic(errViewRange)
	}
	v := Matrix{Rows: i1 - i0, Cols: j1 - j0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = m.Data[i0*m.Stride+j0 : (i1-1)*m.Stride+j1]
	}
	return v
}

// CopyFrom copies src, which must have the same shape, into m.
func (m Matrix) CopyFrom(src Matrix) {
	if m.Rows != src.Rows || m.Cols != src.Cols {
		panic(errShape)
	}
	for i := range m.Rows {
		copy(m.Row(i), src.Row(i))
	}
}

// Clone returns a compact copy of m.
func (m Matrix) Clone() Matrix {
	c := NewMatrix(m.Rows, m.Cols)
	c.CopyFrom(m)
	return c
}

// Mirror copies the lower triangle of a square m to the upper one.
func (m Matrix) Mirror() { m.MirrorRows(0, m.Rows) }

// MirrorRows copies rows [lo, hi) of the lower triangle of a square m to the upper one. Calls for
// different rows write to different places.
func (m Matrix) MirrorRows(lo, hi int) {
	const tile = 64 // the strided side of the copy stays in the cache
	for i0 := lo; i0 < hi; i0 += tile {
		end := min(i0+tile, hi)
		for j0 := 0; j0 < end; j0 += tile {
			for i := i0; i < end; i++ {
				row := m.Row(i)
				for j := j0; j < min(j0+tile, i); j++ {
					m.Data[j*m.Stride+i] = row[j]
				}
			}
		}
	}
}

// Trace returns the sum of the diagonal of a square m.
func (m Matrix) Trace() (sum float64) {
	for i := range m.Rows {
		sum += m.At(i, i)
	}
	return sum
}

// Shift adds v to the diagonal of m, which has no more rows than columns.
func (m Matrix) Shift(v float64) {
	for i := range m.Rows {
		m.Data[i*m.Stride+i] += v
	}
}

// ClearUpper sets the elements above the diagonal to 0.
func (m Matrix) ClearUpper() {
	for i := range min(m.Rows, m.Cols) {
		clear(m.Row(i)[i+1:])
	}
}

// TransposeTo copies the transpose of m to dst, of its shape, in tiles that stay in the cache.
func (m Matrix) TransposeTo(dst Matrix) {
	if dst.Rows != m.Cols || dst.Cols != m.Rows {
		panic(errShape)
	}
	const tile = 16
	for i0 := 0; i0 < m.Rows; i0 += tile {
		i1 := min(i0+tile, m.Rows)
		for j0 := 0; j0 < m.Cols; j0 += tile {
			for j := j0; j < min(j0+tile, m.Cols); j++ {
				to, at := dst.Row(j)[i0:i1], i0*m.Stride+j
				for i := range to {
					to[i] = m.Data[at]
					at += m.Stride
				}
			}
		}
	}
}

// Select returns a compact copy of the given rows, in that order.
func (m Matrix) Select(rows []int) Matrix {
	out := NewMatrix(len(rows), m.Cols)
	m.SelectTo(out, rows)
	return out
}

// SelectTo copies the given rows to those of dst, in that order.
func (m Matrix) SelectTo(dst Matrix, rows []int) {
	for k, i := range rows {
		copy(dst.Row(k), m.Row(i))
	}
}

// Sum adds values in their order.
func Sum(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// Dot returns the inner product of x and the start of y, whose terms it adds in their order.
func Dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// AddScaled adds scale x to the start of y.
func AddScaled(y []float64, scale float64, x []float64) {
	for i, v := range x {
		y[i] += scale * v
	}
}

// MaxAbs returns the largest absolute value, 0 for none.
func MaxAbs(values []float64) (largest float64) {
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// Matrix32 is a row-major matrix of single precision, for storage: element (i, j) is
// Data[i*Stride+j].
type Matrix32 struct {
	Rows, Cols, Stride int
	Data               []float32
}

// NewMatrix32 returns a compact rows x cols matrix of zeros.
func NewMatrix32(rows, cols int) Matrix32 {
	return Matrix32{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float32, rows*cols)}
}

// Row returns row i, a view.
func (m Matrix32) Row(i int) []float32 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// At returns element (i, j).
func (m Matrix32) At(i, j int) float32 { return m.Row(i)[j] }
