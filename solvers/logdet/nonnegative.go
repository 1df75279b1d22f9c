package logdet

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// nonnegative minimizes x'Hx/2 - q'x over x >= 0, where H is definite, lower triangle, by block
// principal pivoting (Portugal, Judice & Vicente 1994; Kim & Park 2011): it solves for a set of
// variables, the others 0, and exchanges all those that are negative or whose gradient is. If their
// number does not fall for a few rounds, it exchanges only the last, which ends in finite time. The
// first set are those with start > 0. It returns false after many rounds, which only rounding
// causes.
func nonnegative(eng *engine.Engine, h blas.Matrix, q, start []float64) (x []float64, ok bool) {
	b, n := eng.Backend(), len(q)
	x, rest, in := make([]float64, n), make([]float64, n), make([]bool, n)
	for i, v := range start {
		in[i] = v > 0
	}
	fewest, patience, wrong := n+1, pivotPatience, make([]int, 0, n)
	for range 20 + n {
		if !restricted(eng, h, q, in, x) {
			return nil, false
		}
		copy(rest, q)
		b.Symv(-1, h, x, 1, rest)
		wrong = wrong[:0]
		for i, is := range in {
			if is && x[i] < 0 || !is && rest[i] > 0 {
				wrong = append(wrong, i)
			}
		}
		switch {
		case len(wrong) == 0:
			return x, true
		case len(wrong) < fewest:
			fewest, patience = len(wrong), pivotPatience
		case patience > 0:
			patience--
		default:
			wrong = wrong[len(wrong)-1:]
		}
		for _, i := range wrong {
			in[i] = !in[i]
		}
	}
	return nil, false
}

// pivotPatience is the number of rounds of full exchanges without fewer wrong variables.
const pivotPatience = 3

// restricted solves H x = q for the variables in the set, the others 0, and reports whether that
// part of H is definite to rounding.
func restricted(eng *engine.Engine, h blas.Matrix, q []float64, in []bool, x []float64) bool {
	var set []int
	for i, is := range in {
		if is {
			set = append(set, i)
		}
	}
	clear(x)
	if len(set) == 0 {
		return true
	}
	part, y := eng.GetMatrix(len(set), len(set)), blas.NewMatrix(len(set), 1)
	defer eng.PutMatrix(part)
	each(eng, len(set), func(r int) {
		from, to := h.Row(set[r]), part.Row(r)
		for c, j := range set[:r+1] {
			to[c] = from[j]
		}
		y.Data[r] = q[set[r]]
	})
	b := eng.Backend()
	if err := b.Cholesky(part); err != nil {
		return false
	}
	b.Trsm(true, false, part, y)
	b.Trsm(true, true, part, y)
	for r, i := range set {
		x[i] = y.Data[r]
	}
	return true
}
