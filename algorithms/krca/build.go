package krca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

const (
	// maxAmplification is the loss of accuracy beyond which (1b) may give way to (1c).
	// One digit is what the change of formula must at least gain.
	maxAmplification = 16
	// probes is the number of points at which the loss is measured, so many at a time.
	probes, probesAtOnce = 64, 8
	// oneProbe is the order of the factor up to which the first probe is one point alone: nearly
	// always it is enough, and it costs r^2 flops without a packed copy of the factor.
	oneProbe = 256
)

// newMetric learns kt from the kernel, the anchors (n points, chunklet after chunklet) with their
// basis, and the eps of a metric without a form.
// Cost: the n x n kernel matrix, O(n^2) for F'KF, r^3/3 for the Cholesky form.
func newMetric(ctx context.Context, eng *engine.Engine, m *metric, form Form,
	stage func(string)) (*metric, error) {
	stage("kernel matrix of the chunklets")
	full := eng.GetMatrix(m.anchors.Len(), m.anchors.Len())
	defer eng.PutMatrix(full) // the form keeps nothing of it
	if err := m.kernel.GramTo(ctx, eng, full, m.anchors); err != nil {
		return nil, err
	}
	m.noise = max(float64(full.Rows)*0x1p-53*largestOf(full), m.kernel.Noise(m.anchors))
	p := newProbes(eng, full)
	defer eng.PutMatrix(p.rows)
	a, err := m.f.reduce(ctx, eng, full)
	if err != nil {
		return nil, err
	}
	if form == FormSpectral {
		stage("spectral form")
		return m, m.setSpectral(ctx, eng, a)
	}
	stage("cholesky")
	saved := eng.GetMatrix(1, a.Rows)
	defer eng.PutMatrix(saved)
	diagonal := saved.Data
	copyDiagonal(diagonal, a)
	if err := m.setCholesky(ctx, eng, a); err != nil {
		var notDefinite *blas.NotPositiveDefiniteError
		if !errors.As(err, &notDefinite) {
			return nil, err
		}
		if form == FormCholesky {
			return nil, &fault.ParamError{Param: "eps", Value: m.eps,
				Want: "a larger number with form=cholesky (sI + F'KF has no Cholesky factor), or form=auto"}
		}
		stage("spectral form")
		if err := restore(ctx, eng, a, diagonal); err != nil { // from what setCholesky left
			return nil, err
		}
		return m, m.setSpectral(ctx, eng, a)
	}
	if form != FormCholesky {
		if err := m.choose(ctx, eng, a, diagonal, p, stage); err != nil {
			return nil, err
		}
	}
	return m, m.compact(ctx, eng)
}

// compact moves the factor out of the n x n matrix that it was computed in, which can then
// be freed: r is about n/2 when the chunklets are pairs.
func (m *metric) compact(ctx context.Context, eng *engine.Engine) error {
	if m.spectral() {
		return nil
	}
	l, from := eng.UnclearedMatrix(m.factor.Rows, m.factor.Rows), m.factor
	m.factor = l
	return eng.Each(ctx, l.Rows, 64, func(i int) { clear(l.Row(i)[copy(l.Row(i)[:i+1], from.Row(i)):]) })
}

// setCholesky overwrites the lower triangle of A = F'KF with the factor of sI + A. The
// strict upper triangle keeps A.
func (m *metric) setCholesky(ctx context.Context, eng *engine.Engine, a blas.Matrix) error {
	s := float64(m.f.points()) * m.eps
	for i := range a.Rows {
		a.Data[i*a.Stride+i] += s
	}
	m.factor = a
	return eng.Cholesky(ctx, a)
}

func (m *metric) setSpectral(ctx context.Context, eng *engine.Engine, a blas.Matrix) error {
	d, err := decompose(ctx, eng, a, m.noise)
	if err != nil {
		return err
	}
	m.useSpectral(d)
	return nil
}

func (m *metric) useSpectral(d decomposition) {
	m.factor, m.basis, m.values = blas.Matrix{}, d.basis, d.values
}

// probe is up to 64 evenly spaced anchors.
type probe struct {
	rows     blas.Matrix     // their kernel values with all anchors
	diagonal [probes]float64 // k(z,z), as many as there are rows
}

// newProbes copies them from the kernel matrix of the anchors. The rows are scratch memory of eng.
func newProbes(eng *engine.Engine, full blas.Matrix) probe {
	n := full.Rows
	p := probe{rows: eng.GetMatrix(min(n, probes), n)}
	for i := range p.rows.Rows {
		z := i * n / p.rows.Rows
		copy(p.rows.Row(i), full.Row(z))
		p.diagonal[i] = full.At(z, z)
	}
	return p
}

// choose applies the rule of the package documentation to a metric in the Cholesky form,
// whose factor lies in the lower triangle of a.
func (m *metric) choose(ctx context.Context, eng *engine.Engine, a blas.Matrix, diagonal []float64, p probe,
	stage func(string)) error {
	loss, err := m.amplification(ctx, eng, p)
	if err != nil || loss <= maxAmplification {
		return err
	}
	stage("spectral form")
	if err := eng.Check(fmt.Sprintf("rank-revealing decomposition of order %d", a.Rows),
		3*engine.MatrixBytes(a.Rows, a.Rows), fewerLinks); err != nil {
		return err
	}
	whole := eng.NewMatrix(a.Rows, a.Rows)
	err = eng.Each(ctx, a.Rows, 64, func(i int) { copy(whole.Row(i)[i:], a.Row(i)[i:]) })
	if err == nil {
		err = restore(ctx, eng, whole, diagonal)
	}
	if err != nil {
		return err
	}
	d, err := decompose(ctx, eng, whole, m.noise)
	if err != nil {
		return err
	}
	q := len(d.values)
	singular := q < a.Rows
	if singular && (q == 0 || loss > d.values[0]/d.values[q-1]) {
		m.useSpectral(d)
	}
	return nil
}

// amplification returns max k(z,z) / max eps kt(z,z) over the probes,
// by (1b): how many times the rounding errors of k grow, relative to kt. +Inf when
// cancellation leaves nothing. Some of the probes are enough to see that it is no more
// than maxAmplification; then the result is a bound. It destroys the rows of p.
func (m *metric) amplification(ctx context.Context, eng *engine.Engine, p probe) (float64, error) {
	before := slices.Max(p.diagonal[:p.rows.Rows])
	if before == 0 {
		return 1, nil // all probes at the origin of the feature space: nothing cancels
	}
	c := eng.GetMatrix(probesAtOnce, m.width())
	defer eng.PutMatrix(c)
	after, many := 0.0, probesAtOnce
	if m.width() <= oneProbe {
		many = 1
	}
	for lo := 0; lo < p.rows.Rows && before > maxAmplification*after; {
		hi := min(lo+many, p.rows.Rows)
		c := c.View(0, hi-lo, 0, c.Cols)
		if err := m.contrasts(ctx, eng, c, p.rows.View(lo, hi, 0, p.rows.Cols)); err != nil {
			return 0, err
		}
		if many == 1 {
			m.substitute(eng, c.Row(0))
		} else if err := m.solve(ctx, eng, c); err != nil {
			return 0, err
		}
		for i := range hi - lo {
			after = max(after, p.diagonal[lo+i]-blas.Dot(c.Row(i), c.Row(i)))
		}
		lo, many = hi, probesAtOnce
	}
	return before / after, nil
}

// substitute turns F'k_x of one point into its coordinates in the Cholesky form, as solve does.
func (m *metric) substitute(eng *engine.Engine, c []float64) {
	t := eng.Backend().Kernels()
	for i := range c {
		c[i] = (c[i] - t.Dot(m.factor.Row(i)[:i], c[:i])) / m.factor.At(i, i)
	}
}

// restore rebuilds a symmetric matrix, both triangles, from its strict upper triangle and
// its diagonal.
func restore(ctx context.Context, eng *engine.Engine, a blas.Matrix, diagonal []float64) error {
	const tile = 64 // rows whose elements of a column are near each other in a row
	return eng.For(ctx, a.Rows, tile, func(lo, hi int) error {
		for j := range hi {
			row := a.Row(j)
			for i := max(lo, j+1); i < hi; i++ {
				a.Set(i, j, row[i])
			}
		}
		for i := lo; i < hi; i++ {
			a.Set(i, i, diagonal[i])
		}
		return nil
	})
}

// checkFinite returns the error of the first row of m that holds a NaN or an infinity.
func checkFinite(ctx context.Context, eng *engine.Engine, m blas.Matrix, fail func(row int) error) error {
	return eng.For(ctx, m.Rows, 64, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			// x-x is 0 for finite x and NaN for the others, and NaN stays in a sum.
			var sum float64
			for _, v := range m.Row(i) {
				sum += v - v
			}
			if sum != 0 || math.IsNaN(sum) {
				return fail(i)
			}
		}
		return nil
	})
}

// rankTol is the smallest eigenvalue of F'KF, relative to the largest, that counts.
const rankTol = 1e-12

// decomposition is F'KF = U diag(values) U' on its numerical range.
type decomposition struct {
	basis  blas.Matrix // r x q, U diag(values)^-1/2
	values []float64   // q of them, descending
}

// decompose computes the numerical range of A, symmetric positive semidefinite of order r
// (both triangles valid; only read): a Cholesky decomposition with pivoting A = B B', and
// the eigenvectors V of the small B'B, which give U = B V diag(s)^-1/2.
// O(r q^2) flops, r q values of memory for rank q.
//
// noise bounds the rounding errors in the elements of A, which may be all there is of it:
// chunklets of equal rows have F'KF = 0, computed as the difference of ordinary numbers.
// A that is indefinite beyond rounding is a *fault.DataError.
func decompose(ctx context.Context, eng *engine.Engine, a blas.Matrix, noise float64) (decomposition, error) {
	bt, err := pivotedCholesky(ctx, eng, a, noise)
	if err != nil {
		return decomposition{}, err
	}
	if err := checkSemidefinite(eng, a, bt, noise); err != nil {
		return decomposition{}, err
	}
	q := bt.Rows
	small := eng.NewMatrix(q, q)
	eng.Backend().Syrk(false, 1, bt, 0, small)
	w := make([]float64, q)
	if err := eng.SymEig(ctx, small, w, true); err != nil {
		return decomposition{}, err
	}
	kept := 0
	for kept < q && w[q-1-kept] > rankTol*w[q-1] {
		kept++
	}
	// Rows of V' in descending order, scaled: basis = B V diag(s)^-1.
	v, values := blas.NewMatrix(kept, q), make([]float64, kept)
	for r := range kept {
		values[r] = w[q-1-r]
		row := v.Row(r)
		copy(row, small.Row(q-1-r))
		for j := range row {
			row[j] /= values[r]
		}
	}
	basis := eng.NewMatrix(a.Rows, kept)
	eng.Backend().Gemm(true, true, 1, bt, v, 0, basis)
	return decomposition{basis, values}, ctx.Err()
}

// pivotedCholesky returns B' (q x r) with A ~ B B', the column of the largest remaining
// diagonal element first, up to the first pivot within rounding of 0 (r u max_i A_ii, as
// LAPACK's dpstrf, or noise). 2 r q^2 flops, in products of a matrix and a vector.
func pivotedCholesky(ctx context.Context, eng *engine.Engine, a blas.Matrix,
	noise float64) (blas.Matrix, error) {
	r := a.Rows
	rest := diagonalOf(a)
	largest := 0.0
	for _, d := range rest {
		largest = max(largest, d)
	}
	stop := max(float64(r)*0x1p-53*largest, noise)
	bt := blas.Matrix{Cols: r, Stride: max(1, r)}
	for bt.Rows < r {
		p := 0
		for i, d := range rest {
			if d > rest[p] {
				p = i
			}
		}
		if !(rest[p] > stop) {
			break
		}
		if bt.Rows%64 == 0 {
			if err := ctx.Err(); err != nil {
				return bt, err
			}
		}
		bt = appendColumn(eng, bt, a, p, rest)
	}
	return bt, nil
}

// appendColumn appends the column of pivot p to B (a row of B'), and takes its squares
// from the remaining diagonal.
func appendColumn(eng *engine.Engine, bt, a blas.Matrix, p int, rest []float64) blas.Matrix {
	r, pivot := a.Rows, math.Sqrt(rest[p])
	done := make([]float64, bt.Rows) // row p of B so far
	for j := range done {
		done[j] = bt.At(j, p)
	}
	column := append(make([]float64, 0, r), a.Row(p)...)
	if bt.Rows > 0 {
		eng.Backend().Gemv(true, -1, bt, done, 1, column)
	}
	for i := range column {
		column[i] /= pivot
		rest[i] -= column[i] * column[i]
	}
	rest[p] = 0 // exactly, so that rounding cannot choose it again
	bt.Data = append(bt.Data, column...)
	bt.Rows++
	return bt
}

// checkSemidefinite compares A v with B(B'v) for a fixed vector v: what the pivots left
// must be rounding error, unless A has negative eigenvalues.
func checkSemidefinite(eng *engine.Engine, a, bt blas.Matrix, noise float64) error {
	r, q := bt.Cols, bt.Rows
	v, av, bv := make([]float64, r), make([]float64, r), make([]float64, q)
	for i := range v {
		v[i] = math.Cos(float64(3*i*i + i)) // no structure that a kernel matrix would share
	}
	eng.Backend().Symv(1, a, v, 0, av)
	scale := 0.0
	for i := range r {
		scale = max(scale, math.Abs(av[i]), math.Abs(a.At(i, i)))
	}
	if q > 0 {
		eng.Backend().Gemv(false, 1, bt, v, 0, bv)
		eng.Backend().Gemv(true, -1, bt, bv, 1, av)
	}
	for _, d := range av {
		if !(math.Abs(d) <= 1e-8*scale+float64(r)*noise) {
			return fault.Data("",
				"the kernel matrix of the points in chunklets is not positive semidefinite: "+
					"want a kernel without negative eigenvalues")
		}
	}
	return nil
}
