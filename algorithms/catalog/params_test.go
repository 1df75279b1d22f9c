package catalog_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestDefaultsAreWhatTheySay: a parameter set to the default that people are shown makes the same
// learner as leaving it out.
func TestDefaultsAreWhatTheySay(t *testing.T) {
	for _, m := range catalog.Methods() {
		plain, err := m.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if plain.Method() != m.Name {
			t.Errorf("the learner of %s is of %s", m.Name, plain.Method())
		}
		for _, p := range m.Parameters {
			if p.Default == "" {
				continue
			}
			given, err := m.New(catalog.Config{Seed: 1,
				Params: map[string]string{p.Name: " " + p.Default + " "}})
			if err != nil || !reflect.DeepEqual(given, plain) {
				t.Errorf("%s %s=%s: learner %+v, error %v: want that without it, %+v", m.Name, p.Name,
					p.Default, given, err, plain)
			}
		}
	}
}

// TestEveryParameterActs: each parameter takes some other value, which makes another learner, and
// refuses what it cannot be, by its name or its value.
func TestEveryParameterActs(t *testing.T) {
	others := []string{"0.25", "3", "true", "false", "p7", "cosine", "eps:2"}
	// without it, the parameter has one value only
	required := map[string]map[string]string{"gml extension": {"prior": "spectral"}}
	for _, m := range catalog.Methods() {
		for _, p := range m.Parameters {
			params := map[string]string{}
			maps.Copy(params, required[m.Name+" "+p.Name])
			plain, err := m.New(catalog.Config{Seed: 1, Params: params})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			acts := false
			for _, value := range append(strings.FieldsFunc(p.Help, func(r rune) bool {
				return strings.ContainsRune(" ,:()", r)
			}), others...) {
				params[p.Name] = value
				other, err := m.New(catalog.Config{Seed: 1, Params: params})
				if err != nil && !fault.IsInput(err) {
					t.Errorf("%s %s=%s: error %v is not one of the input", m.Name, p.Name, value, err)
				}
				acts = acts || err == nil && !reflect.DeepEqual(other, plain)
			}
			if !acts {
				t.Errorf("%s: no value of %s makes another learner", m.Name, p.Name)
			}
			params[p.Name] = "no such value"
			_, err = m.New(catalog.Config{Params: params})
			if !fault.IsInput(err) || !strings.Contains(err.Error(), p.Name) &&
				!strings.Contains(err.Error(), "no such value") {
				t.Errorf("%s %s=%q: error %v: want one that names it", m.Name, p.Name, "no such value", err)
			}
		}
	}
}

// TestKernelsOfMethods: a method has the kernel that it says is its default, refuses text that is
// no kernel, and one without kernels refuses any.
func TestKernelsOfMethods(t *testing.T) {
	for _, m := range catalog.Methods() {
		_, wrong := m.New(catalog.Config{Kernel: "rfb:sigma=1"})
		if !fault.IsInput(wrong) {
			t.Errorf("%s with the kernel rfb: error %v", m.Name, wrong)
		}
		_, err := m.New(catalog.Config{Kernel: "rbf:sigma=2"})
		if m.DefaultKernel == "" && err != nil && !strings.Contains(err.Error(), "kernel") ||
			m.DefaultKernel != "" && err != nil {
			t.Errorf("%s with a Gaussian kernel: error %v", m.Name, err)
		}
		if m.DefaultKernel == "" {
			continue
		}
		if _, err := m.New(catalog.Config{Kernel: m.DefaultKernel}); err != nil {
			t.Errorf("%s with its default kernel %s: %v", m.Name, m.DefaultKernel, err)
		}
	}
}

// TestParametersFromFiles: rows of landmarks and similarities are read from files, and what is
// wrong in them is named by file and place.
func TestParametersFromFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	square := write("square.csv", "a,b,c\n0,1,0\n1,0,2\n0,2,0\n")
	for name, c := range map[string]struct {
		method, param, value string
		words                []string // of the error, none for a value that is right
	}{
		"rows": {"kbeta", "landmarks", write("rows", "# rows\n3\n\n 5 \n"), nil},
		"rows in words": {"kbeta", "landmarks", write("words", "3\nfive\n"),
			[]string{"words", "line 2", "five"}},
		"a negative row": {"kbeta", "landmarks", write("negative", "-3\n"),
			[]string{"negative", "line 1", "-3"}},
		"no file of rows": {"kbeta", "landmarks", "@" + filepath.Join(dir, "none"),
			[]string{"landmarks", "none"}},
		"similarities":      {"npkl", "graph", square, nil},
		"of another method": {"gml", "graph", square, nil},
		"not square": {"npkl", "graph", write("flat.csv", "a,b\n0,1\n"),
			[]string{"flat.csv", "as many columns"}},
		"no similarities": {"npkl", "graph", "@" + filepath.Join(dir, "none.csv"), []string{"none.csv"}},
		"a radius":        {"npkl", "graph", "eps:2.5", nil},
		"no radius":       {"npkl", "graph", "eps:-1", []string{"radius", "-1"}},
		"unknown graph":   {"npkl", "graph", "kn", []string{"knn", "dense"}},
	} {
		m, err := catalog.Lookup(c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.New(catalog.Config{Params: map[string]string{c.param: c.value}})
		if c.words == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, w := range c.words {
			if !fault.IsInput(err) || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %v: want an input error that holds %q", name, err, w)
			}
		}
	}
}

// TestLandmarksOfAFile: a fit takes the landmarks whose rows the file names, and refuses a row that
// is not there.
func TestLandmarksOfAFile(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 40, 3, 10, 1)
	path := filepath.Join(t.TempDir(), "rows")
	fit := func(rows string) (algorithms.Model, error) {
		if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := catalog.Lookup("kbeta")
		if err != nil {
			t.Fatal(err)
		}
		learner, err := m.New(catalog.Config{Params: map[string]string{"landmarks": "@" + path}})
		if err != nil {
			t.Fatal(err)
		}
		return learner.Fit(ctx, eng, x, set)
	}
	if _, err := fit("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n"); err != nil {
		t.Error(err)
	}
	if _, err := fit("3\n40\n"); !fault.IsInput(err) || !strings.Contains(err.Error(), "40") {
		t.Errorf("row 40 of 40: error %v", err)
	}
}

// TestMetricOfNeighbors: metric and kernel say together in which space neighbors are near, and
// contradictions are refused.
func TestMetricOfNeighbors(t *testing.T) {
	m, err := catalog.Lookup("npkl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel, metric string
		right          bool
	}{
		{"", "", true}, {"", "euclid", true}, {"", "cosine", true}, {"", "kernel", false},
		{"", "taxi", false},
		{"rbf:sigma=1", "", true}, {"rbf:sigma=1", "kernel", true}, {"rbf:sigma=1", "euclid", false},
		{"rbf:sigma=1", "cosine", false},
	} {
		params := map[string]string{"metric": c.metric}
		if c.metric == "" {
			params = nil
		}
		_, err := m.New(catalog.Config{Kernel: c.kernel, Params: params})
		if c.right != (err == nil) || err != nil &&
			(!fault.IsInput(err) || !strings.Contains(err.Error(), "metric")) {
			t.Errorf("kernel %q, metric %q: error %v", c.kernel, c.metric, err)
		}
	}
}
