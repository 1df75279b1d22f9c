package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/export"
)

// mixed writes a table with numbers, categories and booleans. New tables also have levels and
// spellings that others do not have, and white space around cells.
func mixed(t testing.TB, rows int, seed uint64, fresh bool) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	lines := []string{"income,age,plan,active,floor,flag,city,side,big"}
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	for i := range rows {
		class := float64(i % 3)
		income := fmt.Sprintf("%.2f", 40000+20000*class+8000*rng.NormFloat64())
		if rng.IntN(10) == 0 {
			income = ""
		}
		plan := pick("basic", "plus", "pro", "pro", "", "NA")
		active := pick("yes", "no", "yes", "")
		city, side := pick("Ulm", "Bonn", "Köln", "Trier", "Jena", "Gera", "Ulm", "Bonn"),
			pick("über", "unter", "über", "NaN")
		floor, flag := rng.IntN(5), rng.IntN(2)
		if fresh && rng.IntN(4) == 0 {
			plan, active, city = pick("gold", "null", "?", " pro", "plus ", " NA "),
				pick("YES", "No", "yEs", "maybe", " no"), pick("Aachen", "O'Hara", "", " Ulm ")
			side, income, floor, flag = pick("Über", "ÜBER", "üBER ", " unter", "UNTER", "<NA>"),
				pick("NA", "null", "50000"), 7, 2
		}
		number := func(v int) string {
			if rng.IntN(12) == 0 {
				return pick("", "NA")
			}
			return strconv.Itoa(v)
		}
		big := 1e6 + float64(rng.IntN(32))/16 + class // of single precision
		lines = append(lines,
			fmt.Sprintf("%s,%.1f,%s,%s,%s,%s,%s,%s,%.4f", income, 30+8*class+5*rng.NormFloat64(), plan,
				active, number(floor), number(flag), city, side, big))
	}
	path := filepath.Join(t.TempDir(), "mixed.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// preparings are ways to prepare a mixed table.
var preparings = map[string]mustlink.Preparing{
	"defaults": {},
	"robust":   {Scale: "robust", Impute: "mean", Indicators: true},
	"sides":    {Impute: "sides", Indicators: true, Levels: 4},
	"unscaled": {Scale: "none", Impute: "constant=-1", Levels: 3},
	"categories": {Kinds: map[string]mustlink.ColumnKind{"floor": "category", "flag": "boolean",
		"side": "boolean"}, Levels: 4},
	"coded": {Kinds: map[string]mustlink.ColumnKind{"floor": "category", "flag": "category"},
		Indicators: true},
	"gaps": {Kinds: map[string]mustlink.ColumnKind{"flag": "boolean", "side": "boolean",
		"plan": "category"}, Indicators: true},
	"one kind": {Kinds: map[string]mustlink.ColumnKind{"age": "drop", "income": "drop", "floor": "drop",
		"flag": "drop", "big": "drop"}},
	"numbers": {Kinds: map[string]mustlink.ColumnKind{"plan": "drop", "active": "drop", "city": "drop",
		"side": "drop"}},
}

// fitMixed fits a method to a mixed table.
func fitMixed(t testing.TB, method string, by mustlink.Preparing,
	options ...mustlink.Option) *mustlink.Model {
	t.Helper()
	var columns mustlink.Columns
	if by.Kinds["plan"] == "category" {
		columns.Text = []string{"plan"} // in which NA is a text
	}
	x, err := mustlink.ReadTable(mixed(t, 240, 1, false), mustlink.ReadColumns(columns))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mustlink.Fit(context.Background(), x, newProblem(t, 240, 2).links,
		append(options, mustlink.Method(method), mustlink.Prepare(by))...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fieldsOf returns the fields of this number, which are texts or messages, of a message.
func fieldsOf(t testing.TB, message []byte, number protowire.Number) (list [][]byte) {
	t.Helper()
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(field, kind, message)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if field == number {
			v, _ := protowire.ConsumeBytes(message)
			list = append(list, v)
		}
		message = message[size:]
	}
	return list
}

// inputsOf returns the cells of a CSV file as a model's graph takes them.
func inputsOf(t testing.TB, m *mustlink.Model, path string) (x [][]float64, texts [][]string) {
	t.Helper()
	var file bytes.Buffer
	if _, err := export.ONNX(context.Background(), &file, m, export.ONNXOptions{}); err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	for _, entry := range fieldsOf(t, file.Bytes(), 14) { // metadata_props of a ModelProto
		key, text := string(fieldsOf(t, entry, 1)[0]), fieldsOf(t, entry, 2)[0]
		if key == "features" || key == "texts" {
			var names []string
			if err := json.Unmarshal(text, &names); err != nil {
				t.Fatal(err)
			}
			lists[key] = names
		}
	}
	for _, row := range cellsOf(t, path) {
		var numbers []float64
		for _, name := range lists["features"] {
			v, err := strconv.ParseFloat(row[name], 64)
			if err != nil {
				v = math.NaN()
			}
			numbers = append(numbers, v)
		}
		x = append(x, numbers)
		if lists["texts"] != nil {
			var list []string
			for _, name := range lists["texts"] {
				list = append(list, row[name])
			}
			texts = append(texts, list)
		}
	}
	return x, texts
}

// TestPreparedRuntime compares graphs with the preparation of mixed tables with Embed.
func TestPreparedRuntime(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	for name, by := range preparings {
		for _, method := range []string{"itml", "krca"} {
			var options []mustlink.Option
			if method == "krca" {
				options = append(options, mustlink.Param("dims", "4"))
			}
			m := fitMixed(t, method, by, options...)
			path := mixed(t, 1000, 2, true)
			rows := readFor(t, m, path)
			x, texts := inputsOf(t, m, path)
			want := embed(t, m, rows)
			for _, p := range []export.Precision{export.Double, export.Single} {
				r.add(method+" "+name, m, p, x, texts, want)
			}
		}
	}
	r.compare()
}

// readFor reads a table for a model: texts as texts, though they may look like numbers.
func readFor(t testing.TB, m *mustlink.Model, path string) *mustlink.Table {
	t.Helper()
	texts, numbers := m.Record().Kinds()
	x, err := mustlink.ReadTable(path, mustlink.ReadColumns(mustlink.Columns{Text: texts, Numbers: numbers}))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSQL compares the expressions, evaluated by SQLite, with Embed.
func TestSQL(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import sqlite3").Run() != nil {
		t.Skip("no /usr/bin/python3 with sqlite3, which evaluates the expressions")
	}
	for name, by := range preparings {
		m := fitMixed(t, "rca", by)
		path := mixed(t, 1000, 2, true)
		rows := readFor(t, m, path)
		var text bytes.Buffer
		if err := export.SQL(&text, m, export.Postgres, export.Limits{}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "map.sql")
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, "testdata/sqlite.py", path, file).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []float64
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if off := distance(got, embed(t, m, rows)); !(off <= 1e-12) {
			t.Errorf("%s: coordinates of SQL differ by %.2g of the largest", name, off)
		}
	}
}

// TestPreparedJSON computes features of raw cells as the description says, and compares the
// coordinates with Embed.
func TestPreparedJSON(t *testing.T) {
	for name, by := range preparings {
		m := fitMixed(t, "rca", by)
		path := mixed(t, 1000, 2, true)
		var text bytes.Buffer
		if err := export.JSON(&text, m, export.Limits{}); err != nil {
			t.Fatal(err)
		}
		var l linearMap
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, cells := range cellsOf(t, path) {
			features := make([]float64, len(l.Features))
			for j := range features {
				features[j] = l.feature(j, strings.TrimSpace(cells[l.Features[j].Column]))
			}
			got = append(got, l.of(features)...)
		}
		if off := distance(got, embed(t, m, readFor(t, m, path))); !(off <= 1e-11) {
			t.Errorf("%s: coordinates of JSON differ by %.2g of the largest", name, off)
		}
	}
}

// feature returns a feature of a cell.
func (l linearMap) feature(j int, cell string) float64 {
	f := l.Features[j]
	number, err := strconv.ParseFloat(cell, 64)
	same := func(text string) bool {
		v, wrong := strconv.ParseFloat(text, 64)
		return cell == text || f.Kind == "boolean" && strings.ToLower(cell) == text || err == nil &&
			wrong == nil && v == number
	}
	at := slices.IndexFunc(f.Texts, same)
	missing := slices.Contains(l.MissingTexts, cell) && !slices.Contains(f.NotMissing, cell)
	if f.Kind == "indicator" && f.Texts != nil {
		missing = !slices.Contains(f.Texts, strings.ToLower(cell))
	}
	switch {
	case missing || f.Kind == "boolean" && at < 0:
		return *f.Missing
	case f.Kind == "number":
		return number
	case f.Kind == "boolean":
		return float64(at)
	case f.Kind == "category" && at >= 0 || f.Kind == "other" && at < 0:
		return 1
	}
	return 0
}

// cellsOf returns the rows of a CSV file, by the names of their columns.
func cellsOf(t testing.TB, path string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range cells[1:] {
		named := map[string]string{}
		for k, cell := range row {
			named[cells[0][k]] = cell
		}
		rows = append(rows, named)
	}
	return rows
}
