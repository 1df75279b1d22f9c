package prepare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// A censored column has the numbers, limits among them, and a column of ones where they are limits,
// also for new rows and in a model file.
func TestCensored(t *testing.T) {
	x := mixed(words("v", "<0.05", "1.5", ">= 9", "", "≤0.05", "3"), values("x", 1, 5, 2, 2, 3, 4))
	p, columns := fit(t, x, prepare.Options{Kinds: map[string]prepare.Kind{"v": prepare.Censored},
		Scale: "none", Indicators: true})
	if want := []string{"v", "v=(censored)", "v=(missing)", "x"}; !slices.Equal(p.Outputs(), want) {
		t.Fatalf("outputs %q: want %q", p.Outputs(), want)
	}
	if c := columns[0]; c.Kind != prepare.Censored || c.Low != 0.05 || c.High != 9 || c.Missing != 1 ||
		!strings.Contains(c.Does, "a column of limits") {
		t.Errorf("%+v", c)
	}
	want := []float64{
		0.05, 1, 0, 1,
		1.5, 0, 0, 5,
		9, 1, 0, 2,
		1.5, 0, 1, 2, // the median of .05, .05, 1.5, 3 and 9
		0.05, 1, 0, 3,
		3, 0, 0, 4,
	}
	file := &model.File{Header: model.Header{Method: "raw"}}
	p.Encode(file)
	stored, err := prepare.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []dataset.Transform{p, stored} {
		got, err := by.Apply(x)
		if err != nil || !slices.Equal(got.(*points.Dense).Data, want) {
			t.Errorf("%v, %v: want %v", got, err, want)
		}
	}
	_, err = p.Apply(mixed(words("v", "< little"), values("x", 1)))
	if !fault.IsInput(err) || !strings.Contains(err.Error(), `"little" is not a finite number`) {
		t.Errorf("error %v", err)
	}
	if got, err := p.Apply(mixed(values("v", 2, math.NaN()), values("x", 1, 1))); err != nil ||
		!slices.Equal(got.(*points.Dense).Data, []float64{2, 0, 0, 1, 1.5, 0, 1, 1}) {
		t.Errorf("of numbers: %v, %v", got, err)
	}
}

// Numbers that may be dates, or mean that there is none, have a warning; others have none.
func TestDoubtfulNumbers(t *testing.T) {
	series := func(value func(k int) float64) (cells []float64) {
		for k := range 30 {
			cells = append(cells, value(k))
		}
		return cells
	}
	small := func(k int) float64 { return float64(k * k % 40) }
	for name, c := range map[string]struct {
		cells []float64
		want  string
	}{
		"dates":       {series(func(k int) float64 { return 20240101 + float64(k%28) }), "look like dates"},
		"no dates":    {series(func(k int) float64 { return 20240160 + float64(k%28) }), ""},
		"prices":      {series(func(k int) float64 { return 20240101.5 + float64(k%28) }), ""},
		"-999":        {append(series(small), -999, -999), "its 2 cells of -999"},
		"9999":        {append(series(small), 9999, 9999, 9999), "3 cells of 9999"},
		"one 999":     {append(series(small), 999), ""},
		"many prices": {append(series(func(k int) float64 { return float64(40 * k) }), 999, 999), ""},
	} {
		x := mixed(values("v", c.cells...), words("c", slices.Repeat([]string{"a"}, len(c.cells)-1)...))
		x.Columns[1].Codes = append(x.Columns[1].Codes, 0)
		_, columns, err := prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"}, prepare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := columns[0].Warning; c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: warning %q, %v; want %q", name, got, err, c.want)
		}
	}
}
