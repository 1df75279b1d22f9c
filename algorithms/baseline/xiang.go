package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/traceratio"
)

// XiangAbout describes the method.
var XiangAbout = algorithms.About{
	Name:    XiangMethod,
	Title:   "Xiang",
	Summary: "trace-ratio metric of the links alone, linear: the baseline of lleratio",
	Paper: "Xiang, Nie & Zhang, Learning a Mahalanobis distance metric for data clustering and " +
		"classification, Pattern Recognition 41, 2008",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Xiang learns a linear metric by a trace ratio of the links
// alone (Xiang, Nie & Zhang, "Learning a Mahalanobis distance metric for data clustering and
// classification", Pattern Recognition 41, 2008): the orthonormal W that maximizes the squared
// distances of cannot-linked points relative to those of must-linked points.
//
// The fields are the parameters of the method. The zero value has the paper's parameters.
type Xiang struct {
	Dims int `json:"dims" param:"dims" zero:"half of the directions in which the points vary" help:"columns of the embedding"`
}

// XiangLearner learns from n dense points of d features and both kinds of links. If there are so
// few must-links that W can vanish on all of them, the ratio has no bound; then cannot-links decide
// among these W. A notice counts the columns of W that separate no cannot-link: where must-links do
// not determine them, rounding does. The result has the type *[XiangModel]. As many dimensions as
// the data have are an error.
//
// Cost: n d^2 flops for the q directions in which the points vary, q^2 flops per link, and a few
// eigenproblems of order q.
type XiangLearner = learner.Learner[Xiang]

// Rules returns what the method requires of its input.
func (Xiang) Rules() learner.Rules { return learner.Rules{About: XiangAbout, Pairs: true} }

// Learn fits the method.
func (p Xiang) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if must, cannot := f.Links.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "xiang compares must-links with cannot-links: want both, got %d and %d",
			must, cannot)
	}
	const constant = 1e-12
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, constant)
	if err != nil {
		return nil, err
	}
	q, eng := pc.Z.Cols, f.Eng
	d := p.Dims
	if d == 0 {
		d = max(1, q/2)
	}
	if d >= q && q > 1 {
		return nil, &fault.ParamError{Param: "dims", Value: d,
			Want: fmt.Sprintf("a number below %d, the number of directions in which the points vary (with "+
				"all of them nothing is learned)", q)}
	}
	a, b := eng.NewMatrix(q, q), eng.NewMatrix(q, q)
	if err := linear.LinkScatter(ctx, eng, pc.Z, f.Links.Cannot(), a); err != nil {
		return nil, err
	}
	if err := linear.LinkScatter(ctx, eng, pc.Z, f.Links.Must(), b); err != nil {
		return nil, err
	}
	res, err := traceratio.Solve(ctx, eng, a, b, d,
		traceratio.Options{Seed: f.Seed, Progress: func(step int, ratio float64) {
			f.Report(algorithms.Progress{Stage: "trace ratio", Done: step, Objective: ratio})
		}})
	if err != nil {
		return nil, err
	}
	idle, err := linear.Idle(ctx, eng, a, res.W, f.Links, "must-links")
	if err != nil {
		return nil, err
	}
	f.Notices = append(f.Notices, idle...)
	status := f.Status(algorithms.Status{Converged: res.Converged, Iterations: max(0, len(res.Trace)-1)})
	if math.IsInf(res.Ratio, 1) {
		status.Message = fmt.Sprintf(
			"the ratio has no bound: in %d dimensions all must-linked points coincide (more must-links or "+
				"dimensions avoid it)", d)
	}
	return fitted.New(pc.Map(eng, XiangMethod, res.W), p, status), nil
}

// XiangModel is a fitted metric, the linear map y = W (x - mean) with orthonormal rows.
type XiangModel = fitted.Model[Xiang]
