package spectral

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/solvers/boxqp"
)

// aligned returns the alpha >= 0 for which sum alpha_c v_c v_c' is nearest to the targets on the
// links and the linked points. The first free ones are in any order, the others fall. Cost: O(links
// r^2 + r^3).
func aligned(eng *engine.Engine, v blas.Matrix, set *links.Set, free int) []float64 {
	h, g := targets(eng, v, set)
	r := v.Rows
	// With alpha = U beta and beta >= 0, alpha_c is beta_c if free, and otherwise the sum of beta
	// from c on.
	if free < r {
		sums(h, g, free)
	}
	trace := 0.0
	for c := range r {
		trace += h[c*r+c]
	}
	for c := range r {
		h[c*r+c] += 1e-12 * trace
	}
	beta := make([]float64, r)
	(&boxqp.Solver{}).Solve(h, g, math.Inf(1), beta)
	for c := r - 2; c >= free; c-- {
		beta[c] += beta[c+1]
	}
	return beta
}

// block is the number of links whose terms are added at a time.
const block = 1024

// targets returns H = sum w f f' and g = sum w t f, with f_c = v_c(i) v_c(j), over the links twice
// and the linked points once.
func targets(eng *engine.Engine, v blas.Matrix, set *links.Set) (h, g []float64) {
	r := v.Rows
	whole := blas.NewMatrix(r, r)
	f, t := blas.NewMatrix(block, r), make([]float64, 0, block) // sqrt(w) f, sqrt(w) t
	g = make([]float64, r)
	flush := func() {
		part := f.View(0, len(t), 0, r)
		eng.Backend().Gemm(true, false, 1, part, part, 1, whole)
		eng.Backend().Gemv(true, 1, part, t, 1, g)
		t = t[:0]
	}
	seen := map[int]bool{}
	add := func(i, j int, target, w float64) {
		w = math.Sqrt(w)
		row := f.Row(len(t))
		for c := range row {
			row[c] = w * v.At(c, i) * v.At(c, j)
		}
		if t = append(t, w*target); len(t) == block {
			flush()
		}
	}
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			add(l.I, l.J, float64(l.Sign), 2*l.Weight)
			for _, i := range []int{l.I, l.J} {
				if !seen[i] {
					seen[i] = true
					add(i, i, 1, 1)
				}
			}
		}
	}
	if len(t) > 0 {
		flush()
	}
	return whole.Data, g
}

// sums transforms H and g to the coordinates beta: columns and rows become the sums of those from
// free up to them.
func sums(h, g []float64, free int) {
	r := len(g)
	for c := free + 1; c < r; c++ {
		g[c] += g[c-1]
		for d := range r {
			h[d*r+c] += h[d*r+c-1]
		}
	}
	for c := free + 1; c < r; c++ {
		for d := range r {
			h[c*r+d] += h[(c-1)*r+d]
		}
	}
}
