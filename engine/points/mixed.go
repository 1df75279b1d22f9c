package points

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

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
			out.Columns[j].Codes = picked(c.Codes, rows)
		} else {
			out.Columns[j].Numbers = picked(c.Numbers, rows)
		}
	}
	return out
}

func picked[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, r := range rows {
		out[k] = values[r]
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
			return &fault.DataError{Row: -1, Column: c.Name, Err: fmt.Errorf("the column has %d numbers and %d texts: want %d of one of them", len(c.Numbers), len(c.Codes), p.N)}
		}
		for i, v := range c.Numbers {
			if math.IsInf(v, 0) {
				return &fault.DataError{Row: i, Column: c.Name, Err: fmt.Errorf("value is %v: want a finite number, or NaN for a missing one", v)}
			}
		}
		for i, code := range c.Codes {
			if code < -1 || int(code) >= len(c.Levels) {
				return &fault.DataError{Row: i, Column: c.Name, Err: fmt.Errorf("code %d has no text: want -1 to %d", code, len(c.Levels)-1)}
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
			return nil, &fault.DataError{Row: -1, Column: c.Name, Err: errors.New("the column has texts: want numbers")}
		}
		if i := slices.IndexFunc(c.Numbers, math.IsNaN); i >= 0 {
			return nil, &fault.DataError{Row: i, Column: c.Name, Err: errors.New("the cell is empty: want a number")}
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
