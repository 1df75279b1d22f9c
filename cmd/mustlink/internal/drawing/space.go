// Package drawing makes what pictures and the report page show of points and models: points under
// several metrics, their places in the plane, traces and spectra.
package drawing

import (
	"context"
	"path/filepath"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/spf13/cobra"
)

// Space holds the points under one metric.
type Space struct {
	Name   string
	Fitted *catalog.Fitted // nil for the points as they are
	X      points.Points   // as the model takes them
	Y      blas.Matrix
}

// Input is what to read: points, the links between them, if any, and how the points are scaled
// without a model.
type Input struct {
	Data    source.Data
	Links   source.Links
	Scaling source.Scaling
}

// Flags defines the flags of the input.
func (in *Input) Flags(cmd *cobra.Command) {
	in.Data.Flags(cmd)
	in.Data.LabelFlags(cmd)
	in.Links.Flags(cmd)
	in.Scaling.Flags(cmd.Flags(), "without MODEL: ", "to mean 0 and deviation 1")
}

// Scene holds points as they are and under the metrics of models.
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
		models = append(models, &metric.Metric{Session: s, Eng: raw.Eng, Fitted: fitted})
		first = models[0]
	}
	scene := &Scene{Metric: raw}
	if scene.Data, err = first.Flags(&in.Data).ReadTwo(ctx, s); err != nil {
		return nil, err
	}
	if in.Links.Path != "" {
		if scene.Set, err = in.Links.ReadWarning(ctx, s, scene.Data); err != nil {
			return nil, err
		}
	}
	for k, m := range models {
		space := Space{Name: nameOf(models, paths, k), Fitted: m.Fitted}
		if space.X, err = m.Points(scene.Data); err == nil {
			space.Y, err = m.Fitted.Model.Embed(ctx, m.Eng, space.X)
		}
		if err != nil {
			return nil, fault.InFile(err, scene.Data.Name)
		}
		scene.Spaces = append(scene.Spaces, space)
	}
	return scene, scene.addRaw(&in.Scaling)
}

// nameOf is the method of a model, with its file where another model has the same.
func nameOf(models []*metric.Metric, paths []string, k int) string {
	name := models[k].Name()
	for i, other := range models {
		if i != k && other.Name() == name {
			return name + " (" + filepath.Base(paths[k]) + ")"
		}
	}
	return name
}

// addRaw puts the points as they are first, scaled as the first model does; objects without
// coordinates are left out.
func (s *Scene) addRaw(scaling *source.Scaling) error {
	var x points.Points
	if len(s.Spaces) > 0 {
		x = s.Spaces[0].X
	} else {
		table, err := scaling.Apply(s.Session, s.Data)
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
	y, err := metric.Raw(s.Eng, s.Data.Name, x)
	if err != nil {
		return err
	}
	s.Spaces = append([]Space{{"raw points", nil, x, y}}, s.Spaces...)
	return nil
}
