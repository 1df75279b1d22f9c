package statistics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mustlink/mustlink/engine/fault"
)

// PairedT returns Student's t of the differences a - b, and the two-sided probability of a value at
// least as large if their mean is 0. The probability is 1 if all differences are 0, and 0 if all
// have the same value other than 0. Lengths that differ or are below 2 are a *fault.ShapeError,
// values that are not finite a *fault.DataError.
func PairedT(a, b []float64) (t, p float64, err error) {
	d, err := differences(a, b)
	if err != nil {
		return 0, 0, err
	}
	n := float64(len(d))
	mean, squares := 0.0, 0.0
	for _, v := range d {
		mean += v / n
	}
	for _, v := range d {
		squares += (v - mean) * (v - mean)
	}
	switch {
	case squares == 0 && mean == 0:
		return 0, 1, nil
	case squares == 0:
		return math.Inf(int(math.Copysign(1, mean))), 0, nil
	}
	t = mean / math.Sqrt(squares/(n-1)/n)
	return t, 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(-math.Abs(t)), nil
}

// Wilcoxon returns the sum of the ranks of the positive differences a - b among all differences by
// absolute value, and the two-sided probability of a sum at least as far from its middle if the
// differences are symmetric around 0 (Wilcoxon 1945, Biometrics Bulletin 1:80-83). Differences of 0
// are left out, and equal absolute values share their ranks. The probability is exact, given these
// values, for up to 50 differences; beyond that it is that of the normal distribution. It is 1 if
// all differences are 0. The errors are those of [PairedT].
func Wilcoxon(a, b []float64) (w, p float64, err error) {
	d, err := differences(a, b)
	if err != nil {
		return 0, 0, err
	}
	d = slices.DeleteFunc(d, func(v float64) bool { return v == 0 })
	if len(d) == 0 {
		return 0, 1, nil
	}
	sizes := make([]float64, len(d))
	for i, v := range d {
		sizes[i] = math.Abs(v)
	}
	ranks := Ranks(sizes)
	for i, v := range d {
		if v > 0 {
			w += ranks[i]
		}
	}
	const exact = 50
	if len(d) <= exact {
		return w, signedRankTail(ranks, w), nil
	}
	variance := 0.0
	for _, r := range ranks {
		variance += r * r / 4
	}
	n := float64(len(d))
	z := math.Max(0, math.Abs(w-n*(n+1)/4)-0.5) / math.Sqrt(variance)
	return w, min(1, 2*distuv.UnitNormal.Survival(z)), nil
}

// signedRankTail returns the probability that ranks with random signs have a sum at least as far
// from the middle as w. Twice a rank is an integer, so sums are counted in halves.
func signedRankTail(ranks []float64, w float64) float64 {
	total := 0
	for _, r := range ranks {
		total += int(2 * r)
	}
	share := make([]float64, total+1) // of the signs, by the sum
	share[0] = 1
	reached := 0
	for _, r := range ranks {
		step := int(2 * r)
		reached += step
		for s := reached; s >= 0; s-- {
			share[s] /= 2
			if s >= step {
				share[s] += share[s-step] / 2
			}
		}
	}
	p, far := 0.0, math.Abs(2*w-float64(total)/2)
	for s, v := range share {
		if math.Abs(float64(s)-float64(total)/2) >= far {
			p += v
		}
	}
	return min(1, p)
}

func differences(a, b []float64) ([]float64, error) {
	if len(a) != len(b) || len(a) < 2 {
		return nil, &fault.ShapeError{What: "number of paired values", Got: min(len(a), len(b)),
			Want: "at least 2, and the same number in both"}
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d, finite(d)
}

// Ranks returns the rank of every value, 1 for the smallest. Equal values share the mean of their
// ranks; NaN values come last.
func Ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if a, b := math.IsNaN(values[i]), math.IsNaN(values[j]); a || b {
			return cmp.Compare(truth(a), truth(b))
		}
		return cmp.Compare(values[i], values[j])
	})
	ranks := make([]float64, len(values))
	for first := 0; first < len(order); {
		last := first + 1
		for last < len(order) && same(values[order[first]], values[order[last]]) {
			last++
		}
		for _, i := range order[first:last] {
			ranks[i] = float64(first+1+last) / 2
		}
		first = last
	}
	return ranks
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
