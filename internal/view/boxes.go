package view

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Boxes is a box plot of named lists of values: median, quartiles, whiskers to the last value
// within 1.5 times the distance of the quartiles, and the values beyond.
type Boxes struct {
	Title, YLabel string
	Names         []string
	Values        [][]float64 // finite, one list a name, none empty
}

func (b Boxes) plot() (*plot.Plot, error) {
	if len(b.Names) != len(b.Values) {
		return nil, &fault.ShapeError{What: "number of lists of values", Got: len(b.Values), Want: fmt.Sprintf("%d, as there are names", len(b.Names))}
	}
	p := newPlot(b.Title, "", b.YLabel)
	const width = 12 // points
	for k, values := range b.Values {
		if len(values) == 0 {
			return nil, &fault.ShapeError{What: "number of values of " + b.Names[k], Got: 0, Want: "at least 1"}
		}
		if err := checkFinite(b.Names[k], values); err != nil {
			return nil, err
		}
		box, err := plotter.NewBoxPlot(vg.Points(width), float64(k), plotter.Values(values))
		if err != nil {
			return nil, fmt.Errorf("box plot of %s: %w", b.Names[k], err)
		}
		color := palette[k%len(palette)]
		box.BoxStyle.Color, box.WhiskerStyle.Color, box.GlyphStyle.Color = color, color, color
		box.MedianStyle.Color, box.MedianStyle.Width = color, 2
		box.WhiskerStyle.Dashes = nil
		box.GlyphStyle.Radius = 1.5
		p.Add(box)
	}
	p.Y.Min, p.Y.Max = extent(slices.Concat(b.Values...))
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
		names[k] = clean(name)
	}
	return names
}

func (b Boxes) legend() legend { return legend{} }

func (b Boxes) settle(*plot.Plot, draw.Canvas) {}
