package neighbors

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

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
		return nil, &fault.ShapeError{What: "number of labels", Got: len(labels),
			Want: fmt.Sprintf("%d, one for each training row", train.Rows)}
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
