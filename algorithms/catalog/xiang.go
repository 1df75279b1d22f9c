package catalog

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/xiang"
	"github.com/mustlink/mustlink/engine/model"
)

func xiangMethod() Method {
	m := Method{
		Name:            xiang.Method,
		Baseline:        true,
		Summary:         "trace-ratio metric of the links alone, linear: the baseline of lleratio",
		Paper:           "Xiang, Nie & Zhang, Learning a Mahalanobis distance metric for data clustering and classification, Pattern Recognition 41, 2008",
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters:      []Parameter{{"dims", "0", "columns of the embedding; 0: half of the directions in which the points vary"}},
		decode:          func(f *model.File) (algorithms.Model, error) { return decoded(xiang.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) {
		if err := c.noKernel(xiang.Method); err != nil {
			return nil, err
		}
		l := xiang.Learner{Seed: c.Seed, Progress: c.Progress}
		if err := (setters{"dims": count("dims", &l.Params.Dims)}).apply(m, c.Params); err != nil {
			return nil, err
		}
		return l, l.Params.Validate()
	}
	return m
}
