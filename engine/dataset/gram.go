package dataset

import (
	"errors"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// gramPoints turns a table of inner products into points.
func gramPoints(t *table, name string, o ReadOptions) (points.Points, error) {
	var diagonal []float64
	var reference []int
	if o.GramDiagonal != "" {
		var err error
		if diagonal, err = readColumn(o.GramDiagonal, o); err != nil {
			return nil, err
		}
		if len(diagonal) != t.rows {
			return nil, fault.Data(o.GramDiagonal, "it has %s: want %d, one for each row of %s",
				count(len(diagonal), "value"), t.rows, name)
		}
		if !isTraining(t, diagonal) {
			reference = slices.Repeat([]int{-1}, t.rows)
		}
	} else if t.rows != t.cols {
		return nil, fault.Data(name, "the Gram matrix has %d rows and %d columns: want a square one, or a file with its diagonal",
			t.rows, t.cols)
	}
	g, err := points.NewGram(t.rows, t.cols, t.data, diagonal, reference)
	if de, is := errors.AsType[*fault.DataError](err); is && de.Column == "diagonal" && o.GramDiagonal != "" {
		return nil, &fault.DataError{File: o.GramDiagonal, Row: de.Row, Err: de.Err}
	}
	if err != nil {
		return nil, fault.InFile(err, name)
	}
	return g, nil
}

// isTraining reports whether a square matrix is a training matrix given with its own diagonal, not
// one of as many new objects as training objects: it is symmetric and has that diagonal, both to
// 1e-10 of the largest value, as points.NewGram requires of a square matrix.
func isTraining(t *table, diagonal []float64) bool {
	if t.rows != t.cols {
		return false
	}
	var largest float64
	for _, v := range t.data {
		largest = max(largest, math.Abs(v))
	}
	n, tol := t.rows, 1e-10*largest
	for i := range n {
		if math.Abs(t.data[i*n+i]-diagonal[i]) > tol {
			return false
		}
		for j := range i {
			if math.Abs(t.data[i*n+j]-t.data[j*n+i]) > tol {
				return false
			}
		}
	}
	return true
}

// readColumn reads a data file of one column.
func readColumn(path string, o ReadOptions) ([]float64, error) {
	d, err := Read(path, ReadOptions{MaxLine: o.MaxLine, MemoryLimit: o.MemoryLimit})
	if err != nil {
		return nil, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return nil, fault.Data(path, "it is %s: want one column of numbers with the diagonal", kindOf(d.Points))
	}
	if x.D != 1 {
		return nil, fault.Data(path, "it has %s: want one column with the diagonal", count(x.D, "numeric column"))
	}
	return x.Data, nil
}
