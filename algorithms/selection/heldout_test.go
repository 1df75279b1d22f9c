package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// evaluated returns an evaluator by ranking with three folds.
func evaluated(t *testing.T, x points.Points, set *links.Set) *evaluator {
	t.Helper()
	o := DefaultOptions()
	o.Folds = 3
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// replaced returns x with new random values in the given rows.
func replaced(x *points.Dense, rows []int) *points.Dense {
	rng := rand.New(rand.NewPCG(7, 7))
	out := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for _, i := range rows {
		for c := range x.D {
			out.Data[i*x.D+c] = rng.NormFloat64()
		}
	}
	return out
}

// gramOf returns the points as a Gram matrix of a Gaussian kernel, each entry from its two points
// alone.
func gramOf(t *testing.T, x *points.Dense) *points.Gram {
	t.Helper()
	row := func(i int) []float64 { return x.Data[i*x.D : (i+1)*x.D] }
	var data []float64
	for i := range x.N {
		for j := range x.N {
			data = append(data, math.Exp(-enginetest.SquaredDistance(row(i), row(j))/2))
		}
	}
	out, err := points.NewGram(x.N, x.N, data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// embedded returns what a candidate that is fitted without the points of a fold makes of its own
// points. It is nil for a method that takes only vectors if x are others.
func embedded(t *testing.T, j *evaluator, x points.Points, method string, held *verdict.Fold) []float64 {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, 2)
	l, err := Candidate{Method: method}.Learner(catalog.Config{Seed: j.o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	l, own, set, err := held.Training(eng, l, x)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Fit(ctx, eng, own, set)
	if _, dense := x.(*points.Dense); fault.IsInput(err) && !dense {
		return nil
	}
	if err != nil {
		t.Fatalf("%s of %T: %v", method, x, err)
	}
	y, err := m.Embed(ctx, eng, own)
	if err != nil {
		t.Fatalf("%s of %T: %v", method, x, err)
	}
	return y.Data
}

// No fit sees the points of its fold: with other values there, it gives its own points the same
// bits. The rows of a Gram matrix have entries for the points of the fold, which no method reads in
// a fit.
func TestHeldOutPointsAreOutOfTheFit(t *testing.T) {
	x, _, set := rings(t)
	j, read := evaluated(t, x, set), map[string]bool{}
	for f, held := range j.folds {
		changed := replaced(x, held.Rows)
		for _, both := range [][2]points.Points{{x, changed},
			{enginetest.Sparse(x), enginetest.Sparse(changed)}, {gramOf(t, x), gramOf(t, changed)}} {
			for _, m := range catalog.Methods() {
				if m.UsesTargets || f > 0 && m.Name != "npkl" {
					continue
				}
				want := embedded(t, j, both[0], m.Name, held)
				if !slices.Equal(embedded(t, j, both[1], m.Name, held), want) {
					t.Errorf("fold %d: %s of %T sees the points that are held out", f+1, m.Name, both[0])
				}
				if _, gram := both[0].(*points.Gram); gram && want != nil {
					read[m.Name] = true
				}
			}
		}
	}
	for _, name := range []string{"krca", "npkl", "lleratio", "gml", "blend"} {
		if !read[name] {
			t.Errorf("%s was not tried on a Gram matrix", name)
		}
	}
}

// The ranking of a fold by hand, in coordinates of a fit on the other points: how often a must-link
// of a held-out row is shorter than a cannot-link of one, less how often the distances of all
// held-out rows from the same rows of the fit are.
func TestRankingByHand(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := rings(t)
	j := evaluated(t, x, set)
	for _, c := range candidates("rca", "npkl", "lleratio", "blend") {
		l, err := c.Learner(catalog.Config{Seed: j.o.Seed})
		if err != nil {
			t.Fatal(err)
		}
		for f, held := range j.folds {
			rest := slices.DeleteFunc(upTo(x.N), func(i int) bool { return slices.Contains(held.Rows, i) })
			own, err := set.Restrict(rest)
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Fit(ctx, eng, x.Select(rest), own)
			if err != nil {
				t.Fatal(err)
			}
			y, err := m.Embed(ctx, eng, x)
			if err != nil {
				t.Fatal(err)
			}
			must, cannot := held.Pairs[:held.Must], held.Pairs[held.Must:]
			want := 0.5 + rankedRight(y, must, cannot) -
				rankedRight(y, everywhere(must, held.Rows), everywhere(cannot,
					held.Rows))
			if got, err := j.score(ctx, eng, c, f); err != nil || !(math.Abs(got.Value-want) <= 1e-9) {
				t.Errorf("%s, fold %d: ranking %v, by hand %v, error %v", c, f+1, got.Value, want, err)
			}
		}
	}
}

// rankedRight returns how often a must-link is shorter than another pair; equal ones count half.
func rankedRight(y blas.Matrix, must, others [][2]int) float64 {
	length := func(p [2]int) float64 { return enginetest.SquaredDistance(y.Row(p[0]), y.Row(p[1])) }
	var a, b []float64
	for _, p := range must {
		a = append(a, length(p))
	}
	for _, p := range others {
		b = append(b, length(p))
	}
	slices.Sort(b)
	right := 0
	for _, v := range a {
		from, _ := slices.BinarySearch(b, v)
		to, _ := slices.BinarySearch(b, math.Nextafter(v, math.Inf(1)))
		right += 2*(len(b)-to) + to - from
	}
	return float64(right) / 2 / float64(len(must)*len(others))
}

// everywhere returns the pairs with each of the rows in the place of the first end.
func everywhere(pairs [][2]int, rows []int) [][2]int {
	var out [][2]int
	for _, p := range pairs {
		for _, i := range rows {
			out = append(out, [2]int{i, p[1]})
		}
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Sequences and Gram matrices are divided into folds as vectors are.
func TestOtherPoints(t *testing.T) {
	x, labels, set := rings(t)
	rng := rand.New(rand.NewPCG(3, 3))
	var letters []byte
	start := []int{0}
	for _, l := range labels {
		word := "ACGTT"
		if l == labels[0] {
			word = "GGATC"
		}
		for range 4 {
			letters = append(letters, word...)
			letters = append(letters, "ACGT"[rng.IntN(4)])
		}
		start = append(start, len(letters))
	}
	sequences, err := points.NewSequences("ACGT", start, letters)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]points.Points{"Gram": gramOf(t, x), "sequences": sequences} {
		o := DefaultOptions()
		o.Candidates = candidates("krca", "lleratio", "npkl", "blend")
		if name == "sequences" {
			o.Candidates = candidates("krca kernel=spectrum:k=3", "lleratio kernel=spectrum:k=3")
		}
		r, err := Select(context.Background(), enginetest.New(t, 2), p, set, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, trial := range r.Trials {
			if trial.Error != "" || !(trial.Mean > 0.7) {
				t.Errorf("%s: %s has %v: %s", name, trial.Candidate, trial.Mean, trial.Error)
			}
		}
	}
}
