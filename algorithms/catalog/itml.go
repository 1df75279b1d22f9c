package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/engine/model"
)

func itmlMethod() Method {
	d := itml.DefaultParams()
	m := Method{
		Name:            itml.Method,
		Baseline:        true,
		Summary:         "information-theoretic metric learning, linear or with a kernel (-k): the base of geometry-aware metrics",
		Paper:           "Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007",
		UsesCannotLinks: true,
		Pairwise:        true,
		UsesTriplets:    true,
		Parameters: []Parameter{
			{"prior", string(d.Prior), "metric to stay near to: identity or covariance (its inverse; not with a kernel)"},
			{"gamma", text(d.Gamma), "weight of the links against the prior, > 0; 0.1 to 10 are usual"},
			{"upper", d.Upper, "most squared distance of must-links: p5 is a percentile of all pairs, 0.5 a value"},
			{"lower", d.Lower, "least squared distance of cannot-links, likewise"},
			{"margin", d.Margin, "of triplets: how much larger the second squared distance is to be, likewise"},
			{"dims", strconv.Itoa(d.Dims), "columns of the embedding; 0: all"},
			{"tol", text(d.Tol), "change in a sweep that ends the fit, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most sweeps over the links, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(itml.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newITML(m, c) }
	return m
}

func newITML(m Method, c Config) (algorithms.Learner, error) {
	l := itml.Learner{Params: itml.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"prior":    func(text string) error { p.Prior = itml.Prior(text); return nil },
		"gamma":    positive("gamma", &p.Gamma),
		"upper":    func(text string) error { p.Upper = text; return nil },
		"lower":    func(text string) error { p.Lower = text; return nil },
		"margin":   func(text string) error { p.Margin = text; return nil },
		"dims":     count("dims", &p.Dims),
		"tol":      positive("tol", &p.Tol),
		"max_iter": count("max_iter", &p.MaxIter),
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
