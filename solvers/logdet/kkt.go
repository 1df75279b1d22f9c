package logdet

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
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
	for i := range n {
		product.Set(i, i, product.At(i, i)-1)
	}
	out.Stationarity = largest(product)
	return out
}

// CheckKernel is like [Result.CheckRows] for a result of [Kernel] from the matrix k0, both
// triangles. Cost: 2 n^3 flops. Errors: two n x n matrices above the memory limit, a
// *fault.MemoryError; ctx.Err().
func (r *Result) CheckKernel(ctx context.Context, eng *engine.Engine, k0 blas.Matrix, constraints []Constraint, gamma float64) (KKT, error) {
	n, t := k0.Rows, eng.Backend().Kernels()
	if err := eng.Check("conditions of the nearest kernel matrix", 2*engine.MatrixBytes(n, n), "leave the check out"); err != nil {
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
