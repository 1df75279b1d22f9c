package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/sdplr"
	"github.com/mustlink/mustlink/engine/model"
)

func sdplrMethod() Method {
	d := sdplr.DefaultParams()
	m := Method{
		Name:            sdplr.Method,
		Baseline:        true,
		Summary:         "the problem of npkl by a low-rank augmented Lagrangian: its baseline",
		Paper:           "Burer & Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization, Mathematical Programming 95, 2003",
		DefaultKernel:   sdplr.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Small:           true,
		Parameters: append(settingsParameters(d.Settings, "hl (hinge), shl (squared hinge) or sl (square)"), []Parameter{
			{"rank", strconv.Itoa(d.Rank), "dimensions; 0: as many as the number of links asks for"},
			{"tol", text(d.Tol), "difference of slacks and residuals, and relative gradient, that end the fit, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most steps, >= 1"},
		}...),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(sdplr.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newSDPLR(m, c) }
	return m
}

func newSDPLR(m Method, c Config) (algorithms.Learner, error) {
	l := sdplr.Learner{Params: sdplr.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.settings(setters{
		"rank":     count("rank", &p.Rank),
		"tol":      positive("tol", &p.Tol),
		"max_iter": count("max_iter", &p.MaxIter),
	}, &p.Settings).apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l.Similarities = g.given
	l.Kernel, err = c.metric(g.metric)
	return l, err
}
