package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/dca"
	"github.com/mustlink/mustlink/engine/model"
)

func dcaMethod() Method {
	d := dca.DefaultParams()
	m := Method{
		Name:            dca.Method,
		Baseline:        true,
		Summary:         "discriminative component analysis: chunklets that differ far apart, linear or with a kernel (-k)",
		Paper:           "Hoi, Liu, Lyu & Ma, Learning distance metrics with contextual constraints for image retrieval, CVPR 2006",
		UsesCannotLinks: true,
		Parameters: []Parameter{
			{"dims", strconv.Itoa(d.Dims), "directions; 0: all in which the means of chunklets that differ vary"},
			{"eps_rel", text(d.EpsRel), "regularisation relative to the mean within-group variance, > 0"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a direction counts as constant, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(dca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newDCA(m, c) }
	return m
}

func newDCA(m Method, c Config) (algorithms.Learner, error) {
	l := dca.Learner{Params: dca.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"dims":     count("dims", &p.Dims),
		"eps_rel":  positive("eps_rel", &p.EpsRel),
		"rank_tol": number("rank_tol", &p.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l.Kernel, err = c.kernel()
	return l, err
}
