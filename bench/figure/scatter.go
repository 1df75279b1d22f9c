package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Scatter is points in the plane, drawn with one scale on both axes, so that distances on the
// paper are distances of the points.
type Scatter struct {
	Title, XLabel, YLabel string
	X, Y                  []float64
	Groups                []string // of each point; nil for one group without a name
	Must, Cannot          [][2]int // links between points, drawn below them
	PointSize             float64  // radius in points; 0: by the number of points
	NoLegend              bool
}

// maxLegend is the number of groups that a legend lists.
const maxLegend = 26

var (
	white = color.White
	// The colours of Okabe and Ito (2008), the strong ones first.
	palette = []color.NRGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}, {160, 150, 40, 255},
	}
	shapes = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{},
		draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
	mustColor   = color.NRGBA{60, 60, 60, 150}
	cannotColor = color.NRGBA{200, 0, 0, 150}
)

// diamond is a square on its corner.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetColor(sty.Color)
	r := sty.Radius * 1.2
	var p vg.Path
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + r})
	p.Line(vg.Point{X: at.X - r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - r})
	p.Close()
	c.Fill(p)
}

// names returns the groups in the order of their first points.
func (s Scatter) names() []string {
	var names []string
	seen := map[string]bool{}
	for _, g := range s.Groups {
		if !seen[g] {
			seen[g] = true
			names = append(names, g)
		}
	}
	slices.SortFunc(names, compareNames)
	return names
}

// style returns how group number g is drawn. Eight colours and eight shapes, combined so that
// neighbours differ in both and 64 groups are told apart.
func (s Scatter) style(g int) draw.GlyphStyle {
	c := palette[g%len(palette)]
	radius := s.PointSize
	if radius == 0 {
		// 3 points for a few, 1 for tens of thousands.
		radius = min(3, max(1, 3.4-0.55*math.Log10(1+float64(len(s.X))/30)))
	}
	if len(s.X) > 500 {
		c.A = uint8(max(110, 255-45*math.Log2(float64(len(s.X))/500)))
	}
	return draw.GlyphStyle{Color: c, Radius: vg.Length(radius), Shape: shapes[(g+g/len(palette))%len(shapes)]}
}

func (s Scatter) plot() (*plot.Plot, error) {
	if len(s.X) != len(s.Y) {
		return nil, &fault.ShapeError{What: "number of second coordinates", Got: len(s.Y), Want: fmt.Sprintf("%d, as there are first ones", len(s.X))}
	}
	if s.Groups != nil && len(s.Groups) != len(s.X) {
		return nil, &fault.ShapeError{What: "number of groups", Got: len(s.Groups), Want: fmt.Sprintf("%d, one for each point", len(s.X))}
	}
	if err := checkFinite("0", s.X); err != nil {
		return nil, err
	}
	if err := checkFinite("1", s.Y); err != nil {
		return nil, err
	}
	for _, l := range slices.Concat(s.Must, s.Cannot) {
		if min(l[0], l[1]) < 0 || max(l[0], l[1]) >= len(s.X) {
			return nil, &fault.ShapeError{What: "end of a link", Got: max(l[0], l[1]), Want: fmt.Sprintf("a point from 0 to %d", len(s.X)-1)}
		}
	}
	p := newPlot(s.Title, s.XLabel, s.YLabel)
	p.X.Min, p.X.Max = extent(s.X)
	p.Y.Min, p.Y.Max = extent(s.Y)
	p.Add(s)
	return p, nil
}

// extent returns the range of values with a margin, wide enough to divide by.
func extent(values []float64) (lo, hi float64) {
	if len(values) == 0 {
		return 0, 1
	}
	lo, hi = slices.Min(values), slices.Max(values)
	margin := 0.03 * (hi - lo)
	if floor := 1e-9 * max(math.Abs(lo), math.Abs(hi)); margin <= floor {
		margin = max(0.5*max(math.Abs(lo), math.Abs(hi)), 0.5)
	}
	return lo - margin, hi + margin
}

// settle widens the axis that has more room than it needs until one unit has one length on
// both. Other ranges have other ticks, whose labels need other room, which could go on for
// ever: the ticks are found first, then kept while the ranges settle.
func (s Scatter) settle(p *plot.Plot, c draw.Canvas) {
	x0, x1, y0, y1 := p.X.Min, p.X.Max, p.Y.Min, p.Y.Max
	for round := range 40 {
		room := p.DataCanvas(c).Size()
		unit := max((x1-x0)/float64(room.X), (y1-y0)/float64(room.Y)) // of data, a point of paper
		before := [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max}
		p.X.Min, p.X.Max = widen(x0, x1, unit*float64(room.X))
		p.Y.Min, p.Y.Max = widen(y0, y1, unit*float64(room.Y))
		if before == [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max} {
			return
		}
		if round == 2 {
			keepTicks(&p.X)
			keepTicks(&p.Y)
		}
	}
}

// keepTicks fixes the ticks that are well inside the range, so that none comes or goes when it
// changes a little.
func keepTicks(a *plot.Axis) {
	var ticks []plot.Tick
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if at := a.Norm(t.Value); at > 0.02 && at < 0.98 {
			ticks = append(ticks, t)
		}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// widen returns the range of a given width around the middle of [lo, hi].
func widen(lo, hi, width float64) (float64, float64) {
	middle := lo + (hi-lo)/2
	return middle - width/2, middle + width/2
}

// Plot draws links, then points; it is called by the plotting library.
func (s Scatter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i int) vg.Point { return vg.Point{X: x(s.X[i]), Y: y(s.Y[i])} }
	for _, l := range s.Cannot {
		c.StrokeLines(cannotStyle(), []vg.Point{at(l[0]), at(l[1])})
	}
	for _, l := range s.Must {
		c.StrokeLines(mustStyle(), []vg.Point{at(l[0]), at(l[1])})
	}
	group := map[string]int{}
	for g, name := range s.names() {
		group[name] = g
	}
	for i := range s.X {
		g := 0
		if s.Groups != nil {
			g = group[s.Groups[i]]
		}
		c.DrawGlyph(s.style(g), at(i))
	}
}

func mustStyle() draw.LineStyle { return draw.LineStyle{Color: mustColor, Width: vg.Points(0.9)} }

func cannotStyle() draw.LineStyle {
	return draw.LineStyle{Color: cannotColor, Width: vg.Points(0.9), Dashes: []vg.Length{3, 2}}
}

func (s Scatter) legend(l *plot.Legend) {
	if s.NoLegend {
		return
	}
	count := map[string]int{}
	for _, g := range s.Groups {
		count[g]++
	}
	names := s.names()
	for g, name := range names {
		if g == maxLegend-1 && len(names) > maxLegend {
			l.Add(fmt.Sprintf("and %d more", len(names)-g))
			break
		}
		style := s.style(g)
		style.Radius = max(style.Radius, 2.5)
		l.Add(fmt.Sprintf("%s (%d)", shorten(name), count[name]), glyph{style})
	}
	if len(s.Must) > 0 {
		l.Add(fmt.Sprintf("must-link (%d)", len(s.Must)), stroke{mustStyle()})
	}
	if len(s.Cannot) > 0 {
		l.Add(fmt.Sprintf("cannot-link (%d)", len(s.Cannot)), stroke{cannotStyle()})
	}
}

// shorten cuts names that would leave no room for the drawing.
func shorten(name string) string {
	const limit = 18
	if r := []rune(name); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return name
}

// glyph and stroke are the samples that a legend shows.
type glyph struct{ draw.GlyphStyle }

func (g glyph) Thumbnail(c *draw.Canvas) { c.DrawGlyph(g.GlyphStyle, c.Center()) }

type stroke struct{ draw.LineStyle }

func (s stroke) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(s.LineStyle, c.Min.X, y, c.Max.X, y)
}
