package panels

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// What cannot be drawn is bad input that says what, and nothing is written.
func TestBadInput(t *testing.T) {
	for word, panel := range map[string]view.Drawing{
		"names":       Boxes{Names: []string{"a", "b"}, Values: [][]float64{{1}}}.Draw,
		"values of a": Boxes{Names: []string{"a"}, Values: [][]float64{{}}}.Draw,
		"row 1":       Boxes{Names: []string{"a"}, Values: [][]float64{{1, math.NaN()}}}.Draw,
		"mean ranks":  Ranks{Names: []string{"a", "b"}, Mean: []float64{1}}.Draw,
		"critical":    Ranks{Names: []string{"a"}, Mean: []float64{1}, Critical: math.Inf(1)}.Draw,
	} {
		var b bytes.Buffer
		err := view.Write(&b, "png", view.Size{}, panel)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), word) || b.Len() > 0 {
			t.Errorf("error %v, %d bytes: want one of bad input with %q and nothing written", err, b.Len(),
				word)
		}
	}
}

// Boxes and ranks draw something: a picture differs from the empty one of its size.
func TestDraws(t *testing.T) {
	draw := func(panel view.Drawing) []byte {
		var b bytes.Buffer
		if err := view.Write(&b, "png", view.Size{}, panel); err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(bytes.NewReader(b.Bytes())); err != nil || c.Width != 5*150 {
			t.Errorf("a picture %d dots wide (error %v): want %d", c.Width, err, 5*150)
		}
		return b.Bytes()
	}
	names := []string{"one", "two"}
	wide := draw(Boxes{Names: names, Values: [][]float64{{1, 2, 3, 9}, {4}}}.Draw)
	if bytes.Equal(wide, draw(Boxes{Names: names, Values: [][]float64{{1, 2, 2, 9}, {4}}}.Draw)) {
		t.Error("boxes of other values are the same picture")
	}
	ranks := draw(Ranks{Names: names, Mean: []float64{1, 2}, Critical: 0.5}.Draw)
	if bytes.Equal(ranks, draw(Ranks{Names: names, Mean: []float64{1, 2}, Critical: 0.25}.Draw)) {
		t.Error("ranks with another critical difference are the same picture")
	}
}
