package view

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Scatter draws points in the plane with one scale on both axes, so that distances on paper are
// distances of the points. Points are smaller and more translucent the more there are; of more than
// 20,000 the density is drawn. The legend counts the points of each group and the links. Markers
// repeat from 97 groups on; up to seven groups differ in color alone.
type Scatter struct {
	Title, XLabel, YLabel string
	X, Y                  []float64 // finite, up to 1e300 in size
	Groups                []string  // of each point; nil for one group without a name
	// Links between points, drawn below them: must-links as solid lines, cannot-links as
	// dashed ones.
	Must, Cannot [][2]int
	// AllMust and AllCannot are the numbers of links that Must and Cannot were drawn from,
	// for the legend; 0 when these are all.
	AllMust, AllCannot int
	// Chunklets are drawn as stars: a solid line from the mean of the points to each.
	Chunklets [][]int
	PointSize float64 // radius in points (1/72 inch); 0: by the number of points
	NoLegend  bool
	NoScale   bool // numbers on the axes mean nothing: leave them out
}

func (s Scatter) plot() (*plot.Plot, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := NewPlot(s.Title, s.XLabel, s.YLabel)
	p.X.Min, p.X.Max = Extent(s.X)
	p.Y.Min, p.Y.Max = Extent(s.Y)
	p.Add(s)
	if s.NoScale {
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks{}, plot.ConstantTicks{}
	}
	return p, nil
}

// check refuses different lengths, coordinates that cannot be drawn and links to missing points.
func (s Scatter) check() error {
	n := len(s.X)
	if len(s.Y) != n {
		return fault.Shape("number of second coordinates", len(s.Y), "%d, as there are first ones", n)
	}
	if s.Groups != nil && len(s.Groups) != n {
		return fault.Shape("number of groups", len(s.Groups), "%d, one for each point", n)
	}
	if err := cmp.Or(CheckFinite("x", s.X), CheckFinite("y", s.Y)); err != nil {
		return err
	}
	ends := slices.Concat(s.Chunklets...)
	for _, l := range slices.Concat(s.Must, s.Cannot) {
		ends = append(ends, l[0], l[1])
	}
	for _, i := range ends {
		if i < 0 || i >= n {
			return fault.Shape("end of a link", i, "a point from 0 to %d", n-1)
		}
	}
	return nil
}

// settle widens the axis that has more room than it uses until both axes have the same scale. New
// ranges have new ticks, whose labels take a different amount of room, so this might never end.
// Therefore ticks follow the ranges for a few rounds and are then fixed, without those whose labels
// extend beyond the axis and would take room depending on their positions. The remaining ticks take
// the same room in any position, and a round that drops none is the last.
func (s Scatter) settle(p *plot.Plot, c draw.Canvas) {
	x, y := [2]float64{p.X.Min, p.X.Max}, [2]float64{p.Y.Min, p.Y.Max}
	for range 3 {
		equalize(p, c, x, y)
	}
	for range 50 { // each round but the last drops a tick
		room := p.DataCanvas(c).Size()
		droppedX := keepTicks(&p.X, room.X, func(label string) vg.Length {
			return p.X.Tick.Label.Width(label) / 2
		})
		droppedY := keepTicks(&p.Y, room.Y, func(label string) vg.Length {
			return p.Y.Tick.Label.Height(label)
		})
		if changed := equalize(p, c, x, y); !changed && !droppedX && !droppedY {
			return
		}
	}
}

// equalize sets the ranges for the room that is available with the present ones, and reports
// whether they changed. A picture without room for its labels does not change.
func equalize(p *plot.Plot, c draw.Canvas, x, y [2]float64) (changed bool) {
	room := p.DataCanvas(c).Size()
	if min(room.X, room.Y) <= 0 {
		return false
	}
	unit := max((x[1]-x[0])/float64(room.X), (y[1]-y[0])/float64(room.Y)) // of data, a point of paper
	before := [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max}
	p.X.Min, p.X.Max = widen(x[0], x[1], unit*float64(room.X))
	p.Y.Min, p.Y.Max = widen(y[0], y[1], unit*float64(room.Y))
	return before != [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max}
}

// keepTicks fixes the ticks of an axis of a given length to those whose labels end on it, and
// reports whether it dropped any. half returns how far a label extends from its tick.
func keepTicks(a *plot.Axis, length vg.Length, half func(label string) vg.Length) (dropped bool) {
	all := a.Tick.Marker.Ticks(a.Min, a.Max)
	var ticks []plot.Tick
	for _, t := range all {
		const clearance = 1 // points
		if at := vg.Length(a.Norm(t.Value)) * length; at >= clearance &&
			length-at >= half(t.Label)+clearance {
			ticks = append(ticks, t)
		}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
	return len(ticks) < len(all)
}

// widen returns the range of a given width around the middle of [lo, hi].
func widen(lo, hi, width float64) (float64, float64) {
	middle := lo + (hi-lo)/2
	return middle - width/2, middle + width/2
}

// Plot draws links, then points. It implements plot.Plotter of the plotting library.
func (s Scatter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i int) vg.Point { return vg.Point{X: x(s.X[i]), Y: y(s.Y[i])} }
	must, cannot := s.linkStyles()
	for _, l := range s.Cannot {
		c.StrokeLines(cannot, []vg.Point{at(l[0]), at(l[1])})
	}
	for _, l := range s.Must {
		c.StrokeLines(must, []vg.Point{at(l[0]), at(l[1])})
	}
	for _, rows := range s.Chunklets {
		middle := vg.Point{}
		for _, i := range rows {
			middle = middle.Add(at(i).Scale(1 / vg.Length(len(rows))))
		}
		for _, i := range rows {
			c.StrokeLines(must, []vg.Point{middle, at(i)})
		}
	}
	markers := s.markers()
	group := func(i int) marker {
		if s.Groups == nil {
			return markers[""]
		}
		return markers[s.Groups[i]]
	}
	if len(s.X) > crowd {
		cells, most := density(len(s.X), at, func(i int) color.NRGBA { return group(i).color })
		drawDensity(c, cells, most)
		return
	}
	for i := range s.X {
		group(i).draw(c, at(i))
	}
}

// linkStyles returns the lines of must-links and cannot-links, fainter if there are more.
func (s Scatter) linkStyles() (must, cannot draw.LineStyle) {
	n := float64(len(s.Must) + len(s.Cannot) + len(slices.Concat(s.Chunklets...)))
	alpha := uint8(min(170, max(50, 170-32*math.Log2(max(1, n/60)))))
	must = draw.LineStyle{Color: color.NRGBA{70, 70, 70, alpha}, Width: 0.8}
	cannot = draw.LineStyle{Color: color.NRGBA{190, 0, 60, alpha}, Width: 0.8, Dashes: []vg.Length{3, 2}}
	return must, cannot
}

// markers returns the marker of each group.
func (s Scatter) markers() map[string]marker {
	n := float64(len(s.X))
	radius := s.PointSize
	if radius == 0 {
		// 3 points for a few, 1.2 for tens of thousands.
		radius = min(3, max(1.2, 3.3-0.75*math.Log10(1+n/60)))
	}
	out := map[string]marker{}
	names := s.names()
	for g, name := range names {
		m := markerOf(g, vg.Length(radius))
		if len(names) <= fewGroups {
			m.shape = 0
		}
		if name == "" && s.Groups != nil {
			m.shape, m.color = 0, noGroup
		}
		m.edge = n <= 1000
		if n > 1000 {
			m.color.A = uint8(max(100, 230-35*math.Log2(n/1000)))
		}
		out[name] = m
	}
	return out
}

// names returns the groups in order: numbers by value, other names, and "" for points without one.
func (s Scatter) names() []string {
	if s.Groups == nil {
		return []string{""}
	}
	names := slices.Clone(s.Groups)
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

// compareNames orders numbers by value, before other names, which it orders by their letters. ""
// is last.
func compareNames(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(len(b), len(a)) // "" is last
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

func (s Scatter) legend() legend {
	var l legend
	if s.NoLegend {
		return l
	}
	count := map[string]int{}
	for _, g := range s.Groups {
		count[g]++
	}
	markers := s.markers()
	for _, name := range s.names() {
		if s.Groups == nil {
			break
		}
		m := markers[name]
		m.radius, m.color.A, m.edge = max(m.radius, 2.5), 255, false
		l.groups = append(l.groups,
			entry{fmt.Sprintf("%s (%d)", shorten(cmp.Or(name, noLabel)), count[name]), []plot.Thumbnailer{m}})
	}
	must, cannot := s.linkStyles()
	add := func(noun string, n, all int, style draw.LineStyle) {
		switch {
		case n == 0:
			return
		case all > n:
			noun = fmt.Sprintf("%s (%d of %d)", noun, n, all)
		default:
			noun = fmt.Sprintf("%s (%d)", noun, n)
		}
		style.Color = opaque(style.Color) // one line of a crowd would be too faint
		l.always = append(l.always, entry{noun, []plot.Thumbnailer{stroke{style}}})
	}
	add("must-link", len(s.Must), s.AllMust, must)
	add("chunklet", len(s.Chunklets), 0, must)
	add("cannot-link", len(s.Cannot), s.AllCannot, cannot)
	return l
}

func opaque(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = 255
	return n
}

// crowd is the number of points above which their density is drawn: cells of side cellSide, darker
// where there are more points, in the mean color of their points. The size of the picture then does
// not grow with the number of points, and the picture does not become one blot.
const (
	crowd    = 20_000
	cellSide = 2.0 // points of paper
)

// cell is the column and row of a cell of the density.
type cell struct{ x, y int }

// filled is the content of a cell: the number of points, and the sum of their colors.
type filled struct {
	count   int
	r, g, b float64
}

// density counts points in cells; place and color return those of point i.
func density(n int, place func(i int) vg.Point,
	color func(i int) color.NRGBA) (cells map[cell]*filled, most int) {
	cells = map[cell]*filled{}
	for i := range n {
		at := place(i)
		key := cell{int(math.Floor(float64(at.X) / cellSide)), int(math.Floor(float64(at.Y) / cellSide))}
		f := cells[key]
		if f == nil {
			f = &filled{}
			cells[key] = f
		}
		c := color(i)
		f.count++
		f.r, f.g, f.b = f.r+float64(c.R), f.g+float64(c.G), f.b+float64(c.B)
		most = max(most, f.count)
	}
	return cells, most
}

// color returns the mean color, from faint for one point to full for most points.
func (f *filled) color(most int) color.NRGBA {
	n := float64(f.count)
	const faint, full = 70, 255
	alpha := faint + (full-faint)*math.Log(n)/math.Log(float64(max(most, 2)))
	return color.NRGBA{uint8(f.r/n + 0.5), uint8(f.g/n + 0.5), uint8(f.b/n + 0.5), uint8(alpha + 0.5)}
}

// drawDensity fills the cells, in order, so that the same points make the same picture.
func drawDensity(c draw.Canvas, cells map[cell]*filled, most int) {
	order := slices.SortedFunc(maps.Keys(cells), func(a, b cell) int { return cmp.Or(a.y-b.y, a.x-b.x) })
	for _, at := range order {
		x, y := vg.Length(at.x)*cellSide, vg.Length(at.y)*cellSide
		c.FillPolygon(cells[at].color(most),
			[]vg.Point{{X: x, Y: y}, {X: x + cellSide, Y: y}, {X: x + cellSide, Y: y + cellSide},
				{X: x, Y: y + cellSide}})
	}
}
