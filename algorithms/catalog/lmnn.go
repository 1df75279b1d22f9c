package catalog

import (
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/lmnn"
	"github.com/mustlink/mustlink/engine/model"
)

func lmnnMethod() Method {
	d := lmnn.DefaultParams()
	m := Method{
		Name:            lmnn.Method,
		Baseline:        true,
		Summary:         "large margin nearest neighbours, linear; learns from classes (--links-from-labels all)",
		Paper:           "Weinberger, Blitzer & Saul, Distance metric learning for large margin nearest neighbor classification, NIPS 18, 2006",
		UsesCannotLinks: true,
		Parameters: []Parameter{
			{"neighbors", strconv.Itoa(d.Neighbors), "target neighbours of a point, >= 1"},
			{"mu", text(d.Mu), "weight of the impostors, between 0 and 1"},
			{"dims", strconv.Itoa(d.Dims), "dimensions of the map; 0: all directions of the data"},
			{"rank", "eighth", "principal directions that are learned in: eighth for an eighth of the linked points, 0 for all"},
			{"tol", text(d.Tol), "relative decrease of the objective over 5 iterations that ends the fit, > 0"},
			{"max_iter", strconv.Itoa(d.MaxIter), "most iterations, >= 1"},
			{"rank_tol", text(d.RankTol), "relative variance up to which a principal direction counts as constant, >= 0, < 1"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(lmnn.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newLMNN(m, c) }
	return m
}

func newLMNN(m Method, c Config) (algorithms.Learner, error) {
	if err := c.noKernel(lmnn.Method); err != nil {
		return nil, err
	}
	l := lmnn.Learner{Params: lmnn.DefaultParams(), Progress: c.Progress}
	err := setters{
		"neighbors": count("neighbors", &l.Params.Neighbors),
		"mu":        number("mu", &l.Params.Mu),
		"dims":      count("dims", &l.Params.Dims),
		"rank": func(text string) error {
			if text == "eighth" {
				l.Params.Rank = lmnn.RankEighth
				return nil
			}
			return count("rank", &l.Params.Rank)(text)
		},
		"tol":      positive("tol", &l.Params.Tol),
		"max_iter": count("max_iter", &l.Params.MaxIter),
		"rank_tol": number("rank_tol", &l.Params.RankTol),
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	return l, l.Params.Validate()
}
