package linear

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
)

// NoDifference says that all cannot-links join equal points.
func NoDifference() error {
	return fault.Data("", "all cannot-links join equal points: want some between points that differ")
}

// Within returns the rows of x in chunklets, one chunklet after the other, each minus the mean of its chunklet.
func Within(x blas.Matrix, chunklets [][]int) blas.Matrix {
	n := 0
	for _, c := range chunklets {
		n += len(c)
	}
	out := blas.NewMatrix(n, x.Cols)
	next := 0
	for _, c := range chunklets {
		first := next
		for _, i := range c {
			copy(out.Row(next), x.Row(i))
			next++
		}
		Centre(out.View(first, next, 0, x.Cols))
	}
	return out
}
