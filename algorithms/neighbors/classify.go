// Package neighbors (engine room: may change) finds nearest neighbours in a Euclidean space,
// exactly, and classifies by their votes.
//
// Squared distances are prefiltered by blocked matrix multiplication, |q|^2 + |t|^2 - 2q't on
// rows moved to a common centre, whose rounding error is bounded; every pair that the bound
// leaves in doubt, and every distance that is reported, is computed as the sum of squared
// differences of the rows as given. So the answer is that of the direct sums whatever the
// backend: equal rows are at distance 0 and tie exactly, a tie goes to the lower row, and the
// bits do not depend on the number of workers or on which other queries are in the call.
package neighbors

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Classify gives every row of query (q x d) the label that most of its k nearest rows of
// train (n x d) have. Among labels with equally many votes the one whose nearest voter comes
// first wins. labels holds n labels.
//
// Errors and cost: those of [Search], and *fault.ShapeError when len(labels) != n.
func Classify(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, query blas.Matrix, k int) ([]string, error) {
	return classify(ctx, eng, train, labels, query, k, false)
}

// LeaveOneOut classifies every row of x (n x d) as [Classify] does, by the other rows.
// Cost n^2 d flops; errors as for Classify, and k that is not below the number of rows.
func LeaveOneOut(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []string, k int) ([]string, error) {
	return classify(ctx, eng, x, labels, x, k, true)
}

func classify(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, query blas.Matrix, k int, excludeSelf bool) ([]string, error) {
	if len(labels) != train.Rows {
		return nil, &fault.ShapeError{What: "number of labels", Got: len(labels), Want: fmt.Sprintf("%d, one for each training row", train.Rows)}
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

// vote returns the most frequent label of the voters, nearest first; ties go to the label
// that occurs first. votes is scratch.
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
	return "" // no voters: Search demands k >= 1
}
