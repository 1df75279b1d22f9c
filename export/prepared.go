package export

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine/prepare"
)

// inputs of a graph: the columns of numbers and those of texts, by name.
type inputs struct{ numbers, texts []string }

// The names of the tensors that go in and come out.
const (
	nameNumbers = "x"
	nameTexts   = "texts"
	nameOutput  = "coordinates"
)

// inputsOf returns the inputs of rules.
func inputsOf(rules []prepare.Rule) (in inputs) {
	for _, r := range rules {
		if takesTexts(r) {
			in.texts = append(in.texts, r.Name)
		} else {
			in.numbers = append(in.numbers, r.Name)
		}
	}
	return in
}

// takesTexts reports whether the cells of a column are texts. Columns of numbers are numbers, even
// if the fit read some of them as texts.
func takesTexts(r prepare.Rule) bool {
	return r.IsText && (r.Kind == prepare.Category || r.Kind == prepare.Boolean)
}

// prepared returns the prepared rows. They are computed in double precision in every graph, since a
// number less the mean of its column may have few of its digits.
func (g *graph) prepared(s *source, numbers bool) value {
	single := g.single
	g.single = false
	if g.outside == Single && numbers {
		g.x = g.number(g.x)
	}
	rows := g.prepare(s)
	if g.single = single; single {
		rows = g.number(rows)
	}
	return rows
}

// prepare returns the prepared rows.
func (g *graph) prepare(s *source) value {
	if s.rules.Terms != nil {
		weighted := g.mul(g.x, g.row(s.rules.Terms))
		return g.op("Div", []value{weighted,
			g.op("Max", []value{g.op("Sqrt", []value{g.squares(weighted)}), g.scalar(g.least())})})
	}
	p := &preparation{graph: g}
	p.takeNumbers(s)
	number, text := 0, 0
	for _, r := range s.rules.Columns {
		at := 0
		if takesTexts(r) {
			at, text = text, text+1
		} else {
			at, number = number, number+1
		}
		switch r.Kind {
		case prepare.Number, prepare.Boolean:
			p.order = append(p.order, p.columns[r.Name]...)
		case prepare.Category:
			v := p.categoryOfNumbers
			if r.IsText {
				v = p.categoryOfTexts
			}
			p.order = append(p.order, p.put(v(r, at), r.Width)...)
		}
	}
	return p.result()
}

// preparation adds the nodes that prepare rows.
type preparation struct {
	*graph
	parts   []value          // columns so far
	width   int              // their number
	columns map[string][]int // of a column of numbers or booleans, the columns that it becomes
	order   []int            // the columns of the result
}

// put adds columns and returns their numbers.
func (p *preparation) put(v value, width int) []int {
	at := make([]int, width)
	for k := range at {
		at[k] = p.width + k
	}
	p.parts, p.width = append(p.parts, v), p.width+width
	return at
}

// result joins the parts.
func (p *preparation) result() value {
	all := p.sideBySide(p.parts)
	if inOrder(p.order, p.width) {
		return all
	}
	return p.choose(all, p.order)
}

// inOrder reports whether a list is 0 to n - 1.
func inOrder(list []int, n int) bool {
	for k, v := range list {
		if v != k {
			return false
		}
	}
	return len(list) == n
}

// takeNumbers adds the columns of numbers and booleans: filled, scaled, and with their gaps.
func (p *preparation) takeNumbers(s *source) {
	p.columns = make(map[string][]int)
	var rules []prepare.Rule
	for _, r := range s.rules.Columns {
		if r.Kind == prepare.Number || r.Kind == prepare.Boolean {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return
	}
	raw, gaps := p.raw(s.rules.Columns), value("")
	if !s.gapless() {
		gaps = p.op("IsNaN", []value{raw})
	}
	at := p.put(p.scaled(raw, gaps, rules, func(r prepare.Rule) float64 { return r.Fill }), len(rules))
	for k, r := range rules {
		p.columns[r.Name] = at[k : k+1 : k+1]
	}
	if gaps == "" {
		return
	}
	p.more(rules, func(r prepare.Rule) bool { return r.Sides }, func() value {
		return p.scaled(raw, gaps, rules, func(r prepare.Rule) float64 { return r.Above })
	})
	p.more(rules, func(r prepare.Rule) bool { return r.Indicator }, func() value { return p.number(gaps) })
}

// more adds one more column for some of the rules, out of those that all would get.
func (p *preparation) more(rules []prepare.Rule, have func(prepare.Rule) bool, all func() value) {
	if !slices.ContainsFunc(rules, have) {
		return
	}
	at := p.put(all(), len(rules))
	for k, r := range rules {
		if have(r) {
			p.columns[r.Name] = append(p.columns[r.Name], at[k])
		}
	}
}

// raw returns the columns of numbers and booleans, with NaN for a gap.
func (p *preparation) raw(rules []prepare.Rule) value {
	var list []value
	var run []int // columns of numbers that are next
	flush := func() {
		if len(run) > 0 {
			list, run = append(list, p.choose(p.x, run)), nil
		}
	}
	number, text := 0, 0
	for _, r := range rules {
		switch {
		case takesTexts(r):
			if r.Kind == prepare.Boolean {
				flush()
				list = append(list, p.booleanOfTexts(r, text))
			}
			text++
			continue
		case r.Kind == prepare.Number:
			run = append(run, number)
		case r.Kind == prepare.Boolean:
			flush()
			list = append(list, p.booleanOfNumbers(r, number))
		}
		number++
	}
	if len(list) == 0 && inOrder(run, number) {
		return p.x
	}
	flush()
	return p.sideBySide(list)
}

// scaled fills the gaps and returns (value - Mean) / Scale, 0 where Scale is 0.
func (p *preparation) scaled(raw, gaps value, rules []prepare.Rule, fill func(prepare.Rule) float64) value {
	n := len(rules)
	fills, means, scales, kept := make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	plain, constant := true, false
	for k, r := range rules {
		fills[k], means[k], scales[k], kept[k] = fill(r), r.Mean, r.Scale, 1
		if r.Scale == 0 {
			scales[k], kept[k], constant = 1, 0, true
		}
		plain = plain && r.Mean == 0 && scales[k] == 1
	}
	v := raw
	if gaps != "" {
		v = p.where(gaps, p.row(fills), v)
	}
	if !plain {
		v = p.op("Div", []value{p.sub(v, p.row(means)), p.row(scales)})
	}
	if constant {
		v = p.mul(v, p.row(kept))
	}
	return v
}

// text returns one column of texts.
func (p *preparation) text(at int) value { return p.choose(nameTexts, []int{at}) }

// booleanOfTexts returns 0, 1 or NaN for the texts of a column, in any case.
func (p *preparation) booleanOfTexts(r prepare.Rule, at int) value {
	var list codes[float32]
	for k, word := range r.Pair {
		for _, text := range spellings(word, anyRune) {
			list.add(text, float32(k))
		}
	}
	return p.number(p.op("LabelEncoder", []value{p.text(at)},
		attribute{"keys_strings", list.texts}, attribute{"values_floats", list.values},
		attribute{"default_float", math.NaN()}))
}

// booleanOfNumbers returns 0, 1 or NaN for the numbers of a column.
func (p *preparation) booleanOfNumbers(r prepare.Rule, at int) value {
	x := p.choose(p.x, []int{at})
	out := p.scalar(math.NaN())
	for k, text := range r.Pair {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			out = p.where(p.op("Equal", []value{x, p.scalar(v)}), p.scalar(float64(k)), out)
		}
	}
	return out
}

// categoryOfTexts returns zeros and a one for each text.
func (p *preparation) categoryOfTexts(r prepare.Rule, at int) value {
	var list codes[int64]
	for k, text := range r.Levels {
		list.add(text, int64(k))
	}
	for _, text := range r.Gaps {
		list.add(text, int64(r.Missing))
	}
	code := p.op("LabelEncoder", []value{p.text(at)},
		attribute{"keys_strings", list.texts}, attribute{"values_int64s", list.values},
		attribute{"default_int64", int64(r.Other)})
	columns := make([]int, r.Width)
	for k := range columns {
		columns[k] = k
	}
	return p.number(p.op("Equal", []value{code, p.integers(columns, 1, r.Width)}))
}

// categoryOfNumbers returns zeros and a one for each number.
func (p *preparation) categoryOfNumbers(r prepare.Rule, at int) value {
	x := p.choose(p.x, []int{at})
	levels := make([]float64, len(r.Levels))
	for k, text := range r.Levels {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			v = math.NaN() // which no number equals
		}
		levels[k] = v
	}
	var list []value
	if len(levels) > 0 {
		list = append(list, p.number(p.op("Equal", []value{x, p.row(levels)})))
	}
	if r.Missing >= 0 && r.Missing != r.Other {
		list = append(list, p.number(p.op("IsNaN", []value{x})))
	}
	if r.Other >= 0 { // 1 where the columns before have zeros
		rest := value("")
		for _, v := range list {
			sum := p.op("ReduceMax", []value{v}, attribute{"axes", []int64{1}},
				attribute{"keepdims", int64(1)})
			if rest == "" {
				rest = p.sub(p.scalar(1), sum)
			} else {
				rest = p.sub(rest, sum)
			}
		}
		if rest == "" {
			rest = p.number(p.op("Equal", []value{p.op("IsNaN", []value{x}), p.op("IsNaN", []value{x})}))
		}
		list = append(list, rest)
	}
	return p.sideBySide(list)
}

// maxSpellings is the number of spellings of a word that are listed: 10 letters have as many.
const maxSpellings = 1 << 10

// spellings returns the texts that are a word of a boolean, which is in lower case, but for the
// case of their letters that some chooses. If there are too many, they are the word, the word in
// upper case, and the word with a capital.
func spellings(word string, some func(rune) bool) []string {
	list := []string{""}
	for _, r := range word {
		forms := []rune{r}
		for other := unicode.SimpleFold(r); other != r && some(r); other = unicode.SimpleFold(other) {
			if unicode.ToLower(other) == r {
				forms = append(forms, other)
			}
		}
		if len(list)*len(forms) > maxSpellings {
			first := []rune(word)
			first[0] = unicode.ToUpper(first[0])
			usual := slices.Compact([]string{word, strings.ToUpper(word), string(first)})
			return slices.DeleteFunc(usual, func(text string) bool { return strings.ToLower(text) != word })
		}
		longer := make([]string, 0, len(list)*len(forms))
		for _, form := range forms {
			for _, text := range list {
				longer = append(longer, text+string(form))
			}
		}
		list = longer
	}
	return list
}

func anyRune(rune) bool { return true }

// notASCII chooses the letters that LOWER may leave in SQL.
func notASCII(r rune) bool { return r >= unicode.MaxASCII }

// codes are texts of cells and what stands for them in a graph, without repetition.
type codes[T any] struct {
	texts  []string
	values []T
	seen   map[string]bool
}

// add adds a text, also with one space before it, behind it, or both: a graph cannot trim.
func (c *codes[T]) add(text string, value T) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	for _, spaced := range []string{text, " " + text, text + " ", " " + text + " "} {
		if !c.seen[spaced] {
			c.seen[spaced] = true
			c.texts, c.values = append(c.texts, spaced), append(c.values, value)
		}
	}
}
