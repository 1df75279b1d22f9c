package simplenpkl

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/eigen"
)

// search computes the kernel matrix S A+ / |A+|.
type search struct {
	*graphkernel.Problem
	ctx    context.Context
	eng    *engine.Engine
	params Params
	seed   uint64
	report func()

	size  float64 // S
	pairs graphkernel.Pairs

	values  []float64   // positive eigenvalues of A, descending
	vectors blas.Matrix // and their eigenvectors as rows
	start   blas.Matrix // all eigenvectors of the step before
	cut     bool        // there may be more

	steps               int
	primal, dual        float64
	converged, inactive bool // inactive: the bound on the norm is not reached
}

func newSearch(ctx context.Context, eng *engine.Engine, p *graphkernel.Problem, params Params, seed uint64) *search {
	return &search{
		Problem: p, ctx: ctx, eng: eng, params: params, seed: seed, report: func() {},
		size: params.Size * float64(p.Len()), pairs: p.Pairs(),
	}
}

// decompose finds the positive eigenpairs of A(a), at most as many of the largest as the links
// require.
func (s *search) decompose(a []float64) error {
	most := s.params.Rank
	if most == 0 {
		most = s.RankBound()
	}
	most = min(most, s.Len())
	negative, err := s.Combined(func(_, e int) float64 { return a[s.pairs.Number[e]] * s.Sign[e] / 2 })
	if err != nil {
		return err
	}
	s.steps++
	found, err := graphkernel.Lowest(s.ctx, s.eng, negative, most, eigen.Options{Tolerance: 1e-8, Seed: s.seed, Start: s.start})
	if err != nil {
		return err
	}
	s.start, s.values = found.Vectors, nil
	for _, v := range found.Values {
		if v < 0 {
			s.values = append(s.values, -v)
		}
	}
	s.cut = len(s.values) == most && most < s.Len()
	s.vectors = found.Vectors.View(0, len(s.values), 0, s.Len())
	return nil
}

// norm returns |A+|.
func (s *search) norm() float64 {
	sum := 0.0
	for _, v := range s.values {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// factor returns V with n rows, K = V V'; one column of zeros if A has no positive eigenvalue.
func (s *search) factor() blas.Matrix {
	v, norm := blas.NewMatrix(s.Len(), max(1, len(s.values))), s.norm()
	for k, w := range s.values {
		root := math.Sqrt(s.size * w / norm)
		for i, u := range s.vectors.Row(k) {
			v.Set(i, k, root*u)
		}
	}
	return v
}

// linear computes the optimum of the linear loss by its formula.
func (s *search) linear() error {
	a := make([]float64, s.pairs.Count)
	for e, k := range s.pairs.Number {
		a[k] = s.Weight[e]
	}
	if err := s.decompose(a); err != nil {
		return err
	}
	s.primal = -s.size * s.norm()
	s.dual, s.converged = s.primal, true
	return nil
}

// gap returns a bound on objective minus optimum, or -1 if it is not known.
func (s *search) gap() float64 {
	if s.cut {
		return -1
	}
	return s.primal - s.dual
}

// point is a point of the ascent.
type point struct {
	a, gradient []float64
	dual        float64
}

// evaluate computes the kernel matrix for a, and the value of the dual there.
func (s *search) evaluate(a []float64) (point, error) {
	if err := s.decompose(a); err != nil {
		return point{}, err
	}
	v := s.factor()
	p := point{a: a, gradient: make([]float64, len(a)), dual: -s.size * s.norm()}
	for k, e := range s.pairs.Once {
		p.dual += a[k] - a[k]*a[k]/(4*s.Weight[e])
		p.gradient[k] = 1 - a[k]/(2*s.Weight[e]) - s.Sign[e]*graphkernel.Dot(v.Row(int(s.pairs.From[k])), v.Row(int(s.To[e])))
	}
	var err error
	s.primal, err = s.Objective(s.ctx, s.eng, v)
	s.dual = p.dual
	return p, err
}

// memory is the number of steps among which the dual may fall below the highest value: steps after
// Barzilai & Borwein (1988) are sometimes too long, but help the next steps (Birgin, Martinez &
// Raydan 2000).
const memory = 5

// ascend maximizes the dual of the squared hinge by projected gradients.
func (s *search) ascend() error {
	at := make([]float64, s.pairs.Count)
	scale := 0.0 // the objective of K = 0
	for k, e := range s.pairs.Once {
		at[k] = s.Weight[e]
		scale += s.Weight[e]
	}
	now, err := s.evaluate(at)
	if err != nil {
		return err
	}
	step, latest := 2*s.C, []float64{now.dual}
	for {
		s.report()
		s.converged = s.primal-s.dual <= s.params.Tol*scale
		s.inactive = !s.converged && s.norm() < 0.01*s.C
		if s.converged || s.steps >= s.params.MaxIter {
			return s.ctx.Err()
		}
		next, err := s.step(now, step, slices.Min(latest))
		if err != nil {
			return err
		}
		moved, turned := 0.0, 0.0
		for k, x := range next.a {
			d := x - now.a[k]
			moved += d * d
			turned -= d * (next.gradient[k] - now.gradient[k])
		}
		if moved == 0 {
			return s.ctx.Err()
		}
		if step = 2 * s.C; turned > 0 {
			step = min(max(moved/turned, 1e-6*step), 1e6*step)
		}
		now = next
		if latest = append(latest, now.dual); len(latest) > memory {
			latest = latest[1:]
		}
	}
}

// step moves along the gradient, as far as the dual does not fall too much below least.
func (s *search) step(from point, step, least float64) (point, error) {
	for {
		to, rise := make([]float64, len(from.a)), 0.0
		for k, x := range from.a {
			to[k] = max(0, x+step*from.gradient[k])
			rise += (to[k] - x) * from.gradient[k]
		}
		next, err := s.evaluate(to)
		if err != nil || next.dual >= least+1e-4*rise || step < 1e-9*s.C || s.steps >= s.params.MaxIter {
			return next, err
		}
		step /= 4
	}
}
