package catalog

import (
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/engine/model"
)

func gmlMethod() Method {
	d := gml.DefaultParams()
	m := Method{
		Name:            gml.Method,
		Summary:         "geometry-aware metric learning: LogDet projections whose prior, a Gaussian kernel or a graph's spectrum, is learned",
		Paper:           "Lu, Jain & Dhillon, Geometry-aware metric learning, ICML 2009",
		DefaultKernel:   gml.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		UsesTriplets:    true,
		Parameters: slices.Concat([]Parameter{
			{"prior", string(d.Prior), "rbf (a Gaussian kernel of learned width), spectral (eigenvectors of the Laplacian of a graph) or datadep (a kernel that they deform)"},
			{"width", text(d.Width), "width of the Gaussian kernel to begin with, relative to the mean distance of two points, > 0"},
		}, graphParameters(d.Neighbourhood), []Parameter{
			{"basis", string(d.Basis), "whose eigenvectors: laplacian, lle (locally linear embedding) or isomap"},
			{"laplacian", string(d.Laplacian), "of the graph: unnormalized or normalized"},
			{"diffusion", text(d.Diffusion), "t of the first weights exp(-t mu) of the eigenvectors, > 0"},
			{"rank", strconv.Itoa(d.Rank), "eigenvectors, >= 2; 0: a tenth of the points, at most 40"},
			{"gamma", text(d.Gamma), "weight of the links against the prior, > 0; 0.1 to 10 are usual"},
			{"upper", d.Upper, "most squared distance of must-links: p5 is a percentile of all pairs, 0.5 a value"},
			{"lower", d.Lower, "least squared distance of cannot-links, likewise"},
			{"margin", d.Margin, "of triplets: how much larger the second squared distance is to be, likewise"},
			{"free_constant", strconv.FormatBool(d.FreeConstant), "true leaves weights of constant eigenvectors out of the order of weights"},
			{"extension", string(d.Extension), "places of new points for prior=spectral: barycentric or nystrom"},
			{"outer", strconv.Itoa(d.Outer), "most rounds of kernel and prior, >= 1"},
			{"tol", text(d.Tol), "change that ends the projections of a round, and the rounds, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most sweeps of a round, >= 1"},
			{"dims", strconv.Itoa(d.Dims), "columns of the embedding but for prior=spectral; 0: all"},
		}),
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(gml.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newGML(m, c) }
	return m
}

func newGML(m Method, c Config) (algorithms.Learner, error) {
	l := gml.Learner{Params: gml.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, g := &l.Params, graphChoice{}
	err := g.with(setters{
		"prior":         func(text string) error { p.Prior = gml.Prior(text); return nil },
		"laplacian":     func(text string) error { p.Laplacian = gml.Laplacian(text); return nil },
		"basis":         func(text string) error { p.Basis = gml.Basis(text); return nil },
		"extension":     func(text string) error { p.Extension = gml.Extension(text); return nil },
		"free_constant": flag("free_constant", &p.FreeConstant),
		"margin":        func(text string) error { p.Margin = text; return nil },
		"width":         positive("width", &p.Width),
		"diffusion":     positive("diffusion", &p.Diffusion),
		"rank":          count("rank", &p.Rank),
		"gamma":         positive("gamma", &p.Gamma),
		"upper":         func(text string) error { p.Upper = text; return nil },
		"lower":         func(text string) error { p.Lower = text; return nil },
		"outer":         count("outer", &p.Outer),
		"tol":           positive("tol", &p.Tol),
		"max_iter":      count("max_iter", &p.MaxIter),
		"dims":          count("dims", &p.Dims),
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
