package graphkernel

import (
	"context"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Job is what a baseline is asked for.
type Job[P Parameters] struct {
	Method       string
	Params       P
	Kernel       kernel.Spec
	Similarities blas.Matrix
	Most         int     // points, 0 for any number
	RankTol      float64 // of the eigenvalues of Z that count, relative to the largest
}

// Solution is what a baseline finds.
type Solution struct {
	V         blas.Matrix // n x r: Z = V V'
	Result    Result
	Converged bool
	Steps     int
	Message   string
}

// Learn checks what a baseline is given, makes its problem, has it solved and returns the model.
func Learn[P Parameters](ctx context.Context, eng *engine.Engine, j Job[P], x points.Points, set *links.Set, solve func(p *Problem, begin time.Time) (Solution, error)) (algorithms.Model, error) {
	m, err := j.learn(ctx, eng, x, set, solve)
	return record.Result(ctx, j.Method+": fit", m, err)
}

func (j Job[P]) learn(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, solve func(p *Problem, begin time.Time) (Solution, error)) (*Fitted[P], error) {
	begin := time.Now()
	if err := j.check(eng, x, set); err != nil {
		return nil, err
	}
	task, err := Setup{j.Method, j.Params.Common(), j.Kernel, j.Similarities}.Start(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	s, err := solve(task.Problem, begin)
	if err != nil {
		return nil, err
	}
	m, err := task.Map(ctx, eng, s.V, j.RankTol)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: s.Converged, Iterations: s.Steps, Message: s.Message, Notices: task.Notices, Elapsed: time.Since(begin)}
	return &Fitted[P]{record.New(m, j.Params, status), s.Result}, ctx.Err()
}

func (j Job[P]) check(eng *engine.Engine, x points.Points, set *links.Set) error {
	if err := j.Params.Validate(); err != nil {
		return err
	}
	if err := input.CheckPairs(eng, x, set); err != nil {
		return err
	}
	switch {
	case set.Len() == 0:
		return input.NoLinks(j.Method)
	case j.Most > 0 && x.Len() > j.Most:
		return TooMany(j.Method, j.Most, x.Len())
	}
	return j.Params.Common().Check(x.Len())
}
