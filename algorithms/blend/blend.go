// Package blend (engine room: may change) combines metrics: it fits several methods on the same
// points and links, and puts their coordinates side by side.
//
// # Method
//
// The members are lleratio, npkl, and krca with its directions weighted by their eigenvalues.
// lleratio separates the classes that links show, npkl follows the shape of all points, and krca
// shrinks what varies inside must-linked groups. Each member's coordinates are divided by the root
// of their total variance on the training rows, so that none dominates. The squared distance is
// then the sum over the members m
//
//	d(x, y)^2 = sum_m |f_m(x) - f_m(y)|^2 / v_m,  v_m = sum of the variances of the columns of f_m
//
// There are no learned weights. A member that cannot learn from the input is left out, with a
// notice: lleratio without links of both kinds, krca without must-links.
//
// # New points
//
// Each member embeds them as it does alone.
package blend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "blend"

// About describes the method.
var About = algorithms.About{
	Name:            Method,
	Title:           "Blend",
	Summary:         "the coordinates of lleratio, npkl and krca side by side, each to the same total variance",
	Paper:           "of the members: Soleymani Baghshah & Bagheri Shouraki 2009; Hu, Wang & Chen 2011; Tsang, Cheung & Kwok 2005",
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Dims int `json:"dims" param:"dims" range:">= 1" zero:"their defaults" help:"maximum number of directions of lleratio, and of krca"`
}

// DefaultParams returns the default directions of the members.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return param.Validate(p) }

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, Needs: learner.AnyLinks} }

// power weights the directions of krca by their eigenvalues, which favors ranking.
const power = 0.5

// kind is a method that can be a member.
type kind struct {
	name   string
	new    func(p Params, c algorithms.Common) algorithms.Learner
	decode func(f *model.File) (algorithms.Model, error)
}

// kinds returns the members in the order of their columns.
func kinds() []kind {
	return []kind{
		{lleratio.Method, func(p Params, c algorithms.Common) algorithms.Learner {
			own := lleratio.DefaultParams()
			if p.Dims > 0 {
				own.Dims = p.Dims
			}
			return lleratio.New(own, c)
		}, decoder(lleratio.Decode)},
		{npkl.Method, func(_ Params, c algorithms.Common) algorithms.Learner {
			return npkl.New(npkl.DefaultParams(), c)
		}, decoder(npkl.Decode)},
		{krca.Method, func(p Params, c algorithms.Common) algorithms.Learner {
			own := krca.DefaultParams()
			own.Power = power
			if p.Dims > 0 {
				own.Dims = p.Dims
			}
			return krca.New(own, c)
		}, decoder(krca.Decode)},
	}
}

func decoder[M algorithms.Model](decode func(*model.File) (M, error)) func(*model.File) (algorithms.Model, error) {
	return func(f *model.File) (algorithms.Model, error) { return decode(f) }
}

// member is a fitted model with the number that its coordinates are divided by.
type member struct {
	algorithms.Model
	scale float64
}

// Learn fits the members one after the other.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	var members []member
	var first error
	for _, k := range kinds() {
		m, err := fitMember(ctx, f, k, p)
		switch {
		case err == nil:
			members = append(members, m)
		case ctx.Err() != nil || !fault.IsInput(err) || outOfMemory(err):
			return nil, err
		default:
			f.Notices = append(f.Notices, fmt.Sprintf("%s is left out: %v", k.name, err))
			if first == nil {
				first = err
			}
		}
	}
	if len(members) == 0 {
		return nil, first
	}
	status := algorithms.Status{Converged: true}
	for _, m := range members {
		s := m.Status()
		status.Converged = status.Converged && s.Converged
		status.Iterations += s.Iterations
		if s.Message != "" && status.Message == "" {
			status.Message = m.Method() + ": " + s.Message
		}
		for _, n := range s.Notices {
			f.Notices = append(f.Notices, m.Method()+": "+n)
		}
	}
	return &Model{record.New(newMap(members, f.X), p, f.Status(status)), members}, nil
}

// outOfMemory reports whether a fit needs more than the memory limit. A limit refuses work and
// never changes a result, so such a member is not left out.
func outOfMemory(err error) bool {
	_, is := errors.AsType[*fault.MemoryError](err)
	return is
}

// fitMember fits one method and finds its scale.
func fitMember(ctx context.Context, f *learner.Fit, k kind, p Params) (member, error) {
	c := f.Common
	if c.Progress != nil {
		c.Progress = func(p algorithms.Progress) {
			p.Stage = k.name + ": " + p.Stage
			f.Report(p)
		}
	}
	m, err := k.new(p, c).Fit(ctx, f.Eng, f.X, f.Links)
	if err != nil {
		return member{}, err
	}
	y, err := m.Embed(ctx, f.Eng, f.X)
	if err != nil {
		return member{}, err
	}
	v := variance(y)
	if !(v > 0) || math.IsInf(v, 0) {
		return member{}, fault.Data("", "the variance of its coordinates is %g: want a finite number > 0", v)
	}
	return member{m, math.Sqrt(v)}, nil
}

// variance returns the sum of the variances of the columns. It runs on one core: it reads a few
// numbers a row, which takes little next to the fit of a member.
func variance(y blas.Matrix) float64 {
	centered, sum := y.Clone(), 0.0
	linear.Center(centered)
	for i := range y.Rows {
		for _, v := range centered.Row(i) {
			sum += v * v
		}
	}
	return sum / float64(y.Rows)
}

// extension embeds points by all members.
type extension struct {
	members []member
}

// newMap returns the map of the members. It stores the training points once: the members' are the
// same.
func newMap(members []member, x points.Points) *maps.Map {
	dim := 0
	for _, m := range members {
		dim += m.Dim()
	}
	return maps.Extended(Method, maps.Table{Kernel: kernel.Linear(), Support: x, Dim: dim}, &extension{members})
}

// Begin returns a function that writes the coordinates of a block of points.
func (e *extension) Begin(ctx context.Context, eng *engine.Engine) (maps.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		first := 0
		for _, m := range e.members {
			y, err := m.Embed(ctx, eng, x)
			if err != nil {
				return err
			}
			part := to.View(0, to.Rows, first, first+y.Cols)
			for i := range y.Rows {
				row := part.Row(i)
				for c, v := range y.Row(i) {
					row[c] = v / m.scale
				}
			}
			first += y.Cols
		}
		return nil
	}, nil
}

// Model is a fitted blend. It is immutable and safe for concurrent use. A point costs what it costs
// all members. Distances and Gram are those of the embedding.
type Model struct {
	*record.Model[Params]
	members []member
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	var names []string
	for _, each := range m.members {
		names = append(names, fmt.Sprintf("%s (%d)", each.Method(), each.Dim()))
	}
	return []algorithms.Statistic{
		{Name: "members (dimensions)", Value: strings.Join(names, ", ")},
		{Name: "dimensions", Value: m.Dim()},
	}
}
