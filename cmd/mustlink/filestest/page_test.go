package filestest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestReportPage: one page for data, links and models, without markup from hostile labels, the same
// for the same arguments.
func TestReportPage(t *testing.T) {
	dir := t.TempDir()
	harness.WriteRings(t, dir)
	harness.RunOK(t, dir, "fit -q -m krca -i rings.csv -c links.csv -o krca")
	harness.RunOK(t, dir, "fit -q -m mmc -i rings.csv -c links.csv -o mmc")
	harness.RunOK(t, dir, "fit -q -m kbeta -i rings.csv -c links.csv -o kbeta")
	o := harness.RunOK(t, dir, "report krca mmc kbeta -i rings.csv -c links.csv -o page.html")
	page := clitest.Read(t, dir, "page.html")
	for _, want := range []string{"raw points", "krca", "mmc: objective", "kbeta: spectrum", "balanced Rand", "links in order", "mustlink report krca mmc kbeta -i rings.csv", "<svg"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if !strings.Contains(o.Stdout, "60 points, raw points, krca, mmc, kbeta") {
		t.Errorf("%s", o.Stdout)
	}
	harness.RunOK(t, dir, "report krca mmc kbeta -i rings.csv -c links.csv -q -o again.html")
	if again := clitest.Read(t, dir, "again.html"); strings.ReplaceAll(again, "again.html", "page.html") != page {
		t.Error("the same command writes another page")
	}
	r := clitest.Parse(t, harness.RunOK(t, dir, "report krca krca -i rings.csv -n 2 --seeds 1 --title a&b --json -o two.html").Stdout)
	if metrics := fmt.Sprint(r["metrics"]); metrics != "[raw points krca (krca) krca (krca)]" || r["points"] != 60.0 {
		t.Errorf("%v", r)
	}

	clitest.Write(t, dir, "hostile.csv", "x,\"<b>&\",label\n1,2,</script><script>alert(1)</script>\n2,1,\"a\"\"b\"\n3,5,ok\n")
	harness.RunOK(t, dir, "report -i hostile.csv --standardize -q -o hostile.html")
	if page := clitest.Read(t, dir, "hostile.html"); strings.Count(page, "</script>") != 1 || strings.Contains(page, "<b>") {
		t.Error("a label or a feature has become markup")
	}
	clitest.Write(t, dir, "letters.fasta", ">a\nACDEFGHIK\n>b\nACDEFGHIL\n>c\nWYWYWYWYW\n>d\nWYWYWYWYV\n")
	clitest.Write(t, dir, "pairs.csv", "i,j,link\n0,1,must\n0,2,cannot\n")
	harness.RunOK(t, dir, "fit -q -m krca -i letters.fasta -c pairs.csv -o letters")
	if o := harness.RunOK(t, dir, "report letters -i letters.fasta -c pairs.csv -o -"); strings.Contains(o.Stdout, "raw points") || !strings.Contains(o.Stdout, "</html>") {
		t.Error("sequences have no raw coordinates")
	}

	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"report krca -i rings.csv":                         {"output"},
		"report krca -o x.html":                            {"input"},
		"report krca -i rings.csv -o x.pdf":                {".html"},
		"report krca -i rings.csv -o krca.html -n 1":       {"-n"},
		"report krca -i rings.csv -o x.html -n 61":         {"clusters", "60"},
		"report krca -i rings.csv -o x.html --seeds 0":     {"--seeds"},
		"report nothing -i rings.csv -o x.html":            {"nothing"},
		"report krca -i letters.fasta -o x.html":           {"letters.fasta"},
		"report krca -i rings.csv --standardize -o x.html": {"--standardize", "MODEL"},
	} {
		harness.WantInputError(t, dir, harness.Run(t, dir, line), before, words...)
	}
}
