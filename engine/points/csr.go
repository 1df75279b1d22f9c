package points

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// NewCSR returns n sparse vectors of d features in compressed sparse rows (see [CSR]). The
// slices are kept, not copied. An inconsistent structure, a NaN or an Inf is a
// *fault.DataError with its row.
func NewCSR(n, d int, start []int, col []int32, val []float64) (*CSR, error) {
	p := &CSR{N: n, D: d, Start: start, Col: col, Val: val}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of vectors.
func (p *CSR) Len() int { return p.N }

// Dim returns the number of features.
func (p *CSR) Dim() int { return p.D }

// Row returns the columns and values of vector i, sharing memory.
func (p *CSR) Row(i int) (col []int32, val []float64) {
	lo, hi := p.Start[i], p.Start[i+1]
	return p.Col[lo:hi:hi], p.Val[lo:hi:hi]
}

// Select returns copies of the vectors at rows, in that order. Cost: O(len(rows) + values copied).
func (p *CSR) Select(rows []int) Points {
	out := &CSR{N: len(rows), D: p.D, Start: make([]int, 1, len(rows)+1)}
	for _, r := range rows {
		checkRow(r, p.N)
		col, val := p.Row(r)
		out.Col = append(out.Col, col...)
		out.Val = append(out.Val, val...)
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// Validate reports the first inconsistency of the structure, then the first value, by row and
// column, that is NaN or infinite. All errors are *fault.DataError. Cost: O(values).
func (p *CSR) Validate() error {
	if err := p.validateFrame(); err != nil {
		return asData(err)
	}
	for i := range p.N {
		if p.Start[i+1] < p.Start[i] || p.Start[i+1] > len(p.Col) {
			return fault.Row(i,
				"row ends at value %d: want a position from %d to %d", p.Start[i+1], p.Start[i], len(p.Col))
		}
		if err := p.validateRow(i); err != nil {
			return err
		}
	}
	return nil
}

func (p *CSR) validateFrame() error {
	switch {
	case p.N < 0 || p.D < 0:
		return fault.Shape("smaller dimension of points", min(p.N, p.D), "0 or more")
	case p.D > math.MaxInt32:
		return fault.Shape("number of features of sparse points", p.D, "at most 2147483647")
	case len(p.Start) != p.N+1:
		return fault.Shape("number of row starts", len(p.Start),
			"%d, one more than the number of rows", p.N+1)
	case p.Start[0] != 0:
		return fault.Shape("start of row 0", p.Start[0], "0")
	case len(p.Col) != len(p.Val):
		return fault.Shape("number of columns of sparse values", len(p.Col),
			"%d, one for each value", len(p.Val))
	case p.Start[p.N] != len(p.Col):
		return fault.Shape("end of the last row", p.Start[p.N], "%d, the number of values", len(p.Col))
	}
	return nil
}

func (p *CSR) validateRow(i int) error {
	col, val := p.Row(i)
	for k, c := range col {
		if c < 0 || int(c) >= p.D {
			return fault.Cell(i, strconv.Itoa(int(c)), "column is out of range: want 0 to %d", p.D-1)
		}
		if k > 0 && c <= col[k-1] {
			return fault.Cell(i, strconv.Itoa(int(c)),
				"column follows %d: want strictly ascending columns", col[k-1])
		}
		if math.IsNaN(val[k]) || math.IsInf(val[k], 0) {
			return badValue(i, int(c), val[k])
		}
	}
	return nil
}

// Gap marks one or more letters outside the alphabet in a sequence: no word (k-mer) spans it.
const Gap = '-'

// Protein is the alphabet of the twenty amino acids.
const Protein = "ACDEFGHIKLMNPQRSTVWY"

// Sequences is n strings of letters over a finite alphabet: row i is
// Letters[Start[i]:Start[i+1]].
type Sequences struct {
	Alphabet string // distinct printable ASCII letters, without Gap
	Start    []int  // length n+1, Start[0] = 0
	Letters  []byte // each a letter of Alphabet, or Gap
}

var _ Points = (*Sequences)(nil)

// NewSequences returns sequences over alphabet. The slices are kept, not copied. An invalid
// alphabet, an inconsistent structure or a letter that is not in the alphabet is a
// *fault.DataError, the last with its row and position.
func NewSequences(alphabet string, start []int, letters []byte) (*Sequences, error) {
	p := &Sequences{Alphabet: alphabet, Start: start, Letters: letters}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of sequences.
func (p *Sequences) Len() int { return len(p.Start) - 1 }

// Dim returns the number of letters in the alphabet.
func (p *Sequences) Dim() int { return len(p.Alphabet) }

// Row returns sequence i, sharing memory.
func (p *Sequences) Row(i int) []byte { return p.Letters[p.Start[i]:p.Start[i+1]:p.Start[i+1]] }

// Select returns copies of the sequences at rows, in that order. Cost: O(letters copied).
func (p *Sequences) Select(rows []int) Points {
	out := &Sequences{Alphabet: p.Alphabet, Start: make([]int, 1, len(rows)+1)}
	for _, r := range rows {
		checkRow(r, p.Len())
		out.Letters = append(out.Letters, p.Row(r)...)
		out.Start = append(out.Start, len(out.Letters))
	}
	return out
}

// Validate reports the first inconsistency of the alphabet or of the structure, then the first
// letter, by row and position, that is neither in the alphabet nor Gap.
func (p *Sequences) Validate() error {
	if err := CheckAlphabet(p.Alphabet); err != nil {
		return asData(err)
	}
	if err := p.validateFrame(); err != nil {
		return asData(err)
	}
	known := [256]bool{Gap: true}
	for _, c := range []byte(p.Alphabet) {
		known[c] = true
	}
	for i := range p.Len() {
		bad := func(c byte) bool { return !known[c] }
		if at := slices.IndexFunc(p.Row(i), bad); at >= 0 {
			return fault.Row(i, "letter %q at position %d is not in the alphabet: want one of %s, or %q",
				p.Row(i)[at], at, p.Alphabet, Gap)
		}
	}
	return nil
}

func (p *Sequences) validateFrame() error {
	switch {
	case len(p.Start) == 0:
		return fault.Shape("number of sequence starts", 0, "one more than the number of sequences")
	case p.Start[0] != 0:
		return fault.Shape("start of sequence 0", p.Start[0], "0")
	case p.Start[p.Len()] != len(p.Letters):
		return fault.Shape("end of the last sequence", p.Start[p.Len()],
			"%d, the number of letters", len(p.Letters))
	}
	for i := range p.Len() {
		if p.Start[i+1] < p.Start[i] || p.Start[i+1] > len(p.Letters) {
			return fault.Shape(fmt.Sprintf("end of sequence %d", i), p.Start[i+1],
				"a position from %d to %d", p.Start[i], len(p.Letters))
		}
	}
	return nil
}

// CheckAlphabet returns a *fault.ParamError unless alphabet is one or more distinct printable
// ASCII characters, none of them Gap or a space.
func CheckAlphabet(alphabet string) error {
	bad := func(want string) error { return fault.Param("alphabet", alphabet, "%s", want) }
	if alphabet == "" {
		return bad("at least one letter")
	}
	for i, c := range []byte(alphabet) {
		switch {
		case c <= ' ' || c > '~':
			return bad("printable ASCII letters")
		case c == Gap:
			return bad("letters other than " + string(Gap) + ", which marks a gap")
		case strings.IndexByte(alphabet, c) < i:
			return bad(fmt.Sprintf("distinct letters (%q occurs twice)", c))
		}
	}
	return nil
}

// Mixed is n rows of columns as tables have them: columns of numbers and columns of text, both with
// cells that may be missing. No kernel takes it; package prepare makes rows of numbers of it.
type Mixed struct {
	N       int
	Columns []Column
}

// Column is one column of a table: numbers or texts, one for each row.
type Column struct {
	Name string
	// Numbers are the values, NaN for a missing one; nil for a column of text.
	Numbers []float64
	// Codes are the positions in Levels of the texts, -1 for a missing one; nil for numbers.
	Codes []int32
	// Levels are the texts that occur, all different. Columns of parts of a table share them, so
	// some may not occur there.
	Levels []string
}

var _ Points = (*Mixed)(nil)

// IsText reports whether the column holds texts.
func (c *Column) IsText() bool { return c.Codes != nil }

// Append returns a column of texts with the rows of another one below.
func (c *Column) Append(more *Column) *Column {
	code := map[string]int32{}
	for k, text := range c.Levels {
		code[text] = int32(k)
	}
	out := &Column{Name: c.Name, Codes: slices.Clip(c.Codes), Levels: slices.Clip(c.Levels)}
	for _, level := range more.Codes {
		if level >= 0 {
			level = out.Level(more.Levels[level], code)
		}
		out.Codes = append(out.Codes, level)
	}
	return out
}

// Level returns the position of a text in the levels, to which it adds a new one. known has the
// positions of those that were added so far.
func (c *Column) Level(text string, known map[string]int32) int32 {
	code, is := known[text]
	if !is {
		code = int32(len(c.Levels))
		known[text], c.Levels = code, append(c.Levels, text)
	}
	return code
}

// slice returns the rows [lo, hi) of the column, which share its memory.
func (c *Column) slice(lo, hi int) Column {
	out := Column{Name: c.Name, Levels: c.Levels}
	if c.IsText() {
		out.Codes = c.Codes[lo:hi:hi]
	} else {
		out.Numbers = c.Numbers[lo:hi:hi]
	}
	return out
}

// Len returns the number of rows.
func (p *Mixed) Len() int { return p.N }

// Dim returns the number of columns.
func (p *Mixed) Dim() int { return len(p.Columns) }

// Names returns the names of the columns.
func (p *Mixed) Names() []string {
	names := make([]string, len(p.Columns))
	for j := range p.Columns {
		names[j] = p.Columns[j].Name
	}
	return names
}

// Select returns copies of the rows, in that order; the levels are shared. Cost: O(len(rows)
// columns).
func (p *Mixed) Select(rows []int) Points {
	for _, r := range rows {
		checkRow(r, p.N)
	}
	out := &Mixed{N: len(rows), Columns: make([]Column, len(p.Columns))}
	for j := range p.Columns {
		c := &p.Columns[j]
		out.Columns[j] = Column{Name: c.Name, Levels: c.Levels}
		if c.IsText() {
			out.Columns[j].Codes = Pick(c.Codes, rows)
		} else {
			out.Columns[j].Numbers = Pick(c.Numbers, rows)
		}
	}
	return out
}

// Pick returns the values of some rows.
func Pick[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, r := range rows {
		out[k] = values[r]
	}
	return out
}

// Keep moves the values of some rows, which ascend, to the front and returns these. It returns nil
// for nil.
func Keep[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	for k, i := range rows {
		values[k] = values[i]
	}
	return values[:len(rows)]
}

// UpTo returns the numbers of n rows: 0, 1, …, n-1.
func UpTo(n int) []int {
	out := make([]int, max(0, n))
	for i := range out {
		out[i] = i
	}
	return out
}

// slice returns the rows [lo, hi), which share memory with p.
func (p *Mixed) slice(lo, hi int) *Mixed {
	out := &Mixed{N: hi - lo, Columns: make([]Column, len(p.Columns))}
	for j := range p.Columns {
		out.Columns[j] = p.Columns[j].slice(lo, hi)
	}
	return out
}

// Validate reports the first column whose length is not the number of rows, then the first infinite
// number and the first code without a level. A missing value is not an error. Cost: O(cells).
func (p *Mixed) Validate() error {
	for j := range p.Columns {
		c := &p.Columns[j]
		if got := len(c.Codes) + len(c.Numbers); got != p.N || c.Codes != nil && c.Numbers != nil {
			return fault.Cell(-1, c.Name, "the column has %d numbers and %d texts: want %d of one of them",
				len(c.Numbers), len(c.Codes), p.N)
		}
		for i, v := range c.Numbers {
			if math.IsInf(v, 0) {
				return fault.Cell(i, c.Name, "value is %v: want a finite number, or NaN for a missing one", v)
			}
		}
		for i, code := range c.Codes {
			if code < -1 || int(code) >= len(c.Levels) {
				return fault.Cell(i, c.Name, "code %d has no text: want -1 to %d", code, len(c.Levels)-1)
			}
		}
	}
	return nil
}

// Dense returns the rows as vectors, in new memory. The first column of text, and the first missing
// number, are a *fault.DataError. Cost: O(cells).
func (p *Mixed) Dense() (*Dense, error) {
	for j := range p.Columns {
		c := &p.Columns[j]
		if c.IsText() {
			return nil, fault.Cell(-1, c.Name, "the column has texts: want numbers")
		}
		if i := slices.IndexFunc(c.Numbers, math.IsNaN); i >= 0 {
			return nil, fault.Cell(i, c.Name, "the cell is empty: want a number")
		}
	}
	const side = 32 // rows and columns of a square, which stays in the cache
	d := &Dense{N: p.N, D: len(p.Columns), Data: make([]float64, p.N*len(p.Columns))}
	for top := 0; top < d.N; top += side {
		for left := 0; left < d.D; left += side {
			for i := top; i < min(top+side, d.N); i++ {
				for j := left; j < min(left+side, d.D); j++ {
					d.Data[i*d.D+j] = p.Columns[j].Numbers[i]
				}
			}
		}
	}
	return d, nil
}
