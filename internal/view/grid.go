package view

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// grid draws a faint line at every labeled tick, and a frame along the axes.
type grid struct{}

// Plot implements plot.Plotter of the plotting library.
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	line := draw.LineStyle{Color: color.Gray{Y: 228}, Width: 0.5}
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); t.Label != "" && at >= c.Min.X && at <= c.Max.X {
			c.StrokeLine2(line, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); t.Label != "" && at >= c.Min.Y && at <= c.Max.Y {
			c.StrokeLine2(line, c.Min.X, at, c.Max.X, at)
		}
	}
	frame := draw.LineStyle{Color: color.Gray{Y: 160}, Width: 0.5}
	c.StrokeLine2(frame, c.Min.X, c.Max.Y, c.Max.X, c.Max.Y)
	c.StrokeLine2(frame, c.Max.X, c.Min.Y, c.Max.X, c.Max.Y)
}
