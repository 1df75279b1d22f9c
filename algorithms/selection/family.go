// Package selection (engine room: may change) selects a method, its kernel and its parameters for
// given points and links. It fits candidates without a part of the linked points and scores how
// well they predict the links of these points, which are new to them.
package selection

import (
	"context"
	"maps"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
)

// cacheBytes is the maximum size of the cache that candidates share if the engine has none of its
// own.
const cacheBytes = 256 << 20

// families groups candidates that one path fits: they differ only in the parameter of the path. A
// path fits its values in its own order, not in that of the candidates. A path gives only
// distances, so it serves only the criterion ranking, and only models whose coordinates have these
// distances. There it is faster even for a single candidate, which needs no embedding.
func (s *search) families(list []int) [][]int {
	at := map[string]int{}
	var out [][]int
	for _, i := range list {
		c := s.trials[i].Candidate
		if s.shared() {
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

// shared reports whether families are fitted by paths.
func (s *search) shared() bool { return s.o.Criterion == Ranking && !s.apart }

// path returns the path learner of a candidate with the name and value of its parameter, and false
// if the candidate is not on a path.
func (s *search) path(c Candidate) (l algorithms.PathLearner, name string, value float64, ok bool) {
	learner, err := s.learner(c)
	if err != nil {
		return nil, "", 0, false
	}
	if l, ok = learner.(algorithms.PathLearner); !ok {
		return nil, "", 0, false
	}
	name, value = l.PathValue()
	return l, name, value, value != 0 && !l.PathProjected()
}

// scores scores a family on fold f. An invalid value of the parameter affects only its own
// candidate.
func (s *search) scores(ctx context.Context, eng *engine.Engine, family []Candidate, f int) []outcome {
	out := make([]outcome, len(family))
	if _, _, _, ok := s.path(family[0]); ok && s.shared() {
		if s.pathScores(ctx, eng, family, f, out) == nil {
			return out
		}
	}
	for k, c := range family {
		out[k].score, out[k].err = s.score(ctx, eng, c, f)
	}
	return out
}

func (s *search) pathScores(ctx context.Context, eng *engine.Engine, family []Candidate, f int,
	out []outcome) error {
	values := make([]float64, len(family))
	var l algorithms.Learner
	for k, c := range family {
		l, _, values[k], _ = s.path(c)
	}
	l, x, set, err := s.folds[f].Training(eng, l, s.x)
	if err != nil {
		return err
	}
	path, err := l.(algorithms.PathLearner).FitPath(ctx, eng, x, set)
	if err != nil {
		return err
	}
	distances, err := path.Distances(ctx, eng, s.x, s.folds[f].Ranked(), values)
	if err != nil {
		return err
	}
	for k, d := range distances {
		if out[k].score, err = s.folds[f].Ranking(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
