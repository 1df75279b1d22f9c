package catalog_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// linear is a method that is linear in the features of dense vectors, with a configuration that
// tells its distances to many digits.
type linear struct {
	catalog.Method
	params map[string]string
}

// linears returns those of the catalog, and the linear modes of others.
func linears() (list []linear) {
	for _, m := range catalogtest.Methods() {
		switch {
		case m.Linear, m.Name == "dca", m.Name == "itml":
			list = append(list, linear{m, precise[m.Name]})
		case m.Name == "lleratio":
			list = append(list, linear{m, map[string]string{"mode": "linear"}})
		}
	}
	return racetest.Part(list)
}

func (l linear) fit(t *testing.T, eng *engine.Engine, kernel string, x points.Points,
	set *links.Set) algorithms.Model {
	t.Helper()
	learner, err := l.New(catalog.Config{Kernel: kernel, Seed: 1, Params: l.params})
	if err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	m, err := learner.Fit(t.Context(), eng, x, set)
	if err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	return m
}

// learned returns the squared distances of all pairs of points.
func learned(t *testing.T, eng *engine.Engine, m algorithms.Model, x points.Points) []float64 {
	t.Helper()
	var pairs [][2]int
	for i := range x.Len() {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	d, err := m.Distances(t.Context(), eng, x, pairs)
	if err != nil {
		t.Fatalf("%s: %v", m.Method(), err)
	}
	return d
}

// products returns the kernel matrix of x as if it had been computed elsewhere.
func products(t *testing.T, eng *engine.Engine, kernel string, x points.Points) *points.Gram {
	t.Helper()
	k, err := enginetest.Kernel(t, kernel).Gram(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	g, err := points.NewGram(x.Len(), x.Len(), k.Clone().Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// words returns random sequences of 40 letters in two classes, which prefer different letters.
func words(t *testing.T, n int) *points.Sequences {
	t.Helper()
	rng, start, letters := rand.New(rand.NewPCG(5, 5)), []int{0}, []byte(nil)
	for i := range n {
		for range 40 {
			letters = append(letters, []string{"AAACCGT", "ACGGTTT"}[i%2][rng.IntN(7)])
		}
		start = append(start, len(letters))
	}
	x, err := points.NewSequences("ACGT", start, letters)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Principal coordinates of the linear kernel are the centered points, turned. So all that is linear
// learns from a Gram matrix, from sparse rows and with -k linear the distances that it learns from
// the features. forest is not of this kind: it splits at single features, and so it has other
// trees. (sdml has no penalty of single elements here, which are those of features.)
func TestLinearKernelIsTheFeatures(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	for _, l := range linears() {
		if l.Name == "forest" {
			continue
		}
		want := learned(t, eng, l.fit(t, eng, "", x, set), x)
		check := func(what, kernel string, y points.Points) {
			if got := learned(t, eng, l.fit(t, eng, kernel, y, set), y); !(apart(want, got, false) <= 1e-7) {
				t.Errorf("%s, %s: learned distances change by %.2g of the largest", l.Name, what,
					apart(want, got, false))
			}
		}
		check("-k linear", "linear", x)
		check("sparse rows", "", enginetest.Sparse(x))
		check("Gram matrix", "", products(t, eng, "linear", x))
	}
}

// A matrix of kernel values is as good as the kernel, for vectors and for sequences, whose kernel
// is spectrum:k=3 (cosine@spectrum:k=3 for raw) unless another is asked for. (spectrum:k=1 has few
// directions, all of which links determine.)
func TestGivenMatrixIsTheKernel(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(40, 5, 12)
	set, text := enginetest.Drawn(t, labels, 150, 150, 1), words(t, 40) // links for all of 39 directions
	for _, l := range linears() {
		for _, c := range []struct {
			kernel string
			x      points.Points
		}{{"rbf:sigma=3", x}, {"spectrum:k=1", text}} {
			m, g := l.fit(t, eng, c.kernel, c.x, set), products(t, eng, c.kernel, c.x)
			got, want := learned(t, eng, m, c.x), learned(t, eng, l.fit(t, eng, "", g, set), g)
			if off := apart(want, got, false); !(off <= 1e-6) {
				t.Errorf("%s, kernel %q: learned distances change by %.2g of the largest with the matrix",
					l.Name, c.kernel, off)
			}
		}
		want := "spectrum:k=3"
		if l.Name == "raw" { // whose distance should not grow with the length
			want = "cosine@" + want
		}
		if k := l.fit(t, eng, "", text,
			set).(interface{ Kernel() kernel.Kernel }).Kernel().String(); k != want {
			t.Errorf("%s: kernel of sequences is %s", l.Name, k)
		}
	}
}

// rowsOf returns some rows of points as new ones, which do not know their numbers.
func rowsOf(x points.Points, rows []int) points.Points {
	part := x.Select(rows)
	if g, is := part.(*points.Gram); is {
		g.Reference = slices.Repeat([]int{-1}, len(rows))
	}
	return part
}

// A model has the place of a row from the row alone: training rows have the same bits when they
// come as new rows, in any order, and after the model was stored and loaded; up to rounding with
// OpenBLAS, whose bits depend on the block.
func TestCoordinatesOutOfSample(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	for _, l := range linears() {
		for _, p := range []points.Points{enginetest.Sparse(x), words(t, 40),
			products(t, eng, "rbf:sigma=2", x)} {
			m := l.fit(t, eng, "", p, set)
			y, err := m.Embed(t.Context(), eng, p)
			if err != nil {
				t.Fatal(err)
			}
			if !(norm(y) > 1e-6) {
				t.Errorf("%s of %T: all training rows are at one place", l.Name, p)
			}
			file, err := catalog.Encode(&catalog.Fitted{Model: m})
			if err != nil {
				t.Fatal(err)
			}
			back, err := catalog.Decode(file)
			if err != nil {
				t.Fatalf("%s of %T: %v", l.Name, p, err)
			}
			rows := []int{31, 2, 17}
			for name, from := range map[string]algorithms.Model{"fitted": m, "loaded": back.Model} {
				some, err := from.Embed(t.Context(), eng, rowsOf(p, rows))
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range rows {
					sameRows(t, fmt.Sprintf("%s of %T, %s, row %d", l.Name, p, name, r), some.Row(i),
						y.Row(r), norm(y))
				}
			}
			a, b := describe(t, m), describe(t, back.Model)
			if a != b {
				t.Errorf("%s of %T: %s before and %s after the file", l.Name, p, a, b)
			}
		}
	}
}

func describe(t *testing.T, m algorithms.Model) string {
	t.Helper()
	return fmt.Sprint(m.(algorithms.Describer).Describe(), m.Dim(), m.(algorithms.Inputs).InputDim(),
		m.Status().Notices)
}

// Directions come from at most 2000 points: 2300 points of rank 6 have exactly their distances in
// coordinates found in 2000 of them, and the fit says so. A rank above 100 is cut, with the share
// of the variance that is kept.
func TestCoordinatesOfManyPoints(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(2300, 6, 3)
	set := enginetest.Drawn(t, labels, 30, 30, 1)
	m, err := catalog.Lookup("rca")
	if err != nil {
		t.Fatal(err)
	}
	l, some := linear{m, nil}, x.Select([]int{0, 5, 900, 2299, 1200, 77})
	want := learned(t, eng, l.fit(t, eng, "", x, set), some)
	cut := l.fit(t, eng, "linear", x, set)
	if got := learned(t, eng, cut, some); !(apart(want, got, false) <= 1e-8) {
		t.Errorf("learned distances change by %.2g of the largest", apart(want, got, false))
	}
	if list := cut.Status().Notices; len(list) != 2 ||
		!strings.Contains(list[0],
			"6 leading principal coordinates of kernel linear, found in 2000 of the 2300 points") {
		t.Errorf("notices %q", list)
	}
	wide, labels := blobs(400, 150, 3)
	few := l.fit(t, eng, "", enginetest.Sparse(wide), enginetest.Drawn(t, labels, 30, 0, 1))
	if list := few.Status().Notices; len(list) != 1 || !strings.Contains(list[0], "100 leading") ||
		!strings.Contains(list[0], "% of the variance") {
		t.Errorf("notices %q", list)
	}
	a, b := enginetest.TimelessModel(t, cut),
		enginetest.TimelessModel(t, l.fit(t, enginetest.New(t, 3), "linear", x, set))
	if !slices.Equal(a, b) {
		t.Error("other bits with another number of workers")
	}
}

// What the kernel or the model cannot take is an error that says what to give.
func TestCoordinatesOfBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	gram := products(t, eng, "rbf:sigma=2", x)
	indefinite := &points.Gram{N: 40, M: 40, Data: slices.Clone(gram.Data),
		Diagonal: slices.Clone(gram.Diagonal), Reference: gram.Reference}
	for i := range 40 {
		indefinite.Data[41*i], indefinite.Diagonal[i] = indefinite.Data[41*i]-0.9, indefinite.Diagonal[i]-0.9
	}
	constant := &points.Dense{N: 40, D: 5, Data: slices.Repeat([]float64{3}, 200)}
	unknown := &points.Gram{N: 40, M: 30, Data: gram.Data[:1200], Diagonal: gram.Diagonal,
		Reference: slices.Repeat([]int{-1}, 40)}
	for _, l := range linears() {
		if !l.Linear {
			continue
		}
		for name, c := range map[string]struct {
			kernel string
			x      points.Points
			words  string
		}{
			"kernel of sequences for vectors":  {"spectrum:k=3", x, "sequences"},
			"kernel of vectors for sequences":  {"rbf:sigma=1", words(t, 40), "spectrum"},
			"indefinite matrix":                {"", indefinite, "not positive semidefinite"},
			"equal points":                     {"rbf:sigma=1", constant, "no variance under the kernel"},
			"matrix without training products": {"", unknown, "30 reference objects"},
		} {
			learner, err := l.New(catalog.Config{Kernel: c.kernel, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := learner.Fit(t.Context(), eng, c.x, set); !fault.IsInput(err) ||
				!strings.Contains(err.Error(), c.words) {
				t.Errorf("%s, %s: error %v, want one about %q", l.Name, name, err, c.words)
			}
		}
		learner, err := l.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var little *fault.MemoryError
		if _, err := learner.Fit(t.Context(), limited(t, eng, 10_000), gram, set); !errors.As(err, &little) {
			t.Errorf("%s within 10 kB: error %v, want a MemoryError", l.Name, err)
		}
		m, plain := l.fit(t, eng, "", gram, set), l.fit(t, eng, "", x, set)
		for name, c := range map[string]struct {
			m     algorithms.Model
			x     points.Points
			words string
		}{
			"vectors for a matrix":        {m, x, "rows of a Gram matrix over 40"},
			"matrix of another width":     {m, unknown, "40, as the model was fitted on"},
			"sparse rows for dense ones":  {plain, enginetest.Sparse(x), "dense vectors for " + l.Name},
			"rows of a matrix for vector": {plain, gram, "dense vectors for " + l.Name},
		} {
			if _, err := c.m.Embed(t.Context(), eng, c.x); !fault.IsInput(err) ||
				!strings.Contains(err.Error(), c.words) {
				t.Errorf("%s, %s: error %v, want one about %q", l.Name, name, err, c.words)
			}
		}
	}
}

// The learned kernel and the distances are those of the coordinates.
func TestCoordinatesGram(t *testing.T) {
	eng := enginetest.New(t, 1)
	_, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	for _, l := range linears() {
		text := words(t, 40)
		m := l.fit(t, eng, "", text, set)
		y, err := m.Embed(t.Context(), eng, text)
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.Gram(t.Context(), eng, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := blas.NewMatrix(40, 40)
		for i := range 40 {
			for j := range 40 {
				for c, v := range y.Row(i) {
					want.Set(i, j, want.At(i, j)+v*y.At(j, c))
				}
			}
		}
		for k, v := range want.Data {
			if !(math.Abs(v-g.Data[k]) <= 1e-10*largest(want.Data)) {
				t.Fatalf("%s: the kernel of %d and %d is %g, want %g", l.Name, k/40, k%40, g.Data[k], v)
			}
		}
	}
}
