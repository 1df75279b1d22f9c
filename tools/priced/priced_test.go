package priced

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// TestAnalyzer: every allocation of the example that has a comment "want" is found, and no other.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "a", "a/internal/abi")
}

// TestModule: the packages that read input price what they allocate.
func TestModule(t *testing.T) {
	list, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: "../.."},
		"./engine/dataset/...", "./engine/model", "./engine/links", "./algorithms/neighborindex", "./label",
		"./internal/session", "./cmd/...")
	if err != nil || packages.PrintErrors(list) > 0 || len(list) < 20 {
		t.Fatalf("%d packages, error %v: the test does not see the module", len(list), err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer}, list, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			t.Error(root.Err)
		}
		for _, d := range root.Diagnostics {
			t.Errorf("%s: %s", root.Package.Fset.Position(d.Pos), d.Message)
		}
	}
}
