package view

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	white = color.White
	// The colors of Okabe and Ito (2008), the strong ones first.
	palette = []color.NRGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}, {160, 150, 40, 255},
	}
)

// marker is the style of a point.
type marker struct {
	shape  int // of shapes
	color  color.NRGBA
	radius vg.Length // of a circle; the other shapes have about its area
	edge   bool      // a thin white edge, which keeps points apart where they overlap
}

// shapes are the corners of the markers, for radius 1; nil is a circle. The last two are
// drawn as strokes between opposite corners.
var shapes = [][]vg.Point{
	nil,
	polygon(4, 45, 1.25),
	polygon(3, 90, 1.45),
	polygon(4, 0, 1.3),
	polygon(3, 270, 1.45),
	polygon(5, 90, 1.15),
	polygon(4, 0, 1.2),
	polygon(4, 45, 1.2),
}

// firstStroked is the first of the shapes without an inside.
const firstStroked = 6

// polygon returns the corners of a regular polygon, the first one at an angle in degrees.
func polygon(n int, degrees, radius float64) []vg.Point {
	corners := make([]vg.Point, n)
	for k := range corners {
		sin, cos := math.Sincos(degrees*math.Pi/180 + 2*math.Pi*float64(k)/float64(n))
		corners[k] = vg.Point{X: vg.Length(radius * cos), Y: vg.Length(radius * sin)}
	}
	return corners
}

// markerOf returns the marker of group g. It combines eight colors and eight shapes so that
// neighbors differ in both and 64 groups are distinct.
func markerOf(g int, radius vg.Length) marker {
	return marker{shape: (g + g/len(palette)) % len(shapes), color: palette[g%len(palette)], radius: radius}
}

func (m marker) draw(c draw.Canvas, at vg.Point) {
	corners := shapes[m.shape]
	corner := func(k int) vg.Point { return at.Add(corners[k].Scale(m.radius)) }
	if m.shape >= firstStroked {
		line := draw.LineStyle{Color: m.color, Width: 0.45 * m.radius}
		for k := range len(corners) / 2 {
			c.StrokeLines(line, []vg.Point{corner(k), corner(k + len(corners)/2)})
		}
		return
	}
	var path vg.Path
	if corners == nil {
		path.Move(vg.Point{X: at.X + m.radius, Y: at.Y})
		path.Arc(at, m.radius, 0, 2*math.Pi)
	}
	for k := range corners {
		if k == 0 {
			path.Move(corner(k))
		} else {
			path.Line(corner(k))
		}
	}
	path.Close()
	c.SetColor(m.color)
	c.Fill(path)
	if m.edge {
		c.SetLineStyle(draw.LineStyle{Color: white, Width: 0.4})
		c.Stroke(path)
	}
}

// Thumbnail draws the sample in a legend.
func (m marker) Thumbnail(c *draw.Canvas) { m.draw(*c, c.Center()) }
