package view

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend explains a drawing: groups, as many as there is room for, and entries that are always
// listed.
type legend struct{ groups, always []entry }

// entry is one line of a legend.
type entry struct {
	text  string
	thumb []plot.Thumbnailer
}

// The measures of a legend, in points.
const (
	linePitch  = 12.5
	thumbWidth = 18
	thumbGap   = 4
	columnGap  = 8
)

// fallback is the room of a text relative to its width: viewers of an SVG may have a wider
// typeface.
const fallback = 1.12

// table is a legend in columns.
type table struct {
	columns [][]entry
	width1  vg.Length // of a column
}

// fit arranges the legend to the right of a drawing: in as many columns as take 40 % of the width,
// but at least one. It counts the groups that do not fit in a line of their own, and omits a column
// that takes more than half of the width.
func (l legend) fit(room vg.Point) table {
	t := table{}
	style := legendStyle()
	for _, e := range append(append([]entry(nil), l.groups...), l.always...) {
		t.width1 = max(t.width1, thumbWidth+thumbGap+fallback*style.Width(e.text))
	}
	rows := int((room.Y - 2*linePitch) / linePitch)
	if t.width1 == 0 || t.width1 > room.X/2 || rows < 1 {
		return table{}
	}
	columns := max(1, int((0.4*room.X+columnGap)/(t.width1+columnGap)))
	entries := l.cut(rows * columns)
	columns = (len(entries) + rows - 1) / rows
	rows = (len(entries) + columns - 1) / columns
	for len(entries) > 0 {
		k := min(rows, len(entries))
		t.columns = append(t.columns, entries[:k])
		entries = entries[k:]
	}
	return t
}

// cut returns at most n entries.
func (l legend) cut(n int) []entry {
	groups := l.groups
	if keep := max(0, n-len(l.always)-1); len(groups)+len(l.always) > n && keep < len(groups) {
		groups = append(append([]entry(nil), groups[:keep]...),
			entry{text: fmt.Sprintf("and %d more", len(groups)-keep)})
	}
	all := append(append([]entry(nil), groups...), l.always...)
	return all[:min(n, len(all))]
}

func (t table) width() vg.Length {
	k := vg.Length(len(t.columns))
	return max(0, k*(t.width1+columnGap)-columnGap)
}

// draw draws the legend with its upper left corner at a point.
func (t table) draw(c draw.Canvas, corner vg.Point) {
	style := legendStyle()
	for k, column := range t.columns {
		left := corner.X + vg.Length(k)*(t.width1+columnGap)
		for i, e := range column {
			top := corner.Y - vg.Length(i)*linePitch
			box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: left, Y: top - linePitch},
				Max: vg.Point{X: left + thumbWidth, Y: top},
			}}
			for _, thumb := range e.thumb {
				thumb.Thumbnail(&box)
			}
			c.FillText(style, vg.Point{X: left + thumbWidth + thumbGap, Y: top - linePitch/2}, e.text)
		}
	}
}

func legendStyle() text.Style {
	s := text.Style{Font: font.From(plot.DefaultFont, 9), YAlign: text.YCenter,
		Handler: plot.DefaultTextHandler}
	setFont(&s, 9)
	return s
}

// shorten cleans a name and cuts it if it would leave no room for the drawing.
func shorten(name string) string {
	const limit = 24
	name = strings.TrimSpace(Clean(name))
	if r := []rune(name); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return name
}

// stroke is a sample of a line.
type stroke struct{ draw.LineStyle }

func (s stroke) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(s.LineStyle, c.Min.X, y, c.Max.X, y)
}

var (
	white = color.White
	// Palette has the twelve colors of pictures and pages, to be seen on white and on dark. The
	// first six are those of Okabe and Ito (2008, jfly.uni-koeln.de/color). The others are from
	// palettes of Tableau, CSS, Krzywinski (2020, mk.bcgsc.ca/colorblind) and Tol (2021,
	// SRON/EPS/TN/09-002): those whose smallest difference from all others is largest for normal
	// vision and without red or green cones, as the tests measure it.
	Palette = []color.NRGBA{
		{0x00, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0x00, 255}, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255},
		{0xe6, 0x9f, 0x00, 255}, {0x56, 0xb4, 0xe9, 255}, {0x8c, 0x56, 0x4b, 255}, {0x8a, 0x2b, 0xe2, 255},
		{0xc7, 0x15, 0x85, 255}, {0x00, 0x8d, 0xf9, 255}, {0xff, 0xaa, 0xbb, 255}, {0x88, 0xcc, 0xee, 255},
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

// noLabel is what a legend calls points without a label, noGroup is their color.
const noLabel = "no label"

var noGroup = color.NRGBA{160, 160, 160, 230}

// fewGroups is the largest number of groups that differ in color alone.
const fewGroups = 7

// hexPalette returns the palette for a page.
func hexPalette() []string {
	var out []string
	for _, c := range Palette {
		out = append(out, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
	}
	return out
}

// corners returns the shapes for a page: x and y of each corner in turn, y down, to four decimals.
func corners() [][]float64 {
	var out [][]float64
	for _, shape := range shapes {
		list := []float64{}
		for _, c := range shape {
			list = append(list, math.Round(float64(c.X)*1e4)/1e4, math.Round(-float64(c.Y)*1e4)/1e4)
		}
		out = append(out, list)
	}
	return out
}

// markerOf returns the marker of group g. It combines twelve colors and eight shapes so that
// neighbors differ in both and 96 groups are distinct.
func markerOf(g int, radius vg.Length) marker {
	return marker{shape: (g + g/len(Palette)) % len(shapes), color: Palette[g%len(Palette)], radius: radius}
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
