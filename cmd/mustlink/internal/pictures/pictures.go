// Package pictures computes what pictures and the report page show of points and models: points
// under several metrics, their coordinates in the plane, traces and spectra.
package pictures

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
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
	if len(s.Spaces) > 0 {
		for _, v := range s.Spaces {
			if v.Fitted == nil {
				continue
			}
			if by, ok := v.Fitted.Scaling.(*prepare.Preparation); ok {
				if names := by.Outputs(); j < len(names) {
					return names[j]
				}
			}
			break
		}
	}
	return FeatureName(s.Data, j)
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
	return values, name(j)
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
