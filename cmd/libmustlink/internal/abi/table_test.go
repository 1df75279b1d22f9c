package abi

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// text returns the address of a text with a zero byte.
func text(s string) unsafe.Pointer { return unsafe.Pointer(&append([]byte(s), 0)[0]) }

func ofNumbers(name string, x []float64) Column {
	return Column{Name: text(name), Numbers: unsafe.Pointer(&x[0])}
}

func ofTexts(name string, codes []int32, levels ...string) Column {
	at := make([]unsafe.Pointer, len(levels), len(levels)+1)
	for k, level := range levels {
		at[k] = text(level)
	}
	return Column{Name: text(name), Codes: unsafe.Pointer(&codes[0]),
		Levels: unsafe.Pointer(unsafe.SliceData(at)), LevelCount: int64(len(levels))}
}

func tableOf(rows int, columns ...Column) *Points {
	return &Points{Kind: Table,
		Array: Array{Rows: int64(rows), Cols: int64(len(columns)), Data: unsafe.Pointer(&columns[0])}}
}

// customers returns the columns of a table with gaps, as C has them and as Go has them.
func customers() ([]Column, *points.Mixed) {
	x, label := problem()
	income, age, plan := make([]float64, n), make([]float64, n), make([]int32, n)
	for i := range n {
		income[i], age[i], plan[i] = 1000*x[i*d], x[i*d+1], int32(label[i])
	}
	income[7], age[3], plan[11] = math.NaN(), math.NaN(), -1
	levels := []string{"basic", "plus", "größer", "never"}
	return []Column{ofNumbers("income", income), ofTexts("plan", plan, levels...), ofNumbers("age", age)},
		&points.Mixed{N: n, Columns: []points.Column{{Name: "income", Numbers: income},
			{Name: "plan", Codes: plan, Levels: levels}, {Name: "age", Numbers: age}}}
}

func fitTable(t *testing.T, e *engine.Engine, options string, p *Points) *mustlink.Model {
	t.Helper()
	_, label := problem()
	m, err := Fit(NewTurns(), e, "rca", options, p, &Links{Rows: n, Group: unsafe.Pointer(&label[0])}, nil)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	return m
}

func embedTable(t *testing.T, e *engine.Engine, m *mustlink.Model, p *Points) []float64 {
	t.Helper()
	out := make([]float64, int(p.Rows)*m.Dim())
	to := &Array{Type: Float64, Rows: p.Rows, Cols: int64(m.Dim()), Data: unsafe.Pointer(&out[0]),
		RowStride: int64(m.Dim()), ColStride: 1}
	if err := Embed(e, m, p, nil, to); err != nil {
		t.Fatal(err)
	}
	return out
}

// A table of C is exactly as the same table of Go, in any order of the columns and among others,
// in all functions.
func TestTableIsThatOfGo(t *testing.T) {
	e := newEngine(t, "")
	columns, mixed := customers()
	table := tableOf(n, columns...)
	m := fitTable(t, e, `{"kinds": {"plan": "category"}, "seed": 3}`, table)
	_, label := problem()
	method, err := catalog.Lookup("rca")
	if err != nil {
		t.Fatal(err)
	}
	set, err := (&Links{Rows: n, Group: unsafe.Pointer(&label[0])}).set(n, method)
	if err != nil {
		t.Fatal(err)
	}
	goTable := mustlink.FromData(&dataset.Data{Points: mixed, Features: mixed.Names()})
	model, err := mustlink.Fit(t.Context(), goTable, set, mustlink.Method("rca"), mustlink.Seed(3),
		mustlink.Engine(e))
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.Embed(t.Context(), goTable)
	if err != nil {
		t.Fatal(err)
	}
	other := tableOf(n, columns[2], ofNumbers("more", make([]float64, n)), columns[1], columns[0])
	for name, p := range map[string]*Points{"table": table, "other order": other} {
		if got := embedTable(t, e, m, p); !slices.Equal(got, want.RawMatrix().Data) {
			t.Errorf("%s: coordinates are not those of Go", name)
		}
		k := make([]float64, n*n)
		if err := GramMatrix(e, m, p, table, nil,
			&Array{Type: Float64, Rows: n, Cols: n, Data: unsafe.Pointer(&k[0]), RowStride: n,
				ColStride: 1}); err != nil {
			t.Fatal(err)
		}
		pair, squared := []int64{4, 9, 7, 11}, make([]float64, 2)
		if err := Distances(m, p, unsafe.Pointer(&pair[0]), 2, nil, true,
			unsafe.Pointer(&squared[0])); err != nil {
			t.Fatal(err)
		}
		for q, d2 := range squared {
			i, j := pair[2*q], pair[2*q+1]
			if from := k[i*n+i] + k[j*n+j] - 2*k[i*n+j]; math.Abs(d2-from) > 1e-9*math.Abs(k[i*n+i]) {
				t.Errorf("%s: distance of %d and %d is %g: want %g, as in the kernel", name, i, j, d2, from)
			}
		}
	}
	remarks, err := Remarks(m, other)
	if err != nil || len(remarks.([]string)) != 1 || !strings.Contains(remarks.([]string)[0], `"more"`) {
		t.Errorf("remarks %q, error %v", remarks, err)
	}
	columns[1] = ofTexts("plan", slices.Repeat([]int32{0}, n), "new")
	remarks, err = Remarks(m, tableOf(n, columns...))
	if err != nil || len(remarks.([]string)) != 1 ||
		!strings.Contains(remarks.([]string)[0], `"plan": the fit did not see the texts of 60 rows`) {
		t.Errorf("remarks %q, error %v", remarks, err)
	}
}

// NaN among dense points is a missing number, and columns without names come as in the fit.
func TestGapsAmongDensePoints(t *testing.T) {
	e := newEngine(t, "")
	x, _ := problem()
	x[5*d+2], x[8*d] = math.NaN(), math.NaN()
	columns := make([]Column, d)
	for j := range d {
		c := make([]float64, n)
		for i := range n {
			c[i] = x[i*d+j]
		}
		columns[j] = Column{Numbers: unsafe.Pointer(&c[0])}
	}
	table := tableOf(n, columns...)
	m, same := fitTable(t, e, "", pointsIn(x)), fitTable(t, e, "", table)
	want := embedTable(t, e, m, pointsIn(x))
	if !slices.Equal(embedTable(t, e, m, table), want) ||
		!slices.Equal(embedTable(t, e, same, pointsIn(x)), want) {
		t.Error("the table gives other coordinates than the dense points")
	}
	if f := m.Record().Features; f != nil {
		t.Errorf("features are %q: want none", f)
	}
	_, label := problem()
	links := &Links{Rows: n, Group: unsafe.Pointer(&label[0])}
	for _, p := range []*Points{pointsIn(x), table} {
		if _, err := Fit(NewTurns(), e, "rca", `{"prepare": "none"}`, p, links,
			nil); CodeOf(err) != BadInput {
			t.Errorf("prepare none: error %v of NaN", err)
		}
	}
	x[5*d+2] = math.Inf(1)
	if _, err := Fit(NewTurns(), e, "rca", "", pointsIn(x), links, nil); CodeOf(err) != BadInput ||
		!strings.Contains(err.Error(), `"2"`) {
		t.Errorf("error %v of an infinite number", err)
	}
}

// The model of prepare none with standardize is that of the scaled numbers, whatever they look
// like.
func TestStrictStandardize(t *testing.T) {
	e := newEngine(t, "")
	x, _ := problem()
	for i := range n {
		x[i*d+3] = float64(i) // row numbers, which auto leaves out
	}
	m := fitTable(t, e, `{"prepare": "none", "standardize": true}`, pointsIn(x))
	s, ok := m.Record().Scaling.(*prepare.Scaling)
	if !ok || math.Abs(s.Mean[3]-(n-1)/2.0) > 1e-12 {
		t.Errorf("scaling is %+v", m.Record().Scaling)
	}
	if info := ModelInfo(m).(modelInfo); len(info.Columns) != d || info.Columns[3].Name != "3" {
		t.Errorf("columns %+v", info.Columns)
	}
}

// Mistakes in a table are errors that name the column.
func TestBadTables(t *testing.T) {
	e := newEngine(t, "")
	x, codes := make([]float64, n), make([]int32, n)
	good, far, inf := ofNumbers("a", x), slices.Clone(codes), slices.Clone(x)
	far[4], inf[9] = 2, math.Inf(-1)
	without := ofTexts("b", codes, "u")
	without.Levels = nil
	for name, c := range map[string]struct {
		columns []Column
		code    Code
		word    string
	}{
		"no cells": {[]Column{good, {Name: text("b")}}, BadArgument, `column "b": numbers and codes`},
		"two kinds": {[]Column{good,
			{Name: text("b"), Numbers: good.Numbers, Codes: unsafe.Pointer(&codes[0])}}, BadArgument,
			`column "b": numbers and codes`},
		"unaligned": {[]Column{good, {Name: text("b"), Numbers: unsafe.Add(good.Numbers, 4)}},
			BadArgument, `column "b": its memory is not aligned`},
		"no levels": {[]Column{good, without}, BadArgument, `column "b": its levels are NULL`},
		"level is NULL": {[]Column{good,
			{Name: text("b"), Codes: unsafe.Pointer(&codes[0]),
				Levels: unsafe.Pointer(&make([]unsafe.Pointer, 1)[0]), LevelCount: 1}}, BadArgument,
			`column "b": level 0 is NULL`},
		"levels below 0": {[]Column{good,
			{Name: text("b"), Codes: unsafe.Pointer(&codes[0]), LevelCount: -1}}, BadArgument, "-1 levels"},
		"one without name": {[]Column{good, {Numbers: good.Numbers}}, BadArgument, "column 1 has no name"},
		"empty name":       {[]Column{good, ofNumbers("", x)}, BadInput, "column 1 has an empty name"},
		"equal names":      {[]Column{good, ofNumbers("a", x)}, BadInput, `two columns have the name "a"`},
		"name of bytes":    {[]Column{good, ofNumbers("\xff", x)}, BadInput, "column 1 is not UTF-8"},
		"level of bytes":   {[]Column{good, ofTexts("b", codes, "\xff")}, BadInput, `column "b": level 0`},
		"equal levels": {[]Column{good, ofTexts("b", codes, "u", "u")}, BadInput,
			`column "b": two levels are "u"`},
		"code too large": {[]Column{good, ofTexts("b", far, "u", "v")}, BadInput,
			`row 4, column "b": code 2 has no text`},
		"infinite": {[]Column{good, ofNumbers("b", inf)}, BadInput,
			`row 9, column "b": value is -Inf`},
	} {
		_, err := Fit(NewTurns(), e, "krca", "", tableOf(n, c.columns...), nil, nil)
		if err == nil || CodeOf(err) != c.code || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v (code %d): want one with %q", name, err, CodeOf(err), c.word)
		}
	}
	for _, p := range []*Points{{Kind: Table}, {Kind: Table, Array: Array{Rows: n, Cols: 1}},
		{Kind: Table, Array: Array{Rows: -1, Cols: 1}},
		{Kind: Table, Array: Array{Rows: n, Cols: 1, Data: unsafe.Add(good.Numbers, 4)}}} {
		if _, err := p.unchecked(false); CodeOf(err) != BadArgument {
			t.Errorf("%+v: error %v", p.Array, err)
		}
	}
	columns, _ := customers()
	m := fitTable(t, e, "", tableOf(n, columns...))
	if _, err := m.Record().Prepare(mustTable(t, columns[:2]).Data()); err == nil ||
		!strings.Contains(err.Error(), `"age"`) {
		t.Errorf("a table without age: error %v", err)
	}
}

func mustTable(t *testing.T, columns []Column) *mustlink.Table {
	t.Helper()
	table, err := tableOf(n, columns...).table(false, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Options about columns reach the preparation, and those that contradict each other are errors.
func TestPreparingOptions(t *testing.T) {
	e := newEngine(t, "")
	columns, _ := customers()
	table := tableOf(n, columns...)
	_, label := problem()
	links := &Links{Rows: n, Group: unsafe.Pointer(&label[0])}
	for options, word := range map[string]string{
		`{"prepare": "all"}`:                           "auto",
		`{"prepare": "none"}`:                          `row 7, column "income"`,
		`{"prepare": "none", "levels": 3}`:             "prepare none",
		`{"tfidf": true, "cyclic": true}`:              "tfidf",
		`{"standardize": true, "scale": "robust"}`:     "one of standardize and scale",
		`{"kinds": {"plan": "hue"}}`:                   "hue",
		`{"kinds": {"plans": "category"}}`:             "plan",
		`{"kinds": {"income": 3}}`:                     "kinds",
		`{"impute": "guess"}`:                          "guess",
		`{"impute": "error"}`:                          "empty",
		`{"levels": 1}`:                                "levels",
		`{"text": "sentences"}`:                        "sentences",
		`{"features": ["a", "b", "c"]}`:                "features",
		`{"kinds": {"*": "drop"}}`:                     "no column",
		`{"kinds": {"income": "date"}, "levels": "4"}`: "levels",
	} {
		_, err := Fit(NewTurns(), e, "rca", options, table, links, nil)
		if err == nil || CodeOf(err) != BadInput || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %v (code %d): want one with %q", options, err, CodeOf(err), word)
		}
	}
	m := fitTable(t, e, `{"kinds": {"age": "drop"}, "indicators": true, "scale": "robust", "impute": "mean"}`,
		table)
	if got := m.Record().Features; !slices.Equal(got, []string{"income", "plan"}) {
		t.Errorf("features %q", got)
	}
	raw, err := json.Marshal(ModelInfo(m))
	if err != nil || !strings.Contains(string(raw), "mean") ||
		!strings.Contains(string(raw), `"kind":"drop"`) {
		t.Errorf("info %s, error %v", raw, err)
	}
}
