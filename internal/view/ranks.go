package view

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Ranks draws the mean ranks of systems over data sets, best on top, each with a bar of the length
// of the critical difference: systems whose bars do not overlap differ.
type Ranks struct {
	Title, XLabel string
	Names         []string  // in the order of their ranks
	Mean          []float64 // finite, one a name
	Critical      float64   // >= 0
	Emphasized    []bool    // systems that are drawn in color; nil for all
}

func (r Ranks) plot() (*plot.Plot, error) {
	if len(r.Mean) != len(r.Names) || r.Emphasized != nil && len(r.Emphasized) != len(r.Names) {
		return nil, &fault.ShapeError{What: "number of mean ranks", Got: len(r.Mean), Want: fmt.Sprintf("%d, as there are names", len(r.Names))}
	}
	if err := checkFinite("mean rank", r.Mean); err != nil {
		return nil, err
	}
	if err := checkFinite("critical difference", []float64{r.Critical}); err != nil {
		return nil, err
	}
	p := newPlot(r.Title, r.XLabel, "")
	var ends []float64
	names := make([]string, len(r.Names))
	for k, m := range r.Mean {
		ends = append(ends, m-r.Critical/2, m+r.Critical/2)
		names[len(names)-1-k] = clean(r.Names[k])
	}
	p.X.Min, p.X.Max = extent(ends)
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.Padding = vg.Points(4)
	setFont(&p.Y.Tick.Label, 9)
	p.Add(r)
	return p, nil
}

// Plot implements plot.Plotter of the plotting library.
func (r Ranks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for k, m := range r.Mean {
		var ink color.Color = palette[0]
		if r.Emphasized != nil && !r.Emphasized[k] {
			ink = color.Gray{Y: 120}
		}
		at := y(float64(len(r.Mean) - 1 - k))
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.5}, x(m-r.Critical/2), at, x(m+r.Critical/2), at)
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3, Shape: draw.CircleGlyph{}}, vg.Point{X: x(m), Y: at})
	}
}

func (r Ranks) legend() legend { return legend{} }

func (r Ranks) settle(*plot.Plot, draw.Canvas) {}
