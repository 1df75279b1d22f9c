// Package places makes learned kernel values and distances of the places that a model gives to
// points, for models whose map is the whole metric.
package places

import (
	"context"
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Embed gives places to points, one a row.
type Embed func(points.Points) (blas.Matrix, error)

// Distances returns the squared distance between the places of each pair of rows of x. Only the rows
// that occur are embedded. A row out of range is a *fault.DataError whose Row is the number of the
// pair.
func Distances(eng *engine.Engine, x points.Points, pairs [][2]int, embed Embed) ([]float64, error) {
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return nil, err
	}
	place, rows := map[int]int{}, []int(nil)
	for _, pair := range pairs {
		for _, i := range pair {
			if _, ok := place[i]; !ok {
				place[i] = len(rows)
				rows = append(rows, i)
			}
		}
	}
	y, err := embed(x.Select(rows))
	if err != nil {
		return nil, err
	}
	t, out := eng.Backend().Kernels(), make([]float64, len(pairs))
	for p, pair := range pairs {
		out[p] = t.SquaredDistance(y.Row(place[pair[0]]), y.Row(place[pair[1]]))
		if out[p]-out[p] != 0 {
			return nil, &fault.DataError{Row: p, Err: fmt.Errorf("the learned distance of points %d and %d is %v: want smaller values (standardize the data)", pair[0], pair[1], out[p])}
		}
	}
	return out, nil
}

// Finite returns a *fault.DataError for the first row of y, row first of the whole, with a value that is not finite.
func Finite(y blas.Matrix, first int) error {
	for i := range y.Rows {
		for _, v := range y.Row(i) {
			if v-v != 0 {
				return &fault.DataError{Row: first + i, Err: errors.New("the place of this point is not representable: want smaller values (standardize the data)")}
			}
		}
	}
	return nil
}

// Gram returns the inner products of the places of x and y, |x| x |y|. A nil y means x, and then the
// result is symmetric to the bit.
func Gram(ctx context.Context, eng *engine.Engine, x, y points.Points, dims int, embed Embed) (blas.Matrix, error) {
	rows, cols := x.Len(), x.Len()
	if y != nil {
		cols = y.Len()
	}
	need := engine.MatrixBytes(rows, cols) + engine.MatrixBytes(rows+cols, dims)
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", rows, cols), need, "ask for fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	a, err := embed(x)
	if err != nil {
		return blas.Matrix{}, err
	}
	left := &points.Dense{N: rows, D: a.Cols, Data: a.Data}
	if y == nil {
		return kernel.Linear().Gram(ctx, eng, left)
	}
	b, err := embed(y)
	if err != nil {
		return blas.Matrix{}, err
	}
	return kernel.Linear().Cross(ctx, eng, left, &points.Dense{N: cols, D: b.Cols, Data: b.Data})
}

// Map is what a model does with points: linear, an expansion in kernel values, or places among others.
type Map interface {
	Dim() int
	InputDim() int
	Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error)
	Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error)
	Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error)
}
