package prepare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

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
	err := eachTerm(p, func(i, j int, v float64) error {
		if v >= 0 && !math.IsInf(v, 0) {
			return nil
		}
		return fault.Cell(i, fmt.Sprint(j), "%v: want a count, a finite number >= 0", v)
	})
	if err != nil {
		return nil, err
	}
	t, n := &TFIDF{}, p.Len()
	if x, sparse := p.(*points.CSR); sparse && x.D/4 > len(x.Col) {
		t.Terms, t.Other = x.D, TermWeight(n, 0)
		p, t.Column = x.Compact()
	}
	frequency := make([]int, p.Dim())
	eachTerm(p, func(_, j int, v float64) error {
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

// TermWeight returns the weight of a term that f of n texts contain, as [CountTerms] states it.
func TermWeight(n, f int) float64 {
	return 1 + math.Log((1+float64(n))/(1+float64(f)))
}

// eachTerm calls f for the values of dense and sparse points, except the zeros of sparse points.
func eachTerm(p points.Points, f func(i, j int, v float64) error) error {
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
		return fault.Param("tfidf", dataset.KindOf(p), "dense or sparse points, whose features are terms")
	}
	return nil
}

// Name returns "tfidf".
func (t *TFIDF) Name() string { return "tfidf" }

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
			t.weigh(data[i*x.D:(i+1)*x.D], nil)
		}
		return points.NewDense(x.N, x.D, data)
	case *points.CSR:
		if err := t.check(x.D); err != nil {
			return nil, err
		}
		val := slices.Clone(x.Val)
		for i := range x.N {
			col, _ := x.Row(i)
			t.weigh(val[x.Start[i]:x.Start[i+1]], col)
		}
		return points.NewCSR(x.N, x.D, x.Start, x.Col, val)
	}
	return nil, eachTerm(p, nil)
}

// weigh multiplies the values of terms, all if they are nil, by their weights, and scales the row.
func (t *TFIDF) weigh(row []float64, terms []int32) {
	for k := range row {
		term := k
		if terms != nil {
			term = int(terms[k])
		}
		row[k] *= t.of(term)
	}
	normalize(row)
}

func (t *TFIDF) check(d int) error {
	if want := t.Features(); d != want {
		return fault.Shape("number of features", d, "%d, the number of terms", want)
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

// Rules returns what is done with the columns of these names, as data.
func (t *TFIDF) Rules(names []string) Rules {
	r := PlainRules(names)
	if r.Terms = t.Weight; t.Column == nil {
		return r
	}
	r.Terms = slices.Repeat([]float64{t.Other}, t.Terms)
	for k, c := range t.Column {
		r.Terms[c] = t.Weight[k]
	}
	return r
}

// Tensors of a tf-idf.
const (
	termWeights = "tfidf.weight"
	termColumns = "tfidf.column" // of the weights, where most terms do not occur
	termCount   = "tfidf.terms"  // [1]: then their number
	termOther   = "tfidf.other"  // [1]: then the weight of terms that have none
)

// Encode stores the weights in a model file.
func (t *TFIDF) Encode(f *model.File) {
	f.SetFloat64s(termWeights, t.Weight)
	if t.Column == nil {
		return
	}
	column := make([]int64, len(t.Column))
	for k, c := range t.Column {
		column[k] = int64(c)
	}
	f.SetInt64s(termColumns, column)
	f.SetInt64s(termCount, []int64{int64(t.Terms)})
	f.SetFloat64s(termOther, []float64{t.Other})
}

func decodeTFIDF(file *model.File) (*TFIDF, error) {
	weights, err := file.Float64s(termWeights, -1)
	if err != nil {
		return nil, err
	}
	t := &TFIDF{Weight: weights}
	if file.Has(termColumns) || file.Has(termCount) || file.Has(termOther) {
		if err := t.decodeColumns(file); err != nil {
			return nil, err
		}
	}
	for j, w := range append(weights[:len(weights):len(weights)], t.Other) {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fault.Data("", "tensor %s: weight %g of term %d: want a finite number >= 0",
				termWeights, w, j)
		}
	}
	return t, nil
}

// decodeColumns reads what weights of few of many terms have besides.
func (t *TFIDF) decodeColumns(file *model.File) error {
	columns, err := file.Int64s(termColumns, len(t.Weight))
	if err != nil {
		return err
	}
	count, err := file.Int64s(termCount, 1)
	if err != nil {
		return err
	}
	other, err := file.Float64s(termOther, 1)
	if err != nil {
		return err
	}
	if !(count[0] >= 0 && count[0] <= math.MaxInt32) {
		return fault.Data("", "tensor %s: %d terms: want 0 to %d", termCount, count[0], math.MaxInt32)
	}
	t.Terms, t.Other, t.Column = int(count[0]), other[0], make([]int32, len(columns))
	for k, c := range columns {
		if c < 0 || c >= count[0] || k > 0 && c <= columns[k-1] {
			return fault.Data("", "tensor %s: term %d at %d: want ascending numbers below %d",
				termColumns, c, k, count[0])
		}
		t.Column[k] = int32(c)
	}
	return nil
}

// maxTerms is the limit on the terms of a column of text, and countedTerms on those that are
// counted at a time: beyond, those that occurred once so far are forgotten.
const (
	maxTerms     = 1000
	countedTerms = 1 << 20
)

// terms makes a column of each frequent term of texts: its tf-idf, in rows of unit length.
type terms struct {
	letters int // of a term, 0 for words
	list    []string
	weight  []float64
	place   map[string]int // of list
}

// split calls f with the terms of a text, in lower case: words are two or more letters, digits or
// low lines.
func (t *terms) split(text string, f func(term string)) {
	text = strings.ToLower(text)
	if t.letters > 0 {
		t.slide(strings.Join(strings.Fields(text), " "), f)
		return
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		if len([]rune(word)) > 1 {
			f(word)
		}
	}
}

// slide calls f with all letters in a row.
func (t *terms) slide(text string, f func(term string)) {
	var starts []int
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for i := 0; i+t.letters < len(starts); i++ {
		f(text[starts[i]:starts[i+t.letters]])
	}
}

// newTerms chooses the terms that the most rows have: those of at least two rows, or all if there
// are none.
func newTerms(x *points.Column, letters int) *terms {
	t := &terms{letters: letters}
	rows := make(map[string]int)
	seen := make(map[string]bool)
	for _, code := range x.Codes {
		if code < 0 {
			continue
		}
		clear(seen)
		t.split(x.Levels[code], func(term string) {
			if !seen[term] {
				seen[term] = true
				rows[strings.Clone(term)]++
			}
		})
		if len(rows) > countedTerms {
			maps.DeleteFunc(rows, func(_ string, n int) bool { return n == 1 })
		}
	}
	list := slices.Collect(maps.Keys(rows))
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b))
	})
	list = list[:min(len(list), maxTerms)]
	if k := slices.IndexFunc(list, func(term string) bool { return rows[term] == 1 }); k > 0 {
		list = list[:k]
	}
	slices.Sort(list)
	t.list = list
	for _, term := range list {
		t.weight = append(t.weight, TermWeight(len(x.Codes), rows[term]))
	}
	t.number()
	return t
}

// number sets the places of terms.
func (t *terms) number() {
	t.place = make(map[string]int, len(t.list))
	for k, term := range t.list {
		t.place[term] = k
	}
}

// bind returns what writes the rows of a column.
func (t *terms) bind(x *points.Column) writer {
	x = texts(x)
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			if code >= 0 {
				t.write(out[i*stride:i*stride+len(t.list)], x.Levels[code])
			}
		}
	}
}

// write writes the tf-idf of a text to a row of zeros.
func (t *terms) write(row []float64, text string) {
	t.split(text, func(term string) {
		if k, ok := t.place[term]; ok {
			row[k] += t.weight[k]
		}
	})
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for k := range row {
		row[k] /= length
	}
}
