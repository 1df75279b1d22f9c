package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/klein"
	"github.com/mustlink/mustlink/engine/model"
)

func kleinMethod() Method {
	d := klein.DefaultParams()
	m := Method{
		Name:            klein.Method,
		Baseline:        true,
		Summary:         "distances along shortest paths on which must-links cost nothing, cannot-links beyond all others",
		Paper:           "Klein, Kamvar & Manning, From instance-level constraints to space-level constraints, ICML 2002",
		DefaultKernel:   klein.DefaultKernel,
		UsesCannotLinks: true,
		Parameters: []Parameter{
			{"dims", strconv.Itoa(d.Dims), "directions of largest variance, >= 1"},
			{"neighbors", strconv.Itoa(d.Neighbors), "training points that place a new one, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(klein.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newKlein(m, c) }
	return m
}

func newKlein(m Method, c Config) (algorithms.Learner, error) {
	l := klein.Learner{Params: klein.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"dims":      count("dims", &p.Dims),
		"neighbors": count("neighbors", &p.Neighbors),
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
