package view

import (
	"cmp"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
func density(n int, place func(i int) vg.Point, color func(i int) color.NRGBA) (cells map[cell]*filled, most int) {
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
		c.FillPolygon(cells[at].color(most), []vg.Point{{X: x, Y: y}, {X: x + cellSide, Y: y}, {X: x + cellSide, Y: y + cellSide}, {X: x, Y: y + cellSide}})
	}
}
