package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/simplenpkl"
	"github.com/mustlink/mustlink/engine/model"
)

func simplenpklMethod() Method {
	d := simplenpkl.DefaultParams()
	m := Method{
		Name:            simplenpkl.Method,
		Baseline:        true,
		Summary:         "non-parametric kernels of bounded size by eigendecompositions: a baseline of npkl",
		Paper:           "Zhuang, Tsang & Hoi, A family of simple non-parametric kernel learning algorithms, JMLR 12, 2011",
		DefaultKernel:   simplenpkl.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Small:           true,
		Parameters: append(settingsParameters(d.Settings, "linear or shl (squared hinge)"), []Parameter{
			{"size", text(d.Size), "most Frobenius norm of the kernel matrix, relative to the number of points, > 0"},
			{"rank", strconv.Itoa(d.Rank), "most eigenvectors; 0: as many as the number of links asks for"},
			{"tol", text(d.Tol), "gap between primal and dual objective that ends the fit, relative to the objective of 0, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most eigendecompositions, >= 1"},
		}...),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(simplenpkl.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newSimpleNPKL(m, c) }
	return m
}

func newSimpleNPKL(m Method, c Config) (algorithms.Learner, error) {
	l := simplenpkl.Learner{Params: simplenpkl.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.settings(setters{
		"size":     positive("size", &p.Size),
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
