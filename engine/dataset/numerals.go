package dataset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Characters that programs write into numbers for readers.
const (
	narrowSpace = "\u202f" // between groups of digits; other spaces become this one
	apostrophe  = "'"      // the same in Switzerland
)

// lookAlikes replaces characters that only look different: the minus sign, spaces, an apostrophe.
var lookAlikes = strings.NewReplacer("\u2212", "-", " ", narrowSpace, "\u00a0", narrowSpace,
	"\u2009", narrowSpace, "\u2019", apostrophe)

// undress removes from a number what strconv does not read: a currency symbol or % before or
// behind it, or letters behind it, such as kg, which is the unit, the form of its minus sign, which
// may be brackets, and spaces or apostrophes between groups of three digits. A text that is no such
// number becomes an empty one.
func undress(s, point string) (bare, unit string) {
	s = trimNarrow(lookAlikes.Replace(s))
	sign := ""
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, s = s[:1], trimNarrow(s[1:])
	} else if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		sign, s = "-", trimNarrow(s[1:len(s)-1])
	}
	if c, size := utf8.DecodeRuneInString(s); unicode.Is(unicode.Sc, c) {
		unit, s = s[:size], trimNarrow(s[size:])
	}
	if c, size := utf8.DecodeLastRuneInString(s); unit == "" && (c == '%' || unicode.Is(unicode.Sc, c)) {
		unit, s = s[len(s)-size:], trimNarrow(s[:len(s)-size])
	}
	if digits := strings.TrimLeft(s, "0123456789.,"+apostrophe+narrowSpace); unit == "" && isUnit(digits) {
		unit, s = digits, trimNarrow(strings.TrimSuffix(s, digits))
	}
	if sign == "" && strings.HasPrefix(s, "-") && unit != "" { // $-5
		sign, s = "-", s[1:]
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return "", unit
	}
	for _, group := range []string{narrowSpace, apostrophe} {
		if !strings.Contains(s, group) {
			continue
		}
		joined, ok := ungroup(s, point, group)
		if !ok || s[0] == '0' {
			return "", unit
		}
		s = joined
	}
	return sign + s, unit
}

// isUnit reports whether the text behind the digits of a number is a unit, such as kg, °C, m² or
// µg/m3: a few letters, and no exponent.
func isUnit(s string) bool {
	if len(s) == 0 || len(s) > longestUnit || len(s) > 1 && strings.ContainsAny(s[:1], "eEdDpPxX") &&
		strings.ContainsAny(s[1:2], "0123456789+-") {
		return false
	}
	letters := 0
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			letters++
		case !strings.ContainsRune("°/²³23", c):
			return false
		}
	}
	return letters > 0 && !strings.ContainsAny(s[:1], "/23")
}

func trimNarrow(s string) string { return strings.Trim(s, " "+narrowSpace) }

// findNumerals decides how the numbers of the file are written; groups accepts groups of digits. A
// file has decimal commas if it has semicolons or tabs between its fields and more numbers of the
// first records are written so than with a point; with tabs none may have a point.
func (r *records) findNumerals(groups bool) {
	r.marks.groups = groups
	if r.csv.delimiter != ';' && r.csv.delimiter != '\t' {
		return
	}
	commas, points := 0, 0
	for _, fields := range r.sample() {
		for _, f := range fields {
			f = strings.TrimSpace(f)
			with, without := numerals{comma: true, groups: groups}.isNumber(f),
				numerals{groups: groups}.isNumber(f)
			switch { // 12, and perhaps 1,234, is a number either way
			case with && !without:
				commas++
			case without && !with:
				points++
			}
		}
	}
	tabs := r.csv.delimiter == '\t'
	r.marks.comma = commas > points && (points == 0 || !tabs)
	if r.marks.comma && (tabs || points > 0) {
		r.warnings = append(r.warnings,
			"numbers are read with a decimal comma, as "+fault.Count(commas,
				"number")+" of the first rows have one")
	}
}

// findColumnNumerals decides how the numbers of each feature are written, which may be another way
// than that of the file: the one that most of its first cells are numbers in. mixed accepts the
// marks that only people need. It warns of every column that is read in a way of its own, and of
// numbers that another way would change by a factor of 1000.
//
// Columns with marks that were asked for are read with these, and those with marks in the fit of a
// model are too, unless more of their cells are numbers in another way.
//
// Cost: it reads the first records once, and up to eight for a column of which some cells are not
// numbers in the way of the file.
func (c *csvRows) findColumnNumerals(o *ReadOptions) error {
	mixed := o.Mixed && !o.Gram
	c.cells = slices.Repeat([]numerals{c.marks}, len(c.columns))
	separate := c.csv.delimiter == ';' || c.csv.delimiter == '\t'
	if !mixed && !separate && len(o.Marks)+len(o.FitMarks) == 0 {
		return nil
	}
	c.named = map[string]Marks{}
	var notes []string
	certain := map[bool]bool{} // decimal commas, or points, that cannot be marks of thousands
	doubtful := map[int]string{}
	for _, i := range c.features {
		x := cellsOf(c.sample(), i)
		own := x.numerals(c.marks, mixed, separate)
		asked := o.Marks[c.columns[i]]
		if marks := cmp.Or(asked, o.FitMarks[c.columns[i]]); marks != "" {
			mark, unit := marks.cut()
			n := numerals{comma: mark == EU, groups: true, dressed: mixed, unit: cmp.Or(unit, x.unit())}
			if unit != "" && own.unit != "" && own.unit != unit && x.most(x.count(own)) {
				if err := c.otherUnit(i, x, own.unit, unit); err != nil {
					return err
				}
			}
			if asked != "" || x.count(n) >= x.count(own) {
				c.cells[i], c.named[c.columns[i]] = n, marks
				continue
			}
		}
		c.cells[i] = own
		if (own.comma || own.groups || own.unit != "") && x.most(x.count(own)) {
			c.named[c.columns[i]] = own.marks()
		}
		if separate && !own.groups {
			cell, doubt := x.decimal(own)
			certain[own.comma] = certain[own.comma] || cell != "" && !doubt
			if doubt {
				doubtful[i] = cell
			}
		}
		if blank := blankOf(c.sample(), i); mixed && blank != "" && len(x) > 0 && x.most(x.count(own)) {
			notes = append(notes, c.missingWord(i, blank))
			c.cells[i].blank = blank
		}
		if code := x.code(); mixed && code != "" && x.most(x.count(own)) &&
			!slices.Contains(o.Text, c.columns[i]) {
			notes = append(notes, "column "+quote(c.columns[i])+": "+quote(code)+" is read as the number "+
				strings.TrimLeft(code, "0")+": read the column as a category if it has codes")
		}
		if cell, value := x.example(own, c.marks); own != c.marks && cell != "" {
			notes = append(notes, "column "+quote(c.columns[i])+": "+quote(cell)+" is read as "+value)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(doubtful)) {
		if cell := doubtful[i]; certain[!c.cells[i].comma] {
			plain, _ := c.cells[i].plain(cell)
			notes = append(notes, "column "+quote(c.columns[i])+": "+quote(cell)+" is read as "+plain+
				", but other columns have the other decimal mark: want the option number, "+c.columns[i]+"="+
				string(marksOf(!c.cells[i].comma))+", if it is "+ungrouped(cell))
		}
	}
	const most = 5
	if more := len(notes) - most; more > 1 {
		notes = append(notes[:most],
			"the numbers of "+fault.Count(more, "more column")+" are read in a way of their own too")
	}
	c.warnings = append(c.warnings, notes...)
	return nil
}

// missingWord is the remark on a word that is missing only among numbers.
func (c *csvRows) missingWord(column int, word string) string {
	return "column " + quote(c.columns[column]) + ": " + quote(word) + " is read as missing"
}

// otherUnit reports a column whose numbers have another unit than those of the fit.
func (c *csvRows) otherUnit(column int, x sampleCells, unit, fitted string) error {
	cell := x[slices.IndexFunc(x, func(cell string) bool { return strings.Contains(cell, unit) })]
	return c.problem(0, c.columns[column], "convert the column to "+fitted,
		"%s has the unit %s, but the rows of the fit have %s: want one unit", quote(cell), unit, fitted)
}

// doubtHeader warns of a header that looks like a row: of nearly every column it has a number where
// the cells are numbers, or a text that is also in a cell. Rising whole numbers next to another
// name, as those of years, are names, and so are those of the columns of a written matrix.
func (c *csvRows) doubtHeader() {
	numbers, rising, before := 0, true, -1
	for _, name := range c.columns {
		if !isNumber(name) {
			continue
		}
		v, err := strconv.Atoi(name)
		rising = rising && err == nil && v > before
		numbers, before = numbers+1, v
	}
	if numbers == 0 || rising && numbers == len(c.columns) && c.columns[0] == "0" {
		return
	}
	like, texts := 0, 0
	for i, name := range c.columns {
		x := cellsOf(c.sample(), i)
		switch {
		case isNumber(name) && x.most(x.count(c.marks)):
			like++
		case slices.Contains(x, name):
			like, texts = like+1, texts+1
		}
	}
	names := rising && numbers < len(c.columns) && texts == 0
	if len(c.sample()) > 0 && like >= len(c.columns)-1 && !names {
		c.warnings = append(c.warnings, "the header looks like a row: "+quote(strings.Join(c.columns, ","))+
			" is taken as the names of columns; want the option header: none if the "+
			"first line is a row, or first if it is not")
	}
}

// doubtColumn warns of a table of one column that has several, between other characters than those
// that separate fields: as many in each row as in the header, and a number in each, or two numbers
// of two.
func (c *csvRows) doubtColumn() {
	if len(c.columns) > 1 || c.csv.src.translated {
		return
	}
	for _, between := range []string{" ", ":", "^", "~", "/"} {
		cut := func(text string) []string {
			if between == " " {
				return strings.Fields(text)
			}
			return strings.Split(text, between)
		}
		n := len(cut(c.columns[0]))
		other := func(row []string) bool {
			cells := cut(row[0])
			numbers := sampleCells(cells).count(numerals{})
			return len(cells) != n || numbers == 0 || n == 2 && numbers < n
		}
		if n > 1 && len(c.sample()) > 1 && !slices.ContainsFunc(c.sample(), other) {
			c.warnings = append(c.warnings, "it has one column, "+quote(c.columns[0])+": if "+quote(between)+
				" separates "+fault.Count(n, "column")+", want commas, semicolons, tabs or bars between them")
			return
		}
	}
}

// doubtLastRow warns of a last row that may be the total of the others.
func (t *table) doubtLastRow() {
	if t.rows < 3 {
		return
	}
	last := func(texts []string) string {
		if len(texts) == 0 {
			return ""
		}
		return texts[len(texts)-1]
	}
	cells := []string{last(t.ids), last(t.labels)}
	if x, mixed := t.points.(*points.Mixed); mixed {
		for j := range x.Columns {
			if c := &x.Columns[j]; c.IsText() && c.Codes[t.rows-1] >= 0 {
				cells = append(cells, c.Levels[c.Codes[t.rows-1]])
			}
		}
	}
	for _, cell := range cells {
		word, _, _ := strings.Cut(strings.ToLower(cell), " ")
		if slices.Contains(totals, strings.Trim(word, ":")) {
			t.warnings = append(t.warnings, "the last row has "+quote(cell)+
				": want it removed if it is the total of the others")
			return
		}
	}
}

// totals are words that programs write into a last row of sums.
var totals = []string{"total", "totals", "grand", "sum", "subtotal", "gesamt", "summe", "somme"}

// sampleCells are the first cells of a column that are not missing, if it is one of numbers.
type sampleCells []string

func cellsOf(sample [][]string, column int) (x sampleCells) {
	for _, row := range sample {
		if cell := strings.TrimSpace(row[column]); !isBlank(cell) {
			x = append(x, cell)
		}
	}
	return x
}

// blankOf returns the first cell of a column that is missing only in a column of numbers, "" for
// none.
func blankOf(sample [][]string, column int) string {
	for _, row := range sample {
		if cell := strings.TrimSpace(row[column]); slices.Contains(blanks, cell) {
			return cell
		}
	}
	return ""
}

// code returns the first cell that has only digits, and a zero before others, as codes of places
// have, "" for none.
func (x sampleCells) code() string {
	for _, cell := range x {
		if len(cell) > 1 && cell[0] == '0' && strings.Trim(cell, "0") != "" &&
			strings.Trim(cell, "0123456789") == "" {
			return cell
		}
	}
	return ""
}

// count returns how many cells are numbers.
func (x sampleCells) count(n numerals) (numbers int) {
	for _, cell := range x {
		if n.isNumber(cell) {
			numbers++
		}
	}
	return numbers
}

// most reports whether a number of cells is enough to call the column one of numbers.
func (x sampleCells) most(numbers int) bool { return 10*numbers >= 9*len(x) }

// numerals returns the way in which most cells are numbers, that of the file if none is better.
// Where fields are separated by neither semicolons nor tabs, a decimal comma must be one beyond
// doubt. Ways that the file does not use need nine in ten cells.
func (x sampleCells) numerals(file numerals, mixed, separate bool) numerals {
	best, most := file, x.count(file)
	if most == len(x) || !x.haveDigits() {
		return best
	}
	for _, dressed := range []bool{false, true} {
		for _, groups := range []bool{file.groups, true} {
			for _, comma := range []bool{file.comma, !file.comma} {
				n := numerals{comma: comma, groups: groups, dressed: dressed}
				if dressed {
					n.unit = x.unit()
				}
				if !mixed && (dressed || groups != file.groups) {
					continue
				}
				numbers := x.count(n)
				plain := separate && groups == file.groups && !dressed
				switch {
				case numbers <= most, !plain && !x.most(numbers):
				case comma && !separate && (!mixed || file.groups || !x.certainComma(n)),
					dressed && x.allBrackets():
				case groups && !file.groups && !x.certainGroups(comma):
				default:
					best, most = n, numbers
				}
			}
		}
	}
	return best
}

// haveDigits reports whether at least half of the cells have digits.
func (x sampleCells) haveDigits() bool {
	some := 0
	for _, cell := range x {
		if strings.ContainsAny(cell, "0123456789") {
			some++
		}
	}
	return 2*some >= len(x)
}

// allBrackets reports whether all cells are in brackets, as references are and amounts hardly.
func (x sampleCells) allBrackets() bool {
	return !slices.ContainsFunc(x, func(cell string) bool { return !strings.HasPrefix(cell, "(") })
}

// unit returns the first unit of a cell, "" for none.
func (x sampleCells) unit() string {
	for _, cell := range x {
		if bare, unit := undress(cell, "."); bare != "" && unit != "" {
			return unit
		}
	}
	return ""
}

// decimal returns the first number with a decimal mark, "" for none, and whether the marks of all
// might be those of thousands, as in 21.964.
func (x sampleCells) decimal(n numerals) (first string, doubt bool) {
	mark, other := ".", ","
	if n.comma {
		mark, other = other, mark
	}
	for _, cell := range x {
		if !n.isNumber(cell) || !strings.Contains(cell, mark) {
			continue
		}
		first = cmp.Or(first, cell)
		bare := cell
		if n.dressed {
			bare, _ = undress(cell, mark)
		}
		if _, ok := ungroup(bare, other, mark); !ok || strings.HasPrefix(strings.TrimLeft(bare, "+-"), "0") {
			return first, false
		}
	}
	return first, first != ""
}

// certainComma reports whether the commas cannot be marks of thousands.
func (x sampleCells) certainComma(n numerals) bool {
	cell, doubt := x.decimal(n)
	return cell != "" && !doubt
}

// certainGroups reports whether a number has groups of digits beyond doubt: two marks between them,
// or a decimal mark behind one.
func (x sampleCells) certainGroups(comma bool) bool {
	point, group := ".", ","
	if comma {
		point, group = group, point
	}
	n := numerals{comma: comma, groups: true, dressed: true, unit: x.unit()}
	for _, cell := range x {
		if k := strings.Count(cell, group); k > 1 || k == 1 && strings.Contains(cell, point) {
			if n.isNumber(cell) {
				return true
			}
		}
	}
	return false
}

// example returns a cell that is a number in one way and not, or another one, in the other way, and
// its value.
func (x sampleCells) example(own, other numerals) (cell, value string) {
	for _, cell := range x {
		if plain, ok := own.plain(cell); ok && isNumber(plain) && !other.isNumber(cell) {
			return cell, plain
		}
	}
	return "", ""
}

// ungrouped returns a number without points and commas.
func ungrouped(cell string) string { return strings.NewReplacer(".", "", ",", "").Replace(cell) }
