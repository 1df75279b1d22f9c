package view

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gonum.org/v1/plot"
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
		groups = append(append([]entry(nil), groups[:keep]...), entry{text: fmt.Sprintf("and %d more", len(groups)-keep)})
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
	s := text.Style{Font: font.From(plot.DefaultFont, 9), YAlign: text.YCenter, Handler: plot.DefaultTextHandler}
	setFont(&s, 9)
	return s
}

// shorten cleans a name and cuts it if it would leave no room for the drawing.
func shorten(name string) string {
	const limit = 24
	name = strings.TrimSpace(clean(name))
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
