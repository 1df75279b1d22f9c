package logdet

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// CheckRows returns the residuals of the optimality conditions for a result of [Rows] with these
// points, constraints and gamma, evaluated from their definitions. Cost: 4 m r^2 + 2 r^3 flops for
// m constraints in r dimensions, and memory for 2 m r values.
func (r *Result) CheckRows(eng *engine.Engine, g blas.Matrix, constraints []Constraint, gamma float64) KKT {
	n, backend := g.Cols, eng.Backend()
	first, pairs := vectors(constraints)
	w, image := eng.UnclearedMatrix(len(pairs), n), eng.UnclearedMatrix(len(pairs), n)
	each(eng, len(pairs), func(v int) {
		copy(w.Row(v), g.Row(pairs[v][0]))
		backend.Kernels().Axpy(-1, g.Row(pairs[v][1]), w.Row(v))
	})
	backend.Gemm(false, false, 1, w, r.A, 0, image)
	distances := make([]float64, len(constraints))
	each(eng, len(constraints), func(k int) {
		c, distance := constraints[k], 0.0
		for v := range c.vectors() {
			at := first[k] + v
			distance += c.part(v) * backend.Kernels().Dot(w.Row(at), image.Row(at))
			backend.Kernels().Scale(c.part(v)*c.sign()*r.Multipliers[k], w.Row(at))
		}
		distances[k] = distance
	})
	out := r.rest(constraints, gamma, distances)
	// A (I + sum of the signed multipliers' matrices) = I
	product := eng.Clone(r.A)
	backend.Gemm(true, false, 1, image, w, 1, product)
	product.Shift(-1)
	out.Stationarity = largest(product)
	return out
}

// CheckKernel is like [Result.CheckRows] for a result of [Kernel] from the matrix k0, both
// triangles. Cost: 2 n^3 flops. Errors: two n x n matrices above the memory limit, a
// *fault.MemoryError; ctx.Err().
func (r *Result) CheckKernel(ctx context.Context, eng *engine.Engine, k0 blas.Matrix,
	constraints []Constraint, gamma float64) (KKT, error) {
	n, t := k0.Rows, eng.Backend().Kernels()
	if err := eng.Check("conditions of the nearest kernel matrix", 2*engine.MatrixBytes(n, n),
		"leave the check out"); err != nil {
		return KKT{}, err
	}
	image := eng.NewMatrix(n, n) // (sum of the signed multipliers' matrices) K
	row := make([]float64, n)
	add := func(f float64, i, j int) { // f (e_i - e_j)(e_i - e_j)'
		copy(row, r.A.Row(i))
		t.Axpy(-1, r.A.Row(j), row)
		t.Axpy(f, row, image.Row(i))
		t.Axpy(-f, row, image.Row(j))
	}
	for k, c := range constraints { // on one core: n operations each, where the product has n^3
		f := c.sign() * r.Multipliers[k]
		if f == 0 {
			continue
		}
		if c.Kind == Nearer {
			add(f, c.I, c.K)
			f = -f
		}
		add(f, c.I, c.J)
	}
	rest := eng.Clone(k0)
	each(eng, n, func(i int) { t.Axpy(-1, r.A.Row(i), rest.Row(i)) })
	eng.Backend().Gemm(false, false, -1, k0, image, 1, rest) // K0 - K - K0 P K
	distance := func(i, j int) float64 { return r.A.At(i, i) + r.A.At(j, j) - 2*r.A.At(i, j) }
	distances := make([]float64, len(constraints))
	for k, c := range constraints {
		distances[k] = distance(c.I, c.J)
		if c.Kind == Nearer {
			distances[k] = distance(c.I, c.K) - distances[k]
		}
	}
	out := r.rest(constraints, gamma, distances)
	out.Stationarity = largest(rest) / largest(k0)
	return out, ctx.Err()
}

func largest(m blas.Matrix) float64 {
	out := 0.0
	for i := range m.Rows {
		for _, v := range m.Row(i) {
			out = math.Max(out, math.Abs(v)) // keeps NaN
		}
	}
	return out
}

// rest returns the residuals that do not depend on the matrix.
func (r *Result) rest(constraints []Constraint, gamma float64, distances []float64) KKT {
	var out KKT
	skipped := map[int]bool{}
	for _, k := range r.Skipped {
		skipped[k] = true
	}
	for k, c := range constraints {
		if skipped[k] {
			continue
		}
		sign, l, b := c.sign(), r.Multipliers[k], r.Bounds[k]
		p := distances[k]
		out.Slack = math.Max(out.Slack, math.Abs(c.Bound/b-(1-sign*l*c.Bound/(gamma*c.weight()))))
		out.Complementarity = math.Max(out.Complementarity, l*math.Abs(p-b)/(1+l*b))
		out.Feasibility = math.Max(out.Feasibility, sign*(p-b)/b)
	}
	return out
}

// hard is the 1 / (gamma weight) up to which a slack is lost in rounding.
const hard = 1e-15

// Objective returns the objective of the matrix, with the least slack that its distances need.
func (r *Result) Objective() float64 { return r.Dual + r.Gap }

// RelativeGap returns the duality gap relative to the objective, which is at most that far above
// the minimum. It is at most 1, and 1 if the matrix violates a constraint that no slack satisfies.
func (r *Result) RelativeGap() float64 {
	if r.Gap <= 0 {
		return 0
	}
	if g := r.Gap / r.Objective(); g < 1 {
		return g
	}
	return 1
}

// measure computes the dual objective of the multipliers, the duality gap, and whether this is
// within the tolerance. It takes half the time of a sweep on rows, and little on a kernel matrix.
//
// With the signed multipliers l of the constraints p <= b or >= b on distances p = w'A w, and e =
// -l b / (gamma weight), the dual of tr A - log det A - r + sum gamma weight (x - log x - 1), where
// x b is the bound with slack, is
//
//	log det(I + sum l w w') + sum gamma weight log(1 + e)
//
// The projections keep A = (I + sum l w w')^-1. Then the determinants cancel in the difference, and
// tr A - r = -sum l p. Each constraint has its own part of the gap, which is >= 0.
func (s *state) measure() {
	s.Dual, s.Gap = s.det, 0
	size := 0.0 // of the terms that are rounded
	// some operations for a kernel matrix
	square := func(k int, far bool) float64 { return s.square(k, far, s.q) }
	if f, is := s.learned.(*rows); is {
		square = f.squares()
	}
	for k, c := range s.constraints {
		p := square(k, false)
		if c.Kind == Nearer {
			p = square(k, true) - p
		}
		if s.skipped[k] {
			continue
		}
		l := c.sign() * s.Multipliers[k]
		apart := math.Abs(l * (c.Bound - p))
		size += math.Abs(l) * max(c.Bound, p)
		if s.inverse[k] < hard {
			s.Dual -= l * c.Bound
			s.Gap += apart
			continue
		}
		e := -l * c.Bound * s.inverse[k]
		if e < -0.5 {
			e = c.Bound/s.Bounds[k] - 1 // the same, and exact near -1
		}
		s.Dual += math.Log1p(e) / s.inverse[k]
		if x := p/c.Bound - 1; c.sign()*x > 0 { // violated without a slack
			s.Gap += excess(x+e+x*e) / s.inverse[k]
		} else {
			s.Gap += excess(e)/s.inverse[k] + apart
		}
	}
	const rounding = 1e-13
	t := s.o.Tolerance
	s.Converged = !math.IsInf(s.Gap, 1) && s.Gap <= max(t*s.Objective(), t*t/2, rounding*size)
}

// excess returns x - log(1 + x), which is >= 0, and +Inf outside of its domain.
func excess(x float64) float64 {
	if x <= -1 {
		return math.Inf(1)
	}
	return x - math.Log1p(x)
}

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
func Compare(ctx context.Context, eng *engine.Engine, z blas.Matrix, list []Comparison,
	o CompareOptions) (*Compared, error) {
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
	found, err := optimize.MinimizeLBFGS(ctx, eng.Backend().Kernels(), objective, at,
		optimize.LBFGSOptions{MaxIter: o.MaxIter, Done: done})
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
	p := &comparing{eng: eng, z: z.Select(rows), list: slices.Clone(list),
		squared: make([][2]float64, len(list))}
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
			p.squared[lo+n] = [2]float64{k.SquaredDistance(p.y.Row(c.I), p.y.Row(c.J)),
				k.SquaredDistance(p.y.Row(c.K), p.y.Row(c.L))}
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
