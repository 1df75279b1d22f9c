package filestest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestHonestPage: numbers on training rows are called in-sample, those on other rows and on
// held-out links are not; importances are exact for a linear metric, and otherwise measured on
// held-out links, where a column of noise costs less than one that tells the classes apart. Hashes
// are at the end, and rules are shown as what they chose.
func TestHonestPage(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	clitest.Write(t, dir, "blobs.csv", clitest.Blobs(60, 3, false))
	clitest.Write(t, dir, "other.csv", clitest.Blobs(50, 3, true))
	commandtest.RunOK(t, dir, "links make -i blobs.csv --pairs 30 -o few.csv")
	commandtest.RunOK(t, dir, "links make -i blobs.csv --pairs 30 --seed 9 -o held.csv")
	commandtest.RunOK(t, dir, "fit -q -m lleratio -i blobs.csv -c few.csv -o lleratio")
	commandtest.RunOK(t, dir, "fit -q -m rca -i blobs.csv -c few.csv -o rca")
	commandtest.RunOK(t, dir,
		"report -q lleratio rca -i blobs.csv -c few.csv --held-out held.csv -o page.html")
	page := clitest.Read(t, dir, "page.html")
	for _, want := range []string{"AUC of held-out links", "ROC of held-out links", "in-sample",
		"on held-out links when a column is permuted", "Share of the mean squared distance",
		"alpha=0.02 (auto)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(page, "alpha=-1") ||
		strings.Index(page, "fingerprint") < strings.Index(page, `id="h-details"`) {
		t.Error("a rule is shown as a number, or a hash is above the details")
	}
	commandtest.RunOK(t, dir, "report -q lleratio rca -i other.csv -o other.html")
	if page := clitest.Read(t, dir, "other.html"); strings.Contains(page, "in-sample)") ||
		strings.Contains(page, "learned from (") {
		t.Error("other rows than those of the fit are called in-sample")
	}
	commandtest.RunOK(t, dir, "report -q lleratio -i blobs.csv -c few.csv -o given.html")
	if page := clitest.Read(t, dir, "given.html"); !strings.Contains(page,
		"Loss of AUC on the links the model learned from (in-sample)") {
		t.Error("importances on training links are not called so")
	}
}

// TestReportPage: one page for data, links and models, without markup from hostile labels, the same
// for the same arguments.
func TestReportPage(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	commandtest.RunOK(t, dir, "fit -q -m krca -i rings.csv -c links.csv -o krca")
	commandtest.RunOK(t, dir, "fit -q -m mmc -i rings.csv -c links.csv -o mmc")
	commandtest.RunOK(t, dir, "fit -q -m kbeta -i rings.csv -c links.csv -o kbeta")
	o := commandtest.RunOK(t, dir, "report krca mmc kbeta -i rings.csv -c links.csv -o page.html")
	page := clitest.Read(t, dir, "page.html")
	for _, want := range []string{"raw: prepared points, no learning", "krca", "mmc: objective",
		"kbeta: spectrum", "balanced Rand", "AUC of the given links", "training rows (in-sample)",
		"ROC of the links the model learned from (in-sample)", "mustlink report krca mmc kbeta -i rings.csv",
		"<svg"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if !strings.Contains(o.Stdout, "60 points, raw, krca, mmc, kbeta") {
		t.Errorf("%s", o.Stdout)
	}
	commandtest.RunOK(t, dir, "report krca mmc kbeta -i rings.csv -c links.csv -q -o again.html")
	if again := clitest.Read(t, dir, "again.html"); strings.ReplaceAll(again, "again.html",
		"page.html") != page {
		t.Error("the same command writes another page")
	}
	r := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"report krca krca -i rings.csv -n 2 --seeds 1 --title a&b --json -o two.html").Stdout)
	if metrics := fmt.Sprint(r["metrics"]); metrics != "[raw krca (krca) krca (krca)]" ||
		r["points"] != 60.0 {
		t.Errorf("%v", r)
	}

	clitest.Write(t, dir, "hostile.csv",
		"x,\"<b>&\",label\n1,2,</script><script>alert(1)</script>\n2,1,\"a\"\"b\"\n3,5,ok\n")
	commandtest.RunOK(t, dir, "report -i hostile.csv --standardize -q -o hostile.html")
	if page := clitest.Read(t, dir, "hostile.html"); strings.Count(page, "</script>") != 1 ||
		strings.Contains(page, "<b>") {
		t.Error("a label or a feature has become markup")
	}
	clitest.Write(t, dir, "letters.fasta", ">a\nACDEFGHIK\n>b\nACDEFGHIL\n>c\nWYWYWYWYW\n>d\nWYWYWYWYV\n")
	clitest.Write(t, dir, "pairs.csv", "i,j,link\n0,1,must\n0,2,cannot\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -i letters.fasta -c pairs.csv -o letters")
	if o := commandtest.RunOK(t, dir,
		"report letters -i letters.fasta -c pairs.csv -o -"); strings.Contains(o.Stdout, "no learning") ||
		!strings.Contains(o.Stdout, "</html>") {
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
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}
