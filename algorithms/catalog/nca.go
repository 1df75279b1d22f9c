package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/nca"
	"github.com/mustlink/mustlink/engine/model"
)

func ncaMethod() Method {
	d := nca.DefaultParams()
	m := Method{
		Name:            nca.Method,
		Baseline:        true,
		Summary:         "neighbourhood components analysis, linear: leave-one-out classification in expectation",
		Paper:           "Goldberger, Roweis, Hinton & Salakhutdinov, Neighbourhood components analysis, NIPS 17, 2005",
		UsesCannotLinks: true,
		Parameters: []Parameter{
			{"dims", strconv.Itoa(d.Dims), "dimensions of the map; 0: as many as there are directions"},
			{"rank", strconv.Itoa(d.Rank), "leading principal directions to learn in; 0: all"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
			{"tol", text(d.Tol), "gain of five iterations that ends the ascent, relative to what the objective lacks to 1, > 0"},
			{"contractions", strconv.Itoa(d.Contractions), "how often the map is halved and the ascent goes on, >= 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most iterations of an ascent, >= 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(nca.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newNCA(m, c) }
	return m
}

func newNCA(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(nca.Method); err != nil {
		return nil, err
	}
	l := nca.Learner{Params: nca.DefaultParams(), Progress: c.Progress}
	p := &l.Params
	err := setters{
		"dims":         count("dims", &p.Dims),
		"rank":         count("rank", &p.Rank),
		"rank_tol":     number("rank_tol", &p.RankTol),
		"tol":          positive("tol", &p.Tol),
		"contractions": count("contractions", &p.Contractions),
		"max_iter":     count("max_iter", &p.MaxIter),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return l, p.Validate()
}
