package score

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

const ulps = 1e-14 // a few dozen rounding errors of numbers below 1

func near(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) { // also catches NaN
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tol)
	}
}

func must(v float64, err error) float64 {
	if err != nil {
		panic(err)
	}
	return v
}

// countPairs counts all pairs one by one, by the definition.
func countPairs(a, b []int) (p pairs) {
	for i := range a {
		for j := range i {
			switch {
			case a[i] == a[j] && b[i] == b[j]:
				p.both++
			case a[i] == a[j]:
				p.classOnly++
			case b[i] == b[j]:
				p.clustOnly++
			default:
				p.neither++
			}
		}
	}
	return p
}

// hubertArabie is eq. 5 of Hubert & Arabie 1985 as printed, from pair counts.
func hubertArabie(p pairs) float64 {
	index, total := float64(p.both), float64(p.total())
	a, b := float64(p.both+p.classOnly), float64(p.both+p.clustOnly)
	return (index - a*b/total) / ((a+b)/2 - a*b/total)
}

func labeling(t *rapid.T, name string, n, classes int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, classes-1), n, n).Draw(t, name)
}

func TestPairScoresMatchEnumeration(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 24).Draw(t, "n")
		a := labeling(t, "truth", n, rapid.IntRange(1, 5).Draw(t, "classes"))
		b := labeling(t, "predicted", n, rapid.IntRange(1, 5).Draw(t, "clusters"))
		var table *contingency
		_, err := ofTable(a, b, func(t *contingency) (float64, error) { table = t; return 0, nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.pairs()
		if err != nil {
			t.Fatal(err)
		}
		p := countPairs(a, b)
		if got != p {
			t.Fatalf("pair counts %+v, enumeration gives %+v", got, p)
		}
		near(t, "Rand", must(Rand(a, b)), float64(p.both+p.neither)/float64(p.total()), ulps)
		balanced, terms := 0.0, 0.0
		if same := p.both + p.classOnly; same > 0 {
			balanced += float64(p.both) / float64(same)
			terms++
		}
		if different := p.clustOnly + p.neither; different > 0 {
			balanced += float64(p.neither) / float64(different)
			terms++
		}
		near(t, "BalancedRand", must(BalancedRand(a, b)), balanced/terms, ulps)
		ari := must(AdjustedRand(a, b))
		if p.classOnly+p.clustOnly == 0 {
			near(t, "AdjustedRand of equal partitions", ari, 1, 0)
		} else {
			near(t, "AdjustedRand", ari, hubertArabie(p), 1e-12)
		}
		if ari < -0.5-ulps || ari > 1 {
			t.Errorf("AdjustedRand = %v, want -1/2 to 1", ari)
		}
	})
}

// Precision and recall are shares of pairs, or of the objects around an object, counted one by one.
func TestPrecisionRecallMatchEnumeration(t *testing.T) {
	ratio := func(part, of uint64) *float64 {
		if of == 0 {
			return nil
		}
		return new(float64(part) / float64(of))
	}
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "n")
		a := labeling(t, "truth", n, rapid.IntRange(1, n).Draw(t, "classes"))
		b := labeling(t, "predicted", n, rapid.IntRange(1, n).Draw(t, "clusters"))
		check := func(what string, got, want PrecisionRecall) {
			for k, g := range []*float64{got.Precision, got.Recall, got.F} {
				w := []*float64{want.Precision, want.Recall, want.F}[k]
				if (g == nil) != (w == nil) {
					t.Fatalf("%s %d is %v: want %v", what, k, g, w)
				} else if g != nil {
					near(t, what, *g, *w, ulps)
				}
			}
		}
		precision, recall := 0.0, 0.0
		for i := range a {
			both, class, clust := 0, 0, 0
			for j := range a {
				if a[i] == a[j] {
					class++
				}
				if b[i] == b[j] {
					clust++
				}
				if a[i] == a[j] && b[i] == b[j] {
					both++
				}
			}
			precision += float64(both) / float64(clust) / float64(n)
			recall += float64(both) / float64(class) / float64(n)
		}
		got, err := BCubed(a, b)
		if err != nil {
			t.Fatal(err)
		}
		check("B-cubed", got, PrecisionRecall{&precision, &recall, new(2 / (1/precision + 1/recall))})
		if got, err = Pairwise(a, b); n == 1 {
			if !fault.IsInput(err) {
				t.Fatalf("one object: error %v", err)
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
		p := countPairs(a, b)
		check("pairwise", got, PrecisionRecall{ratio(p.both, p.both+p.clustOnly),
			ratio(p.both, p.both+p.classOnly), ratio(2*p.both, 2*p.both+p.clustOnly+p.classOnly)})
		var table Table
		for i := range a {
			if err := table.AddCount(fmt.Sprint(a[i]), fmt.Sprint(b[i]), 1); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := table.Groups(); err != nil {
			t.Fatal(err)
		} else {
			check("pairwise of a table", *r.Pairwise, got)
			check("B-cubed of a table", *r.BCubed, PrecisionRecall{&precision, &recall,
				new(2 / (1/precision + 1/recall))})
		}
		turned, err := Pairwise(b, a)
		if err != nil {
			t.Fatal(err)
		}
		check("turned", turned, PrecisionRecall{got.Recall, got.Precision, got.F})
	})
	if _, err := BCubed([]int{}, []int{}); !fault.IsInput(err) {
		t.Errorf("no objects: error %v", err)
	}
}

// entropyOf is the textbook entropy of any labeling; I(U,V) = H(U) + H(V) - H(U,V) is a
// second formula for the mutual information.
func entropyOf[T comparable](labels []T) float64 {
	count := map[T]float64{}
	for _, v := range labels {
		count[v]++
	}
	h := 0.0
	for _, c := range count {
		p := c / float64(len(labels))
		h -= p * math.Log(p)
	}
	return h
}

func TestNMIMatchesEntropies(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		a := labeling(t, "truth", n, rapid.IntRange(1, 6).Draw(t, "classes"))
		b := labeling(t, "predicted", n, rapid.IntRange(1, 6).Draw(t, "clusters"))
		joint := make([][2]int, n)
		for i := range a {
			joint[i] = [2]int{a[i], b[i]}
		}
		ha, hb := entropyOf(a), entropyOf(b)
		got := must(NMI(a, b))
		if ha+hb == 0 {
			near(t, "NMI of single clusters", got, 1, 0)
			return
		}
		near(t, "NMI", got, 2*(ha+hb-entropyOf(joint))/(ha+hb), 1e-13)
	})
}

// Independent labelings have no mutual information; rounding must not give a score below zero.
func TestNMIOfIndependentLabelings(t *testing.T) {
	for rows := 2; rows <= 5; rows++ {
		for columns := 2; columns <= 120; columns++ {
			a, b := make([]int, rows*columns), make([]int, rows*columns)
			for k := range a {
				a[k], b[k] = k/columns, k%columns
			}
			if v := must(NMI(a, b)); !(v >= 0 && v < ulps) {
				t.Fatalf("NMI of a %d x %d product = %v, want 0", rows, columns, v)
			}
		}
	}
}

// Renaming labels and reordering objects must give bit-identical scores.
func TestInvariances(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		a, b := labeling(t, "truth", n, 4), labeling(t, "predicted", n, 5)
		names := rapid.Permutation([]string{"", "x", "y", "zz", "0"}).Draw(t, "names")
		order := rapid.Permutation(indices(n)).Draw(t, "order")
		renamed, moved, movedTruth := make([]string, n), make([]int, n), make([]int, n)
		for i, k := range order {
			renamed[i] = names[b[i]]
			moved[i], movedTruth[i] = b[k], a[k]
		}
		type score struct {
			name      string
			f         func(a, b []int) (float64, error)
			named     func(a []int, b []string) (float64, error)
			symmetric bool
		}
		for _, s := range []score{
			{"Rand", Rand[int, int], Rand[int, string], true},
			{"BalancedRand", BalancedRand[int, int], BalancedRand[int, string], false},
			{"AdjustedRand", AdjustedRand[int, int], AdjustedRand[int, string], true},
			{"NMI", NMI[int, int], NMI[int, string], true},
			{"ClusterAccuracy", ClusterAccuracy[int, int], ClusterAccuracy[int, string], true},
		} {
			v := must(s.f(a, b))
			if w := must(s.named(a, renamed)); w != v {
				t.Errorf("%s: %v becomes %v when clusters are renamed", s.name, v, w)
			}
			if w := must(s.f(movedTruth, moved)); w != v {
				t.Errorf("%s: %v becomes %v when objects are reordered", s.name, v, w)
			}
			if s.symmetric {
				near(t, s.name+" with sides exchanged", must(s.f(b, a)), v, ulps)
			}
			if w := must(s.named(b, renamed)); w != 1 {
				t.Errorf("%s of equal partitions = %v, want 1", s.name, w)
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// fromTable returns labels with the given contingency table.
func fromTable(table [][]int) (a, b []int) {
	for i, row := range table {
		for j, count := range row {
			for range count {
				a, b = append(a, i), append(b, j)
			}
		}
	}
	return a, b
}

func TestPublishedValues(t *testing.T) {
	// Yeung & Ruzzo 2001, "Details of the adjusted Rand index" (supplement to Bioinformatics
	// 17:763-774): Rand 0.711, adjusted 0.313.
	a, b := fromTable([][]int{{1, 1, 0}, {1, 2, 1}, {0, 0, 4}})
	near(t, "Rand (Yeung & Ruzzo)", must(Rand(a, b)), 0.711, 5e-4)
	near(t, "AdjustedRand (Yeung & Ruzzo)", must(AdjustedRand(a, b)), 0.313, 5e-4)

	// Manning, Raghavan & Schütze 2008, "Introduction to Information Retrieval", section
	// 16.3: classes x, o, diamond in three clusters; Rand 0.68, NMI 0.36. Purity 0.71 is
	// reached by a one-to-one matching there, so it is the cluster accuracy too.
	a, b = fromTable([][]int{{5, 1, 2}, {1, 4, 0}, {0, 1, 3}})
	near(t, "Rand (Manning et al.)", must(Rand(a, b)), 0.68, 5e-3)
	near(t, "NMI (Manning et al.)", must(NMI(a, b)), 0.36, 5e-3)
	near(t, "ClusterAccuracy (Manning et al.)", must(ClusterAccuracy(a, b)), 0.71, 5e-3)

	// Examples in the documentation of scikit-learn's adjusted_rand_score and rand_score.
	near(t, "Rand (scikit-learn)", must(Rand([]int{0, 0, 1, 2}, []int{0, 0, 1, 1})), 0.83, 5e-3)
	near(t, "AdjustedRand (scikit-learn)", must(AdjustedRand([]int{0, 0, 1, 2}, []int{0, 0, 1, 1})), 0.57,
		5e-3)
	near(t, "AdjustedRand (scikit-learn)", must(AdjustedRand([]int{0, 0, 0, 0}, []int{0, 1, 2, 3})), 0, 0)
	near(t, "AdjustedRand (scikit-learn)", must(AdjustedRand([]int{0, 0, 1, 1}, []int{0, 1, 0, 1})), -0.5, 0)
	near(t, "NMI (scikit-learn)", must(NMI([]int{0, 0, 0, 0}, []int{0, 1, 2, 3})), 0, 0)
	near(t, "AUC (scikit-learn)", must(AUC([]float64{0.1, 0.4, 0.35, 0.8}, []bool{false, false, true, true})),
		0.75, 0)
}

func TestBalancedRandDropsMissingTerm(t *testing.T) {
	// One class: three pairs, one of them is kept together.
	near(t, "one class", must(BalancedRand([]int{1, 1, 1}, []int{0, 0, 1})), 1.0/3, ulps)
	// No two objects share a class: two of three pairs are kept apart.
	near(t, "all different", must(BalancedRand([]int{1, 2, 3}, []int{0, 0, 1})), 2.0/3, ulps)
}

// Pair counts near the maximum n: 2^31 - 1 objects in two blocks that half agree. The expected
// values were computed in big floats of the form (1/2)(1 - O(1/n)).
func TestPairCountsDoNotOverflow(t *testing.T) {
	const n = math.MaxInt32
	half := uint64(n / 2)
	table := &contingency{n: n, classes: []uint64{half, n - half}, cluster: []uint64{half, n - half},
		cells: []cell{{0, 0, half / 2}, {0, 1, half - half/2}, {1, 0, half - half/2},
			{1, 1, n - half - (half - half/2)}}}
	p, err := table.pairs()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.total(), uint64(n)*(n-1)/2; got != want {
		t.Errorf("%d pairs counted, want %d", got, want)
	}
	near(t, "Rand", p.rand(), 0.5, 1e-9)
	near(t, "BalancedRand", p.balanced(), 0.5, 1e-9)
	near(t, "AdjustedRand", p.adjusted(), 0, 1e-9)
	// All objects apart except one pair, compared with all together: this requires exact products.
	q := pairs{both: 1 << 60, neither: 1 << 60, classOnly: 1 << 60, clustOnly: 1<<60 + 1}
	near(t, "AdjustedRand of nearly equal products", q.adjusted(), -2*0x1p60/(8*0x1p120), 1e-30)
}

func TestClusterAccuracyMatchesPermutations(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		a := labeling(t, "truth", n, rapid.IntRange(1, 6).Draw(t, "classes"))
		b := labeling(t, "predicted", n, rapid.IntRange(1, 6).Draw(t, "clusters"))
		near(t, "ClusterAccuracy", must(ClusterAccuracy(a, b)), float64(bestMatching(a, b))/float64(n), 0)
	})
}

// bestMatching tries every one-to-one matching of six clusters to six classes.
func bestMatching(a, b []int) int {
	var count [6][6]int
	for i := range a {
		count[a[i]][b[i]]++
	}
	var try func(row int, used uint) int
	try = func(row int, used uint) int {
		if row == 6 {
			return 0
		}
		best := 0
		for c := range 6 {
			if used&(1<<c) == 0 {
				best = max(best, count[row][c]+try(row+1, used|1<<c))
			}
		}
		return best
	}
	return try(0, 0)
}

// A planted matching of large entries is found, also in larger tables.
func TestAssignFindsPlantedMatching(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{1, 1}, {1, 7}, {40, 40}, {60, 97}} {
		rows, columns := size[0], size[1]
		table := make([]int64, rows*columns)
		for k := range table {
			table[k] = rng.Int64N(100)
		}
		columnOf := rng.Perm(columns)[:rows]
		var want int64
		for i, j := range columnOf {
			table[i*columns+j] = 1000 + rng.Int64N(100)
			want += table[i*columns+j]
		}
		if got := assign(table, rows, columns); got != want {
			t.Errorf("%d x %d: best sum %d, planted %d", rows, columns, got, want)
		}
	}
}

func TestAccuracy(t *testing.T) {
	near(t, "Accuracy", must(Accuracy([]string{"a", "b", "b", "c"}, []string{"a", "b", "a", "c"})), 0.75, 0)
}

func TestPartitionErrors(t *testing.T) {
	for name, f := range map[string]func(a, b []int) (float64, error){
		"Rand": Rand[int, int], "BalancedRand": BalancedRand[int, int],
		"AdjustedRand": AdjustedRand[int, int],
		"NMI":          NMI[int, int], "Accuracy": Accuracy[int],
		"ClusterAccuracy": ClusterAccuracy[int, int],
	} {
		for _, c := range []struct {
			what string
			a, b []int
		}{
			{"empty", nil, nil}, {"empty", []int{}, []int{1}}, {"lengths", []int{1, 2}, []int{1}},
		} {
			var shape *fault.ShapeError
			if _, err := f(c.a, c.b); !errors.As(err, &shape) {
				t.Errorf("%s, %s: error %v, want a *fault.ShapeError", name, c.what, err)
			}
		}
		_, err := f([]int{1}, []int{1})
		if overPairs := strings.Contains(name, "Rand"); overPairs != fault.IsInput(err) {
			t.Errorf("%s of one object: error %v; only scores over pairs are undefined", name, err)
		}
	}
	many := indices(5000)
	if _, err := ClusterAccuracy(many, many); !fault.IsInput(err) {
		t.Errorf("ClusterAccuracy of 5000 x 5000 clusters: error %v, want an error about the size", err)
	}
}

func TestAUCMatchesEnumeration(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "n")
		scores := make([]float64, n)
		positive := make([]bool, n)
		for i := range scores {
			scores[i] = rapid.SampledFrom([]float64{math.Inf(-1), -1, 0, math.Copysign(0, -1), 0.5, 1,
				math.Inf(1)}).Draw(t, "score")
			positive[i] = rapid.Bool().Draw(t, "positive")
		}
		positive[0], positive[1] = true, false
		wins, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				if positive[i] && !positive[j] {
					all++
					if scores[i] > scores[j] {
						wins++
					} else if scores[i] == scores[j] {
						wins += 0.5
					}
				}
			}
		}
		near(t, "AUC", must(AUC(scores, positive)), wins/all, ulps)
	})
}

func TestAUCErrors(t *testing.T) {
	for _, c := range []struct {
		scores   []float64
		positive []bool
	}{
		{nil, nil}, {[]float64{1}, []bool{true}}, {[]float64{1, 2}, []bool{true}},
		{[]float64{1, 2}, []bool{false, false}}, {[]float64{1, math.NaN()}, []bool{true, false}},
	} {
		if _, err := AUC(c.scores, c.positive); !fault.IsInput(err) {
			t.Errorf("AUC(%v, %v): error %v, want an input error", c.scores, c.positive, err)
		}
	}
}

func BenchmarkAdjustedRand(b *testing.B) {
	for _, n := range []int{1e4, 1e6} {
		rng := rand.New(rand.NewPCG(1, 1))
		truth, predicted := make([]int, n), make([]int, n)
		for i := range truth {
			truth[i], predicted[i] = rng.IntN(10), rng.IntN(20)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(AdjustedRand(truth, predicted))
			}
		})
	}
}

// TestTableIsAll: rows in blocks of any size have scores that are bit-identical to those of all
// rows at once.
func TestTableIsAll(t *testing.T) {
	scored := 0
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		label := rapid.Custom(func(rt *rapid.T) string {
			return rapid.SampledFrom([]string{"", "a", "b", "c", "1", "2"}).Draw(rt, "label")
		})
		truth, predicted := rapid.SliceOfN(label, n, n).Draw(rt, "truth"),
			rapid.SliceOfN(label, n, n).Draw(rt, "predicted")
		named := rapid.Bool().Draw(rt, "named")
		table := Table{Named: named}
		for lo := 0; lo < n; {
			hi := min(n, lo+rapid.IntRange(1, 20).Draw(rt, "block"))
			if err := table.Add(truth[lo:hi], predicted[lo:hi]); err != nil {
				rt.Fatal(err)
			}
			lo = hi
		}
		got, err := table.Report()
		want, fail := All(Input{Truth: truth, Predicted: predicted, Named: named})
		if fmt.Sprint(err) != fmt.Sprint(fail) {
			rt.Fatalf("error %v: want %v", err, fail)
		}
		if diff := difftest.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
		if err == nil {
			scored++
			rows := labeled(truth)
			direct, err := Accuracy(pick(truth, rows), pick(predicted, rows))
			if err != nil || got.Accuracy != nil && *got.Accuracy != direct || named &&
				(got.Accuracy == nil ||
					got.Numbered) {
				rt.Fatalf("accuracy %v: want %v (%v)", got.Accuracy, direct, err)
			}
		}
	})
	if scored == 0 {
		t.Error("nothing was scored")
	}
}

func labeled(truth []string) []int {
	var rows []int
	for i, label := range truth {
		if label != "" {
			rows = append(rows, i)
		}
	}
	return rows
}

// TestTableHoldsLabels: the size of a table does not grow with the rows, and lengths are compared.
func TestTableHoldsLabels(t *testing.T) {
	var table Table
	for range 1000 {
		if err := table.Add([]string{"a", "b", ""}, []string{"0", "0", "1"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := table.Entries(); got != 2+1+2 {
		t.Errorf("the table has %d entries: want 5", got)
	}
	if err := table.Add([]string{"a"}, nil); !fault.IsInput(err) {
		t.Errorf("error %v: want one about the lengths", err)
	}
}

// AddCount equals that many rows, also more than fit in memory: pairs are still counted exactly.
func TestTableAddCount(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		var rows, counts Table
		for range rapid.IntRange(1, 10).Draw(rt, "blocks") {
			label := rapid.SampledFrom([]string{"", "a", "b", "c"})
			truth, predicted, n := label.Draw(rt, "truth"), label.Draw(rt, "predicted"),
				rapid.IntRange(0, 5).Draw(rt, "rows")
			for range n {
				if err := rows.Add([]string{truth}, []string{predicted}); err != nil {
					rt.Fatal(err)
				}
			}
			if err := counts.AddCount(truth, predicted, n); err != nil {
				rt.Fatal(err)
			}
		}
		want, fail := rows.Report()
		got, err := counts.Report()
		if fmt.Sprint(err) != fmt.Sprint(fail) {
			rt.Fatalf("error %v: want %v", err, fail)
		}
		if diff := difftest.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Of two labelings with four cells of h rows, 4 h(h-1)/2 pairs of rows are in one cell, and h^2 in
// each pair of cells, of which 2 share the class, 2 the cluster and 2 neither.
func TestTableOfMostRows(t *testing.T) {
	const h = 1<<30 - 1
	var table Table
	for _, labels := range [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}} {
		if err := table.AddCount(labels[0], labels[1], h); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.AddCount("a", "x", 4); !fault.IsInput(err) {
		t.Errorf("2^32 rows: %v, want an error", err)
	}
	if err := table.AddCount("a", "x", -1); !fault.IsInput(err) {
		t.Errorf("-1 rows: %v, want an error", err)
	}
	r, err := table.Report()
	if err != nil {
		t.Fatal(err)
	}
	together, apart := 2*float64(h)*(h-1), 2*float64(h)*h
	if want := (together + apart) / (together + 2*apart + apart); math.Abs(*r.Rand-want) > 4*0x1p-52 {
		t.Errorf("the Rand index is %v: want %v", *r.Rand, want)
	}
	if want := -1 / (4*float64(h) - 2); math.Abs(*r.AdjustedRand-want) > 8*0x1p-52*math.Abs(want) {
		t.Errorf("the adjusted Rand index is %v: want %v", *r.AdjustedRand, want)
	}
}

// TestNumbered: labels 0 to k - 1 that another naming of them would make agree better are taken for
// numbers of clusters; the right names, and labels that are no such numbers, are not.
func TestNumbered(t *testing.T) {
	truth := []string{"0", "0", "1", "1", "2"}
	for _, c := range []struct {
		predicted []string
		want      bool
	}{
		{[]string{"1", "1", "0", "0", "2"}, true},
		{[]string{"0", "0", "1", "1", "2"}, false},
		{[]string{"0", "0", "1", "2", "2"}, false}, // no naming agrees better
		{[]string{"1", "1", "2", "2", "1"}, false}, // not from 0
	} {
		r, err := All(Input{Truth: truth, Predicted: c.predicted})
		if err != nil || r.Numbered != c.want || r.Accuracy == nil {
			t.Errorf("%v: %+v, error %v: want %v, with an accuracy", c.predicted, r, err, c.want)
			continue
		}
		if r.OfClusters(); r.Accuracy != nil || r.ClusterAccuracy == nil {
			t.Errorf("%v: accuracy %v and cluster accuracy %v of clusters", c.predicted, r.Accuracy,
				r.ClusterAccuracy)
		}
	}
}

// pick returns the labels of some rows.
func pick(labels []string, rows []int) []string {
	out := make([]string, len(rows))
	for r, i := range rows {
		out[r] = labels[i]
	}
	return out
}
