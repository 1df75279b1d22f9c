package main

import (
	"encoding/csv"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
)

// results are the numbers of the files in docs/results, by the name of the file, and the table, row
// and column of the number.
type results map[string]map[[3]string]string

func readResults(t *testing.T) results {
	t.Helper()
	paths, err := filepath.Glob(docs + "results/*.csv")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d files of numbers, error %v", len(paths), err)
	}
	out := results{}
	for _, path := range paths {
		lines, err := csv.NewReader(strings.NewReader(readPage(t, path))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		numbers := map[[3]string]string{}
		for _, line := range lines[1:] {
			numbers[[3]string(line[:3])] = line[3]
			if len(line) > 4 && line[4] != "" {
				numbers[[3]string{line[0], line[1], line[2] + spread}] = line[4]
			}
		}
		out[strings.TrimSuffix(filepath.Base(path), ".csv")] = numbers
	}
	return out
}

// spread ends the name of the column of what follows ± in another one.
const spread = ", spread"

// number returns the number that a reference names: FILE; ROW; COLUMN or FILE; TABLE; ROW; COLUMN,
// the difference "A minus B" or the ratio "A divided by B" of two of them, or the mean over the
// rows, mean FILE; TABLE; COLUMN.
func (r results) number(reference string) (float64, bool) {
	if a, b, is := strings.Cut(reference, " divided by "); is {
		x, isX := r.number(a)
		y, isY := r.number(b)
		return x / y, isX && isY
	}
	if a, b, is := strings.Cut(reference, " minus "); is {
		x, isX := r.number(a)
		y, isY := r.number(b)
		return x - y, isX && isY
	}
	if of, is := strings.CutPrefix(reference, "mean "); is {
		return r.mean(strings.Split(of, "; "))
	}
	part := strings.Split(reference, "; ")
	if len(part) == 3 {
		part = []string{part[0], "", part[1], part[2]}
	}
	if len(part) != 4 {
		return 0, false
	}
	v, err := strconv.ParseFloat(r[part[0]][[3]string(part[1:])], 64)
	return v, err == nil
}

// mean returns the mean of a column over the rows of a table: FILE; TABLE; COLUMN.
func (r results) mean(part []string) (float64, bool) {
	sum, n := 0.0, 0
	for key, text := range r[part[0]] {
		v, err := strconv.ParseFloat(text, 64)
		if len(part) == 3 && key[0] == part[1] && key[2] == part[2] && err == nil {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n), n > 0
}

// shows reports whether a page may show v as text: rounded, with or without the zero before the
// point, and with commas between thousands.
func shows(text string, v float64) bool {
	text = strings.NewReplacer(",", "", "−", "-", "+", "").Replace(text)
	_, fraction, _ := strings.Cut(text, ".")
	shown, err := strconv.ParseFloat(text, 64)
	const slack = 1e-9 // of binary fractions
	return err == nil && math.Abs(shown-v) <= 0.5*math.Pow(10, -float64(len(fraction)))+slack
}

var (
	sources = regexp.MustCompile(`(?s)<!-- (values|table)(.*?)-->`)
	decimal = regexp.MustCompile(`(?:^|[^\w.-])([-−+]?0?\.\d{3,})\b`)
)

// faults returns what is wrong with the comments of a page that name the source of its numbers.
func (r results) faults(page string) []string {
	var out []string
	for _, at := range sources.FindAllStringSubmatchIndex(page, -1) {
		before := strings.TrimRight(page[:at[0]], "\n")
		block := sources.ReplaceAllString(before[strings.LastIndex(before, "\n\n")+1:], "")
		kind := page[at[2]:at[3]]
		first, rest, _ := strings.Cut(page[at[4]:at[5]], "\n")
		lines, from := strings.Split(strings.TrimSpace(rest), "\n"), strings.TrimSpace(first)
		if kind == "table" {
			out = append(out, r.tableFaults(block, from, lines)...)
			continue
		}
		for _, line := range lines {
			text, reference, _ := strings.Cut(line, " ")
			if from != "" {
				reference = from + "; " + strings.NewReplacer(" minus ", " minus "+from+"; ", " divided by ",
					" divided by "+from+"; ").Replace(reference)
			}
			v, is := r.number(reference)
			switch {
			case !is:
				out = append(out, "no number "+reference)
			case !shows(text, v):
				out = append(out, text+" is not "+strconv.FormatFloat(v, 'g', -1, 64)+": "+reference)
			case !strings.Contains(block, text):
				out = append(out, text+" is not in the paragraph above: "+reference)
			}
		}
	}
	return out
}

// tableFaults compares columns of a table with columns of a file: each line of columns is
// "COLUMN OF THE PAGE = COLUMN OF THE FILE", or one line with * is for all columns but the first,
// and no line is "* = *".
func (r results) tableFaults(block, source string, columns []string) []string {
	var out []string
	cells, compared := tables(block), 0
	header, _, _ := strings.Cut(strings.TrimSpace(block), "\n")
	first, _, _ := strings.Cut(strings.Trim(header, "| "), " |")
	for _, pair := range columns {
		if pair == "" {
			pair = "* = *"
		}
		shown, of, _ := strings.Cut(pair, " = ")
		for key, cell := range cells {
			if shown != key[1] && (shown != "*" || key[1] == first) || strings.HasPrefix(key[0], "---") {
				continue
			}
			for k, part := range strings.Split(cell, " ± ") {
				reference := source + "; " + strings.Trim(key[0], "`") + "; " +
					strings.Replace(of, "*", key[1], 1) + []string{"", spread}[k]
				if v, is := r.number(reference); !is || !shows(part, v) {
					out = append(out, key[0]+", "+shown+": "+part+" is not "+
						strconv.FormatFloat(v, 'g', -1, 64)+": "+reference)
				}
			}
			compared++
		}
	}
	if compared == 0 {
		out = append(out, "no column of the table above is compared with "+source)
	}
	return out
}

// bare returns the numbers with three decimals in the paragraphs of a page that no comment names.
func bare(page string) []string {
	var out []string
	for block := range strings.SplitSeq(page, "\n\n") {
		if strings.HasPrefix(block, "    ") || strings.HasPrefix(block, "|") ||
			strings.Contains(block, "```") {
			continue
		}
		named := sources.FindString(block)
		for _, found := range decimal.FindAllStringSubmatch(sources.ReplaceAllString(block, ""), -1) {
			if !strings.Contains(named, found[1]+" ") {
				out = append(out, found[1])
			}
		}
	}
	return out
}

// TestValues: numbers of pages are those of the files of results that they name. In some pages all
// numbers with three decimals name their source.
func TestValues(t *testing.T) {
	r := readResults(t)
	complete := []string{"choosing.md"}
	compared := 0
	visit := func(path string) {
		page := readPage(t, path)
		compared += len(sources.FindAllString(page, -1))
		for _, fault := range r.faults(page) {
			t.Errorf("%s: %s", path, fault)
		}
		if slices.Contains(complete, filepath.Base(path)) {
			for _, number := range bare(page) {
				t.Errorf("%s: %s names no source: want a comment <!-- values", path, number)
			}
		}
	}
	visit(docs + "../README.md")
	err := filepath.WalkDir(docs, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			visit(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if compared < 5 {
		t.Errorf("%d comments name sources: want more", compared)
	}
}

// TestValuesRefuse: the check finds another number, an unknown one, a number that the text lacks,
// and one without a source.
func TestValuesRefuse(t *testing.T) {
	r := results{"c": {{"", "a", "x"}: "0.814", {"T", "a", "x"}: "12345", {"", "b", "x"}: "0.8",
		{"", "a", "x, spread"}: "0.02"}}
	for page, faults := range map[string]int{
		"It is .814.\n<!-- values\n.814 c; a; x\n-->\n":                                    0,
		"It is .81 and 12,345.\n<!-- values\n.81 c; a; x\n12,345 c; T; a; x\n-->\n":        0,
		"It is .014.\n<!-- values\n.014 c; a; x minus c; b; x\n-->\n":                      0,
		"It is .014.\n<!-- values c\n.014 a; x minus b; x\n-->\n":                          0,
		"It is 1.02.\n<!-- values c\n1.02 a; x divided by b; x\n-->\n":                     0,
		"| m | here |\n| --- | --- |\n| a | .814 ± .02 |\n\n<!-- table c\nhere = x\n-->\n": 0,
		"| m | here |\n| --- | --- |\n| a | .814 ± .03 |\n\n<!-- table c\nhere = x\n-->\n": 1,
		"It is .815.\n<!-- values\n.815 c; a; x\n-->\n":                                    1,
		"It is .814.\n\nNo.\n<!-- values\n.814 c; a; x\n-->\n":                             1,
		"It is .814.\n<!-- values\n.814 c; z; x\n-->\n":                                    1,
		"| m | here |\n| --- | --- |\n| `a` | .814 |\n\n<!-- table c\nhere = x\n-->\n":     0,
		"| m | here |\n| --- | --- |\n| a | .813 |\n\n<!-- table c\nhere = x\n-->\n":       1,
		"| m | here |\n| --- | --- |\n| a | .814 |\n\n<!-- table c\nthere = x\n-->\n":      1,
		"| m | x |\n| --- | --- |\n| a | .814 |\n| b | .8 |\n\n<!-- table c -->\n":         0,
		"| m | x |\n| --- | --- |\n| a | .814 |\n| b | .9 |\n\n<!-- table c -->\n":         1,
		"| m | x | y |\n| --- | --- | --- |\n| a | .814 | 1 |\n\n<!-- table c -->\n":       1,
		"| m | x, |\n| --- | --- |\n| a | .02 |\n\n<!-- table c\n* = * spread\n-->\n":      0,
	} {
		if found := r.faults(page); len(found) != faults {
			t.Errorf("%q: faults %q, want %d", page, found, faults)
		}
	}
	if found := bare("No .814 and -.123, v0.123.4.\n<!-- values\n.814 c; a; x\n-->\n\n    .555\n"); len(found) != 1 {
		t.Errorf("numbers without a source: %q", found)
	}
}

// TestDefaults: the defaults that files of results list are those of the catalog, or the page says
// which has changed since.
func TestDefaults(t *testing.T) {
	now := map[[2]string]string{}
	for _, m := range catalog.Methods() {
		now[[2]string{m.Name, "kernel"}] = m.DefaultKernel
		for _, p := range m.Parameters {
			now[[2]string{m.Name, p.Name}] = p.Default
		}
	}
	listed := 0
	for name, numbers := range readResults(t) {
		for key, then := range numbers {
			if key[0] != "defaults" {
				continue
			}
			listed++
			page := readPage(t, docs+"results/"+name+".md")
			said := key[1] + ": " + key[2] + " " + then + " then, "
			if now[[2]string{key[1], key[2]}] != then && !strings.Contains(page, said) {
				t.Errorf("docs/results/%s.md does not say %q%q now", name, said,
					now[[2]string{key[1], key[2]}])
			}
		}
	}
	if listed < 300 {
		t.Errorf("%d defaults are listed", listed)
	}
}
