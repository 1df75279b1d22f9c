package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
)

// TestOptional: a column without its file has no values, comparison, order or box, and the report
// says which file it wants; with the file, all are there. The state file keeps both runs apart.
func TestOptional(t *testing.T) {
	table, eng := toy(), scopEngine(t)
	table.Own, table.Good, table.Quartiles = "first", Higher, true
	table.Optional = map[string]string{"b": "b.csv"}
	trial := table.Trial
	table.Trial = func(ctx context.Context, eng *engine.Engine, tr Trial) ([][]float64, error) {
		values, err := trial(ctx, eng, tr)
		if !tr.Has("b.csv") {
			for i := range values {
				values[i][1] = math.NaN()
			}
		}
		return values, err
	}
	folder := t.TempDir()
	state := filepath.Join(t.TempDir(), "state")
	for _, present := range []bool{false, true} {
		if present {
			if err := os.WriteFile(filepath.Join(folder, "b.csv"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Run(context.Background(), eng, table, Options{Data: folder, State: state, Repetitions: 8})
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		columns, compared, resumed := 1, 2, 0
		if present {
			columns, compared = 2, 3
		}
		if len(r.Panels()) != columns || len(e.Comparisons) != compared || e.Orders[0].Columns != columns ||
			r.Resumed != resumed {
			t.Errorf("present %v: %d panels, %d comparisons, %d columns in order, %d resumed", present,
				len(r.Panels()), len(e.Comparisons), e.Orders[0].Columns, r.Resumed)
		}
		const wanted = "No data: b wants b.csv"
		page := Reproduction([]Entry{e}, printed.Builtin(), "results", "command")
		if strings.Contains(r.Markdown(), wanted) == present || strings.Contains(page, wanted) == present {
			t.Errorf("present %v: pages\n%s\n%s", present, r.Markdown(), page)
		}
		text, err := json.Marshal(r)
		if err != nil || bytes.Contains(text, []byte(`"absent":["b"]`)) == present {
			t.Errorf("present %v: %s, error %v", present, text, err)
		}
	}
	if files := table.OptionalFiles(); len(files) != 1 || files[0] != "b.csv" {
		t.Errorf("files %v: want b.csv", files)
	}
	table.Optional["c"] = "c.csv"
	if err := table.validate(); err == nil {
		t.Error("a file of a column that the table does not have: want an error")
	}
}
