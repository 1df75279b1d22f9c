// Package neighbors (internal: may change) finds exact nearest neighbors in a Euclidean space,
// and classifies by majority vote.
//
// The search is that of engine/graph: tiles of expanded squared distances select candidates, and
// sums of squared differences of the original rows decide. So the result is that of the direct sums
// in every backend: equal rows are at distance 0 and tie exactly, a tie goes to the lower row, and
// the result is bit-identical for any number of workers and any other queries in the call.
package neighbors

import (
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

// Search returns, for each row of query (q x d), the k rows of train (n x d) at the smallest
// squared distance. The neighbors of row i are index[i*k : (i+1)*k], nearest first; equal distances
// are in the order of their rows. dist2 holds the squared distances in the same order. An engine
// with a cache may share both: do not change them.
//
// With excludeSelf, query must be the same rows as train (q == n), and row i is not a neighbor of
// itself; another row equal to it is.
//
// Errors: *fault.ParamError (k < 1 or k above the number of candidates), *fault.ShapeError
// (numbers of columns, or of rows with excludeSelf), *fault.DataError (a value that is not
// finite), *fault.MemoryError, and ctx.Err(), wrapped. Cost: 2qnd flops, half of that with
// excludeSelf. Memory: a copy of train, the result, and 600 KiB per worker.
func Search(ctx context.Context, eng *engine.Engine, query, train blas.Matrix, k int,
	excludeSelf bool) (index []int32, dist2 []float64, err error) {
	if err := check(query, train, k, excludeSelf); err != nil {
		return nil, nil, err
	}
	q, n, d := query.Rows, train.Rows, train.Cols
	bytes := engine.MatrixBytes(n, d+2) + engine.MatrixBytes(q, k)*3/2 +
		int64(eng.Workers())*engine.MatrixBytes(64, 1024+d)
	if err := eng.Check(fmt.Sprintf("search for %d neighbors of %d rows", k, q), bytes,
		"search with fewer rows at a time"); err != nil {
		return nil, nil, err
	}
	if err := checkRange(train); err != nil {
		return nil, nil, err
	}
	x, y := kernel.Rows(query), kernel.Rows(train)
	if excludeSelf {
		x, y = y, nil
	}
	found, err := graph.NearestRows(ctx, eng, x, y, k)
	if err == nil {
		err = checkFar(found)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("neighbors: search: %w", err)
	}
	return found.Index, found.Squared, nil
}

func check(query, train blas.Matrix, k int, excludeSelf bool) error {
	if query.Cols != train.Cols {
		return fault.Shape("number of columns of the queries", query.Cols,
			"%d, as the training rows have", train.Cols)
	}
	candidates, of := train.Rows, "the number of training rows"
	if excludeSelf {
		if query.Rows != train.Rows {
			return fault.Shape("number of queries", query.Rows, "%d, the rows themselves", train.Rows)
		}
		candidates, of = max(0, candidates-1), "the number of other rows"
	}
	switch {
	case train.Rows > math.MaxInt32:
		return fault.Shape("number of training rows", train.Rows, "at most %d", math.MaxInt32)
	case k < 1:
		return fault.Param("neighbors", k, "a number >= 1")
	case k > candidates:
		return fault.Param("neighbors", k, "at most %s, %d", of, candidates)
	}
	if err := CheckFinite("training rows", train); err != nil {
		return err
	}
	return CheckFinite("queries", query)
}

// CheckFinite returns a *fault.DataError for the first value of x that is NaN or infinite. what
// names the rows.
func CheckFinite(what string, x blas.Matrix) error {
	for i := range x.Rows {
		if j := points.FirstNotFinite(x.Row(i)); j >= 0 {
			return fault.Cell(i, strconv.Itoa(j),
				"value of the %s is %v: want a finite number", what, x.At(i, j))
		}
	}
	return nil
}

// checkRange returns an error for rows that differ so little that squares of differences underflow:
// all neighbors would tie.
func checkRange(train blas.Matrix) error {
	const vanishing = 0x1p-900
	for i := range train.Rows {
		if !(points.SquaredDistance(train.Row(i), train.Row(0)) < vanishing) {
			return nil
		}
	}
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			if v != train.At(0, j) {
				return fault.Cell(i, strconv.Itoa(j), "value of the training rows is %g, that of row 0 is "+
					"%g, and no two differ by much more: want differences whose squares do not underflow; "+
					"scale the data", v, train.At(0, j))
			}
		}
	}
	return nil
}

// errOverflow reports a query with a neighbor at infinite distance in float64.
var errOverflow = errors.New("squared distances overflow: want smaller values; scale the data")

func checkFar(found *graph.Neighbors) error {
	for i := range found.N {
		if _, squared := found.Of(i); math.IsInf(squared[found.K-1], 1) {
			return &fault.DataError{Row: i, Err: errOverflow}
		}
	}
	return nil
}

// Classify returns, for every row of query (q x d), the most frequent label among its k nearest
// rows of train (n x d). Of equally frequent labels it takes the one with the nearest row. labels
// holds n labels.
//
// Errors and cost: those of [Search], and *fault.ShapeError when len(labels) != n.
func Classify(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, query blas.Matrix,
	k int) ([]string, error) {
	return classify(ctx, eng, train, labels, query, k, false)
}

// LeaveOneOut classifies every row of x (n x d) by the other rows, as [Classify] does. Cost: n^2 d
// flops. Errors: those of Classify, and k not below the number of rows.
func LeaveOneOut(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []string,
	k int) ([]string, error) {
	return classify(ctx, eng, x, labels, x, k, true)
}

// Labeled returns the rows that have a label, which are those that can vote, and their labels. If
// all have one, these share the memory of train and labels; if none has, the error is a
// *fault.DataError.
func Labeled(train blas.Matrix, labels []string) (blas.Matrix, []string, error) {
	if len(labels) != train.Rows || !slices.Contains(labels, "") {
		return train, labels, nil // another number is an error of Classify
	}
	var rows []int
	var of []string
	for i, label := range labels {
		if label != "" {
			rows, of = append(rows, i), append(of, label)
		}
	}
	if rows == nil {
		return train, nil, fault.Data("",
			"the label of each of its %d rows is empty: want labels for some of them", train.Rows)
	}
	return train.Select(rows), of, nil
}

func classify(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, query blas.Matrix,
	k int, excludeSelf bool) ([]string, error) {
	if len(labels) != train.Rows {
		return nil, fault.Shape("number of labels", len(labels), "%d, one for each training row", train.Rows)
	}
	index, _, err := Search(ctx, eng, query, train, k, excludeSelf)
	if err != nil {
		return nil, err
	}
	out := make([]string, query.Rows)
	votes := map[string]int{}
	for i := range out {
		out[i] = vote(index[i*k:(i+1)*k], labels, votes)
	}
	return out, nil
}

// vote returns the most frequent label of the voters, which are ordered by distance; ties go to the
// label that occurs first. votes is scratch memory.
func vote(voters []int32, labels []string, votes map[string]int) string {
	clear(votes)
	most := 0
	for _, j := range voters {
		votes[labels[j]]++
		most = max(most, votes[labels[j]])
	}
	for _, j := range voters {
		if votes[labels[j]] == most {
			return labels[j]
		}
	}
	return "" // never: Search requires k >= 1
}
