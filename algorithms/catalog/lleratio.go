package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/engine/model"
)

func lleratioMethod() Method {
	d := lleratio.DefaultParams()
	m := Method{
		Name:            lleratio.Method,
		Summary:         "trace-ratio metric regularised by locally linear embedding, with kernels or linear",
		Paper:           "Soleymani Baghshah & Bagheri Shouraki, Semi-supervised metric learning using pairwise constraints, IJCAI 2009",
		DefaultKernel:   lleratio.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters: []Parameter{
			{"mode", string(d.Mode), "kernel (expansion in the must-linked points), full (in all points) or linear"},
			{"orthogonality", string(d.Orthogonality), "feature (orthonormal directions) or coefficient (the paper's orthonormal coefficients)"},
			{"alpha", autoAlpha, "weight of the neighbourhoods, >= 0; auto: 0.2 for more than 5 features, else 0.02"},
			{"neighbors", strconv.Itoa(d.Neighbors), "neighbours that reconstruct a point, >= 1"},
			{"reg_g", text(d.RegG), "added to local Gram matrices, relative to their traces, >= 0"},
			{"dims", strconv.Itoa(d.Dims), "columns of the embedding; 0: a quarter of the must-linked points or features, at most 25"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most steps of the trace ratio, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(lleratio.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newLLERatio(m, c) }
	return m
}

// autoAlpha as alpha is the rule by dimension.
const autoAlpha = "auto"

func newLLERatio(m Method, c Config) (algorithms.Learner, error) {
	l := lleratio.Learner{Params: lleratio.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"mode":          func(text string) error { p.Mode = lleratio.Mode(text); return nil },
		"orthogonality": func(text string) error { p.Orthogonality = lleratio.Orthogonality(text); return nil },
		"alpha": func(text string) error {
			if text == autoAlpha {
				p.Alpha = lleratio.AlphaByDimension
				return nil
			}
			return notNegative("alpha", &p.Alpha)(text)
		},
		"neighbors": count("neighbors", &p.Neighbors),
		"reg_g":     number("reg_g", &p.RegG),
		"dims":      count("dims", &p.Dims),
		"max_iter":  count("max_iter", &p.MaxIter),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Mode == lleratio.Linear {
		if err := c.noKernel("lleratio in linear mode"); err != nil {
			return nil, err
		}
		return l, nil
	}
	if l.Kernel, err = c.kernel(); err != nil {
		return nil, err
	}
	return l, nil
}
