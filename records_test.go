package mustlink_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
)

// customers are records of a service, with and without some values.
func customers(n int) (records []map[string]any, columns map[string]any) {
	var ages []float64
	var countries, ids, labels []string
	var since []time.Time
	var paying []bool
	for i := range n {
		r := map[string]any{"id": string(rune('a'+i%26)) + strings.Repeat("x", i/26),
			"label": []string{"p", "q"}[i%2], "age": 20.5 + float64(i%2)*30 + float64(i%7),
			"country": []string{"Italy", "Peru"}[i%2],
			"since":   time.Date(2020, 1, 1+i%28, 0, 0, 0, 0, time.UTC), "paying": i%3 == 0}
		ids, labels = append(ids, r["id"].(string)), append(labels, r["label"].(string))
		ages, countries = append(ages, r["age"].(float64)), append(countries, r["country"].(string))
		since, paying = append(since, r["since"].(time.Time)), append(paying, r["paying"].(bool))
		if i == 5 {
			delete(r, "age")
			ages[i] = math.NaN()
		}
		if i == 6 {
			r["country"], countries[i] = nil, ""
		}
		records = append(records, r)
	}
	return records, map[string]any{"id": ids, "label": labels, "age": ages, "country": countries,
		"since": since, "paying": paying}
}

// Records, columns, and the text of the same cells are the same table, whose preparation and model
// apply to a single record.
func TestTablesFromMemory(t *testing.T) {
	records, columns := customers(40)
	var text strings.Builder
	text.WriteString("age,country,id,label,paying,since\n")
	cell := func(v any) string {
		switch v := v.(type) {
		case nil:
			return ""
		case time.Time:
			return v.Format(time.RFC3339)
		case bool:
			return map[bool]string{false: "false", true: "true"}[v]
		case float64:
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v.(string)
	}
	for _, r := range records {
		var row []string
		for _, name := range []string{"age", "country", "id", "label", "paying", "since"} {
			row = append(row, cell(r[name]))
		}
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	want := try(mustlink.ReadTableFrom(strings.NewReader(text.String()), "csv"))
	want.Data().Name = ""
	for name, got := range map[string]*mustlink.Table{
		"records": try(mustlink.FromRecords(records)), "columns": try(mustlink.FromColumns(columns))} {
		if diff := difftest.Diff(want.Data(), got.Data()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	table := try(mustlink.FromRecords(records))
	pairs := try(table.SampleLinks(20, 20, 1))
	m := try(mustlink.Fit(t.Context(), table, pairs))
	all := try(m.Embed(t.Context(), table))
	records[5]["age"] = nil // a column that a model needs must be there, and may be empty
	for _, i := range []int{0, 5, 6} {
		one := try(m.Embed(t.Context(), try(mustlink.FromRecords(records[i:i+1]))))
		for j := range m.Dim() {
			if d := math.Abs(one.At(0, j) - all.At(i, j)); !(d < 1e-12) {
				t.Fatalf("record %d alone: coordinate %d differs by %g", i, j, d)
			}
		}
	}
}

func TestBadTablesFromMemory(t *testing.T) {
	for name, c := range map[string]struct {
		make   func() (*mustlink.Table, error)
		row    int
		column string
		text   string
	}{
		"infinite": {func() (*mustlink.Table, error) {
			return mustlink.FromRecords([]map[string]any{{"a": 1.0}, {"a": math.Inf(1)}})
		}, 1, "a", "want a finite number"},
		"a function": {func() (*mustlink.Table, error) {
			return mustlink.FromRecords([]map[string]any{{"a": func() {}}})
		}, 0, "a", "want a finite number, a text"},
		"lists of two lengths": {func() (*mustlink.Table, error) {
			return mustlink.FromRecords([]map[string]any{{"v": []float64{1, 2}}, {"v": []float64{1}}})
		}, 1, "v", "want 2"},
		"another type": {func() (*mustlink.Table, error) {
			return mustlink.FromColumns(map[string]any{"a": []int{1}})
		}, -1, "a", "[]int"},
		"another length": {func() (*mustlink.Table, error) {
			return mustlink.FromColumns(map[string]any{"a": []float64{1, 2}, "b": []string{"x"}})
		}, -1, "b", "want 2"},
	} {
		_, err := c.make()
		de, is := errors.AsType[*fault.DataError](err)
		if !is || de.Row != c.row || de.Column != c.column || de.Line != 0 || de.File != "" ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v: want row %d, column %s, %q", name, err, c.row, c.column, c.text)
		}
	}
	var shape *fault.ShapeError
	if _, err := mustlink.FromRecords(nil); !errors.As(err, &shape) {
		t.Errorf("no records: %v", err)
	}
	if _, err := mustlink.FromColumns(nil); !errors.As(err, &shape) {
		t.Errorf("no columns: %v", err)
	}
	var param *fault.ParamError
	if _, err := mustlink.ReadTableFrom(nil, "csv"); !errors.As(err, &param) {
		t.Errorf("no reader: %v", err)
	}
	if _, err := mustlink.ReadTableFrom(strings.NewReader("a\n1\n"), "none"); !errors.As(err, &param) {
		t.Errorf("no format: %v", err)
	}
}

// Structs are the table of the records that they are as JSON, and values say what they are.
func TestFromStructs(t *testing.T) {
	type row struct {
		Label  string    `json:"label"`
		Age    *float64  `json:"age"`
		Since  time.Time `json:"since"`
		Secret string    `json:"-"`
		hidden int
	}
	var rows []row
	var records []map[string]any
	for i := range 30 {
		age := float64(20 + i%2*30 + i%7)
		r := row{Label: []string{"p", "q", ""}[i%3], Age: &age, hidden: i,
			Since: time.Date(2020, 1, 1+i%28, 0, 0, 0, 0, time.UTC)}
		if i == 3 {
			r.Age = nil
		}
		rows = append(rows, r)
		m := map[string]any{"label": nil, "age": nil, "since": r.Since}
		if i != 3 {
			m["age"] = age
		}
		if r.Label != "" {
			m["label"] = r.Label
		}
		records = append(records, m)
	}
	a, err := mustlink.FromStructs(rows)
	if err != nil {
		t.Fatal(err)
	}
	b, err := mustlink.FromRecords(records)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difftest.Diff(b.Data(), a.Data()); diff != "" {
		t.Error(diff)
	}
	if got, want := a.String(), "30 rows of 2 columns, labels of 2 classes"; got != want {
		t.Errorf("%q: want %q", got, want)
	}
	l, err := mustlink.NewLinks(30, [][2]int{{0, 2}, {4, 6}}, [][2]int{{0, 1}})
	if err != nil || l.String() != "2 must-links and 1 cannot-link of 30 rows" {
		t.Errorf("%v, %v", l, err)
	}
	m, err := mustlink.Fit(t.Context(), a, l, mustlink.Method("itml"))
	if want := "itml model of 2 columns in 2 dimensions, converged"; err != nil || m.String() != want {
		t.Errorf("%v, %v: want %s", m, err, want)
	}
	if got := new(mustlink.Model).String(); got != "empty model" {
		t.Errorf("%q", got)
	}
	nan := math.NaN()
	_, err = mustlink.FromStructs([]row{{Label: "p"}, {Age: &nan}})
	if e, is := errors.AsType[*fault.DataError](err); !is || e.Row != 1 {
		t.Errorf("NaN: error %v: want one of row 1", err)
	}
	for _, bad := range []func() (*mustlink.Table, error){
		func() (*mustlink.Table, error) { return mustlink.FromStructs([]int{1}) },
		func() (*mustlink.Table, error) { return mustlink.FromStructs([]row{}) },
	} {
		if _, err := bad(); !fault.IsInput(err) {
			t.Errorf("error %v", err)
		}
	}
}
