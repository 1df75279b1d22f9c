package catalog_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// No method learns from a matrix with negative eigenvalues: neither from a Gram matrix, of
// distances or otherwise, nor from that of a kernel.
func TestIndefinite(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 40, 40, 1)
	shifted, distances := products(t, eng, "rbf:sigma=2", x), products(t, eng, "linear", x)
	for i := range 40 {
		shifted.Data[41*i] -= 0.5
		shifted.Diagonal[i] -= 0.5
		for j := range 40 {
			distances.Data[40*i+j] = math.Sqrt(points.SquaredDistance(x.Row(i), x.Row(j)))
		}
		distances.Diagonal[i] = 0
	}
	for _, m := range catalogtest.Methods() {
		for _, c := range []struct {
			kernel string
			x      points.Points
			words  string
		}{
			{"", shifted, "the Gram matrix is not positive semidefinite: its smallest eigenvalue is -0."},
			{"", distances, "looks like a matrix of distances"},
			{"sigmoid:scale=3,coef=1", x, "positive semidefinite"},
		} {
			l, err := m.New(catalog.Config{Kernel: c.kernel, Seed: 1})
			if err == nil {
				_, err = l.Fit(t.Context(), eng, c.x, set)
			}
			if m.Name == "raw" && c.kernel != "" || m.Name == "gml" && c.kernel != "" {
				continue // no kernel of theirs
			}
			if !fault.IsInput(err) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s of %T with kernel %q: error %v: want one with %q", m.Name, c.x, c.kernel, err,
					c.words)
			}
		}
	}
}

// The scale of the similarities of a graph does not matter, even where their products overflow or
// underflow.
func TestScaledSimilarities(t *testing.T) {
	const n = 24
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(5, 2))
	x, labels := blobs(n, 4, 12)
	set, pairs := enginetest.Drawn(t, labels, 15, 15, 1), [][2]int{{0, 1}, {0, 9}, {3, 17}, {20, 5}}
	all, s := make([]int, n), make([][]float64, n)
	for i := range s {
		all[i], s[i] = i, make([]float64, n)
		for j := range i {
			s[i][j] = math.Exp(-points.SquaredDistance(x.Row(i), x.Row(j))) + 0.01*rng.Float64()
			s[j][i] = s[i][j]
		}
	}
	scaled := func(by float64) string {
		lines := table(s, all)[:1]
		for _, row := range s {
			line := ""
			for _, v := range row {
				line += fmt.Sprintf(",%.17g", v*by)
			}
			lines = append(lines, line[1:])
		}
		return written(t, lines...)
	}
	usual, extremes := scaled(1), []string{scaled(0x1p700), scaled(0x1p-700)}
	for _, m := range catalogtest.Methods() {
		for _, p := range m.Parameters {
			if p.File != "similarities" {
				continue
			}
			fitted := func(path string) []float64 {
				params := map[string]string{p.Name: path}
				if m.Name == "gml" {
					params["prior"] = "spectral"
				}
				l, err := m.New(catalog.Config{Params: params, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				fit, err := l.Fit(t.Context(), eng, x, set)
				if err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				d, err := fit.Distances(t.Context(), eng, x, pairs)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			want := fitted(usual)
			for _, path := range extremes {
				for k, d := range fitted(path) {
					if !(math.Abs(d-want[k]) <= 1e-6*slices.Max(want)) {
						t.Errorf("%s: distance %d is %g: want %g", m.Name, k, d, want[k])
					}
				}
			}
		}
	}
}

// The methods that need no links are those that fit without.
func TestLinksOptional(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, _ := blobs(40, 5, 12)
	none, err := links.New(40, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range catalog.Methods() {
		l, err := m.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = l.Fit(t.Context(), eng, x, none); (err == nil) != m.LinksOptional || err != nil &&
			!fault.IsInput(err) {
			t.Errorf("%s: a fit without links: error %v", m.Name, err)
		}
	}
}

// The files of parameters are read once, and errors name them with the line or row.
func TestFiles(t *testing.T) {
	marks, graph := written(t, "# landmarks", "0", "3", "9"), written(t, "a,b,c", "0,1,2", "1,0,1", "2,1,0")
	negative := written(t, "a,b,c", "0,1,2", "1,0,-1", "2,-1,0")
	files := &catalog.Files{}
	learner := func(method, name, path string, rows int) error {
		_, err := catalog.New(method,
			catalog.Config{Params: map[string]string{name: path}, Files: files, Rows: rows})
		return err
	}
	for range 2 {
		if err := errors.Join(learner("kbeta", "landmarks", marks, 10),
			learner("npkl", "graph", graph, 3)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{marks, graph} { // and the second time from memory
			_ = os.Remove(path[1:])
		}
	}
	for _, c := range []struct {
		err  error
		want fault.DataError
	}{
		{learner("kbeta", "landmarks", marks, 9), fault.DataError{File: marks[1:], Line: 4, Row: -1}},
		{learner("npkl", "graph", graph, 4), fault.DataError{File: graph[1:], Row: -1}},
		{learner("npkl", "graph", negative, 0), fault.DataError{File: negative[1:], Row: 1, Column: "2"}},
	} {
		de, is := errors.AsType[*fault.DataError](c.err)
		if !is || de.File != c.want.File || de.Line != c.want.Line || de.Row != c.want.Row ||
			de.Column != c.want.Column {
			t.Errorf("error %v: want one at %v", c.err,
				&fault.DataError{File: c.want.File, Line: c.want.Line, Row: c.want.Row, Column: c.want.Column,
					Err: errors.New("")})
		}
	}
}
