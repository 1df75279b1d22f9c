package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// grid draws an embedding with many equal distances and coinciding points.
func grid(t *rapid.T) (x []float64, n, d int, labels []int) {
	n, d = rapid.IntRange(2, 16).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "d")
	for range n * d {
		x = append(x, float64(rapid.IntRange(-2, 2).Draw(t, "x")))
	}
	return x, n, d, labeling(t, "labels", n, 3)
}

// distances returns all pairwise distances by definition.
func distances(x []float64, n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range n {
			s := 0.0
			for k := range d {
				s += math.Pow(x[i*d+k]-x[j*d+k], 2)
			}
			out[i][j] = math.Sqrt(s)
		}
	}
	return out
}

func TestDistanceScoresMatchDefinition(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, n, d, labels := grid(t)
		r := distances(x, n, d)
		var within, between []float64
		for i := range n {
			for j := range i {
				if labels[i] == labels[j] {
					within = append(within, r[i][j])
				} else {
					between = append(between, r[i][j])
				}
			}
		}
		j, errJ := JRatio(x, n, d, labels)
		auc, errAUC := PairAUC(x, n, d, labels)
		if len(within) == 0 || len(between) == 0 {
			if !fault.IsInput(errJ) || !fault.IsInput(errAUC) {
				t.Fatalf("without pairs of both kinds: errors %v and %v, want input errors", errJ, errAUC)
			}
			return
		}
		wins := 0.0
		for _, b := range between {
			for _, w := range within {
				if w < b {
					wins++
				} else if w == b {
					wins += 0.5
				}
			}
		}
		near(t, "PairAUC", must(auc, errAUC), wins/float64(len(within)*len(between)), ulps)
		if slices.Max(within) == 0 {
			if !fault.IsInput(errJ) {
				t.Fatalf("coinciding classes: J = %v, error %v, want an input error", j, errJ)
			}
			return
		}
		near(t, "J", must(j, errJ), mean(between)/mean(within), 1e-12)
	})
}

func mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

func TestRetrievalMatchesSortedNeighbors(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, n, d, labels := grid(t)
		r := distances(x, n, d)
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		asked, found, right := 0.0, 0.0, 0.0
		for i := range n {
			others := slices.DeleteFunc(indices(n), func(j int) bool { return j == i })
			slices.SortStableFunc(others, func(a, b int) int {
				switch {
				case r[i][a] < r[i][b]:
					return -1
				case r[i][a] > r[i][b]:
					return 1
				}
				return 0
			})
			mine := func(j int) bool { return labels[j] == labels[i] }
			if slices.ContainsFunc(others, mine) {
				asked++
			}
			if slices.ContainsFunc(others[:k], mine) {
				found++
			}
			if mine(others[0]) {
				right++
			}
		}
		near(t, "NeighborAccuracy", must(NeighborAccuracy(x, n, d, labels)), right/float64(n), ulps)
		got, err := RecallAtK(x, n, d, labels, k, n-1)
		if asked == 0 {
			if !fault.IsInput(err) {
				t.Fatalf("no classmates: recall %v, error %v, want an input error", got, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		near(t, "recall@k", got[0], found/asked, ulps)
		near(t, "recall@(n-1)", got[1], 1, 0)
	})
}

func TestJRatioByHand(t *testing.T) {
	// Classes {0, 1} and {10, 14} on a line: within (1+4)/2, between (10+14+9+13)/4.
	x := []float64{0, 1, 10, 14}
	labels := []string{"a", "a", "b", "b"}
	near(t, "J", must(JRatio(x, 4, 1, labels)), 11.5/2.5, ulps)
	// Distances of any size neither overflow nor underflow.
	for _, scale := range []float64{1e-200, 1e200} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = v * scale
		}
		near(t, fmt.Sprintf("J at scale %g", scale), must(JRatio(y, 4, 1, labels)), 11.5/2.5, ulps)
		near(t, fmt.Sprintf("PairAUC at scale %g", scale), must(PairAUC(y, 4, 1, labels)), 1, 0)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		scale := math.Pow(10, float64(rng.IntN(600)-300))
		p, q := make([]float64, 7), make([]float64, 7)
		for k := range p {
			p[k], q[k] = scale*rng.NormFloat64(), scale*rng.NormFloat64()
		}
		if a, b := distance(p, q), distance(q, p); a != b || !(a > 0) {
			t.Fatalf("distances %v and %v at scale %g, want equal and positive", a, b, scale)
		}
	}
}

func TestEmbeddingErrors(t *testing.T) {
	type scores func(x []float64, n, d int, labels []string) error
	all := map[string]scores{
		"JRatio": func(x []float64, n, d int, l []string) error {
			_, err := JRatio(x, n, d, l)
			return err
		},
		"PairAUC": func(x []float64, n, d int, l []string) error {
			_, err := PairAUC(x, n, d, l)
			return err
		},
		"RecallAtK": func(x []float64, n, d int, l []string) error {
			_, err := RecallAtK(x, n, d, l, 1)
			return err
		},
		"NeighborAccuracy": func(x []float64, n, d int, l []string) error {
			_, err := NeighborAccuracy(x, n, d, l)
			return err
		},
	}
	ab := []string{"a", "a", "b"}
	for name, f := range all {
		if err := f([]float64{0, 1, 5}, 3, 1, ab); err != nil {
			t.Errorf("%s of good input: %v", name, err)
		}
		var shape *fault.ShapeError
		for what, err := range map[string]error{
			"no points": f(nil, 0, 1, nil), "one point": f([]float64{1}, 1, 1, ab[:1]),
			"no coordinates": f(nil, 3, 0, ab),
			"negative":       f(nil, -3, -1, ab), "short": f([]float64{1, 2}, 3, 1, ab),
			"labels": f([]float64{1, 2, 3}, 3, 1, ab[:2]),
		} {
			if !errors.As(err, &shape) {
				t.Errorf("%s, %s: error %v, want a *fault.ShapeError", name, what, err)
			}
		}
		var data *fault.DataError
		if err := f([]float64{0, 1, 2, math.NaN(), 4, 5}, 3, 2, ab); !errors.As(err, &data) ||
			data.Row != 1 || data.Column != "1" {
			t.Errorf("%s of a NaN: error %v, want a *fault.DataError at row 1, column 1", name, err)
		}
	}
	for _, k := range []int{0, -1, 3} {
		var param *fault.ParamError
		if _, err := RecallAtK([]float64{0, 1, 5}, 3, 1, ab, k); !errors.As(err, &param) {
			t.Errorf("recall at %d of 3 points: error %v, want a *fault.ParamError", k, err)
		}
	}
}

func TestAll(t *testing.T) {
	truth := []string{"a", "a", "", "b", "b", "b"}
	predicted := []string{"b", "b", "b", "a", "a", "b"}
	x := []float64{0, 1, 500, 10, 11, 2}
	r, err := All(Input{Truth: truth, Predicted: predicted, X: x, N: 6, D: 1})
	if err != nil {
		t.Fatal(err)
	}
	// The individual functions give the same scores, without the unlabeled row.
	a, b, y := []string{"a", "a", "b", "b", "b"}, []string{"b", "b", "a", "a", "b"},
		[]float64{0, 1, 10, 11, 2}
	recall, err := RecallAtK(y, 5, 1, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []Score{
		{"rand", must(Rand(a, b))}, {"balanced_rand", must(BalancedRand(a, b))},
		{"adjusted_rand", must(AdjustedRand(a, b))},
		{"nmi", must(NMI(a, b))}, {"cluster_accuracy", must(ClusterAccuracy(a, b))},
		{"accuracy", must(Accuracy(a, b))},
		{"j_ratio", must(JRatio(y, 5, 1, a))}, {"pair_auc", must(PairAUC(y, 5, 1, a))},
		{"neighbor_accuracy", must(NeighborAccuracy(y, 5, 1, a))}, {"recall@1", recall[0]},
	}
	if got := r.Scores(); !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
	if r.N != 5 || r.Unlabeled != 1 || r.Classes != 2 || r.Clusters != 2 || len(r.Notes) != 0 {
		t.Errorf("report %+v, want 5 rows, 1 unlabeled, 2 classes, 2 clusters, no notes", r)
	}
}

func TestAllNotesWhatIsUndefined(t *testing.T) {
	r, err := All(Input{Truth: []string{"a", "b", "c"}, Predicted: []string{"x", "x", "y"},
		X: []float64{1, 2, 3}, N: 3, D: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.JRatio != nil || r.PairAUC != nil || r.Recall != nil || r.Accuracy != nil {
		t.Errorf("report %+v: want no J, pair AUC, recall and accuracy, which are undefined", r)
	}
	if *r.NeighborAccuracy != 0 || *r.Rand != 2.0/3 {
		t.Errorf("neighbor accuracy %v, Rand %v, want 0 and 2/3", *r.NeighborAccuracy, *r.Rand)
	}
	if len(r.Notes) != 3 {
		t.Errorf("notes %q, want one each on J, pair AUC and recall", r.Notes)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "j_ratio") || !strings.Contains(string(text), `"balanced_rand":`) {
		t.Errorf("JSON %s: want only the defined scores", text)
	}
}

func TestAllErrors(t *testing.T) {
	ab := []string{"a", "b"}
	for what, in := range map[string]Input{
		"nothing to score": {Truth: ab},
		"no labels":        {Truth: []string{"", ""}, Predicted: ab},
		"one label":        {Truth: []string{"a", ""}, Predicted: ab},
		"lengths":          {Truth: ab, Predicted: ab[:1]},
		"rows":             {Truth: ab, X: []float64{1, 2, 3}, N: 3, D: 1},
		"k":                {Truth: ab, X: []float64{1, 2}, N: 2, D: 1, Ks: []int{2}},
		"NaN":              {Truth: []string{"a", "b", ""}, X: []float64{1, 2, math.NaN()}, N: 3, D: 1},
	} {
		if _, err := All(in); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input error", what, err)
		}
	}
}

func ExampleAll() {
	r, err := All(Input{
		Truth:     []string{"setosa", "setosa", "virginica", "virginica"},
		Predicted: []string{"0", "0", "1", "0"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Scores() {
		fmt.Printf("%-16s %.3f\n", f.Name, f.Value)
	}
	// Output:
	// rand             0.500
	// balanced_rand    0.500
	// adjusted_rand    0.000
	// nmi              0.344
	// cluster_accuracy 0.750
}

func BenchmarkEmbedding(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d = 2000, 20
	x, labels := make([]float64, n*d), make([]string, n)
	for k := range x {
		x[k] = rng.NormFloat64()
	}
	for i := range labels {
		labels[i] = fmt.Sprint(i % 10)
	}
	b.Run(fmt.Sprintf("all/n=%d/d=%d", n, d), func(b *testing.B) {
		for b.Loop() {
			if _, err := All(Input{Truth: labels, X: x, N: n, D: d}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
