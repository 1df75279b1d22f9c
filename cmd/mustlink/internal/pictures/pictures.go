// Package pictures computes what pictures and the report page show of points and models: points
// under several metrics, their coordinates in the plane, traces and spectra.
package pictures

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// Raw is the name of the metric without learning: the distance of the points as a model takes them.
const Raw = "raw"

// Space is the set of points under one metric.
type Space struct {
	Name   string
	Fitted *catalog.Fitted // nil for the points without learning
	X      points.Points   // as the model takes them
	Y      blas.Matrix
}

// Title returns the name of the metric for a heading.
func (s Space) Title() string {
	if s.Fitted == nil {
		return Raw + ": prepared points, no learning"
	}
	return s.Name
}

// InSample reports whether the points are the training rows of the model.
func (s Space) InSample(d *dataset.Data) bool {
	return s.Fitted != nil && s.Fitted.Trained(d)
}

// Column returns the name of a column of x.
func (s Scene) Column(j int) string {
	if f := s.First(); f != nil {
		if names := prepare.ByColumn(f.Scaling).Outputs(); j < len(names) {
			return names[j]
		}
	}
	return FeatureName(s.Data, j)
}

// First returns the first model, nil for none.
func (s Scene) First() *catalog.Fitted {
	for _, v := range s.Spaces {
		if v.Fitted != nil {
			return v.Fitted
		}
	}
	return nil
}

// Input names what to read: points, the links between them, if any, and how to scale the points
// without a model.
type Input struct {
	Data      source.Data
	Links     source.Links
	Preparing source.Preparing
}

// Flags defines the flags of the input.
func (in *Input) Flags(cmd *cobra.Command) {
	in.Data.Flags(cmd)
	in.Data.LabelFlags(cmd)
	in.Links.Flags(cmd)
	in.Preparing.Flags(cmd, "without MODEL: ")
}

// Scene is the set of raw points, also under the metrics of models.
type Scene struct {
	*metric.Metric // of the points as they are
	Data           *dataset.Data
	Set            *links.Set // nil without links
	Spaces         []Space    // the points as they are first, where these have coordinates
}

// Read reads points and links, and embeds the points with every model.
func (in *Input) Read(ctx context.Context, s *session.Session, paths []string) (*Scene, error) {
	raw, err := metric.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	models, first := []*metric.Metric{}, raw
	for _, path := range paths {
		_, fitted, err := metric.Load(ctx, s, path)
		if err != nil {
			return nil, err
		}
		models = append(models, metric.Of(s, raw.Eng, fitted))
		first = models[0]
	}
	scene := &Scene{Metric: raw}
	if scene.Data, err = first.Flags(&in.Data).ReadAtLeastTwo(ctx, s); err != nil {
		return nil, err
	}
	if in.Links.Path != "" {
		in.Links.Begun = true
		if scene.Set, err = in.Links.ReadWarning(ctx, s, scene.Data); err != nil {
			return nil, err
		}
	}
	for k, m := range models {
		space := Space{Name: nameOf(models, paths, k), Fitted: m.Record()}
		if space.X, err = m.Prepared(scene.Data); err == nil {
			space.Y, err = m.Record().Model.Embed(ctx, m.Eng, space.X)
		}
		if err != nil {
			return nil, fault.InFile(err, scene.Data.Name)
		}
		if space.X != scene.Data.Points {
			s.Hold(points.Bytes(space.X))
		}
		m.HoldCoordinates(space.Y, space.X)
		scene.Spaces = append(scene.Spaces, space)
	}
	return scene, scene.addRaw(ctx, &in.Preparing)
}

// nameOf returns the method of a model, with its file if another model has the same method.
func nameOf(models []*metric.Metric, paths []string, k int) string {
	name := models[k].Name()
	for i, other := range models {
		if i != k && other.Name() == name {
			return name + " (" + filepath.Base(paths[k]) + ")"
		}
	}
	return name
}

// addRaw puts the raw points first, scaled as for the first model; it leaves out objects without
// coordinates.
func (s *Scene) addRaw(ctx context.Context, preparing *source.Preparing) error {
	var x points.Points
	if len(s.Spaces) > 0 {
		x = s.Spaces[0].X
	} else {
		table, err := preparing.Apply(ctx, s.Session, s.Data)
		if err != nil {
			return err
		}
		x = table.Data().Points
	}
	switch x.(type) {
	case *points.Dense, *points.CSR:
	default:
		return nil
	}
	y, err := metric.Raw(ctx, s.Eng, s.Data.Name, x)
	if err != nil {
		return err
	}
	s.Spaces = append([]Space{{Raw, nil, x, y}}, s.Spaces...)
	return nil
}

// CoordinateName names a coordinate of an embedding.
func CoordinateName(j int) string { return fmt.Sprintf("coordinate %d", j) }

// FeatureName names a column of data.
func FeatureName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return d.Features[j]
	}
	return fmt.Sprintf("feature %d", j)
}

// coordinate returns a column of m and its name, or zeros and no name if m does not have the
// column.
func coordinate(m blas.Matrix, j int, name func(j int) string) ([]float64, string) {
	values := make([]float64, m.Rows)
	if j >= m.Cols {
		return values, ""
	}
	for i := range values {
		values[i] = m.At(i, j)
	}
	return values, session.Clip(name(j), session.LongName)
}

// Spectrum draws the curves of a model over its directions, each relative to its largest value so
// that they share an axis. It leaves out zeros, which a logarithmic axis does not have.
func Spectrum(m algorithms.Spectral) (l view.Lines, curves []string) {
	l = view.Lines{XLabel: "direction", YLabel: "relative to the largest", LogY: true}
	for _, c := range m.Spectra() {
		s, most := view.Series{Name: c.Name, Markers: len(c.Values) <= 60}, slices.Max(c.Values)
		for i, v := range c.Values {
			if y := v / most; y >= 1e-300 {
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, y)
			}
		}
		if len(s.X) > 0 {
			l.Series, curves = append(l.Series, s), append(curves, c.Name)
		}
	}
	return l, curves
}

// Trace returns the objective of a model over its iterations; ok is false for fewer than two
// values.
func Trace(m algorithms.Model) (s view.Series, ok bool) {
	t, ok := m.(algorithms.Trace)
	if !ok || len(t.Trace()) < 2 {
		return s, false
	}
	s.Name = m.Method()
	for k, v := range t.Trace() {
		s.X, s.Y = append(s.X, float64(k)), append(s.Y, v)
	}
	return s, true
}

// The values of --plane.
const (
	Neighbors  = "neighbors"
	Components = "components"
)

// PlaneFlag defines --plane.
func PlaneFlag(f usage.Flags, plane *string) {
	f.String(plane, "plane", Neighbors,
		"how more than two dimensions are drawn: `neighbors|components`; in a neighbor embedding near rows "+
			"stay near, principal components keep the shape of the whole", usage.OneOf(Neighbors, Components))
}

// Planes draws sets of the same rows in planes that are turned to each other.
type Planes struct {
	Eng  *engine.Engine
	Kind string // of --plane
	Dims []int  // coordinates to draw instead; nil for none
	Seed uint64
	Bar  *session.Progress // nil for none
	Sets int               // to draw, 0 for one

	drawn int
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
	s.X, s.Y, s.XLabel, s.YLabel, s.NoScale = at.X, at.Y, "neighbor embedding, direction 1",
		"neighbor embedding, direction 2", true
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
	p.drawn++
	return func(done, total int) {
		p.Bar.Step((p.drawn-1)*total+done, max(1, p.Sets)*total, "neighbor embedding")
	}
}

// curvePairs is the number of random pairs of rows that a ROC curve is drawn from, curvePoints its
// number of points.
const (
	curvePairs  = 20_000
	curvePoints = 200
)

// LabelCurves returns the picture for curves of [LabelCurve], without them.
func LabelCurves() view.Lines {
	return view.Lines{Title: "same class or not",
		XLabel: "share of pairs of different classes within a distance",
		YLabel: "share of pairs of one class within it", Diagonal: true}
}

// LinkCurves returns the picture for curves of [LinkCurve], without them.
func LinkCurves() view.Lines {
	return view.Lines{XLabel: "share of cannot-links within a distance",
		YLabel: "share of must-links within it", Diagonal: true}
}

// LabelCurve returns the ROC curve of the distance of random pairs of labeled rows, of which there
// are at least two, as a test of "same class".
func LabelCurve(v Space, labels []string, seed uint64) (view.Series, error) {
	var err error
	if v.Y, labels, err = neighbors.Labeled(v.Y, labels); err != nil {
		return view.Series{}, err
	}
	r := rand.New(rand.NewPCG(seed, uint64(v.Y.Rows)))
	count := map[bool]int{} // of pairs with one label, and of other pairs
	list := make([]pair, curvePairs)
	for k := range list {
		rows := source.RandomPair(r, v.Y.Rows)
		list[k] = pairOf(v, rows[0], rows[1], labels[rows[0]] == labels[rows[1]])
		count[list[k].near]++
	}
	if count[false] == 0 || count[true] == 0 {
		return view.Series{},
			fault.Data("", "of %d random pairs of rows, %d have the same label and %d have different ones: "+
				"want pairs of both kinds", curvePairs, count[true], count[false])
	}
	return curve(v.Name, list)
}

// LinkCurve returns the ROC curve of the distance of links as a test of "must". There are links of
// both kinds.
func LinkCurve(v Space, set *links.Set) (view.Series, error) {
	return curve(v.Name, linked(v, set))
}

// LinkAUC is the probability that a must-link is shorter than a cannot-link.
func LinkAUC(v Space, set *links.Set) (float64, error) {
	return area(linked(v, set))
}

// linked returns the pairs of links.
func linked(v Space, set *links.Set) (list []pair) {
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		list = append(list, pairOf(v, l.I, l.J, l.Sign == links.Must))
	}
	return list
}

// area is the probability that a pair that should be near is shorter than one that should not.
func area(list []pair) (float64, error) {
	var lengths []float64
	var near []bool
	for _, p := range list {
		lengths, near = append(lengths, -p.length), append(near, p.near)
	}
	return score.AUC(lengths, near)
}

// pair is a pair of rows that should be near, or far.
type pair struct {
	length float64
	near   bool
}

func pairOf(v Space, i, j int, near bool) pair {
	return pair{points.SquaredDistance(v.Y.Row(i), v.Y.Row(j)), near}
}

// curve returns the curve of pairs of both kinds, with its area in the name.
func curve(name string, list []pair) (view.Series, error) {
	count := map[bool]float64{}
	for _, p := range list {
		count[p.near]++
	}
	auc, err := area(list)
	if err != nil {
		return view.Series{}, err
	}
	slices.SortFunc(list, func(a, b pair) int { return cmp.Compare(a.length, b.length) })
	s := view.Series{Name: fmt.Sprintf("%s (AUC %.3f)", name, auc), X: []float64{0}, Y: []float64{0}}
	within, every := map[bool]float64{}, max(1, len(list)/curvePoints)
	for k, q := range list {
		within[q.near]++
		last := k+1 == len(list)
		if tied := !last && list[k+1].length == q.length; last || !tied && (k+1)%every == 0 {
			s.X, s.Y = append(s.X, within[false]/count[false]), append(s.Y, within[true]/count[true])
		}
	}
	return s, nil
}
