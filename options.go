package mustlink

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"weak"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Option changes how [Fit], [Load] or [Model.Cluster] works. The documentation of each option names
// the functions that accept it; for any other function it is a *fault.ParamError. If an option is
// given twice, or a [Param] of the same name, the last one counts.
type Option struct {
	name  string
	where place
	set   func(*settings)
}

// place is a set of functions that accept an option.
type place int

const (
	fit place = 1 << iota
	load
	clusters
	many
)

// settings are the values of options.
type settings struct {
	method     string
	params     any // a Params struct of a method, with using
	using      bool
	text       map[string]string
	kernel     string
	preparing  Preparing
	unprepared bool
	tfidf      bool
	embeddings bool
	single     bool
	files      *catalog.Files // of parameters
	seed       uint64
	progress   func(Progress)
	lesson     algorithms.Lesson
	none       string // the name of a list that is given, but empty
	holdsOut   bool
	judgedBy   *Links // nil: those of the fit
	folds      int    // of the verdict
	keep       bool   // a metric that the verdict finds worse

	restarts    int
	constrained bool
	links       *Links

	engine   *engine.Engine
	given    bool // an engine, perhaps nil
	workers  int
	limit    int64
	customed bool // workers or limit
	first    bool // error ends FitMany

	choice *catalog.Choice // of the method, nil for none
}

// Progress is a progress report of long work. Its fields are Stage, Done, Total, Objective,
// Residual and Elapsed.
type Progress = algorithms.Progress

// Method chooses the method of [Fit] by its name: "krca", "lleratio" and so on; see docs/methods.
func Method(name string) Option {
	return Option{"Method", fit, func(s *settings) { s.method = name }}
}

// Chosen makes [Fit] take a choice that the program has made by [catalog.Choose] for the same links
// and lessons, instead of choosing again; [Model.Describe] has its reason. It is for programs that
// work with internal packages.
func Chosen(c catalog.Choice) Option {
	return Option{"Chosen", fit, func(s *settings) { s.choice = &c }}
}

// Using chooses the method of [Fit] by its parameters, a value of type Params of its package. Start
// from DefaultParams of the package.
//
//	p := krca.DefaultParams()
//	p.EpsRel = 1e-2
//	model, err := mustlink.Fit(ctx, table, pairs, mustlink.Using(p))
func Using(params any) Option {
	return Option{"Using", fit, func(s *settings) { s.params, s.using = params, true }}
}

// Param sets one parameter of the method of [Fit] by its name, with its value as text, as on the
// command line: Param("dims", "5").
func Param(name, value string) Option {
	return Option{"Param", fit, func(s *settings) {
		if s.text == nil {
			s.text = map[string]string{}
		}
		s.text[name] = value
	}}
}

// ParamFiles makes [Fit] take the files of parameters of the form @FILE from f, if they were read
// before. It is for programs that work with internal packages.
func ParamFiles(f *catalog.Files) Option {
	return Option{"ParamFiles", fit, func(s *settings) { s.files = f }}
}

// Kernel chooses the kernel of [Fit]: "linear", "rbf:sigma=1.5", "rbf:sigma=0.5median",
// "exp:width=2", "poly:degree=2,coef=1,scale=1", "cosine", "spectrum:k=3" for sequences. Each
// method has a default.
func Kernel(text string) Option { return Option{"Kernel", fit, func(s *settings) { s.kernel = text }} }

// Prepare says how [Fit] makes numbers of the columns of its table; without it, it does what the
// columns ask for. The model keeps the preparation and applies it to the rows of other tables. See
// [Table.Prepare].
func Prepare(p Preparing) Option {
	return Option{"Prepare", fit, func(s *settings) { s.preparing = p }}
}

// Standardize scales the numbers of the table of [Fit] to mean 0 and standard deviation 1, also
// where Fit would leave them as they are.
func Standardize() Option {
	return Option{"Standardize", fit, func(s *settings) { s.preparing.Scale = "standardize" }}
}

// Unprepared makes [Fit] take the numbers of its table as they are. Columns of text and missing
// values are then errors.
func Unprepared() Option {
	return Option{"Unprepared", fit, func(s *settings) { s.unprepared = true }}
}

// TFIDF weights counts of terms by the rarity of the terms (TF-IDF) and scales rows to unit length,
// in [Fit] and for new rows.
func TFIDF() Option { return Option{"TFIDF", fit, func(s *settings) { s.tfidf = true }} }

// Embeddings makes [Fit] take the rows of its table, which must be complete numbers, for embeddings
// of texts or pictures: nothing is done with columns, and without [Method] or [Using] must-links
// are learned from by adapt, with the average of ten neighbors and rows scaled to unit length, also
// where Fit would not recognize them. It excludes other options of preparation.
func Embeddings() Option {
	return Option{"Embeddings", fit, func(s *settings) { s.embeddings = true }}
}

// SinglePrecision stores the numbers of the model of [Fit] with 24 bits: the file of [Model.Save]
// is half as large.
func SinglePrecision() Option {
	return Option{"SinglePrecision", fit, func(s *settings) { s.single = true }}
}

// Seed fixes the random choices of [Fit] and [Model.Cluster]; without it the seed is 1.
func Seed(seed uint64) Option {
	return Option{"Seed", fit | clusters, func(s *settings) { s.seed = seed }}
}

// OnProgress makes [Fit] or [Model.Cluster] report progress. Calls come one at a time and must
// return quickly.
func OnProgress(report func(Progress)) Option {
	return Option{"OnProgress", fit | clusters, func(s *settings) { s.progress = report }}
}

// Triplets are comparisons for [Fit], at least one, which requires a method that learns from
// triplets.
func Triplets(list []Triplet) Option {
	return Option{"Triplets", fit, func(s *settings) {
		s.lesson.Triplets = list
		s.some("triplets", len(list))
	}}
}

// Quadruplets are comparisons for [Fit], at least one, which requires a method that learns from
// quadruplets.
func Quadruplets(list []Quadruplet) Option {
	return Option{"Quadruplets", fit, func(s *settings) {
		s.lesson.Quadruplets = list
		s.some("quadruplets", len(list))
	}}
}

// Targets are numbers, one for each row, for [Fit], which requires a method that learns from
// targets.
func Targets(values []float64) Option {
	return Option{"Targets", fit, func(s *settings) {
		s.lesson.Targets = values
		s.some("targets", len(values))
	}}
}

// some notes the name of a list that is empty.
func (s *settings) some(name string, count int) {
	switch {
	case count == 0:
		s.none = name
	case s.none == name: // the last one counts
		s.none = ""
	}
}

// HoldOut makes [Fit] assess its metric by links that it holds out from further fits. The linked
// rows are dealt into folds parts, and each of folds fits is without the rows of one part. With
// folds 1 a single fit is without a fifth of the linked rows, and with 0 there are five such fits,
// or as many of them as take no more than ten seconds. There are at most 1000 parts.
// [Model.Verdict] has the result.
//
// If nobody chose the method or a kernel, and dense rows are better without learning, the model is
// of the method raw: held-out links find the metric worse, and not clearly better at finding the
// partners of must-links.
func HoldOut(folds int) Option {
	return Option{"HoldOut", fit, func(s *settings) { s.holdsOut, s.folds = true, folds }}
}

// JudgedBy makes [Fit] hold out links of l, between the same rows, for [HoldOut]: the further fits
// learn from these. If links are left out because metrics contradict them, every metric agrees with
// the links that remain, and l has to have them all; nil are those of the fit.
func JudgedBy(l *Links) Option {
	return Option{"JudgedBy", fit, func(s *settings) { s.judgedBy = l }}
}

// KeepWorse makes [Fit] keep a metric that the links of [HoldOut] find worse than the rows without
// learning.
func KeepWorse() Option { return Option{"KeepWorse", fit, func(s *settings) { s.keep = true }} }

// Workers is the number of goroutines that share the work of a model, in [Fit] and [Load]; 0 means
// all processors. For many fits at the same time, each on a goroutine of the program, it is 1: then
// no fit waits for another. Models with equal numbers of Workers and equal MemoryLimits share one
// engine, so that a thousand of them take no more memory than with no such option.
func Workers(n int) Option {
	return Option{"Workers", fit | load, func(s *settings) { s.workers, s.customed = n, true }}
}

// MemoryLimit bounds each memory request of a model, in [Fit] and [Load]: a larger request is
// refused by a *fault.MemoryError before anything is allocated. 0 means no limit. It counts each
// request for itself, not those of several models together. Models share engines as [Workers] says.
func MemoryLimit(bytes int64) Option {
	return Option{"MemoryLimit", fit | load, func(s *settings) { s.limit, s.customed = bytes, true }}
}

// Engine makes a model of [Fit] or [Load] run on e, instead of the engine that all models share. It
// is for programs that work with internal packages.
func Engine(e *engine.Engine) Option {
	return Option{"Engine", fit | load, func(s *settings) { s.engine, s.given = e, true }}
}

// Restarts is the number of starts of [Model.Cluster], which keeps the best result; the default is
// 10.
func Restarts(n int) Option {
	return Option{"Restarts", clusters, func(s *settings) { s.restarts = n }}
}

// Constrained makes [Model.Cluster] satisfy links between the rows that it clusters.
func Constrained(l *Links) Option {
	return Option{"Constrained", clusters, func(s *settings) { s.links, s.constrained = l, true }}
}

// read returns the settings of the options of a function.
func read(where place, function string, options []Option) (*settings, error) {
	s := &settings{seed: 1}
	for _, o := range options {
		if o.set == nil {
			return nil, fault.Param("option", nil, "an option made by a function of package mustlink")
		}
		if o.where&where == 0 {
			return nil, fault.Param("option", o.name, "an option that %s takes", function)
		}
		o.set(s)
	}
	if s.none != "" {
		return nil, fault.Param("number of "+s.none, 0, "at least one, or no such option")
	}
	return s, nil
}

// sharing is what models that share an engine have in common.
type sharing struct {
	workers int
	limit   int64
}

// shared is the engine of all models without an engine, workers or a limit of their own.
var shared = sync.OnceValues(func() (*engine.Engine, error) { return engine.New(engine.Options{}) })

// engines holds the other engines that models share, as long as one of them is in use: from sharing
// to weak.Pointer[engine.Engine].
var engines sync.Map

// engineFor returns the engine of all models with these workers and this limit.
func engineFor(k sharing) (*engine.Engine, error) {
	if k == (sharing{}) {
		return shared()
	}
	for {
		if found, is := engines.Load(k); is {
			if e := found.(weak.Pointer[engine.Engine]).Value(); e != nil {
				return e, nil
			}
			engines.CompareAndDelete(k, found) // its cleanup is still to run
		}
		made, err := engine.New(engine.Options{Workers: k.workers, MemoryLimit: k.limit})
		if err != nil {
			return nil, err
		}
		pointer := weak.Make(made)
		if _, is := engines.LoadOrStore(k, pointer); !is {
			runtime.AddCleanup(made, func(k sharing) { engines.CompareAndDelete(k, pointer) }, k)
			return made, nil
		}
	}
}

// engineOf returns the engine for the settings.
func (s *settings) engineOf() (*engine.Engine, error) {
	switch {
	case s.given && s.engine == nil:
		return nil, fault.Param("engine", nil, "an engine made by engine.New, or no such option")
	case s.given && s.customed:
		return nil, fault.Param("engine", "given", "either an engine, or Workers and MemoryLimit")
	case s.given:
		return s.engine, nil
	}
	return engineFor(sharing{s.workers, s.limit})
}

// checkContext refuses a nil context.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return fault.Param("context", nil, "a context, such as context.Background()")
	}
	return nil
}

// isNil reports whether an interface is nil or contains a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
