package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// Dialect is one of SQL.
type Dialect string

// Postgres is the dialect of PostgreSQL. SQLite and DuckDB understand these expressions too.
const Postgres Dialect = "postgres"

// Dialects returns the dialects.
func Dialects() []string { return []string{string(Postgres)} }

// SQL writes a linear map as an SQL statement with an expression for each coordinate, y0, y1, and
// so on, over the columns of a table called points. NULL is a missing cell.
//
// A model whose map is not linear, or whose columns have no names, is a *fault.ParamError; an
// unknown dialect is too. Cost: O(d Dim) for d features.
func SQL(w io.Writer, m *mustlink.Model, d Dialect, limits Limits) error {
	if d != Postgres {
		return fault.Unknown("dialect", string(d), Dialects())
	}
	l, err := newLinear(m, limits, func(d, dim float64) float64 { return 16 * d * dim }) // some text for each number
	if err != nil {
		return err
	}
	if l.Features == nil {
		return &fault.ParamError{Param: "columns of the model", Value: "without names", Want: "names: fit it to a file with a header"}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "-- Coordinates in which Euclidean distance is the distance learned by %s (mustlink %s).\n", l.Model.Method(), strings.ReplaceAll(l.version(), "\n", " "))
	out.WriteString("-- Replace points by the name of your table.\nSELECT\n")
	for c := range l.transform.Rows {
		l.coordinate(out, c)
		if c+1 < l.transform.Rows {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("FROM points;\n")
	return out.Flush()
}

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
	column := identifier(f.Column)
	number := "CAST(" + column + " AS double precision)"
	switch f.Kind {
	case kindIndicator:
		return double("CASE WHEN " + column + " IS NULL THEN 1 ELSE 0 END")
	case kindBoolean:
		if f.numbers {
			number = double(fmt.Sprintf("CASE %s WHEN %s THEN 0 WHEN %s THEN 1 END", number, f.literal(f.Texts[0]), f.literal(f.Texts[1])))
		} else {
			number = double(fmt.Sprintf("CASE LOWER(TRIM(CAST(%s AS text))) WHEN %s THEN 0 WHEN %s THEN 1 END", column, f.literal(f.Texts[0]), f.literal(f.Texts[1])))
		}
	case kindCategory, kindOther:
		return f.oneHot(column, number)
	}
	if f.Missing == nil {
		return number
	}
	return "COALESCE(" + number + ", " + decimal(*f.Missing) + ")"
}

// oneHot returns the expression of a column of zeros and ones.
func (f feature) oneHot(column, number string) string {
	found, rest := 1, 0
	if f.Kind == kindOther {
		found, rest = 0, 1
	}
	text := "CASE"
	if f.Missing != nil {
		text += fmt.Sprintf(" WHEN %s IS NULL THEN %s", column, decimal(*f.Missing))
	}
	if f.numbers {
		column = number
	}
	var list []string
	for _, level := range f.Texts {
		list = append(list, f.literal(level))
	}
	if len(list) > 0 {
		text += fmt.Sprintf(" WHEN %s IN (%s) THEN %d", column, strings.Join(list, ", "), found)
	}
	if text == "CASE" {
		return double(strconv.Itoa(rest))
	}
	return double(text + fmt.Sprintf(" ELSE %d END", rest))
}

// literal returns a text of a column as a constant: a number if its cells are numbers.
func (f feature) literal(text string) string {
	if v, err := strconv.ParseFloat(text, 64); f.numbers && err == nil {
		return decimal(v)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func double(expression string) string { return "CAST(" + expression + " AS double precision)" }

// identifier quotes the name of a column.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
