package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/mmc"
	"github.com/mustlink/mustlink/engine/model"
)

func mmcMethod() Method {
	d := mmc.DefaultParams()
	m := Method{
		Name:            mmc.Method,
		Baseline:        true,
		Summary:         "distances of cannot-links as large as those of must-links allow, linear: full or one weight a feature",
		Paper:           "Xing, Ng, Jordan & Russell, Distance metric learning, with application to clustering with side-information, NIPS 15, 2002",
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters: []Parameter{
			{"diagonal", strconv.FormatBool(d.Diagonal), "true learns one weight a feature, not a matrix"},
			{"eps_rel", text(d.EpsRel), "scatter added to that of the must-links, relative to its mean, >= 0"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
			{"tol", text(d.Tol), "relative distance to the optimum, at most, that ends the search, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most iterations, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(mmc.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newMMC(m, c) }
	return m
}

func newMMC(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(mmc.Method); err != nil {
		return nil, err
	}
	l := mmc.Learner{Params: mmc.DefaultParams(), Progress: c.Progress}
	p := &l.Params
	err := setters{
		"diagonal": flag("diagonal", &p.Diagonal),
		"eps_rel":  notNegative("eps_rel", &p.EpsRel),
		"rank_tol": number("rank_tol", &p.RankTol),
		"tol":      positive("tol", &p.Tol),
		"max_iter": count("max_iter", &p.MaxIter),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return l, p.Validate()
}
