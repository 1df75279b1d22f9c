package neighbors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Search finds, for each row of query (q x d), the k rows of train (n x d) at the smallest
// squared distance. Row i's neighbours are index[i*k : (i+1)*k], nearest first, equal
// distances in the order of their rows, and dist2 holds the squared distances alike.
//
// With excludeSelf, query is the same set of rows as train (q == n), and row i is no
// neighbour of itself; another row equal to it is.
//
// Errors: *fault.ParamError (k < 1 or k above the number of candidates), *fault.ShapeError
// (numbers of columns, or of rows with excludeSelf), *fault.DataError (a value that is not
// finite), *fault.MemoryError, and ctx.Err(), wrapped. Cost: 2qnd flops. Memory: the answer, a
// copy of both sets, and 600 KiB a worker.
func Search(ctx context.Context, eng *engine.Engine, query, train blas.Matrix, k int, excludeSelf bool) (index []int32, dist2 []float64, err error) {
	if err := check(query, train, k, excludeSelf); err != nil {
		return nil, nil, err
	}
	q, n, d := query.Rows, train.Rows, train.Cols
	bytes := engine.MatrixBytes(n, d+1) + engine.MatrixBytes(q, k)*3/2 + int64(eng.Workers())*engine.MatrixBytes(64, 1024+d)
	if err := eng.Check(fmt.Sprintf("search for %d neighbours of %d rows", k, q), bytes, "search with fewer rows at a time"); err != nil {
		return nil, nil, err
	}
	if err := checkRange(train); err != nil {
		return nil, nil, err
	}
	search := within
	if largest(query) > moderate || largest(train) > moderate {
		search = pairwise
	}
	found, err := search(ctx, eng, query, train, k, excludeSelf)
	if err != nil {
		return nil, nil, fmt.Errorf("neighbors: search: %w", err)
	}
	for i := range q {
		if _, squared := found.Of(i); math.IsInf(squared[k-1], 1) {
			return nil, nil, &fault.DataError{Row: i, Err: errOverflow}
		}
	}
	return slices.Clone(found.Index), slices.Clone(found.Squared), nil // a cache may hold these
}

// moderate is the size of values up to which no sum of their squares overflows.
const moderate = 1e140

// largest returns the largest size of a value.
func largest(x blas.Matrix) (size float64) {
	for i := range x.Rows {
		for _, v := range x.Row(i) {
			size = max(size, math.Abs(v))
		}
	}
	return size
}

// within is the search among rows of moderate values.
func within(ctx context.Context, eng *engine.Engine, query, train blas.Matrix, k int, excludeSelf bool) (*graph.Neighbors, error) {
	if excludeSelf {
		return graph.Nearest(ctx, eng, kernel.Linear(), dense(train), k)
	}
	return graph.NearestBetween(ctx, eng, kernel.Linear(), dense(query), dense(train), k)
}

// dense returns the rows as points.
func dense(x blas.Matrix) *points.Dense {
	if x.Stride != x.Cols {
		x = x.Clone()
	}
	return &points.Dense{N: x.Rows, D: x.Cols, Data: x.Data[:x.Rows*x.Cols]}
}

// pairwise is the search among rows of any values, by the distances of all pairs: rows too far away to
// matter may be infinitely far.
func pairwise(ctx context.Context, eng *engine.Engine, query, train blas.Matrix, k int, excludeSelf bool) (*graph.Neighbors, error) {
	found := &graph.Neighbors{N: query.Rows, K: k, Index: make([]int32, query.Rows*k), Squared: make([]float64, query.Rows*k)}
	return found, eng.For(ctx, query.Rows, 1, func(i, _ int) error {
		order, squared := make([]int32, 0, train.Rows), make([]float64, train.Rows)
		for j := range train.Rows {
			if squared[j] = points.SquaredDistance(query.Row(i), train.Row(j)); !excludeSelf || j != i {
				order = append(order, int32(j))
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(squared[a], squared[b]) })
		index, nearest := found.Of(i)
		for a := range copy(index, order) {
			nearest[a] = squared[index[a]]
		}
		return nil
	})
}

func check(query, train blas.Matrix, k int, excludeSelf bool) error {
	if query.Cols != train.Cols {
		return &fault.ShapeError{What: "number of columns of the queries", Got: query.Cols, Want: fmt.Sprintf("%d, as the training rows have", train.Cols)}
	}
	candidates, of := train.Rows, "the number of training rows"
	if excludeSelf {
		if query.Rows != train.Rows {
			return &fault.ShapeError{What: "number of queries", Got: query.Rows, Want: fmt.Sprintf("%d, the rows themselves", train.Rows)}
		}
		candidates, of = max(0, candidates-1), "the number of other rows"
	}
	switch {
	case train.Rows > math.MaxInt32:
		return &fault.ShapeError{What: "number of training rows", Got: train.Rows, Want: fmt.Sprintf("at most %d", math.MaxInt32)}
	case k < 1:
		return &fault.ParamError{Param: "neighbors", Value: k, Want: "a number >= 1"}
	case k > candidates:
		return &fault.ParamError{Param: "neighbors", Value: k, Want: fmt.Sprintf("at most %s, %d", of, candidates)}
	}
	if err := checkFinite("training rows", train); err != nil {
		return err
	}
	return checkFinite("queries", query)
}

func checkFinite(what string, x blas.Matrix) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("value of the %s is %v: want a finite number", what, v)}
			}
		}
	}
	return nil
}

// errOverflow reports a query one of whose neighbours is infinitely far in float64.
var errOverflow = errors.New("values are too large, their squared distances overflow: want smaller ones (scale the data)")

// checkRange refuses rows that differ by so little that the squares of differences vanish: no neighbour
// could be told from another one.
func checkRange(train blas.Matrix) error {
	const vanishing = 0x1p-450
	most, row, column := 0.0, -1, -1
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			if d := math.Abs(v - train.At(0, j)); d > 0 {
				if most = max(most, d); row < 0 {
					row, column = i, j
				}
				if most >= vanishing {
					return nil
				}
			}
		}
	}
	if row < 0 {
		return nil
	}
	return &fault.DataError{Row: row, Column: strconv.Itoa(column), Err: fmt.Errorf("value of the training rows is %g, that of row 0 %g, and no two differ by much more: want differences whose squares do not vanish (scale the data)", train.At(row, column), train.At(0, column))}
}
