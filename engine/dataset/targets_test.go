package dataset

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Targets are a column of a file, or the labels read as numbers.
func TestTargets(t *testing.T) {
	d := &Data{Points: &points.Dense{N: 3, D: 1, Data: make([]float64, 3)}, Name: "x.csv", Labels: []string{"1.5", "-2e300", " 0 "}}
	want := []float64{1.5, -2e300, 0}
	got, err := d.LabelTargets()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("labels as targets: %v, %v, want %v", got, err, want)
	}
	const text = "why,target\nx, 1.5\n,-2e300\n?,0\n"
	if got, err = d.DecodeTargets(strings.NewReader(text), "-", false, 0); err != nil || !slices.Equal(got, want) {
		t.Errorf("targets %v, %v, want %v", got, err, want)
	}
	if got, err = d.ReadTargets(write(t, "t.csv.gz", zip(t, []byte(text))), 0); err != nil || !slices.Equal(got, want) {
		t.Errorf("targets of a compressed file: %v, %v, want %v", got, err, want)
	}
	var memory *fault.MemoryError
	if _, err := d.DecodeTargets(strings.NewReader(text), "-", false, 20); !errors.As(err, &memory) {
		t.Errorf("beyond the limit: error %v", err)
	}
	if _, err := d.ReadTargets(filepath.Join(t.TempDir(), "no"), 0); !fault.IsInput(err) {
		t.Errorf("a file that is not there: error %v", err)
	}
}

// Errors in targets name file, line, row and column.
func TestBadTargets(t *testing.T) {
	d := &Data{Points: &points.Dense{N: 2, D: 1, Data: make([]float64, 2)}, Name: "x.csv"}
	for text, want := range map[string]string{
		"target\n1\nhigh\n":    `t.csv, line 3, row 1, column "target": the text "high" is not a number: want a finite number`,
		"a,target\n1,NaN\n1,2": `t.csv, line 2, row 0, column "target": the value is NaN: want a finite number`,
		"target\n1\n1e400\n":   `t.csv, line 3, row 1, column "target": the value "1e400" is beyond the range of float64: want a finite number`,
		"target\n1\n2\n3\n":    `t.csv: it has 3 targets: want 2, one for each row of x.csv`,
		"price\n1\n2\n":        `t.csv: the header is "price": want a column target`,
		"target\n":             `t.csv: it has a header but no rows: want at least one row`,
	} {
		_, err := d.DecodeTargets(strings.NewReader(text), "t.csv", false, 0)
		if !fault.IsInput(err) || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	for want, labels := range map[string][]string{
		`x.csv: the rows have no labels: want a column label of numbers`:                      nil,
		`x.csv, row 1, column "label": the text "high" is not a number: want a finite number`: {"1", "high"},
	} {
		d.Labels = labels
		if _, err := d.LabelTargets(); !fault.IsInput(err) || err.Error() != want {
			t.Errorf("labels %q:\n got %v\nwant %s", labels, err, want)
		}
	}
}
