package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Dialect is one of SQL.
type Dialect string

// Postgres is the dialect of PostgreSQL. SQLite and DuckDB understand these expressions too.
const Postgres Dialect = "postgres"

// Dialects returns the dialects.
func Dialects() []string { return []string{string(Postgres)} }

// SQL writes a linear map as an SQL statement with an expression for each coordinate, y0, y1, and
// so on, over the columns of a table called points. A cell is missing if it is NULL, NaN, or one of
// the texts that Embed takes for a missing cell; white space around texts does not count.
//
// A model whose map is not linear, or whose columns have no names, is a *fault.ParamError; an
// unknown dialect is too. Cost: O(d Dim) for d features.
func SQL(w io.Writer, m *mustlink.Model, d Dialect, limits Limits) error {
	if d != Postgres {
		return fault.Unknown("dialect", string(d), Dialects())
	}
	// some text for each number
	l, err := newLinear(m, limits, func(d, dim float64) float64 { return 16 * d * dim })
	if err != nil {
		return err
	}
	if l.Features == nil {
		return &fault.ParamError{Param: "columns of the model", Value: "without names",
			Want: "names: fit it to a file with a header"}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "-- Coordinates in which Euclidean distance is the distance learned by %s (mustlink "+
		"%s).\n", l.Model.Method(), strings.ReplaceAll(l.version(), "\n", " "))
	fmt.Fprintf(out, "-- Replace points by the name of your table.\nWITH mustlink AS (SELECT %s AS "+
		"mustlink_space),\ncells AS MATERIALIZED (SELECT *", whiteSpace)
	for j, r := range l.rules.Columns {
		if r.Width == 0 {
			continue // left out
		}
		fmt.Fprintf(out, ",\n  %s AS %s", cellOf(r, !l.gapless()), cellName(j))
	}
	out.WriteString("\n  FROM points, mustlink)\nSELECT\n")
	for c := range l.transform.Rows {
		l.coordinate(out, c)
		if c+1 < l.transform.Rows {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("FROM cells;\n")
	return out.Flush()
}

// cellName is the name of a column of clean cells.
func cellName(column int) string { return fmt.Sprintf("mustlink_%d", column) }

// cellOf returns the expression of the cells of a column: a number, a text without white space
// around it, or NULL for a missing one, if there may be some.
func cellOf(r prepare.Rule, gaps bool) string {
	column := identifier(r.Name)
	cell, text := "CAST("+column+" AS double precision)", "TRIM(CAST("+column+" AS text), mustlink_space)"
	if takesTexts(r) {
		cell = text
	}
	gaps = gaps && len(r.Gaps) > 0
	switch {
	case r.Kind == prepare.Boolean && gaps && !takesTexts(r): // a word is no number
		return booleanCell(r, cell, fmt.Sprintf("WHEN %s IN (%s) THEN NULL ", text, literals(r.Gaps, false)))
	case r.Kind == prepare.Boolean:
		return booleanCell(r, cell, "")
	case !gaps:
		return cell
	}
	return fmt.Sprintf("CASE WHEN %s NOT IN (%s) THEN %s END", text, literals(r.Gaps, false), cell)
}

// booleanCell returns 0 or 1 for one of two texts or numbers, but for the missing cells before.
func booleanCell(r prepare.Rule, cell, missing string) string {
	var of [2]string
	for k, word := range r.Pair {
		if of[k] = literals([]string{word}, true); takesTexts(r) {
			of[k] = literals(spellings(word, notASCII), false)
		}
	}
	if takesTexts(r) {
		cell = "LOWER(" + cell + ")"
	}
	return double(fmt.Sprintf("CASE %sWHEN %s IN (%s) THEN 0 WHEN %s IN (%s) THEN 1 END", missing, cell,
		of[0], cell, of[1]))
}

// whiteSpace is a constant of the letters that are white space in Unicode.
var whiteSpace = func() string {
	var letters []rune
	for _, r := range unicode.White_Space.R16 {
		for c := r.Lo; c <= r.Hi; c += r.Stride {
			letters = append(letters, rune(c))
		}
	}
	return literal(string(letters), false)
}()

// coordinate writes an expression.
func (l *linear) coordinate(out *bufio.Writer, c int) {
	fmt.Fprintf(out, "  %s", decimal(0-l.offset[c])) // 0, not -0
	for j, f := range l.features {
		if v := l.transform.At(c, j); v != 0 {
			fmt.Fprintf(out, "\n    + %s * (%s - %s)", bracketed(v), f.sql(), bracketed(l.center[j]))
		}
	}
	fmt.Fprintf(out, " AS y%d", c)
}

// bracketed writes a number, in parentheses if it is negative: two signs begin a comment.
func bracketed(v float64) string {
	text := decimal(v)
	if strings.HasPrefix(text, "-") {
		return "(" + text + ")"
	}
	return text
}

// sql returns the expression of a feature, in double precision.
func (f feature) sql() string {
	switch f.Kind {
	case kindIndicator:
		return double("CASE WHEN " + f.cell + " IS NULL THEN 1 ELSE 0 END")
	case kindCategory, kindOther:
		return f.oneHot()
	}
	if f.Missing == nil {
		return f.cell
	}
	return "COALESCE(" + f.cell + ", " + decimal(*f.Missing) + ")"
}

// oneHot returns the expression of a column of zeros and ones.
func (f feature) oneHot() string {
	found, rest := 1, 0
	if f.Kind == kindOther {
		found, rest = 0, 1
	}
	text := "CASE"
	if f.Missing != nil {
		text += fmt.Sprintf(" WHEN %s IS NULL THEN %s", f.cell, decimal(*f.Missing))
	}
	if len(f.Texts) > 0 {
		text += fmt.Sprintf(" WHEN %s IN (%s) THEN %d", f.cell, literals(f.Texts, f.numbers), found)
	}
	if text == "CASE" {
		return double(strconv.Itoa(rest))
	}
	return double(text + fmt.Sprintf(" ELSE %d END", rest))
}

// literals returns texts of a column as constants: numbers if its cells are numbers.
func literals(texts []string, numbers bool) string {
	list := make([]string, len(texts))
	for k, text := range texts {
		list[k] = literal(text, numbers)
	}
	return strings.Join(list, ", ")
}

func literal(text string, number bool) string {
	if v, err := strconv.ParseFloat(text, 64); number && err == nil {
		return decimal(v)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func double(expression string) string { return "CAST(" + expression + " AS double precision)" }

// identifier quotes the name of a column.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
