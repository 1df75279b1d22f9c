package points_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// drawMixed draws a table of columns of numbers and of text, both with missing cells.
func drawMixed(t *rapid.T) *points.Mixed {
	n := rapid.IntRange(0, 8).Draw(t, "n")
	p := &points.Mixed{N: n}
	for range rapid.IntRange(0, 4).Draw(t, "columns") {
		c := points.Column{Name: rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "name")}
		if rapid.Bool().Draw(t, "text") {
			c.Levels = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d]{0,3}`), 1, 4, rapid.ID).Draw(t, "levels")
			c.Codes = rapid.SliceOfN(rapid.Int32Range(-1, int32(len(c.Levels)-1)), n, n).Draw(t, "codes")
		} else {
			c.Numbers = rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-9, 9), rapid.Just(math.NaN())), n, n).Draw(t, "numbers")
		}
		p.Columns = append(p.Columns, c)
	}
	return p
}

// cell returns a cell as a value that compares: a number, a text, or nil for a missing one.
func cell(p *points.Mixed, i, j int) any {
	c := &p.Columns[j]
	switch {
	case c.IsText() && c.Codes[i] >= 0:
		return c.Levels[c.Codes[i]]
	case !c.IsText() && c.Numbers[i] == c.Numbers[i]:
		return c.Numbers[i]
	}
	return nil
}

func TestMixedPartsHaveTheCellsOfTheirRows(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		p := drawMixed(t)
		lo := rapid.IntRange(0, p.N).Draw(t, "lo")
		hi := rapid.IntRange(lo, p.N).Draw(t, "hi")
		var rows []int
		for i := lo; i < hi; i++ {
			rows = append(rows, i)
		}
		for _, part := range []points.Points{points.Slice(p, lo, hi), p.Select(rows)} {
			q := part.(*points.Mixed)
			if err := q.Validate(); err != nil || q.Len() != len(rows) || q.Dim() != p.Dim() {
				t.Fatalf("%d x %d, %v: want %d x %d", q.Len(), q.Dim(), err, len(rows), p.Dim())
			}
			for i, r := range rows {
				for j := range p.Columns {
					if cell(q, i, j) != cell(p, r, j) || q.Columns[j].Name != p.Columns[j].Name {
						t.Fatalf("cell (%d, %d) is %v, want %v", i, j, cell(q, i, j), cell(p, r, j))
					}
				}
			}
		}
	})
}

// The digest is that of the cells: the order of the levels, which depends on where a reader began,
// does not change it, and any cell does.
func TestMixedDigestIsOfTheCells(t *testing.T) {
	table := func(code int32, levels ...string) *points.Mixed {
		return &points.Mixed{N: 2, Columns: []points.Column{
			{Name: "x", Numbers: []float64{1, math.NaN()}},
			{Name: "y", Codes: []int32{code, -1}, Levels: levels},
		}}
	}
	one := points.Digest(table(0, "a", "b"))
	if points.Digest(table(1, "b", "a")) != one {
		t.Error("another order of the levels changed the digest")
	}
	if points.Digest(table(1, "a", "b")) == one || points.Digest(table(-1, "a", "b")) == one {
		t.Error("another cell did not change the digest")
	}
}

func TestMixedRefusesColumnsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]points.Column{
		"short":      {Name: "x", Numbers: []float64{1}},
		"both":       {Name: "x", Numbers: []float64{1, 2}, Codes: []int32{}},
		"infinite":   {Name: "x", Numbers: []float64{1, math.Inf(1)}},
		"no level":   {Name: "x", Codes: []int32{0, 1}, Levels: []string{"a"}},
		"below none": {Name: "x", Codes: []int32{0, -2}, Levels: []string{"a"}},
	} {
		p := &points.Mixed{N: 2, Columns: []points.Column{c}}
		if p.Validate() == nil {
			t.Errorf("%s: the column was accepted", name)
		}
	}
}

// Vectors have the numbers of the table, and exist only if no cell is missing or a text.
func TestMixedDense(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		p := drawMixed(t)
		whole := true
		for j := range p.Columns {
			whole = whole && !p.Columns[j].IsText() && !slices.ContainsFunc(p.Columns[j].Numbers, math.IsNaN)
		}
		d, err := p.Dense()
		if (err == nil) != whole {
			t.Fatalf("error %v of a table that is whole: %v", err, whole)
		}
		for i := 0; whole && i < p.N; i++ {
			for j := range p.Columns {
				if d.Row(i)[j] != p.Columns[j].Numbers[i] {
					t.Fatalf("cell (%d, %d) is %v, want %v", i, j, d.Row(i)[j], p.Columns[j].Numbers[i])
				}
			}
		}
	})
}
