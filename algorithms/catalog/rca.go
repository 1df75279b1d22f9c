package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/engine/model"
)

func rcaMethod() Method {
	d := rca.DefaultParams()
	m := Method{
		Name:     rca.Method,
		Baseline: true,
		Summary:  "relevant component analysis, linear: the baseline of krca",
		Paper:    "Bar-Hillel, Hertz, Shental & Weinshall, Learning a Mahalanobis metric from equivalence constraints, JMLR 2005",
		Parameters: []Parameter{
			{"eps_rel", text(d.EpsRel), "regularisation relative to the mean within-group variance, > 0"},
			{"dims", strconv.Itoa(d.Dims), "leading discriminant directions; 0: all"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(rca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newRCA(m, c) }
	return m
}

func newRCA(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(rca.Method); err != nil {
		return nil, err
	}
	l := rca.Learner{Params: rca.DefaultParams(), Progress: c.Progress}
	err := setters{
		"eps_rel":  positive("eps_rel", &l.Params.EpsRel),
		"dims":     count("dims", &l.Params.Dims),
		"rank_tol": number("rank_tol", &l.Params.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return &l, l.Params.Validate()
}
