package view

import (
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"
)

// seeing are the colors as people see them, as linear maps of linear RGB: all cones, and without
// green or red ones (Machado, Oliveira & Fernandes 2009, severity 1).
var seeing = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deuteranope": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881}},
	"protanope": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998}},
}

func linear(c color.NRGBA) (out [3]float64) {
	for k, v := range []uint8{c.R, c.G, c.B} {
		s := float64(v) / 255
		out[k] = s / 12.92
		if s > 0.04045 {
			out[k] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// oklab returns the color in a space in which distances are differences to the eye (Ottosson 2020).
func oklab(c [3]float64) [3]float64 {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// TestPalette: any two colors differ for people with and without color blindness, and every color
// differs from the backgrounds of light and dark pages.
func TestPalette(t *testing.T) {
	if len(Palette) != 12 || len(hexPalette()) != 12 {
		t.Fatalf("%d colors: want 12", len(Palette))
	}
	for who, cones := range seeing {
		var seen [][3]float64
		for _, c := range Palette {
			rgb, out := linear(c), [3]float64{}
			for i := range out {
				for k := range rgb {
					out[i] += cones[i][k] * rgb[k]
				}
				out[i] = max(0, min(1, out[i]))
			}
			seen = append(seen, oklab(out))
		}
		for i, a := range seen {
			for j, b := range seen[:i] {
				const least = 0.07 // the first six alone have 0.076
				if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); d < least {
					t.Errorf("%s: colors %d and %d differ by %.3f: want %v", who, j, i, d, least)
				}
			}
		}
	}
	luminance := func(c color.NRGBA) float64 {
		l := linear(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	for i, c := range Palette {
		onWhite, onDark := 1.05/(luminance(c)+0.05),
			(luminance(c)+0.05)/(luminance(color.NRGBA{21, 24, 28, 255})+0.05)
		if onWhite < 1.7 || onDark < 2.5 {
			t.Errorf("color %d has the contrast %.2f on white and %.2f on dark", i, onWhite, onDark)
		}
	}
}

// TestMarkersDiffer: 96 groups have 96 markers, and up to seven groups differ in color alone.
func TestMarkersDiffer(t *testing.T) {
	seen := map[marker]bool{}
	for g := range 96 {
		seen[markerOf(g, 1)] = true
	}
	if len(seen) != 96 {
		t.Errorf("%d different markers of 96 groups", len(seen))
	}
	for _, n := range []int{7, 8} {
		s := Scatter{}
		for g := range n {
			s.X, s.Y, s.Groups = append(s.X, float64(g)), append(s.Y, 0),
				append(s.Groups, string(rune('a'+g)))
		}
		shapes, colors := map[int]bool{}, map[color.NRGBA]bool{}
		for _, m := range s.markers() {
			shapes[m.shape], colors[m.color] = true, true
		}
		if (len(shapes) == 1) != (n <= fewGroups) || len(colors) != n {
			t.Errorf("%d groups have %d shapes and %d colors", n, len(shapes), len(colors))
		}
	}
}

// TestCorners: the page has the corners of the figures, upside down, with four decimals.
func TestCorners(t *testing.T) {
	list := corners()
	if len(list) != len(shapes) {
		t.Fatalf("%d shapes: want %d", len(list), len(shapes))
	}
	for k, shape := range shapes {
		if len(list[k]) != 2*len(shape) {
			t.Fatalf("shape %d has %d numbers: want %d", k, len(list[k]), 2*len(shape))
		}
		for i, c := range shape {
			for axis, want := range []float64{float64(c.X), -float64(c.Y)} {
				got := list[k][2*i+axis]
				text := strconv.FormatFloat(got, 'f', -1, 64)
				if _, decimals, _ := strings.Cut(text, "."); math.Abs(got-want) > 5e-5 || len(decimals) > 4 {
					t.Errorf("corner %d of shape %d is %s: want %v", i, k, text, want)
				}
			}
		}
	}
}
