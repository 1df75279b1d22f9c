// Package selection (internal: may change) selects a method, its kernel and its parameters for
// given points and links. It fits candidates without a part of the linked points and scores how
// well they predict the links of these points, which are new to them.
package selection

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Candidate is a method with the settings that differ from its defaults.
type Candidate struct {
	Method string            `json:"method"`
	Kernel string            `json:"kernel,omitempty"`
	Params map[string]string `json:"params,omitempty"`
}

// String returns the candidate as one line: "krca kernel=rbf:sigma=mean eps_rel=1e-2".
func (c Candidate) String() string {
	words := []string{c.Method}
	if c.Kernel != "" {
		words = append(words, "kernel="+c.Kernel)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		words = append(words, name+"="+c.Params[name])
	}
	return strings.Join(words, " ")
}

// Learner returns the learner of the candidate, with the other settings of config. Errors are those
// of the catalog, *fault.ParamError.
func (c Candidate) Learner(config catalog.Config) (algorithms.Learner, error) {
	config.Kernel, config.Params = c.Kernel, c.Params
	return catalog.New(c.Method, config)
}

// Axis is a parameter of a grid, or "kernel", with its values.
type Axis struct {
	Name   string
	Values []string
}

const kernelAxis = "kernel"

// Grid returns the candidates of some methods: for each method all combinations of the values of
// those axes that are its parameters. An axis that is a parameter of no method, an axis without
// values, an unknown method and a method that learns from targets are a *fault.ParamError.
func Grid(methods []string, axes []Axis) ([]Candidate, error) {
	used := make([]bool, len(axes))
	var out []Candidate
	for _, name := range methods {
		m, err := catalog.Lookup(name)
		if err != nil {
			return nil, err
		}
		if m.UsesTargets {
			return nil, fault.Param("method", name, "a method that learns from links, not from targets")
		}
		list := []Candidate{{Method: name}}
		for k, axis := range axes {
			if len(axis.Values) == 0 {
				return nil, fault.Param(axis.Name, "", "at least one value")
			}
			if takes(m, axis.Name) {
				used[k] = true
				list = times(list, axis)
			}
		}
		out = append(out, list...)
	}
	for k, axis := range axes {
		if !used[k] {
			return nil, &fault.ParamError{Param: "grid", Value: axis.Name,
				Want: "kernel, or a parameter of " + strings.Join(methods, ", ")}
		}
	}
	return out, nil
}

func takes(m catalog.Method, axis string) bool {
	if axis == kernelAxis {
		return m.DefaultKernel != ""
	}
	return slices.ContainsFunc(m.Parameters, func(p param.Field) bool { return p.Name == axis })
}

// times returns every candidate with every value of the axis.
func times(list []Candidate, axis Axis) []Candidate {
	var out []Candidate
	for _, c := range list {
		for _, v := range axis.Values {
			next := Candidate{Method: c.Method, Kernel: c.Kernel, Params: maps.Clone(c.Params)}
			if axis.Name == kernelAxis {
				next.Kernel = v
			} else {
				if next.Params == nil {
					next.Params = map[string]string{}
				}
				next.Params[axis.Name] = v
			}
			out = append(out, next)
		}
	}
	return out
}

// DefaultGrid returns the most important axes of a method, with its defaults and values around
// them. It returns none for a method without tuning parameters. The cross table of docs/choosing.md
// was computed with these values.
func DefaultGrid(method string) []Axis {
	switch method {
	case "krca":
		return []Axis{{kernelAxis,
			[]string{"rbf:sigma=0.5msq", "rbf:sigma=msq", "rbf:sigma=2msq", "exp:lle"}},
			{"eps_rel", []string{"1e-3", "3e-3", "1e-2", "3e-2"}}}
	case "kbeta":
		return []Axis{{kernelAxis, []string{"rbf:sigma=0.5mean", "rbf:sigma=mean", "rbf:sigma=2mean"}},
			{"dims", []string{"0", "10"}}}
	case "npkl":
		return []Axis{{"delta", []string{"0.1", "0.2", "0.5"}}, {"neighbors", []string{"5", "10"}}}
	case "lleratio":
		return []Axis{{kernelAxis, []string{"exp:lle", "rbf:sigma=msq"}},
			{"alpha", []string{"0.02", "0.05", "0.2", "1"}}}
	case "gml":
		// larger ones take several times as long
		return []Axis{{"width", []string{"0.5", "1"}}, {"gamma", []string{"1", "3"}}}
	case "itml":
		return []Axis{{"gamma", []string{"0.3", "1", "3", "10"}}}
	case "rca":
		return []Axis{{"eps_rel", []string{"1e-6", "1e-3", "1e-2", "0.1"}}}
	case "xrca":
		return []Axis{{"eps_rel", []string{"1e-3", "1e-2", "0.1", "0.3"}}}
	case "dca":
		return []Axis{{"eps_rel", []string{"1e-6", "1e-3", "1e-2"}}}
	case "mmc":
		return []Axis{{"eps_rel", []string{"1e-3", "1e-2", "0.1"}}, {"diagonal", []string{"false", "true"}}}
	case "lmnn":
		return []Axis{{"rank", []string{"eighth", "0"}}, {"mu", []string{"0.2", "0.5"}}}
	}
	return nil
}

// firstChoice is the method to take if nothing speaks for another one.
const firstChoice = "blend"

// Methods returns the default methods of a selection: blend, the five methods and itml.
func Methods() []string {
	return []string{firstChoice, "krca", "kbeta", "npkl", "lleratio", "gml", "itml"}
}

// FirstChoice returns the default incumbent of a selection: blend with its defaults if it is among
// the candidates, otherwise nil. Without links that speak for another candidate it is the best on
// average.
func FirstChoice(list []Candidate) *Candidate {
	for _, c := range list {
		if c.String() == firstChoice {
			return &c
		}
	}
	return nil
}

// Defaults returns the candidates of the default grids of the given methods, or of [Methods] if
// none are given.
func Defaults(methods []string) ([]Candidate, error) {
	if len(methods) == 0 {
		methods = Methods()
	}
	var out []Candidate
	for _, name := range methods {
		list, err := Grid([]string{name}, DefaultGrid(name))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// Among makes the method that a fit takes for such points a candidate and the incumbent, where
// [FirstChoice] is not what it takes; see [catalog.Choice.Among].
func (o *Options) Among(eng *engine.Engine, x points.Points, set *links.Set) error {
	if o.Incumbent == nil || o.Incumbent.String() != firstChoice {
		return nil
	}
	method, err := catalog.Lookup(firstChoice)
	if err != nil {
		return err
	}
	choice := catalog.Choice{Method: method, Why: "the incumbent"}.Among(eng, x, set, false)
	if choice.Method.Name != firstChoice {
		o.Incumbent = &Candidate{Method: choice.Method.Name, Params: choice.Params}
		o.Candidates = Including(o.Candidates, *o.Incumbent)
	}
	return nil
}

// Including returns the list with a candidate in front, or the list if it has it.
func Including(list []Candidate, c Candidate) []Candidate {
	if slices.ContainsFunc(list, func(other Candidate) bool { return other.String() == c.String() }) {
		return list
	}
	return append([]Candidate{c}, list...)
}

// streamSample is the stream of the random numbers of [Sample].
const streamSample = 0x73616d706c65

// Sample draws count candidates without replacement and returns them in their order. It returns all
// candidates if there are at most count.
func Sample(list []Candidate, count int, seed uint64) []Candidate {
	if count >= len(list) {
		return list
	}
	rows := rand.New(rand.NewPCG(seed, streamSample)).Perm(len(list))[:count]
	slices.Sort(rows)
	var out []Candidate
	for _, i := range rows {
		out = append(out, list[i])
	}
	return out
}

// duplicate returns an error if a candidate occurs twice.
func duplicate(list []Candidate) error {
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.String()] {
			return fault.Param("candidates", c.String(), "%d distinct candidates", len(list))
		}
		seen[c.String()] = true
	}
	return nil
}

// Parse parses the form of [Candidate.String]. Errors are those of the catalog, and a
// *fault.ParamError for words that are not name=value.
func Parse(text string) (Candidate, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Candidate{}, fault.Param("candidate", text,
			"a method, and name=value for settings that differ from its defaults")
	}
	c := Candidate{Method: words[0]}
	for _, word := range words[1:] {
		name, value, is := strings.Cut(word, "=")
		switch {
		case !is || name == "" || value == "":
			return Candidate{}, fault.Param("candidate", word, "name=value")
		case name == kernelAxis:
			c.Kernel = value
		default:
			if c.Params == nil {
				c.Params = map[string]string{}
			}
			c.Params[name] = value
		}
	}
	_, err := c.Learner(catalog.Config{})
	return c, err
}

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

// Raw names the points without learning: their trial, and the method that is selected if no
// candidate is clearly better.
const Raw = baseline.RawMethod

// unlearned is the metric of the points without learning.
type unlearned struct{ d int }

// errNoCoordinates is the error for points that are no dense vectors.
var errNoCoordinates = errors.New("only dense vectors have coordinates without learning")

func (unlearned) Method() string            { return Raw }
func (unlearned) Status() algorithms.Status { return algorithms.Status{Converged: true} }
func (u unlearned) Dim() int                { return u.d }

// Embed returns the points themselves.
func (unlearned) Embed(_ context.Context, _ *engine.Engine, x points.Points) (blas.Matrix, error) {
	p, dense := x.(*points.Dense)
	if !dense {
		return blas.Matrix{}, errNoCoordinates
	}
	return kernel.Matrix(p), nil
}

// Distances returns the squared distances of the points themselves.
func (unlearned) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return verdict.Distances(ctx, eng, x, pairs)
}

func (unlearned) Gram(context.Context, *engine.Engine, points.Points, points.Points) (blas.Matrix, error) {
	return blas.Matrix{}, errNoCoordinates
}

func (unlearned) Encode(*model.File) error { return errNoCoordinates }

// raw returns the trial of the points without learning on all folds, nil for the criterion
// Stability, which needs fits, and for points that a criterion cannot use.
func (s *search) raw(ctx context.Context, eng *engine.Engine) (*Trial, error) {
	if s.o.Criterion == Stability {
		return nil, nil
	}
	t := &Trial{Candidate: Candidate{Method: Raw}}
	for f := range s.folds {
		v, err := s.measure(ctx, eng, unlearned{s.x.Dim()}, f)
		if errors.Is(err, errNoCoordinates) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		t.add(s.evaluator, v)
	}
	return t, nil
}
