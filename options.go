package mustlink

import (
	"context"
	"reflect"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Option changes how [Fit], [Load] or [Model.Cluster] works. Each says which of them take it;
// elsewhere it is a *fault.ParamError.
type Option struct {
	name  string
	where place
	set   func(*settings)
}

// place is a set of functions that take an option.
type place int

const (
	fit place = 1 << iota
	load
	clusters
)

// settings are what options say.
type settings struct {
	method      string
	params      any // a Params struct of a method, with using
	using       bool
	text        map[string]string
	kernel      string
	standardize bool
	tfidf       bool
	single      bool
	seed        uint64
	progress    func(Progress)
	triplets    []Triplet
	quadruplets []Quadruplet
	targets     []float64

	restarts    int
	constrained bool
	links       *Links

	engine   *engine.Engine
	given    bool // an engine, perhaps nil
	workers  int
	limit    int64
	customed bool // workers or limit
}

// Progress is a report from long work.
type Progress = algorithms.Progress

// Method chooses the method of [Fit] by its name: "krca", "lleratio" and so on; see docs/methods.
func Method(name string) Option {
	return Option{"Method", fit, func(s *settings) { s.method = name }}
}

// Using chooses the method of [Fit] by its parameters, a Params of its package: make them with its
// DefaultParams and change what is to differ.
//
//	p := krca.DefaultParams()
//	p.EpsRel = 1e-2
//	model, err := mustlink.Fit(ctx, table, pairs, mustlink.Using(p))
func Using(params any) Option {
	return Option{"Using", fit, func(s *settings) { s.params, s.using = params, true }}
}

// Param sets one parameter of the method of [Fit] by its name and its value as text, as the command
// has them: Param("dims", "5").
func Param(name, value string) Option {
	return Option{"Param", fit, func(s *settings) {
		if s.text == nil {
			s.text = map[string]string{}
		}
		s.text[name] = value
	}}
}

// Kernel chooses the kernel of [Fit]: "linear", "rbf:sigma=1.5", "rbf:sigma=0.5median",
// "exp:width=2", "poly:degree=2,coef=1,scale=1", "cosine", "spectrum:k=3" for sequences. Each
// method has a default.
func Kernel(text string) Option { return Option{"Kernel", fit, func(s *settings) { s.kernel = text }} }

// Standardize scales the features of [Fit] to mean 0 and standard deviation 1. The model keeps the
// scaling and applies it to new rows.
func Standardize() Option {
	return Option{"Standardize", fit, func(s *settings) { s.standardize = true }}
}

// TFIDF weights counts of terms by how rare the terms are and scales rows to unit length, in [Fit]
// and for new rows.
func TFIDF() Option { return Option{"TFIDF", fit, func(s *settings) { s.tfidf = true }} }

// SinglePrecision stores the numbers of the model of [Fit] in 24 bits: [Model.Save] writes half the
// bytes.
func SinglePrecision() Option {
	return Option{"SinglePrecision", fit, func(s *settings) { s.single = true }}
}

// Seed fixes the random choices of [Fit] and [Model.Cluster]; without it the seed is 1.
func Seed(seed uint64) Option {
	return Option{"Seed", fit | clusters, func(s *settings) { s.seed = seed }}
}

// OnProgress has [Fit] or [Model.Cluster] report what it does. Calls come one at a time and must
// return quickly.
func OnProgress(report func(Progress)) Option {
	return Option{"OnProgress", fit | clusters, func(s *settings) { s.progress = report }}
}

// Triplets are comparisons for [Fit] to learn from, with a method that learns from them.
func Triplets(list []Triplet) Option {
	return Option{"Triplets", fit, func(s *settings) { s.triplets = list }}
}

// Quadruplets are comparisons for [Fit] to learn from, with a method that learns from them.
func Quadruplets(list []Quadruplet) Option {
	return Option{"Quadruplets", fit, func(s *settings) { s.quadruplets = list }}
}

// Targets are one number for each row for [Fit] to learn from, with a method that learns from them.
func Targets(values []float64) Option {
	return Option{"Targets", fit, func(s *settings) { s.targets = values }}
}

// Workers is the number of goroutines that share the work of a model, in [Fit] and [Load]; 0 for
// all processors.
func Workers(n int) Option {
	return Option{"Workers", fit | load, func(s *settings) { s.workers, s.customed = n, true }}
}

// MemoryLimit bounds each request of a model, in [Fit] and [Load]: what would take more bytes is
// refused by a *fault.MemoryError before it is allocated. 0 is no limit.
func MemoryLimit(bytes int64) Option {
	return Option{"MemoryLimit", fit | load, func(s *settings) { s.limit, s.customed = bytes, true }}
}

// Engine has a model of [Fit] or [Load] run on this engine, instead of one that all models share.
// It is for programs that work in the engine room.
func Engine(e *engine.Engine) Option {
	return Option{"Engine", fit | load, func(s *settings) { s.engine, s.given = e, true }}
}

// Restarts is the number of starts of [Model.Cluster], of which the best is kept; without it 10.
func Restarts(n int) Option {
	return Option{"Restarts", clusters, func(s *settings) { s.restarts = n }}
}

// Constrained has [Model.Cluster] satisfy links between the rows that it clusters.
func Constrained(l *Links) Option {
	return Option{"Constrained", clusters, func(s *settings) { s.links, s.constrained = l, true }}
}

// read returns what options say to a function.
func read(where place, function string, options []Option) (*settings, error) {
	s := &settings{seed: 1}
	for _, o := range options {
		if o.set == nil {
			return nil, &fault.ParamError{Param: "option", Value: nil, Want: "an option that a function of package mustlink made"}
		}
		if o.where&where == 0 {
			return nil, &fault.ParamError{Param: "option", Value: o.name, Want: "an option that " + function + " takes"}
		}
		o.set(s)
	}
	return s, nil
}

// shared is the engine of all models without one of their own.
var shared = sync.OnceValues(func() (*engine.Engine, error) { return engine.New(engine.Options{}) })

// engineOf returns the engine that the settings ask for.
func (s *settings) engineOf() (*engine.Engine, error) {
	switch {
	case s.given && s.engine == nil:
		return nil, &fault.ParamError{Param: "engine", Value: nil, Want: "an engine, as engine.New makes it, or no such option"}
	case s.given && s.customed:
		return nil, &fault.ParamError{Param: "engine", Value: "given", Want: "either an engine, or Workers and MemoryLimit"}
	case s.given:
		return s.engine, nil
	case s.customed:
		return engine.New(engine.Options{Workers: s.workers, MemoryLimit: s.limit})
	}
	return shared()
}

// checkContext reports a context that is nil.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return &fault.ParamError{Param: "context", Value: nil, Want: "a context, such as context.Background()"}
	}
	return nil
}

// isNil says whether an interface holds nothing, or a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
