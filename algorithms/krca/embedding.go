package krca

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// positiveTol is the smallest eigenvalue of the learned kernel matrix, relative to the
// largest, that gives a dimension.
const positiveTol = 1e-10

// landmarkStream separates the random numbers of the landmarks from other uses of a seed.
const landmarkStream = 0x6b726361 // "krca"

// embedding is kernel PCA of kt on m reference points R: with Kt_RR = U Lam U' and
// P = U Lam^-1/2, y(x) = P' kt_R(x) - offset. For a centered embedding the columns of P sum
// to zero and offset is P' times the mean column of Kt_RR. It is immutable.
//
// kt_R is never formed for a new x. Since kt(x,y) = rho/eps + c_x' D c_y, with everything
// linear in kernel values,
//
//	Cholesky form: y(x) = weights' k_support(x) - offset, one product
//	spectral form: y(x) = directions' c(x) + weights' rho_R(x) - offset,
//
// where the second term drops out when rho is 0 among the reference points, as it is when
// the chunklets span the feature space. That leaves the terms of kt in the form in which
// they do not cancel.
type embedding struct {
	// support holds the points that kernel values are taken with, by training row,
	// ascending without repetition: the points in chunklets, and R where it is needed.
	support points.Points
	// chunklet[i] is the place in support of anchor i.
	chunklet []int
	offset   []float64 // dim
	// weights is support x dim in the Cholesky form, m x dim in the spectral one.
	weights blas.Matrix
	// landmarks[i] is the place in support of reference point i. Only updates need it, which
	// only the Cholesky form takes.
	landmarks []int
	// Spectral form only: directions is q x dim; reference[i] is the place in support of
	// reference point i, and referenceC (m x q) its coordinates. Without residuals, the
	// last two and weights are empty.
	directions blas.Matrix
	reference  []int
	referenceC blas.Matrix
}

func (e *embedding) dim() int { return len(e.offset) }

// landmarks returns the rows of the reference points, ascending: all n of them, or a
// uniform sample of `count` (0: maxLandmarks) drawn by the seed when that is fewer.
func landmarks(n, count int, seed uint64) []int {
	if count == 0 {
		count = maxLandmarks
	}
	rows := points.UpTo(n)
	if n <= count {
		return rows
	}
	rng := rand.New(rand.NewPCG(seed, landmarkStream))
	for i := range count { // the first steps of a shuffle: a sample without replacement
		j := i + rng.IntN(n-i)
		rows[i], rows[j] = rows[j], rows[i]
	}
	rows = rows[:count]
	slices.Sort(rows)
	return rows
}

// reference are the points of an embedding.
type reference struct {
	x    points.Points
	rows []int // of the anchors in x
	refs []int // rows of the reference points in x
}

// fitEmbedding decomposes the learned kernel matrix of the reference points and folds the result
// into what Embed needs.
func fitEmbedding(ctx context.Context, eng *engine.Engine, m *metric, at reference, p Params,
	stage func(string)) (
	*embedding, error) {
	x, rows, refs := at.x, at.rows, at.refs
	implicit := m.implicit(x, len(refs), p.Dims)
	if err := checkEmbedding(eng, m.f, len(refs), p.Dims, implicit); err != nil {
		return nil, err
	}
	g, err := m.begin(ctx, eng, x.Select(refs), positions(refs, rows), implicit)
	if err != nil {
		return nil, err
	}
	defer g.release(eng)
	s, err := m.leading(ctx, eng, &g, refs, p.Dims, implicit, stage)
	if err != nil {
		return nil, err
	}
	columns, offset, err := s.projection(p)
	if err != nil {
		return nil, err
	}
	if !m.spectral() {
		return m.choleskyEmbedding(x, rows, refs, m.fold(ctx, eng, &g, columns), columns, offset), ctx.Err()
	}
	if !g.residual {
		refs = nil
	}
	return m.spectralEmbedding(eng, x, rows, refs, g.c, columns, offset), nil
}

// spectrum is what an embedding needs of the learned kernel matrix Kt.
type spectrum struct {
	values  []float64   // descending; of the centered matrix if column is set
	vectors blas.Matrix // eigenvectors as rows
	column  []float64   // the mean column of Kt; nil without centering
	trace   float64     // of Kt, or of what Kt is left from: rounding errors are relative to it
}

// leading returns the first dims eigenpairs, or all if dims is 0, of the learned kernel matrix of
// rows refs, which begin prepared. It destroys the matrix of g, and may complete g.
func (m *metric) leading(ctx context.Context, eng *engine.Engine, g *evaluated, refs []int, dims int,
	implicit bool, stage func(string)) (spectrum, error) {
	if implicit {
		stage("eigenvectors")
		if s, err := m.search(ctx, eng, g, dims, m.affordable(g)); err != nil || s.values != nil {
			return s, err
		}
		if err := checkEmbedding(eng, m.f, len(refs), dims, false); err != nil {
			return spectrum{}, err
		}
	}
	if g.open {
		if err := m.complete(ctx, eng, g); err != nil {
			return spectrum{}, err
		}
	}
	err := checkFinite(ctx, eng, g.kt, func(i int) error { return notRepresentable(refs[i]) })
	if err == nil {
		err = m.checkDefinite(g)
	}
	if err != nil {
		return spectrum{}, err
	}
	if !implicit {
		stage("eigenvectors")
	}
	return decomposed(ctx, eng, g.kt, dims)
}

// checkDefinite refuses a learned kernel matrix with an element on the diagonal that is negative by
// more than rounding.
func (m *metric) checkDefinite(g *evaluated) error {
	largest := blas.MaxAbs(g.diagonal)
	const rounding = 1e-8 // of kernel values over eps, from which learned ones are left by subtraction
	for i, v := range diagonalOf(g.kt) {
		if v < -rounding*largest/m.eps {
			return fault.Row(i, "the learned kernel value of this point with itself is %.3g: kernel %s is "+
				"not positive semidefinite: want one that is, such as rbf:sigma=median", v, m.kernel)
		}
	}
	return nil
}

// projection returns P = U Lam^-1/2 (m x dim) and the offset P' mean(kt) of a centered
// embedding, else zeros. With params.Power both are scaled column by column.
func (s *spectrum) projection(params Params) (p blas.Matrix, offset []float64, err error) {
	w, m, dim := s.values, s.vectors.Cols, 0
	// Rounding leaves eigenvalues of about u trace where all points coincide.
	for dim < len(w) && w[dim] > positiveTol*w[0] && w[dim] > 1e-14*s.trace {
		dim++
	}
	if dim == 0 {
		return p, nil, fault.Data("",
			"the training points coincide under the learned kernel: want points that differ")
	}
	p, offset = blas.NewMatrix(m, dim), make([]float64, dim)
	for r := range dim {
		u, scale := s.vectors.Row(r), 1/math.Sqrt(w[r])
		orient(u)
		if params.Power > 0 {
			scale *= math.Pow(w[r]/w[0], params.Power)
		}
		if s.column != nil {
			subtractMean(u)
			offset[r] = blas.Dot(u, s.column) * scale
		}
		for i, v := range u {
			p.Set(i, r, v*scale)
		}
	}
	return p, offset, nil
}

// decomposed returns the eigenpairs of the learned kernel matrix kt, which it destroys, in
// descending order: the first dims of the centered matrix, or all when dims is 0.
func decomposed(ctx context.Context, eng *engine.Engine, kt blas.Matrix, dims int) (s spectrum, err error) {
	m := kt.Rows
	s.trace = kt.Trace()
	if dims > 0 {
		if s.column, err = kernel.Center(ctx, eng, kt); err != nil {
			return s, err
		}
		s.values, s.vectors, err = eng.SymEigTop(ctx, kt, dims)
		return s, err
	}
	s.values, s.vectors = make([]float64, m), kt
	if err := eng.SymEig(ctx, kt, s.values, true); err != nil {
		return s, err
	}
	slices.Reverse(s.values)
	for i, j := 0, m-1; i < j; i, j = i+1, j-1 {
		a, b := kt.Row(i), kt.Row(j)
		for x := range a {
			a[x], b[x] = b[x], a[x]
		}
	}
	return s, nil
}

// orient makes the largest component positive (the first of equals), so that the free sign
// of an eigenvector does not depend on the backend.
func orient(u []float64) {
	largest := 0.0
	for _, v := range u {
		if math.Abs(v) > math.Abs(largest)*(1+1e-9) {
			largest = v
		}
	}
	if largest < 0 {
		for i := range u {
			u[i] = -u[i]
		}
	}
}

func subtractMean(u []float64) {
	average := kernel.Mean(u)
	for i := range u {
		u[i] -= average
	}
}

// choleskyEmbedding folds (1b) into one matrix: with V = F (L L')^-1 F'K_ar P, of which it gets v
// without F, P' kt_R(x) = (P' k_R(x) - V' k_anchors(x)) / eps.
func (m *metric) choleskyEmbedding(x points.Points, rows, refs []int, v, p blas.Matrix,
	offset []float64) *embedding {
	union := merge(rows, refs)
	e := &embedding{support: x.Select(union), chunklet: positions(union, rows), offset: offset}
	v = m.f.expand(v)
	e.weights = blas.NewMatrix(len(union), p.Cols)
	e.landmarks = positions(union, refs)
	for i, at := range e.landmarks {
		blas.AddScaled(e.weights.Row(at), 1/m.eps, p.Row(i))
	}
	for i, at := range e.chunklet {
		blas.AddScaled(e.weights.Row(at), -1/m.eps, v.Row(i))
	}
	return e
}

// spectralEmbedding folds (1c): directions = D C_R' P, weights = P/eps. refs is nil when
// there are no residuals; c are the coordinates of all reference points.
func (m *metric) spectralEmbedding(eng *engine.Engine, x points.Points, rows, refs []int, c, p blas.Matrix,
	offset []float64) *embedding {
	union := merge(rows, refs)
	e := &embedding{support: x.Select(union), chunklet: positions(union, rows), offset: offset}
	e.directions = blas.NewMatrix(c.Cols, p.Cols)
	eng.Backend().Gemm(true, false, 1, c, p, 0, e.directions)
	for r, w := range m.weights() {
		row := e.directions.Row(r)
		for j := range row {
			row[j] *= w * w
		}
	}
	if refs == nil {
		return e
	}
	e.reference, e.referenceC = positions(union, refs), c
	e.weights = blas.NewMatrix(p.Rows, p.Cols)
	for i := range p.Rows {
		blas.AddScaled(e.weights.Row(i), 1/m.eps, p.Row(i))
	}
	return e
}

// extended returns the map of the embedding.
func (e *embedding) extended(m *metric) *fitted.Map {
	return fitted.Extended(Method, fitted.Table{Kernel: m.kernel, Support: e.support, Dim: e.dim()},
		extension{e, m})
}

// extension is an embedding and what it evaluates.
type extension struct {
	*embedding
	metric *metric
}

// Encode stores nothing but the table: a model stores the rest itself.
func (extension) Encode(_ *model.File, _ string, table fitted.MapHeader) any { return table }

// Begin returns what embeds a block of points.
func (e extension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		if err := e.embed(ctx, eng, e.metric, x, to); err != nil {
			return err
		}
		return checkFinite(ctx, eng, to, notRepresentable)
	}, nil
}

// embed maps every point of x to a row of dst, |x| x dim. Cost per point: its kernel values with
// the support, and |support| dim flops (Cholesky form).
func (e *embedding) embed(ctx context.Context, eng *engine.Engine, m *metric, x points.Points,
	dst blas.Matrix) error {
	return forRows(x, func(lo, hi int, block points.Points) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := eng.GetMatrix(hi-lo, e.support.Len())
		defer eng.PutMatrix(k)
		if err := m.kernel.CrossTo(ctx, eng, k, block, e.support); err != nil {
			return fault.InRows(err, lo)
		}
		y := dst.View(lo, hi, 0, e.dim())
		if !m.spectral() {
			eng.Backend().Gemm(false, false, 1, k, e.weights, 0, y)
		} else if err := e.embedSpectral(ctx, eng, m, block, k, y); err != nil {
			return err
		}
		for i := range y.Rows {
			blas.AddScaled(y.Row(i), -1, e.offset)
		}
		return nil
	})
}

// embedSpectral writes directions' c(x) + weights' rho_R(x) into y, for points whose
// kernel values with the support are the rows of k.
func (e *embedding) embedSpectral(ctx context.Context, eng *engine.Engine, m *metric, x points.Points, k,
	y blas.Matrix) error {
	anchors := eng.GetMatrix(k.Rows, len(e.chunklet))
	defer eng.PutMatrix(anchors)
	gather(anchors, k, e.chunklet)
	c := blas.NewMatrix(k.Rows, m.width())
	if err := m.contrasts(ctx, eng, c, anchors); err != nil {
		return err
	}
	eng.Backend().Gemm(false, false, 1, c, e.directions, 0, y)
	if len(e.reference) == 0 {
		return nil
	}
	dx, err := m.kernel.Diagonal(ctx, eng, x)
	if err != nil {
		return err
	}
	ds, err := m.kernel.Diagonal(ctx, eng, e.support)
	if err != nil {
		return err
	}
	dr := make([]float64, len(e.reference))
	for i, at := range e.reference {
		dr[i] = ds[at]
	}
	rho := eng.GetMatrix(k.Rows, len(e.reference))
	defer eng.PutMatrix(rho)
	gather(rho, k, e.reference)
	eng.Backend().Gemm(false, true, -1, c, e.referenceC, 1, rho)
	for i := range rho.Rows {
		clip(rho.Row(i), dx[i], dr)
	}
	eng.Backend().Gemm(false, false, 1, rho, e.weights, 1, y)
	return nil
}

// gather copies the columns at of src to dst, in that order.
func gather(dst, src blas.Matrix, at []int) {
	for i := range dst.Rows {
		from, to := src.Row(i), dst.Row(i)
		for j, a := range at {
			to[j] = from[a]
		}
	}
}

// merge returns the union of two lists of rows, ascending without repetition.
func merge(a, b []int) []int {
	union := slices.Concat(a, b)
	slices.Sort(union)
	return slices.Compact(union)
}

// positions returns where each of rows is in list, which is ascending, or -1 where it is not.
func positions(list, rows []int) []int {
	at, found := make([]int, len(rows)), false
	for i, row := range rows {
		if at[i], found = slices.BinarySearch(list, row); !found {
			at[i] = -1
		}
	}
	return at
}
