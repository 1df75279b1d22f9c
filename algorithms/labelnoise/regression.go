package labelnoise

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/engine/links"
)

// The prior of the share of wrong links: priorWrong of priorLinks additional links are wrong. The
// iteration starts from this share. The prior keeps the estimate between 0 and 1, no matter how
// well the regression separates the links.
const (
	priorLinks = 20
	priorWrong = 1
)

// score returns the score of every link and the share of wrong links. The right signs are unknown
// because links may be wrong, so the regression is fitted by expectation maximization, if there are
// links of both kinds. Let o be the odds of the regression that a pair belongs together, and e the
// share of wrong links. Then the odds that a must-link is wrong are e/(1-e) / o, and those of a
// cannot-link e/(1-e) o. The next iteration fits regression and share to these odds.
func (r *ranking) score() (out []float64, share float64, err error) {
	must := 0
	for _, l := range r.list {
		if l.Sign == links.Must {
			must++
		}
	}
	if must == 0 {
		return r.shortness(), 0.5, nil // scores are not odds; a share of 1/2 leaves them as they are
	}
	z := standardized(r.table(r.oneKind()))
	together := make([]float64, len(z)) // the probability that a pair belongs together
	for k := range must {
		together[k] = 1
	}
	b := mat.NewVecDense(len(z[0]), nil)
	share, out = float64(priorWrong)/priorLinks, make([]float64, len(r.list))
	const maxIterations, tolerance = 200, 1e-10
	for range maxIterations {
		if err := logistic(z, together, b); err != nil {
			return nil, 0, err
		}
		sum := 0.0
		for k, l := range r.list {
			out[k] = math.Log(share/(1-share)) - float64(l.Sign)*mat.Dot(b, mat.NewVecDense(b.Len(), z[k]))
			wrong := 1 / (1 + math.Exp(-out[k]))
			sum += wrong
			if together[k] = wrong; l.Sign == links.Must {
				together[k] = 1 - wrong
			}
		}
		if r.oneKind() {
			break
		}
		before := share
		if share = (sum + priorWrong) / (float64(len(r.list)) + priorLinks); math.Abs(share-before) < tolerance {
			break
		}
	}
	return out, share, nil
}

// table returns the distances under all metrics: one row per link and, if random is true, one per
// random pair.
func (r *ranking) table(random bool) [][]float64 {
	count := len(r.list)
	if random {
		count += len(r.randomPairs)
	}
	rows := make([][]float64, count)
	for k := range rows {
		for _, d := range r.distances {
			if k < len(r.list) {
				rows[k] = append(rows[k], d.links[k])
			} else {
				rows[k] = append(rows[k], d.random[k-len(r.list)])
			}
		}
	}
	return rows
}

// shortness returns scores if all links are cannot-links: the logarithm of how much shorter a link
// is than the fifth percentile of random pairs.
func (r *ranking) shortness() []float64 {
	out := make([]float64, len(r.list))
	for _, d := range r.distances {
		sorted := slices.Sorted(slices.Values(d.random))
		threshold := sorted[len(sorted)/20]
		for k, v := range d.links {
			out[k] += (threshold - v) / float64(len(r.distances))
		}
	}
	return out
}

// penalty multiplies the squares of the regression's coefficients, whose columns have standard
// deviation 1. It keeps the coefficients finite where links are separable, and moderate where
// metrics are collinear.
const penalty = 1.0

// logistic overwrites b, the start, with the coefficients of the logistic regression of the
// probabilities y on the rows z. It minimizes the strictly convex function
//
//	f(b) = sum log(1 + exp(z'b)) - y z'b + penalty/2 |b without the constant|^2
//
// by Newton's method with step halving. Cost: O(rows columns^2) per step.
func logistic(z [][]float64, y []float64, b *mat.VecDense) error {
	f, gradient, hessian := logisticAt(z, y, b)
	const maxSteps = 100
	for range maxSteps {
		var ch mat.Cholesky
		if !ch.Factorize(hessian) {
			return fmt.Errorf("label noise: the Hessian of the logistic regression is not positive definite")
		}
		step := mat.NewVecDense(b.Len(), nil)
		if err := ch.SolveVecTo(step, gradient); err != nil {
			return fmt.Errorf("label noise: logistic regression: %w", err)
		}
		if mat.Dot(step, gradient) <= 1e-14*(1+math.Abs(f)) {
			return nil
		}
		decreased := false
		for scale := 1.0; scale > 1e-10 && !decreased; scale /= 2 {
			next := mat.NewVecDense(b.Len(), nil)
			next.AddScaledVec(b, -scale, step)
			if v, g, h := logisticAt(z, y, next); v < f {
				b.CopyVec(next)
				f, gradient, hessian, decreased = v, g, h, true
			}
		}
		if !decreased {
			return nil // minimal up to rounding
		}
	}
	return nil
}

// logisticAt returns the objective of logistic and its derivatives at b.
func logisticAt(z [][]float64, y []float64, b *mat.VecDense) (f float64, gradient *mat.VecDense, hessian *mat.SymDense) {
	q := b.Len()
	gradient, hessian = mat.NewVecDense(q, nil), mat.NewSymDense(q, nil)
	for c := 1; c < q; c++ {
		f += penalty / 2 * b.AtVec(c) * b.AtVec(c)
		gradient.SetVec(c, penalty*b.AtVec(c))
		hessian.SetSym(c, c, penalty)
	}
	for i, row := range z {
		u := mat.NewVecDense(q, row)
		s := mat.Dot(b, u)
		p := 1 / (1 + math.Exp(-s))
		f += math.Max(s, 0) - y[i]*s + math.Log1p(math.Exp(-math.Abs(s)))
		gradient.AddScaledVec(gradient, p-y[i], u)
		hessian.SymRankOne(hessian, p*(1-p), u)
	}
	return f, gradient, hessian
}

// standardized returns the rows with a leading 1 and with columns of mean 0 and standard deviation
// 1. A constant column becomes 0.
func standardized(rows [][]float64) [][]float64 {
	q := len(rows[0])
	out := make([][]float64, len(rows))
	for i := range rows {
		out[i] = make([]float64, q+1)
		out[i][0] = 1
	}
	column := make([]float64, len(rows))
	for c := range q {
		for i, row := range rows {
			column[i] = row[c]
		}
		mean, spread := stat.PopMeanStdDev(column, nil)
		if !(spread > 1e-12*math.Abs(mean)) {
			continue
		}
		for i, v := range column {
			out[i][c+1] = (v - mean) / spread
		}
	}
	return out
}
