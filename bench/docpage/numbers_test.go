package docpage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tall returns a page with a table of n printed numbers by two systems, and one of values by set.
func tall(n int) string {
	var b strings.Builder
	b.WriteString("# t: caption\n\nFigure 1 of Doe (2001). On t. T 1.\n\n| column | system | ours | paper | difference | in s.d. | " +
		"verdict |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
	for i := range n {
		fmt.Fprintf(&b, "| set %d, wide | a\\_b | 0.%03d ± 0.001 | 0.5 | +0.1 | +1.5 | better |\n", i, i)
		fmt.Fprintf(&b, "| set %d, wide | c | 0.9 [0.8, 0.95] | - | - | - | - |\n", i)
	}
	b.WriteString("\n## By data set\n\nHere training rows / held-out rows.\n\n| set | blend |\n| --- | ---: |\n" +
		"| iris | 0.7 / 0.6 |\n\n## What the paper says\n\n| claim | here | numbers |\n| --- | --- | --- |\n" +
		"| it \\| wins | mixed | 7 of 9 |\n\n## Set-up\n\n- Points: two blobs.\n- Every method runs with its defaults, on one thread:\n" +
		"- gml: kernel rbf:sigma=2, dims 25.\n- Links: some. Drawn again.\n" +
		strings.Repeat("- Long: "+strings.Repeat("word ", 20)+"end.\n", 3) + "- Measure: J.\n\n## Comparisons\n\n- Ahead on 2 of 3.\n" +
		"- iris +0.1 ± 0.05.\n\n" +
		"## Where our numbers differ, and what was tried\n\n- One start: 0.31.\n\n## Made with\n\n" +
		"    bench t\n\n- Build: today's\n")
	return b.String()
}

// TestSplit: the page keeps a summary, the claims and the set-up, and the file has all else.
func TestSplit(t *testing.T) {
	const n = 30
	page, text, err := Split(tall(n), "t.csv", "t.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[All numbers as CSV](t.csv)", "![t](t.svg)",
		"| a\\_b | 0 | 30 | 0 | 0.01",
		"- **mixed**: it \\| wins\n", "Figure 1 of Doe (2001).\n", "## Set-up\n\n- Points: two blobs.\n- Links: some.\n",
		"some.\n- Measure: J.\n\n## Comparisons\n\n- Ahead on 2 of 3.\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("page without %q:\n%s", want, page)
		}
	}
	for _, gone := range []string{"set 3", "7 of 9", "One start", "today", "gml", "defaults", "| iris",
		"Drawn", "Long: ", "± 0.05", "bench t"} {
		if strings.Contains(page, gone) {
			t.Errorf("page still has %q:\n%s", gone, page)
		}
	}
	lines, err := Numbers(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Line{
		{Row: "a_b", Column: "set 7, wide", Value: "0.007", Spread: "0.001", Printed: "0.5", Units: "+1.5",
			Verdict: "better"},
		{Row: "c", Column: "set 7, wide", Value: "0.9", Low: "0.8", High: "0.95"},
		{Table: "By data set", Row: "iris", Column: "blend, held-out rows", Value: "0.6"},
		{Table: "claims", Row: "it | wins", Value: "7 of 9", Verdict: "mixed"},
		{Table: "defaults", Row: "gml", Column: "kernel", Value: "rbf:sigma=2"},
		{Table: "set-up", Value: "Links: some. Drawn again."},
		{Table: "set-up", Column: "paper", Value: "Figure 1 of Doe (2001). On t. T 1."},
		{Table: "comparisons", Value: "iris +0.1 ± 0.05."},
		{Table: "tried", Value: "One start: 0.31."},
		{Table: "run", Column: "command", Value: "bench t"},
		{Table: "run", Column: "build", Value: "today's"},
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %+v", want)
		}
	}
}

// TestSplitKeeps: a short table stays, and a page without numbers does not change.
func TestSplitKeeps(t *testing.T) {
	page, text, err := Split(tall(3), "t.csv", "")
	if err != nil || !strings.Contains(page, "| set 2, wide | c | 0.9 [0.8, 0.95] |") ||
		!strings.Contains(string(text), "\"set 2, wide\"") {
		t.Errorf("error %v, page\n%s\nnumbers\n%s", err, page, text)
	}
	const words = "# Words\n\nNo table.\n"
	if page, text, err := Split(words, "w.csv", ""); page != words || text != nil || err != nil {
		t.Errorf("%q, %q, error %v", page, text, err)
	}
}

// TestSplitWide: a wide table loses its columns of training rows, and the file keeps them.
func TestSplitWide(t *testing.T) {
	page := "# W\n\nWide.\n\n| system | J, training | J, held-out |\n| --- | ---: | ---: |\n" +
		strings.Repeat("| "+strings.Repeat("s ", 20)+"| 0.75 | 0.25 |\n", 26)
	short, text, err := Split(page, "w.csv", "")
	if err != nil || strings.Contains(short, "0.75") || !strings.Contains(short, "| 0.25 |\n") ||
		!strings.Contains(string(text), ",0.75,") {
		t.Errorf("error %v, page\n%s\nnumbers\n%s", err, short, text)
	}
}

// TestSplitPart: of the tables of a part, those of a few rows stay.
func TestSplitPart(t *testing.T) {
	part := func(rows int) string {
		return "One machine.\n\n- default: go1.26.\n\n| method | takes |\n| --- | ---: |\n" +
			strings.Repeat("| rca | 0.5 |\n", rows)
	}
	if short, text, err := SplitPart(part(9), "p.csv"); err != nil ||
		!strings.Contains(short, "| rca | 0.5 |") || !strings.Contains(string(text), ",rca,takes,0.5,") {
		t.Errorf("%s\n%s, error %v", short, text, err)
	}
	if short, _, err := SplitPart(part(10), "p.csv"); err != nil || strings.Contains(short, "rca") ||
		!strings.Contains(short, "(p.csv)") {
		t.Errorf("%s, error %v", short, err)
	}
}

// TestCells: escaped bars do not end a cell.
func TestCells(t *testing.T) {
	if got := Cells("| a \\| b | c\\_d |"); !slices.Equal(got, []string{"a | b", "c_d"}) {
		t.Errorf("%q", got)
	}
}

// TestDetails: long sections keep their paragraphs, and the files have their lines.
func TestDetails(t *testing.T) {
	const page = "# P\n\n## Counts\n\n| a |\n| --- |\n| 1 |\n\n## What the papers say\n\nOne.\n\n" +
		"| page | claim | here | where |\n| --- | --- | --- | --- |\n| [p](r/p.md) | c | worse | x \\| y |\n\n" +
		"| page | claim that is |\n| --- | --- |\n| [q](r/q.md) | d |\n\n## Why numbers and orders differ\n\n" +
		"- p: it\n  is so.\n\n## Made with\n\n    it\n"
	short, files, err := Details(page, "r/f")
	if err != nil {
		t.Fatal(err)
	}
	const want = "# P\n\n## Counts\n\n| a |\n| --- |\n| 1 |\n\n## What the papers say\n\nOne.\n\n" +
		"| page | claim | here |\n| --- | --- | --- |\n| [p](r/p.md) | c | worse |\n\n" +
		"[All lines as CSV](r/f/claims.csv).\n\n## Why numbers and orders differ\n\n" +
		"[All lines as CSV](r/f/reasons.csv).\n\n## Made with\n\n    it\n"
	if short != want {
		t.Errorf("page\n%s\nwant\n%s", short, want)
	}
	for name, want := range map[string]string{
		"claims.csv":  "page,claim,here,where\np,c,worse,x | y\nq,d,,\n",
		"reasons.csv": "page,text\np,it is so.\n",
	} {
		if string(files[name]) != want {
			t.Errorf("%s is %q: want %q", name, files[name], want)
		}
	}
}
