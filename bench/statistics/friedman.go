package statistics

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mustlink/mustlink/engine/fault"
)

// Ranking compares k systems over n data sets by their ranks (Demsar 2006, JMLR 7:1-30).
type Ranking struct {
	// Mean is the rank of each system, averaged over the data sets; 1 is best.
	Mean []float64 `json:"mean"`
	// P is the probability of mean ranks at least as unequal as these if all systems are equal
	// (Friedman's test in the form of Iman & Davenport).
	P float64 `json:"p"`
	// Critical is the critical difference: systems whose mean ranks differ by more are different,
	// with a probability of error of 0.05 over all pairs (Nemenyi's test).
	Critical float64 `json:"critical_difference"`
}

// Rank ranks systems by their scores, scores[set][system]. Larger scores are better; NaN is the
// worst. Fewer than two systems or sets, or rows of different lengths, are a *fault.ShapeError.
func Rank(scores [][]float64) (*Ranking, error) {
	n := len(scores)
	if n < 2 || len(scores[0]) < 2 {
		return nil, &fault.ShapeError{What: "number of data sets and of systems", Got: n,
			Want: "at least 2 of each"}
	}
	k := len(scores[0])
	r := &Ranking{Mean: make([]float64, k)}
	for _, row := range scores {
		if len(row) != k {
			return nil, &fault.ShapeError{What: "number of systems", Got: len(row),
				Want: "the same on every data set"}
		}
		minus := make([]float64, k)
		for i, v := range row {
			minus[i] = -v
		}
		for i, rank := range Ranks(minus) {
			r.Mean[i] += rank / float64(n)
		}
	}
	r.P = friedman(r.Mean, n)
	r.Critical = rangeQuantile(0.95, k) / math.Sqrt2 * math.Sqrt(float64(k*(k+1))/float64(6*n))
	return r, nil
}

// friedman returns the probability for mean ranks over n sets.
func friedman(mean []float64, n int) float64 {
	k, sets := float64(len(mean)), float64(n)
	squares := 0.0
	for _, m := range mean {
		squares += m * m
	}
	chi := 12 * sets / (k * (k + 1)) * (squares - k*(k+1)*(k+1)/4)
	rest := sets*(k-1) - chi
	if rest <= 0 { // the same order on every set
		return 0
	}
	return distuv.F{D1: k - 1, D2: (k - 1) * (sets - 1)}.Survival(max(0, (sets-1)*chi/rest))
}

// rangeQuantile returns the value below which the range of k standard normal values lies with
// probability p.
func rangeQuantile(p float64, k int) float64 {
	below := func(q float64) float64 {
		const far, nodes = 8, 200
		return quad.Fixed(func(z float64) float64 {
			return float64(k) * distuv.UnitNormal.Prob(z) *
				math.Pow(distuv.UnitNormal.CDF(z)-distuv.UnitNormal.CDF(z-q), float64(k-1))
		}, -far, far, nodes, nil, 0)
	}
	low, high := 0.0, 20.0
	for range 60 {
		if middle := (low + high) / 2; below(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
