package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// unlabeledTables writes a table of which some rows have no label, the labeled rows alone, and all rows
// without the column.
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

// Links, predictions and scores of a table of which some rows have no label are those of the labeled
// rows alone, and the reports say how many rows these are.
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
	same("links make -i %s --components 0.5 --cannot 9 --links-by id -o links.csv", "all.csv", "some.csv", "links.csv")
	run("fit -m rca -i all.csv --links-from-labels 50 -o model.mlk")
	run("fit -m rca -i all.csv --links-from-labels all -o all.mlk")
	run("select -i all.csv --links-from-labels 50 --criterion labels --methods rca,itml -o chosen.mlk")
	same("classify model.mlk --train %s -i all.csv -o found.csv", "all.csv", "some.csv", "found.csv")
	same("classify --train %s -i none.csv -o found.csv", "all.csv", "some.csv", "found.csv")
	for _, line := range []string{"embed model.mlk -i %s -o out.csv", "distance model.mlk -i %s --pairs pairs.csv -o out.csv",
		"neighbors model.mlk --train all.csv -i %s -k 2 -o out.csv", "gram model.mlk -i %s -o out.csv",
		"classify model.mlk --train all.csv -i %s -o out.csv", "cluster model.mlk -i %s -n 2 -o out.csv",
		"pairs model.mlk -i %s --threshold 1 -o out.csv"} {
		same(line, "all.csv", "none.csv", "out.csv")
	}
	scores := clitest.Parse(t, run("score --json --truth all.csv --predicted found.csv"))
	if scores["n"] != float64(labeled) || scores["unlabeled"] != float64(60-labeled) || scores["accuracy"] == nil {
		t.Errorf("scores %v: want those of %d rows", scores, labeled)
	}
	if text := run("check -i all.csv"); !strings.Contains(text, "labels of 2 classes, 20 rows without a label") ||
		strings.Count(text, "label") != 3 {
		t.Errorf("check prints %q: want one remark on 20 rows", text)
	}
	for _, line := range []string{"report model.mlk -i all.csv -o r.html", "plot model.mlk -i all.csv -o p.svg",
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
