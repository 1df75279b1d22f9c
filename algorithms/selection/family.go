package selection

import (
	"context"
	"maps"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
)

// cacheBytes bounds what candidates keep for each other when the engine has no cache of its own.
const cacheBytes = 256 << 20

// sharing returns the engine with a cache, a part of the memory limit.
func sharing(eng *engine.Engine) (*engine.Engine, error) {
	if eng.Cache() != nil {
		return eng, nil
	}
	limit := int64(cacheBytes)
	if eng.MemoryLimit() > 0 {
		limit = max(1, min(limit, eng.MemoryLimit()/8))
	}
	c, err := engine.NewCache(limit)
	if err != nil {
		return nil, err
	}
	return eng.WithCache(c)
}

// families divides candidates into those that one fit serves: they differ in the parameter of a path only. Only distances are
// had from a path, so only ranking gains.
func (s *search) families(list []int) [][]int {
	at := map[string]int{}
	var out [][]int
	for _, i := range list {
		c := s.trials[i].Candidate
		if s.o.Criterion == Ranking {
			if _, name, _, ok := s.path(c); ok {
				rest := Candidate{Method: c.Method, Kernel: c.Kernel, Params: maps.Clone(c.Params)}
				delete(rest.Params, name)
				key := rest.String()
				if f, seen := at[key]; seen {
					out[f] = append(out[f], i)
					continue
				}
				at[key] = len(out)
			}
		}
		out = append(out, []int{i})
	}
	return out
}

// path returns the learner of a candidate that is on a path, with its parameter and value.
func (s *search) path(c Candidate) (l algorithms.PathLearner, name string, value float64, ok bool) {
	learner, err := c.Learner(s.o.Seed, nil)
	if err != nil {
		return nil, "", 0, false
	}
	if l, ok = learner.(algorithms.PathLearner); !ok {
		return nil, "", 0, false
	}
	name, value = l.PathValue()
	return l, name, value, value != 0
}

// scores judges a family on fold f. A value of the parameter that cannot be used fails alone.
func (s *search) scores(ctx context.Context, eng *engine.Engine, family []Candidate, f int) []outcome {
	out := make([]outcome, len(family))
	if len(family) > 1 {
		if scores, err := s.pathScores(ctx, eng, family, f); err == nil {
			for k, v := range scores {
				out[k].score = v
			}
			return out
		}
	}
	for k, c := range family {
		out[k].score, out[k].err = s.score(ctx, eng, c, f)
	}
	return out
}

func (s *search) pathScores(ctx context.Context, eng *engine.Engine, family []Candidate, f int) ([]float64, error) {
	values := make([]float64, len(family))
	var l algorithms.PathLearner
	for k, c := range family {
		l, _, values[k], _ = s.path(c)
	}
	path, err := l.FitPath(ctx, eng, s.x, s.folds[f].fit)
	if err != nil {
		return nil, err
	}
	distances, err := path.Distances(ctx, eng, s.x, s.folds[f].pairs, values)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(family))
	for k, d := range distances {
		if out[k], err = s.folds[f].auc(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}
