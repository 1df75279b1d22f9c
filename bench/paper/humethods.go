package paper

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// huSmall is another delta, small, to make the Laplacian regular: with it, not with C/2, NPK and
// SDPLR come near the printed numbers.
const huSmall = 1e-3

// huMethod is a method of Table 3. Given the weight of the links, it returns coordinates.
type huMethod struct {
	name  string
	again bool // solves the program of another method, whose pair accuracies stand for both
	fit   func(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, c float64,
		seed uint64) (blas.Matrix, error)
}

// huLearned is the method of a learner.
func huLearned(name string, learner func(c float64, seed uint64, links int) algorithms.Learner) huMethod {
	return huMethod{name: name,
		fit: func(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, c float64,
			seed uint64) (blas.Matrix, error) {
			return huEmbedding(ctx, eng, learner(c, seed, set.Len()), x, set)
		}}
}

// huFixed is a rule for delta, as huDelta is one.
func huFixed(float64) float64 { return huSmall }

func huITML() huMethod {
	return huLearned(huMahalanobis, func(gamma float64, seed uint64, _ int) algorithms.Learner {
		p := itml.DefaultParams()
		p.Gamma = gamma
		return itml.Learner{Params: p, Seed: seed}
	})
}

// huNPK is the semidefinite program, which SDPLR solves too.
func huNPK() huMethod {
	m := huLearned("NPK", func(c float64, _ uint64, _ int) algorithms.Learner {
		p := param.Default[nonlinear.NPK]()
		p.C, p.Delta, p.Neighbors, p.Tol = c, huDelta(c), huNeighbors, 1e-4
		return nonlinear.NPKLearner{Params: p}
	})
	m.again = true
	return m
}

func huSDPLR(name string, delta func(c float64) float64) huMethod {
	return huLearned(name, func(c float64, seed uint64, _ int) algorithms.Learner {
		p := param.Default[nonlinear.SDPLR]()
		p.C, p.Delta, p.Neighbors, p.Tol = c, delta(c), huNeighbors, 1e-4
		return nonlinear.SDPLRLearner{Params: p, Seed: seed}
	})
}

func huSimpleNPKL(name string, loss npkl.Loss, delta func(c float64) float64) huMethod {
	return huLearned(name, func(c float64, seed uint64, _ int) algorithms.Learner {
		p := param.Default[nonlinear.SimpleNPKL]()
		p.Loss, p.C, p.Delta, p.Neighbors = loss, c, delta(c), huNeighbors
		p.Size, p.Tol, p.MaxIter = 0.1, 1e-2, 200
		return nonlinear.SimpleNPKLLearner{Params: p, Seed: seed}
	})
}

// huPlain is BCDNPKL: package npkl with the paper's settings.
func huPlain(name string, loss npkl.Loss) huMethod {
	return huLearned(name, func(c float64, seed uint64, links int) algorithms.Learner {
		return npkl.Learner{Params: huPlainParams(loss, c, links, huStill, huSweeps), Seed: seed}
	})
}

// huPlainParams are the parameters of the paper's sweeps.
func huPlainParams(loss npkl.Loss, c float64, links int, tol float64, sweeps int) npkl.Params {
	p := npkl.DefaultParams()
	p.Loss, p.C, p.Delta, p.Neighbors, p.Extension = loss, c, huDelta(c), huNeighbors, npkl.FromGraph
	p.Plain, p.Plan, p.Rank, p.Tol, p.MaxIter = true, npkl.Boundary, huRank(links), tol, sweeps
	return p
}

// huCertified is the optimum of the hinge.
func huCertified() huMethod {
	return huLearned("HL, optimum", func(c float64, seed uint64, _ int) algorithms.Learner {
		return huNPKL(npkl.Hinge).learner(npkl.DefaultParams().Neighborhood, kernel.Spec{}, c, seed)
	})
}

// huDefault is the product without any setting.
func huDefault() huMethod {
	return huLearned("npkl, default", func(_ float64, seed uint64, _ int) algorithms.Learner {
		return npkl.Learner{Params: npkl.DefaultParams(), Seed: seed}
	})
}

const (
	huLinear      = "SimpleNPKL+LL" // with its linear loss
	huMahalanobis = "ITML"
)

// huPrinted are the methods that the paper prints, in its order.
func huPrinted() []huMethod {
	return []huMethod{
		huITML(), huNPK(), huSDPLR("SDPLR", huDelta), huSimpleNPKL(huSimply, npkl.SquaredHinge, huDelta),
		huPlain(huHL, npkl.Hinge), huPlain(huSHL, npkl.SquaredHinge), huPlain(huSL, npkl.Square),
	}
}

// huTuned are all methods that take the chosen weight of the links.
func huTuned() []huMethod {
	return append(huPrinted(), huCertified(), huSDPLR("SDPLR, delta = 0.001", huFixed),
		huSimpleNPKL(huSimply+", delta = 0.001", npkl.SquaredHinge, huFixed),
		huSimpleNPKL(huLinear, nonlinear.SimpleNPKLLinear, huDelta))
}
