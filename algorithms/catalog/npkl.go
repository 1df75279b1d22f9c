package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
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
		Parameters: []Parameter{
			{"loss", string(d.Loss), "of links that are not met: sl (square), shl (squared hinge) or hl (hinge)"},
			{"C", text(d.C), "weight of the links, > 0"},
			{"delta", text(d.Delta), "added to the diagonal of the graph's Laplacian, > 0; the paper has C/2"},
			{"rank", strconv.Itoa(d.Rank), "dimensions; 0: as many as the optimum wants"},
			{"graph", string(d.Graph), "knn (nearest neighbours) or dense (all pairs, Gaussian)"},
			{"metric", "euclid", "in which neighbours are near: euclid, cosine or kernel (that of -k)"},
			{"neighbors", strconv.Itoa(d.Neighbors), "nearest neighbours of the graph, >= 1; for a dense one those that give its width, 10 in the paper"},
			{"heat", "false", "true weighs the edges of nearest neighbours by their distance"},
			{"tol", text(d.Tol), "relative change of the places in a sweep that ends the fit, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most sweeps, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(npkl.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newNPKL(m, c) }
	return m
}

func newNPKL(m Method, c Config) (algorithms.Learner, error) {
	l := npkl.Learner{Params: npkl.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p, metric := &l.Params, ""
	err := setters{
		"loss":      func(text string) error { p.Loss = npkl.Loss(text); return nil },
		"C":         positive("C", &p.C),
		"delta":     positive("delta", &p.Delta),
		"rank":      count("rank", &p.Rank),
		"graph":     func(text string) error { p.Graph = npkl.Graph(text); return nil },
		"metric":    func(text string) error { metric = text; return nil },
		"neighbors": count("neighbors", &p.Neighbors),
		"heat": func(text string) (err error) {
			if p.Heat, err = strconv.ParseBool(text); err != nil {
				return &fault.ParamError{Param: "heat", Value: text, Want: "true or false"}
			}
			return nil
		},
		"tol":      positive("tol", &p.Tol),
		"max_iter": count("max_iter", &p.MaxIter),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l.Kernel, err = c.metric(metric)
	return l, err
}

// metric returns the kernel in whose feature space points are compared.
func (c Config) metric(name string) (kernel.Spec, error) {
	switch {
	case name == "kernel" && c.Kernel == "":
		return kernel.Spec{}, &fault.ParamError{Param: "metric", Value: name, Want: "euclid or cosine, or a kernel beside it"}
	case name == "kernel" || name == "" && c.Kernel != "":
		return c.kernel()
	case name != "" && name != "euclid" && name != "cosine":
		return kernel.Spec{}, fault.Unknown("metric", name, []string{"euclid", "cosine", "kernel"})
	case c.Kernel != "":
		return kernel.Spec{}, &fault.ParamError{Param: "metric", Value: name, Want: "kernel, as one is given, or no kernel"}
	case name == "cosine":
		return kernel.Parse("cosine")
	}
	return kernel.Spec{}, nil
}
