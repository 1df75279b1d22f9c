package catalog

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/npk"
	"github.com/mustlink/mustlink/engine/model"
)

func npkMethod() Method {
	d := npk.DefaultParams()
	m := Method{
		Name:            npk.Method,
		Baseline:        true,
		Summary:         "the problem of npkl as a semidefinite program, for up to 500 points: its baseline",
		Paper:           "Hoi, Jin & Lyu, Learning nonparametric kernel matrices from pairwise constraints, ICML 2007",
		DefaultKernel:   npk.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Small:           true,
		Parameters: append(settingsParameters(d.Settings, "hl (hinge), shl (squared hinge) or sl (square)"), []Parameter{
			{"tol", text(d.Tol), "duality gap that ends the fit, relative to the objective, > 0"},
		}...),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(npk.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newNPK(m, c) }
	return m
}

func newNPK(m Method, c Config) (algorithms.Learner, error) {
	l := npk.Learner{Params: npk.DefaultParams(), Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.settings(setters{
		"tol": positive("tol", &p.Tol),
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
