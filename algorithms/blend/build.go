package blend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// builder fits the stages of a blend.
type builder struct {
	fit     *learner.Fit
	params  Params
	stages  []stage
	learned []*points.Dense // the coordinates of the training rows, of each stage
	at      []int           // of each step: the number of its stage, counted from 1; 0: left out
	failure error           // of the first step that was left out
}

// add fits the stage of a step. A step that cannot learn from the input is left out, with a notice.
// What would have learned from its coordinates learns from the points, once.
func (b *builder) add(ctx context.Context, s step) error {
	from, x := 0, b.fit.X
	if s.from > 0 && b.at[s.from-1] > 0 {
		from = b.at[s.from-1]
		x = b.learned[from-1]
	}
	if k := slices.IndexFunc(b.stages, func(other stage) bool { return other.Method() == s.method && other.from == from }); k >= 0 {
		b.at = append(b.at, k+1)
		return nil
	}
	m, y, err := b.fitted(ctx, s, x)
	switch {
	case err == nil:
		next := stage{Model: m, from: from}
		if s.weight > 0 {
			next.scale = math.Sqrt(variance(b.fit.Eng, y) / s.weight)
		}
		b.stages = append(b.stages, next)
		b.learned = append(b.learned, compact(y))
		b.at = append(b.at, len(b.stages))
	case ctx.Err() != nil || !fault.IsInput(err) || outOfMemory(err):
		return err
	default:
		b.at = append(b.at, 0)
		if b.failure == nil {
			b.failure = err
		}
		b.fit.Notices = append(b.fit.Notices, fmt.Sprintf("%s is left out: %v", s.method, err))
	}
	return nil
}

// fitted fits a step to x, and returns the coordinates of x too.
func (b *builder) fitted(ctx context.Context, s step, x points.Points) (m algorithms.Model, y blas.Matrix, err error) {
	c := b.fit.Common
	if c.Progress != nil {
		c.Progress = func(p algorithms.Progress) {
			p.Stage = s.method + ": " + p.Stage
			b.fit.Report(p)
		}
	}
	set := b.fit.Links
	if s.method == krca.Method && set.Consistent() == nil {
		// Cannot-links that contradict must-links show krca which of them are wrong. It would ignore
		// others, with a notice.
		set = set.WithoutCannot()
	}
	if m, err = kinds()[s.method].new(b.params, c).Fit(ctx, b.fit.Eng, x, set); err != nil {
		return nil, y, err
	}
	if y, err = m.Embed(ctx, b.fit.Eng, x); err != nil {
		return nil, y, err
	}
	if v := variance(b.fit.Eng, y); !(v > 0) || math.IsInf(v, 0) {
		return nil, y, fault.Data("", "the variance of its coordinates is %g: want a finite number > 0", v)
	}
	return m, y, nil
}

// coordinates returns those of the training rows.
func (b *builder) coordinates() (blas.Matrix, error) {
	n, d := b.fit.X.Len(), columns(b.stages)
	if err := b.fit.Eng.Check(fmt.Sprintf("coordinates of %d points in %d dimensions", n, d), 8*int64(n)*int64(d), "set dims"); err != nil {
		return blas.Matrix{}, err
	}
	y, first := blas.NewMatrix(n, d), 0
	for k, s := range b.stages {
		x := b.learned[k]
		first += s.write(blas.Matrix{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data}, y, first)
	}
	return y, nil
}

// compact returns coordinates as points, which take over their memory.
func compact(y blas.Matrix) *points.Dense {
	if y.Stride != y.Cols {
		y = y.Clone()
	}
	return &points.Dense{N: y.Rows, D: y.Cols, Data: y.Data[:y.Rows*y.Cols]}
}

// outOfMemory reports whether a fit needs more than the memory limit. A limit refuses work and
// never changes a result, so such a stage is not left out.
func outOfMemory(err error) bool {
	_, is := errors.AsType[*fault.MemoryError](err)
	return is
}

// status returns what the stages say together, and passes their notices on.
func (b *builder) status() algorithms.Status {
	all := algorithms.Status{Converged: true}
	for _, m := range b.stages {
		s := m.Status()
		all.Converged = all.Converged && s.Converged
		all.Iterations += s.Iterations
		if s.Message != "" && all.Message == "" {
			all.Message = m.Method() + ": " + s.Message
		}
		for _, n := range s.Notices {
			b.fit.Notices = append(b.fit.Notices, m.Method()+": "+n)
		}
	}
	return all
}
