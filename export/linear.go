package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// linear is a model as the map y = Transform (f - Center) - Offset of features f, in the units of
// the columns that they are made of.
type linear struct {
	*source
	features       []feature
	transform      blas.Matrix // Dim x features
	center, offset []float64
}

// The kinds of features.
const (
	kindNumber    = "number"    // the column
	kindBoolean   = "boolean"   // 0 for the first of Texts and 1 for the second; other texts are missing
	kindCategory  = "category"  // 1 for the texts or numbers in Texts, else 0
	kindOther     = "other"     // 0 for the texts or numbers in Texts, else 1
	kindIndicator = "indicator" // 1 for a missing cell, else 0
)

// feature is how a number is made of a column of a table.
type feature struct {
	Name    string   `json:"name"`
	Column  string   `json:"column"`
	Kind    string   `json:"kind"`
	Texts   []string `json:"texts,omitempty"`
	Missing *float64 `json:"missing,omitempty"`     // for a missing cell; nil if there must be none
	Present []string `json:"not_missing,omitempty"` // texts of cells that are missing in other columns

	numbers bool   // the cells of the column are numbers, also where Texts has them as texts
	cell    string // the name of the clean cells in SQL
}

// newLinear returns the linear map of a model. A model whose map is not linear is a
// *fault.ParamError; one whose matrices exceed the limits, a *fault.MemoryError.
func newLinear(m *mustlink.Model, limits Limits, matrices func(d, dim float64) float64) (*linear, error) {
	s, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if !isLinear(s.formula) || s.rules.Terms != nil {
		want := "one with a linear map, such as itml or rca without a kernel: export others as .onnx"
		if hasUnit(s.formula) {
			want = "one with a linear map, which coordinates at unit length are not: export it as .onnx"
		}
		return nil, &fault.ParamError{Param: "method of the model", Value: s.Model.Method(), Want: want}
	}
	l := &linear{source: s}
	for j, r := range s.rules.Columns {
		l.features = append(l.features, s.featuresOf(r, cellName(j))...)
	}
	d, dim := float64(len(l.features)), float64(s.formula.Dim())
	if err := limits.check(fmt.Sprintf("a linear map of %.0f features to %.0f coordinates", d, dim),
		8*(elements(s.formula)+matrices(d, dim)), math.Inf(1)); err != nil {
		return nil, err
	}
	var mean []float64
	l.transform, mean, l.offset = affine(s.formula)
	l.unscale(mean)
	return l, finite(l.transform.Data, l.center, l.offset)
}

// finite returns an error for numbers that are not.
func finite(lists ...[]float64) error {
	for _, list := range lists {
		if points.FirstNotFinite(list) >= 0 {
			return fault.Data("", "the linear map in the units of the columns is not representable: "+
				"want a fit on scaled features")
		}
	}
	return nil
}

// isLinear reports whether a map is linear: kernels are.
func isLinear(m formula.Map) bool {
	for part := range formula.All(m) {
		switch part := part.(type) {
		case *formula.Linear, *formula.Chain, *formula.Sum:
		case *formula.Expansion:
			if !part.Kernel.IsLinear() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// hasUnit reports whether a map scales vectors to unit length.
func hasUnit(m formula.Map) bool {
	for part := range formula.All(m) {
		if _, is := part.(*formula.Unit); is {
			return true
		}
	}
	return false
}

// affine returns a linear map as w (x - mean) - offset.
func affine(m formula.Map) (w blas.Matrix, mean, offset []float64) {
	switch m := m.(type) {
	case *formula.Linear:
		return m.W.Clone(), slices.Clone(m.Mean), make([]float64, m.W.Rows)
	case *formula.Expansion:
		w = transposedProduct(m.V, kernel.Matrix(dense(m.Support)))
		offset = make([]float64, w.Rows)
		copy(offset, m.Center)
		return w, make([]float64, w.Cols), offset
	case *formula.Chain:
		first, mean, before := affine(m.First)
		then, middle, offset := affine(m.Then)
		for c := range offset {
			for k, v := range then.Row(c) {
				offset[c] += v * (before[k] + middle[k])
			}
		}
		return product(then, first), mean, offset
	case *formula.Sum:
		for k, term := range m.Terms {
			more, mean, by := affine(term)
			if k == 0 {
				w, offset = blas.NewMatrix(more.Rows, more.Cols), make([]float64, more.Rows)
			}
			for c := range more.Rows {
				row := w.Row(c)
				for j, v := range more.Row(c) {
					row[j] += v
					offset[c] += v * mean[j]
				}
				offset[c] += by[c]
			}
		}
		return w, make([]float64, w.Cols), offset
	}
	panic(fmt.Sprintf("export: map of type %T is not linear", m))
}

// product returns a b.
func product(a, b blas.Matrix) blas.Matrix {
	out := blas.NewMatrix(a.Rows, b.Cols)
	for i := range a.Rows {
		to := out.Row(i)
		for k, v := range a.Row(i) {
			for j, w := range b.Row(k) {
				to[j] += v * w
			}
		}
	}
	return out
}

// transposedProduct returns v' x.
func transposedProduct(v, x blas.Matrix) blas.Matrix {
	out := blas.NewMatrix(v.Cols, x.Cols)
	for l := range x.Rows {
		for c, by := range v.Row(l) {
			to := out.Row(c)
			for j, w := range x.Row(l) {
				to[j] += by * w
			}
		}
	}
	return out
}

// unscale makes the map one of features in the units of their columns: with scaled features
// (f - m) / s, w ((f - m) / s - mean) is w / s (f - (m + s mean)).
func (l *linear) unscale(mean []float64) {
	l.center = make([]float64, len(mean))
	at := 0
	for _, r := range l.rules.Columns {
		scaled := 0
		if r.Kind == prepare.Number || r.Kind == prepare.Boolean {
			if scaled = 1; r.Sides {
				scaled = 2
			}
		}
		for k := range r.Width {
			j := at + k
			if k >= scaled {
				l.center[j] = mean[j]
				continue
			}
			l.center[j] = r.Mean + r.Scale*mean[j]
			rest := math.FMA(r.Scale, mean[j], r.Mean-l.center[j]) // by which it is rounded
			for c := range l.transform.Rows {
				v := l.transform.At(c, j)
				if r.Scale == 0 { // the scaled feature is 0
					l.offset[c] += v * mean[j]
					l.transform.Set(c, j, 0)
				} else {
					l.transform.Set(c, j, v/r.Scale)
					l.offset[c] += v / r.Scale * rest
				}
			}
		}
		at += r.Width
	}
}

// gapless reports whether there must be no missing cells.
func (s *source) gapless() bool { return s.rules.Strict || s.Preparation() != "columns" }

// featuresOf returns the features of a column.
func (s *source) featuresOf(r prepare.Rule, cell string) (list []feature) {
	missing := func(v float64) *float64 {
		if s.gapless() {
			return nil
		}
		return &v
	}
	f := feature{Name: r.Name, Column: r.Name, numbers: !takesTexts(r), cell: cell}
	if takesTexts(r) {
		f.Present = slices.DeleteFunc(dataset.Missing(), func(text string) bool {
			return slices.Contains(r.Gaps, text)
		})
	}
	switch r.Kind {
	case prepare.Number, prepare.Boolean:
		if f.Kind = kindNumber; r.Kind == prepare.Boolean {
			f.Kind, f.Texts = kindBoolean, r.Pair[:]
		}
		f.Missing = missing(r.Fill)
		list = append(list, f)
		if r.Sides {
			f.Missing = missing(r.Above)
			list = append(list, f)
		}
		if r.Indicator {
			list = append(list, feature{Column: r.Name, Kind: kindIndicator, Texts: f.Texts,
				Missing: missing(1), Present: f.Present, numbers: f.numbers, cell: cell})
		}
	case prepare.Category:
		for k := range r.Width {
			f.Kind, f.Texts, f.Missing = kindCategory, nil, missing(0)
			switch {
			case k < len(r.Levels):
				f.Texts = r.Levels[k : k+1]
			case k == r.Other:
				f.Kind, f.Texts = kindOther, r.Levels
			}
			if k == r.Missing {
				f.Missing = missing(1)
			}
			list = append(list, f)
		}
	}
	return list
}

// decimal writes the shortest decimal that is the same number.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// description is the content of a JSON file.
type description struct {
	Format      string      `json:"format"`
	Method      string      `json:"method"`
	Version     string      `json:"version"`
	Formula     string      `json:"formula"`
	Features    []feature   `json:"features"`
	Missing     []string    `json:"missing_texts"`
	Center      []float64   `json:"center"`
	Transform   [][]float64 `json:"transform"`
	Offset      []float64   `json:"offset"`
	Mahalanobis [][]float64 `json:"mahalanobis"`
}

// JSON writes a linear map with the names of its features, and its Mahalanobis matrix, as JSON.
// Texts of cells are compared without white space around them; missing_texts are those of missing
// cells, unless a feature has them in not_missing. The
// coordinates of a row with the features f are transform (f - center) - offset, and the squared
// learned distance of two rows is (f - g)' mahalanobis (f - g).
//
// A model whose map is not linear is a *fault.ParamError, matrices above the memory limit are a
// *fault.MemoryError. Cost: O(d^2 Dim) for d features.
func JSON(w io.Writer, m *mustlink.Model, limits Limits) error {
	l, err := newLinear(m, limits, func(d, dim float64) float64 { return 4 * (d*d + d*dim) })
	if err != nil {
		return err
	}
	for j, name := range prepare.ByColumn(l.Scaling).Outputs() {
		l.features[j].Name = name
	}
	mahalanobis := transposedProduct(l.transform, l.transform)
	if err := finite(mahalanobis.Data); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(description{
		Format: "mustlink linear map 1", Method: l.Model.Method(), Version: l.version(),
		Formula: "coordinates = transform (features - center) - offset; squared distance = (f - g)' " +
			"mahalanobis (f - g)",
		Features: l.features, Missing: dataset.Missing(), Center: l.center, Transform: rowsOf(l.transform),
		Offset: l.offset, Mahalanobis: rowsOf(mahalanobis),
	})
}

func rowsOf(m blas.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows)
	for i := range rows {
		rows[i] = m.Row(i)
	}
	return rows
}

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
		return fault.Param("columns of the model", "without names", "names: fit it to a file with a header")
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
