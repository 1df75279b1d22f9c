package verdict

import (
	"math"
	"slices"
)

// Statistic is a figure of one fold in one metric, with the linear parts of its error. Figures of two
// metrics on the same fold, and their parts, can be subtracted.
type Statistic struct {
	Value float64   `json:"value"`
	Rows  []float64 `json:"rows"`  // the part of the error that is due to each row of Fold.Rows
	Links []float64 `json:"links"` // and to each pair of Fold.Pairs, as a part of that of its row
}

// newStatistic returns the statistic 0 of a fold.
func (f *Fold) newStatistic() Statistic {
	return Statistic{Rows: make([]float64, len(f.Rows)), Links: make([]float64, len(f.Pairs))}
}

// Minus returns the difference of two figures.
func (s Statistic) Minus(o Statistic) Statistic { return s.plus(o, -1) }

// Mean returns the mean of two figures.
func (s Statistic) Mean(o Statistic) Statistic {
	sum := s.plus(o, 1)
	sum.Value /= 2
	for _, list := range [][]float64{sum.Rows, sum.Links} {
		for k := range list {
			list[k] /= 2
		}
	}
	return sum
}

func (s Statistic) plus(o Statistic, times float64) Statistic {
	s.Value += times * o.Value
	s.Rows, s.Links = slices.Clone(s.Rows), slices.Clone(s.Links)
	for k, v := range o.Rows {
		s.Rows[k] += times * v
	}
	for k, v := range o.Links {
		s.Links[k] += times * v
	}
	return s
}

// Part is the figure of a fold with its weight among others.
type Part struct {
	*Fold
	Weight float64
	Statistic
}

// Combine returns the weighted mean of the figures of some folds, and its standard error: held-out
// rows are the independent units, the rows of the fits are given, and a link between rows of two
// folds counts once from each end, so that its two parts are correlated.
func Combine(parts []Part) (mean, err float64) {
	total := 0.0
	for _, p := range parts {
		total += p.Weight
	}
	variance, twice := 0.0, 0.0
	first := map[[2]int]float64{} // the part of a link in the first fold that uses it
	for _, p := range parts {
		w := p.Weight / total
		mean += w * p.Value
		for _, v := range p.Statistic.Rows {
			variance += w * v * w * v
		}
		for k, v := range p.Links {
			link := [2]int{min(p.Pairs[k][0], p.Pairs[k][1]), max(p.Pairs[k][0], p.Pairs[k][1])}
			if before, there := first[link]; there {
				twice += 2 * before * w * v
			} else {
				first[link] = w * v
			}
		}
	}
	return mean, math.Sqrt(variance + max(0, twice))
}

// distribution is a weighted sample of numbers.
type distribution struct {
	at    []float64 // ascending
	below []float64 // below[k] is the weight of the first k
}

// newDistribution returns the distribution of numbers with whole weights, 1 for nil.
func newDistribution(values []float64, weights []int) distribution {
	d := distribution{below: make([]float64, 1, len(values)+1)}
	if weights == nil {
		d.at = slices.Sorted(slices.Values(values))
		for k := range d.at {
			d.below = append(d.below, float64(k+1))
		}
		return d
	}
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return compare(values[a], values[b]) })
	for k, i := range order {
		d.at = append(d.at, values[i])
		d.below = append(d.below, d.below[k]+float64(weights[i]))
	}
	return d
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// share returns the share of the weight below v; numbers equal to v count half.
func (d distribution) share(v float64) float64 {
	from, found := slices.BinarySearch(d.at, v)
	to := from
	if found {
		to, _ = slices.BinarySearchFunc(d.at, v, func(x, v float64) int {
			if x > v {
				return 1
			}
			return -1
		})
	}
	return (d.below[from] + d.below[to]) / 2 / d.below[len(d.at)]
}
