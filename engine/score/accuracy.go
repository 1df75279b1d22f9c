package score

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Accuracy returns the fraction of objects whose predicted label is the true one.
// Lengths that differ or are 0 are a *fault.ShapeError.
func Accuracy[T comparable](truth, predicted []T) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return 0, err
	}
	right := 0
	for i, label := range truth {
		if predicted[i] == label {
			right++
		}
	}
	return float64(right) / float64(len(truth)), nil
}

// maxCells bounds the dense table of ClusterAccuracy: 2^24 cells take 128 MiB.
const maxCells = 1 << 24

// ClusterAccuracy returns the fraction of correct objects under the best one-to-one matching of
// clusters to classes; surplus clusters or classes have no match. The matching is exact (Hungarian
// method, [Kuhn 1955]) and costs O(n + s^2 t), where s and t are the smaller and the larger of the
// numbers of classes and clusters. Symmetric.
//
// Lengths that differ or are 0, and more than 2^24 cells, are a *fault.ShapeError.
//
// [Kuhn 1955]: https://doi.org/10.1002/nav.3800020109
func ClusterAccuracy[A, B comparable](truth []A, predicted []B) (float64, error) {
	return ofTable(truth, predicted, (*contingency).clusterAccuracy)
}

func (t *contingency) clusterAccuracy() (float64, error) {
	if len(t.classes)*len(t.cluster) > maxCells {
		return 0, &fault.ShapeError{What: "number of classes times clusters", Got: len(t.classes) * len(t.cluster),
			Want: fmt.Sprintf("at most %d to match them one to one", maxCells)}
	}
	table, rows, columns := t.dense()
	return float64(assign(table, rows, columns)) / float64(t.n), nil
}

// assign returns the largest sum of entries of the rows x columns table, rows <= columns, that
// takes one entry from each row and at most one from each column.
//
// It adds the rows one by one, each through a shortest augmenting path in the costs reduced by the
// potentials u and v (the Hungarian method in the form of Jonker and Volgenant 1987, Computing
// 38:325-340). Cost: O(rows^2 columns).
func assign(table []int64, rows, columns int) int64 {
	const far = int64(1) << 62
	u, v := make([]int64, rows+1), make([]int64, columns+1)
	rowOf := make([]int, columns+1) // rows and columns from 1; 0: free
	back := make([]int, columns+1)  // column before this one on the shortest path
	dist := make([]int64, columns+1)
	done := make([]bool, columns+1)
	for r := 1; r <= rows; r++ {
		for c := range dist {
			dist[c], done[c] = far, false
		}
		rowOf[0] = r
		at := 0
		for rowOf[at] != 0 {
			done[at] = true
			i, next, step := rowOf[at], 0, far
			costs := table[(i-1)*columns : i*columns]
			for c := 1; c <= columns; c++ {
				if done[c] {
					continue
				}
				if reduced := -costs[c-1] - u[i] - v[c]; reduced < dist[c] {
					dist[c], back[c] = reduced, at
				}
				if dist[c] < step {
					step, next = dist[c], c
				}
			}
			for c := 0; c <= columns; c++ {
				if done[c] {
					u[rowOf[c]] += step
					v[c] -= step
				} else {
					dist[c] -= step
				}
			}
			at = next
		}
		for at != 0 {
			rowOf[at] = rowOf[back[at]]
			at = back[at]
		}
	}
	var best int64
	for c := 1; c <= columns; c++ {
		if rowOf[c] != 0 {
			best += table[(rowOf[c]-1)*columns+c-1]
		}
	}
	return best
}
