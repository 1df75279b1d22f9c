package neighborindex

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options are the options of [Build].
type Options struct {
	// Neighbors is the number of neighbors for which the recall is measured, at least 1 and below the
	// number of rows. Fewer neighbors have about the same recall.
	Neighbors int
	// Cells is the number of cells, at most the number of rows; 0 for a default, about twice the root
	// of the number of rows.
	Cells int
	// Seed is the seed of all random choices.
	Seed uint64
	// Progress, if not nil, is notified of finished steps.
	Progress algorithms.ProgressFunc
}

// Source names what an index was built from: digests of the model that gave the coordinates, and of
// the data.
type Source struct{ Model, Data string }

// Index divides rows into cells. It is immutable and safe for concurrent use.
type Index struct {
	source       Source
	neighbors    int
	seed         uint64
	centers      blas.Matrix // a row for each cell
	cells        []int32     // of each row
	chosen, held sample      // by which probes are chosen, and recall is reported
}

// sample has the ranks of the cells that hold the exact neighbors of some rows: hits[r] neighbors
// are in the cell whose center is nearest but r to the row. With squares[r], each row has as many
// as in its r + 1 nearest cells, squared, and summed over the rows: their recalls vary by that.
type sample struct{ hits, squares []int64 }

// Source returns what the index was built from.
func (x *Index) Source() Source { return x.source }

// Neighbors returns the number of neighbors for which the recall was measured.
func (x *Index) Neighbors() int { return x.neighbors }

// Cells returns the number of cells.
func (x *Index) Cells() int { return x.centers.Rows }

// Rows returns the number of rows.
func (x *Index) Rows() int { return len(x.cells) }

// Recall is the share of the exact neighbors of some rows that a search finds.
type Recall struct {
	Value float64 `json:"recall"`
	Rows  int     `json:"rows"` // of the sample; a row is not a neighbor of itself
}

// Probes returns the smallest number of cells with which the recall of a sample of rows, less its
// standard error, is at least recall. The recall is the mean of the recalls of the rows, whose
// standard deviation over the root of their number is its error. For recall 1 it returns all cells,
// and the search is exact.
//
// A recall outside (0, 1] is a *fault.ParamError.
func (x *Index) Probes(recall float64) (int, error) {
	if !(recall > 0 && recall <= 1) {
		return 0, &fault.ParamError{Param: "recall", Value: recall, Want: "a number > 0 and <= 1"}
	}
	if recall == 1 {
		return x.Cells(), nil
	}
	found, all := int64(0), x.chosen.total()
	for r, hits := range x.chosen.hits {
		found += hits
		if v := float64(found) / float64(all); v-x.standardError(v, r) >= recall {
			return r + 1, nil
		}
	}
	return x.Cells(), nil
}

// standardError returns that of the recall v of r + 1 cells.
func (x *Index) standardError(v float64, r int) float64 {
	k, rows := float64(x.neighbors), float64(x.chosen.total()/int64(x.neighbors))
	if rows == 1 {
		return math.Sqrt(v * (1 - v)) // the most that it can be
	}
	squared := float64(x.chosen.squares[r]) / (k * k * rows)
	return math.Sqrt(max(0, squared-v*v) / (rows - 1))
}

// Recall returns the recall of a number of probed cells for rows that had no part in the choice of
// [Index.Probes].
func (x *Index) Recall(probes int) Recall {
	all, found := x.held.total(), int64(0)
	for _, hits := range x.held.hits[:min(probes, len(x.held.hits))] {
		found += hits
	}
	return Recall{Value: float64(found) / float64(all), Rows: int(all) / x.neighbors}
}

func (s sample) total() (sum int64) {
	for _, v := range s.hits {
		sum += v
	}
	return sum
}

// checkRows refuses rows that are not those of the index, as far as their shape shows.
func (x *Index) checkRows(rows blas.Matrix) error {
	switch {
	case rows.Rows != x.Rows():
		return &fault.ShapeError{What: "number of rows", Got: rows.Rows, Want: fmt.Sprintf("%d, as the index has", x.Rows())}
	case rows.Cols != x.centers.Cols:
		return &fault.ShapeError{What: "number of columns", Got: rows.Cols, Want: fmt.Sprintf("%d, as the index has", x.centers.Cols)}
	}
	return nil
}
