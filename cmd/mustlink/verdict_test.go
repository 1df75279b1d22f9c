package main

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestVerdict: a fit says how well it ranks held-out links, its model keeps that, and the model is
// otherwise that of a fit without a verdict.
func TestVerdict(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	o := commandtest.RunOK(t, dir, "fit -m krca -k rbf:sigma=0.5msq -i rings.csv -c links.csv -o model")
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	last := lines[len(lines)-2]
	if !strings.HasPrefix(last, "held-out links: AUC ") || !strings.HasSuffix(last,
		": the learned metric is better") || !strings.HasPrefix(lines[len(lines)-1], "- judged on ") {
		t.Errorf("%s", o.Stdout)
	}
	if shown := commandtest.RunOK(t, dir, "inspect model").Stdout; !strings.Contains(shown, last) {
		t.Errorf("want %q in\n%s", last, shown)
	}
	plain := commandtest.RunOK(t, dir,
		"fit -m krca -k rbf:sigma=0.5msq -i rings.csv -c links.csv --no-verdict -o plain")
	if strings.Contains(plain.Stdout, "held-out") {
		t.Errorf("%s", plain.Stdout)
	}
	if a, b := commandtest.RunOK(t, dir, "embed model -q -i rings.csv -o -").Stdout,
		commandtest.RunOK(t, dir, "embed plain -q -i rings.csv -o -").Stdout; a != b {
		t.Error("the verdict changes the metric")
	}
	v := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"fit -m krca -i rings.csv -c links.csv --folds 3 -o model --json").Stdout)["verdict"].(map[string]any)
	if v["fits"] != 3.0 || v["auc"].(float64) > 1.5 || v["finding"] != "better" {
		t.Errorf("%v", v)
	}
	few := commandtest.RunOK(t, dir, "fit -i rings.csv --links-from-labels 2 -o model").Stdout
	if !strings.Contains(few, "held-out links: not judged: 2 must-links and 2 cannot-links are too few") {
		t.Errorf("%s", few)
	}
}

// TestSearch: a search before the fit names its candidates, and the model is of the best one.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	found := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"fit --search -i rings.csv -c links.csv --no-verdict -o model --json").Stdout)
	search := found["search"].(map[string]any)
	if best := search["best"].(map[string]any); best["method"] != found["method"] ||
		len(search["trials"].([]any)) != 7 || search["raw"] == nil {
		t.Errorf("%v", found)
	}
	text := commandtest.RunOK(t, dir,
		"fit --search -m krca -i rings.csv -c links.csv --no-verdict -o model").Stdout
	if !strings.Contains(text, "1 candidate, 5 fits") || !strings.Contains(text, "; --search=long tries ") {
		t.Errorf("%s", text)
	}
}

// TestLearningCurve: the curve is a picture or numbers, with ever more links.
func TestLearningCurve(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	text := commandtest.RunOK(t, dir,
		"fit -m krca -i rings.csv -c links.csv --no-verdict --curve curve.svg -o model").Stdout
	if !strings.Contains(text, "learning curve: ") ||
		!strings.Contains(clitest.Read(t, dir, "curve.svg"), "<svg") {
		t.Errorf("%s", text)
	}
	commandtest.RunOK(t, dir,
		"fit -q -m krca -i rings.csv -c links.csv --no-verdict --curve curve.json -o model")
	before := 0.0
	for _, step := range clitest.Parse(t, clitest.Read(t, dir, "curve.json"))["steps"].([]any) {
		s := step.(map[string]any)
		if links := s["links"].(float64); links <= before || s["auc"].(float64) > 1.5 {
			t.Errorf("step %v after one of %v links", s, before)
		} else {
			before = links
		}
	}
	if before == 0 {
		t.Error("no steps")
	}
}
