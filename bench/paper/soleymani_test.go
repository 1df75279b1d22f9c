package paper

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/racetest"
)

// handmade runs a table with values by trial, row and column instead of its trials.
func handmade(t *testing.T, table Table, folder string,
	value func(trial int, row, column string) float64) *Result {
	t.Helper()
	table.Prepare, table.Data, table.Steps = nil, nil, 0
	table.Trial = func(_ context.Context, _ *engine.Engine, tr Trial) ([][]float64, error) {
		var values [][]float64
		for _, row := range table.Rows {
			var line []float64
			for _, column := range table.Columns {
				v := value(tr.Number, row.Name, column)
				if file, ok := table.Optional[column]; ok && !tr.Has(file) {
					v = math.NaN()
				}
				line = append(line, v)
			}
			values = append(values, line)
		}
		return values, nil
	}
	r, err := Run(context.Background(), scopEngine(t), table, Options{Data: folder, Repetitions: 10})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSoleymaniCounts: the counts of sets are those of a made-up table, with all nine sets and
// without WDBC, which makes them counts of a part.
func TestSoleymaniCounts(t *testing.T) {
	folder := t.TempDir()
	gains := map[string]float64{"WDBC": 1, "iris": -1, "wine": 0, "boston": 0} // 1 elsewhere
	value := func(trial int, row, column string) float64 {
		gain, ok := gains[column]
		if !ok {
			gain = 1
		}
		v := 0.5 + 0.001*float64(trial)
		if row == soleymaniOwn {
			v += 0.01*gain + 0.001*float64(2*(trial%2)-1)
		}
		return v
	}
	for _, present := range []bool{false, true} {
		better, partial := 5.0, "8 of 9 sets"
		if present {
			better, partial = 6, ""
			if err := os.WriteFile(filepath.Join(folder, soleymaniMissing), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := handmade(t, soleymaniFigure3(), folder, value)
		list := r.Comparisons()
		if len(list) != 2 || list[0].Ours.Mean != better || list[0].Partial != partial ||
			list[1].Ours.Mean != 2 {
			t.Errorf("present %v: %+v", present, list)
		}
		if claims := soleymaniClaims(r); claims[1].Verdict == Worse ||
			(claims[1].Verdict == Reproduced) != present {
			t.Errorf("present %v: %+v", present, claims[1])
		}
	}
}

// TestSoleymaniGood: results are good from the threshold on.
func TestSoleymaniGood(t *testing.T) {
	r := handmade(t, soleymaniFigure2(), "", func(_ int, row, column string) float64 {
		if row == "LLMA" && column == "rings" {
			return soleymaniWell - 0.01
		}
		return soleymaniWell
	})
	for k, c := range r.Comparisons() {
		if c.Ours.Mean != float64(2+k) || c.Verdict != Reproduced || c.Partial == "" {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range soleymaniGoodClaims(r) {
		if c.Verdict != Reproduced {
			t.Errorf("%+v", c)
		}
	}
}

// TestSoleymaniTrial: a folder with the ninth set has values for it, one without has none; the
// values of the sets before it are the same.
func TestSoleymaniTrial(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	ctx, eng, data := context.Background(), scopEngine(t), realData(t)
	folder := t.TempDir()
	sets := soleymaniUCI()[:7]
	for _, s := range sets {
		from := s.file
		if from == soleymaniMissing {
			from = "breast-w.csv" // stands in
		}
		if err := os.Symlink(filepath.Join(data, from), filepath.Join(folder, s.file)); err != nil {
			t.Fatal(err)
		}
	}
	var before [][]float64
	systems := []string{"input", "LLMA", "LLMA, lambda 5", soleymaniOwn}
	for _, folder := range []string{folder, data} {
		trial := Trial{Data: folder, seed: 3}
		if folder == data && trial.Has(soleymaniMissing) {
			t.Skip("the folder has all sets")
		}
		loaded, err := loadSoleymani(ctx, eng, trial, sets)
		if err != nil {
			t.Fatal(err)
		}
		trial.Shared = loaded
		values, err := soleymaniTrial(ctx, eng, trial, sets, systems)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range values {
			if has := !math.IsNaN(row[6]); has != (folder != data) {
				t.Errorf("%s: %v", systems[i], row)
			}
			for j, v := range row[:6] {
				if !(v > 0 && v <= 1) || before != nil && v != before[i][j] {
					t.Errorf("%s, %s: %v", systems[i], sets[j].name, v)
				}
			}
		}
		before = values
	}
}
