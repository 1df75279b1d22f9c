// Package prepare (internal: may change) makes rows of numbers of the columns of a table: gaps
// are filled, categories become columns of zeros and ones, dates become numbers, and numbers are
// scaled.
//
// [Fit] finds the kind of every column from all rows and what its kind asks for. The result is a
// [dataset.Transform]: nil where the rows can be used as they are, a [Scaling] where complete
// numbers are only standardized, else a [Preparation]. The list of [Column] says in words what was
// found and what is done. [CountTerms] makes a [TFIDF], which weighs the counts of words.
//
// Results are the same bits for any number of processors: columns and blocks of rows are
// independent of each other.
package prepare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Preparation maps the columns of a table to rows of numbers. It does not change after [Fit] and is
// safe for concurrent use.
type Preparation struct {
	columns []column
	named   bool
	strict  bool   // a gap is an error
	text    string // what text is made of, as in Options.Text
	cyclic  bool
	width   int // columns of the result
}

var _, _, _ dataset.Transform = (*Preparation)(nil), (*Scaling)(nil), (*TFIDF)(nil)

// ByColumn returns t if it prepares the columns of a table one by one, and nil if it takes rows of
// numbers or is nil. Of the methods of a nil *Preparation, those that list something list nothing.
func ByColumn(t dataset.Transform) *Preparation {
	p, _ := t.(*Preparation)
	return p
}

// column is what is done with one column.
type column struct {
	name      string
	kind      Kind // Drop for one that is left out, in a table without names
	isText    bool // the fit read texts
	indicator bool
	number    number // of numbers, dates, and booleans
	category  *category
	terms     *terms
}

// writer writes the rows [lo, hi) of a column: those of row i to out[(i-lo)*stride] and after it.
// out has zeros.
type writer func(out []float64, stride, lo, hi int)

// piece is some columns of the result.
type piece struct {
	size  int
	write writer
}

// size returns the number of columns that a column becomes.
func (c *column) size(cyclic bool) int {
	n := 0
	switch c.kind {
	case Number, Boolean, Date, Censored:
		n = c.number.size()
	case Category:
		n = c.category.size()
	case Text:
		n = len(c.terms.list)
	}
	if c.kind == Censored {
		n++
	}
	if c.kind == Date && cyclic {
		n += 2 * len(cyclesOf(c.number.source.layout))
	}
	if c.indicator {
		n++
	}
	return n
}

// names appends the names of these columns.
func (c *column) names(dst []string, cyclic bool) []string {
	switch c.kind {
	case Number, Boolean, Date, Censored:
		dst = append(dst, c.name)
		if c.number.sides {
			dst = append(dst, c.name+" "+gap+" above")
		}
	case Category:
		return c.category.names(dst, c.name)
	case Text:
		for _, term := range c.terms.list {
			dst = append(dst, c.name+":"+term)
		}
	}
	if c.kind == Censored {
		dst = append(dst, c.name+"=(censored)")
	}
	if c.kind == Date && cyclic {
		for _, k := range cyclesOf(c.number.source.layout) {
			dst = append(dst, c.name+" "+cycleNames[k]+" cos", c.name+" "+cycleNames[k]+" sin")
		}
	}
	if c.indicator {
		dst = append(dst, c.name+"="+gap)
	}
	return dst
}

// bind returns what writes the rows of x, piece by piece.
func (c *column) bind(x *points.Column, cyclic bool) ([]piece, error) {
	switch c.kind {
	case Category:
		return []piece{{c.category.size(), c.category.bind(texts(x))}}, nil
	case Text:
		return []piece{{len(c.terms.list), c.terms.bind(x)}}, nil
	case Drop:
		return nil, nil
	}
	first, err := c.number.bind(x)
	if err != nil {
		return nil, err
	}
	list := []piece{{c.number.size(), first}}
	if c.kind == Censored {
		list = append(list, piece{1, limits(x)})
	}
	if layout := c.number.source.layout; c.kind == Date && cyclic {
		list = append(list, piece{2 * len(cyclesOf(layout)), circles(x, layout)})
	}
	if c.indicator {
		list = append(list, piece{1, gaps(x)})
	}
	return list, nil
}

// Name returns "columns".
func (p *Preparation) Name() string { return "columns" }

// Width returns the number of columns of the result.
func (p *Preparation) Width() int { return p.width }

// Features returns the number of columns of the tables that it takes.
func (p *Preparation) Features() int { return len(p.columns) }

// Columns returns the names of these columns, in the order in which it takes them, or nil for a
// table without names. Columns that are left out are not among them, if the table has names.
func (p *Preparation) Columns() []string {
	if p == nil || !p.named {
		return nil
	}
	names := make([]string, len(p.columns))
	for j := range p.columns {
		names[j] = p.columns[j].name
	}
	return names
}

// Reading returns the names of the columns that the fit had as texts, and as numbers: for
// dataset.ReadOptions.Text and Numbers, so that parts of a file are read like the whole.
func (p *Preparation) Reading() (texts, numbers []string) {
	for j := range p.columns {
		if c := &p.columns[j]; c.isText {
			texts = append(texts, c.name)
		} else {
			numbers = append(numbers, c.name)
		}
	}
	return texts, numbers
}

// Outputs returns the names of the columns of the result, such as income, plan=basic, plan=(other).
func (p *Preparation) Outputs() []string {
	if p == nil {
		return nil
	}
	names := make([]string, 0, p.width)
	for j := range p.columns {
		names = p.columns[j].names(names, p.cyclic)
	}
	return names
}

// Origins returns, for each column of the result, the name of the column that it is made of.
func (p *Preparation) Origins() []string {
	names := make([]string, 0, p.width)
	for j := range p.columns {
		for range p.columns[j].size(p.cyclic) {
			names = append(names, p.columns[j].name)
		}
	}
	return names
}

// OutputBytes returns the bytes that [Preparation.Apply] needs at most for n rows, the result and
// what it is made from.
func (p *Preparation) OutputBytes(n int) int64 {
	const word = 8
	return int64(min(float64(n)*float64(p.width+len(p.columns))*word, math.MaxInt64/2))
}

// finish sets what follows from the columns.
func (p *Preparation) finish() {
	p.width = 0
	for j := range p.columns {
		p.width += p.columns[j].size(p.cyclic)
	}
}

// Apply returns the rows as numbers, a *points.Dense. x is a *points.Mixed or *points.Dense with
// the columns of [Preparation.Columns], in that order; it is not changed.
//
// A text that the fit did not have goes to the pool of its column, or becomes zeros; see
// [Preparation.Unknown]. A cell that is no number, or no date in the format of the training rows,
// is a *fault.DataError with its row and column, and so is a gap if gaps are refused. Another
// number of columns is a *fault.ShapeError. Cost: O(cells + results), on all processors.
func (p *Preparation) Apply(x points.Points) (points.Points, error) {
	columns, err := p.take(x)
	if err != nil {
		return nil, err
	}
	pieces := make([][]piece, len(columns))
	errs := make([]error, len(columns))
	parallel(len(columns), func(j int) {
		given := columns[j]
		if p.columns[j].kind == Boolean {
			given = *texts(&given)
			columns[j] = given // without the texts that the boolean does not have
			empty(&columns[j], func(text string) bool { return !p.columns[j].inPair(text) })
		}
		if p.strict {
			if i := firstMissing(&columns[j]); i >= 0 {
				errs[j] = missingError(&given, i)
				return
			}
		}
		pieces[j], errs[j] = p.columns[j].bind(&columns[j], p.cyclic)
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	out := &points.Dense{N: x.Len(), D: p.width, Data: make([]float64, x.Len()*p.width)}
	rows := max(1, blockValues/max(1, p.width))
	parallel((out.N+rows-1)/rows, func(b int) {
		lo, hi := b*rows, min(out.N, (b+1)*rows)
		block := out.Data[lo*out.D : hi*out.D]
		at := 0
		for _, piece := range slices.Concat(pieces...) {
			if piece.size > 0 {
				piece.write(block[at:], out.D, lo, hi)
				at += piece.size
			}
		}
	})
	return out, nil
}

// blockValues is the number of values of a block of rows, which is written column by column.
const blockValues = 1 << 14

// missingError is the error of a gap that is refused, or of a text that stands for one.
func missingError(x *points.Column, row int) error {
	if x.IsText() && x.Codes[row] >= 0 {
		return fault.Cell(row, x.Name, "%q is none of the two texts of the boolean: want one of them, or "+
			"another way to impute than error", short(x.Levels[x.Codes[row]]))
	}
	return fault.Cell(row, x.Name, "the cell is empty: want a value, or another way to impute than error")
}

// take returns the columns of x, with the names of the fit.
func (p *Preparation) take(x points.Points) ([]points.Column, error) {
	columns, err := columnsOf(x)
	if err != nil {
		return nil, err
	}
	if len(columns) != len(p.columns) {
		return nil, fault.Shape("number of columns", len(columns), "%d, as the preparation takes",
			len(p.columns))
	}
	for j := range columns {
		columns[j].Name = p.columns[j].name
		// Words such as NA are missing cells, unless the fit had them as texts: readers leave them
		// there in a column that must be text, and in formats that have missing cells of their own.
		if c := &p.columns[j]; columns[j].IsText() && c.kind != Text {
			empty(&columns[j], c.isGap)
		}
	}
	return columns, nil
}

// isGap reports whether a text means a missing cell: it is one of the words, and none of the texts
// of the fit.
func (c *column) isGap(text string) bool {
	return dataset.IsMissing(text) && !(c.kind == Category && c.category.knows(text)) &&
		!(c.kind == Boolean && c.inPair(text))
}

// inPair reports whether a text is one of those of a boolean.
func (c *column) inPair(text string) bool {
	return slices.Contains(c.number.source.pair[:], plain(text))
}

// empty makes missing cells of some texts.
func empty(x *points.Column, isGap func(text string) bool) {
	codes, some := make([]int32, len(x.Levels)), false
	for k, text := range x.Levels {
		if codes[k] = int32(k); isGap(text) {
			codes[k], some = -1, true
		}
	}
	if some {
		recode(x, codes)
	}
}

// recode replaces the codes of a column of texts, in new memory.
func recode(x *points.Column, codes []int32) {
	x.Codes = slices.Clone(x.Codes)
	for i, code := range x.Codes {
		if code >= 0 {
			x.Codes[i] = codes[code]
		}
	}
}

// trim removes the white space around the texts of a column, as readers of files do. Empty ones are
// missing cells.
func trim(x *points.Column) {
	levels, codes := slices.Clone(x.Levels), make([]int32, len(x.Levels))
	first := make(map[string]int32, len(levels))
	for k, text := range levels {
		text = strings.TrimSpace(text)
		at, there := first[text]
		if levels[k] = text; !there {
			at = int32(k)
			first[text] = at
		}
		if codes[k] = at; text == "" {
			codes[k] = -1
		}
	}
	x.Levels = levels
	recode(x, codes)
}

// columnsOf returns the columns of a table, which are checked, with trimmed texts.
func columnsOf(x points.Points) ([]points.Column, error) {
	switch x := x.(type) {
	case *points.Mixed:
		if err := x.Validate(); err != nil {
			return nil, err
		}
		columns := slices.Clone(x.Columns)
		parallel(len(columns), func(j int) {
			if slices.ContainsFunc(columns[j].Levels, func(text string) bool {
				return text == "" || strings.TrimSpace(text) != text
			}) {
				trim(&columns[j])
			}
		})
		return columns, nil
	case *points.Dense:
		if err := x.Validate(); err != nil {
			return nil, err
		}
		return denseColumns(x, 0, x.D), nil
	}
	return nil, fault.Data("", "its rows are no table (%T): want a table with the columns of the preparation",
		x)
}

// together is the number of columns of dense points that are copied at a time: a line of the cache.
const together = 8

// denseColumns returns the columns [lo, hi) of dense points, in new memory.
func denseColumns(x *points.Dense, lo, hi int) []points.Column {
	columns := make([]points.Column, hi-lo)
	data := make([]float64, x.N*len(columns))
	for k := range columns {
		columns[k] = points.Column{Name: strconv.Itoa(lo + k), Numbers: data[k*x.N : (k+1)*x.N : (k+1)*x.N]}
	}
	parallel((hi-lo+together-1)/together, func(b int) {
		first, end := b*together, min(hi-lo, (b+1)*together)
		for i := range x.N {
			for k, v := range x.Row(i)[lo+first : lo+end] {
				columns[first+k].Numbers[i] = v
			}
		}
	})
	return columns
}

// Unknown returns, for the columns that have any, the number of rows whose text, or gap, the fit
// did not have. x is as in [Preparation.Apply]; only categories and booleans have such rows.
func (p *Preparation) Unknown(x *points.Mixed) map[string]int {
	if p == nil {
		return nil
	}
	columns, err := p.take(x)
	if err != nil {
		return nil
	}
	counts := make([]int, len(columns))
	parallel(len(columns), func(j int) {
		switch c := &p.columns[j]; c.kind {
		case Category:
			counts[j] = c.category.unknown(texts(&columns[j]))
		case Boolean:
			x := texts(&columns[j])
			for _, code := range x.Codes {
				if code >= 0 && !c.inPair(x.Levels[code]) {
					counts[j]++
				}
			}
		}
	})
	out := make(map[string]int)
	for j, n := range counts {
		if n > 0 {
			out[p.columns[j].name] = n
		}
	}
	return out
}

// sameUnit reports whether columns of numbers share a unit, so that their scales mean something:
// their standard deviations agree within a factor of ten. The largest and the smallest tenth of
// these are not looked at.
func sameUnit(columns []*finding) bool {
	var scales []float64
	for _, g := range columns {
		if g.numbers.scale > 0 {
			scales = append(scales, g.numbers.scale)
		}
	}
	if len(scales) < 2 {
		return false
	}
	slices.Sort(scales)
	n := len(scales)
	return scales[n-1-n/10] <= 10*scales[n/10]
}

// Describe returns a line for each column: its name, its kind, and what becomes of it.
func (p *Preparation) Describe() []string {
	if p == nil {
		return nil
	}
	lines := make([]string, len(p.columns))
	for j := range p.columns {
		c := &p.columns[j]
		lines[j] = c.name + ": " + c.describe(p)
	}
	return lines
}

func (c *column) describe(p *Preparation) string {
	switch c.kind {
	case Category:
		return "category, one-hot: " + firstOf(c.category.names(nil, ""), 8)
	case Text:
		return fmt.Sprintf("text, tf-idf of %s (%s)", fault.Count(len(c.terms.list), "term"), p.text)
	case Drop:
		return "left out"
	}
	text := string(c.kind)
	switch s := c.number.source; c.kind {
	case Date:
		text += " such as " + example(s.layout) + ", in days"
	case Boolean:
		text += fmt.Sprintf(", 0 for %s, 1 for %s", s.pair[0], s.pair[1])
	}
	if c.number.mean != 0 || c.number.scale != 1 {
		text += fmt.Sprintf(", less %s, divided by %s", numberText(c.number.mean), numberText(c.number.scale))
	}
	text += "; a gap becomes " + numberText(c.number.fill)
	if c.number.sides {
		text += ", and in a second column " + numberText(c.number.above)
	}
	if c.indicator {
		text += " and a 1 of its own"
	}
	return text
}

// firstOf lists the first few names of the columns of a category without their "=".
func firstOf(names []string, most int) string {
	for k := range names {
		names[k] = strings.TrimPrefix(names[k], "=")
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
