package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Transform maps points, row by row, to points with the same number of features.
type Transform interface {
	// Apply returns changed copies of points. A wrong number of features is a *fault.ShapeError.
	Apply(p points.Points) (points.Points, error)
	// Features returns the number of features of its input.
	Features() int
}

var (
	_ Transform = (*Scaling)(nil)
	_ Transform = (*TFIDF)(nil)
)

// Features returns the number of columns.
func (s *Scaling) Features() int { return len(s.Mean) }

// TFIDF weighs the counts of terms, such as those of words in texts, by how rare the terms are, and
// scales rows to unit length: inner products become cosines. Rows without a term stay 0.
type TFIDF struct {
	// Weight has the weight of every term, >= 1; of the terms in Column alone, if it is not nil.
	Weight []float64
	// Column has the terms that occur, ascending, of many that do not: sparse points may name any
	// of two billion.
	Column []int32
	Terms  int     // number of terms, if Column is not nil
	Other  float64 // weight of a term that is not in Column
}

// CountTerms returns the weights 1 + ln((1 + n) / (1 + f)) of the terms of n texts, where f texts
// contain the term: the smooth inverse document frequency (Manning, Raghavan & Schütze 2008,
// section 6.2, as if one more text contained every term).
//
// Values are counts, so a negative value is a *fault.DataError; sequences and Gram matrices, which
// have no terms, are a *fault.ParamError. Cost: O(nd), or O(nonzero values) for sparse points.
func CountTerms(p points.Points) (*TFIDF, error) {
	if err := terms(p, isCount); err != nil {
		return nil, err
	}
	t, n := &TFIDF{}, p.Len()
	if x, sparse := p.(*points.CSR); sparse && x.D/4 > len(x.Col) {
		t.Terms, t.Other = x.D, TermWeight(n, 0)
		p, t.Column = x.Compact()
	}
	frequency := make([]int, p.Dim())
	terms(p, func(_, j int, v float64) error {
		if v > 0 {
			frequency[j]++
		}
		return nil
	})
	t.Weight = make([]float64, len(frequency))
	for j, f := range frequency {
		t.Weight[j] = TermWeight(n, f)
	}
	return t, nil
}

// isCount returns an error for a value that counts nothing.
func isCount(i, j int, v float64) error {
	if v >= 0 && !math.IsInf(v, 0) {
		return nil
	}
	return &fault.DataError{Row: i, Column: fmt.Sprint(j), Err: fmt.Errorf("%v: want a count, a finite number >= 0", v)}
}

// TermWeight returns the weight of a term that f of n texts contain, as [CountTerms] states it.
func TermWeight(n, f int) float64 {
	return 1 + math.Log((1+float64(n))/(1+float64(f)))
}

// terms calls f for the values of dense and sparse points, except the zeros of sparse points.
func terms(p points.Points, f func(i, j int, v float64) error) error {
	switch x := p.(type) {
	case *points.Dense:
		for i := range x.N {
			for j, v := range x.Row(i) {
				if err := f(i, j, v); err != nil {
					return err
				}
			}
		}
	case *points.CSR:
		for i := range x.N {
			col, val := x.Row(i)
			for k, j := range col {
				if err := f(i, int(j), val[k]); err != nil {
					return err
				}
			}
		}
	default:
		return &fault.ParamError{Param: "tfidf", Value: kindOf(p), Want: "dense or sparse points, whose features are terms"}
	}
	return nil
}

// Features returns the number of terms.
func (t *TFIDF) Features() int {
	if t.Column != nil {
		return t.Terms
	}
	return len(t.Weight)
}

// of returns the weight of a term.
func (t *TFIDF) of(term int) float64 {
	if t.Column == nil {
		return t.Weight[term]
	}
	if k, found := slices.BinarySearch(t.Column, int32(term)); found {
		return t.Weight[k]
	}
	return t.Other
}

// Apply returns weighted copies of points, rows of unit length. Cost: O(nd), or O(nonzero values)
// for sparse points. Points with another number of features are a *fault.ShapeError.
func (t *TFIDF) Apply(p points.Points) (points.Points, error) {
	switch x := p.(type) {
	case *points.Dense:
		if err := t.check(x.D); err != nil {
			return nil, err
		}
		data := slices.Clone(x.Data)
		for i := range x.N {
			row := data[i*x.D : (i+1)*x.D]
			for j := range row {
				row[j] *= t.of(j)
			}
			normalize(row)
		}
		return points.NewDense(x.N, x.D, data)
	case *points.CSR:
		if err := t.check(x.D); err != nil {
			return nil, err
		}
		val := slices.Clone(x.Val)
		for i := range x.N {
			col, _ := x.Row(i)
			row := val[x.Start[i]:x.Start[i+1]]
			for k, j := range col {
				row[k] *= t.of(int(j))
			}
			normalize(row)
		}
		return points.NewCSR(x.N, x.D, x.Start, x.Col, val)
	}
	return nil, terms(p, nil)
}

func (t *TFIDF) check(d int) error {
	if want := t.Features(); d != want {
		return &fault.ShapeError{What: "number of features", Got: d, Want: fmt.Sprintf("%d, the number of terms", want)}
	}
	return nil
}

// normalize scales a row of any magnitude to unit length; a row of zeros stays.
func normalize(row []float64) {
	largest, sum := 0.0, 0.0
	for _, v := range row {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return
	}
	for _, v := range row {
		sum += (v / largest) * (v / largest)
	}
	length := math.Sqrt(sum)
	for j, v := range row {
		row[j] = v / largest / length
	}
}
