package view

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Lines are named series over a common axis, such as times, spectra and traces.
type Lines struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool // then values must be >= 1e-300
	Series                []Series
	NoLegend              bool
	Diagonal              bool // a faint line from (0, 0) to (1, 1): that of chance in a ROC curve
}

// Series is one line.
type Series struct {
	Name string
	X, Y []float64
	// Low and High are the ends of a band around Y, or of bars, nil for none.
	Low, High []float64
	Bars      bool // bars instead of a band
	Markers   bool // also draw the points; a series of one point is always drawn as one
	Apart     bool // draw the points alone, without a line between them
}

func (l Lines) plot() (*plot.Plot, error) {
	var xs, ys []float64
	for _, s := range l.Series {
		if err := s.check(l.LogX, l.LogY); err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		xs, ys = append(xs, s.X...), append(append(append(ys, s.Y...), s.Low...), s.High...)
	}
	p := NewPlot(l.Title, l.XLabel, l.YLabel)
	scale(&p.X, l.LogX, xs)
	scale(&p.Y, l.LogY, ys)
	p.Add(l)
	return p, nil
}

// check refuses different lengths and values that cannot be drawn.
func (s Series) check(logX, logY bool) error {
	if (s.Low == nil) != (s.High == nil) {
		return fault.Shape("ends of the spread", 1, "low and high, or neither")
	}
	for _, c := range []struct {
		name   string
		values []float64
		log    bool
		may    bool // be missing
	}{{"x", s.X, logX, false}, {"y", s.Y, logY, false}, {"low", s.Low, logY, true},
		{"high", s.High, logY, true}} {
		if c.may && c.values == nil {
			continue
		}
		if len(c.values) != len(s.X) {
			return fault.Shape("number of "+c.name+" values", len(c.values), "%d, as there are x values",
				len(s.X))
		}
		if err := CheckFinite(c.name, c.values); err != nil {
			return err
		}
		for i, v := range c.values {
			if c.log && !(v >= 1/largest) {
				return fault.Cell(i, c.name, "value is %v: want a number >= %g on a logarithmic axis", v,
					1/largest)
			}
		}
	}
	return nil
}

// scale sets up an axis for values. A logarithmic axis is a linear axis of logarithms, because that
// of the plotting library reserves room for labels in the wrong positions.
func scale(a *plot.Axis, log bool, values []float64) {
	a.Min, a.Max = Extent(onAxis(log, values))
	if log {
		if a.Max-a.Min < 0.1 { // too narrow for ticks: half a decade around it
			a.Min, a.Max = widen(a.Min, a.Max, 0.5)
		}
		a.Tick.Marker = decades{}
	}
}

// onAxis returns the positions of values on an axis: their decimal logarithms, or the values.
func onAxis(log bool, values []float64) []float64 {
	if !log {
		return values
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log10(v)
	}
	return logs
}

func (l Lines) settle(*plot.Plot, draw.Canvas) {}

// Plot draws bands, lines, bars and markers. It implements plot.Plotter of the plotting library.
func (l Lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(xs, ys []float64) []vg.Point {
		xs, ys = onAxis(l.LogX, xs), onAxis(l.LogY, ys)
		coordinates := make([]vg.Point, len(xs))
		for i := range xs {
			coordinates[i] = vg.Point{X: x(xs[i]), Y: y(ys[i])}
		}
		return coordinates
	}
	if ends := []float64{0, 1}; l.Diagonal {
		c.StrokeLines(draw.LineStyle{Color: color.Gray{Y: 130}, Width: 0.8, Dashes: []vg.Length{3, 3}},
			at(ends, ends))
	}
	for k, s := range l.Series {
		if s.spread() && !s.Bars {
			band := Palette[k%len(Palette)]
			band.A = 50
			back := at(s.X, s.High)
			slices.Reverse(back)
			c.FillPolygon(band, append(at(s.X, s.Low), back...))
		}
	}
	for k, s := range l.Series {
		line := at(s.X, s.Y)
		if len(line) > 1 && !s.Apart {
			c.StrokeLines(lineStyle(k), line)
		}
		if s.spread() && s.Bars {
			drawBars(c, k, at(s.X, s.Low), at(s.X, s.High))
		}
		for _, place := range line {
			if s.dotted() {
				pointMarker(k).draw(c, place)
			}
		}
	}
}

// drawBars draws a bar with short ends between each pair of points.
func drawBars(c draw.Canvas, k int, low, high []vg.Point) {
	style := draw.LineStyle{Color: Palette[k%len(Palette)], Width: 0.8}
	const half = 2.5
	for i := range low {
		c.StrokeLine2(style, low[i].X, low[i].Y, high[i].X, high[i].Y)
		for _, end := range []vg.Point{low[i], high[i]} {
			c.StrokeLine2(style, end.X-half, end.Y, end.X+half, end.Y)
		}
	}
}

// spread reports whether the series has a band or bars.
func (s Series) spread() bool { return s.Low != nil && s.High != nil && len(s.X) > 0 }

// dotted reports whether the points themselves are drawn: a line of one point has no length.
func (s Series) dotted() bool { return s.Markers || s.Apart || len(s.X) == 1 }

// lineStyle returns the color and the dashes of line k.
func lineStyle(k int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	return draw.LineStyle{Color: Palette[k%len(Palette)], Width: 1.4, Dashes: dashes[k%len(dashes)]}
}

func pointMarker(k int) marker {
	m := markerOf(k, 2.8)
	m.edge = true
	return m
}

func (l Lines) legend() legend {
	var out legend
	if l.NoLegend {
		return out
	}
	for k, s := range l.Series {
		var thumb []plot.Thumbnailer
		if !s.Apart {
			thumb = append(thumb, stroke{lineStyle(k)})
		}
		if s.dotted() {
			thumb = append(thumb, pointMarker(k))
		}
		out.groups = append(out.groups, entry{shorten(cmp.Or(s.Name, fmt.Sprintf("series %d", k))), thumb})
	}
	return out
}

// roundTicks marks the multiples of 1, 2 or 5 times a power of ten: two to eight of them.
type roundTicks struct{}

// Ticks implements plot.Ticker of the plotting library.
func (roundTicks) Ticks(lo, hi float64) []plot.Tick {
	step, exponent := roundStep((hi - lo) / 7)
	var ticks []plot.Tick
	for k := math.Ceil(lo / step); k*step <= hi && len(ticks) < 10; k++ {
		v := max(k*step, lo) // of a rounded k it may be a little outside
		if v == 0 {
			v = 0 // not -0
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v, exponent, max(math.Abs(lo), math.Abs(hi)))})
	}
	return ticks
}

// roundStep returns the smallest of 1, 2, 5 times a power of ten that is at least v, and the
// exponent of that power.
func roundStep(v float64) (step float64, exponent int) {
	exponent = int(math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		// The tolerance makes 0.1, which is a rounded product, count as 1 times 10^-1.
		if step = m * math.Pow(10, float64(exponent)); step >= v*(1-1e-9) {
			return step, exponent
		}
	}
	exponent++
	return math.Pow(10, float64(exponent)), exponent
}

// label writes v with digits down to 10^exponent; size is the largest absolute value on the axis.
func label(v float64, exponent int, size float64) string {
	if size < 1e5 && exponent >= -4 {
		return strconv.FormatFloat(v, 'f', max(0, -exponent), 64)
	}
	if v == 0 {
		return "0"
	}
	digits := int(math.Floor(math.Log10(math.Abs(v)))) - exponent
	return tidy(strconv.FormatFloat(v, 'e', max(0, digits), 64))
}

// tidy writes 1e5, 1e-5 and 1 for 1e+05, 1e-05 and 1e+00.
func tidy(s string) string {
	mantissa, exponent, found := strings.Cut(s, "e")
	if !found {
		return s
	}
	digits := strings.TrimLeft(exponent, "+-0")
	switch {
	case digits == "":
		return mantissa
	case exponent[0] == '-':
		digits = "-" + digits
	}
	return mantissa + "e" + digits
}

// decades marks powers of ten on an axis of decimal logarithms, at most seven of them, and also
// their multiples by 2 and 5 if there are few. On a range with fewer than two such numbers it marks
// the ticks of a linear axis.
type decades struct{}

// Ticks implements plot.Ticker of the plotting library; lo and hi are logarithms.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	stride := math.Ceil((hi - lo) / 6)
	var ticks []plot.Tick
	labeled := 0
	for e := math.Floor(lo/stride) * stride; e <= hi; e += stride {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: e + math.Log10(m)}
			if t.Value < lo || t.Value > hi || m > 1 && stride > 1 {
				continue
			}
			if m == 1 || hi-lo <= 2 && (m == 2 || m == 5) {
				t.Label = logLabel(m, int(e))
				labeled++
			}
			ticks = append(ticks, t)
		}
	}
	if labeled >= 2 {
		return ticks
	}
	ticks = roundTicks{}.Ticks(math.Pow(10, lo), math.Pow(10, hi))
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}

// logLabel writes m 10^e.
func logLabel(m float64, e int) string {
	if e >= -3 && e < 5 {
		return strconv.FormatFloat(m*math.Pow(10, float64(e)), 'f', max(0, -e), 64)
	}
	return strconv.Itoa(int(m)) + "e" + strconv.Itoa(e)
}

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
