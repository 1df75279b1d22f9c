package commands

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// TestAll: every entry has its page and numbers, missing data are reported, and a second run
// computes nothing.
func TestAll(t *testing.T) {
	trials, drawings := 0, 0
	table := func(name string, data []string) paper.Table {
		return paper.Table{Name: name, Label: "Table 1", Columns: []string{"c"},
			Rows: []paper.Row{{Name: "r", Printed: paper.Means(2)}}, Good: paper.Higher,
			Repetitions: 70, Data: data,
			Trial: func(context.Context, *engine.Engine, paper.Trial) ([][]float64, error) {
				trials++
				return [][]float64{{1}}, nil
			}}
	}
	tables := []paper.Table{table("here", nil), table("gone", []string{"no.csv"})}
	figures := []paper.Figure{{Name: "drawn", Caption: "a line",
		Draw: func(context.Context, *engine.Engine, paper.Sketch) (*paper.Drawing, error) {
			drawings++
			return &paper.Drawing{Columns: []string{"x"}, Rows: [][]float64{{1}},
					Notes: []string{"It is one."},
					Panels: []view.Panel{view.Lines{Series: []view.Series{{X: []float64{1},
						Y: []float64{1}}}}}},
				nil
		}}}
	dir := filepath.Join(t.TempDir(), "out")
	for run, want := range []string{"made", "found"} {
		a := &app{&session.Session{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string {
			return ""
		}, Workers: 1}}
		cmd := &cobra.Command{}
		cmd.SetContext(context.Background())
		if err := a.runAll(cmd, &paperFlags{quick: true, seed: 3, data: t.TempDir(), out: dir}, tables,
			figures); err != nil {
			t.Fatal(err)
		}
		if trials != 7 || drawings != 1 {
			t.Errorf("run %d: %d trials and %d drawings: want 7 and 1, %s", run, trials, drawings, want)
		}
		page := clitest.Read(t, dir, reproductionPage) +
			clitest.Read(t, filepath.Join(dir, resultsFolder, detailsFolder), "figures.csv") +
			clitest.Read(t, filepath.Join(dir, resultsFolder, detailsFolder), "rivals.csv") +
			clitest.Read(t, filepath.Join(dir, resultsFolder, detailsFolder), "own.csv")
		for _, words := range []string{"tsang-1,none,1,", "tsang-1,none,3,",
			"data not available (no.csv)", "It is one.", "--quick"} {
			if !strings.Contains(page, words) {
				t.Errorf("run %d: %q is missing in\n%s", run, words, page)
			}
		}
	}
	var numbers paper.Result
	if err := json.Unmarshal([]byte(clitest.Read(t, filepath.Join(dir, resultsFolder), "here.json")),
		&numbers); err != nil || numbers.Repetitions != 7 {
		t.Errorf("%d repetitions, error %v", numbers.Repetitions, err)
	}
	for _, name := range []string{"here.md", "drawn.md", "drawn.json", "drawn.svg"} {
		if clitest.Read(t, filepath.Join(dir, resultsFolder), name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}
