package prepare

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Names in a model file: a member of the header's Extra, and tensors.
const (
	member = "preparation"
	// fill, mean and scale of numbers, dates and booleans, k x 3; two rows for sides
	numbersTensor = "preparation.numbers"
	pooledTensor  = "preparation.pooled"  // hashes of the texts in all pools
	weightsTensor = "preparation.weights" // of all terms
)

// stored is a preparation in the header of a model file. Columns have one letter each in Kinds, and
// lists have one entry for each column of their kind.
type stored struct {
	Names      []string       `json:"names,omitempty"` // nil for a table without names
	Kinds      string         `json:"kinds"`           // the letters of kindLetters
	Texts      []int          `json:"texts,omitempty"` // columns that the fit had as texts
	Indicators []int          `json:"indicators,omitempty"`
	Sides      []int          `json:"sides,omitempty"` // columns with gaps on both sides
	Strict     bool           `json:"strict,omitempty"`
	Cyclic     bool           `json:"cyclic,omitempty"`
	Text       string         `json:"text,omitempty"`
	Dates      []string       `json:"dates,omitempty"`
	Booleans   [][2]string    `json:"booleans,omitempty"`
	Categories []storedLevels `json:"categories,omitempty"`
	Terms      [][]string     `json:"terms,omitempty"`
}

// storedLevels is a category in the header of a model file.
type storedLevels struct {
	Levels  []string `json:"levels"`
	Missing string   `json:"missing,omitempty"` // "own" or "pool": where missing cells are
	Pooled  *int     `json:"pooled,omitempty"`  // texts in the pool that have hashes; nil without a pool
}

// kindLetters are the kinds of the columns of a preparation.
var kindLetters = map[byte]Kind{'n': Number, 'b': Boolean, 'd': Date, 'c': Category, 't': Text,
	'l': Censored, '-': Drop}

// numeric are the kinds whose columns have a number.
var numeric = []Kind{Number, Date, Boolean, Censored}

func letterOf(kind Kind) byte {
	for letter, k := range kindLetters {
		if k == kind {
			return letter
		}
	}
	panic("prepare: kind " + kind + " is not stored")
}

// Encode stores the preparation in a model file.
func (p *Preparation) Encode(f *model.File) {
	s := stored{Names: p.Columns(), Strict: p.strict, Cyclic: p.cyclic, Text: p.text}
	var letters []byte
	var values, weights []float64
	var pooled []int64
	for j := range p.columns {
		c := &p.columns[j]
		letters = append(letters, letterOf(c.kind))
		if c.isText {
			s.Texts = append(s.Texts, j)
		}
		if c.indicator {
			s.Indicators = append(s.Indicators, j)
		}
		switch c.kind {
		case Date:
			s.Dates = append(s.Dates, c.number.source.layout)
		case Boolean:
			s.Booleans = append(s.Booleans, c.number.source.pair)
		case Category:
			s.Categories = append(s.Categories, c.category.stored())
			for _, h := range c.category.pooled {
				pooled = append(pooled, int64(h))
			}
		case Text:
			s.Terms = append(s.Terms, c.terms.list)
			weights = append(weights, c.terms.weight...)
		}
		if slices.Contains(numeric, c.kind) {
			values = append(values, c.number.fill, c.number.mean, c.number.scale)
			if c.number.sides {
				s.Sides = append(s.Sides, j)
				values = append(values, c.number.above, c.number.mean, c.number.scale)
			}
		}
	}
	s.Kinds = string(letters)
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings, numbers and lists
	}
	if f.Header.Extra == nil {
		f.Header.Extra = make(map[string]json.RawMessage)
	}
	f.Header.Extra[member] = text
	f.SetFloat64s(numbersTensor, values, len(values)/3, 3)
	if len(pooled) > 0 {
		f.SetInt64s(pooledTensor, pooled)
	}
	if len(weights) > 0 {
		f.SetFloat64s(weightsTensor, weights)
	}
}

func (c *category) stored() storedLevels {
	s := storedLevels{Levels: c.levels}
	if s.Levels == nil {
		s.Levels = []string{}
	}
	switch {
	case c.missing:
		s.Missing = "own"
	case c.missingPooled:
		s.Missing = "pool"
	}
	if n := len(c.pooled); c.pool {
		s.Pooled = &n
	}
	return s
}

// Decode returns the [Preparation], [TFIDF] or [Scaling] that a model file has, nil for none. A
// file that Encode did not write is a *fault.DataError.
func Decode(f *model.File) (t dataset.Transform, err error) {
	text, columns := f.Header.Extra[member]
	switch {
	case columns:
		t, err = decodePreparation(f, text)
	case f.Has(termWeights):
		t, err = decodeTFIDF(f)
	case f.Has(meanTensor) || f.Has(scaleTensor):
		t, err = decodeScaling(f)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

func decodePreparation(f *model.File, text []byte) (*Preparation, error) {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fault.Data("", "the preparation in the header is damaged: %v", err)
	}
	d := decoder{stored: s}
	var err error
	if d.values, err = f.Float64s(numbersTensor, -1, 3); err != nil {
		return nil, err
	}
	if f.Has(pooledTensor) {
		if d.pooled, err = f.Int64s(pooledTensor); err != nil {
			return nil, err
		}
	}
	if f.Has(weightsTensor) {
		if d.weights, err = f.Float64s(weightsTensor); err != nil {
			return nil, err
		}
	}
	return d.preparation()
}

// decoder takes what columns need from the lists of a stored preparation.
type decoder struct {
	stored
	values, weights []float64
	pooled          []int64
	letters         int
}

// broken is the error of a preparation that contradicts itself.
func broken(format string, args ...any) error {
	return fault.Data("", "the preparation in the file is damaged: "+format, args...)
}

func (d *decoder) preparation() (*Preparation, error) {
	n := len(d.Kinds)
	if n == 0 || d.Names != nil && len(d.Names) != n {
		return nil, broken("%d kinds and %d names of columns", n, len(d.Names))
	}
	var err error
	if d.letters, err = parseText(d.Text); err != nil {
		return nil, broken("%v", err)
	}
	isText, indicator, sides := marks(d.Texts, n), marks(d.Indicators, n), marks(d.Sides, n)
	if isText == nil || indicator == nil || sides == nil {
		return nil, broken("a mark for a column that it does not have")
	}
	p := &Preparation{columns: make([]column, n), named: d.Names != nil, strict: d.Strict, cyclic: d.Cyclic,
		text: d.Text}
	names := make(map[string]bool, len(d.Names))
	for j := range p.columns {
		c := &p.columns[j]
		if c.name = strconv.Itoa(j); p.named {
			c.name = d.Names[j]
		}
		if names[c.name] {
			return nil, broken("two columns have the name %q", short(c.name))
		}
		names[c.name] = true
		c.kind, c.isText, c.indicator, c.number.sides = kindLetters[d.Kinds[j]], isText[j], indicator[j],
			sides[j]
		if err := d.column(c); err != nil {
			return nil, err
		}
	}
	if len(d.values)+len(d.weights)+len(d.pooled)+len(d.Dates)+len(d.Booleans)+len(d.Categories)+len(
		d.Terms) > 0 {
		return nil, broken("it has more than its columns need")
	}
	if p.finish(); p.width == 0 {
		return nil, broken("no column has a result")
	}
	return p, nil
}

// marks returns which of n columns are in a list, nil if others are.
func marks(list []int, n int) []bool {
	out := make([]bool, n)
	for _, j := range list {
		if j < 0 || j >= n {
			return nil
		}
		out[j] = true
	}
	return out
}

// column takes what one column needs.
func (d *decoder) column(c *column) (err error) {
	switch c.kind {
	case Date:
		c.number.source.layout, err = take(&d.Dates, "dates")
		if err == nil && !slices.Contains(layouts, c.number.source.layout) {
			return broken("unknown format %q of dates", short(c.number.source.layout))
		}
	case Boolean:
		c.number.source.pair, err = take(&d.Booleans, "booleans")
	case Category:
		c.category, err = d.category()
	case Text:
		c.terms, err = d.terms()
	case "":
		return broken("a column of no known kind")
	}
	if err != nil {
		return err
	}
	if !slices.Contains(numeric, c.kind) {
		if c.indicator || c.number.sides {
			return broken("a column of gaps for one of another kind")
		}
		return nil
	}
	c.number.source.kind = c.kind
	if c.number.fill, c.number.mean, c.number.scale, err = d.filling(); err != nil || !c.number.sides {
		return err
	}
	above, mean, scale, err := d.filling()
	if err == nil && (mean != c.number.mean || scale != c.number.scale) {
		err = broken("a column has two scales")
	}
	c.number.above = above
	return err
}

// filling takes the next three numbers.
func (d *decoder) filling() (fill, mean, scale float64, err error) {
	if len(d.values) < 3 {
		return 0, 0, 0, broken("too few numbers")
	}
	v := d.values[:3]
	d.values = d.values[3:]
	for _, v := range v {
		if v-v != 0 {
			return 0, 0, 0, broken("a number is %v", v)
		}
	}
	if filled := (v[0] - v[1]) / v[2]; v[2] < 0 || v[2] > 0 && math.IsInf(filled, 0) {
		return 0, 0, 0, broken("a scale is %v", v[2])
	}
	return v[0], v[1], v[2], nil
}

// take takes the first entry of a list.
func take[T any](list *[]T, what string) (first T, err error) {
	if len(*list) == 0 {
		return first, broken("too few %s", what)
	}
	first, *list = (*list)[0], (*list)[1:]
	return first, nil
}

func (d *decoder) category() (*category, error) {
	s, err := take(&d.Categories, "categories")
	if err != nil {
		return nil, err
	}
	c := &category{levels: s.Levels, missing: s.Missing == "own", missingPooled: s.Missing == "pool",
		pool: s.Pooled != nil}
	if !ascending(s.Levels) || c.size() > maxLevels {
		return nil, broken("the levels of a category are not sorted, or more than %d", maxLevels)
	}
	if c.missingPooled && !c.pool || s.Missing != "" && !c.missing && !c.missingPooled || c.size() == 0 {
		return nil, broken("a category without a pool, or without levels")
	}
	if c.pool {
		n := *s.Pooled
		if n < 0 || n > len(d.pooled) || n > maxPooled {
			return nil, broken("a pool of %d texts", n)
		}
		for _, h := range d.pooled[:n] {
			c.pooled = append(c.pooled, uint64(h))
		}
		d.pooled = d.pooled[n:]
		if !ascending(c.pooled) {
			return nil, broken("a pool that is not sorted")
		}
	}
	return c, nil
}

func (d *decoder) terms() (*terms, error) {
	list, err := take(&d.Terms, "lists of terms")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > maxTerms || len(list) > len(d.weights) || !ascending(list) ||
		d.Text == "" {
		return nil, broken("%d terms, of which %d have weights", len(list), len(d.weights))
	}
	t := &terms{letters: d.letters, list: list, weight: d.weights[:len(list)]}
	d.weights = d.weights[len(list):]
	for _, w := range t.weight {
		if !(w >= 0 && w <= maxWeight) {
			return nil, broken("the weight of a term is %v", w)
		}
	}
	t.number()
	return t, nil
}

// maxWeight is above the weight of a term that one of 2^63 texts has.
const maxWeight = 64

// ascending reports whether values rise strictly.
func ascending[T string | uint64](values []T) bool {
	return slices.IsSorted(values) && len(slices.Compact(slices.Clone(values))) == len(values)
}
