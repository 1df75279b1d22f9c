package figure

import (
	"cmp"
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

func gray(level uint8) color.Color { return color.Gray{Y: level} }

// gridlines is a faint line at every labelled tick.
type gridlines struct{ draw.LineStyle }

func (g gridlines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); t.Label != "" && at >= c.Min.X && at <= c.Max.X {
			c.StrokeLine2(g.LineStyle, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); t.Label != "" && at >= c.Min.Y && at <= c.Max.Y {
			c.StrokeLine2(g.LineStyle, c.Min.X, at, c.Max.X, at)
		}
	}
}

// compareNames orders numbers by value and before other names, those by their letters.
func compareNames(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		return cmp.Compare(x, y)
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}
