package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine/model"
)

func krcaMethod() Method {
	d := krca.DefaultParams()
	m := Method{
		Name:          krca.Method,
		Summary:       "kernel relevant component analysis: whitens what varies inside must-link groups",
		Paper:         "Tsang, Cheung & Kwok, Kernel relevant component analysis for distance metric learning, IJCNN 2005",
		DefaultKernel: krca.DefaultKernel,
		Parameters: []Parameter{
			{"eps_rel", strconv.FormatFloat(d.EpsRel, 'g', -1, 64), "regularisation relative to the kernel's mean diagonal, > 0; 1e-2 suits a linear kernel"},
			{"eps", "", "regularisation in units of the kernel, > 0; instead of eps_rel"},
			{"fixed_s", "", "n eps with n the points in chunklets, > 0; instead of eps_rel"},
			{"dims", strconv.Itoa(d.Dims), "directions of the embedding, centred; 0: all positive ones, uncentred"},
			{"landmarks", strconv.Itoa(d.Landmarks), "training points that carry the embedding; 0: all up to 5000"},
			{"form", string(d.Form), "auto, cholesky or spectral: how the learned kernel is evaluated"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(krca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newKRCA(m, c) }
	return m
}

// decoded keeps a nil pointer from becoming an interface that is not nil.
func decoded[M algorithms.Model](m M, err error) (algorithms.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func newKRCA(m Method, c Config) (algorithms.Learner, error) {
	l := krca.Learner{Params: krca.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	if err := oneOf(c.Params, "eps_rel", "eps", "fixed_s"); err != nil {
		return nil, err
	}
	if given(c.Params, "eps") || given(c.Params, "fixed_s") {
		p.EpsRel = 0
	}
	err := setters{
		"eps_rel":   positive("eps_rel", &p.EpsRel),
		"eps":       positive("eps", &p.Eps),
		"fixed_s":   positive("fixed_s", &p.FixedS),
		"dims":      count("dims", &p.Dims),
		"landmarks": count("landmarks", &p.Landmarks),
		"form":      func(text string) error { p.Form = krca.Form(text); return nil },
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if l.Kernel, err = c.kernel(); err != nil {
		return nil, err
	}
	return l, nil
}

func given(params map[string]string, name string) bool {
	_, ok := params[name]
	return ok
}

// oneOf returns an error when more than one of the names is given.
func oneOf(params map[string]string, names ...string) error {
	var found []string
	for _, name := range names {
		if given(params, name) {
			found = append(found, name)
		}
	}
	if len(found) > 1 {
		return krca.TogetherError(found)
	}
	return nil
}
