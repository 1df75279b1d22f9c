package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/kpca"
	"github.com/mustlink/mustlink/engine/model"
)

func kpcaMethod() Method {
	d := kpca.DefaultParams()
	m := Method{
		Name:          kpca.Method,
		Baseline:      true,
		Summary:       "kernel principal component analysis, which learns nothing from links: what others are compared with",
		Paper:         "Schölkopf, Smola & Müller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 10, 1998",
		DefaultKernel: kpca.DefaultKernel,
		Parameters: []Parameter{
			{"dims", strconv.Itoa(d.Dims), "leading directions; 0: all"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a direction has none, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(kpca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newKPCA(m, c) }
	return m
}

func newKPCA(m Method, c Config) (algorithms.Learner, error) {
	l := kpca.Learner{Params: kpca.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	err := setters{
		"dims":     count("dims", &l.Params.Dims),
		"rank_tol": number("rank_tol", &l.Params.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	l.Kernel, err = c.kernel()
	return l, err
}
