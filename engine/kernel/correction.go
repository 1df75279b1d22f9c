package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Correction makes a Gram matrix positive semidefinite (Chen, Gupta and Recht, Learning kernels
// from indefinite similarities, 2009). The matrix K of a fit loses its negative eigenvalues,
// K - V'SV, or they become positive, K - 2 V'SV. The inner products of another row with the objects
// of the fit change by the same linear map, x (I - V'V) or x (I - 2 V'V), and those of a row with
// itself by what this takes away. So the rows of the fit get the matrix of the fit when they come
// again.
type Correction struct {
	Vectors blas.Matrix // V: eigenvectors of negative eigenvalues as rows, q x n
	Values  []float64   // the diagonal of S, below 0
	Flip    bool        // negative eigenvalues become positive
}

// Correct returns the named correction of the Gram matrix of a fit. It is nil for a matrix that is
// positive semidefinite up to rounding, as [Sound] says.
//
// Errors: an unknown name; rows of a Gram matrix that are not its objects in order; a request above
// the memory limit. Cost: that of Sound, and the eigenvectors of a matrix of order n if that fails.
func Correct(ctx context.Context, eng *engine.Engine, name string, g *points.Gram) (*Correction, error) {
	if !slices.Contains(points.Corrections(), name) {
		return nil, fault.Unknown("gram", name, points.Corrections())
	}
	if !g.Training() {
		return nil, fault.Data("", "%d rows of a Gram matrix of %d objects: want a square matrix, from which the correction is learned", g.N, g.M)
	}
	k := blas.MatrixOf(g.N, g.N, g.Data)
	smallest, _, err := negative(ctx, eng, "Gram matrix", k)
	if err != nil || smallest == 0 {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("eigenvectors of the %d x %d Gram matrix", g.N, g.N), 2*engine.MatrixBytes(g.N, g.N), "raise the memory limit"); err != nil {
		return nil, err
	}
	vectors, values := eng.GetMatrix(g.N, g.N), make([]float64, g.N)
	defer eng.PutMatrix(vectors)
	if err := fillShifted(ctx, eng, vectors, k, 1, 0); err != nil {
		return nil, err
	}
	if err := eng.SymEig(ctx, vectors, values, true); err != nil {
		return nil, err
	}
	// Eigenvalues that are rounding stay: another row divides by them.
	rounding := -1e-13 * float64(g.N) * max(-slices.Min(values), slices.Max(values))
	c := &Correction{Flip: name == points.Flip}
	var rows []int
	for at, v := range values {
		if v < rounding {
			rows, c.Values = append(rows, at), append(c.Values, v)
		}
	}
	c.Vectors = vectors.Select(rows)
	return c, nil
}

// String describes the correction.
func (c *Correction) String() string {
	what := "became 0"
	if c.Flip {
		what = "became positive"
	}
	return fmt.Sprintf("%d of %d eigenvalues of the Gram matrix were negative, down to %.6g, and %s", len(c.Values), c.Vectors.Cols, slices.Min(c.Values), what)
}

// Features returns the number of objects of the fit.
func (c *Correction) Features() int { return c.Vectors.Cols }

// factor returns how often the part of negative eigenvalues is subtracted.
func (c *Correction) factor() float64 {
	if c.Flip {
		return 2
	}
	return 1
}

// Apply returns corrected rows of a Gram matrix. Other points are a *fault.ParamError, another
// number of objects is a *fault.ShapeError. Cost: O(q n) for each row, with q negative eigenvalues.
func (c *Correction) Apply(x points.Points) (points.Points, error) {
	g, is := x.(*points.Gram)
	if !is {
		return nil, &fault.ParamError{Param: "points", Value: "not rows of a Gram matrix", Want: "rows of a Gram matrix, as in the fit"}
	}
	if g.M != c.Vectors.Cols {
		return nil, &fault.ShapeError{What: "number of columns of the Gram matrix", Got: g.M, Want: fmt.Sprintf("%d, the objects of the fit", c.Vectors.Cols)}
	}
	t, err := asm.Select(asm.Best())
	if err != nil {
		return nil, err
	}
	out := &points.Gram{N: g.N, M: g.M, Data: slices.Clone(g.Data), Diagonal: slices.Clone(g.Diagonal), Reference: g.Reference, Semidefinite: g.Training()}
	for i := range g.N {
		to := out.Row(i)
		for m, v := range c.Values {
			row := c.Vectors.Row(m)
			along := t.Dot(row, g.Row(i))
			t.Axpy(-c.factor()*along, row, to)
			share := min(1, math.Abs(along)/-v) // of the eigenvector, at most 1 in a row of the fit
			out.Diagonal[i] += c.factor() * math.Abs(along) * share
		}
		if r := g.Reference[i]; r >= 0 {
			out.Diagonal[i] = to[r]
		}
		out.Diagonal[i] = max(0, out.Diagonal[i])
	}
	return out, nil
}

// Validate returns an error for a correction that no matrix has.
func (c *Correction) Validate() error {
	if len(c.Values) != c.Vectors.Rows || len(c.Values) == 0 {
		return fault.Data("", "correction of a Gram matrix by %d eigenvectors with %d eigenvalues: want at least one, and as many", c.Vectors.Rows, len(c.Values))
	}
	for _, v := range c.Values {
		if !(v < 0) || math.IsInf(v, 0) {
			return fault.Data("", "correction of a Gram matrix with the eigenvalue %v: want a finite number < 0", v)
		}
	}
	for k, v := range c.Vectors.Data {
		if math.IsNaN(v) || math.Abs(v) > 1.5 {
			return fault.Data("", "correction of a Gram matrix with the entry %v of eigenvector %d: want vectors of length 1", v, k/c.Vectors.Cols)
		}
	}
	return nil
}
