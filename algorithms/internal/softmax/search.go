package softmax

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// Options are the settings of [Problem.Climb].
type Options struct {
	// Tol is the tolerance of an ascent: the increase of the mean gain over five iterations, relative
	// to its distance from 1.
	Tol float64
	// Contractions is the number of times that the map is halved and a new ascent starts from there.
	Contractions int
	MaxIter      int // of each ascent
	Report       func(algorithms.Progress)
}

// Search is the result of a search for the map by limited-memory BFGS.
type Search struct {
	Best   []float64 // the map with the largest mean gain
	Trace  []float64 // the largest mean gain so far, at the start and after every iteration
	Status algorithms.Status
}

// Climb ascends from each start. Then it halves the map and ascends again, o.Contractions times:
// that escapes local maxima in which distances have grown so large that only the nearest neighbor
// of each point has any weight. Climb overwrites the starts.
func (p *Problem) Climb(ctx context.Context, o Options, starts ...[]float64) (*Search, error) {
	s, t := &Search{}, p.eng.Backend().Kernels()
	for k := 0; k < len(starts)*(1+o.Contractions) && !s.perfect(); k++ {
		at := starts[k/(1+o.Contractions)]
		if k%(1+o.Contractions) > 0 {
			t.Scale(0.5, at)
		}
		if err := s.ascend(ctx, p, at, o); err != nil {
			return nil, err
		}
	}
	s.Status.Iterations = len(s.Trace) - 1
	if !s.Status.Converged {
		s.Status.Message = fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol", o.MaxIter, o.Tol)
	}
	return s, nil
}

// perfect reports whether the mean gain is at its maximum, 1, up to a tolerance.
func (s *Search) perfect() bool {
	const tolerance = 1e-6
	return len(s.Trace) > 0 && 1-s.Trace[len(s.Trace)-1] < tolerance
}

// ascend ascends from at to a local maximum.
func (s *Search) ascend(ctx context.Context, p *Problem, at []float64, o Options) error {
	before := math.Inf(-1)
	if len(s.Trace) > 0 {
		before = s.Trace[len(s.Trace)-1]
	}
	var own []float64
	out, err := lbfgs.Minimize(ctx, p.eng.Backend().Kernels(), p.At, at, lbfgs.Options{MaxIter: o.MaxIter, Done: func(_ int, value float64, _, _ []float64) (bool, error) {
		own = append(own, -value)
		s.Trace = append(s.Trace, max(before, -value))
		o.Report(algorithms.Progress{Stage: "ascent", Done: len(s.Trace) - 1, Objective: -value})
		const window, zero = 5, 1e-8
		n := len(own)
		return 1+value < zero || n > window && own[n-1]-own[n-1-window] <= o.Tol*(1-own[n-1]), nil
	}})
	if err != nil {
		return err
	}
	if reached := -out.Trace[len(out.Trace)-1]; s.Best == nil || reached > before {
		s.Best, s.Status.Converged = slices.Clone(at), out.Converged
		if last := len(s.Trace) - 1; s.Trace[last] < reached {
			s.Trace = append(s.Trace, reached)
		}
	}
	return nil
}
