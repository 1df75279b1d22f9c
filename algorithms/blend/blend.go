// Package blend (internal: may change) combines metrics: it fits several methods on the same
// links, some of them to the coordinates that another one learned, and puts their coordinates side
// by side.
//
// # Method
//
// The members are
//
//   - lleratio: it separates the classes that links show;
//   - krca: it shrinks what varies inside must-linked groups;
//   - npkl on the coordinates of krca: npkl follows the shape of all points. Among the coordinates
//     that krca learned, more of a point's neighbors belong to its class, so npkl spreads the links
//     to the right points;
//   - krca on the coordinates of npkl, for the same reason.
//
// With at most 300 links, gml is a member too: it starts from a sensible metric and moves no
// farther than the links ask, which the others do not.
//
// krca weights its directions by the root of their eigenvalues. Each member's coordinates are
// divided by the root of their total variance on the training rows, so that none dominates. The
// squared distance is then the sum over the members m
//
//	d(x, y)^2 = sum_m w_m |f_m(x) - f_m(y)|^2 / v_m,  v_m = total variance of f_m
//
// where w_m is 60 / number of links for gml, and 1 for the others. A method that cannot learn from
// the input is left out, with a notice: lleratio without links of both kinds, krca without
// must-links. What would have learned from its coordinates then learns from the points.
//
// # New points
//
// Each method embeds them as it does alone. A point that equals a training point has the
// coordinates of that point, and the mean if it equals several. A model of a large table has only
// the training points that its members evaluate. By digests of the others it knows which of the
// points that it embeds are training points, and these have the coordinates that npkl has learned.
package blend

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "blend"

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "Blend",
	Summary: "lleratio, krca, npkl after krca, and krca after npkl, side by side, with gml if links are few",
	Paper: "Soleymani Baghshah & Bagheri Shouraki 2009, Tsang, Cheung & Kwok 2005, Hu, Wang & Chen " +
		"2011, Lu, Jain & Dhillon 2009: what it combines",
	UsesCannotLinks: true, Pairwise: true,
}

// Params are the parameters of the method.
type Params struct {
	Dims int `json:"dims" param:"dims" range:">= 1" zero:"their defaults" help:"maximum number of directions of lleratio, and of krca"`
}

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, Needs: learner.AnyLinks} }

// power weights the directions of krca by their eigenvalues, which favors ranking.
const power = 0.5

// tolerance is that of gml. With its coarser default, the result would depend visibly on where the
// search ends.
const tolerance = 1e-4

// kind is a method that can be a stage.
type kind struct {
	name   string
	new    func(p Params, c algorithms.Common) algorithms.Learner
	decode func(f *model.File) (algorithms.Model, error)
}

// kinds returns the methods of the stages.
func kinds() map[string]kind {
	return map[string]kind{
		lleratio.Method: {lleratio.Method, func(p Params, c algorithms.Common) algorithms.Learner {
			own := lleratio.DefaultParams()
			if p.Dims > 0 {
				own.Dims = p.Dims
			}
			return learner.New(own, c)
		}, fitted.Decoder(lleratio.Decode)},
		npkl.Method: {npkl.Method, func(_ Params, c algorithms.Common) algorithms.Learner {
			return learner.New(npkl.DefaultParams(), c)
		}, fitted.Decoder(npkl.Decode)},
		krca.Method: {krca.Method, func(p Params, c algorithms.Common) algorithms.Learner {
			own := krca.DefaultParams()
			own.Power = power
			if p.Dims > 0 {
				own.Dims = p.Dims
			}
			return learner.New(own, c)
		}, fitted.Decoder(krca.Decode)},
		gml.Method: {gml.Method, func(_ Params, c algorithms.Common) algorithms.Learner {
			own := gml.DefaultParams()
			own.Tol, own.Dims = tolerance, 0 // fewer directions gain nothing here
			return learner.New(own, c)
		}, fitted.Decoder(gml.Decode)},
	}
}

// step is a stage to fit.
type step struct {
	method string
	from   int     // 0: it learns from the points; k: from the coordinates of step k - 1
	weight float64 // of its squared distances in the blend; 0: it is no member
}

const (
	// equalLinks is the number of links at which gml has the weight of another member.
	equalLinks = 60
	// fewLinks is the largest number of links with which gml is a member.
	fewLinks = 300
)

// steps returns the stages for a number of links, each after the one that it learns from.
func steps(links int) []step {
	list := []step{
		{lleratio.Method, 0, 1},
		{krca.Method, 0, 1},
		{npkl.Method, 2, 1},
	}
	if links <= fewLinks {
		list = append(list, step{gml.Method, 0, equalLinks / float64(links)})
	}
	list = append(list, step{npkl.Method, 0, 0})
	return append(list, step{krca.Method, len(list), 1})
}

// stage is a fitted model.
type stage struct {
	algorithms.Model
	from  int     // as in a step, but of the stages
	scale float64 // the number that its coordinates are divided by in the blend; 0: it is no member
}

// Learn fits the steps, and makes stages of those that can learn.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	b := builder{fit: f, params: p, steps: steps(f.Links.Len())}
	if err := b.learn(ctx); err != nil {
		return nil, err
	}
	if err := b.assemble(); err != nil {
		return nil, err
	}
	table, e, err := b.table()
	if err != nil {
		return nil, err
	}
	return &Model{fitted.New(fitted.Extended(Method, table, e), p, f.Status(b.status())), b.stages}, nil
}

// extension embeds points by all stages.
type extension struct {
	stages  []stage
	digests []int64       // of the training points if the table has no coordinates of them, else nil
	known   map[int64]int // the first training point with a digest
}

// extend returns the extension of the stages.
func extend(stages []stage, digests []int64) *extension {
	e := &extension{stages, digests, make(map[int64]int, len(digests))}
	for i, digest := range slices.Backward(digests) {
		e.known[digest] = i
	}
	return e
}

// Begin returns a function that writes the coordinates of a block of points.
func (e *extension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		first := 0
		inputs, digests := []points.Points{x}, []int64(nil)
		if e.digests != nil {
			digests = points.Digests(x)
		}
		for _, s := range e.stages {
			y, err := s.Embed(ctx, eng, inputs[s.from])
			if err != nil {
				return err
			}
			own := s.coordinates()
			for i, digest := range digests {
				if at, is := e.known[digest]; is && own.Rows > 0 {
					copy(y.Row(i), own.Row(at))
				}
			}
			inputs = append(inputs, kernel.Rows(y))
			first += s.write(y, to, first)
		}
		return nil
	}, nil
}

// write writes the coordinates y of a member, divided by its scale, to the columns of a matrix from
// first on. It returns the number of these columns.
func (s stage) write(y, to blas.Matrix, first int) int {
	if s.scale == 0 {
		return 0
	}
	for i := range y.Rows {
		row := to.Row(i)[first:]
		for c, v := range y.Row(i) {
			row[c] = v / s.scale
		}
	}
	return y.Cols
}

// coordinates returns those of the training points of a table, and no data for another stage.
func (s stage) coordinates() blas.Matrix { return s.Model.(fitted.Member).Parent().Coordinates() }

// columns returns the number of columns of the members.
func columns(stages []stage) (n int) {
	for _, s := range stages {
		if s.scale > 0 {
			n += s.Dim()
		}
	}
	return n
}

// Model is a fitted blend. It is immutable and safe for concurrent use. A point costs what it costs
// all members. Distances and Gram are those of the embedding.
type Model struct {
	*fitted.Model[Params]
	stages []stage
}

var _ algorithms.Linker = (*Model)(nil)

// Digested reports whether the model has digests of the training points. Its formula embeds these
// as new points.
func (m *Model) Digested() bool { return m.Extension().(*extension).digests != nil }

// Links returns the links that the model was fitted on.
func (m *Model) Links() *links.Set {
	for _, s := range m.stages {
		if linker, ok := s.Model.(algorithms.Linker); ok { // as npkl, which is in every blend
			return linker.Links()
		}
	}
	return nil
}

// AddLinks returns the model of a fit with the links of m and those of set. lleratio and krca have
// no warm start with links between training points, and what follows them learns from their
// coordinates, so this is a new fit with the parameters of m, and takes its time. x are the points
// that m was fitted on. Random numbers are those of seed 1, the default of a fit. Errors are those
// of [learner.Learner.Fit]; a link that contradicts one of m is a *fault.DataError.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	all, err := input.AddedLinks(eng, Method, x, m.Links(), set)
	if err != nil {
		return nil, err
	}
	return learner.New(m.Params(), algorithms.Common{Seed: 1}).Fit(ctx, eng, x, all)
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	var names []string
	for _, s := range m.stages {
		if s.scale > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", m.path(s), s.Dim()))
		}
	}
	return []algorithms.Statistic{
		{Name: "members (dimensions)", Value: strings.Join(names, ", ")},
		{Name: "dimensions", Value: m.Dim()},
	}
}

// path returns the methods of a stage and of those that it learned from, the first one first.
func (m *Model) path(s stage) string {
	if s.from == 0 {
		return s.Method()
	}
	return m.path(m.stages[s.from-1]) + " > " + s.Method()
}
