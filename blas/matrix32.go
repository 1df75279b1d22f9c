package blas

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
