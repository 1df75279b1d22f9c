package prepare

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/forks"
	"github.com/mustlink/mustlink/internal/panics"
)

// Fit finds how to prepare the rows of d. The transform is nil if the rows can be used as they are,
// a *Scaling if complete numbers are only standardized, else a
// *Preparation. columns says what was found in each column of d and what is done with it; it is nil
// for points that are no table, for which only numbers are standardized, if that is asked for.
//
// Options that make no sense are a *fault.ParamError. Cells that do not fit the kind of their
// column, gaps that are refused, and a table without a column that can be used are a
// *fault.DataError. Cost: O(n) for every column, on all processors, and [FitBytes] of memory.
func Fit(d *dataset.Data, o Options) (t dataset.Transform, columns []Column, err error) {
	s, err := o.check()
	if err != nil {
		return nil, nil, err
	}
	if _, gram := d.Points.(*points.Gram); s.Gram != "" && !gram {
		return nil, nil, fault.Param("gram", s.Gram, "none: the points are no Gram matrix")
	}
	var names []string
	switch x := d.Points.(type) {
	case *points.Mixed:
		if names = x.Names(); !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
			names = nil
		}
	case *points.Dense:
		names = d.Features
	default:
		t, err = fitOther(d.Points, s)
		return t, nil, err
	}
	f := &fit{settings: s, data: d, named: names != nil}
	if names == nil {
		for j := range d.Points.Dim() {
			names = append(names, strconv.Itoa(j))
		}
	}
	if f.findings, err = f.examine(names); err != nil {
		return nil, nil, err
	}
	t, err = f.transform()
	for j := range f.findings {
		columns = append(columns, f.findings[j].Column)
	}
	return t, columns, err
}

// FitBytes returns the bytes that [Fit] needs at most for points, with the given number of workers.
func FitBytes(p points.Points, workers int) int64 {
	const word, copies = 8, 5
	need := float64(p.Len()) * copies * word * float64(max(1, min(workers, p.Dim())))
	if _, dense := p.(*points.Dense); dense {
		need += float64(p.Len()) * together * word * float64(workers)
	}
	return int64(min(need, math.MaxInt64/2))
}

// fitOther prepares points that are no table. It refuses options of columns, which they lack.
func fitOther(p points.Points, s *settings) (dataset.Transform, error) {
	for _, o := range []struct {
		name  string
		given bool
		value any
	}{
		{"type", len(s.Kinds) > 0, kindsText(s.Kinds)},
		{"impute", s.Impute != imputeMedian, s.Options.Impute},
		{"indicators", s.Indicators, s.Indicators},
		{"levels", s.Levels != DefaultLevels, s.Levels},
		{"cyclic", s.Cyclic, s.Cyclic},
		{"text", s.Text != "", s.Text},
	} {
		if o.given {
			return nil, fault.Param(o.name, o.value, "none: the points are no table with columns")
		}
	}
	if s.Scale == scaleStandardize || s.Scale == scaleRobust {
		_, _, err := Standardize(p)
		return nil, err
	}
	return nil, nil
}

// fit is one call of Fit.
type fit struct {
	*settings
	data     *dataset.Data
	named    bool
	findings []finding
}

// finding is what was found in a column.
type finding struct {
	Column
	numbers numbers
	column  column
	err     error
}

// used reports whether the column is not left out.
func (f *finding) used() bool { return f.column.kind != Drop }

// examine finds the kinds of all columns, and their statistics.
func (f *fit) examine(names []string) ([]finding, error) {
	n := f.data.Points.Len()
	if n == 0 {
		return nil, fault.Shape("number of rows", 0, "at least 1")
	}
	forced, err := f.forced(names)
	if err != nil {
		return nil, err
	}
	found := make([]finding, len(names))
	one := func(x *points.Column, j int, work *scratch) {
		x.Name = names[j]
		found[j] = f.one(x, forced[j], work)
		found[j].Name, found[j].column.name, found[j].column.isText = names[j], names[j], x.IsText()
	}
	switch x := f.data.Points.(type) {
	case *points.Mixed:
		columns, err := columnsOf(x)
		if err != nil {
			return nil, err
		}
		parallel(len(columns), func(j int) { one(&columns[j], j, newScratch(n)) })
	case *points.Dense:
		if err := x.Validate(); err != nil {
			return nil, err
		}
		parallel((x.D+together-1)/together, func(b int) {
			lo, hi := b*together, min(x.D, (b+1)*together)
			work := newScratch(n)
			for k, c := range denseColumns(x, lo, hi) {
				one(&c, lo+k, work)
			}
		})
	}
	for j := range found {
		if err := found[j].err; err != nil {
			return nil, fault.InFile(err, f.data.Name)
		}
	}
	return found, nil
}

// leave makes a column one that is left out.
func (g *finding) leave(kind Kind, why string) {
	g.Kind, g.Does, g.column = kind, "left out: "+why, column{kind: Drop}
}

// leaveConstant leaves out a column all of whose cells are the same.
func (g *finding) leaveConstant() {
	g.leave(Constant, "all cells are "+g.Example)
	g.warn("constant, all cells are " + g.Example + ": it is left out")
}

// one examines one column.
func (f *fit) one(x *points.Column, kind Kind, work *scratch) (g finding) {
	g.describe(x)
	if f.Impute == imputeError && kind != Drop {
		if i := firstMissing(x); i >= 0 {
			g.err = missingError(x, i)
			return g
		}
	}
	switch {
	case kind == Drop || kind == Constant || kind == Identifier:
		g.leave(kind, "as asked")
	case g.Missing == len(x.Codes)+len(x.Numbers):
		g.leave(Constant, "all cells are missing")
		g.warn("all cells are missing: it is left out")
	case x.IsText() && kind != Number || kind != "" && kind != Number:
		f.oneText(&g, texts(x), kind, work)
	default:
		f.oneNumber(&g, x, source{kind: Number}, kind != "", work)
	}
	if g.used() && labelName(x.Name) && g.Distinct <= 50 && 2*g.Distinct <= len(x.Codes)+len(x.Numbers) {
		g.warn("it looks like a label, which would tell the answer: want it as the label, or dropped")
	}
	return g
}

// warn adds a warning, if there is one.
func (g *finding) warn(text string) {
	if g.Warning != "" && text != "" {
		text = "; " + text
	}
	g.Warning += text
}

// describe sets the example, and the number of missing cells.
func (g *finding) describe(x *points.Column) {
	for _, code := range slices.Backward(x.Codes) {
		if code < 0 {
			g.Missing++
		} else {
			g.Example = short(x.Levels[code])
		}
	}
	for _, v := range slices.Backward(x.Numbers) {
		if v != v {
			g.Missing++
		} else {
			g.Low = v
		}
	}
	if x.Numbers != nil {
		g.Example = numberText(g.Low)
	}
}

// oneNumber examines a column of numbers, or what source makes numbers.
func (f *fit) oneNumber(g *finding, x *points.Column, from source, asked bool, work *scratch) {
	g.Kind = from.kind
	values, err := from.read(x)
	if err == nil {
		g.numbers, err = statistics(values, work, func(sorted []float64) float64 {
			return f.fill(sorted, from.kind)
		})
	}
	if err != nil {
		if e, ok := errors.AsType[*fault.DataError](err); ok {
			e.Column = x.Name
		}
		g.err = err
		return
	}
	s := &g.numbers
	g.Distinct, g.Low, g.High = s.distinct, s.low, s.high
	indicator := f.Indicators && s.missing > 0
	switch {
	case s.scale == 0 && !indicator:
		g.leaveConstant()
		return
	case !asked && from.kind == Number && f.identifier(g, x):
		return
	}
	g.column = column{kind: from.kind, indicator: indicator,
		number: number{source: from, fill: s.fill, scale: 1}}
	if f.Impute == imputeSides && s.missing > 0 {
		// gaps lie below all values in one column, and above in another, by as much as these differ
		span := s.high - s.low
		p := &g.column.number
		p.sides, p.fill, p.above = true, max(s.low-span, -math.MaxFloat64), min(s.high+span, math.MaxFloat64)
	}
	g.Missing = max(g.Missing, s.missing)
	g.Does = g.filling(f)
	if from.kind == Number && !asked {
		g.warn(s.doubt)
	}
}

// identifier leaves out a column of numbers that only count the rows, and warns of one that may.
func (f *fit) identifier(g *finding, x *points.Column) bool {
	s, n := &g.numbers, len(x.Numbers)
	if !s.whole || s.missing > 0 || s.distinct < n || n < 3 {
		return false
	}
	named := f.named && identifierName(x.Name)
	switch {
	case s.rising && (named || n >= few):
		g.leave(Identifier, "row numbers")
		return true
	case named:
		g.leave(Identifier, "a number for each row")
		return true
	case n >= few && s.high-s.low < 10*float64(n):
		g.warn("whole numbers, each in one row only: want it dropped if they are identifiers")
	}
	return false
}

// few is the number of rows from which on it means something that all cells differ.
const few = 20

// filling says what fills gaps.
func (g *finding) filling(f *fit) string {
	if g.numbers.missing == 0 {
		return ""
	}
	what := f.Impute
	if what == imputeConstant && g.Kind != Number {
		what = imputeMedian
	}
	value := numberText(g.numbers.fill)
	if g.Kind == Date {
		value = dayText(g.numbers.fill)
	}
	text := fmt.Sprintf("%d missing: %s %s; ", g.numbers.missing, what, value)
	if g.column.number.sides {
		text = fmt.Sprintf("%d missing: below all values, and above in a second column; ", g.numbers.missing)
	}
	if g.column.indicator {
		text += "a column of gaps; "
	}
	return text
}

// oneText examines a column of texts.
func (f *fit) oneText(g *finding, x *points.Column, kind Kind, work *scratch) {
	counts := make([]int, len(x.Levels))
	for _, code := range x.Codes {
		if code >= 0 {
			counts[code]++
		}
	}
	var levels []string
	var often []int
	for k, c := range counts {
		if c > 0 {
			levels, often = append(levels, x.Levels[k]), append(often, c)
		}
	}
	if k := slices.IndexFunc(levels, func(text string) bool { return !utf8.ValidString(text) }); k >= 0 {
		row := slices.IndexFunc(x.Codes, func(code int32) bool {
			return code >= 0 && !utf8.ValidString(x.Levels[code])
		})
		g.err = fault.Cell(row, x.Name, "the text %q is not UTF-8: want UTF-8 in all cells", short(levels[k]))
		return
	}
	g.Distinct = len(levels)
	if kind == "" && g.Distinct == 1 && g.Missing == 0 {
		g.leaveConstant()
		return
	}
	if kind == Censored {
		f.oneNumber(g, x, source{kind: Censored}, true, work)
		return
	}
	if kind == "" || kind == Boolean {
		if pair, ok := findPair(levels, kind == Boolean); ok {
			f.oneNumber(g, x, source{kind: Boolean, pair: pair}, true, work)
			return
		}
		if kind == Boolean {
			g.err = fault.Cell(-1, x.Name, "it has %s: want two for a boolean, or the column as a category",
				fault.Count(g.Distinct, "different text"))
			return
		}
	}
	order := kind
	if kind == DayFirst || kind == MonthFirst {
		kind = Date
	}
	if kind == "" || kind == Date {
		layout, doubt := findLayout(levels, order)
		if layout != "" {
			f.oneNumber(g, x, source{kind: Date, layout: layout}, true, work)
			g.warn(doubt)
			return
		}
		if kind == Date {
			first := slices.IndexFunc(x.Codes, func(code int32) bool { return code >= 0 })
			g.err = fault.Cell(first, x.Name, "%q is not a date: want a format such as %s, %s or %s",
				g.Example, example(layouts[0]), example("2.1.2006 15:04"), example("Jan 2, 2006"))
			return
		}
	}
	if kind == "" {
		kind = textKind(levels, len(x.Codes)-g.Missing)
		g.warn(doubtNumbers(levels, often))
		other := func(text string) bool { return !isBoolean(text) }
		if len(levels) > 2 && !slices.ContainsFunc(levels, other) {
			g.warn(fmt.Sprintf("its texts are several words for yes and no, such as %q and %q: want two",
				levels[0], levels[len(levels)-1]))
		}
	}
	switch kind {
	case Identifier:
		g.leave(Identifier, "texts that are all different")
	case Text:
		f.oneTerms(g, x)
	case Category:
		c := newCategory(levels, often, g.Missing, f.Levels)
		g.Kind, g.Does = Category, c.does(g.Distinct)
		g.warn(collapsed(c, levels, often))
		g.column = column{kind: Category, category: c}
	}
}

// collapsed returns a warning for a category of which many cells share the pool, "" for others.
func collapsed(c *category, levels []string, often []int) string {
	const share = 5 // from a fifth of the cells on
	cells, pooled := 0, 0
	for k, text := range levels {
		if cells += often[k]; c.pool && c.place(text) == int32(c.size()-1) {
			pooled += often[k]
		}
	}
	if share*pooled < cells || pooled == 0 {
		return ""
	}
	return fmt.Sprintf("%d %% of its cells share the column %s: want more levels, --text letters:3 if it is "+
		"text, or the kind drop if it names rows", 100*pooled/cells, other)
}

// textKind returns the kind of a column of texts, which are those of n cells.
func textKind(levels []string, n int) Kind {
	spaced := func(text string) bool { return strings.ContainsAny(strings.TrimSpace(text), " \t\n") }
	switch distinct := len(levels); {
	case n < few:
		return Category
	case distinct == n && !slices.ContainsFunc(levels, spaced):
		return Identifier
	case 2*distinct > n:
		return Text
	}
	return Category
}

// oneTerms leaves out a column of text, or counts its terms.
func (f *fit) oneTerms(g *finding, x *points.Column) {
	if f.Text == "" {
		g.leave(Text, "text")
		g.warn(spelled(x))
		return
	}
	t := newTerms(x, f.letters)
	if len(t.list) == 0 {
		g.leave(Text, "no terms in its cells")
		return
	}
	what := "words"
	if f.letters > 0 {
		what = fmt.Sprintf("%d letters in a row", f.letters)
	}
	g.Kind, g.Does = Text, fmt.Sprintf("tf-idf of %s: %s", what, fault.Count(len(t.list), "term"))
	g.column = column{kind: Text, terms: t}
}

// spelled returns a warning for short texts, such as names, whose spelling is left out, "" for
// others. Letters are not the default: they make up to a thousand columns, and a graph or a
// statement that cannot be exported.
func spelled(x *points.Column) string {
	const longest = 40 // bytes, in the mean
	bytes, letters, digits := 0, 0, 0
	for _, text := range x.Levels {
		bytes += len(text)
		for _, c := range text {
			if unicode.IsLetter(c) {
				letters++
			} else if unicode.IsDigit(c) {
				digits++
			}
		}
	}
	if len(x.Levels) < few || bytes > longest*len(x.Levels) || letters < 2*digits {
		return ""
	}
	return "short texts, whose spelling is left out: want --text letters:3 if similar ones belong together"
}

// does says what becomes of a category.
func (c *category) does(distinct int) string {
	text := fmt.Sprintf("one-hot: %s", fault.Count(len(c.levels), "level"))
	if c.missing {
		text += " and " + gap
	}
	if c.pool {
		text += fmt.Sprintf(" and %s for %d rarer", other, distinct-len(c.levels))
	}
	return text
}

// transform chooses the scaling, and makes the transform.
func (f *fit) transform() (dataset.Transform, error) {
	var scaled []*finding // columns of numbers and dates
	numbersOnly := true
	for j := range f.findings {
		g := &f.findings[j]
		switch g.column.kind {
		case Number, Date, Censored:
			scaled = append(scaled, g)
		}
		numbersOnly = numbersOnly && (g.column.kind == Number || g.column.kind == Drop)
	}
	if !slices.ContainsFunc(f.findings, func(g finding) bool { return g.used() }) {
		return nil, f.nothing()
	}
	if f.Scale == scaleNone {
		warnOfScales(scaled)
	}
	if f.Scale == scaleAuto {
		f.Scale = scaleStandardize
		if numbersOnly && sameUnit(scaled) {
			f.Scale = scaleNone
		}
	}
	why := map[string]string{scaleStandardize: "standardized", scaleRobust: "scaled by median and quartiles",
		scaleNone: "as it is"}[f.Scale]
	for _, g := range scaled {
		s, p := &g.numbers, &g.column.number
		switch f.Scale {
		case scaleStandardize:
			p.mean, p.scale = s.mean, s.scale
		case scaleRobust:
			p.mean, p.scale = s.median, s.robust
		}
		g.Does += why
	}
	for j := range f.findings {
		switch g := &f.findings[j]; g.column.kind {
		case Boolean:
			g.Does += fmt.Sprintf("0 for %s, 1 for %s", g.column.number.source.pair[0],
				g.column.number.source.pair[1])
		case Censored:
			g.Does += ", and a column of limits"
		case Date:
			g.Does += ", in days"
			if f.Cyclic {
				g.Does += ", and its cycles"
			}
		}
	}
	if t, ok := f.plain(); ok {
		return t, nil
	}
	return f.preparation()
}

// warnOfScales warns of the column with the largest numbers, if nothing scales them.
func warnOfScales(scaled []*finding) {
	var low, high *finding
	for _, g := range scaled {
		if g.numbers.scale > 0 && (low == nil || g.numbers.scale < low.numbers.scale) {
			low = g
		}
		if g.numbers.scale > 0 && (high == nil || g.numbers.scale > high.numbers.scale) {
			high = g
		}
	}
	if low != nil && high.numbers.scale > 10*low.numbers.scale {
		high.warn(fmt.Sprintf("its standard deviation is %.0f times that of %s, and nothing scales them",
			high.numbers.scale/low.numbers.scale, low.Name))
	}
}

// plain returns the transform of dense points of which no column is left out but constant ones,
// and whether there is one: nil, or a scaling.
func (f *fit) plain() (dataset.Transform, bool) {
	x, dense := f.data.Points.(*points.Dense)
	if !dense || f.Scale == scaleRobust {
		return nil, false
	}
	s := &Scaling{Mean: make([]float64, x.D), Scale: make([]float64, x.D)}
	for j := range f.findings {
		g := &f.findings[j]
		if g.Kind != Number && g.Kind != Constant || g.Kind == Constant && g.Does == "left out: as asked" {
			return nil, false
		}
		s.Mean[j], s.Scale[j] = g.numbers.mean, g.numbers.scale
	}
	for j := range f.findings {
		g := &f.findings[j]
		if g.Outputs = 1; g.Kind == Constant {
			g.Does = "constant"
		}
	}
	if f.Scale == scaleNone {
		return nil, true
	}
	return s, true
}

// preparation makes the transform of a table with columns of several kinds.
func (f *fit) preparation() (dataset.Transform, error) {
	p := &Preparation{named: f.named, strict: f.Impute == imputeError, cyclic: f.Cyclic, text: f.Text}
	names := make(map[string]bool)
	for j := range f.findings {
		g := &f.findings[j]
		g.Outputs = g.column.size(p.cyclic)
		if !g.used() && f.named {
			continue
		}
		if names[g.Name] {
			return nil, fault.InFile(fault.Cell(-1, g.Name,
				"two columns have this name: want different names, as columns are found by them"),
				f.data.Name)
		}
		names[g.Name] = true
		p.columns = append(p.columns, g.column)
	}
	p.finish()
	return p, nil
}

// nothing is the error of a table without a column that can be used.
func (f *fit) nothing() error {
	var list []string
	for j := range f.findings {
		g := &f.findings[j]
		if list = append(list,
			fmt.Sprintf("%q: %s", g.Name, strings.TrimPrefix(g.Does, "left out: "))); len(list) == 5 &&
			len(f.findings) > 5 {
			list = append(list, fmt.Sprintf("%d more", len(f.findings)-5))
			break
		}
	}
	texts := ""
	if f.Text == "" && slices.ContainsFunc(f.findings, func(g finding) bool { return g.Kind == Text }) {
		texts = ", or texts whose words count (--text words)"
	}
	return fault.Data(f.data.Name,
		"no column can be used (%s): want a column of numbers, categories, booleans or dates, or one whose "+
			"kind is given%s", strings.Join(list, "; "), texts)
}

// parallel calls f for 0..n-1 on all processors. Every part writes what is its own, so the result
// does not depend on their number.
func parallel(n int, f func(k int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for k := range n {
			f(k)
		}
		return
	}
	if forks.Observed(workers, n, f) {
		return
	}
	var next atomic.Int64
	panics.Run(workers, func() {
		for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
			f(k)
		}
	})
}
