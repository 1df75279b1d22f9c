package calibration

import "math"

// missed is the probability that a lower bound, or an upper one, is wrong at any distance.
const missed = 0.05

// rate bounds shares of a population from counts in a sample of it.
type rate struct {
	n     float64 // size of the sample
	ratio float64 // logarithm of the largest ratio of likelihoods
}

// newRate returns the bounds for a sample of n: the shares under which the sample is not less
// likely than under its own by more than a ratio. With this ratio all n lower bounds of the shares
// up to a distance, and all n upper bounds, are right together with the probability 1 - missed
// (Berk & Jones, Zeitschrift für Wahrscheinlichkeitstheorie 47, 1979). It is a fit from above to
// that of n from 1 to 20,000; its slope is that of large n.
//
// A quotient of bounds of two samples is wrong no more often: where it is, the two likelihoods
// together are at least as small as that of one sample where its own bound is.
func newRate(n int64) rate { return rate{float64(n), ratioOf(n)} }

// upTo returns bounds of the share of must-links among the nearest n of all links.
func upTo(n, all int64) rate { return rate{float64(n), ratioOf(all)} }

func ratioOf(n int64) float64 { return 3.05 + 1.1*math.Log(math.Log(float64(n)+2)) }

// bounds returns bounds of the share of which k of n are a sample.
func (r rate) bounds(k int64) (low, high float64) { return r.low(k), r.high(k) }

// low returns the lower bound.
func (r rate) low(k int64) float64 { return 1 - r.above(r.n-float64(k)) }

// high returns the upper bound.
func (r rate) high(k int64) float64 { return r.above(float64(k)) }

// above returns the largest share p with k log(k/np) + (n-k) log((n-k)/(n-np)) <= ratio. The sum
// is convex in p, so Newton's steps fall to p from two simple bounds of it.
func (r rate) above(k float64) float64 {
	own, rest := k/r.n, r.n-k
	switch {
	case rest == 0: // of none, too
		return 1
	case k == 0:
		return -math.Expm1(-r.ratio / r.n)
	}
	p := min(own+math.Sqrt(r.ratio/(2*r.n)), 1-(1-own)*math.Exp(-(r.ratio-k*math.Log(own))/rest))
	for range 50 {
		excess := k*math.Log(own/p) + rest*math.Log((1-own)/(1-p)) - r.ratio
		next := p - excess*p*(1-p)/(r.n*p-k)
		if !(next < p && next > own) {
			break
		}
		p = next
	}
	return p
}

// laplace returns the expected share if all shares were equally likely before k of n was seen.
func (r rate) laplace(k int64) float64 { return (float64(k) + 1) / (r.n + 2) }
