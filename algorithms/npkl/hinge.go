package npkl

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// kinks is the memory of updates with the hinge itself.
type kinks struct {
	held      []int // links at their kinks, t v'v_j = 1, whose t v_j are independent
	crossings []crossing
	lower     []float64 // the t v_j of the held links are L Q, with orthonormal rows of Q; r x r
	z, way    []float64 // r
}

// crossing is where a link arrives at its kink, as a share of a way, and how much the slope of the
// value rises there.
type crossing struct {
	at   float64
	link int
	rise float64
}

func newKinks(r int) *kinks {
	return &kinks{lower: make([]float64, r*r), z: make([]float64, r), way: make([]float64, r)}
}

// kinksBytes is the size of kinks.
func kinksBytes(r, maxLinks int) int64 {
	return engine.MatrixBytes(maxLinks, 4) + engine.MatrixBytes(r, r+2)
}

// bend is update for the hinge itself: program (7) of the paper, whose dual is program (9). The
// multiplier of a link is 0 where the loss is 0, w where it is a line, and between them at the
// kink. The row goes to the minimizer for the present states, or on the way there to the lowest
// point. A link whose kink is there is then held; it is released if its multiplier is out of range.
// This ends after a few steps more than there are links at kinks, and in any case after a number of
// them.
func (k *block) bend(v []float64, d float64, g []float64) {
	n := k.kinks
	n.held = n.held[:0]
	k.mark(v)
	for range 100 + 10*k.m {
		k.toward(d, g)
		for c, x := range k.next {
			n.way[c] = x - v[c]
		}
		share, stop := k.lowest(v, d)
		if stop < 0 && share == 1 {
			if copy(v, k.next); !k.release() {
				return
			}
			continue
		}
		for c, x := range n.way {
			v[c] += share * x
		}
		if stop >= 0 {
			k.state[stop] = kink
			n.held = append(n.held, stop)
		}
	}
}

// toward computes the minimizer for the present states, and the multipliers of the held links in x.
func (k *block) toward(d float64, g []float64) {
	y, r, n := k.rhs, k.r, k.kinks
	copy(y, g)
	for j := range k.m {
		if k.state[j] == line {
			blas.AddScaled(y, k.w[j]*k.t[j], k.row(j))
		}
	}
	for c, f := range y {
		k.next[c] = f / d
	}
	for i, j := range n.held {
		q, l := k.small[i*r:][:r], n.lower[i*r:][:r]
		clear(q)
		blas.AddScaled(q, k.t[j], k.row(j))
		clear(l)
		for range 2 { // the second time for what rounding has left
			for e := range i {
				other := k.small[e*r:][:r]
				p := blas.Dot(q, other)
				l[e] += p
				blas.AddScaled(q, -p, other)
			}
		}
		l[i] = math.Sqrt(blas.Dot(q, q))
		for c := range q {
			q[c] /= l[i]
		}
		n.z[i] = (1 - blas.Dot(l[:i], n.z[:i])) / l[i]
		pulled := blas.Dot(q, y)
		blas.AddScaled(k.next, n.z[i]-pulled/d, q)
		k.x[i] = d*n.z[i] - pulled
	}
	for i := len(n.held) - 1; i >= 0; i-- {
		l := n.lower[i*r:][:i+1]
		k.x[i] /= l[i]
		blas.AddScaled(k.x[:i], -k.x[i], l[:i])
	}
}

// lowest returns the share of the way from v at which the value is lowest, and the link whose kink
// is there, or -1. Links on the way before change their states. A link whose kink runs along the
// way, because its row depends on those of held links, keeps its state.
func (k *block) lowest(v []float64, d float64) (share float64, stop int) {
	n := k.kinks
	length := blas.Dot(n.way, n.way)
	if len(n.held) == k.r || length <= 1e-30*blas.Dot(k.next, k.next) {
		return 1, -1
	}
	n.crossings = n.crossings[:0]
	for j := range k.m {
		row := k.row(j)
		fall := k.t[j] * blas.Dot(n.way, row)
		if fall*fall <= 1e-20*length*blas.Dot(row, row) || k.state[j] == kink ||
			(fall > 0) == (k.state[j] == slack) {
			continue
		}
		if at := max(0, (1-k.t[j]*blas.Dot(v, row))/fall); at < 1 {
			n.crossings = append(n.crossings, crossing{at, j, k.w[j] * math.Abs(fall)})
		}
	}
	slices.SortFunc(n.crossings, func(a, b crossing) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.link, b.link))
	})
	risen := 0.0
	for _, c := range n.crossings {
		slope := d*length*(c.at-1) + risen
		if slope >= 0 {
			break
		}
		if slope+c.rise >= 0 {
			return c.at, c.link
		}
		risen += c.rise
		k.state[c.link] = line - k.state[c.link] // slack is 0
	}
	return 1 - risen/(d*length), -1
}

// release gives up the held link whose multiplier is farthest out of its range, and reports whether
// there is one.
func (k *block) release() bool {
	n, worst, at := k.kinks, 1e-11, -1
	for i, j := range n.held {
		if out := max(-k.x[i], k.x[i]-k.w[j]) / k.w[j]; out > worst {
			worst, at = out, i
		}
	}
	if at < 0 {
		return false
	}
	k.state[n.held[at]] = slack
	if k.x[at] > 0 {
		k.state[n.held[at]] = line
	}
	n.held = slices.Delete(n.held, at, at+1)
	return true
}
