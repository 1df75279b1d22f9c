// Package labelnoise (internal: may change) ranks links by how likely they are mislabeled.
//
// The distances of a fitted model reveal little about the links of its fit: many methods satisfy
// them all, the wrong ones too. So the links are divided into folds, and each link is measured by
// models fitted without it. Several metrics do that, since each depends on different properties:
// relevant directions, the shape of the data, the links implied by others. Three of them are
// metrics of their own; three more are npkl on the embedding of each, where neighbors belong
// together more often than in the input space. A logistic regression of the signs on the logarithms
// of the distances weights the metrics by how well they separate must-links from cannot-links. It
// allows for wrong signs and estimates their share. As wrong links also harm the fits, the
// procedure is repeated, twice by default, without the links that were most suspicious so far. The
// score of a link is the logarithm of the odds that its sign is wrong.
//
// [Result.Without] leaves out the most suspicious links. [Result.Reweighted] reduces their weights,
// for methods that use weights.
package labelnoise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
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
			return out, share, nil
		}
		before := share
		if share = (sum + priorWrong) /
			(float64(len(r.list)) + priorLinks); math.Abs(share-before) < tolerance {
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
func logisticAt(z [][]float64, y []float64,
	b *mat.VecDense) (f float64, gradient *mat.VecDense, hessian *mat.SymDense) {
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

// streamFolds is the stream of the random numbers that assign links to folds.
const streamFolds = 0x737573706963

// fold is a part of the links, as indices, and the set of links to fit without them.
type fold struct {
	heldOut []int
	fit     *links.Set
}

// divide assigns the links to folds, must-links and cannot-links in equal parts. It does so once
// per repetition, with other random numbers in every round. There are at least two links of a kind
// and two folds: every fold leaves at least one of each kind for its fit.
func (r *ranking) divide(set *links.Set) error {
	must, _ := set.Count()
	for repetition := range r.o.Repetitions {
		random := rand.New(rand.NewPCG(r.o.Seed+uint64(r.round*r.o.Repetitions+repetition), streamFolds))
		of := make([]int, len(r.list))
		for at, k := range random.Perm(must) {
			of[k] = at % r.o.Folds
		}
		for at, k := range random.Perm(len(r.list) - must) {
			of[must+k] = r.o.Folds - 1 - at%r.o.Folds // folds with fewer must-links get more cannot-links
		}
		for f := range r.o.Folds {
			part, err := r.fold(set.N(), of, f)
			if err != nil {
				return err
			}
			if len(part.heldOut) > 0 {
				r.folds = append(r.folds, part)
			}
		}
	}
	return nil
}

// fold returns fold f. Its fit uses no dropped links, unless no other link of their kind is left.
func (r *ranking) fold(n int, of []int, f int) (fold, error) {
	var out fold
	var kept, spare []links.Link
	left := map[links.Sign]int{}
	for k, l := range r.list {
		switch {
		case of[k] == f:
			out.heldOut = append(out.heldOut, k)
		case r.dropped[k]:
			spare = append(spare, l)
		default:
			kept = append(kept, l)
			left[l.Sign]++
		}
	}
	for _, l := range spare {
		if left[l.Sign] == 0 {
			kept = append(kept, l)
		}
	}
	var err error
	if out.fit, err = links.New(n, kept); err != nil {
		return out, fmt.Errorf("fold %d: %w", f+1, err)
	}
	return out, nil
}

// stacked is a learner of two metrics: that of a method, and that of a second method fitted on the
// embedding of the first. Neighbors in the embedding are near in directions that the links have
// influenced.
type stacked struct {
	algorithms.Learner
	onEmbedding algorithms.Learner
}

// Fit fits both metrics. If only the second fit fails, the model holds its error.
func (l stacked) Fit(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	m, err := l.Learner.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	y, err := embed(ctx, eng, m, x)
	if err != nil {
		return nil, err
	}
	second, err := l.onEmbedding.Fit(ctx, eng, y, set)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	return stackedModel{m, fittedMetric{distancesOnEmbedding(m, second), err}}, nil
}

// stackedModel is the model of [stacked].
type stackedModel struct {
	algorithms.Model
	onEmbedding fittedMetric
}

// distanceFunc returns the squared distances of pairs of rows.
type distanceFunc func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64,
	error)

// fittedMetric holds the distances of a fitted metric, or the error of its fit.
type fittedMetric struct {
	distances distanceFunc
	err       error
}

// distancesOnEmbedding returns the distances of the model second, which was fitted on the embedding
// of m.
func distancesOnEmbedding(m, second algorithms.Model) distanceFunc {
	return func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
		y, err := embed(ctx, eng, m, x)
		if err != nil {
			return nil, err
		}
		return second.Distances(ctx, eng, y, pairs)
	}
}

// embed returns the coordinates of points under m, as points.
func embed(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	x points.Points) (*points.Dense, error) {
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	return &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}, nil
}

// stackedName returns the name of a method on the embedding of a metric.
func stackedName(method, metric string) string { return method + " on " + metric }

// metricNames returns the names of a learner's metrics, in the order of [fittedMetrics].
func metricNames(l algorithms.Learner) []string {
	if two, is := l.(stacked); is {
		return []string{two.Method(), stackedName(two.onEmbedding.Method(), two.Method())}
	}
	return []string{l.Method()}
}

// fittedMetrics returns the metrics of a model.
func fittedMetrics(m algorithms.Model) []fittedMetric {
	if two, is := m.(stackedModel); is {
		return []fittedMetric{{distances: two.Distances}, two.onEmbedding}
	}
	return []fittedMetric{{distances: m.Distances}}
}
