package lleratio

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// fewDimensions is the largest number of dimensions for which the rule of the paper takes the
// smaller alpha.
const fewDimensions = 5

// weight returns alpha: that of the parameters or the one of the rule of the paper.
func (f *fit) weight(ctx context.Context) (float64, error) {
	if f.Params.Alpha != AlphaByDimension {
		return f.Params.Alpha, nil
	}
	d, err := f.dimension(ctx)
	if d > fewDimensions {
		return 0.2, err
	}
	return 0.02, err
}

// dimension returns the number of features that vary. For a Gram matrix, which has no features, it
// is the dimension of the space that the objects span: that of the vectors, if the matrix holds
// their inner products. Both are counted up to fewDimensions+1. For sequences it is the number of
// letters. In linear mode it is the number of coordinates that vary.
func (f *fit) dimension(ctx context.Context) (int, error) {
	if f.Params.Mode == Linear {
		return varyingDense(f.Dense, fewDimensions+1), nil
	}
	switch x := f.X.(type) {
	case *points.Dense:
		return varyingDense(x, fewDimensions+1), nil
	case *points.CSR:
		return varyingSparse(x, fewDimensions+1), nil
	case *points.Gram:
		value, err := kernel.Linear().Values(ctx, f.Eng, x)
		if err != nil {
			return 0, err
		}
		return span(x.N, value, fewDimensions+1), nil
	}
	return f.X.Dim(), nil
}

// varyingDense returns the number of features with two different values, up to a limit. It rarely
// reads more than a few rows.
func varyingDense(x *points.Dense, limit int) int {
	count := 0
	for j := 0; j < x.D && count < limit; j++ {
		for i := 1; i < x.N; i++ {
			if x.Data[i*x.D+j] != x.Data[j] {
				count++
				break
			}
		}
	}
	return count
}

// varyingSparse is varyingDense for sparse points. It takes memory for the features that occur.
func varyingSparse(x *points.CSR, limit int) int {
	type feature struct {
		value  float64 // of the rows before
		rows   int     // in which it is not 0
		varies bool
	}
	features, count := map[int32]feature{}, 0
	for i := 0; i < x.N && count < limit; i++ {
		col, values := x.Row(i)
		for k, v := range values {
			if v == 0 {
				continue
			}
			f := features[col[k]]
			if !f.varies && (f.rows < i || i > 0 && v != f.value) {
				f.varies = true
				count++
			}
			f.value, f.rows = v, f.rows+1
			features[col[k]] = f
		}
	}
	for _, f := range features {
		if !f.varies && f.rows < x.N {
			count++ // it is 0 in the last rows
		}
	}
	return min(count, limit)
}

// span returns the dimension of the affine space of n objects with the given inner products, at
// most limit: the steps that a Cholesky decomposition with pivoting of the inner products of their
// differences from object 0 makes, before less than rounding of the entries remains.
func span(n int, value func(i, j int) float64, limit int) int {
	const rounding = 1e-10 // of entries with about 12 digits
	rest, largest := make([]float64, n), 0.0
	for i := range n {
		v := value(i, i)
		rest[i], largest = v-2*value(i, 0)+value(0, 0), max(largest, math.Abs(v))
	}
	var columns [][]float64
	for len(columns) < limit {
		p := 0
		for i, v := range rest {
			if v > rest[p] {
				p = i
			}
		}
		if !(rest[p] > rounding*largest) {
			break
		}
		column, root := make([]float64, n), math.Sqrt(rest[p])
		for i := range column {
			v := value(i, p) - value(i, 0) - value(0, p) + value(0, 0)
			for _, c := range columns {
				v -= c[i] * c[p]
			}
			column[i] = v / root
			rest[i] -= column[i] * column[i]
		}
		columns = append(columns, column)
	}
	return len(columns)
}
