package catalog

import (
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/cmvu"
	"github.com/mustlink/mustlink/engine/model"
)

func cmvuMethod() Method {
	d := cmvu.DefaultParams()
	m := Method{
		Name:          cmvu.Method,
		Baseline:      true,
		Summary:       "colored maximum variance unfolding, low rank: pictures that keep the distances of neighbours, a baseline of gml",
		Paper:         "Song, Smola, Borgwardt & Gretton, Colored maximum variance unfolding, NIPS 20, 2007",
		DefaultKernel: cmvu.DefaultKernel,
		Parameters: slices.Concat(graphParameters(d.Neighbourhood), []Parameter{
			{"rank", strconv.Itoa(d.Rank), "eigenvectors of the graph; 0: a tenth of the points, at most 20"},
			{"penalty", text(d.Penalty), "weight of the distances of neighbours: they grow by about 1 / (2 penalty), > 0"},
			{"dims", strconv.Itoa(d.Dims), "columns of the embedding, those of largest variance; 0: all"},
			{"tol", text(d.Tol), "residual of the optimum's conditions that ends the search, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most steps, >= 1"},
		}),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(cmvu.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newCMVU(m, c) }
	return m
}

func newCMVU(m Method, c Config) (algorithms.Learner, error) {
	l := cmvu.Learner{Params: cmvu.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.with(setters{
		"rank":     count("rank", &p.Rank),
		"penalty":  positive("penalty", &p.Penalty),
		"dims":     count("dims", &p.Dims),
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
