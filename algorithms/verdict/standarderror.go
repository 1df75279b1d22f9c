package verdict

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
)

// Statistic is a figure of one fold in one metric, with the linear parts of its error. Figures of
// two metrics on the same fold, and their parts, can be subtracted.
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

// Combine returns the weighted mean of the figures of some folds, and its standard error: the
// larger one of two.
//
// One has the held-out rows as independent units, with the rows of the fits given. A link between
// rows of two folds counts once from each end, so that its two parts are correlated. The other lets
// links with a common row be correlated in any way, held out or not (Aronow, Samii & Assenova 2015,
// Political Analysis 23:564-577, equation 2): a row that is in the fits of several folds is the end
// of links of all of them. Of few rows, and of links that were asked for one after the other, the
// first alone is too small.
func Combine(parts []Part) (mean, err float64) {
	total := 0.0
	for _, p := range parts {
		total += p.Weight
	}
	byRows, twice := 0.0, 0.0
	e := newEffects()
	for _, p := range parts {
		w := p.Weight / total
		mean += w * p.Value
		for _, v := range p.Statistic.Rows {
			byRows += w * v * w * v
		}
		for k, v := range p.Links {
			twice += 2 * e.add(p.Pairs[k], w*v) * w * v
		}
	}
	return mean, math.Sqrt(max(byRows+max(0, twice), e.joint()))
}

// Level is [Combine] with an error about the mean itself. The parts of a ranking of links add up to
// what it is above 1/2, all of which Combine counts as error, to find whether there is anything.
func Level(parts []Part) (mean, err float64) {
	about := slices.Clone(parts)
	for i := range about {
		p := &about[i]
		p.Statistic = p.Minus(p.newStatistic()) // a copy
		for _, kind := range [][2]int{{0, p.Must}, {p.Must, len(p.Links)}} {
			own := p.Links[kind[0]:kind[1]]
			n := float64(len(own))
			if n < 2 {
				continue // of one link nothing says how far it is from the mean of others
			}
			each, wider := blas.Sum(own)/n, math.Sqrt(n/(n-1)) // as the mean is of the same links
			for k, v := range own {
				own[k] = wider * (v - each)
				p.Statistic.Rows[p.row[kind[0]+k]] += own[k] - v
			}
		}
	}
	return Combine(about)
}

// effects are the parts of an error that are due to single links.
type effects struct {
	at    map[[2]int]int // position of a link
	links [][2]int
	terms []float64
}

func newEffects() *effects { return &effects{at: map[[2]int]int{}} }

// add adds a part to that of a link, and returns what it was before.
func (e *effects) add(pair [2]int, term float64) (before float64) {
	link := [2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}
	k, there := e.at[link]
	if !there {
		k = len(e.links)
		e.at[link], e.links, e.terms = k, append(e.links, link), append(e.terms, 0)
	}
	before = e.terms[k]
	e.terms[k] += term
	return before
}

// joint returns the variance of the sum of the parts if those of links with a common row may be
// correlated in any way.
func (e *effects) joint() float64 {
	own, sum := 0.0, map[int]float64{}
	var rows []int // in the order of the links, so that sums have the same bits in every call
	for k, link := range e.links {
		own += e.terms[k] * e.terms[k]
		for _, i := range link {
			if _, there := sum[i]; !there {
				rows = append(rows, i)
			}
			sum[i] += e.terms[k]
		}
	}
	joint := -own
	for _, i := range rows {
		joint += sum[i] * sum[i]
	}
	return max(joint, own)
}
