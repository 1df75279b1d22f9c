package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/bench/statistics"
)

// duel is how one row of a table compares with another over the columns that have values.
type duel struct {
	columns      int
	ahead, equal []string // columns with certainty by the paired Wilcoxon test, and those without
	behind       []string
}

// duel compares two rows in the columns that keep accepts, or in all of them if it is nil.
func (r *Result) duel(own, other string, keep func(column string) bool) duel {
	a, b := r.Table.row(own), r.Table.row(other)
	var d duel
	for j, column := range r.Table.Columns {
		if r.Table.absent(j) || keep != nil && !keep(column) {
			continue
		}
		d.columns++
		_, p, err := statistics.Wilcoxon(r.column(a, j), r.column(b, j))
		gain := float64(r.Table.Good) * (r.Ours[a][j].Mean - r.Ours[b][j].Mean)
		switch {
		case err != nil || !(p < certainty): // such as too few repetitions
			d.equal = append(d.equal, column)
		case gain > 0:
			d.ahead = append(d.ahead, column)
		default:
			d.behind = append(d.behind, column)
		}
	}
	return d
}

// trailing names the columns with a suffix in which the mean of a row is worse than that of
// another, with a few words before them; "" if there are none.
func (r *Result) trailing(own, other int, suffix string) string {
	var names []string
	for j, column := range r.Table.Columns {
		name, ok := strings.CutSuffix(column, suffix)
		if ok && float64(r.Table.Good)*(r.Ours[own][j].Mean-r.Ours[other][j].Mean) < 0 {
			names = append(names, strings.ReplaceAll(name, ", ", " "))
		}
	}
	if names == nil {
		return ""
	}
	return ", behind on average on " + strings.Join(names, ", ")
}

// row returns the number of a row, which exists.
func (t Table) row(name string) int {
	return slices.IndexFunc(t.Rows, func(row Row) bool { return row.Name == name })
}

// String returns on how many columns the row is certainly ahead and behind, and on which.
func (d duel) String() string {
	text := fmt.Sprintf("certainly ahead on %d of %d", len(d.ahead), d.columns) +
		named(d.ahead, slices.Concat(d.equal, d.behind))
	if len(d.behind) > 0 {
		text += fmt.Sprintf(", certainly behind on %d", len(d.behind)) +
			named(d.behind, slices.Concat(d.ahead, d.equal))
	}
	return text
}

// named names some columns in brackets, or the others if these are fewer; none if some are all or
// none.
func named(some, others []string) string {
	mark, list := " (", some
	if len(others) < len(some) {
		mark, list = " (not on ", others
	}
	if len(list) == 0 {
		return ""
	}
	names := slices.Clone(list)
	for k, name := range names {
		names[k] = strings.ReplaceAll(name, ", ", " ")
	}
	return mark + strings.Join(names, ", ") + ")"
}

// better returns the verdict on a claim that the row is ahead.
func (d duel) better() Verdict {
	switch {
	case len(d.behind) == 0 && 2*len(d.ahead) > d.columns:
		return Reproduced
	case len(d.ahead) > len(d.behind):
		return Mixed
	}
	return Worse
}

// comparable returns the verdict on a claim that the row is at least as good.
func (d duel) comparable() Verdict {
	switch {
	case len(d.behind) == 0:
		return Reproduced
	case 2*len(d.behind) < d.columns:
		return Mixed
	}
	return Worse
}

// against tests a claim about a row against several others: the verdict is the common one, or
// Mixed.
func (r *Result) against(text, own string, others []string, keep func(string) bool,
	verdict func(duel) Verdict) Claim {
	c := Claim{Text: text}
	var parts []string
	for k, other := range others {
		d := r.duel(own, other, keep)
		parts = append(parts, other+": "+d.String())
		if v := verdict(d); k == 0 {
			c.Verdict = v
		} else if v != c.Verdict {
			c.Verdict = Mixed
		}
	}
	c.Detail = own + " against " + strings.Join(parts, "; ")
	return c
}
