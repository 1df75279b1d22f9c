package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/usage"
)

// customers returns the lines of a table with texts and gaps: the header, and then n rows of two
// classes. From row n/2 on, all codes look like numbers.
func customers(n int) []string {
	lines := []string{"plan,income,since,code,label"}
	for i := range n {
		plan, income, code := []string{"basic", "plus", "gold", "", "NA"}[i%5],
			fmt.Sprint(1000+700*(i%2)+13*(i%29)), fmt.Sprint(i%5)
		if i%7 == 0 {
			income = "NA"
		}
		if i < n/2 && i%3 == 0 {
			code = "x" + code
		}
		lines = append(lines,
			fmt.Sprintf("%s,%s,2021-%02d-%02d,%s,%d", plan, income, 1+i%12, 1+i%28, code, i%2))
	}
	return lines
}

func writeLines(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A model that prepares columns gets the rows of a table in many files as the library gets those of
// the whole table, also where a file alone looks different, and with the columns in another order.
func TestMixedTables(t *testing.T) {
	const n = 600
	lines, dir := customers(n), t.TempDir()
	all := writeLines(t, filepath.Join(dir, "all.csv"), lines...)
	table, err := mustlink.ReadTable(all)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for i := range n {
		labels = append(labels, fmt.Sprint(i%2))
	}
	set, err := links.SampleByCount(labels, 40, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	model, err := mustlink.Fit(t.Context(), table, set, mustlink.Method("rca"),
		mustlink.Engine(trial.Engine(t)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "model.mlk")
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	y, err := model.Embed(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	want := y.RawMatrix().Data
	for k := range 3 {
		part := append([]string{lines[0]}, lines[1+k*n/3:1+(k+1)*n/3]...)
		writeLines(t, filepath.Join(dir, fmt.Sprintf("part-%d.csv", k)), part...)
		turned := make([]string, len(part))
		for i, line := range part {
			cells := strings.Split(line, ",")
			slices.Reverse(cells)
			turned[i] = strings.Join(append(cells, []string{"note", "some text"}[min(i, 1)]), ",")
		}
		writeLines(t, filepath.Join(dir, fmt.Sprintf("turned-%d.csv", k)), turned...)
	}
	for _, name := range []string{"part", "turned"} {
		out := shard.Output{Path: filepath.Join(dir, name+".npy")}
		done(t, "embed", path, "-i", filepath.Join(dir, name+"-*.csv"), "-o", out.Path, "--element-rows",
			"70")
		if got := trial.Rows(t, out.Pattern()); engineName(t) != "netlib" && !slices.Equal(got.Data, want) {
			t.Errorf("%s: the coordinates differ from the library's", name)
		}
	}
	pattern := filepath.Join(dir, "part-*.csv")
	answers := shard.Output{Path: filepath.Join(dir, "labels.csv")}
	done(t, "classify", path, "--train", all, "-i", filepath.Join(dir, "turned-*.csv"), "-o", answers.Path,
		"--element-rows", "70", "-q")
	classes, err := model.Classify(t.Context(), table, table, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	files, err := filepath.Glob(answers.Pattern())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Fields(string(text))[1:]...)
	}
	if !slices.Equal(got, classes) {
		t.Error("the labels differ from the library's")
	}
	centers := filepath.Join(dir, "centers.npy")
	done(t, "kmeans", path, "-i", pattern, "-n", "2", "-o", centers, "-q")
	near := shard.Output{Path: filepath.Join(dir, "near.npy")}
	done(t, "neighbors", path, "-i", pattern, "-k", "2", "-o", near.Path, "-q")
	if c := trial.Rows(t, near.Pattern()); c.N != n {
		t.Errorf("neighbors of %d rows: want %d", c.N, n)
	}

	short := writeLines(t, filepath.Join(dir, "short.csv"), "plan,since,code", "plus,2021-01-01,3")
	if o := run(t, "embed", path, "-i", short, "-o",
		filepath.Join(dir, "short.npy")); o.code != usage.ExitInput ||
		!strings.Contains(o.stderr, `"income"`) {
		t.Errorf("a file without income: code %d, %q", o.code, o.stderr)
	}
}
