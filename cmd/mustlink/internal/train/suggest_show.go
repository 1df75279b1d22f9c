package train

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/label"
)

// sideBySide shows two rows of data for a person to compare.
type sideBySide struct {
	data    *dataset.Data
	columns []label.Column
}

// shownLetters is the number of letters of a cell that are shown.
const shownLetters = 200

func newSideBySide(d *dataset.Data) *sideBySide {
	return &sideBySide{data: d, columns: label.ColumnsOf(d)}
}

// write shows rows i and j.
func (s *sideBySide) write(w io.Writer, i, j int, name func(int) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\t%s\t%s\tdifference\t\n", name(i), name(j))
	if s.data.IDs != nil && s.data.IDs[i] != name(i) {
		fmt.Fprintf(t, "id\t%s\t%s\t\t\n", s.data.IDs[i], s.data.IDs[j])
	}
	all := s.columns
	if x, ok := s.data.Points.(*points.CSR); ok {
		all = s.sparse(x, i, j)
	}
	columns, left := label.Differing(all, i, j)
	for _, c := range columns {
		difference := ""
		if c.Number != nil {
			if d := c.Number(j) - c.Number(i); !math.IsNaN(d) {
				difference = fmt.Sprintf("%+.6g", d)
			}
		} else if c.Text(i) != c.Text(j) {
			difference = "other text"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", visible(c.Name), visible(c.Text(i)), visible(c.Text(j)), difference)
	}
	t.Flush() // an error of the terminal shows when the answer is read
	if left > 0 {
		fmt.Fprintf(w, "and %s with smaller differences\n", session.Plural(left, "feature"))
	}
}

// sparse returns the features that occur in row i or j: there may be two billion.
func (s *sideBySide) sparse(x *points.CSR, i, j int) (columns []label.Column) {
	both, numbers := x.Select([]int{i, j}).(*points.CSR).Compact()
	a, b := make([]float64, both.D), make([]float64, both.D)
	for row, to := range [][]float64{a, b} {
		columns, values := both.Row(row)
		for k, column := range columns {
			to[column] = values[k]
		}
	}
	for k, column := range numbers {
		name := strconv.Itoa(int(column))
		if int(column) < len(s.data.Features) {
			name = s.data.Features[column]
		}
		at := func(row int) float64 {
			if row == i {
				return a[k]
			}
			return b[k]
		}
		columns = append(columns, label.Column{Name: name, Number: at, Text: func(row int) string { return fmt.Sprintf("%.6g", at(row)) }})
	}
	return columns
}

// visible returns the beginning of a cell as a terminal can show it.
func visible(text string) string {
	switch {
	case text == "":
		return "(missing)"
	case len(text) > shownLetters:
		text = strings.ToValidUTF8(text[:shownLetters], "") + "..."
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return text
}
