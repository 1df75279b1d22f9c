package prepare_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// numbered returns rows whose number is in every cell; every tenth text is missing.
func numbered(lo, hi int) *points.Mixed {
	var texts []string
	var numbers []float64
	for i := lo; i < hi; i++ {
		text := fmt.Sprintf("t%d", i)
		if i%10 == 0 {
			text = ""
		}
		texts, numbers = append(texts, text), append(numbers, float64(i))
	}
	return mixed(words("text", texts...), values("number", numbers...))
}

// kept returns the numbers of the rows of a sample, and checks that their other cells are theirs.
func kept(t rapid.TB, s *prepare.Sample) []int {
	t.Helper()
	d, from := s.Data()
	x := d.Points.(*points.Mixed)
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i, v := range x.Columns[1].Numbers {
		row := int(v)
		rows = append(rows, row)
		text := ""
		if code := x.Columns[0].Codes[i]; code >= 0 {
			text = x.Columns[0].Levels[code]
		}
		if row != from[i] || row%10 == 0 && text != "" || row%10 != 0 && text != fmt.Sprintf("t%d", row) {
			t.Fatalf("row %d has the number %d and the text %q", row, from[i], text)
		}
	}
	return rows
}

// A sample has the same rows for any blocks of the stream, in their order, and all rows of a short
// one.
func TestSampleBlocks(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, size := rapid.IntRange(1, 400).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "size")
		seed := rapid.Uint64().Draw(t, "seed")
		whole, parts := prepare.NewSample(size, seed), prepare.NewSample(size, seed)
		add := func(s *prepare.Sample, lo, hi int) {
			if err := s.Add(&dataset.Data{Points: numbered(lo, hi),
				Features: []string{"text", "number"}}); err != nil {
				t.Fatal(err)
			}
		}
		add(whole, 0, n)
		for lo := 0; lo < n; {
			hi := min(n, lo+rapid.IntRange(1, 100).Draw(t, "block"))
			add(parts, lo, hi)
			lo = hi
		}
		a, b := kept(t, whole), kept(t, parts)
		if !slices.Equal(a, b) || len(a) != min(n, size) || !slices.IsSorted(a) {
			t.Fatalf("rows %v of the whole, %v of the parts: want %d", a, b, min(n, size))
		}
		if parts.Rows() != n {
			t.Fatalf("%d rows seen: want %d", parts.Rows(), n)
		}
	})
}

// Every row is in a sample with the same probability, and the median of the sample has a rank
// within the bound.
func TestSampleIsUniform(t *testing.T) {
	const n, size, draws = 200, 50, 4000
	count := make([]int, n)
	rows := &dataset.Data{Points: numbered(0, n)}
	bound := n * math.Sqrt(math.Log(2/1e-6)/(2*size))
	for seed := range uint64(draws) {
		s := prepare.NewSample(size, seed)
		if err := s.Add(rows); err != nil {
			t.Fatal(err)
		}
		list := kept(t, s)
		for _, i := range list {
			count[i]++
		}
		if off := math.Abs(float64(list[size/2]) - n/2); off > bound {
			t.Errorf("seed %d: the median is %g ranks off: want at most %g", seed, off, bound)
		}
	}
	const share = float64(size) / n
	sd := math.Sqrt(draws * share * (1 - share))
	for i, c := range count {
		if off := math.Abs(float64(c)-draws*share) / sd; off > 5 {
			t.Errorf("row %d is in %d of %d samples, %.1f standard deviations off", i, c, draws, off)
		}
	}
}

// Rows of numbers stay rows of numbers, and become columns with the first gap.
func TestSampleOfNumbers(t *testing.T) {
	s := prepare.NewSample(10, 1)
	names := []string{"a", "b"}
	if err := s.Add(&dataset.Data{Points: &points.Dense{N: 2, D: 2, Data: []float64{1, 2, 3, 4}},
		Features: names}); err != nil {
		t.Fatal(err)
	}
	d, _ := s.Data()
	if x, ok := d.Points.(*points.Dense); !ok || !slices.Equal(x.Data, []float64{1, 2, 3, 4}) {
		t.Errorf("rows %+v", d.Points)
	}
	if err := s.Add(&dataset.Data{Points: mixed(values("a", 5, nan), values("b", 6, 7)),
		Features: names}); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(&dataset.Data{Points: &points.Dense{N: 1, D: 2, Data: []float64{8, 9}},
		Features: names}); err != nil {
		t.Fatal(err)
	}
	d, _ = s.Data()
	x, ok := d.Points.(*points.Mixed)
	if !ok || !slices.Equal(x.Columns[1].Numbers, []float64{2, 4, 6, 7, 9}) ||
		!slices.Equal(x.Names(), names) {
		t.Errorf("rows %+v", d.Points)
	}
}

// A column is named if numbers of double precision are too far apart for its differences, and whole
// numbers, which are exact, constant columns and columns that reach 0 are not.
func TestCoarse(t *testing.T) {
	for name, c := range map[string]struct {
		values [3]float64
		named  bool
	}{
		"1e12, spread 1":       {[3]float64{1e12 + 0.25, 1e12 - 0.5, 1e12}, true},
		"-1e12, spread 1":      {[3]float64{-1e12 + 0.25, -1e12 - 0.5, -1e12}, true},
		"1e8, spread 1":        {[3]float64{1e8 + 0.25, 1e8 - 0.5, 1e8}, false},
		"whole":                {[3]float64{1e12, 1e12 + 1, 1e12 - 1}, false},
		"whole, beyond 2^53":   {[3]float64{1e17, 1e17 + 32, 1e17 - 32}, true},
		"constant":             {[3]float64{1e12 + 0.5, 1e12 + 0.5, 1e12 + 0.5}, false},
		"reaches 0":            {[3]float64{1e12 + 0.5, 0, 1e12}, false},
		"large, of its spread": {[3]float64{1e12 + 0.5, 2e12, -1e12}, false},
	} {
		x := &points.Dense{N: 3, D: 2, Data: []float64{0.5, c.values[0], 1, c.values[1], 2, c.values[2]}}
		sparse := &points.CSR{N: 3, D: 9, Start: []int{0}}
		for i, v := range c.values {
			sparse.Col, sparse.Val = append(sparse.Col, int32(i)), append(sparse.Val, 1)
			if v != 0 {
				sparse.Col, sparse.Val = append(sparse.Col, 7), append(sparse.Val, v)
			}
			sparse.Start = append(sparse.Start, len(sparse.Col))
		}
		mixed := &points.Mixed{N: 3, Columns: []points.Column{
			{Name: "text", Codes: []int32{0, 0, 0}, Levels: []string{"a"}},
			{Name: "7", Numbers: c.values[:]}}}
		for _, p := range []points.Points{x, sparse, mixed} {
			d := &dataset.Data{Points: p}
			if p == points.Points(x) {
				d.Features = []string{"a", "7"}
			}
			got := prepare.Coarse(d, nil)
			if len(got) > 1 || (len(got) == 1) != c.named || c.named &&
				!strings.Contains(got[0], `column "7"`) {
				t.Errorf("%s, %T: notices %q", name, p, got)
			}
			if other := prepare.Coarse(d, []string{"text"}); len(other) > 0 {
				t.Errorf("%s, %T: notices %q of a column that is no input", name, p, other)
			}
		}
	}
}
