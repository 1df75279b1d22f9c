package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Assigner gives rows to the nearest of fixed centres, a block of rows at a time. It is immutable, and safe for concurrent use.
type Assigner struct {
	centers blas.Matrix // K x d, less shift
	norm    []float64   // their squared norms
	shift   []float64   // what is subtracted from rows, so that they are near the origin
}

// NewAssigner returns the assigner to the rows of centers (K x d), which are copied. A value that is not finite is a
// *fault.DataError, no centre a *fault.ShapeError.
func NewAssigner(centers blas.Matrix) (*Assigner, error) {
	if centers.Rows < 1 || centers.Cols < 1 {
		return nil, &fault.ShapeError{What: "number of centres", Got: centers.Rows, Want: "at least 1, of at least one value"}
	}
	if err := checkFinite(centers); err != nil {
		return nil, err
	}
	shift := middleOf(centers)
	return newAssigner(moved(centers, shift), shift), nil
}

// newAssigner returns an assigner to centres that are less shift already.
func newAssigner(centers blas.Matrix, shift []float64) *Assigner {
	a := &Assigner{centers: centers, norm: make([]float64, centers.Rows), shift: shift}
	a.prepare()
	return a
}

// prepare must follow a change of the centres.
func (a *Assigner) prepare() { setNorms(a.norm, a.centers) }

// Centers returns the centres, K x d.
func (a *Assigner) Centers() blas.Matrix { return movedBack(a.centers, a.shift) }

// Assign writes the number of the nearest centre of every row of x (n x d) into labels, ties to the lower number, and its
// squared distance into distances. Both have length n. A row's outcome has the same bits whatever rows are beside it.
//
// Errors: *fault.ShapeError, *fault.DataError (a value that is not finite, or whose distances overflow), ctx.Err(), wrapped.
// Cost: 2ndK flops. Memory: a copy of x.
func (a *Assigner) Assign(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []int, distances []float64) error {
	if x.Cols != a.centers.Cols {
		return columnsError(x.Cols, a.centers.Cols)
	}
	if len(labels) != x.Rows || len(distances) != x.Rows {
		return &fault.ShapeError{What: "length of labels and distances", Got: min(len(labels), len(distances)), Want: fmt.Sprintf("%d, the number of rows", x.Rows)}
	}
	rows := eng.GetMatrix(x.Rows, x.Cols)
	defer eng.PutMatrix(rows)
	move(rows, x, a.shift)
	if err := a.assign(ctx, eng, rows, labels, distances); err != nil {
		return err
	}
	return checkDistances(x, distances, 0)
}

// assign is Assign for rows that are less shift already, and not checked.
func (a *Assigner) assign(ctx context.Context, eng *engine.Engine, rows blas.Matrix, labels []int, distances []float64) error {
	most, zero := slices.Max(a.norm), make([]float64, rows.Cols)
	err := eng.For(ctx, rows.Rows, assignBlock, func(lo, hi int) error {
		dots := eng.GetMatrix(hi-lo, a.centers.Rows)
		defer eng.PutMatrix(dots)
		eng.Backend().Gemm(false, true, 1, rows.View(lo, hi, 0, rows.Cols), a.centers, 0, dots)
		for i := lo; i < hi; i++ {
			row := rows.Row(i)
			norm := points.SquaredDistance(row, zero)
			labels[i], distances[i], _ = nearestCenter(row, dots.Row(i-lo), norm, a.centers, a.norm, most)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cluster: assignment: %w", err)
	}
	return nil
}

// checkDistances reports the first row of x, numbered from first, that is too far from all centres, or nowhere.
func checkDistances(x blas.Matrix, distances []float64, first int) error {
	for i, v := range distances {
		if v-v == 0 {
			continue
		}
		if err := checkFiniteFrom(x.View(i, i+1, 0, x.Cols), first+i); err != nil {
			return err
		}
		return &fault.DataError{Row: first + i, Err: errTooLarge()}
	}
	return nil
}

func columnsError(got, want int) error {
	return &fault.ShapeError{What: "number of columns of a block of rows", Got: got, Want: fmt.Sprintf("%d, as the centres have", want)}
}
