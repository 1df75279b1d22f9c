package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// indefinite is the tolerance for negative eigenvalues of a kernel matrix, relative to its trace:
// it allows for the rounding of matrices that were written with about ten digits.
const indefinite = 1e-10

// Sound returns x, or an error if x is the Gram matrix of its own objects and is not positive
// semidefinite up to rounding, or not resolved ([CheckResolved]). A matrix that passed is marked,
// so that the next call costs nothing.
//
// Cost: that of [Kernel.CheckMatrix].
func Sound(ctx context.Context, eng *engine.Engine, x points.Points) (points.Points, error) {
	g, is := x.(*points.Gram)
	if !is || g.Semidefinite || !g.Training() {
		return x, nil
	}
	smallest, noise, err := negative(ctx, eng, "Gram matrix", blas.MatrixOf(g.N, g.N, g.Data))
	if err != nil {
		return nil, err
	}
	if smallest < 0 {
		return nil, fault.Data("",
			"the Gram matrix is not positive semidefinite: its smallest eigenvalue is %.6g: want 0 or "+
				"more; add %.3g to its diagonal, or use another similarity; gram=clip makes its negative "+
				"eigenvalues 0",
			smallest, -smallest)
	}
	if err := CheckResolved(g); err != nil {
		return nil, err
	}
	marked := *g
	marked.Semidefinite, marked.Noise = true, noise
	return &marked, nil
}

// Definite reports whether all matrices of the kernel are positive semidefinite, on points whose
// inner products are. Those of a sigmoid kernel need not be.
func (k Kernel) Definite() bool {
	return !slices.ContainsFunc(k.stages, func(s stage) bool { return s.entry().indefinite })
}

// CheckMatrix returns a *fault.ParamError with the smallest eigenvalue unless m, a symmetric matrix
// of the kernel, is positive semidefinite up to rounding: up to 1e-10 of its trace, or, for numbers
// of 6 to 10 digits or of single precision, up to what their rounding can do.
//
// Cost: one Cholesky decomposition, n^3/3 flops and 8n^2 bytes; the smallest eigenvalue is computed
// only if that fails.
func (k Kernel) CheckMatrix(ctx context.Context, eng *engine.Engine, m blas.Matrix) error {
	smallest, _, err := negative(ctx, eng, "kernel matrix", m)
	if err == nil && smallest < 0 {
		err = fault.Param("kernel", k.String(), "a kernel whose matrix on these points is positive "+
			"semidefinite, such as rbf: its smallest eigenvalue is %.6g, its trace %.6g", smallest, m.Trace())
	}
	return err
}

// negative returns the smallest eigenvalue of k if it is negative beyond rounding, and 0 otherwise,
// and what the rounding of entries in a shorter form may do to eigenvalues.
func negative(ctx context.Context, eng *engine.Engine, what string,
	k blas.Matrix) (smallest, noise float64, err error) {
	n := k.Rows
	if err := eng.Check(fmt.Sprintf("check of the %d x %d %s", n, n, what), engine.MatrixBytes(n, n),
		"raise the memory limit"); err != nil {
		return 0, 0, err
	}
	longest, err := longestRow(ctx, eng, k)
	if err != nil {
		return 0, 0, err
	}
	noise = 4 * precision(k.Data) * longest
	tolerance := max(indefinite*k.Trace(), noise)
	a := eng.GetMatrix(n, n)
	defer eng.PutMatrix(a)
	if err := fillShifted(ctx, eng, a, k, 1, tolerance); err != nil {
		return 0, 0, err
	}
	err = eng.Cholesky(ctx, a)
	if _, failed := errors.AsType[*blas.NotPositiveDefiniteError](err); !failed {
		return 0, noise, err
	}
	smallest, err = smallestEigenvalue(ctx, eng, a, k)
	if err != nil || smallest >= -tolerance { // within the tolerance, or a matrix of zeros
		return 0, noise, err
	}
	return smallest, noise, nil
}

// longestRow returns the largest norm of a row. The rounding of the entries, independent and
// relative to them, moves eigenvalues by about as much of it, and by more only where rows repeat.
func longestRow(ctx context.Context, eng *engine.Engine, k blas.Matrix) (float64, error) {
	squares := make([]float64, k.Rows)
	err := eng.Each(ctx, k.Rows, 64, func(i int) {
		squares[i] = eng.Backend().Kernels().Dot(k.Row(i), k.Row(i))
	})
	return math.Sqrt(slices.Max(squares)), err
}

// Numbers in a shorter form.
const (
	fewestDigits, singleDigits, mostDigits = 6, 9, 10
	sampledNumbers                         = 1000
	single                                 = 0x1p-22 // the rounding of sums in single precision
)

// precision returns the rounding of the values, relative to them: that of their decimal digits if
// these are few, but not below that of single precision for up to nine digits and for numbers of
// single precision, and 0 for other numbers. Fewer than six digits count as six, since they may be
// exact. It looks at some values, spread over all, and at all of single precision.
func precision(values []float64) float64 {
	most := fewestDigits
	step := max(1, len(values)/sampledNumbers) | 1 // odd: not one column of a matrix of even order
	for at := 0; at < len(values); at += step {
		text := strconv.FormatFloat(math.Abs(values[at]), 'e', -1, 64)
		digits := slices.Index([]byte(text), 'e')
		if digits > 1 {
			digits-- // the point
		}
		most = max(most, digits)
	}
	switch rounding := 5 * math.Pow10(-most); {
	case most <= singleDigits:
		return max(single, rounding)
	case points.SinglePrecision(values):
		return single
	case most <= mostDigits:
		return rounding
	}
	return 0
}

// fillShifted writes sign K + shift I over a.
func fillShifted(ctx context.Context, eng *engine.Engine, a, k blas.Matrix, sign, shift float64) error {
	return eng.Each(ctx, k.Rows, 64, func(i int) {
		to := a.Row(i)
		for j, v := range k.Row(i) {
			to[j] = sign * v
		}
		to[i] += shift
	})
}

// smallestEigenvalue returns c minus the largest eigenvalue of c I - K, where c bounds the
// eigenvalues of K: the eigenvalue of largest magnitude is then the one that the iteration finds.
// It overwrites a, n x n.
func smallestEigenvalue(ctx context.Context, eng *engine.Engine, a, k blas.Matrix) (float64, error) {
	sums := make([]float64, k.Rows) // of magnitudes in a row: the largest is a bound (Gershgorin)
	err := eng.Each(ctx, k.Rows, 64, func(i int) {
		sum := 0.0
		for _, v := range k.Row(i) {
			sum += math.Abs(v)
		}
		sums[i] = sum
	})
	if err != nil {
		return 0, err
	}
	c := slices.Max(sums)
	if err := fillShifted(ctx, eng, a, k, -1, c); err != nil {
		return 0, err
	}
	w, _, err := eng.SymEigTop(ctx, a, 1)
	if err != nil {
		return 0, err
	}
	return c - w[0], nil
}

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
		return nil, fault.Data("",
			"%d rows of a Gram matrix of %d objects: want a square matrix, from which the correction is "+
				"learned", g.N, g.M)
	}
	k := blas.MatrixOf(g.N, g.N, g.Data)
	smallest, _, err := negative(ctx, eng, "Gram matrix", k)
	if err != nil || smallest == 0 {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("eigenvectors of the %d x %d Gram matrix", g.N, g.N),
		2*engine.MatrixBytes(g.N, g.N), "raise the memory limit"); err != nil {
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
	return fmt.Sprintf("%d of %d eigenvalues of the Gram matrix were negative, down to %.6g, and %s",
		len(c.Values), c.Vectors.Cols, slices.Min(c.Values), what)
}

// Name returns "corrected eigenvalues".
func (c *Correction) Name() string { return "corrected eigenvalues" }

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
		return nil, fault.Param("points", "not rows of a Gram matrix", "rows of a Gram matrix, as in the fit")
	}
	if g.M != c.Vectors.Cols {
		return nil, fault.Shape("number of columns of the Gram matrix", g.M,
			"%d, the objects of the fit", c.Vectors.Cols)
	}
	t, err := asm.Select(asm.Best())
	if err != nil {
		return nil, err
	}
	out := &points.Gram{N: g.N, M: g.M, Data: slices.Clone(g.Data), Diagonal: slices.Clone(g.Diagonal),
		Reference: g.Reference, Semidefinite: g.Training()}
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
		return fault.Data("",
			"correction of a Gram matrix by %d eigenvectors with %d eigenvalues: want at least one, and as "+
				"many", c.Vectors.Rows, len(c.Values))
	}
	for _, v := range c.Values {
		if !(v < 0) || math.IsInf(v, 0) {
			return fault.Data("",
				"correction of a Gram matrix with the eigenvalue %v: want a finite number < 0", v)
		}
	}
	for k, v := range c.Vectors.Data {
		if math.IsNaN(v) || math.Abs(v) > 1.5 {
			return fault.Data("",
				"correction of a Gram matrix with the entry %v of eigenvector %d: want vectors of length 1",
				v, k/c.Vectors.Cols)
		}
	}
	return nil
}

// Tensors of a correction.
const (
	vectorsTensor = "gram.vectors" // q x n
	valuesTensor  = "gram.values"  // [q]
	flipTensor    = "gram.flip"    // [1]: 1 if negative eigenvalues become positive
)

// Encode stores the correction in a model file.
func (c *Correction) Encode(file *model.File) {
	flip := int64(0)
	if c.Flip {
		flip = 1
	}
	file.SetFloat64s(vectorsTensor, c.Vectors.Data, c.Vectors.Rows, c.Vectors.Cols)
	file.SetFloat64s(valuesTensor, c.Values)
	file.SetInt64s(flipTensor, []int64{flip})
}

// DecodeCorrection returns the correction that [Correction.Encode] stored, nil for a file without
// one.
func DecodeCorrection(file *model.File) (*Correction, error) {
	if !file.Has(vectorsTensor) {
		return nil, nil
	}
	shape, err := file.Dims(vectorsTensor, 2)
	if err != nil {
		return nil, err
	}
	vectors, err := file.Float64s(vectorsTensor, shape...)
	if err != nil {
		return nil, err
	}
	c := &Correction{Vectors: blas.MatrixOf(shape[0], shape[1], vectors)}
	if c.Values, err = file.Float64s(valuesTensor, shape[0]); err != nil {
		return nil, err
	}
	flip, err := file.Int64s(flipTensor, 1)
	if err != nil {
		return nil, err
	}
	c.Flip = flip[0] != 0
	return c, c.Validate()
}
