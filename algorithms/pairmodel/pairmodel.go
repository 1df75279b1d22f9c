// Package pairmodel (internal: may change) learns from links with which probability the records of
// a pair are the same, by features of the pair such as a distance and similarities of texts.
//
// The model is a logistic regression, the linear form of Fellegi & Sunter (1969), whose log odds
// are a sum of weights of agreements. It is calibrated on links that it did not see (Platt 1999),
// and its share of matching pairs is that of the pairs to judge (Saerens, Latinne & Decaestecker
// 2002).
package pairmodel

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Model has the log odds of pairs by their features. It is immutable and safe for concurrent use.
type Model struct {
	mean, scale []float64 // of the features
	weight      []float64 // of standardized features
	bias        float64
	Must        int     // links
	Cannot      int     // of both kinds
	AUC         float64 // of held-out links: the probability that a must-link has the larger log odds
	Alone       float64 // the same of the first feature alone, where small values are alike
}

// Folds is the number of parts of the links, each of which is held out once, and Least the number
// of links of each kind.
const Folds, Least = 5, 10

// Fit learns from the features x (a row for each link) and kinds of links. Links of one group, such
// as the must-linked records of one of its ends, are held out together. The weights of standardized
// features have a normal prior of variance 1, and the kinds count one more link of each, as in
// Platt (1999).
//
// Errors: a *fault.DataError for fewer than [Least] links of a kind, and ctx.Err(). Cost: O(links
// features iterations), six times.
func Fit(ctx context.Context, eng *engine.Engine, x blas.Matrix, must []bool, groups []int,
	seed uint64) (*Model, error) {
	m := &Model{}
	for _, is := range must {
		if is {
			m.Must++
		} else {
			m.Cannot++
		}
	}
	if min(m.Must, m.Cannot) < Least {
		return nil, fault.Data("", "%s join candidate pairs: want at least %d of each "+
			"(mustlink entities --ask writes candidates to answer)", links.Numbers(m.Must, m.Cannot), Least)
	}
	m.standardize(x)
	z := blas.NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		m.standard(x.Row(i), z.Row(i))
	}
	fold := map[int]int{}
	rng := rand.New(rand.NewPCG(seed, 0x666f6c6473))
	for _, g := range groups {
		if _, there := fold[g]; !there {
			fold[g] = rng.IntN(Folds)
		}
	}
	held := blas.NewMatrix(x.Rows, 1)
	all := make([]int, x.Rows)
	for part := range Folds {
		var rows []int
		for i, g := range groups {
			all[i] = i
			if fold[g] != part {
				rows = append(rows, i)
			}
		}
		weight, bias, err := logistic(ctx, eng, z, must, rows, 1)
		if err != nil {
			return nil, err
		}
		for i, g := range groups {
			if fold[g] == part {
				held.Row(i)[0] = bias + blas.Dot(weight, z.Row(i))
			}
		}
	}
	platt, shift, err := logistic(ctx, eng, held, must, all, 0)
	if err == nil {
		m.weight, m.bias, err = logistic(ctx, eng, z, must, all, 1)
	}
	if err != nil {
		return nil, err
	}
	if platt[0] <= 0 { // what was learned says nothing about held-out links
		platt[0], shift = 0, math.Log(float64(m.Must)/float64(m.Cannot))
	}
	for k := range m.weight {
		m.weight[k] *= platt[0]
	}
	m.bias = m.bias*platt[0] + shift
	scores, first := make([]float64, x.Rows), make([]float64, x.Rows)
	for i := range scores {
		scores[i], first[i] = held.Row(i)[0], -x.Row(i)[0]
	}
	if m.AUC, err = score.AUC(scores, must); err == nil {
		m.Alone, err = score.AUC(first, must)
	}
	return m, err
}

// LogOdds returns those of a pair with these features. z is memory for as many numbers.
func (m *Model) LogOdds(features, z []float64) float64 {
	m.standard(features, z)
	return m.bias + blas.Dot(m.weight, z)
}

// WithShareOf returns the model with the share of matching pairs among pairs of which some, drawn
// at random, have these log odds, and the share: the fixed point of the mean probability. Links of
// both kinds are then random samples of the matching and of the other pairs. Cost: O(100 n).
func (m *Model) WithShareOf(logOdds []float64) (*Model, float64) {
	own := float64(m.Must) / float64(m.Must+m.Cannot)
	share := own
	shift := 0.0
	for range 100 {
		sum := 0.0
		for _, v := range logOdds {
			sum += Probability(v + shift)
		}
		next := (sum + 1) / (float64(len(logOdds)) + 2)
		done := math.Abs(next-share) < 1e-6
		share = next
		shift = math.Log(share/(1-share)) - math.Log(own/(1-own))
		if done {
			break
		}
	}
	out := *m
	out.bias += shift
	return &out, share
}

// Probability returns that of log odds.
func Probability(logOdds float64) float64 { return 1 / (1 + math.Exp(-logOdds)) }

// standardize computes mean and standard deviation of the features; a constant one counts 0.
func (m *Model) standardize(x blas.Matrix) {
	m.mean, m.scale = make([]float64, x.Cols), make([]float64, x.Cols)
	for k := range x.Cols {
		for i := range x.Rows {
			m.mean[k] += x.Row(i)[k] / float64(x.Rows)
		}
		for i := range x.Rows {
			d := x.Row(i)[k] - m.mean[k]
			m.scale[k] += d * d / float64(x.Rows)
		}
		if m.scale[k] = math.Sqrt(m.scale[k]); m.scale[k] > 0 {
			m.scale[k] = 1 / m.scale[k]
		}
	}
}

// standard writes standardized features, at most 10 standard deviations from the mean.
func (m *Model) standard(x, z []float64) {
	for k, v := range x {
		z[k] = min(max((v-m.mean[k])*m.scale[k], -10), 10)
	}
}

// logistic returns weights and bias that minimize the cross entropy of some rows, plus half the
// squared weights times prior.
func logistic(ctx context.Context, eng *engine.Engine, x blas.Matrix, must []bool, rows []int,
	prior float64) ([]float64, float64, error) {
	count := [2]float64{}
	for _, i := range rows {
		if must[i] {
			count[1]++
		} else {
			count[0]++
		}
	}
	target := [2]float64{1 / (count[0] + 2), (count[1] + 1) / (count[1] + 2)}
	d := x.Cols
	theta := make([]float64, d+1)
	objective := func(theta, gradient []float64) (float64, error) {
		clear(gradient)
		value := 0.0
		for _, i := range rows {
			v, t := theta[d]+blas.Dot(theta[:d], x.Row(i)), target[0]
			if must[i] {
				t = target[1]
			}
			value += max(v, 0) - t*v + math.Log1p(math.Exp(-math.Abs(v)))
			slope := Probability(v) - t
			for k, z := range x.Row(i) {
				gradient[k] += slope * z
			}
			gradient[d] += slope
		}
		for k, v := range theta[:d] {
			value += prior * v * v / 2
			gradient[k] += prior * v
		}
		return value, nil
	}
	_, err := optimize.MinimizeLBFGS(ctx, eng.Backend().Kernels(), objective, theta, optimize.LBFGSOptions{
		MaxIter: 500, Done: func(_ int, _ float64, _, gradient []float64) (bool, error) {
			return math.Sqrt(blas.Dot(gradient, gradient)) < 1e-6*float64(len(rows)), nil
		}})
	return theta[:d], theta[d], err
}
