package statistics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestWilcoxonIsTheShareOfSigns: the probability is the share of all 2^n choices of signs whose sum
// of ranks is at least as far from the middle, also with ties and zeros.
func TestWilcoxonIsTheShareOfSigns(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.IntRange(-5, 5), 2, 11).Draw(t, "differences")
		a, b := make([]float64, len(d)), make([]float64, len(d))
		var sizes []float64
		for i, v := range d {
			a[i] = float64(v)
			if v != 0 {
				sizes = append(sizes, math.Abs(float64(v)))
			}
		}
		w, p, err := statistics.Wilcoxon(a, b)
		if err != nil {
			t.Fatal(err)
		}
		n := len(sizes)
		ranks := make([]float64, n) // by counting
		for i, v := range sizes {
			for _, u := range sizes {
				if u < v {
					ranks[i]++
				} else if u == v {
					ranks[i] += 0.5
				}
			}
			ranks[i] += 0.5
		}
		middle, far := float64(n*(n+1))/4, 0
		for signs := range 1 << n {
			sum := 0.0
			for i, r := range ranks {
				if signs>>i&1 == 1 {
					sum += r
				}
			}
			if math.Abs(sum-middle) >= math.Abs(w-middle) {
				far++
			}
		}
		if want := float64(far) / float64(int(1)<<n); math.Abs(p-want) > 1e-12 {
			t.Fatalf("p is %v: want %v, counted over all signs", p, want)
		}
	})
}

// TestWilcoxonMeetsItsLimit: probabilities are exact up to 50 differences, and those of the normal
// distribution from 51. Both are near the values for a sum with mean n(n+1)/4 and variance
// n(n+1)(2n+1)/24.
func TestWilcoxonMeetsItsLimit(t *testing.T) {
	for _, n := range []int{50, 51} {
		a := make([]float64, n)
		for i := range a {
			a[i] = float64(i + 1)
			if i%3 == 0 {
				a[i] = -a[i]
			}
		}
		w, p, err := statistics.Wilcoxon(a, make([]float64, n))
		if err != nil {
			t.Fatal(err)
		}
		m := float64(n)
		z := (math.Abs(w-m*(m+1)/4) - 0.5) / math.Sqrt(m*(m+1)*(2*m+1)/24)
		if want := math.Erfc(z / math.Sqrt2); math.Abs(p-want) > 0.02*want {
			t.Errorf("%d differences: p is %v: want about %v", n, p, want)
		}
	}
}

// TestPairedT: there is a closed form for two values (the Cauchy distribution) and for three, and
// the test keeps its level.
func TestPairedT(t *testing.T) {
	tt, p, err := statistics.PairedT([]float64{3, 1}, []float64{0, 0}) // mean 2, standard error 1
	if err != nil || math.Abs(tt-2) > 1e-12 || math.Abs(p-(1-2/math.Pi*math.Atan(2))) > 1e-9 {
		t.Errorf("t %v, p %v, error %v", tt, p, err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	const draws = 4000
	below := 0
	for range draws {
		a, b := make([]float64, 6), make([]float64, 6)
		for i := range a {
			a[i], b[i] = r.NormFloat64(), r.NormFloat64()
		}
		if _, p, _ := statistics.PairedT(a, b); p < 0.05 {
			below++
		}
	}
	if share := float64(below) / draws; math.Abs(share-0.05) > 0.015 {
		t.Errorf("%.3f of equal systems differ at 0.05", share)
	}
}

// TestCriticalDifference: the values of Demsar (2006), Table 5a, to one in the last of its three
// decimals.
func TestCriticalDifference(t *testing.T) {
	for k, want := range map[int]float64{2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031,
		9: 3.102, 10: 3.164} {
		scores := make([][]float64, 6) // then the difference is the value times sqrt(k (k+1)) / 6
		for s := range scores {
			scores[s] = make([]float64, k)
		}
		r, err := statistics.Rank(scores)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Critical * 6 / math.Sqrt(float64(k*(k+1))); math.Abs(got-want) > 1e-3 {
			t.Errorf("%d systems: %.4f: want %.3f", k, got, want)
		}
	}
}

// TestRank: mean ranks by hand, NaN last, and a probability that falls when the order is always the
// same.
func TestRank(t *testing.T) {
	r, err := statistics.Rank([][]float64{{3, 2, 1}, {3, 3, math.NaN()}, {9, 8, 7}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{(1 + 1.5 + 1) / 3.0, (2 + 1.5 + 2) / 3.0, 3} {
		if math.Abs(r.Mean[i]-want) > 1e-12 {
			t.Errorf("rank %d is %v: want %v", i, r.Mean[i], want)
		}
	}
	equal, err := statistics.Rank([][]float64{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}})
	if err != nil || r.P > 0.1 || equal.P < 0.9 {
		t.Errorf("p %v for one order, %v for none, error %v", r.P, equal.P, err)
	}
	if _, err := statistics.Rank([][]float64{{1, 2}, {1}}); !fault.IsInput(err) {
		t.Errorf("rows of two lengths: error %v", err)
	}
}

// TestBootstrapCovers: a 90 % interval contains the mean in about 90 % of the draws, and it is the
// same for the same seed.
func TestBootstrapCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const draws = 300
	covered := 0
	for k := range draws {
		groups := make([][]float64, 3)
		for g := range groups {
			for range 20 {
				groups[g] = append(groups[g], float64(g)+r.NormFloat64())
			}
		}
		in, err := statistics.BootstrapMean(groups, 0.9, uint64(k))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := statistics.BootstrapMean(groups, 0.9, uint64(k)); again != in {
			t.Fatal("two intervals differ for the same seed")
		}
		if in.Low <= 1 && 1 <= in.High {
			covered++
		}
	}
	if share := float64(covered) / draws; share < 0.82 || share > 0.95 {
		t.Errorf("%.3f of the intervals of level 0.90 contain the mean", share)
	}
}

// TestMistakes: input without information is an input error.
func TestMistakes(t *testing.T) {
	for name, f := range map[string]func() error{
		"one value": func() error {
			_, _, err := statistics.PairedT([]float64{1}, []float64{1})
			return err
		},
		"two lengths": func() error {
			_, _, err := statistics.Wilcoxon([]float64{1, 2, 3}, []float64{1, 2})
			return err
		},
		"NaN": func() error {
			_, _, err := statistics.Wilcoxon([]float64{1, math.NaN()}, []float64{1, 2})
			return err
		},
		"no group": func() error { _, err := statistics.BootstrapMean(nil, 0.9, 0); return err },
		"an empty group": func() error {
			_, err := statistics.BootstrapMean([][]float64{{}}, 0.9, 0)
			return err
		},
		"level 1": func() error {
			_, err := statistics.BootstrapMean([][]float64{{1}}, 1, 0)
			return err
		},
		"no set": func() error { _, err := statistics.Rank(nil); return err },
	} {
		if err := f(); !fault.IsInput(err) {
			t.Errorf("%s: error %v: want an input error", name, err)
		}
	}
}
