package graphkernel

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
)

// Solution is what a baseline finds.
type Solution struct {
	V         blas.Matrix // n x r: Z = V V'
	Result    Result
	Converged bool
	Steps     int
	Message   string
}

// Rules are those of a baseline: it learns from every link.
func Rules(about algorithms.About) learner.Rules {
	return learner.Rules{About: about, Needs: learner.AnyLinks, Pairs: true}
}

// Learn makes the problem of a baseline, has it solved, and returns the model of the solution without
// the eigenvalues of Z that are at most tol times the largest.
func Learn[P Parameters](ctx context.Context, f *learner.Fit, p P, tol float64, solve func(*Problem) (Solution, error)) (algorithms.Model, error) {
	settings := p.Common()
	if err := settings.Check(f.X.Len()); err != nil {
		return nil, err
	}
	task, err := Setup{f.Name, settings, f.Kernel, f.Similarities}.Start(ctx, f.Eng, f.X, f.Links)
	if err != nil {
		return nil, err
	}
	f.Notices = task.Notices
	s, err := solve(task.Problem)
	if err != nil {
		return nil, err
	}
	m, err := task.Map(ctx, f.Eng, s.V, tol)
	if err != nil {
		return nil, err
	}
	status := f.Status(algorithms.Status{Converged: s.Converged, Iterations: s.Steps, Message: s.Message})
	return &Fitted[P]{record.New(m, p, status), s.Result}, nil
}
