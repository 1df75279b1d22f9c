package operator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
)

// LaplacianEigenpairs returns the r smallest eigenvalues, in ascending order, and the eigenvectors
// of the Laplacian of the graph with the given adjacency matrix (see [graph.Laplacian]).
//
// The eigenvalue 0 has one eigenvector for each connected component, in the order of their first
// points: constant on the component, or the square roots of the degrees if normalized. These are
// known up to rounding and not searched for. A graph with r or more components returns only such
// eigenvectors. The rest is like [BottomEigenpairs], but o.Null is ignored. Nothing is factored,
// and memory is about 150 vectors.
//
// Errors are those of graph.Laplacian and of Bottom.
func LaplacianEigenpairs(ctx context.Context, eng *engine.Engine, adjacency *sparse.Matrix, normalized bool,
	r int, o EigenOptions) (*Eigenpairs, error) {
	n := adjacency.Rows
	if r < 0 || r > n {
		return nil, fault.Param("number of eigenvalues", r, "a number from 0 to %d, the number of points", n)
	}
	l, err := graph.Laplacian(adjacency, normalized)
	if err != nil {
		return nil, err
	}
	known, err := nullSpace(eng, adjacency, normalized, r)
	if err != nil {
		return nil, err
	}
	var order []int32 // nil for the original order
	if n >= ordered {
		order = graph.Order(adjacency)
		l, known = l.Permute(order), permuted(eng, known, order)
	}
	a, err := Sparse(l)
	if err != nil {
		return nil, err
	}
	o.Null = known
	s := search{EigenOptions: o, ctx: ctx, eng: eng, a: a, n: n, k: known.Rows, sign: -1}
	res, err := s.measureNull()
	if err != nil || known.Rows == r {
		restore(res, order)
		return res, err
	}
	rest, err := BottomEigenpairs(ctx, eng, a, r-known.Rows, o)
	if rest == nil {
		return nil, err
	}
	if err := eng.Check("eigenvectors", engine.MatrixBytes(r, n),
		"ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return nil, err
	}
	rest.Vectors = below(eng, res.Vectors, rest.Vectors)
	rest.Values, rest.Residuals = append(res.Values, rest.Values...), append(res.Residuals, rest.Residuals...)
	rest.Products += res.Products
	restore(rest, order)
	return rest, err
}

// permuted returns the rows of v with their elements in the given order.
func permuted(eng *engine.Engine, v blas.Matrix, order []int32) blas.Matrix {
	p := eng.NewMatrix(v.Rows, v.Cols)
	for i := range v.Rows {
		to, from := p.Row(i), v.Row(i)
		for j, at := range order {
			to[j] = from[at]
		}
	}
	return p
}

// restore reorders the elements of the eigenvectors to the original order.
func restore(res *Eigenpairs, order []int32) {
	if order == nil {
		return
	}
	x := make([]float64, len(order))
	for i := range res.Vectors.Rows {
		v := res.Vectors.Row(i)
		for j, at := range order {
			x[at] = v[j]
		}
		copy(v, x)
	}
}

// ordered is the number of points from which their order matters: shorter vectors fit the
// second-level cache.
const ordered = 16384

// nullSpace returns the eigenvectors of 0 as rows, at most r of them.
func nullSpace(eng *engine.Engine, adjacency *sparse.Matrix, normalized bool, r int) (blas.Matrix, error) {
	label, count := graph.Components(adjacency)
	count = min(count, r)
	if err := eng.Check(fmt.Sprintf("eigenvectors of %d components", count),
		engine.MatrixBytes(count, adjacency.Rows),
		"ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return blas.Matrix{}, err
	}
	v := eng.NewMatrix(count, adjacency.Rows)
	degrees := graph.Degrees(adjacency)
	squares := make([]float64, count)
	for i, c := range label {
		if c >= count {
			continue
		}
		x := 1.0
		if normalized && degrees[i] > 0 { // a point of degree 0 is a component of one point
			x = math.Sqrt(degrees[i])
		}
		v.Set(c, i, x)
		squares[c] += x * x
	}
	for c, s := range squares {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), v.Row(c))
	}
	return v, nil
}

// measureNull returns the known eigenvectors with the eigenvalue 0 and their residuals.
func (s *search) measureNull() (*Eigenpairs, error) {
	res := &Eigenpairs{Values: make([]float64, s.k), Vectors: s.Null, Residuals: []float64{}, Products: s.k,
		Method: "components", Converged: true}
	if s.k == 0 {
		return res, nil
	}
	x := s.eng.Transposed(s.Null)
	image := s.eng.NewMatrix(s.n, s.k)
	if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
		return nil, err
	}
	res.Residuals = lengths(image)
	return res, nil
}

// below returns a matrix with the rows of a followed by those of b.
func below(eng *engine.Engine, a, b blas.Matrix) blas.Matrix {
	m := eng.NewMatrix(a.Rows+b.Rows, b.Cols)
	m.View(0, a.Rows, 0, b.Cols).CopyFrom(a)
	m.View(a.Rows, a.Rows+b.Rows, 0, b.Cols).CopyFrom(b)
	return m
}

// filter is a Chebyshev polynomial of degree d in sign A, shifted and scaled so that it stays
// within [-1, 1] on the unwanted part [low, cut] of the spectrum, and grows above it.
type filter struct {
	a         Operator
	sign      float64
	low, cut  float64
	degree    int
	center, e float64 // of the unwanted part: its middle and half its length
}

const (
	// filterRange is the largest value of the filter on the wanted part, relative to the unwanted
	// part: the smallest wanted value must not vanish in the rounding of the largest. Chosen by
	// experiment.
	filterRange = 3000
	// nullRange is the same bound for the values of excluded eigenvectors.
	nullRange = 1e7
	maxDegree = 1000
)

// newFilter returns the filter with a value of about filterRange at top, the largest wanted
// eigenvalue, or nullRange at null.
func newFilter(a Operator, sign, low, cut, top, null float64) *filter {
	f := &filter{a: a, sign: sign, low: low, cut: cut, center: (low + cut) / 2, e: (cut - low) / 2}
	degree := float64(maxDegree)
	for _, end := range []struct{ at, most float64 }{{top, filterRange}, {null, nullRange}} {
		if end.at > cut {
			degree = min(degree, math.Acosh(end.most)/math.Acosh(1+(end.at-cut)/f.e))
		}
	}
	f.degree = int(max(1, degree))
	return f
}

// apply writes p(A) x to y, with work of the same shape.
func (f *filter) apply(ctx context.Context, eng *engine.Engine, y, x, work blas.Matrix) error {
	even, odd := work, y // T_0 x, T_2 x, ... and T_1 x, T_3 x, ...
	if f.degree%2 == 0 {
		even, odd = y, work
	}
	copy(even.Data, x.Data)
	if err := Recur(ctx, eng, f.a, f.sign/f.e, even, -f.center/f.e, 0, odd); err != nil {
		return err
	}
	for d := 2; d <= f.degree; d++ {
		if err := Recur(ctx, eng, f.a, 2*f.sign/f.e, odd, -2*f.center/f.e, -1, even); err != nil {
			return err
		}
		even, odd = odd, even
	}
	return nil
}

// inverse returns the eigenvalue above the cut at which the filter is w, or the cut.
func (f *filter) inverse(w float64) float64 {
	return f.center + f.e*math.Cosh(math.Acosh(max(1, w))/float64(f.degree))
}

// pass returns the residual of p(A) at the value w that ensures the given tolerance for A. The
// error of a vector consists of eigenvectors of the unwanted part, where p differs from w by at
// least w - 1 while A differs by its spread, or of the wanted part, where the slope of p is at
// least d^2 / e.
func (f *filter) pass(w, tolerance, top float64) float64 {
	if w <= 1 {
		return 0
	}
	factor := max((top-f.low)/(w-1), f.e/float64(f.degree*f.degree))
	return tolerance / factor
}

// filtered runs krylov on a filter of A, for operators whose products cost little compared with
// orthogonalization. A short search determines the cut: its Ritz values do not exceed the
// eigenvalues that they approximate. Each later search starts from the vectors of the one before
// and moves the cut. When the cut no longer moves, the search continues until all pairs pass.
func (s *search) filtered() (*Eigenpairs, error) {
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	p.Extra, p.Budget, p.Once = p.Block/2, p.Basis-p.Block, true
	rough, err := p.Find()
	if err != nil {
		return nil, err
	}
	low := rough.Least - rough.LeastResidual
	low -= 0.01 * (rough.Values[0] - low)
	null, err := s.nullValue()
	if err != nil {
		return nil, err
	}
	products, converged := rough.Products, rough.Converged
	values, vectors, turn := rough.Values, rough.Vectors, blas.Matrix{}
	if !converged && !(low < s.cut(values, low)) {
		return s.krylov()
	}
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	work := s.eng.NewMatrix(s.n, p.Block)
	p.Once = false
	for !converged && products < s.Products {
		top, cut := values[0], s.cut(values, low)
		f := newFilter(s.a, s.sign, low, cut, top, null)
		p.Budget = (s.Products - products) / f.degree
		p.Start = mixed(s.eng.Backend(), rng, vectors, p.Block)
		p.Multiply = func(x, y blas.Matrix) error {
			products += f.degree * p.Block
			return f.apply(s.ctx, s.eng, y, x, work)
		}
		p.Pass = func(w, _ float64) float64 { return f.pass(w, s.Tolerance*rough.Norm, top) }
		p.Restart = func(w []float64) bool { return f.inverse(w[0])-f.inverse(w[len(w)-1]) > 0.5*(top-cut) }
		found, err := p.Find()
		if err != nil {
			return nil, err
		}
		vectors = found.Vectors
		if values, turn, err = s.projection(vectors); err != nil {
			return nil, err
		}
		products += len(values)
		converged = found.Converged
		if least := values[len(values)-1]; least < low { // so the filter is large there, too
			low, converged = least-0.05*(top-least), false
		}
	}
	var res *Eigenpairs
	if turn.Data == nil { // the short search was enough
		res, err = s.measure(vectors, rough.Norm, products)
	} else {
		res, err = s.pick(vectors, values, turn, rough.Norm, products)
	}
	if err != nil {
		return nil, err
	}
	res.Method = "filtered krylov"
	return res, nil
}

// cut returns the beginning of the unwanted part: the last of the values, which are the k wanted
// ones and some more, or a lower value if that is too close to the wanted ones.
func (s *search) cut(values []float64, low float64) float64 {
	top, wanted := values[0], values[s.k-1]
	return min(values[len(values)-1], wanted-max(0.1*(top-wanted), 1e-4*(top-low)))
}

// mixed returns random combinations of the columns of v.
func mixed(backend blas.Backend, rng *rand.Rand, v blas.Matrix, count int) blas.Matrix {
	c, x := blas.NewMatrix(v.Cols, count), blas.NewMatrix(v.Rows, count)
	for i := range c.Data {
		c.Data[i] = rng.NormFloat64()
	}
	backend.Gemm(false, false, 1, v, c, 0, x)
	return x
}
