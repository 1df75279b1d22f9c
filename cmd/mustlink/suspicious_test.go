package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// wrongLinks writes points of two groups with ids, and links of which one of each kind is
// mislabeled: 0 and 3 are of different groups, 4 and 6 of the same.
func wrongLinks(t *testing.T, dir string) {
	t.Helper()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(40, 3, true))
	text := "i,j,link\n0,3,must\n4,6,cannot\n"
	for i := range 16 { // the two groups alternate
		text += fmt.Sprintf("%d,%d,must\n%d,%d,cannot\n", i, 2+i+2*(i%5), i, 1+i+2*(i%7))
	}
	clitest.Write(t, dir, "links.csv", text)
}

// TestSuspicious: the mislabeled links come first in inspect, with ids and lines, in text, in JSON
// and in the page; fit leaves them out.
func TestSuspicious(t *testing.T) {
	dir := t.TempDir()
	wrongLinks(t, dir)
	commandtest.RunOK(t, dir, "fit -q -m itml -i data.csv -c links.csv -o model.mlk")
	o := commandtest.RunOK(t, dir, "inspect model.mlk -i data.csv -c links.csv --suspicious 2")
	_, list, found := strings.Cut(o.Stdout, "most suspicious links")
	// one of them in the head
	if !found || !strings.Contains(list, "p0 - p3 (line 2)") || !strings.Contains(list, "p4 - p6 (line 3)") ||
		strings.Count(list, "score ") != 3 {
		t.Errorf("inspect lists\n%s", list)
	}
	r := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"inspect model.mlk -i data.csv -c links.csv --suspicious 100 --json").Stdout)["links"].(map[string]any)
	all := r["suspicious"].([]any)
	if len(all) != 34 {
		t.Fatalf("%d links are listed: want all 34", len(all))
	}
	named := map[string]bool{}
	for k, v := range all {
		l := v.(map[string]any)
		if k < 2 {
			named[fmt.Sprint(l["ids"], l["link"], l["line"])] = true
		}
		if l["contradiction"] != nil && !strings.Contains(l["reason"].(string), "line") {
			t.Errorf("the reason of a contradiction names no path: %v", l)
		}
	}
	if !named["[p0 p3]must2"] || !named["[p4 p6]cannot3"] {
		t.Errorf("the first two are %v", named)
	}
	if plain := commandtest.RunOK(t, dir,
		"inspect model.mlk -i data.csv -c links.csv"); strings.Contains(plain.Stdout, "suspicious") {
		t.Error("suspicious links are listed without --suspicious")
	}
	if o := commandtest.RunOK(t, dir,
		"fit -m itml -i data.csv -c links.csv --drop-suspicious 0.03 -o cured.mlk"); !strings.Contains(
		o.Stdout, "1 suspicious link,") {
		t.Errorf("fit does not say what it leaves out:\n%s", o.Stdout)
	}
	commandtest.RunOK(t, dir, "report model.mlk -i data.csv -c links.csv --suspicious 2 -q -o page.html")
	if page := clitest.Read(t, dir, "page.html"); !strings.Contains(page,
		"<td>p0 - p3 (line 2)</td><td>must</td>") || !strings.Contains(page, "--suspicious 2") {
		t.Error("the page does not list them")
	}
	f := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"fit -m itml -i data.csv -c links.csv --drop-suspicious 0.06 -o cured.mlk --json").Stdout)
	if dropped := f["dropped"].([]any); len(dropped) != 2 ||
		f["must_links"].(float64)+f["cannot_links"].(float64) != 32 {
		t.Errorf("left out %v of %v and %v links", dropped, f["must_links"], f["cannot_links"])
	}
	whole := clitest.Parse(t, commandtest.RunOK(t, dir,
		"fit -m itml -i data.csv -c links.csv -o whole.mlk --json").Stdout)
	if v := whole["verdict"]; v == nil || !reflect.DeepEqual(f["verdict"], v) {
		t.Errorf("the links that are left out do not judge: %v, with them %v", f["verdict"], v)
	}

	clitest.Write(t, dir, "one.csv", "i,j,link\n0,2,must\n0,1,cannot\n")
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"inspect model.mlk --suspicious 3":                           {"--suspicious", "-c"},
		"inspect model.mlk -i data.csv -c links.csv --suspicious -1": {"--suspicious", "-1"},
		"inspect model.mlk -i data.csv -c one.csv --suspicious 1": {"one.csv",
			"single must-link"},
		"report model.mlk -i data.csv --suspicious 3 -o x.html":               {"--suspicious", "-c"},
		"fit -m itml -i data.csv -c links.csv --drop-suspicious 1 -o x.mlk":   {"--drop-suspicious", "1"},
		"fit -m itml -i data.csv -c links.csv --drop-suspicious NaN -o x.mlk": {"--drop-suspicious", "NaN"},
		"fit -m itml -i data.csv -c one.csv --drop-suspicious 0.5 -o x.mlk": {"one.csv",
			"single must-link"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}
