package input

import (
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
)

// Similarities returns the similarities of the given rows to each other. No similarities have none.
func Similarities(s blas.Matrix, rows []int) (blas.Matrix, error) {
	if s.Rows == 0 {
		return s, nil
	}
	out := blas.NewMatrix(len(rows), len(rows))
	for k, i := range rows {
		if i >= s.Rows || i >= s.Cols {
			return blas.Matrix{}, &fault.DataError{Row: k, Err: fmt.Errorf("row %d is not in the %d x %d "+
				"similarities: want one for each point", i, s.Rows, s.Cols)}
		}
		from, to := s.Row(i), out.Row(k)
		for c, j := range rows {
			if j >= s.Cols {
				break // the error comes with row j
			}
			to[c] = from[j]
		}
	}
	return out, nil
}

// Whole returns the error of a learner with a state of all points that parts of them cannot use.
func Whole(method, state string) error {
	return fault.Data("", "%s: %s belongs to all points: want a learner without it for a part of them",
		method,
		state)
}
