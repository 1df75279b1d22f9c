package points_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// at returns element (i, j) of any kind of points, which Select must preserve.
func at(p points.Points, i, j int) float64 {
	switch p := p.(type) {
	case *points.Dense:
		return p.Row(i)[j]
	case *points.Gram:
		return p.Row(i)[j]
	case *points.CSR:
		col, val := p.Row(i)
		if k, ok := slices.BinarySearch(col, int32(j)); ok {
			return val[k]
		}
	}
	return 0
}

func drawDense(t *rapid.T) *points.Dense {
	n, d := rapid.IntRange(0, 8).Draw(t, "n"), rapid.IntRange(0, 5).Draw(t, "d")
	data := rapid.SliceOfN(rapid.Float64Range(-9, 9), n*d, n*d).Draw(t, "data")
	p, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawCSR(t *rapid.T) *points.CSR {
	n, d := rapid.IntRange(0, 8).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "d")
	start, col, val := []int{0}, []int32{}, []float64{}
	for range n {
		for c := range d {
			if rapid.Bool().Draw(t, "present") {
				col, val = append(col, int32(c)), append(val, rapid.Float64Range(-9, 9).Draw(t, "v"))
			}
		}
		start = append(start, len(col))
	}
	p, err := points.NewCSR(n, d, start, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawGram(t *rapid.T) *points.Gram {
	n := rapid.IntRange(0, 6).Draw(t, "n")
	data := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			least := 0.0
			if i == j {
				least = 1 // zeros make distances of it
			}
			v := rapid.Float64Range(least, 9).Draw(t, "k")
			data[i*n+j], data[j*n+i] = v, v
		}
	}
	p, err := points.NewGram(n, n, data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSelect(t *testing.T) {
	kinds := map[string]func(*rapid.T) points.Points{
		"dense": func(t *rapid.T) points.Points { return drawDense(t) },
		"csr":   func(t *rapid.T) points.Points { return drawCSR(t) },
		"gram":  func(t *rapid.T) points.Points { return drawGram(t) },
	}
	for name, draw := range kinds {
		t.Run(name, func(t *testing.T) {
			propertytest.Check(t, func(t *rapid.T) {
				p := draw(t)
				var rows []int
				if p.Len() > 0 {
					rows = rapid.SliceOfN(rapid.IntRange(0, p.Len()-1), 0, 10).Draw(t, "rows")
				}
				q := p.Select(rows)
				if q.Len() != len(rows) || q.Dim() != p.Dim() {
					t.Fatalf("selected %d of dimension %d, want %d of %d", q.Len(), q.Dim(), len(rows),
						p.Dim())
				}
				if err := q.Validate(); err != nil {
					t.Fatalf("selection is not valid: %v", err)
				}
				for i, r := range rows {
					for j := range p.Dim() {
						if at(q, i, j) != at(p, r, j) {
							t.Fatalf("element (%d, %d) is %v, want %v", i, j, at(q, i, j), at(p, r, j))
						}
					}
				}
				if g, ok := q.(*points.Gram); ok {
					src := p.(*points.Gram)
					for i, r := range rows {
						if g.Reference[i] != src.Reference[r] || g.Diagonal[i] != src.Diagonal[r] {
							t.Fatalf("object %d lost its reference or diagonal", i)
						}
					}
				}
			})
		})
	}
}

func TestSelectCopies(t *testing.T) {
	d := &points.Dense{N: 2, D: 2, Data: []float64{1, 2, 3, 4}}
	c := &points.CSR{N: 1, D: 2, Start: []int{0, 2}, Col: []int32{0, 1}, Val: []float64{5, 6}}
	g, _ := points.NewGram(2, 2, []float64{1, 0, 0, 1}, nil, nil)
	d2, c2, g2 := d.Select([]int{1}).(*points.Dense), c.Select([]int{0}).(*points.CSR),
		g.Select([]int{1}).(*points.Gram)
	d2.Data[0], c2.Val[0], c2.Col[0], g2.Data[1], g2.Diagonal[0], g2.Reference[0] = -1, -1, 1, -1, -1, -1
	if d.Data[2] != 3 || c.Val[0] != 5 || c.Col[0] != 0 || g.Data[3] != 1 || g.Diagonal[1] != 1 ||
		g.Reference[1] != 1 {
		t.Error("a write to the selection reached the original")
	}
}

func TestSelectOutOfRange(t *testing.T) {
	for _, p := range []points.Points{&points.Dense{N: 2}, &points.CSR{N: 2, Start: []int{0, 0, 0}},
		&points.Gram{N: 2, Diagonal: make([]float64, 2), Reference: []int{-1, -1}}} {
		for _, r := range []int{-1, 2} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%T: row %d of 2 was selected", p, r)
					}
				}()
				p.Select([]int{r})
			}()
		}
	}
}

func TestConstructorsReject(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	dense := func(n, d int, data ...float64) func() error {
		return func() error { _, err := points.NewDense(n, d, data); return err }
	}
	csr := func(n, d int, start []int, col []int32, val ...float64) func() error {
		return func() error { _, err := points.NewCSR(n, d, start, col, val); return err }
	}
	gram := func(n, m int, data, diagonal []float64, reference []int) func() error {
		return func() error { _, err := points.NewGram(n, m, data, diagonal, reference); return err }
	}
	cases := []struct {
		name  string
		f     func() error
		row   int    // of the DataError; -2 for a ShapeError
		col   string // of the DataError
		wants string
	}{
		{"dense too short", dense(2, 2, 1, 2, 3), -2, "", "2 x 2"},
		{"dense negative", dense(-1, 2), -2, "", "0 or more"},
		{"dense without columns", dense(2, 0, 1), -2, "", "2 x 0"},
		{"dense size overflows", dense(math.MaxInt/2+1, 4), -2, "", "x 4"},
		{"dense NaN", dense(2, 2, 1, 2, nan, inf), 1, "0", "NaN"},
		{"dense Inf", dense(2, 2, 1, inf, nan, 1), 0, "1", "+Inf"},
		{"csr start", csr(2, 2, []int{0, 1}, []int32{0}, 1), -1, "", "one more than the number of rows"},
		{"csr first start", csr(1, 2, []int{1, 1}, []int32{0}, 1), -1, "", "start of row 0"},
		{"csr last start", csr(1, 2, []int{0, 0}, []int32{0}, 1), -1, "", "number of values"},
		{"csr falling start", csr(2, 2, []int{0, 2, 1}, []int32{0}, 1), 0, "", "row ends at value 2"},
		{"csr falling start below", csr(3, 2, []int{0, 1, 0, 1}, []int32{0}, 1), 1, "",
			"row ends at value 0"},
		{"csr lengths", csr(1, 2, []int{0, 1}, []int32{0}, 1, 2), -1, "", "one for each value"},
		{"csr column", csr(1, 2, []int{0, 1}, []int32{2}, 1), 0, "2", "want 0 to 1"},
		{"csr negative column", csr(1, 2, []int{0, 1}, []int32{-1}, 1), 0, "-1", "want 0 to 1"},
		{"csr order", csr(1, 3, []int{0, 2}, []int32{1, 1}, 1, 2), 0, "1", "ascending"},
		{"csr NaN", csr(2, 3, []int{0, 1, 2}, []int32{1, 2}, 1, nan), 1, "2", "NaN"},
		{"gram too short", gram(2, 2, []float64{1}, nil, nil), -2, "", "2 x 2"},
		{"gram asymmetric", gram(2, 2, []float64{1, 0.5, 0.5000001, 1}, nil, nil), 1, "0", "symmetric"},
		{"gram NaN", gram(1, 2, []float64{1, nan}, []float64{1}, nil), 0, "1", "NaN"},
		{"gram negative diagonal", gram(1, 2, []float64{1, 1}, []float64{-1}, nil), 0, "diagonal", ">= 0"},
		{"gram missing diagonal", gram(1, 2, []float64{1, 1}, nil, nil), 0, "", "diagonal given"},
		{"gram short diagonal", gram(1, 2, []float64{1, 1}, []float64{}, nil), -1, "", "one for each object"},
		{"gram contradicted diagonal", gram(1, 2, []float64{1, 2}, []float64{1}, []int{1}), 0, "diagonal",
			"column 1"},
		{"gram reference", gram(1, 2, []float64{1, 2}, []float64{1}, []int{2}), -1, "", "from 0 to 1"},
		{"gram references", gram(1, 2, []float64{1, 2}, []float64{1}, []int{0, 1}), -1, "",
			"one for each object"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.f()
			if !fault.IsInput(err) {
				t.Fatalf("got %v, want an input error", err)
			}
			if !strings.Contains(err.Error(), c.wants) {
				t.Errorf("%q does not contain %q", err, c.wants)
			}
			var d *fault.DataError
			var s *fault.ShapeError
			if c.row == -2 {
				if !errors.As(err, &s) {
					t.Errorf("got %T, want a ShapeError", err)
				}
			} else if !errors.As(err, &d) || d.Row != c.row || d.Column != c.col {
				t.Errorf("got %#v, want row %d, column %q", err, c.row, c.col)
			}
		})
	}
}

func TestGramDefaults(t *testing.T) {
	square, err := points.NewGram(2, 2, []float64{4, 1, 1, 9}, nil, nil)
	if err != nil || !slices.Equal(square.Diagonal, []float64{4, 9}) ||
		!slices.Equal(square.Reference, []int{0, 1}) {
		t.Errorf("square: %+v, %v", square, err)
	}
	wide, err := points.NewGram(1, 2, []float64{1, 2}, []float64{3}, nil)
	if err != nil || !slices.Equal(wide.Reference, []int{-1}) {
		t.Errorf("rectangular: %+v, %v", wide, err)
	}
	// A diagonal can be read from the matrix if every object is a reference object.
	read, err := points.NewGram(3, 2, []float64{4, 1, 1, 9, 4, 1}, nil, []int{0, 1, 0})
	if err != nil || !slices.Equal(read.Diagonal, []float64{4, 9, 4}) {
		t.Errorf("referenced: %+v, %v", read, err)
	}
	// A square matrix of new objects need not be symmetric.
	if _, err := points.NewGram(2, 2, []float64{1, 2, 3, 4}, []float64{5, 5}, []int{-1, -1}); err != nil {
		t.Errorf("square but new: %v", err)
	}
	// Rounding in the twelfth digit is not an error.
	if _, err := points.NewGram(2, 2, []float64{1, 0.5, 0.5 + 1e-12, 1}, nil, nil); err != nil {
		t.Errorf("nearly symmetric: %v", err)
	}
}

// Symmetry is checked in every block of a matrix of several.
func TestGramSymmetryEverywhere(t *testing.T) {
	const n = 150
	for _, bad := range [][2]int{{1, 0}, {64, 63}, {64, 0}, {127, 65}, {149, 148}, {149, 0}, {149, 128}} {
		data := make([]float64, n*n)
		for i := range n {
			data[i*n+i] = 1
		}
		data[bad[0]*n+bad[1]] = 0.25
		_, err := points.NewGram(n, n, data, nil, nil)
		var d *fault.DataError
		if !errors.As(err, &d) || d.Row != bad[0] {
			t.Errorf("asymmetry at %v: got %v", bad, err)
		}
	}
}

func TestValidateStructure(t *testing.T) {
	for _, p := range []points.Points{
		&points.Dense{N: 2, D: 2, Data: []float64{1}},
		&points.Gram{N: 1, M: 2, Data: []float64{1}},
		&points.CSR{N: -1},
	} {
		var d *fault.DataError
		if err := p.Validate(); !errors.As(err, &d) {
			t.Errorf("%T: got %v, want a DataError", p, err)
		}
	}
}

// Bytes counts the values that Select copies.
func TestBytes(t *testing.T) {
	dense := &points.Dense{N: 2, D: 3, Data: make([]float64, 6)}
	sparse := &points.CSR{N: 2, D: 3, Start: []int{0, 1, 3}, Col: []int32{0, 1, 2}, Val: []float64{1, 2, 3}}
	sequences := &points.Sequences{Alphabet: "ab", Start: []int{0, 2, 5}, Letters: []byte("ababa")}
	gram := &points.Gram{N: 2, M: 2, Data: []float64{1, 0, 0, 1}, Diagonal: []float64{1, 1},
		Reference: []int{0, 1}}
	for _, c := range []struct {
		x    points.Points
		want int64
	}{{dense, 48}, {sparse, 3*8 + 3*4 + 3*8}, {sequences, 3*8 + 5}, {gram, 32 + 16 + 16}} {
		if got := points.Bytes(c.x); got != c.want {
			t.Errorf("%T: %d bytes, want %d", c.x, got, c.want)
		}
	}
}

// A matrix of distances has a diagonal of zeros and no negative entry, up to the rounding of its
// diagonal; no matrix of inner products does, also one with points at the origin.
func TestGramOfDistances(t *testing.T) {
	for name, c := range map[string]struct {
		n, m      int
		data      []float64
		diagonal  []float64
		reference []int
		refused   bool
	}{
		"distances":             {2, 2, []float64{0, 3, 3, 0}, nil, nil, true},
		"rounded distances":     {2, 2, []float64{1e-8, 3, 3, 0}, nil, nil, true},
		"cosine distances":      {3, 3, []float64{-2e-16, 1, 0, 1, 0, 2, 0, 2, 1e-16}, nil, nil, true},
		"negative distances":    {2, 2, []float64{0, -3, -3, 0}, nil, nil, false},
		"the largest rounding":  {2, 2, []float64{9e-7, 1, 1, 0}, nil, nil, true},
		"more than rounding":    {2, 2, []float64{2e-6, 1, 1, 0}, nil, nil, false},
		"rounded below zero":    {3, 3, []float64{0, 1, -9e-7, 1, 0, 1, -9e-7, 1, 0}, nil, nil, true},
		"distances of new rows": {1, 2, []float64{1, 2}, []float64{0}, []int{-1}, true},
		"zeros":                 {2, 2, []float64{0, 0, 0, 0}, nil, nil, false},
		"a point at the origin": {2, 2, []float64{0, 0, 0, 4}, nil, nil, false},
		"small points":          {2, 2, []float64{1e-9, 1e-9, 1e-9, 2e-9}, nil, nil, false},
		"negative entries":      {2, 2, []float64{0, -3, -3, 0}, nil, nil, false},
	} {
		_, err := points.NewGram(c.n, c.m, c.data, c.diagonal, c.reference)
		if refused := err != nil &&
			strings.Contains(err.Error(), "matrix of distances"); refused != c.refused || !refused &&
			err != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
	single := float64(float32(1.0 / 3))
	near := single + 0x1p-24
	if _, err := points.NewGram(2, 2, []float64{1, single, near, 1}, nil, nil); err != nil {
		t.Errorf("entries in single precision that differ by its rounding: %v", err)
	}
	if _, err := points.NewGram(2, 2, []float64{1, 0.3, 0.3 + 0x1p-24, 1}, nil, nil); err == nil {
		t.Error("entries in double precision that differ by 6e-8 pass")
	}
}

// drawMixed draws a table of columns of numbers and of text, both with missing cells.
func drawMixed(t *rapid.T) *points.Mixed {
	n := rapid.IntRange(0, 8).Draw(t, "n")
	p := &points.Mixed{N: n}
	for range rapid.IntRange(0, 4).Draw(t, "columns") {
		c := points.Column{Name: rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "name")}
		if rapid.Bool().Draw(t, "text") {
			c.Levels = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d]{0,3}`), 1, 4, rapid.ID).Draw(t,
				"levels")
			c.Codes = rapid.SliceOfN(rapid.Int32Range(-1, int32(len(c.Levels)-1)), n, n).Draw(t, "codes")
		} else {
			c.Numbers = rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-9, 9), rapid.Just(math.NaN())), n,
				n).Draw(t, "numbers")
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
	drew := propertytest.Cases(t, "several cells, all numbers", "a text", "a missing number")
	propertytest.Check(t, func(t *rapid.T) {
		p := drawMixed(t)
		if rapid.Bool().Draw(t, "whole") {
			for j := range p.Columns {
				p.Columns[j] = points.Column{Name: p.Columns[j].Name,
					Numbers: rapid.SliceOfN(rapid.Float64Range(-9, 9), p.N, p.N).Draw(t, "numbers")}
			}
		}
		whole := true
		for j := range p.Columns {
			whole = whole && !p.Columns[j].IsText() && !slices.ContainsFunc(p.Columns[j].Numbers, math.IsNaN)
		}
		drew("several cells, all numbers", whole && p.N > 1 && len(p.Columns) > 1)
		drew("a text", slices.ContainsFunc(p.Columns, func(c points.Column) bool { return c.IsText() }))
		drew("a missing number", slices.ContainsFunc(p.Columns, func(c points.Column) bool {
			return slices.ContainsFunc(c.Numbers, math.IsNaN)
		}))
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

// TestSingle: points in single precision round once, widen exactly, and refuse values beyond them.
func TestSingle(t *testing.T) {
	data := []float32{1, 2, 3, -4, 5, math.MaxFloat32}
	p := &points.Single{N: 2, D: 3, Data: data}
	again, err := points.Narrow(p.Widened())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range again.Data {
		if v != data[i] {
			t.Errorf("value %d is %v after narrowing and widening: want %v", i, v, data[i])
		}
	}
	var bad *fault.DataError
	if _, err := points.Narrow(&points.Dense{N: 1, D: 2, Data: []float64{0, 1e300}}); !errors.As(err, &bad) ||
		bad.Row != 0 || bad.Column != "1" {
		t.Errorf("a value beyond float32: %v", err)
	}
}

func ExampleNewDense() {
	x, err := points.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Select([]int{2, 0}).(*points.Dense).Data)

	_, err = points.NewDense(2, 2, []float64{1, 2, 3, math.NaN()})
	fmt.Println(err)
	// Output:
	// [5 6 1 2]
	// row 1, column "1": value is NaN: want a finite number
}

// Points have one digest if, and as good as only if, they are equal: 0 is -0, a zero that is stored
// is one that is not, and any other bit counts.
func TestDigests(t *testing.T) {
	row := []float64{1.5, -2, 0, 3}
	dense := func(change func(v []float64)) int64 {
		v := slices.Clone(row)
		change(v)
		return points.Digests(&points.Dense{N: 1, D: 4, Data: v})[0]
	}
	want := dense(func([]float64) {})
	if got := dense(func(v []float64) { v[2] = math.Copysign(0, -1) }); got != want {
		t.Errorf("with -0: %d, with 0: %d", got, want)
	}
	seen := map[int64]string{want: "as it is"}
	for k := range row {
		for bit := range 64 {
			got := dense(func(v []float64) { v[k] = math.Float64frombits(math.Float64bits(v[k]) ^ 1<<bit) })
			if name := fmt.Sprintf("bit %d of %d", bit, k); got != want || k != 2 || bit != 63 {
				if other, there := seen[got]; there {
					t.Errorf("%s and %s have one digest", name, other)
				}
				seen[got] = name
			}
		}
	}
	sparse := &points.CSR{N: 2, D: 9, Start: []int{0, 2, 5}, Col: []int32{1, 7, 1, 4, 7},
		Val: []float64{2, 3, 2, 0, 3}}
	if d := points.Digests(sparse); d[0] != d[1] {
		t.Errorf("a stored zero changes the digest: %v", d)
	}
}
