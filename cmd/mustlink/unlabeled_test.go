package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// unlabeledTables writes a table of which some rows have no label, the labeled rows alone, and all
// rows without the column.
func unlabeledTables(t *testing.T) (dir string, labeled int) {
	dir = t.TempDir()
	const header = "id,x,y"
	all, some, none := header+",kind\n", header+",kind\n", header+"\n"
	for i := range 60 {
		row := fmt.Sprintf("p%d,%g,%g", i, float64(i%2*4)+float64(i*i%11)/5, float64(i*7%13)/3)
		kind := ""
		if i%3 > 0 {
			kind = []string{"u", "v"}[i%2]
			some += row + "," + kind + "\n"
			labeled++
		}
		all += row + "," + kind + "\n"
		none += row + "\n"
	}
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n2,5\n")
	for name, text := range map[string]string{"all.csv": all, "some.csv": some, "none.csv": none} {
		clitest.Write(t, dir, name, text)
	}
	return dir, labeled
}

// Links, predictions and scores of a table of which some rows have no label are those of the
// labeled rows alone, and the reports say how many rows these are.
func TestUnlabeledRows(t *testing.T) {
	dir, labeled := unlabeledTables(t)
	run := func(line string) string { return commandtest.RunOK(t, dir, line+" --label kind").Stdout }
	same := func(line, a, b, file string) {
		t.Helper()
		var texts []string
		for _, data := range []string{a, b} {
			run(fmt.Sprintf(line, data))
			texts = append(texts, clitest.Read(t, dir, file))
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: %s gives %q, %s %q", line, a, texts[0], b, texts[1])
		}
	}
	same("links make -i %s --pairs 50 --links-by id -o links.csv", "all.csv", "some.csv", "links.csv")
	same("links make -i %s --components 0.5 --cannot 9 --links-by id -o links.csv", "all.csv", "some.csv",
		"links.csv")
	run("fit -m rca -i all.csv --links-from-labels 50 -o model.mlk")
	run("fit -m rca -i all.csv --links-from-labels all -o all.mlk")
	run("select -i all.csv --links-from-labels 50 --criterion labels --methods rca,itml -o chosen.mlk")
	same("classify model.mlk --train %s -i all.csv -o found.csv", "all.csv", "some.csv", "found.csv")
	same("classify --train %s -i none.csv -o found.csv", "all.csv", "some.csv", "found.csv")
	for _, line := range []string{"embed model.mlk -i %s -o out.csv",
		"distance model.mlk -i %s --pairs pairs.csv -o out.csv",
		"neighbors model.mlk --train all.csv -i %s -k 2 -o out.csv", "gram model.mlk -i %s -o out.csv",
		"classify model.mlk --train all.csv -i %s -o out.csv", "cluster model.mlk -i %s -n 2 -o out.csv",
		"pairs model.mlk -i %s --threshold 1 -o out.csv"} {
		same(line, "all.csv", "none.csv", "out.csv")
	}
	scores := clitest.Parse(t, run("score --json --truth all.csv --predicted found.csv"))
	if scores["n"] != float64(labeled) ||
		scores["unlabeled"] != float64(60-labeled) || scores["accuracy"] == nil {
		t.Errorf("scores %v: want those of %d rows", scores, labeled)
	}
	const said = "labels of 2 classes, 20 rows without a label"
	if text := run("check -i all.csv"); !strings.Contains(text, said) ||
		strings.Count(text, "label") != 3 {
		t.Errorf("check prints %q: want one remark on 20 rows", text)
	}
	for _, line := range []string{"report model.mlk -i all.csv -o r.html",
		"plot model.mlk -i all.csv -o p.svg",
		"plot model.mlk -i all.csv --curve roc -o c.svg", "plot model.mlk -i all.csv --curve recall -o c.svg",
		"cluster -i all.csv -n 2 -o c.csv"} {
		run(line)
	}
	clitest.Write(t, dir, "na.csv", strings.ReplaceAll(clitest.Read(t, dir, "all.csv"), ",\n", ",NA\n"))
	o := commandtest.RunOK(t, dir, "links make -i na.csv --label kind --pairs 9 -o links.csv")
	if !strings.Contains(o.Stderr, `"NA" is the label of 20 rows, a class like others`) {
		t.Errorf("warnings %q: want one of the label NA", o.Stderr)
	}
}

// Neighbors are named by ids if both files have some and the table is a CSV, and by row numbers
// otherwise.
func TestNeighborsOfNamedRows(t *testing.T) {
	dir, _ := unlabeledTables(t)
	clitest.Write(t, dir, "plain.csv", strings.ReplaceAll(clitest.Read(t, dir, "none.csv"), "id,", "number,"))
	commandtest.RunOK(t, dir, "fit -m rca -i all.csv --label kind --links-from-labels 50 -o model.mlk")
	tables := map[string]string{}
	for name, line := range map[string]string{"auto": "none.csv -i all.csv --label kind",
		"id":  "none.csv -i none.csv --links-by id",
		"row": "none.csv -i none.csv --links-by row", "plain": "none.csv -i plain.csv",
		"other": "plain.csv -i none.csv"} {
		commandtest.RunOK(t, dir, "neighbors model.mlk -k 3 -o "+name+"-found.csv --train "+line)
		tables[name] = clitest.Read(t, dir, name+"-found.csv")
	}
	if tables["auto"] != tables["id"] || tables["plain"] != tables["row"] ||
		tables["other"] != tables["row"] {
		t.Errorf("tables %q", tables)
	}
	if lines := clitest.Lines(tables["row"]); len(lines) != 1+60*3 || strings.Contains(tables["row"], "p") ||
		!strings.HasPrefix(clitest.Lines(tables["id"])[4], "p1,1,p1,0") {
		t.Errorf("tables %q", tables)
	}
	commandtest.RunOK(t, dir, "neighbors model.mlk -k 3 -o found.npy --train none.csv -i none.csv")
}

// A file without a link, or with nothing at all, is a beginning for what can do without links, and
// a clear error for what cannot.
func TestNoLinksYet(t *testing.T) {
	dir, _ := unlabeledTables(t)
	for name, text := range map[string]string{"header.csv": "i,j,link\n", "empty.csv": ""} {
		clitest.Write(t, dir, name, text)
		for _, line := range []string{"fit -m kpca -i none.csv -o model.mlk", "plot -i none.csv -o p.svg",
			"report -i none.csv -o r.html", "check -i none.csv"} {
			commandtest.RunOK(t, dir, line+" -c "+name)
		}
		o := commandtest.RunOK(t, dir, "check -i none.csv -c "+name)
		if !strings.Contains(o.Stderr, name+": it has no link yet") {
			t.Errorf("check of %s warns %q", name, o.Stderr)
		}
		o = commandtest.Run(t, dir, "fit -i none.csv -o model.mlk -c "+name)
		if o.Code != 2 || !strings.Contains(o.Stderr, "want") || strings.Count(o.Stderr, "\n") != 1 {
			t.Errorf("fit with %s: %+v", name, o)
		}
	}
}

// A first line that looks like a row is taken for names with a warning, which --header answers.
func TestHeader(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "iris.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,other\n6.1,2.9,other\n")
	for flags, rows := range map[string]float64{"": 3, " --header first": 3, " --header none": 4} {
		o := commandtest.RunOK(t, dir, "check --json -i iris.csv"+flags)
		warned := strings.Contains(o.Stderr, "looks like a row")
		if got := clitest.Parse(t, o.Stdout)["n"]; got != rows || warned != (flags == "") {
			t.Errorf("check%s: %v rows, warnings %q: want %v rows", flags, got, o.Stderr, rows)
		}
	}
}
