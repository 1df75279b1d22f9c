package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestSelectCommand: a nonlinear method is chosen, its model is that of fit, trials are written,
// and the state file contains the fits.
func TestSelectCommand(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	line := "select -i rings.csv -c links.csv --methods krca,rca --grid eps_rel=1e-3:1e-2:2 " +
		"--halving=false --state fits --report trials.json -o model"
	o := commandtest.RunOK(t, dir, line)
	if !strings.Contains(o.Stdout, "krca eps_rel=0.001") || !strings.Contains(o.Stdout, "20 fits") {
		t.Errorf("%s", o.Stdout)
	}
	r := clitest.Parse(t, clitest.Read(t, dir, "trials.json"))
	if best := r["best"].(map[string]any); best["method"] != "krca" {
		t.Errorf("best %v", best)
	}
	again := clitest.Parse(t, commandtest.RunOK(t, dir, line+" --json").Stdout)
	if again["resumed"] != 20.0 {
		t.Errorf("%v fits from the state file: want 20", again["resumed"])
	}
	eps := again["best"].(map[string]any)["params"].(map[string]any)["eps_rel"]
	commandtest.RunOK(t, dir,
		fmt.Sprintf("fit -q -m krca -p eps_rel=%s -i rings.csv -c links.csv -o fitted", eps))
	if a, b := commandtest.RunOK(t, dir, "embed model -q -i rings.csv -o -").Stdout,
		commandtest.RunOK(t, dir, "embed fitted -q -i rings.csv -o -").Stdout; a != b {
		t.Error("the model is not the one that fit makes")
	}
	for _, criterion := range []string{"agreement -n 2", "combined -n 2", "labels", "stability -n 2"} {
		commandtest.RunOK(t, dir,
			"select -q -i rings.csv -c links.csv --standardize --methods rca,krca --halving --folds 3 "+
				"--criterion "+criterion+" -o m2")
	}
	commandtest.RunOK(t, dir, "select -q -i rings.csv --links-from-labels 40 --trials 3 -o m3")
	usual := clitest.Parse(t,
		commandtest.RunOK(t, dir, "select -i rings.csv -c links.csv -n 2 --margin 1e5 -o m4 --json").Stdout)
	if usual["criterion"] != "combined" || usual["incumbent"] != "blend" ||
		usual["best"].(map[string]any)["method"] != "blend" {
		t.Errorf("with -n and no other choice: criterion %v, incumbent %v, best %v", usual["criterion"],
			usual["incumbent"], usual["best"])
	}
	kept := commandtest.RunOK(t, dir,
		"select -i rings.csv -c links.csv --methods krca --incumbent krca --margin "+
			"1e5 -o m4")
	if !strings.Contains(kept.Stdout,
		"krca stays: no candidate is ahead by more than 100000 standard errors") {
		t.Errorf("%s", kept.Stdout)
	}
	beaten := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"select -i rings.csv -c links.csv --methods krca --incumbent rca -o m4 --json").Stdout)
	if beaten["best"].(map[string]any)["method"] != "krca" || beaten["incumbent"] != "rca" {
		t.Errorf("best %v, incumbent %v", beaten["best"], beaten["incumbent"])
	}
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"select -i rings.csv -o m":                                      {"-c LINKS"},
		"select -i rings.csv -c links.csv":                              {"output"},
		"select -i rings.csv -c links.csv -o m --methods krac":          {"krac", "krca"},
		"select -i rings.csv -c links.csv -o m --methods rca -k linear": {"kernel"},
		"select -i rings.csv -c links.csv -o m --grid eps_rel":          {"--grid", "name=a,b,c"},
		"select -i rings.csv -c links.csv -o m --grid eps_rel=1:0:3":    {"from:to:count"},
		"select -i rings.csv -c links.csv -o m --grid epsrel=1":         {"epsrel"},
		"select -i rings.csv -c links.csv -o m --criterion luck":        {"luck", "ranking"},
		"select -i rings.csv -c links.csv -o m --criterion agreement":   {"clusters", "-n"},
		"select -i rings.csv -c links.csv -o m --criterion combined":    {"clusters", "-n"},
		"select -i rings.csv -c links.csv -o m --incumbent krac": {"--incumbent", "krac",
			"krca"},
		"select -i rings.csv -c links.csv -o m --incumbent krca,rca": {"--incumbent"},
		// there is no blend to keep
		"select -i rings.csv -c links.csv -o m --methods krca --margin 2":       {"--margin", "--incumbent"},
		"select -i rings.csv -c links.csv -o m --incumbent rca --margin -1":     {"--margin"},
		"select -i rings.csv -c links.csv -o m --folds 1":                       {"--folds"},
		"select -i rings.csv -c links.csv -o m --folds 90":                      {"too few", "folds"},
		"select -i rings.csv -c links.csv -o m --trials 0":                      {"--trials"},
		"select -i rings.csv -c links.csv -o m --report x.csv":                  {"--report", ".json"},
		"select -i rings.csv --links-from-labels all -o m":                      {"--links-from-labels"},
		"select -i rings.csv -c links.csv --methods rca --state rings.csv -o m": {"state file"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}
