package mustlink_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/tabletest"

	"gonum.org/v1/gonum/mat"
)

// readMessy writes a table to a file and reads it.
func readMessy(t *testing.T, m tabletest.Table) *mustlink.Table {
	t.Helper()
	c := mustlink.Columns{Label: tabletest.Label}
	if len(m.Flags) > 0 {
		c.Text = []string{"code"}
	}
	file := filepath.Join(t.TempDir(), m.Name)
	try(file, os.WriteFile(file, m.Content, 0o600))
	return try(mustlink.ReadTable(file, mustlink.ReadColumns(c)))
}

// TestMessyTables: the numbers of every table are those of plain formulas, column by column: the
// median for a gap, mean 0 and standard deviation 1, a column of zeros and ones for each text in
// their order, days for dates.
func TestMessyTables(t *testing.T) {
	for _, m := range tabletest.Tables(7) {
		t.Run(m.Name, func(t *testing.T) {
			raw := readMessy(t, m)
			if !slices.Equal(raw.Labels(), m.Labels) {
				t.Fatal("other labels")
			}
			p := mustlink.Preparing{}
			if len(m.Flags) > 0 {
				p.Kinds = map[string]mustlink.ColumnKind{"code": "category"}
			}
			table := try(raw.Prepare(p))
			x := table.Data().Points.(*points.Dense)
			var want [][]float64
			var names []string
			for j, kind := range m.Kinds {
				columns, more := plainColumns(t, m, j, kind)
				want, names = append(want, columns...), append(names, more...)
			}
			if !slices.Equal(table.Names(), names) {
				t.Fatalf("columns %q, want %q", table.Names(), names)
			}
			for j, column := range want {
				for i, v := range column {
					if got := x.Row(i)[j]; !(math.Abs(got-v) <= 1e-12*max(1, math.Abs(v))) {
						t.Fatalf("column %s, row %d: %v, want %v", names[j], i, got, v)
					}
				}
			}
		})
	}
}

// plainColumns returns the numbers of a column by the textbook, and the names of their columns.
func plainColumns(t *testing.T, m tabletest.Table, j int,
	kind tabletest.Kind) (columns [][]float64, names []string) {
	t.Helper()
	name := m.Header[j]
	cells := make([]string, len(m.Cells))
	for i, row := range m.Cells {
		if cells[i] = row[j]; slices.Contains([]string{"NA", "N/A", "NaN", "null", "?"}, cells[i]) {
			cells[i] = ""
		}
	}
	numbers := func(value func(cell string) float64) []float64 {
		var there, out []float64
		for _, c := range cells {
			if c != "" {
				there = append(there, value(c))
			}
		}
		slices.Sort(there)
		n := len(there)
		median := (there[(n-1)/2] + there[n/2]) / 2
		for _, c := range cells {
			if c == "" {
				out = append(out, median)
			} else {
				out = append(out, value(c))
			}
		}
		return out
	}
	switch kind {
	case tabletest.Left:
		return nil, nil
	case tabletest.Boolean:
		yes := []string{"yes", "true", "Y"}
		return [][]float64{numbers(func(c string) float64 {
			if slices.Contains(yes, c) {
				return 1
			}
			return 0
		})}, []string{name}
	case tabletest.Category:
		return oneHot(name, cells)
	case tabletest.Number:
		return [][]float64{standard(numbers(func(c string) float64 {
			return try(strconv.ParseFloat(strings.Replace(c, m.Decimal, ".", 1), 64))
		}))}, []string{name}
	}
	return [][]float64{standard(numbers(func(c string) float64 {
		return float64(try(time.Parse(string(kind), c)).Unix()) / 86400
	}))}, []string{name}
}

// standard returns the values with mean 0 and standard deviation 1.
func standard(values []float64) []float64 {
	n, mean, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = (v - mean) / math.Sqrt(squares/n)
	}
	return out
}

// oneHot returns a column for each text, in their order, then one for missing cells; of more than
// 50 the rarest, of those as rare as others the first, share the last one.
func oneHot(name string, cells []string) (columns [][]float64, names []string) {
	const most = 50
	count := map[string]int{}
	for _, c := range cells {
		count[c]++
	}
	var levels []string
	for c := range count {
		levels = append(levels, c)
	}
	last := func(c string) string { // missing cells come after all texts
		if c == "" {
			return "\U0010ffff"
		}
		return c
	}
	slices.SortFunc(levels, func(a, b string) int { return strings.Compare(last(a), last(b)) })
	kept := slices.Clone(levels)
	if len(levels) >= most {
		slices.SortStableFunc(kept, func(a, b string) int { return count[a] - count[b] })
		kept = kept[len(kept)-most+1:]
	}
	other := make([]float64, len(cells))
	for _, level := range levels {
		column := make([]float64, len(cells))
		for i, c := range cells {
			if c == level {
				column[i] = 1
			}
		}
		if !slices.Contains(kept, level) {
			for i, v := range column {
				other[i] += v
			}
			continue
		}
		columns = append(columns, column)
		if level == "" {
			level = "(missing)"
		}
		names = append(names, fmt.Sprintf("%s=%s", name, level))
	}
	if len(kept) < len(levels) {
		columns, names = append(columns, other), append(names, name+"=(other)")
	}
	return columns, names
}

// TestCorrectedGram: a corrected matrix has the model of the matrix with its negative eigenvalues
// set to 0, or turned, in the file too, and new rows that equal rows of the fit have their
// coordinates.
func TestCorrectedGram(t *testing.T) {
	table, pairs := problem(t, 40)
	x := mat.NewDense(40, table.Columns(), table.Data().Points.(*points.Dense).Data)
	var inner mat.Dense
	inner.Mul(x, x.T())
	similar := mat.NewSymDense(40, nil)
	for i := range 40 {
		for j := range i + 1 {
			similar.SetSym(i, j,
				math.Tanh(3*inner.At(i, j)/math.Sqrt(inner.At(i, i)*inner.At(j, j))+0.5*float64((i+j)%2)))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(similar, true) {
		t.Fatal("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	fit := func(k mat.Matrix, options ...mustlink.Option) (*mustlink.Model, error) {
		return mustlink.Fit(t.Context(), try(mustlink.FromGram(k, nil)), pairs,
			append(options, mustlink.Method("itml"))...)
	}
	if _, err := fit(similar); err == nil || !strings.Contains(err.Error(), "not positive semidefinite") {
		t.Errorf("error %v", err)
	}
	for name, of := range map[string]func(v float64) float64{"clip": func(v float64) float64 {
		return max(0,
			v)
	}, "flip": math.Abs} {
		w := eigen.Values(nil)
		for k, v := range w {
			w[k] = of(v)
		}
		var half, corrected mat.Dense
		half.Mul(&vectors, mat.NewDiagDense(40, w))
		corrected.Mul(&half, vectors.T())
		m := try(fit(similar, mustlink.Prepare(mustlink.Preparing{Gram: name})))
		file := filepath.Join(t.TempDir(), "m.mlk")
		try(file, m.Save(file))
		saved := try(mustlink.Load(file))
		rows := try(mustlink.FromGram(similar, nil))
		want := try(try(fit(&corrected)).Distances(t.Context(), try(mustlink.FromGram(&corrected, nil)),
			[][2]int{{0, 1}, {2, 30}, {7, 8}}))
		for _, model := range []*mustlink.Model{m, saved} {
			for k, d := range try(model.Distances(t.Context(), rows, [][2]int{{0, 1}, {2, 30}, {7, 8}})) {
				if !(math.Abs(d-want[k]) <= 1e-6*slices.Max(want)) {
					t.Errorf("%s: distance %g: want %g", name, d, want[k])
				}
			}
		}
		self := make([]float64, 40)
		for i := range self {
			self[i] = similar.At(i, i)
		}
		again := try(saved.Embed(t.Context(), try(mustlink.FromGram(similar, self))))
		equal(t, name+" of rows that come again", again, try(m.Embed(t.Context(), rows)))
	}
	var pe *fault.ParamError
	if _, err := fit(similar, mustlink.Prepare(mustlink.Preparing{Gram: "cut"})); !errors.As(err, &pe) ||
		pe.Param != "gram" {
		t.Errorf("error %v", err)
	}
	if _, err := table.Prepare(mustlink.Preparing{Gram: "clip"}); !errors.As(err, &pe) || pe.Param != "gram" {
		t.Errorf("error %v", err)
	}
}
