package labelnoise

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/engine/links"
)

// The share of wrong links is taken for moreWrong / moreLinks to begin with. Then it is the mean of
// their probabilities and of those of some more links, of which so many are wrong, so that it stays
// between 0 and 1 however well or badly links are told apart.
const (
	moreLinks = 20
	moreWrong = 1
)

// weigh returns the suspicion of every link, and the share of wrong links. Links may be wrong, so
// the regression is of the signs that they should have, which are not known: expectation and
// maximization take turns, where there are links of both kinds. With the odds o of the regression
// that a pair belongs together, and the share e of wrong links, the odds that a must-link is wrong
// are e/(1-e) / o, and those of a cannot-link e/(1-e) o; with these the regression and the share
// are computed again.
func (t *trial) weigh() (out []float64, share float64, err error) {
	must := 0
	for _, l := range t.list {
		if l.Sign == links.Must {
			must++
		}
	}
	if must == 0 {
		return t.nearest(), 0.5, nil // scores are no odds: no share changes them
	}
	z := standardized(t.table(t.alone()))
	together := make([]float64, len(z)) // the probability that a pair belongs together
	for k := range must {
		together[k] = 1
	}
	b := mat.NewVecDense(len(z[0]), nil)
	share, out = float64(moreWrong)/moreLinks, make([]float64, len(t.list))
	const rounds, near = 200, 1e-10
	for range rounds {
		if err := logistic(z, together, b); err != nil {
			return nil, 0, err
		}
		sum := 0.0
		for k, l := range t.list {
			out[k] = math.Log(share/(1-share)) - float64(l.Sign)*mat.Dot(b, mat.NewVecDense(b.Len(), z[k]))
			wrong := 1 / (1 + math.Exp(-out[k]))
			sum += wrong
			if together[k] = wrong; l.Sign == links.Must {
				together[k] = 1 - wrong
			}
		}
		if t.alone() {
			break
		}
		before := share
		if share = (sum + moreWrong) / (float64(len(t.list)) + moreLinks); math.Abs(share-before) < near {
			break
		}
	}
	return out, share, nil
}

// table returns the measures of all judges: a row for every link and, if they are asked for, for
// every random pair.
func (t *trial) table(random bool) [][]float64 {
	count := len(t.list)
	if random {
		count += len(t.others)
	}
	rows := make([][]float64, count)
	for k := range rows {
		for _, votes := range t.reported {
			if k < len(t.list) {
				rows[k] = append(rows[k], votes.links[k])
			} else {
				rows[k] = append(rows[k], votes.other[k-len(t.list)])
			}
		}
	}
	return rows
}

// nearest scores cannot-links without must-links: how much nearer they are than all but one random
// pair in twenty.
func (t *trial) nearest() []float64 {
	out := make([]float64, len(t.list))
	for _, votes := range t.reported {
		sorted := slices.Sorted(slices.Values(votes.other))
		near := sorted[len(sorted)/20]
		for k, v := range votes.links {
			out[k] += (near - v) / float64(len(t.reported))
		}
	}
	return out
}

// penalty is that of the squares of the regression's coefficients, of columns of deviation 1: it
// keeps them finite where links are told apart without a mistake, and judges that say the same from
// being played off against each other.
const penalty = 1.0

// logistic goes from b to the coefficients of the logistic regression of the probabilities y on the
// rows z: it minimizes f(b) = sum log(1 + exp(z'b)) - y z'b + penalty/2 |b without the constant|^2,
// which is strictly convex, by Newton's method with steps that are halved until f falls. O(rows
// columns^2) a step.
func logistic(z [][]float64, y []float64, b *mat.VecDense) error {
	f, gradient, hessian := logisticAt(z, y, b)
	const most = 100
	for range most {
		var ch mat.Cholesky
		if !ch.Factorize(hessian) {
			return fmt.Errorf("weighing judges: the Hessian is not positive definite")
		}
		step := mat.NewVecDense(b.Len(), nil)
		if err := ch.SolveVecTo(step, gradient); err != nil {
			return fmt.Errorf("weighing judges: %w", err)
		}
		if mat.Dot(step, gradient) <= 1e-14*(1+math.Abs(f)) {
			return nil
		}
		fell := false
		for scale := 1.0; scale > 1e-10 && !fell; scale /= 2 {
			next := mat.NewVecDense(b.Len(), nil)
			next.AddScaledVec(b, -scale, step)
			if v, g, h := logisticAt(z, y, next); v < f {
				b.CopyVec(next)
				f, gradient, hessian, fell = v, g, h, true
			}
		}
		if !fell {
			return nil // as low as rounding lets it be
		}
	}
	return nil
}

// logisticAt returns the objective of logistic with its derivatives.
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

// standardized returns the rows behind a constant 1, columns with mean 0 and deviation 1; a
// constant column is 0.
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
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if !(deviation > 1e-12*math.Abs(mean)) {
			continue
		}
		for i, v := range column {
			out[i][c+1] = (v - mean) / deviation
		}
	}
	return out
}
