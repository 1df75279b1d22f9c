package pictures

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/spf13/pflag"
)

// The values of --plane.
const (
	Neighbors  = "neighbors"
	Components = "components"
)

// PlaneFlag defines --plane.
func PlaneFlag(f *pflag.FlagSet, plane *string) {
	f.StringVar(plane, "plane", Neighbors, "how more than two dimensions are drawn: `neighbors|components`; in a neighbor embedding near rows stay near, principal components keep the shape of the whole")
}

// CheckPlane refuses another value of --plane.
func CheckPlane(check *session.Checks, plane string) {
	check.OneOf("--plane", plane, []string{Neighbors, Components})
}

// Planes draws sets of the same rows in planes that are turned to each other.
type Planes struct {
	Eng  *engine.Engine
	Kind string // of --plane
	Dims []int  // coordinates to draw instead; nil for none
	Seed uint64
	Bar  *session.Progress // nil for none

	first *view.Flat // the plane of the first set
}

// Set sets the coordinates of s to those of the rows of m in the plane: two of their columns, the
// only two, or all of them on a plane. Rows with one column lie on a line.
func (p *Planes) Set(ctx context.Context, s *view.Scatter, m blas.Matrix, name func(j int) string) error {
	for _, j := range p.Dims {
		if j >= m.Cols {
			return usage.Errorf("--dims names coordinate %d: want 0 to %d", j, m.Cols-1)
		}
	}
	if p.Dims == nil && m.Cols > 2 {
		return p.many(ctx, s, m)
	}
	dims := p.Dims
	if dims == nil {
		dims = []int{0, 1}
	}
	s.X, s.XLabel = coordinate(m, dims[0], name)
	s.Y, s.YLabel = coordinate(m, dims[1], name)
	p.remember(s)
	return nil
}

// many draws more than two columns.
func (p *Planes) many(ctx context.Context, s *view.Scatter, m blas.Matrix) (err error) {
	var share [2]float64
	if s.X, s.Y, share, err = view.Plane(ctx, p.Eng, m); err != nil {
		return err
	}
	s.XLabel = fmt.Sprintf("first principal component (%.0f %% of the variance)", 100*share[0])
	s.YLabel = fmt.Sprintf("second principal component (%.0f %%)", 100*share[1])
	if p.Kind != Neighbors || m.Rows < view.FewestRows {
		p.remember(s)
		return nil
	}
	start := view.Flat{X: s.X, Y: s.Y}
	if p.first != nil {
		start = *p.first
	}
	at, err := view.NeighborPlane(ctx, p.Eng, m, start, p.Seed, p.report())
	if err != nil {
		return err
	}
	s.X, s.Y, s.XLabel, s.YLabel, s.NoScale = at.X, at.Y, "neighbor embedding, direction 1", "neighbor embedding, direction 2", true
	p.remember(s)
	return nil
}

func (p *Planes) remember(s *view.Scatter) {
	if p.first == nil {
		p.first = &view.Flat{X: s.X, Y: s.Y}
	}
}

func (p *Planes) report() func(done, total int) {
	if p.Bar == nil {
		return nil
	}
	begin := time.Now()
	return func(done, total int) {
		p.Bar.Report(algorithms.Progress{Stage: "neighbor embedding", Done: done, Total: total, Elapsed: time.Since(begin)})
	}
}
