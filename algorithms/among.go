package algorithms

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Restrictable is implemented by learners that may hold rows of the training points, or values for
// each of them: landmarks, the similarities of a graph, triplets, targets.
type Restrictable interface {
	Learner
	// Among returns the learner for the points x.Select(rows), where x are those of the learner.
	// Rows are ascending; see [Among].
	Among(rows []int) (Learner, error)
}

// Silent returns the learner without its reports of progress.
func Silent(l Learner) Learner {
	if reports, is := l.(interface{ Silent() Learner }); is {
		return reports.Silent()
	}
	return l
}

// Among returns the learner for the points x.Select(rows), where x are the points that l is for:
// what l holds of the other rows is dropped, and the rest is renumbered. It is l itself, or an
// equal learner, unless l refers to rows. The rows must be ascending, each once, and >= 0; others
// are a *fault.DataError. So is a learner of which nothing is left that it could learn with, or
// that cannot be restricted.
//
// Cost: a copy of the restricted similarities, m x m for m rows; otherwise O(m + what l holds).
func Among(l Learner, rows []int) (Learner, error) {
	for k, i := range rows {
		if i < 0 || k > 0 && i <= rows[k-1] {
			return nil, &fault.DataError{Row: k,
				Err: fmt.Errorf("row %d of a part of the points: want ascending "+
					"rows >= 0", i)}
		}
	}
	if r, is := l.(Restrictable); is {
		return r.Among(rows)
	}
	return l, nil
}
