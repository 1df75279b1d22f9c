package builds

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// TestCompare: differences are the largest of any two digests, relative to the largest distance.
func TestCompare(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	digest := func(objective float64, iterations int, distances ...float64) *Digest {
		return &Digest{Backend: "b", Results: []Result{
			{Method: "a", Problem: "p", Distances: distances, Objective: value(objective),
				Iterations: iterations},
			{Method: "z", Problem: "p", Distances: []float64{0}, Sensitivity: 0.25},
		}}
	}
	three := []*Digest{digest(2, 5, 8, 1), digest(2, 5, 8, 2), digest(1, 6, 8, 4)}
	rows, err := Compare(three)
	if err != nil {
		t.Fatal(err)
	}
	first := rows[0]
	if len(rows) != 2 || first.Distances != 3.0/8 || *first.Objective != 0.5 ||
		!slices.Equal(first.Iterations, []int{5, 5, 6}) {
		t.Errorf("rows %+v: want 3/8 and 1/2 after 5, 5 and 6 iterations", rows)
	}
	var text bytes.Buffer
	if err := Markdown(&text, rows); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| a | p | 3.8e-01 | 0 | 5.0e-01 | 5 / 5 / 6 |",
		"| z | p | 0 | 2.5e-01 | – | 0 |"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("the table has no line %q:\n%s", line, text.String())
		}
	}
	if _, err := Compare(three[:1]); !fault.IsInput(err) {
		t.Errorf("one digest: error %v", err)
	}
	if _, err := Compare([]*Digest{three[0], {Results: three[1].Results[:1]}}); !fault.IsInput(err) {
		t.Errorf("digests of different methods: error %v", err)
	}
}

// TestRead: a digest is read as it was written, and the error for any other file names the file.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := json.Marshal(Digest{Backend: "b",
		Results: []Result{{Method: "a", Distances: []float64{0.1}}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(write("good.json", string(text)))
	if err != nil || d.Results[0].Distances[0] != 0.1 {
		t.Errorf("%+v, error %v", d, err)
	}
	for _, path := range []string{filepath.Join(dir, "none.json"), write("torn.json", string(text[:20])),
		write("empty.json", "{}")} {
		if _, err := Read(path); !fault.IsInput(err) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
