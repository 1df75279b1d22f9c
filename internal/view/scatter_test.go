package view

import (
	"bytes"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestDensity: every point is counted once, in the cell of its position. A cell has the mean color
// of its points, darker if there are more.
func TestDensity(t *testing.T) {
	coordinates := []vg.Point{{X: 0.5, Y: 0.5}, {X: 1.9, Y: 0.1}, {X: 2, Y: 0}, {X: -0.1, Y: 0}, {X: 1, Y: 1}}
	colors := []color.NRGBA{{R: 200, A: 255}, {R: 100, A: 255}, {G: 50, A: 255}, {B: 60, A: 255},
		{R: 0, A: 255}}
	cells, most := density(len(coordinates), func(i int) vg.Point {
		return coordinates[i]
	}, func(i int) color.NRGBA { return colors[i] })
	if most != 3 || len(cells) != 3 {
		t.Fatalf("%d cells, the fullest with %d points: want 3 and 3", len(cells), most)
	}
	for at, want := range map[cell]color.NRGBA{{0, 0}: {R: 100, A: 255}, {1, 0}: {G: 50, A: 70},
		{-1, 0}: {B: 60, A: 70}} {
		if got := cells[at].color(most); got != want {
			t.Errorf("cell %v has the color %v: want %v", at, got, want)
		}
	}
}

// TestCrowd: a picture of a hundred thousand points does not grow with them, and is the same each
// time.
func TestCrowd(t *testing.T) {
	picture := func(n int) []byte {
		r := rand.New(rand.NewPCG(1, 2))
		s := Scatter{X: make([]float64, n), Y: make([]float64, n), Groups: make([]string, n)}
		for i := range n {
			s.X[i], s.Y[i], s.Groups[i] = math.Tanh(r.NormFloat64()), math.Tanh(r.NormFloat64()),
				string(rune('a'+i%3))
		}
		var b bytes.Buffer
		if err := Write(&b, "svg", Size{}, s); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	large := picture(100_000)
	if again := picture(100_000); !bytes.Equal(large, again) {
		t.Error("another picture of the same points")
	}
	if larger := picture(200_000); len(larger) > len(large)*11/10 {
		t.Errorf("%d bytes for 100,000 points, %d for twice as many", len(large), len(larger))
	}
	if !bytes.Contains(large, []byte("a (33334)")) {
		t.Error("the legend does not count the points")
	}
}
