package logdet

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// Comparison states that rows I and J should be nearer to each other than rows K and L.
type Comparison struct {
	I, J, K, L int
	Weight     float64 // > 0
}

// CompareOptions are the stopping rule of [Compare]; Tolerance must be > 0.
type CompareOptions struct {
	Tolerance float64 // bound of F above its minimum at which the search stops
	MaxIter   int
	// Progress is called with F and the bound at the start and after every iteration.
	Progress func(iteration int, objective, bound float64)
}

// Compared is the solution of [Compare].
type Compared struct {
	A         blas.Matrix // q x q, both triangles
	Trace     []float64   // F at the start and after every iteration; it falls
	Bound     float64     // F minus this is a lower bound of the minimum
	Converged bool        // the bound is within the tolerance, or only rounding is left
}

// Compare minimizes, over the positive definite matrices A of order q,
//
//	F(A) = sum w max(0, d(i, j) - d(k, l))^2 + tr A - log det A - q
//
// over the comparisons, where d is the distance, not squared, of rows of z, n x q, in the metric A.
// The search starts from the identity, which is the solution if no comparison is violated.
//
// F is strictly convex: (sqrt(x) - sqrt(y))^2 = x + y - 2 sqrt(xy) is convex in the squared
// distances x and y, which are linear in A, and so is its part with x > y. The search is
// limited-memory BFGS over L with A = L'L. The logarithm keeps L regular; then the gradient 2 L
// dF/dA vanishes only if dF/dA does, so each stationary point is the minimum. Since -log det is
// self-concordant and the rest convex, F is at most -g - log(1 - g) above its minimum, where g is
// the Frobenius norm of L (dF/dA) L', if g < 1.
//
// An iteration takes 4 m q^2 + 8 q len(list) + 3 q^3 flops for m compared rows. Errors: ctx.Err().
func Compare(ctx context.Context, eng *engine.Engine, z blas.Matrix, list []Comparison, o CompareOptions) (*Compared, error) {
	p, q := newComparing(eng, z, list), z.Cols
	at, out := make([]float64, q*q), &Compared{A: blas.NewMatrix(q, q)}
	for i := range q {
		at[i*q+i] = 1
	}
	done := func(iteration int, value float64, at, gradient []float64) (bool, error) {
		out.Bound = min(value, p.bound(at, gradient)) // F >= 0
		if o.Progress != nil {
			o.Progress(iteration, value, out.Bound)
		}
		return out.Bound <= o.Tolerance, nil
	}
	objective := func(at, gradient []float64) (float64, error) { return p.at(ctx, at, gradient) }
	found, err := lbfgs.Minimize(ctx, eng.Backend().Kernels(), objective, at, lbfgs.Options{MaxIter: o.MaxIter, Done: done})
	if err != nil {
		return nil, err
	}
	out.Trace, out.Converged = found.Trace, found.Converged
	eng.Backend().Syrk(true, 1, p.square(at), 0, out.A)
	eng.Mirror(out.A)
	return out, ctx.Err()
}

// comparing is F as a function of L.
type comparing struct {
	eng     *engine.Engine
	z       blas.Matrix // compared rows x q
	list    []Comparison
	squared [][2]float64 // distances of the two pairs of each comparison
	y, pull blas.Matrix  // compared rows x q: Z L', and half the gradient with respect to it
}

// newComparing stores the rows of z that are compared.
func newComparing(eng *engine.Engine, z blas.Matrix, list []Comparison) *comparing {
	var rows []int
	for _, c := range list {
		rows = append(rows, c.I, c.J, c.K, c.L)
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	p := &comparing{eng: eng, z: z.Select(rows), list: slices.Clone(list), squared: make([][2]float64, len(list))}
	for k := range p.list {
		c := &p.list[k]
		for _, row := range []*int{&c.I, &c.J, &c.K, &c.L} {
			*row, _ = slices.BinarySearch(rows, *row)
		}
	}
	p.y, p.pull = blas.NewMatrix(len(rows), z.Cols), blas.NewMatrix(len(rows), z.Cols)
	return p
}

// square returns q^2 values as a matrix.
func (p *comparing) square(v []float64) blas.Matrix {
	return blas.MatrixOf(p.z.Cols, p.z.Cols, v)
}

// at returns F and its gradient with respect to L, 2 L dF/dA; infinity if L is singular up to
// rounding.
func (p *comparing) at(ctx context.Context, at, gradient []float64) (float64, error) {
	b, l, g, q := p.eng.Backend(), p.square(at), p.square(gradient), p.z.Cols
	factor := blas.NewMatrix(q, q)
	b.Syrk(true, 1, l, 0, factor)
	if err := b.Cholesky(factor); err != nil {
		return math.Inf(1), nil
	}
	value := b.Kernels().Dot(at, at) - float64(q)
	for i := range q {
		value -= 2 * math.Log(factor.At(i, i))
	}
	loss, err := p.loss(ctx, l)
	copy(gradient, at) // becomes L (L'L)^-1, the transposed inverse of L
	b.Trsm(false, true, factor, g)
	b.Trsm(false, false, factor, g)
	b.Gemm(true, false, 2, p.pull, p.z, -2, g)
	b.Kernels().Axpy(2, at, gradient)
	return value + loss, err
}

// loss returns the cost of the comparisons, and writes half the gradient with respect to the rows
// of Z L' to pull.
func (p *comparing) loss(ctx context.Context, l blas.Matrix) (sum float64, err error) {
	p.eng.Backend().Gemm(false, true, 1, p.z, l, 0, p.y)
	k := p.eng.Backend().Kernels()
	const block = 512
	err = p.eng.For(ctx, len(p.list), block, func(lo, hi int) error {
		for n, c := range p.list[lo:hi] {
			p.squared[lo+n] = [2]float64{k.SquaredDistance(p.y.Row(c.I), p.y.Row(c.J)), k.SquaredDistance(p.y.Row(c.K), p.y.Row(c.L))}
		}
		return nil
	})
	clear(p.pull.Data)
	for n, c := range p.list {
		near, far := math.Sqrt(p.squared[n][0]), math.Sqrt(p.squared[n][1])
		if near <= far {
			continue
		}
		sum += c.Weight * (near - far) * (near - far)
		p.apart(c.I, c.J, c.Weight*(near-far)/near)
		if far > 0 {
			p.apart(c.K, c.L, c.Weight*(far-near)/far)
		}
	}
	return sum, err
}

// apart adds half the gradient of weight times the squared distance of two rows.
func (p *comparing) apart(i, j int, weight float64) {
	k := p.eng.Backend().Kernels()
	for _, pair := range [2][2]int{{i, j}, {j, i}} {
		k.Axpy(weight, p.y.Row(pair[0]), p.pull.Row(pair[0]))
		k.Axpy(-weight, p.y.Row(pair[1]), p.pull.Row(pair[0]))
	}
}

// bound returns an upper bound of F minus its minimum.
func (p *comparing) bound(at, gradient []float64) float64 {
	b, m := p.eng.Backend(), blas.NewMatrix(p.z.Cols, p.z.Cols)
	b.Gemm(false, true, 0.5, p.square(gradient), p.square(at), 0, m)
	if g := math.Sqrt(b.Kernels().Dot(m.Data, m.Data)); g < 1 {
		return -g - math.Log1p(-g)
	}
	return math.Inf(1)
}
