// Package panels draws statistics for the reports of the laboratory: boxes, and ranks of systems.
package panels

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Boxes is a box plot of named lists of values: median, quartiles, whiskers to the last value
// within 1.5 times the distance of the quartiles, and the values beyond.
type Boxes struct {
	Title, YLabel string
	Names         []string
	Values        [][]float64 // finite, one list a name, none empty
}

// Draw returns the drawing.
func (b Boxes) Draw() (*plot.Plot, error) {
	if len(b.Names) != len(b.Values) {
		return nil, &fault.ShapeError{What: "number of lists of values", Got: len(b.Values),
			Want: fmt.Sprintf("%d, as there are names", len(b.Names))}
	}
	p := view.NewPlot(b.Title, "", b.YLabel)
	const width = 12 // points
	for k, values := range b.Values {
		if len(values) == 0 {
			return nil, &fault.ShapeError{What: "number of values of " + b.Names[k], Got: 0,
				Want: "at least 1"}
		}
		if err := view.CheckFinite(b.Names[k], values); err != nil {
			return nil, err
		}
		box, err := plotter.NewBoxPlot(vg.Points(width), float64(k), plotter.Values(values))
		if err != nil {
			return nil, fmt.Errorf("box plot of %s: %w", b.Names[k], err)
		}
		color := view.Palette[k%len(view.Palette)]
		box.BoxStyle.Color, box.WhiskerStyle.Color, box.GlyphStyle.Color = color, color, color
		box.MedianStyle.Color, box.MedianStyle.Width = color, 2
		box.WhiskerStyle.Dashes = nil
		box.GlyphStyle.Radius = 1.5
		p.Add(box)
	}
	p.Y.Min, p.Y.Max = view.Extent(slices.Concat(b.Values...))
	p.NominalX(b.cleanNames()...)
	p.X.Min, p.X.Max = -0.6, float64(len(b.Names))-0.4
	p.X.Tick.Label.Rotation = math.Pi / 3
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = text.XRight, text.YCenter
	p.X.Padding = vg.Points(6)
	return p, nil
}

func (b Boxes) cleanNames() []string {
	names := make([]string, len(b.Names))
	for k, name := range b.Names {
		names[k] = view.Clean(name)
	}
	return names
}

// Ranks draws the mean ranks of systems over data sets, best on top, each with a bar of the length
// of the critical difference: systems whose bars do not overlap differ.
type Ranks struct {
	Title, XLabel string
	Names         []string  // in the order of their ranks
	Mean          []float64 // finite, one a name
	Critical      float64   // >= 0
	Emphasized    []bool    // systems that are drawn in color; nil for all
}

// Draw returns the drawing.
func (r Ranks) Draw() (*plot.Plot, error) {
	if len(r.Mean) != len(r.Names) || r.Emphasized != nil && len(r.Emphasized) != len(r.Names) {
		return nil, &fault.ShapeError{What: "number of mean ranks", Got: len(r.Mean),
			Want: fmt.Sprintf("%d, as there are names", len(r.Names))}
	}
	if err := view.CheckFinite("mean rank", r.Mean); err != nil {
		return nil, err
	}
	if err := view.CheckFinite("critical difference", []float64{r.Critical}); err != nil {
		return nil, err
	}
	p := view.NewPlot(r.Title, r.XLabel, "")
	var ends []float64
	names := make([]string, len(r.Names))
	for k, m := range r.Mean {
		ends = append(ends, m-r.Critical/2, m+r.Critical/2)
		names[len(names)-1-k] = view.Clean(r.Names[k])
	}
	p.X.Min, p.X.Max = view.Extent(ends)
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.Padding = vg.Points(4)
	p.Add(r)
	return p, nil
}

// Plot implements plot.Plotter of the plotting library.
func (r Ranks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for k, m := range r.Mean {
		var ink color.Color = view.Palette[0]
		if r.Emphasized != nil && !r.Emphasized[k] {
			ink = color.Gray{Y: 120}
		}
		at := y(float64(len(r.Mean) - 1 - k))
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.5}, x(m-r.Critical/2), at, x(m+r.Critical/2), at)
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3, Shape: draw.CircleGlyph{}},
			vg.Point{X: x(m), Y: at})
	}
}
