package enginetest

import (
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/points"
)

// Normal returns n points of d standard normal features, plus shift.
func Normal(rng *rand.Rand, n, d int, shift float64) *points.Dense {
	p := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range p.Data {
		p.Data[i] = rng.NormFloat64() + shift
	}
	return p
}

// Matrix returns a matrix of standard normal numbers, plus shift.
func Matrix(rng *rand.Rand, rows, cols int, shift float64) blas.Matrix {
	return blas.MatrixOf(rows, cols, Normal(rng, rows, cols, shift).Data)
}

// Lattice returns n points, as rows, whose d coordinates are whole numbers below values: many ties
// and duplicates.
func Lattice(rng *rand.Rand, n, d, values int) blas.Matrix {
	x := blas.NewMatrix(n, d)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(values))
	}
	return x
}

// Sparse returns the points without their zeros.
func Sparse(p *points.Dense) *points.CSR {
	s := &points.CSR{N: p.N, D: p.D, Start: []int{0}}
	for i := range p.N {
		for c, v := range p.Row(i) {
			if v != 0 {
				s.Col, s.Val = append(s.Col, int32(c)), append(s.Val, v)
			}
		}
		s.Start = append(s.Start, len(s.Col))
	}
	return s
}

// SquaredDistance is the textbook loop, with another order of sums than the code under test.
func SquaredDistance(x, y []float64) float64 {
	s := 0.0
	for j := range x {
		s += (x[j] - y[j]) * (x[j] - y[j])
	}
	return s
}
