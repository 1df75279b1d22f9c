package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// graphParameters are those of a graph of the points.
func graphParameters(d graphkernel.Neighbourhood) []Parameter {
	return []Parameter{
		{"graph", string(d.Graph), "knn (nearest neighbours), dense (all pairs, Gaussian), eps:R (pairs up to distance R) or @FILE (similarities, an .npy or .csv file of n rows and columns)"},
		{"metric", "euclid", "in which neighbours are near: euclid, cosine or kernel (that of -k)"},
		{"neighbors", strconv.Itoa(d.Neighbors), "nearest neighbours of the graph, >= 1; for a dense one those that give its width, 10 in the paper"},
		{"heat", "false", "true weighs the edges of knn and eps by their distance"},
	}
}

// settingsParameters are those that the baselines on a graph share, losses in words.
func settingsParameters(d graphkernel.Settings, losses string) []Parameter {
	return append([]Parameter{
		{"loss", string(d.Loss), "of links that are not met: " + losses},
		{"C", text(d.C), "weight of the links, > 0"},
		{"delta", text(d.Delta), "added to the diagonal of the graph's Laplacian, > 0"},
	}, graphParameters(d.Neighbourhood)...)
}

// settings returns s and the setters of the settings that the baselines share.
func (g *graphChoice) settings(s setters, p *graphkernel.Settings) setters {
	out := g.with(setters{
		"loss":  func(text string) error { p.Loss = graphkernel.Loss(text); return nil },
		"C":     positive("C", &p.C),
		"delta": positive("delta", &p.Delta),
	}, &p.Neighbourhood)
	maps.Copy(out, s)
	return out
}

// graphChoice is what the parameters of a graph say beside the neighbourhood.
type graphChoice struct {
	metric string
	given  blas.Matrix
}

// with returns s and the setters of a graph's parameters.
func (g *graphChoice) with(s setters, p *graphkernel.Neighbourhood) setters {
	out := setters{
		"graph":     func(text string) error { return g.parse(text, p) },
		"metric":    func(text string) error { g.metric = text; return nil },
		"neighbors": count("neighbors", &p.Neighbors),
		"heat":      flag("heat", &p.Heat),
	}
	maps.Copy(out, s)
	return out
}

// parse reads the value of the parameter graph.
func (g *graphChoice) parse(text string, p *graphkernel.Neighbourhood) (err error) {
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		p.Graph = graphkernel.Given
		g.given, err = readSimilarities(path)
		return err
	}
	if radius, isRadius := strings.CutPrefix(text, string(graphkernel.Within)+":"); isRadius {
		p.Graph = graphkernel.Within
		return positive("radius of graph=eps:R", &p.Radius)(radius)
	}
	names := []string{string(graphkernel.KNN), string(graphkernel.Dense), "eps:R", "@FILE"}
	if p.Graph = graphkernel.Graph(text); !slices.Contains(names[:2], text) {
		return fault.Unknown("graph", text, names)
	}
	return nil
}

// readSimilarities reads a square matrix.
func readSimilarities(path string) (blas.Matrix, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return blas.Matrix{}, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok || x.N != x.D {
		return blas.Matrix{}, fault.Data(path, "want as many columns of similarities as there are rows")
	}
	return blas.Matrix{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data}, nil
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
