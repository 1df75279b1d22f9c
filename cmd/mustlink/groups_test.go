package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestClusterGroups: records of customers are grouped up to a distance, or where a calibration
// says; links are kept, and a group has a source once.
func TestClusterGroups(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("id,x,y,source,at,label\n")
	for i := range 60 { // three records of each of 20 customers, the last one of some without a source
		c := i / 3
		fmt.Fprintf(&text, "r%d,%d.%d,%d,%s,2024-05-01 %02d:%02d,c%d\n", i, 100*(c%5), i%3, 100*(c/5),
			[]string{"crm", "web", []string{"", "crm", "shop"}[c%3]}[i%3], 10+i%3/2, 20*(i%3), c)
	}
	clitest.Write(t, dir, "data.csv", text.String())
	clitest.Write(t, dir, "links.csv", "i,j,link\nr0,r3,must\nr1,r2,cannot\n")
	commandtest.RunOK(t, dir, "links make -i data.csv --drop source,at --must 30 --cannot 90 -o some.csv")
	commandtest.RunOK(t, dir, "calibrate -q -i data.csv --drop source,at --prepare none -c some.csv -o c.mlk")
	for line, want := range map[string][4]float64{ // groups, rows of the largest, forbidden by links, columns
		"-i data.csv --drop source,at --prepare none --distance 5": {20, 3, 0, 0},
		"c.mlk -i data.csv": {20, 3, 0, 0},
		"c.mlk -i data.csv --linkage complete --neighbors 2":        {20, 3, 0, 0},
		"c.mlk -i data.csv -n 20 --linkage ward":                    {20, 3, 0, 0},
		"c.mlk -i data.csv --min-size 3":                            {20, 3, 0, 0},
		"c.mlk -i data.csv --min-size 2 --precision .5":             {20, 3, 0, 0},
		"c.mlk -i data.csv --distinct-within at=20m":                {20, 3, 0, 0},
		"c.mlk -i data.csv --distinct-within at=21m":                {40, 2, 0, 20},
		"c.mlk -i data.csv --neighbors 5 --approximate recall=.9":   {20, 3, 0, 0},
		"c.mlk -i data.csv --distinct source":                       {27, 3, 0, 7},
		"c.mlk -i data.csv --distance 5 -c links.csv --links-by id": {22, 3, 1, 0},
	} {
		o := commandtest.RunOK(t, dir, "cluster "+line+" -o groups.csv --json")
		r := clitest.Parse(t, o.Stdout)
		found := clitest.Read(t, dir, "groups.csv")
		group, ids := commandtest.Column(t, found, "label"), commandtest.Column(t, found, "id")
		got := [4]float64{r["groups"].(float64), r["largest"].([]any)[0].(float64)}
		if f, ok := r["forbidden"].(map[string]any); ok {
			got[2], got[3] = f["links"].(float64), f["columns"].(float64)
		}
		distinct := slices.Clone(group)
		slices.Sort(distinct)
		if got != want || len(ids) != 60 || float64(len(slices.Compact(distinct))) != want[0] {
			t.Errorf("%s: %v and groups %v, want %v", line, r, group, want)
		}
		if s := clitest.Parse(t, commandtest.RunOK(t, dir,
			"score --truth data.csv --predicted groups.csv --groups --json").Stdout); s["pairwise"] == nil ||
			fmt.Sprint(s) != fmt.Sprint(r["scores"]) {
			t.Errorf("%s: scores %v and %v", line, r["scores"], s)
		}
		if strings.Contains(line, "links") && (group[0] != group[3] || group[1] == group[2]) {
			t.Errorf("%s: groups %v violate a link", line, group)
		}
		if warned := strings.Contains(fmt.Sprint(r["warnings"]), "7 empty cells"); warned !=
			strings.Contains(line, "distinct ") {
			t.Errorf("%s: warnings %v", line, r["warnings"])
		}
	}
	for what, flags := range map[string]string{"all rows are one group": "--distance 9999",
		"all rows are in no group": "--min-size 50"} {
		o := commandtest.RunOK(t, dir, "cluster -i data.csv --drop source,at "+flags+" -o all.csv")
		if !strings.Contains(o.Stderr, what) {
			t.Errorf("%s: no warning that %s: %s", flags, what, o.Stderr)
		}
	}
}
