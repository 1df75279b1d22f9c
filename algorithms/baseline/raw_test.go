package baseline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func rawFit(t *testing.T, x points.Points, list ...links.Link) algorithms.Model {
	t.Helper()
	set, err := links.New(x.Len(), list)
	if err != nil {
		t.Fatal(err)
	}
	m, err := baseline.RawLearner{}.Fit(t.Context(), enginetest.New(t, 2), x, set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// vectors returns rows of several scales, with a repeated row, zeros and a negative zero.
func vectors(n, d int) *points.Dense {
	rng := rand.New(rand.NewPCG(1, 2))
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for k := range x.Data {
		if x.Data[k] = rng.NormFloat64() * math.Pow(10, float64(k%d)); k%5 == 0 {
			x.Data[k] = 0
		}
	}
	x.Data[0] = math.Copysign(0, -1)
	copy(x.Row(1), x.Row(n-1))
	return x
}

// TestRawRowsAsTheyAre: coordinates of training rows and of new ones are the rows, bit for bit,
// whatever the links say.
func TestRawRowsAsTheyAre(t *testing.T) {
	x := vectors(30, 7)
	for _, m := range []algorithms.Model{rawFit(t, x),
		rawFit(t, x, links.NewLink(3, 9, links.Must), links.NewLink(4,
			5, links.Cannot))} {
		for _, y := range []*points.Dense{x, {N: 2, D: 7, Data: slices.Repeat([]float64{-3}, 14)}} {
			z, err := m.Embed(t.Context(), enginetest.New(t, 3), y)
			if err != nil {
				t.Fatal(err)
			}
			if z.Rows != y.N || z.Cols != y.D || m.Dim() != y.D {
				t.Fatalf("%d x %d coordinates: want %d x %d", z.Rows, z.Cols, y.N, y.D)
			}
			for k, v := range y.Data {
				if math.Float64bits(z.Data[k]) != math.Float64bits(v) {
					t.Fatalf("value %d is %v: want the bits of %v", k, z.Data[k], v)
				}
			}
		}
	}
}

// TestRawDistances compares the distances of all kinds of rows with those that verdicts call raw.
func TestRawDistances(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := vectors(30, 7)
	gram := make([]float64, 30*30)
	for i := range x.N {
		for j := range x.N {
			for c, v := range x.Row(i) {
				gram[30*i+j] += v * x.Row(j)[c]
			}
		}
	}
	g, err := points.NewGram(30, 30, gram, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, start := "", []int{0}
	for i := range 30 {
		text += strings.Repeat("acgtt", 1+i%7) + "gattacag"[:3+i%5]
		start = append(start, len(text))
	}
	sequences, err := points.NewSequences("acgt", start, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 5}, {1, 29}, {29, 1}, {12, 20}}
	for name, x := range map[string]points.Points{"dense": x, "sparse": enginetest.Sparse(x), "Gram": g,
		"sequences": sequences} {
		m := rawFit(t, x)
		got, err := m.Distances(t.Context(), eng, x, pairs)
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := verdict.Distances(t.Context(), eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for p := range pairs {
			if !(math.Abs(got[p]-want[p]) <= 1e-12*(1+want[p])) {
				t.Errorf("%s, pair %v: %v, want %v", name, pairs[p], got[p], want[p])
			}
		}
		if got[1] != 0 || name != "Gram" && name != "sequences" && got[2] != 0 {
			t.Errorf("%s: equal rows have the distances %v and %v", name, got[1], got[2])
		}
	}
}

// TestRawNewRowsOfGram: two new rows of a Gram matrix, whose product it lacks, have the distance of
// their coordinates; with a training row the distance is exact.
func TestRawNewRowsOfGram(t *testing.T) {
	eng := enginetest.New(t, 2)
	place := []float64{-1, 0, 2, 5, 7} // the last two are new
	inner := func(rows, cols []float64) (out []float64) {
		for _, a := range rows {
			for _, b := range cols {
				out = append(out, a*b)
			}
		}
		return out
	}
	train, err := points.NewGram(3, 3, inner(place[:3], place[:3]), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := points.NewGram(2, 3, inner(place[3:], place[:3]), []float64{25, 49}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rawFit(t, train).Distances(t.Context(), eng, fresh, [][2]int{{0, 1}})
	if err != nil || !(math.Abs(got[0]-4) < 1e-9) {
		t.Errorf("%v, error %v: want 4", got, err)
	}
}

func TestRawRefuses(t *testing.T) {
	eng, m := enginetest.New(t, 1), rawFit(t, vectors(9, 3))
	for name, x := range map[string]points.Points{"features": vectors(9, 4),
		"sparse": enginetest.Sparse(vectors(9, 3)),
		"NaN": &points.Dense{N: 1, D: 3, Data: []float64{0, math.NaN(),
			0}}} {
		if _, err := m.Embed(t.Context(), eng, x); !fault.IsInput(err) {
			t.Errorf("%s: error %v is not one of the input", name, err)
		}
	}
	for _, x := range []points.Points{vectors(9, 3), enginetest.Sparse(vectors(9, 3))} {
		if _, err := rawFit(t, x).Distances(t.Context(), eng, x, [][2]int{{0, 9}}); !fault.IsInput(err) {
			t.Errorf("%T: row 9 of 9: error %v", x, err)
		}
	}
}
