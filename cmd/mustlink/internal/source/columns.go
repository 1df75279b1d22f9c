package source

import (
	"fmt"
	"io"
	"strconv"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
)

// Column is a column, or several alike, in the JSON of a command.
type Column struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Missing  int    `json:"missing"`
	Distinct int    `json:"distinct"`
	Range    string `json:"range"`
	Example  string `json:"example"`
	Outputs  int    `json:"outputs"`
	Does     string `json:"does"`
}

// Columns returns the summary of a table for JSON.
func Columns(summary []mustlink.Column) []Column {
	var out []Column
	for _, c := range summary {
		out = append(out, Column{c.Name, string(c.Kind), c.Missing, c.Distinct, c.Range(), c.Example, c.Outputs, c.Does})
	}
	return out
}

// WriteColumns writes a line for each column: what it is, and what is done with it. Columns in a
// row that are alike share a line.
func WriteColumns(w io.Writer, columns []Column) {
	fmt.Fprintln(w, "column\tkind\tmissing\tdistinct\trange\texample\tpreparation")
	for lo, hi := 0, 0; lo < len(columns); lo = hi {
		for hi = lo + 1; hi < len(columns) && alike(&columns[lo], &columns[hi]); hi++ {
		}
		if hi-lo < 4 {
			hi = lo + 1
		}
		writeColumn(w, columns[lo:hi])
	}
}

// alike reports whether two columns can share a line.
func alike(a, b *Column) bool {
	return a.Kind == "number" && a.Kind == b.Kind && a.Does == b.Does && a.Missing == 0 && b.Missing == 0
}

// writeColumn writes the line of one column, or of several alike.
func writeColumn(w io.Writer, some []Column) {
	c := some[0]
	if len(some) > 1 {
		c = Column{Name: fmt.Sprintf("%s to %s (%d)", c.Name, some[len(some)-1].Name, len(some)), Kind: c.Kind, Does: c.Does}
		for _, other := range some {
			c.Distinct = max(c.Distinct, other.Distinct)
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\t%s\n", session.Printable(c.Name), c.Kind, c.Missing, c.Distinct,
		session.NameOr(c.Range, "-"), session.NameOr(clip(session.Printable(c.Example)), "-"), session.NameOr(session.Printable(c.Does), "-"))
}

// clip shortens a long text.
func clip(text string) string {
	const most = 24
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// scalesApart says how much the scales of complete numbers differ if nothing scales them: "" unless
// the largest standard deviation is more than ten times the smallest.
func scalesApart(d *dataset.Data) (string, error) {
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return "", nil
	}
	scaling, _, err := prepare.Standardize(x)
	if err != nil {
		return "", err
	}
	low, high := -1, -1
	for j, s := range scaling.Scale {
		if s > 0 && (low < 0 || s < scaling.Scale[low]) {
			low = j
		}
		if s > 0 && (high < 0 || s > scaling.Scale[high]) {
			high = j
		}
	}
	if low < 0 || scaling.Scale[high] <= 10*scaling.Scale[low] {
		return "", nil
	}
	return fmt.Sprintf("the scales of column %s and column %s differ by a factor of %.0f, and nothing scales them: want --standardize",
		columnName(d, high), columnName(d, low), scaling.Scale[high]/scaling.Scale[low]), nil
}

// columnName returns the name of a column in quotes, or its number.
func columnName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return strconv.Quote(d.Features[j])
	}
	return strconv.Itoa(j)
}
