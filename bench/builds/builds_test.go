package builds

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestBackendsAgree: gonum, the slow reference, learns the geometry that the build's own backend learns, in every
// method.
func TestBackendsAgree(t *testing.T) {
	ctx := context.Background()
	own, err := Compute(ctx, enginetest.New(t, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backends.Open(backends.Options{Name: "gonum", SIMD: "generic"})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Options{Workers: 2, Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	reference, err := Compute(ctx, eng, func(_, _ int, method string) { methods = append(methods, method) })
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) != len(catalog.Methods()) {
		t.Errorf("progress of %d methods: want %d", len(methods), len(catalog.Methods()))
	}
	rows, err := Compare([]*Digest{own, reference})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !(r.Distances <= tolerance(r.Method)) {
			t.Errorf("%s on %s: distances differ by %.1e, iterations %v", r.Method, r.Problem, r.Distances, r.Iterations)
		}
		if r.Objective != nil && !(*r.Objective <= tolerance(r.Method)) {
			t.Errorf("%s on %s: objectives differ by %.1e, iterations %v", r.Method, r.Problem, *r.Objective, r.Iterations)
		}
	}
}

// tolerance is 1e-7, what rounding in regularised problems (conditioned like 1e8) comes to. Ascents that end when little is
// to be gained, far from where the gradient vanishes, are as far apart as their parameter tol lets them be.
func tolerance(method string) float64 {
	switch method {
	case "nca", "sdplr":
		return 1e-4
	}
	return 1e-7
}

// TestCompare: differences are the largest of any two digests, relative to the largest distance.
func TestCompare(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	digest := func(objective float64, iterations int, distances ...float64) *Digest {
		return &Digest{Backend: "b", Results: []Result{
			{Method: "a", Problem: "p", Distances: distances, Objective: value(objective), Iterations: iterations},
			{Method: "z", Problem: "p", Distances: []float64{0}, Sensitivity: 0.25},
		}}
	}
	three := []*Digest{digest(2, 5, 8, 1), digest(2, 5, 8, 2), digest(1, 6, 8, 4)}
	rows, err := Compare(three)
	if err != nil {
		t.Fatal(err)
	}
	first := rows[0]
	if len(rows) != 2 || first.Distances != 3.0/8 || *first.Objective != 0.5 || !slices.Equal(first.Iterations, []int{5, 5, 6}) {
		t.Errorf("rows %+v: want 3/8 and 1/2 after 5, 5 and 6 iterations", rows)
	}
	var text bytes.Buffer
	if err := Markdown(&text, rows); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| a | p | 3.8e-01 | 0 | 5.0e-01 | 5 / 5 / 6 |", "| z | p | 0 | 2.5e-01 | – | 0 |"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("the table has no line %q:\n%s", line, text.String())
		}
	}
	if _, err := Compare(three[:1]); !fault.IsInput(err) {
		t.Errorf("one digest: error %v", err)
	}
	if _, err := Compare([]*Digest{three[0], {Results: three[1].Results[:1]}}); !fault.IsInput(err) {
		t.Errorf("digests of other methods: error %v", err)
	}
}

// TestRead: a digest comes back as it was written, and what is none is refused by name.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := json.Marshal(Digest{Backend: "b", Results: []Result{{Method: "a", Distances: []float64{0.1}}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(write("good.json", string(text)))
	if err != nil || d.Results[0].Distances[0] != 0.1 {
		t.Errorf("%+v, error %v", d, err)
	}
	for _, path := range []string{filepath.Join(dir, "none.json"), write("torn.json", string(text[:20])), write("empty.json", "{}")} {
		if _, err := Read(path); !fault.IsInput(err) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
