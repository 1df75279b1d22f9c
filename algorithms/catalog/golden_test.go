package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
)

// goldenTolerance is the largest difference between the distances of a golden model and those of
// the same fit repeated, relative to the largest distance. It is 1e-9 for methods with a closed
// form, and more for iterative methods, which end within a tolerance of their own and may take
// another path in another build.
func goldenTolerance(method string) float64 {
	switch method {
	case "nca", "mlkr": // not convex, and flat at the end
		return 1e-3
	case "gml", "itml", "npkl", "npk", "simplenpkl", "sdplr", "lmnn", "lsml", "scml", "mmc", "cmvu", "sdml":
		return 1e-5
	}
	return 1e-9
}

// goldenParams returns the parameters of a golden model whose defaults have changed since, or would
// make a large file.
func goldenParams(method string) map[string]string {
	switch method {
	case "gml":
		return map[string]string{"outer": "5", "tol": "0.001", "max_iter": "20", "dims": "0"}
	case "llma":
		return map[string]string{"anchors": "50", "dims": "20"}
	case "forest": // for a small file
		return map[string]string{"trees": "20"}
	}
	return nil
}

// refitted are methods that take links in another order since their first golden file, and end
// elsewhere within their tolerance: fits are compared with those of a second file.
var refitted = []string{"gml", "itml", "blend"}

// goldenFit fits a method on the points of the golden models, with the defaults of the time when
// they were written.
func goldenFit(t *testing.T, m catalog.Method) *catalog.Fitted {
	t.Helper()
	d, _ := training(t)
	set, err := links.SampleByCount(d.Labels, 12, 12, 4)
	if err != nil {
		t.Fatal(err)
	}
	learner, err := m.New(catalog.Config{Params: goldenParams(m.Name), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := learner.Fit(t.Context(), enginetest.New(t, 0), d.Points, set)
	if err != nil {
		t.Fatal(err)
	}
	return &catalog.Fitted{Model: fitted, Features: d.Features, Fingerprint: dataset.Fingerprint(d.Points),
		LibraryVersion: "golden", Build: "golden"}
}

// goldenDistances is the tensor with the distances that the model gave when it was written. No
// decoder knows it.
const goldenDistances = "golden.distances"

func writeGolden(t *testing.T, path string, f *catalog.Fitted, distances []float64) {
	t.Helper()
	file, err := catalog.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	file.SetFloat64s(goldenDistances, distances)
	if err := file.WriteFile(path); err != nil {
		t.Fatal(err)
	}
}

func wantWithin(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	largest := slices.Max(want)
	for i := range want {
		if e := (got[i] - want[i]) / largest; !(max(e, -e) <= tolerance) {
			t.Errorf("distance %d is %.17g: %s is %.17g (%.1e of the largest)", i, got[i], what, want[i], e)
		}
	}
}

// A model file of format version 1 of every method loads in every build. It gives the distances
// that it gave when it was written, and those of the same fit repeated. Existing files are never
// written again: a reader that refuses them breaks the promise of docs/compatibility.md. -update
// writes missing files.
func TestGoldenOfEveryMethod(t *testing.T) {
	folder := filepath.Join("testdata", "v1")
	var want []string
	for _, m := range catalogtest.Methods() {
		names := []string{m.Name + ".safetensors"}
		if slices.Contains(refitted, m.Name) {
			names = append(names, m.Name+"-ordered.safetensors")
		}
		want = append(want, names...)
		for k, name := range names {
			t.Run(name, func(t *testing.T) {
				testGolden(t, m, filepath.Join(folder, name), k == len(names)-1)
			})
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s is of no method: a method that is gone can no longer be loaded", e.Name())
		}
	}
}

// testGolden loads a golden file, and compares its distances with those of the same fit repeated if
// it is the newest of its method.
func testGolden(t *testing.T, m catalog.Method, path string, newest bool) {
	now := goldenFit(t, m)
	again := distances(t, now)
	if _, err := os.Stat(path); err != nil && *update {
		writeGolden(t, path, now, again)
	}
	file, err := model.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	then, err := catalog.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if then.Model.Method() != m.Name || then.Model.Dim() != now.Model.Dim() ||
		!slices.Equal(then.Features, now.Features) {
		t.Errorf("method %s, %d dimensions, features %q: want %s, %d, %q",
			then.Model.Method(), then.Model.Dim(), then.Features, m.Name, now.Model.Dim(),
			now.Features)
	}
	written, err := file.Float64s(goldenDistances, len(again))
	if err != nil {
		t.Fatal(err)
	}
	got := distances(t, then)
	wantWithin(t, "the distance when it was written", got, written, 1e-9)
	if newest {
		wantWithin(t, "the distance of the fit repeated", got, again, goldenTolerance(m.Name))
	}
}
