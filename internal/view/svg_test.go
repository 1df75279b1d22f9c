package view

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// picture returns the SVG of a figure.
func picture(t interface{ Fatal(...any) }, size Size, panels ...Panel) string {
	var b bytes.Buffer
	if err := Write(&b, "svg", size, panels...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawnPath is a path of an SVG: its first and last point and its style.
type drawnPath struct {
	from, to vg.Point
	style    string
}

var (
	pathElement = regexp.MustCompile(`<path d="([^"]*)" style="([^"]*)"`)
	move        = regexp.MustCompile(`^M([^,]+),([^A-Z]+)`)
	lineTo      = regexp.MustCompile(`L([^,A-Z]+),([^,A-Z]+)$`)
)

func pathsOf(t *testing.T, svg string) []drawnPath {
	var out []drawnPath
	for _, m := range pathElement.FindAllStringSubmatch(svg, -1) {
		p := drawnPath{from: pointOf(t, move.FindStringSubmatch(m[1])), style: m[2]}
		if end := lineTo.FindStringSubmatch(m[1]); end != nil {
			p.to = pointOf(t, end)
		}
		out = append(out, p)
	}
	return out
}

func pointOf(t *testing.T, m []string) (p vg.Point) {
	t.Helper()
	if _, err := fmt.Sscan(m[1]+" "+m[2], &p.X, &p.Y); err != nil {
		t.Fatalf("place %q: %v", m, err)
	}
	return p
}

// The SVG has a circle at every point, the same scale in x and y, must-links as solid and
// cannot-links as dashed lines between the points, and the stars of chunklets from their means.
func TestCoordinates(t *testing.T) {
	const radius = 2
	s := Scatter{
		X: []float64{0, 10, 2, 3, 8, 6}, Y: []float64{5, 6, 1, 4, 2, 9}, PointSize: radius, XLabel: "x",
		YLabel: "y", NoLegend: true,
		Must: [][2]int{{1, 0}, {4, 2}}, Cannot: [][2]int{{2, 0}, {3, 1}},
		Chunklets: [][]int{{0, 2, 5}, {3, 4}},
	}
	var circles, solid, dashed []drawnPath
	for _, p := range pathsOf(t, picture(t, Size{Width: 5, Height: 3}, s)) {
		switch {
		case strings.HasPrefix(p.style, "fill:#0072B2"):
			circles = append(circles, p)
		case strings.Contains(p.style, "dasharray:3,2"):
			dashed = append(dashed, p)
		case strings.Contains(p.style, "stroke-width:0.8"):
			solid = append(solid, p)
		}
	}
	if len(circles) != len(s.X) || len(solid) != 2+5 || len(dashed) != 2 {
		t.Fatalf("%d circles, %d solid and %d dashed lines: want 6, 7 and 2", len(circles), len(solid),
			len(dashed))
	}
	place := make([]vg.Point, len(circles))
	for i, c := range circles {
		place[i] = vg.Point{X: c.from.X - radius, Y: c.from.Y} // a circle begins at its right
	}
	unit := (place[1].X - place[0].X) / 10
	for i := range place {
		want := vg.Point{X: place[0].X + unit*vg.Length(s.X[i]), Y: place[0].Y + unit*vg.Length(s.Y[i]-5)}
		near(t, fmt.Sprintf("point %d", i), place[i], want)
	}
	for k, l := range s.Must {
		near(t, "begin of a must-link", solid[k].from, place[l[0]])
		near(t, "end of a must-link", solid[k].to, place[l[1]])
	}
	for k, l := range s.Cannot {
		near(t, "begin of a cannot-link", dashed[k].from, place[l[0]])
		near(t, "end of a cannot-link", dashed[k].to, place[l[1]])
	}
	k := len(s.Must)
	for _, rows := range s.Chunklets {
		var sum vg.Point
		for _, i := range rows {
			sum = sum.Add(place[i])
		}
		for _, i := range rows {
			near(t, "middle of a chunklet", solid[k].from, sum.Scale(1/vg.Length(len(rows))))
			near(t, "end of a chunklet", solid[k].to, place[i])
			k++
		}
	}
}

// near allows for the rounding to five digits in the SVG.
func near(t *testing.T, what string, got, want vg.Point) {
	t.Helper()
	if d := got.Sub(want); math.Hypot(float64(d.X), float64(d.Y)) > 0.02 {
		t.Errorf("%s at %v: want %v", what, got, want)
	}
}

// Lines go through their values on linear and logarithmic axes: equal steps of the values, or of
// their logarithms, are equal steps on paper; bars end at Low and High.
func TestLinePoints(t *testing.T) {
	for _, log := range []bool{false, true} {
		f := func(v float64) float64 {
			if log {
				return math.Pow(10, v)
			}
			return v
		}
		x, y := []float64{f(0), f(1), f(3)}, []float64{f(2), f(1), f(4)}
		low, high := []float64{f(1), f(0), f(3)}, []float64{f(3), f(2), f(5)}
		l := Lines{LogX: log, LogY: log, NoLegend: true,
			Series: []Series{{X: x, Y: y, Low: low, High: high, Bars: true}}}
		var bars []drawnPath
		for _, p := range pathsOf(t, picture(t, Size{}, l)) {
			if strings.Contains(p.style, "stroke:#0072B2") && p.from.X == p.to.X {
				bars = append(bars, p)
			}
		}
		if len(bars) != 3 {
			t.Fatalf("log %v: %d bars: want 3", log, len(bars))
		}
		ux, uy := bars[1].from.X-bars[0].from.X, (bars[0].to.Y-bars[0].from.Y)/2
		for i, at := range []vg.Point{{X: 0, Y: 1}, {X: 1, Y: 0}, {X: 3, Y: 3}} {
			want := bars[0].from.Add(vg.Point{X: at.X * ux, Y: (at.Y - 1) * uy})
			near(t, "low end", bars[i].from, want)
			near(t, "high end", bars[i].to, want.Add(vg.Point{Y: 2 * uy}))
		}
	}
}

// For all texts and sizes the picture is well-formed XML without NaN.
func TestAnyText(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		s := cloud(rapid.IntRange(0, 40).Draw(rt, "n"), rapid.IntRange(1, 40).Draw(rt, "k"))
		s.Title, s.XLabel, s.YLabel = text.Draw(rt, "title"), text.Draw(rt, "x"), text.Draw(rt, "y")
		for i := range s.Groups {
			s.Groups[i] += text.Draw(rt, "group")
		}
		size := Size{Width: rapid.Float64Range(1, 8).Draw(rt, "width"),
			Height: rapid.Float64Range(1, 8).Draw(rt, "height")}
		svg := picture(rt, size, s)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			rt.Fatal("NaN in the picture")
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// A PDF has its texts in the code page of its typeface, and the components of translucent colors
// separate from their opacity.
func TestPDF(t *testing.T) {
	s := cloud(4000, 1)
	s.Title = "été … Ω"
	blue := s.markers()["0"].color
	if blue.A == 255 {
		t.Fatal("points are not translucent")
	}
	text := contents(t, s)
	if !bytes.Contains(text, []byte("(\xe9t\xe9 \x85 ?)Tj")) {
		t.Error("the title is not in Windows-1252")
	}
	if want := fmt.Sprintf("%.3f %.3f %.3f rg", float64(blue.R)/255, float64(blue.G)/255,
		float64(blue.B)/255); !bytes.Contains(text, []byte(want)) {
		t.Errorf("no point is filled with %q", want)
	}
}

// contents returns the drawing commands of a figure as PDF.
func contents(t *testing.T, panels ...Panel) (text []byte) {
	var b bytes.Buffer
	if err := Write(&b, "pdf", Size{}, panels...); err != nil {
		t.Fatal(err)
	}
	for _, part := range bytes.Split(b.Bytes(), []byte("stream\n")) {
		if r, err := zlib.NewReader(bytes.NewReader(part)); err == nil {
			part, _ := io.ReadAll(r)
			text = append(text, part...)
		}
	}
	return text
}

// Separate points are drawn at the same positions as joined ones, without the line between them.
func TestPointsApart(t *testing.T) {
	count := func(apart bool) (all, dashed int) {
		s := Series{Name: "s", X: []float64{1, 2, 3}, Y: []float64{1, 3, 2}, Markers: true, Apart: apart}
		other := s // only the second series of a picture has dashes
		other.Y = []float64{2, 1, 3}
		for _, p := range pathsOf(t, picture(t, Size{}, Lines{Series: []Series{s, other}})) {
			all++
			if strings.Contains(p.style, "dasharray") {
				dashed++
			}
		}
		return all, dashed
	}
	all, dashed := count(false)
	apart, none := count(true)
	// A line and its sample in the legend, for each of the two series.
	if dashed != 2 || none != 0 || all-apart != 4 {
		t.Errorf("%d paths, %d with dashes, and apart %d and %d: want four fewer, two of them with dashes",
			all, dashed, apart, none)
	}
}
