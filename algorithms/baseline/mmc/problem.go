package mmc

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// problem is the minimization of -log sum |L'z| + log |L| over the rows z of the differences, in
// coordinates in which the must-links' scatter is the identity; [weights] solves it for a diagonal
// L.
type problem struct {
	eng      *engine.Engine
	z        blas.Matrix // cannot-links x q
	diagonal bool        // whether L is diagonal; then z has squares
	start    []float64   // L, q x q, or its diagonal
	twins    int         // cannot-links between equal points
	last     float64     // gap
	y, w     blas.Matrix // cannot-links x q: L'z, and weighted
	lengths  []float64
}

// full returns the problem for a matrix, in whitened principal coordinates.
func (params Params) full(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set) (*problem, func([]float64) *maps.Map, error) {
	pc, err := linear.NewPrincipal(ctx, eng, x, params.RankTol)
	if err != nil {
		return nil, nil, err
	}
	must, q := differences(pc.Z, set.Must()), pc.Z.Cols
	scatter := blas.NewMatrix(q, q)
	eng.Backend().Syrk(true, 1, must, 0, scatter)
	if err := linear.CheckCovariance(scatter); err != nil {
		return nil, nil, err
	}
	trace := 0.0
	for i := range q {
		trace += scatter.At(i, i)
	}
	if !(trace > 0) {
		return nil, nil, noScatter()
	}
	for i := range q {
		scatter.Set(i, i, scatter.At(i, i)+params.EpsRel*trace/float64(q))
	}
	if err := eng.Cholesky(ctx, scatter); err != nil {
		return nil, nil, noScatter()
	}
	for i := range q { // singular up to rounding
		if !(scatter.At(i, i)*scatter.At(i, i) > 1e-14*trace) {
			return nil, nil, noScatter()
		}
	}
	z := differences(pc.Z, set.Cannot())
	eng.Backend().Trsm(false, true, scatter, z) // rows z' = d' C'^-1
	p := &problem{eng: eng, start: make([]float64, q*q)}
	for i := range q {
		p.start[i*q+i] = 1
	}
	if err := p.take(z); err != nil {
		return nil, nil, err
	}
	return p, func(at []float64) *maps.Map { // y = L' C^-1 x
		t := blas.NewMatrix(q, q)
		scale := 1 / math.Sqrt(eng.Backend().Kernels().Dot(at, at))
		for i := range q {
			for j := range q {
				t.Set(i, j, scale*at[j*q+i])
			}
		}
		eng.Backend().Trsm(false, false, scatter, t)
		return pc.Map(eng, Method, t)
	}, nil
}

// diagonal returns the problem for one weight per feature, with features divided by the root of
// their scatter.
func (params Params) diagonal(eng *engine.Engine, x *points.Dense, set *links.Set) (*problem, func([]float64) *maps.Map, error) {
	rows := kernel.Matrix(x)
	must, z := squares(rows, set.Must()), squares(rows, set.Cannot())
	scatter, spread, trace := columnSums(must), columnSums(z), 0.0
	for _, v := range scatter {
		trace += v
	}
	if !(trace > 0) {
		return nil, nil, noScatter()
	}
	p := &problem{eng: eng, diagonal: true, start: make([]float64, x.D)}
	inverse := make([]float64, x.D)
	for c := range scatter {
		p.start[c] = 1
		scatter[c] += params.EpsRel * trace / float64(x.D)
		if scatter[c] == 0 {
			if spread[c] != 0 {
				return nil, nil, noScatter()
			}
			scatter[c] = 1 // constant
		}
		inverse[c] = 1 / scatter[c]
	}
	for k := range z.Rows {
		row := z.Row(k)
		for c, v := range inverse {
			row[c] *= v
		}
	}
	if err := p.take(z); err != nil {
		return nil, nil, err
	}
	return p, func(at []float64) *maps.Map {
		scale := 1 / math.Sqrt(eng.Backend().Kernels().Dot(at, at))
		var kept []int
		for c, v := range at {
			if v != 0 {
				kept = append(kept, c)
			}
		}
		t := blas.NewMatrix(len(kept), x.D)
		for r, c := range kept {
			t.Set(r, c, scale*at[c]/math.Sqrt(scatter[c]))
		}
		return maps.NewLinear(Method, linear.Mean(rows), t)
	}, nil
}

// squares returns the squared differences of linked rows.
func squares(x blas.Matrix, list []links.Link) blas.Matrix {
	out := differences(x, list)
	for i, v := range out.Data {
		out.Data[i] = v * v
	}
	return out
}

func columnSums(x blas.Matrix) []float64 {
	sums := make([]float64, x.Cols)
	for k := range x.Rows {
		for c, v := range x.Row(k) {
			sums[c] += v
		}
	}
	return sums
}

// take stores the differences that are not 0.
func (p *problem) take(z blas.Matrix) error {
	var kept []int
	for k := range z.Rows {
		sum := 0.0
		for _, v := range z.Row(k) {
			sum += math.Abs(v)
		}
		if sum-sum != 0 {
			return fault.Data("", "the difference of the points of cannot-link %d is not representable: want smaller values (standardize the data)", k)
		}
		if sum > 0 {
			kept = append(kept, k)
		}
	}
	p.twins = z.Rows - len(kept)
	if len(kept) == 0 {
		return linear.NoDifference()
	}
	if p.z = z; p.twins > 0 {
		p.z = z.Select(kept)
	}
	p.lengths = make([]float64, len(kept))
	if !p.diagonal {
		p.y, p.w = p.eng.NewMatrix(p.z.Rows, p.z.Cols), p.eng.NewMatrix(p.z.Rows, p.z.Cols)
	}
	return nil
}

// square returns a vector of q^2 values as a matrix.
func square(v []float64, q int) blas.Matrix {
	return blas.MatrixOf(q, q, v)
}

// evaluate writes the lengths |L'z| and returns their sum.
func (p *problem) evaluate(at []float64) float64 {
	t, sum := p.eng.Backend().Kernels(), 0.0
	p.eng.Backend().Gemm(false, false, 1, p.z, square(at, p.z.Cols), 0, p.y)
	for k := range p.lengths {
		p.lengths[k] = math.Sqrt(t.Dot(p.y.Row(k), p.y.Row(k)))
		sum += p.lengths[k]
	}
	return sum
}

// inverse returns 1 / |L'z|, bounded if |L'z| is close to 0.
func (p *problem) inverse(k int, sum float64) float64 {
	return 1 / max(p.lengths[k], 1e-9*sum/float64(len(p.lengths)))
}

// at returns -log sum |L'z| + log |L| and its gradient with respect to L.
func (p *problem) at(at, gradient []float64) (float64, error) {
	t, sum := p.eng.Backend().Kernels(), p.evaluate(at)
	norm := t.Dot(at, at)
	for k := range p.lengths {
		to := p.w.Row(k)
		copy(to, p.y.Row(k))
		t.Scale(-p.inverse(k, sum)/sum, to)
	}
	p.eng.Backend().Gemm(true, false, 1, p.z, p.w, 0, square(gradient, p.z.Cols))
	t.Axpy(1/norm, at, gradient)
	return -math.Log(sum) + math.Log(norm)/2, nil
}

// gap returns a bound on optimum minus sum at |L| = 1, relative to the sum. The sum is concave in B
// = L L', its gradient is M = sum zz' / (2 |L'z|), and the largest tr(M B) is the largest
// eigenvalue.
func (p *problem) gap(ctx context.Context, at []float64) (float64, error) {
	sum := p.evaluate(at)
	norm := math.Sqrt(p.eng.Backend().Kernels().Dot(at, at))
	m, w := blas.NewMatrix(p.z.Cols, p.z.Cols), make([]float64, p.z.Cols)
	for k := range p.lengths {
		to := p.w.Row(k)
		copy(to, p.z.Row(k))
		p.eng.Backend().Kernels().Scale(math.Sqrt(p.inverse(k, sum)/2), to)
	}
	p.eng.Backend().Syrk(true, 1, p.w, 0, m)
	if err := p.eng.SymEig(ctx, m, w, false); err != nil {
		return 0, err
	}
	best := w[len(w)-1]
	// The lengths are those of L with its norm: with |L| = 1 they are sum / norm, and M is norm
	// times as large.
	p.last = (best*norm - sum/norm/2) / (sum / norm)
	return p.last, nil
}
