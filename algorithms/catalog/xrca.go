package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/xrca"
	"github.com/mustlink/mustlink/engine/model"
)

func xrcaMethod() Method {
	d := xrca.DefaultParams()
	m := Method{
		Name:            xrca.Method,
		Baseline:        true,
		Summary:         "relevant component analysis extended to cannot-links, linear",
		Paper:           "Yeung & Chang, Extending the relevant component analysis algorithm for metric learning using both positive and negative equivalence constraints, Pattern Recognition 39, 2006",
		UsesCannotLinks: true,
		Parameters: []Parameter{
			{"eps_rel", text(d.EpsRel), "regularisation relative to the mean within-group variance, > 0"},
			{"dims", strconv.Itoa(d.Dims), "directions in which cannot-links differ most; 0: all"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(xrca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newXRCA(m, c) }
	return m
}

func newXRCA(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(xrca.Method); err != nil {
		return nil, err
	}
	l := xrca.Learner{Params: xrca.DefaultParams(), Progress: c.Progress}
	p := &l.Params
	err := setters{
		"eps_rel":  positive("eps_rel", &p.EpsRel),
		"dims":     count("dims", &p.Dims),
		"rank_tol": number("rank_tol", &p.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return l, p.Validate()
}
