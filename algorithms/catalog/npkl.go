package catalog

import (
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine/model"
)

func npklMethod() Method {
	d := npkl.DefaultParams()
	m := Method{
		Name:            npkl.Method,
		Summary:         "non-parametric kernel learning by block coordinate descent on a graph of all points",
		Paper:           "Hu, Wang & Chen, BCDNPKL: scalable non-parametric kernel learning using block coordinate descent, ICML 2011",
		DefaultKernel:   npkl.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters: slices.Concat([]Parameter{
			{"loss", string(d.Loss), "of links that are not met: sl (square), shl (squared hinge) or hl (hinge)"},
			{"C", text(d.C), "weight of the links, > 0"},
			{"delta", text(d.Delta), "added to the diagonal of the graph's Laplacian, > 0; the paper has C/2"},
			{"rank", strconv.Itoa(d.Rank), "dimensions; 0: as many as the optimum wants"},
		}, graphParameters(d.Neighbourhood), []Parameter{
			{"plan", string(d.Plan), "rows that are swept: full (all points), reduced (those with links) or auto (the cheaper)"},
			{"plain", "false", "true sweeps without extrapolation, as the paper does"},
			{"tol", text(d.Tol), "relative change of the places in a sweep that ends the fit, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most sweeps, >= 1"},
		}),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(npkl.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newNPKL(m, c) }
	return m
}

func newNPKL(m Method, c Config) (algorithms.Learner, error) {
	l := npkl.Learner{Params: npkl.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.with(setters{
		"loss":     func(text string) error { p.Loss = npkl.Loss(text); return nil },
		"C":        positive("C", &p.C),
		"delta":    positive("delta", &p.Delta),
		"rank":     count("rank", &p.Rank),
		"plan":     func(text string) error { p.Plan = npkl.Plan(text); return nil },
		"plain":    flag("plain", &p.Plain),
		"tol":      positive("tol", &p.Tol),
		"max_iter": count("max_iter", &p.MaxIter),
	}, &p.Neighbourhood).apply(m, c.Params)
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
