package paper

import (
	"context"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// The methods of the paper, as the printed numbers name them.
const (
	huHL     = "BCDNPKL+HL"
	huSHL    = "BCDNPKL+SHL"
	huSL     = "BCDNPKL+SL"
	huSimply = "SimpleNPKL+SHL"
	// not in the paper: the certified optima, npkl's own ways to them
	huBest   = "BCDNPKL+SL, optimum"
	huBestHL = "BCDNPKL+HL, optimum"
)

// The sweeps end when V changes by less than huStill (1 + |V|), or after huSweeps of them. The
// paper has such a rule without its numbers.
const (
	huStill     = 1e-3
	huSweeps    = 10
	huNeighbors = 5
)

// huRank is the largest rank that an optimum for that many links can need.
func huRank(links int) int { return int((math.Sqrt(8*float64(links)+1) - 1) / 2) }

// huPrintedMethods are the methods in the order of the paper's columns.
func huPrintedMethods() []string { return []string{huSimply, huHL, huSHL, huSL} }

// huComputed are these and the optima.
func huComputed() []string { return append(huPrintedMethods(), huBest, huBestHL) }

// huMethodSetup says how the methods of Tables 4 and 5 run.
func huMethodSetup() []string {
	return []string{
		"BCDNPKL+SL, +SHL and +HL: the paper's block coordinate descent (plain=true). Points without links " +
			"are eliminated, the rank is the largest r with r(r+1)/2 at most the number of pairs, and 10 " +
			"sweeps run from random coordinates without extrapolation. C = 1, delta = C/2.",
		"BCDNPKL+SL, optimum and BCDNPKL+HL, optimum: the certified optima of the square loss and of the " +
			"hinge, which npkl computes by extrapolated sweeps and by multipliers.",
		"SimpleNPKL+SHL: a Frobenius norm of at most 0.1 n, until the duality gap is below 1 % of the " +
			"objective of the kernel 0.",
		"Seconds: wall time of the fit on one worker, without the graph and the clustering. Speedup: " +
			"seconds of SimpleNPKL+SHL divided by those of the method.",
	}
}

// huTask is a set of points with links and a graph.
type huTask struct {
	x       points.Points
	labels  []string
	classes int
	set     *links.Set
	kernel  kernel.Spec
	around  npkl.Neighborhood
	seed    uint64
}

// huRun is the result of a fit: coordinates, seconds without the graph, and seconds for the graph.
type huRun struct {
	y                     blas.Matrix
	seconds, graphSeconds float64
}

// learner returns the method of that name.
func (h huTask) learner(method string) algorithms.Learner {
	if method == huSimply {
		p := param.Default[nonlinear.SimpleNPKL]()
		p.Loss, p.C, p.Delta, p.Tol, p.Neighborhood = nonlinear.SimpleNPKLSquaredHinge, 1, huDelta(1), 1e-2,
			h.around
		return nonlinear.SimpleNPKLLearner{Params: p, Kernel: h.kernel, Seed: h.seed}
	}
	p := npkl.DefaultParams()
	p.Extension = npkl.FromGraph // the tables look at training rows alone
	p.C, p.Delta, p.Tol, p.Neighborhood = 1, huDelta(1), 1e-4, h.around
	switch method {
	case huHL, huBestHL:
		p.Loss = npkl.Hinge
	case huSHL:
		p.Loss = npkl.SquaredHinge
	}
	if method != huBest && method != huBestHL {
		p.Rank, p.Plain, p.Plan, p.MaxIter = huRank(h.set.Len()), true, npkl.Boundary, huSweeps
	}
	return npkl.Learner{Params: p, Kernel: h.kernel, Seed: h.seed}
}

// run fits a method. SimpleNPKL does not report when its graph is complete, so the seconds of the
// graph come from another fit.
func (h huTask) run(ctx context.Context, eng *engine.Engine, method string, graph float64) (huRun, error) {
	l, begin := h.learner(method), time.Now()
	if n, ok := l.(npkl.Learner); ok {
		graph = 0
		n.Progress = func(p algorithms.Progress) {
			if graph == 0 && p.Stage != "graph" {
				graph = time.Since(begin).Seconds()
			}
		}
		l = n
	}
	y, err := huEmbedding(ctx, eng, l, h.x, h.set)
	if err != nil {
		return huRun{}, err
	}
	all := time.Since(begin).Seconds()
	run := huRun{y: y, seconds: all - graph, graphSeconds: graph}
	if run.seconds <= 0 { // the graph of the other fit took longer than all of this one, on a busy machine
		run.seconds = all
	}
	return run, nil
}

// huPairs draws the same number of must-links and cannot-links.
func huPairs(labels []string, half int, seed uint64) (*links.Set, error) {
	return links.SampleByCount(labels, half, half, seed)
}

// huClaim says of how many cases a claim holds: all, more than half, or fewer.
func huClaim(text string, holds, of int, detail string) Claim {
	c := Claim{Text: text, Verdict: Worse, Detail: detail}
	switch {
	case of > 0 && holds == of:
		c.Verdict = Reproduced
	case 2*holds > of:
		c.Verdict = Mixed
	}
	return c
}
