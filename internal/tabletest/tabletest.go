// Package tabletest makes tables as people have them, for tests: with gaps, categories, dates,
// words for booleans, and other separators than commas.
package tabletest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf16"
)

// Table is a file, and what a reader should find in it.
type Table struct {
	Name    string   // of the file: "customers.csv"
	Content []byte   // of the file
	Flags   []string // of the command, besides --label segment
	Kinds   []Kind   // of the columns of Cells
	Header  []string // names of the columns, without the label
	Cells   [][]string
	Labels  []string // the column segment: the hidden group of each row
	Decimal string   // the decimal mark
}

// Kind is what a preparation should make of a column.
type Kind string

// The kinds. A date has its format in package time's notation.
const (
	Number   Kind = "number"
	Category Kind = "category"
	Boolean  Kind = "boolean"
	Left     Kind = "left out"
	Day      Kind = "2006-01-02"
	German   Kind = "02.01.2006"
	American Kind = "01/02/2006"
	Moment   Kind = "2006-01-02T15:04:05Z"
)

// Label is the name of the column with the hidden groups.
const Label = "segment"

// rows is the number of rows of each table, in three groups.
const rows = 300

// column makes the cells of a column.
type column struct {
	name string
	kind Kind
	cell func(r *rand.Rand, row, group int) string
}

// Tables returns twelve tables. Their numbers and categories depend on a hidden group of each row.
func Tables(seed uint64) []Table {
	made := []Table{
		table(seed, "customers.csv", ",", ".", key("customer_id"), names(), dates("joined", Day),
			level("country", "DE", "FR", "NL", "US"), plan(), number("income", 9000, .05, ""),
			number("age", 6, 0, ""), words("active", "yes", "no")),
		table(seed, "kunden.csv", ";", ",", key("Nr"), dates("seit", German), number("Umsatz", 700, .1, ""),
			number("Alter", 6, 0, ""), plan()),
		table(seed, "assay.tsv", "\t", ".", number("dose", .01, 0, ""), number("response", 3, .2, "NA"),
			level("lab", "A", "B"), plan()),
		table(seed, "bars.csv", "|", ".", plan(), number("x", 1, 0, ""), number("y", 40, 0, "")),
		table(seed, "index.csv", ",", ".", index(), number("x", 1, 0, ""), number("y", 400, .02, ""), plan()),
		table(seed, "cities.csv", ",", ".", city(70), number("rent", 300, 0, ""),
			number("rooms", 1, .1, "null")),
		table(seed, "answers.csv", ",", ".", words("q1", "yes", "no"), words("q2", "true", "false"),
			words("q3", "Y", "N"), number("score", 5, 0, ""), number("minutes", 80, 0, "")),
		table(seed, "markers.csv", ",", ".", number("a", 1, .2, "?"), number("b", 20, .3, "N/A"),
			number("c", 300, .1, "NaN"), plan()),
		table(seed, "gaps.csv", ",", ".", always("empty", Left, ""), always("unit", Left, "kg"),
			number("weight", 8, .3, ""), number("height", .2, .3, ""), plan()),
		table(seed, "times.csv", ",", ".", dates("seen", Moment), dates("due", American),
			number("value", 12, 0, ""), plan()),
		table(seed, "wide.csv", ",", ".", wide(60)...),
		table(seed, "codes.csv", ",", ".", code(), number("x", 1, 0, ""), number("y", 50, .1, "")),
	}
	made[11].Flags = []string{"--type", "code=category"}
	made[11].Content = sixteen(made[11].Content)
	return made
}

// table makes the cells and writes them, with the hidden group as the last column.
func table(seed uint64, name, separator, decimal string, columns ...column) Table {
	t := Table{Name: name, Decimal: decimal}
	r := rand.New(rand.NewPCG(seed, uint64(len(name))))
	var text strings.Builder
	for _, c := range columns {
		t.Header, t.Kinds = append(t.Header, c.name), append(t.Kinds, c.kind)
		text.WriteString(c.name + separator)
	}
	text.WriteString(Label + "\n")
	for i := range rows {
		group := r.IntN(3)
		var cells []string
		for _, c := range columns {
			cell := c.cell(r, i, group)
			if c.kind == Number {
				cell = strings.Replace(cell, ".", decimal, 1)
			}
			cells = append(cells, cell)
			if strings.Contains(cell, separator) {
				cell = `"` + cell + `"`
			}
			text.WriteString(cell + separator)
		}
		label := string(rune('a' + group))
		text.WriteString(label + "\n")
		t.Cells, t.Labels = append(t.Cells, cells), append(t.Labels, label)
	}
	t.Content = []byte(text.String())
	return t
}

// number has values of the given spread around that of their group; a share of them is missing, as
// the marker.
func number(name string, spread, missing float64, marker string) column {
	return column{name, Number, func(r *rand.Rand, _, group int) string {
		v := spread * (10 + 3*float64(group) + r.NormFloat64())
		if r.Float64() < missing {
			return marker
		}
		return fmt.Sprintf("%.3f", v)
	}}
}

func level(name string, levels ...string) column {
	return column{name, Category, func(r *rand.Rand, _, _ int) string { return levels[r.IntN(len(levels))] }}
}

// plan is a category that the group decides in three of four rows, with a few gaps.
func plan() column {
	return column{"plan", Category, func(r *rand.Rand, _, group int) string {
		switch p := r.Float64(); {
		case p < .05:
			return ""
		case p < .25:
			group = r.IntN(3)
		}
		return []string{"basic", "gold", "pro"}[group]
	}}
}

// city has many levels, most of them rare.
func city(levels int) column {
	return column{"city", Category, func(r *rand.Rand, row, _ int) string {
		k := row % levels // so that all occur
		if row >= levels {
			k = int(float64(levels) * r.Float64() * r.Float64() * r.Float64())
		}
		return fmt.Sprintf("city %02d", k)
	}}
}

func words(name, yes, no string) column {
	return column{name, Boolean, func(r *rand.Rand, _, group int) string {
		if r.Float64() < .2+.3*float64(group) {
			return yes
		}
		return no
	}}
}

func dates(name string, format Kind) column {
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	return column{name, format, func(r *rand.Rand, _, group int) string {
		return begin.Add(time.Duration(group*200*24*3600+r.IntN(90*24*3600)) *
			time.Second).Format(string(format))
	}}
}

func key(name string) column {
	return column{name, Left, func(_ *rand.Rand, row, _ int) string { return fmt.Sprintf("C%04d", row) }}
}

func names() column {
	return column{"name", Left, func(_ *rand.Rand, row, _ int) string {
		return fmt.Sprintf("Smith, John %d", row)
	}}
}

// index is a column without a name that counts the rows.
func index() column {
	return column{"", Left, func(_ *rand.Rand, row, _ int) string { return fmt.Sprint(row) }}
}

func always(name string, kind Kind, cell string) column {
	return column{name, kind, func(*rand.Rand, int, int) string { return cell }}
}

// code has numbers that stand for something.
func code() column {
	return column{"code", Category, func(r *rand.Rand, _, group int) string {
		return fmt.Sprint(100 + 10*group + r.IntN(2))
	}}
}

// wide has columns of two units.
func wide(count int) (list []column) {
	for j := range count {
		list = append(list, number(fmt.Sprintf("v%02d", j), []float64{.1, 100}[j%2], 0, ""))
	}
	return list
}

// sixteen returns a text as UTF-16 with a byte order mark.
func sixteen(text []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}
