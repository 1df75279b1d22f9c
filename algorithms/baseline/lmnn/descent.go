package lmnn

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// memory is the number of steps that determine a direction.
const memory = 10

// descent is the state of a minimization.
type descent struct {
	*problem
	report    func(algorithms.Progress)
	trace     []float64 // objective at the start and after every iteration
	converged bool

	a, y       blas.Matrix // r x q, and the coordinates Z A', m x r
	gradientA  blas.Matrix // r x q
	half       blas.Matrix // half the gradient with respect to the coordinates
	near       *nearby
	f          float64
	p, d, next blas.Matrix // the direction, Z P', and the next map
}

// minimize returns the matrix of the map, r x q.
func (s *descent) minimize(ctx context.Context) (blas.Matrix, error) {
	if err := s.prepare(ctx); err != nil {
		return blas.Matrix{}, err
	}
	k := s.eng.Backend().Kernels()
	h := lbfgs.New(k, memory)
	fresh := true // fresh: the direction does not depend on earlier steps
	last := blas.NewMatrix(s.a.Rows, s.a.Cols)
	for len(s.trace) <= s.params.MaxIter && !s.converged {
		s.report(algorithms.Progress{Stage: "descent", Done: len(s.trace) - 1, Total: s.params.MaxIter, Objective: s.f})
		h.Direction(s.p.Data, s.gradientA.Data)
		last.CopyFrom(s.gradientA)
		t, err := s.step(ctx, k.Dot(s.p.Data, s.gradientA.Data))
		if err != nil {
			return blas.Matrix{}, err
		}
		if t == 0 {
			if s.converged = fresh; !fresh { // a kink may have spoiled the direction
				h.Reset()
				fresh = true
			}
			continue
		}
		k.Scale(t, s.p.Data)
		k.Axpy(1, s.p.Data, s.a.Data)
		s.down()
		k.Scale(-1, last.Data)
		k.Axpy(1, s.gradientA.Data, last.Data)
		fresh = !h.Add(s.p.Data, last.Data) && fresh
		s.trace = append(s.trace, s.f)
		const window = 5
		n := len(s.trace)
		s.converged = n > window && s.trace[n-1-window]-s.f <= s.params.Tol*s.f
	}
	return s.a, ctx.Err()
}

// prepare evaluates the initial map.
func (s *descent) prepare(ctx context.Context) (err error) {
	s.a = s.start()
	m, r, q := s.z.Rows, s.a.Rows, s.a.Cols
	for _, x := range []*blas.Matrix{&s.y, &s.half, &s.d, &s.next} {
		*x = blas.NewMatrix(m, r)
	}
	s.gradientA, s.p = blas.NewMatrix(r, q), blas.NewMatrix(r, q)
	s.eng.Backend().Gemm(false, true, 1, s.z, s.a, 0, s.y)
	if s.near, err = s.search(ctx, s.y); err != nil {
		return err
	}
	if s.f, err = s.gradient(ctx, s.near, s.y, s.half); err != nil {
		return err
	}
	s.down()
	s.trace = []float64{s.f}
	return nil
}

// down computes the gradient with respect to the matrix from the gradient with respect to the
// coordinates.
func (s *descent) down() {
	s.eng.Backend().Gemm(true, false, 2, s.half, s.z, 0, s.gradientA)
}

// step moves along the direction to a lower objective, and returns the step length, or 0 if there
// is no lower one. The objective and half its gradient are evaluated with all impostors, also those
// that the lists lack.
func (s *descent) step(ctx context.Context, slope float64) (float64, error) {
	if !(slope < 0) {
		return 0, nil
	}
	s.eng.Backend().Gemm(false, true, 1, s.z, s.p, 0, s.d)
	l, err := s.newLine(ctx, s.near, s.y, s.d)
	if err != nil {
		return 0, err
	}
	k := s.eng.Backend().Kernels()
	limit := math.Inf(1)
	for range 40 {
		t, err := l.search(ctx, s.f, slope, limit)
		if err != nil || t == 0 {
			return 0, err
		}
		s.next.CopyFrom(s.y)
		k.Axpy(t, s.d.Data, s.next.Data)
		covered, err := s.near.covers(ctx, s.problem, s.next)
		if err != nil {
			return 0, err
		}
		near := s.near
		if !covered {
			if near, err = s.search(ctx, s.next); err != nil {
				return 0, err
			}
		}
		f, err := s.gradient(ctx, near, s.next, s.half)
		if err != nil {
			return 0, err
		}
		if f < s.f && f <= s.f+sufficient*t*slope {
			s.f, s.near, s.y, s.next = f, near, s.next, s.y
			return t, nil
		}
		limit = t / 2 // the lists lacked new impostors, or only rounding is left
	}
	return 0, nil
}

// These are the Wolfe conditions, in the weak form that also holds at kinks.
const (
	sufficient = 1e-4
	curvature  = 0.5
)

// search returns a step t <= limit at which the objective of the listed pairs is sufficiently lower
// than f and, unless t is the limit, less steep. It returns 0 if 60 trials find none.
func (l *line) search(ctx context.Context, f, slope, limit float64) (float64, error) {
	lo, hi, t := 0.0, math.Inf(1), min(1, limit)
	for range 60 {
		value, steep, err := l.at(ctx, t)
		if err != nil {
			return 0, err
		}
		switch {
		case !(value <= f+sufficient*t*slope):
			hi = t
		case steep < curvature*slope && t < limit:
			lo = t
		default:
			return t, nil
		}
		if math.IsInf(hi, 1) {
			t = min(2*t, limit)
		} else {
			t = (lo + hi) / 2
		}
	}
	return lo, nil
}

// message describes how the descent ended.
func (s *descent) message() string {
	if s.converged {
		return ""
	}
	return fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol", s.params.MaxIter, s.params.Tol)
}
