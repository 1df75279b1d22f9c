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
// is the dimension of the space that the objects span, counted up to fewDimensions+1: that of the
// vectors, if the matrix holds their inner products. For sequences it is the number of letters.
func (f *fit) dimension(ctx context.Context) (int, error) {
	switch x := f.X.(type) {
	case *points.Dense:
		return varying(x.D, x.N, func(i int) ([]int32, []float64) { return nil, x.Row(i) }), nil
	case *points.CSR:
		return varying(x.D, x.N, x.Row), nil
	case *points.Gram:
		value, err := kernel.Linear().Values(ctx, f.Eng, x)
		if err != nil {
			return 0, err
		}
		return span(x.N, value, fewDimensions+1), nil
	}
	return f.X.Dim(), nil
}

// varying returns how many of d features have two different values in n rows. A row without columns
// has all features.
func varying(d, n int, row func(i int) ([]int32, []float64)) int {
	first, present := make([]float64, d), make([]int, d) // of the values that are not 0
	varies := make([]bool, d)
	for i := range n {
		col, values := row(i)
		for k, v := range values {
			j := k
			if col != nil {
				j = int(col[k])
			}
			switch {
			case v == 0:
			case present[j] == 0:
				first[j], present[j] = v, 1
			default:
				present[j]++
				varies[j] = varies[j] || v != first[j]
			}
		}
	}
	count := 0
	for j := range d {
		if varies[j] || present[j] > 0 && present[j] < n {
			count++
		}
	}
	return count
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
