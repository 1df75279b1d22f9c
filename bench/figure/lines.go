package figure

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mustlink/mustlink/engine/fault"
)

// Lines is named series over a common axis, such as times, spectra and traces.
type Lines struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool // then values must be > 0
	Series                []Series
	NoLegend              bool
}

// Series is one line.
type Series struct {
	Name string
	X, Y []float64
	// Low and High are the ends of a band around Y, nil for none.
	Low, High []float64
	Markers   bool // also draw the points
}

func (l Lines) plot() (*plot.Plot, error) {
	var xs, ys []float64
	for _, s := range l.Series {
		if err := s.check(l.LogX, l.LogY); err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		xs, ys = append(xs, s.X...), append(append(append(ys, s.Y...), s.Low...), s.High...)
	}
	p := newPlot(l.Title, l.XLabel, l.YLabel)
	logarithmic(&p.X, l.LogX, xs)
	logarithmic(&p.Y, l.LogY, ys)
	grid := draw.LineStyle{Color: gray(225), Width: vg.Points(0.5)}
	p.Add(gridlines{grid}, l)
	return p, nil
}

// check reports lengths that differ and values that cannot be drawn.
func (s Series) check(logX, logY bool) error {
	for _, c := range []struct {
		name   string
		values []float64
		log    bool
		may    bool // be missing
	}{{"x", s.X, logX, false}, {"y", s.Y, logY, false}, {"low", s.Low, logY, true}, {"high", s.High, logY, true}} {
		if c.may && c.values == nil {
			continue
		}
		if len(c.values) != len(s.X) {
			return &fault.ShapeError{What: "number of " + c.name + " values", Got: len(c.values), Want: fmt.Sprintf("%d, as there are x values", len(s.X))}
		}
		if err := checkFinite(c.name, c.values); err != nil {
			return err
		}
		for i, v := range c.values {
			if c.log && !(v > 0) {
				return &fault.DataError{Row: i, Column: c.name, Err: fmt.Errorf("value is %v: want a number > 0 on a logarithmic axis", v)}
			}
		}
	}
	return nil
}

// logarithmic sets up an axis for values.
func logarithmic(a *plot.Axis, log bool, values []float64) {
	if !log {
		a.Min, a.Max = extent(values)
		return
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log10(v)
	}
	lo, hi := extent(logs)
	a.Min, a.Max = math.Pow(10, lo), math.Pow(10, hi)
	a.Scale, a.Tick.Marker = plot.LogScale{}, decades{}
}

// decades marks 1, 2 and 5 times the powers of ten, or the powers alone when there are many.
type decades struct{}

func (decades) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	many := math.Log10(hi/lo) > 4
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || !many {
				t.Label = strconv.FormatFloat(v, 'g', -1, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

func (l Lines) settle(*plot.Plot, draw.Canvas) {}

// Plot draws bands, lines and markers; it is called by the plotting library.
func (l Lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for k, s := range l.Series {
		band := palette[k%len(palette)]
		band.A = 50
		if s.Low != nil && s.High != nil && len(s.X) > 0 {
			var outline []vg.Point
			for i := range s.X {
				outline = append(outline, vg.Point{X: x(s.X[i]), Y: y(s.High[i])})
			}
			for i := len(s.X) - 1; i >= 0; i-- {
				outline = append(outline, vg.Point{X: x(s.X[i]), Y: y(s.Low[i])})
			}
			c.FillPolygon(band, outline)
		}
	}
	for k, s := range l.Series {
		var line []vg.Point
		for i := range s.X {
			line = append(line, vg.Point{X: x(s.X[i]), Y: y(s.Y[i])})
		}
		if len(line) > 1 {
			c.StrokeLines(lineStyle(k), line)
		}
		for _, at := range line {
			if s.Markers || len(line) == 1 {
				c.DrawGlyph(markerStyle(k), at)
			}
		}
	}
}

// lineStyle tells lines apart by colour and by dashes.
func lineStyle(k int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	return draw.LineStyle{Color: palette[k%len(palette)], Width: vg.Points(1.5), Dashes: dashes[k%len(dashes)]}
}

func markerStyle(k int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[k%len(palette)], Radius: 2.5, Shape: shapes[k%len(shapes)]}
}

func (l Lines) legend(to *plot.Legend) {
	if l.NoLegend {
		return
	}
	for k, s := range l.Series {
		samples := []plot.Thumbnailer{stroke{lineStyle(k)}}
		if s.Markers || len(s.X) == 1 {
			samples = append(samples, glyph{markerStyle(k)})
		}
		to.Add(cmp.Or(s.Name, fmt.Sprintf("series %d", k)), samples...)
	}
}
