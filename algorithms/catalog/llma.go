package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/llma"
	"github.com/mustlink/mustlink/engine/model"
)

func llmaMethod() Method {
	d := llma.DefaultParams()
	m := Method{
		Name:     llma.Method,
		Baseline: true,
		Summary:  "locally linear metric adaptation, spectral: a linear map that Gaussian windows around linked points bend",
		Paper:    "Chang & Yeung, Locally linear metric adaptation for semi-supervised clustering, ICML 2004",
		Parameters: []Parameter{
			{"sigma", d.Sigma, "width of the windows: a number or a rule"},
			{"anchors", strconv.Itoa(d.Anchors), "most linked points with a window, >= 1"},
			{"lambda", text(d.Lambda), "weight of the points' shape against the links, >= 0"},
			{"neighbors", strconv.Itoa(d.Neighbors), "points that reconstruct each, >= 1"},
			{"ridge", text(d.Ridge), "regularisation relative to the mean variance of the unknowns, > 0"},
			{"dims", strconv.Itoa(d.Dims), "most directions, >= 1"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(llma.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newLLMA(m, c) }
	return m
}

func newLLMA(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(llma.Method); err != nil {
		return nil, err
	}
	l := llma.Learner{Params: llma.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"sigma":     func(text string) error { p.Sigma = text; return nil },
		"anchors":   count("anchors", &p.Anchors),
		"lambda":    notNegative("lambda", &p.Lambda),
		"neighbors": count("neighbors", &p.Neighbors),
		"ridge":     positive("ridge", &p.Ridge),
		"dims":      count("dims", &p.Dims),
		"rank_tol":  number("rank_tol", &p.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return l, p.Validate()
}
