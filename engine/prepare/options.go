package prepare

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Kind is what the cells of a column are.
type Kind string

// The kinds of columns. Constant, Identifier and Drop are left out. DayFirst and MonthFirst are
// asked for only, and say how a date such as 01/02/2024 is read; such a column is a Date. Censored
// is asked for too: numbers some of which are only limits, such as <0.05.
const (
	Number     Kind = "number"
	Category   Kind = "category"
	Boolean    Kind = "boolean"
	Date       Kind = "date"
	DayFirst   Kind = "day-first"
	MonthFirst Kind = "month-first"
	Censored   Kind = "censored"
	Text       Kind = "text"
	Constant   Kind = "constant"
	Identifier Kind = "identifier"
	Drop       Kind = "drop"
)

// Kinds returns the names of all kinds.
func Kinds() []string {
	return []string{string(Number), string(Category), string(Boolean), string(Date), string(DayFirst),
		string(MonthFirst), string(Censored), string(Text), string(Constant), string(Identifier),
		string(Drop)}
}

// DefaultLevels is the limit on the columns of a category when Options.Levels is 0.
const DefaultLevels = 50

// Options says how columns are prepared. The zero value is what their kinds ask for.
type Options struct {
	// Kinds are the kinds of columns by name, or by a pattern such as total_*, instead of those
	// that are found. A name counts before patterns, and a longer pattern before a shorter one.
	Kinds map[string]Kind
	// Impute says what fills a gap in numbers: median (also ""), mean, most-frequent, constant=V,
	// sides, or error to refuse gaps in all columns. Dates and booleans take the median for a
	// constant. With sides a column with gaps becomes two, in which gaps lie below and above all
	// values: a threshold then sends them to either side.
	Impute string
	// Indicators adds a column of zeros and ones for each column of numbers, dates or booleans that
	// has gaps.
	Indicators bool
	// Scale is auto (also ""), none, standardize or robust. auto standardizes numbers, unless there
	// are only numbers, and they share a unit.
	Scale string
	// Levels is the limit on the columns of a category, 0 for DefaultLevels; the last one is the
	// pool of the rarer texts.
	Levels int
	// Cyclic adds the cosine and the sine of the weekday, of the day of the year, and of the hour
	// to dates.
	Cyclic bool
	// Text says what becomes of columns of text: "" (they are left out), words, or letters:K for
	// the tf-idf of words or of K letters in a row.
	Text string
	// Gram says what becomes of negative eigenvalues of a Gram matrix: "" (an error), clip (they
	// become 0) or flip (they become positive).
	Gram string
}

// The choices of Impute and Scale.
const (
	imputeMedian   = "median"
	imputeMean     = "mean"
	imputeFrequent = "most-frequent"
	imputeConstant = "constant"
	imputeSides    = "sides"
	imputeError    = "error"

	scaleAuto        = "auto"
	scaleNone        = "none"
	scaleStandardize = "standardize"
	scaleRobust      = "robust"
)

// settings are checked options.
type settings struct {
	Options
	constant float64
	letters  int // in a row, 0 for words
}

// Check returns a *fault.ParamError for options that make no sense with any table.
func (o Options) Check() error {
	_, err := o.check()
	return err
}

func (o Options) check() (*settings, error) {
	s := &settings{Options: o}
	s.Impute, s.Scale = cmp.Or(o.Impute, imputeMedian), cmp.Or(o.Scale, scaleAuto)
	s.Levels = cmp.Or(o.Levels, DefaultLevels)
	if value, ok := strings.CutPrefix(s.Impute, imputeConstant+"="); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || v-v != 0 {
			return nil, fault.Param("impute", o.Impute, "constant=V with a finite number V")
		}
		s.Impute, s.constant = imputeConstant, v
	} else if choices := []string{imputeMedian, imputeMean, imputeFrequent, imputeSides,
		imputeError}; !slices.Contains(choices, s.Impute) {
		return nil, fault.Unknown("impute", s.Impute, append(choices, imputeConstant+"=V"))
	}
	if choices := []string{scaleAuto, scaleNone, scaleStandardize, scaleRobust}; !slices.Contains(choices,
		s.Scale) {
		return nil, fault.Unknown("scale", s.Scale, choices)
	}
	if s.Levels < 2 || s.Levels > maxLevels {
		return nil, fault.Param("levels", o.Levels, "2 to %d columns for a category", maxLevels)
	}
	if o.Gram != "" && !slices.Contains(points.Corrections(), o.Gram) {
		return nil, fault.Unknown("gram", o.Gram, points.Corrections())
	}
	for _, pattern := range slices.Sorted(maps.Keys(o.Kinds)) {
		if kind := o.Kinds[pattern]; !slices.Contains(Kinds(), string(kind)) {
			return nil, fault.Unknown("type of "+pattern, string(kind), Kinds())
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fault.Param("type", pattern, "the name of a column, or a pattern such as total_*")
		}
	}
	var err error
	s.letters, err = parseText(o.Text)
	return s, err
}

// maxLetters is the limit on K of letters:K.
const maxLetters = 16

// parseText returns K of letters:K, 0 for other texts.
func parseText(text string) (letters int, err error) {
	if text == "" || text == "words" {
		return 0, nil
	}
	if k, ok := strings.CutPrefix(text, "letters:"); ok {
		if letters, err = strconv.Atoi(k); err == nil && letters >= 1 && letters <= maxLetters {
			return letters, nil
		}
		return 0, fault.Param("text", text, "letters:K with K from 1 to %d", maxLetters)
	}
	return 0, fault.Unknown("text", text, []string{"words", "letters:K"})
}

// forced returns the kinds of the columns that Options.Kinds names, "" for others. A name or
// pattern without a column is a *fault.DataError.
func (s *settings) forced(names []string) ([]Kind, error) {
	out := make([]Kind, len(names))
	patterns := slices.Collect(maps.Keys(s.Kinds))
	slices.SortFunc(patterns, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	used := make(map[string]bool)
	for j, name := range names {
		if kind, ok := s.Kinds[name]; ok {
			out[j], used[name] = kind, true
		}
		for _, pattern := range patterns {
			if match, _ := path.Match(pattern, name); match {
				used[pattern] = true
				out[j] = cmp.Or(out[j], s.Kinds[pattern])
			}
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Kinds)) {
		if !used[pattern] {
			return nil, fault.Data("", "there is no feature column %q: want one of %s%s", pattern,
				strings.Join(names, ", "), fault.DidYouMean("", pattern, names))
		}
	}
	return out, nil
}

// kindsText returns kinds as NAME=KIND.
func kindsText(kinds map[string]Kind) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, name+"="+string(kinds[name]))
	}
	return strings.Join(list, ", ")
}

// fill returns what fills gaps, by the sorted values that are there.
func (s *settings) fill(sorted []float64, kind Kind) float64 {
	switch {
	case len(sorted) == 0:
		return 0
	case s.Impute == imputeMean:
		return mean(sorted)
	case s.Impute == imputeFrequent:
		return mostFrequent(sorted)
	case s.Impute == imputeConstant && kind == Number:
		return s.constant
	}
	return quantile(len(sorted), 0.5, func(k int) float64 { return sorted[k] })
}

// mean returns the mean of values of any magnitude.
func mean(values []float64) float64 {
	sum, n := 0.0, float64(len(values))
	for _, v := range values {
		sum += v / n
	}
	rest := 0.0
	for _, v := range values {
		rest += (v - sum) / n
	}
	if math.IsInf(sum+rest, 0) {
		return sum
	}
	return sum + rest
}

// mostFrequent returns the most frequent of sorted values, the smallest of several.
func mostFrequent(sorted []float64) float64 {
	best, most := 0.0, 0
	for lo := 0; lo < len(sorted); {
		hi := lo
		for hi < len(sorted) && sorted[hi] == sorted[lo] {
			hi++
		}
		if hi-lo > most {
			best, most = sorted[lo], hi-lo
		}
		lo = hi
	}
	return best
}

// quantile returns the value at q (n - 1) of n sorted values, with linear interpolation.
func quantile(n int, q float64, at func(k int) float64) float64 {
	place := q * float64(n-1)
	k := int(place)
	low := at(k)
	rest := place - float64(k)
	if rest == 0 {
		return low
	}
	high := at(k + 1)
	if rest == 0.5 { // the mean of the two middle values, as everyone computes it
		if sum := low + high; !math.IsInf(sum, 0) {
			return sum / 2
		}
		return low/2 + high/2
	}
	return low + float64(rest*(high-low))
}

// Rule is what a preparation does with one column, as data: for programs that prepare rows
// elsewhere.
type Rule struct {
	Name   string
	Kind   Kind // Number, Boolean, Category, Date or Text; Drop for a column that is left out
	IsText bool // the fit read texts
	// Numbers and booleans become (value - Mean) / Scale, or 0 where Scale is 0. Fill stands for a
	// gap. If Sides is true there is a second column, in which Above does.
	Fill, Mean, Scale float64
	Sides             bool
	Above             float64
	Indicator         bool      // the last column is 1 for gaps, else 0
	Pair              [2]string // the texts of a boolean in lower case, for 0 and 1; others are gaps
	// the texts that are gaps, "" the first; texts have no white space around them
	Gaps []string
	// Categories become Width columns of zeros and a one, in the column of the text: those of
	// Levels come first. Missing is the column of gaps and Other that of other texts, -1 for no
	// column.
	Width          int
	Levels         []string
	Missing, Other int
	Cyclic         bool // a date has columns of its cycles too
}

// Rules is what a transform does, as data, for programs that do it elsewhere. The columns of the
// result follow each other in the order of the rules.
type Rules struct {
	Columns []Rule    // of all columns, in the order in which the transform takes them
	Strict  bool      // a gap is an error
	Terms   []float64 // weights of the terms that the columns count, nil if they are no terms
}

// PlainRules returns the rules of numbers that are taken as they are.
func PlainRules(names []string) Rules {
	rules := make([]Rule, len(names))
	for j, name := range names {
		rules[j] = Rule{Name: name, Kind: Number, Scale: 1, Width: 1}
	}
	return Rules{Columns: rules}
}

// Rules returns the rules of the columns, which have names of their own.
func (p *Preparation) Rules([]string) Rules {
	rules := make([]Rule, len(p.columns))
	for j := range p.columns {
		c := &p.columns[j]
		r := Rule{Name: c.name, Kind: c.kind, IsText: c.isText, Indicator: c.indicator,
			Width: c.size(p.cyclic)}
		switch c.kind {
		case Number, Boolean, Date, Censored:
			n := &c.number
			r.Fill, r.Mean, r.Scale, r.Sides, r.Above, r.Pair = n.fill, n.mean, n.scale, n.sides, n.above,
				n.source.pair
			r.Cyclic = c.kind == Date && p.cyclic
		case Category:
			r.Levels, r.Missing, r.Other = c.category.levels, -1, -1
			if c.category.pool {
				r.Other = r.Width - 1
			}
			if r.Missing = int(c.category.missingPlace()); r.Missing < 0 {
				r.Missing = r.Other
			}
		}
		r.Gaps = slices.DeleteFunc(dataset.Missing(), func(text string) bool { return !c.isGap(text) })
		rules[j] = r
	}
	return Rules{Columns: rules, Strict: p.strict}
}

// Words that names of columns of identifiers, and of labels, consist of or end in.
var (
	identifierNames = []string{"", "id", "ids", "idx", "index", "row", "rows", "rowid", "rownames", "rownum",
		"nr", "no", "number", "key", "pk", "uuid", "guid", "serial", "unnamed"}
	identifierEnds = []string{"id", "idx", "key", "nr", "uuid", "guid"}
	labelNames     = []string{"label", "labels", "target", "class", "classes", "y", "species", "outcome",
		"category", "diagnosis", "response", "ground truth"}
)

// nameWords returns the words of a name: "customerID", "customer_id" and "Customer ID" have the
// same ones.
func nameWords(name string) []string {
	var words strings.Builder
	last := rune(0)
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(last) {
			words.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			words.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(words.String())
}

// identifierName reports whether a name is that of a column of identifiers.
func identifierName(name string) bool {
	words := nameWords(name)
	if len(words) > 1 && slices.Contains(identifierEnds, words[len(words)-1]) || len(words) > 1 &&
		words[0] == "row" {
		return true
	}
	return slices.Contains(identifierNames, strings.Join(words, " ")) && !hasDigit(name) || len(words) == 1 &&
		words[0] == "unnamed"
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// labelName reports whether a name is that of a column of labels.
func labelName(name string) bool {
	return slices.Contains(labelNames, strings.Join(nameWords(name), " ")) && !hasDigit(name)
}
