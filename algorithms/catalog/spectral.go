package catalog

import (
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/spectral"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/engine/model"
)

func spectralMethod() Method {
	d := spectral.DefaultParams()
	m := Method{
		Name:            spectral.Method,
		Baseline:        true,
		Summary:         "kernels of a graph's Laplacian: diffusion and others, baselines of gml",
		Paper:           "Kondor & Lafferty 2002 (diffusion), Smola & Kondor 2003 (regularized), Belkin & Niyogi 2003 (eigenmaps), Lanckriet et al. 2004 (alignment), Zhu et al. 2004 (order)",
		DefaultKernel:   spectral.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters: slices.Concat([]Parameter{
			{"kind", string(d.Kind), "diffusion, regularized or eigenmaps, which use no links, or alignment or order, which learn from them"},
		}, graphParameters(d.Neighbourhood), []Parameter{
			{"basis", string(d.Basis), "whose eigenvectors: laplacian, lle (locally linear embedding) or isomap"},
			{"normalized", "false", "true takes the normalised Laplacian"},
			{"time", text(d.Time), "t of exp(-t mu) and of 1 / (1 + t mu), > 0"},
			{"rank", strconv.Itoa(d.Rank), "eigenvectors; 0: a tenth of the points, at most 200"},
		}),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(spectral.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newSpectral(m, c) }
	return m
}

func newSpectral(m Method, c Config) (algorithms.Learner, error) {
	l := spectral.Learner{Params: spectral.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.with(setters{
		"kind":       func(text string) error { p.Kind = spectral.Kind(text); return nil },
		"basis":      func(text string) error { p.Basis = basis.Kind(text); return nil },
		"normalized": flag("normalized", &p.Normalized),
		"time":       positive("time", &p.Time),
		"rank":       count("rank", &p.Rank),
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
