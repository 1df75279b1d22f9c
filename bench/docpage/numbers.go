package docpage

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Split takes the numbers out of a page of results: short is the page for readers, and numbers a
// CSV file that the page links to by name. The file has every number of the page, and what nobody
// reads in a page: tables by data set, the numbers behind claims and comparisons, the whole set-up,
// what was tried, the defaults of methods, the command and the build. A page whose numbers do not
// fit into one table keeps a summary, and of the set-up the data, the measure and the links.
//
// Each line of the file is about one cell: its table, row and column, the value, what follows ±
// (the page says whether it is a standard deviation), the ends of an interval in brackets, the
// printed number with its standard deviation, the difference in standard deviations, and the
// verdict. The tables claims, comparisons, set-up, tried, defaults and run hold text.
func Split(page, name, picture string) (short string, numbers []byte, err error) {
	return split(page, name, picture, splitter{})
}

// SplitPart does the same with a part of a page, which keeps only tables of a few rows.
func SplitPart(part, name string) (short string, numbers []byte, err error) {
	return split(part, name, "", splitter{kept: true})
}

func split(page, name, picture string, s splitter) (short string, numbers []byte, err error) {
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	s.stated = strings.Contains(page, "\n## Summary\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "|") {
			s.text(lines[i])
			i++
			continue
		}
		end := i
		for end < len(lines) && strings.HasPrefix(lines[end], "|") {
			end++
		}
		s.table(lines[i:end])
		i = end
	}
	if len(s.rows) == 0 {
		return page, nil, nil
	}
	link := fmt.Sprintf("[All numbers as CSV](%s).", name)
	if picture != "" {
		link += fmt.Sprintf("\n\n![%s](%s)", strings.TrimSuffix(name, ".csv"), picture)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err = w.WriteAll(append([][]string{header()}, s.rows...))
	return s.page(link), out.Bytes(), err
}

// The columns of the file.
const (
	table = iota
	row
	column
	value
	spread
	low
	high
	printed
	printedSpread
	units
	verdict
	columns
)

func header() []string {
	return []string{"table", "row", "column", "value", "spread", "low", "high", "printed", "printed_spread",
		"in_sd", "verdict"}
}

// Line is a line of the file of numbers.
type Line struct {
	Table, Row, Column, Value, Spread, Low, High, Printed, PrintedSpread, Units, Verdict string
}

// Numbers reads the file of numbers of a page.
func Numbers(text []byte) ([]Line, error) {
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	var out []Line
	for _, r := range records[1:] {
		out = append(out, Line{r[table], r[row], r[column], r[value], r[spread], r[low], r[high], r[printed],
			r[printedSpread], r[units], r[verdict]})
	}
	return out, nil
}

type splitter struct {
	out     []string
	rows    [][]string
	heading string
	halves  []string // what the parts of a cell "a / b" are
	listing bool     // lines are defaults of methods
	kept    bool     // a table stayed on the page
	stated  bool     // a section says what the table has
	setup   bool     // an item of the set-up was read
}

const (
	triedHeading  = "Where our numbers differ, and what was tried"
	otherHeading  = "Differences from the paper"
	claimsHeading = "What the paper says"
	setupHeading  = "Set-up"
	madeHeading   = "Made with"
	defaultsLine  = "- Every method runs with its defaults, on one thread:"
)

var (
	kept     = regexp.MustCompile(`^(Measure|Links|Scores)`)
	alike    = regexp.MustCompile(`, training$|^(adjusted Rand|NMI|AUC),`)
	ofTime   = regexp.MustCompile(`seconds$|speedup`) // says little: papers have old machines
	parts    = regexp.MustCompile(`[a-z -]*[a-z](?: / [a-z -]*[a-z])+`)
	defaults = regexp.MustCompile(`^- ([a-z]+): (.*)\.$`)
	sentence = regexp.MustCompile(`\. ["(A-Z\x60a-z]`)
	citation = regexp.MustCompile(`^(.* of .* \(\d{4}\)\.) .+$`)
)

func (s *splitter) text(line string) {
	if strings.HasPrefix(line, "#") {
		s.heading, s.listing = strings.TrimLeft(line, "# "), false
		if strings.HasPrefix(line, "# ") {
			s.heading = ""
		}
	}
	if found := parts.FindString(line); found != "" {
		s.halves = strings.Split(strings.TrimPrefix(strings.Trim(found, " -"), "of "), " / ")
	}
	if s.bySet() {
		return
	}
	item, listed := strings.CutPrefix(line, "- ")
	match := defaults.FindStringSubmatch(line)
	if cited := citation.FindStringSubmatch(line); s.heading == "" && cited != nil {
		s.add("set-up", "", "paper", unescape(line))
		line = cited[1]
	}
	switch {
	case line == defaultsLine:
		s.listing = true
		return
	case s.listing && match != nil:
		for setting := range strings.SplitSeq(match[2], ", ") {
			name, set, _ := strings.Cut(setting, " ")
			s.add("defaults", match[1], name, set)
		}
		return
	case (s.heading == triedHeading || s.heading == otherHeading) && listed:
		s.add(map[string]string{triedHeading: "tried", otherHeading: "differences"}[s.heading], "", "",
			unescape(item))
		return
	case s.heading == "Comparisons" && strings.Contains(item, " ± "):
		s.add("comparisons", "", "", unescape(item))
		return
	case s.heading == setupHeading && listed:
		s.add("set-up", "", "", unescape(item))
		s.brief(item)
		return
	case s.heading == madeHeading && strings.HasPrefix(line, "    "):
		s.add("run", "", "command", strings.TrimSpace(line))
		return
	case s.heading == madeHeading && listed:
		name, said, _ := strings.Cut(item, ": ")
		s.add("run", "", strings.ToLower(name), unescape(said))
		return
	}
	s.out = append(s.out, line)
}

// brief puts the first sentence of an item of the set-up on the page if it is about the measure or
// the links, or the first item and short.
func (s *splitter) brief(item string) {
	const longest = 35 // words
	if at := sentence.FindStringIndex(item); at != nil {
		item = item[:at[0]+1]
	}
	if !s.setup && len(strings.Fields(item)) < longest || kept.MatchString(item) {
		s.out = append(s.out, "- "+item)
	}
	s.setup = true
}

// bySet reports whether the section goes to the file: by data set, or about training rows.
func (s *splitter) bySet() bool {
	heading := strings.ToLower(s.heading)
	return strings.Contains(heading, "by data set") || strings.HasSuffix(heading, "training rows")
}

// add adds a line, with as many cells as are there.
func (s *splitter) add(cells ...string) {
	s.rows = append(s.rows, append(cells, make([]string, columns-len(cells))...))
}

// A table stays on the page if it is short, or the first that is not too long.
const (
	longest = 27  // rows of a table that stays
	words   = 800 // its words
	fewer   = 250 // its words if rows are data sets and columns systems, or printed numbers
	second  = 10  // rows of a table after the first
	wide    = 600 // words of a table that keeps few columns
	before  = 60  // words of a table before a summary
)

func (s *splitter) table(lines []string) {
	head := Cells(lines[0])
	var body [][]string
	for _, line := range lines[2:] {
		body = append(body, Cells(line))
	}
	length := len(strings.Fields(strings.Join(lines, " ")))
	ofSets := head[0] == "column"
	records := head[len(head)-1] == "verdict"
	moved := len(body) > longest || length > words || (ofSets || records) && length > fewer ||
		s.kept && len(body) >= second || s.bySet() || s.stated && s.heading == "" && length > before
	switch {
	case s.heading == claimsHeading:
		for _, cells := range body {
			s.add("claims", cells[0], "", cells[2])
			s.rows[len(s.rows)-1][verdict] = cells[1]
			s.out = append(s.out, "- **"+cells[1]+"**: "+escape(strings.TrimSuffix(cells[0], ".")))
		}
		return
	case records:
		s.records(head, body)
		if moved {
			lines = summary(head, body)
		}
	default:
		s.matrix(head, body)
		if moved && !ofSets {
			return
		}
		if moved {
			lines = means(head, body)
		} else if length > wide {
			lines = fewColumns(lines)
		}
	}
	s.kept, s.out = true, append(s.out, lines...)
}

// fewColumns returns a table without the columns of training rows, and without measures that rank
// systems much as the balanced Rand index and the mean average precision do.
func fewColumns(lines []string) []string {
	names := strings.Split(lines[0], " | ")
	var out []string
	for _, line := range lines {
		var kept []string
		for j, cell := range strings.Split(line, " | ") {
			if !alike.MatchString(names[j]) {
				kept = append(kept, cell)
			}
		}
		out = append(out, strings.Join(kept, " | "))
	}
	return out
}

// records writes a table with one printed number a line.
func (s *splitter) records(head []string, body [][]string) {
	for _, cells := range body {
		line := make([]string, columns)
		line[table] = s.heading
		n := len(cells)
		at := n - 4 // of ours
		if head[n-3] == "difference" {
			at = n - 5
		}
		line[row] = cells[at-1]
		if at > 1 {
			line[column] = cells[0]
		} else if what, is := strings.CutSuffix(head[1], ", ours"); is {
			line[column] = what
		}
		line[value], line[spread], line[low], line[high] = quantity(cells[at])
		line[printed], line[printedSpread], _, _ = quantity(cells[at+1])
		line[units], line[verdict] = known(cells[n-2]), known(cells[n-1])
		s.rows = append(s.rows, line)
	}
}

// matrix writes a table with the same quantity in all rows of a column.
func (s *splitter) matrix(head []string, body [][]string) {
	name := s.heading
	if strings.Contains(head[0], " links") {
		name += ", " + head[0]
	}
	from := len(s.rows)
	seen := map[string]int{}
	for _, h := range head {
		seen[h]++
	}
	last := ""
	for j, h := range head {
		if seen[h] == 1 {
			last = h
		} else {
			head[j] = last + ", " + h
		}
	}
	for k, cells := range body {
		first := cells[0]
		start := 1
		if number(first) { // a table of numbers alone has numbered rows
			first, start = strconv.Itoa(k+1), 0
		}
		for j := start; j < len(cells); j++ {
			several := strings.Split(cells[j], " / ")
			for h, part := range several {
				line := make([]string, columns)
				line[table], line[row], line[column] = name, first, head[j]
				if len(several) > 1 && len(several) == len(s.halves) {
					line[column] += ", " + s.halves[h]
				}
				line[value], line[spread], line[low], line[high] = quantity(part)
				if line[value] != "" {
					s.rows = append(s.rows, line)
				}
			}
		}
	}
	if s.repeated(from) {
		for _, line := range s.rows[from:] {
			line[table] += " (2)"
		}
	}
}

// repeated reports whether lines from that one on have the table, row and column of another line.
func (s *splitter) repeated(from int) bool {
	seen := map[[3]string]bool{}
	for _, line := range s.rows[:from] {
		seen[[3]string(line[:value])] = true
	}
	return slices.ContainsFunc(s.rows[from:], func(line []string) bool {
		return seen[[3]string(line[:value])]
	})
}

// summary counts verdicts by system, with the means of ours and of the printed numbers where all
// have one unit. Times that are no worse stay in the file.
func summary(head []string, body [][]string) []string {
	full := head[len(head)-3] == "difference"
	name := func(cells []string) string { return cells[len(cells)-6] }
	if !full {
		after := func(cells []string) string { return cells[0][strings.LastIndex(cells[0], ": ")+1:] }
		before := func(cells []string) string { return cells[0][:strings.Index(cells[0]+", ", ", ")] }
		name = after
		if groups(body, before) < groups(body, after) {
			name = before
		}
	}
	out := []string{"| system | reproduced | better | worse |", "| --- | ---: | ---: | ---: |"}
	if full {
		out = []string{"| system | reproduced | better | worse | mean, ours | mean, paper |",
			"| --- | ---: | ---: | ---: | ---: | ---: |"}
	}
	var order []string
	counts, sums, decimals := map[string][4]int{}, map[string][2]float64{}, 0
	for _, cells := range body {
		n, group := len(cells), name(cells)
		k := slices.Index([]string{"reproduced", "better", "worse"}, cells[n-1])
		if k < 0 {
			continue
		}
		c := counts[group]
		if c[0] == 0 {
			order = append(order, group)
		}
		c[0]++
		c[1+k]++
		counts[group] = c
		if full {
			ours, _, _, _ := quantity(cells[n-5])
			paper, _, _, _ := quantity(cells[n-4])
			a, _ := strconv.ParseFloat(ours, 64) // a page of ours has numbers there
			b, _ := strconv.ParseFloat(paper, 64)
			sums[group] = [2]float64{sums[group][0] + a, sums[group][1] + b}
			_, fraction, _ := strings.Cut(ours, ".")
			decimals = max(decimals, len(fraction))
		}
	}
	for _, group := range order {
		c := counts[group]
		if ofTime.MatchString(group) && c[3] == 0 {
			continue
		}
		line := fmt.Sprintf("| %s | %d | %d | %d |", escape(strings.TrimSpace(group)), c[1], c[2], c[3])
		if full {
			line += fmt.Sprintf(" %.*f | %.*f |", decimals, sums[group][0]/float64(c[0]), decimals,
				sums[group][1]/float64(c[0]))
		}
		out = append(out, line)
	}
	return out
}

// means returns the means over the rows by system, for each of a few measures that end their names.
func means(head []string, body [][]string) []string {
	measure := func(cells []string) string { return cells[0][strings.LastIndex(cells[0], ", ")+1:] }
	const few = 3
	if groups(body, measure) > few {
		measure = func([]string) string { return "" }
	}
	var names []string
	sums := map[string][]float64{}
	decimals := 0
	for _, cells := range body {
		name := strings.TrimSpace(measure(cells))
		if sums[name] == nil {
			names, sums[name] = append(names, name), make([]float64, 2*len(cells))
		}
		for j, cell := range cells[1:] {
			text, _, _, _ := quantity(cell)
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				sums[name][2*j], sums[name][2*j+1] = sums[name][2*j]+v, sums[name][2*j+1]+1
				_, fraction, _ := strings.Cut(text, ".")
				decimals = max(decimals, len(fraction))
			}
		}
	}
	title := "| system | mean of " + strings.Join(names, " | mean of ") + " |"
	if len(names) == len(body) {
		title = strings.ReplaceAll(title, " mean of ", " ")
	}
	if len(names) == 1 {
		title = fmt.Sprintf("| system | mean over the %d rows of the CSV |", len(body))
	}
	out := []string{title,
		"| --- |" + strings.Repeat(" ---: |", len(names))}
	for j, system := range head[1:] {
		line := "| " + escape(system) + " |"
		for _, name := range names {
			line += fmt.Sprintf(" %.*f |", decimals, sums[name][2*j]/sums[name][2*j+1])
		}
		out = append(out, line)
	}
	return out
}

func groups(body [][]string, name func([]string) string) int {
	seen := map[string]bool{}
	for _, cells := range body {
		seen[name(cells)] = true
	}
	return len(seen)
}

// page returns the text without headings that have lost their content, and with a link below the
// first paragraph.
func (s *splitter) page(link string) string {
	var out []string
	linked := false
	for i, line := range s.out {
		if strings.HasPrefix(line, "## ") {
			rest := slices.IndexFunc(s.out[i+1:], func(l string) bool { return l != "" })
			if rest < 0 || strings.HasPrefix(s.out[i+1+rest], "## ") {
				continue
			}
		}
		if !linked && i > 2 && (line == "" || strings.HasPrefix(line, "## ")) {
			linked = true
			out = append(out, "", link, "")
		}
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// quantity takes "1.2 ± 0.1" and "1.2 [1.1, 1.3]" apart.
func quantity(cell string) (value, spread, low, high string) {
	value, spread, _ = strings.Cut(known(cell), " ± ")
	if at, in, is := strings.Cut(strings.TrimSuffix(value, "]"), " ["); is {
		value = at
		low, high, _ = strings.Cut(in, ", ")
	}
	return value, spread, low, high
}

// known returns "" for the dash that stands for no number.
func known(cell string) string {
	if cell == "-" {
		return ""
	}
	return cell
}

func number(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil
}

// Cells returns the cells of a line of a table, without escapes.
func Cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			cell.WriteString(line[i : i+2])
			i++
		case line[i] == '|':
			out = append(out, unescape(strings.TrimSpace(cell.String())))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(out, unescape(strings.TrimSpace(cell.String())))
}

func unescape(s string) string {
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(s, "$1")
}

func escape(s string) string {
	return regexp.MustCompile("[\\\\`*_\\[\\]<>|~&]").ReplaceAllString(s, `\$0`)
}

// NumbersName returns the name of the file of numbers of a page.
func NumbersName(page string) string {
	return cmp.Or(strings.TrimSuffix(page, filepath.Ext(page)), page) + ".csv"
}
