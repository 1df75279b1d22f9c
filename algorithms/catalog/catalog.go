// Package catalog (engine room: may change) is the table of all learning methods by name. It makes
// learners from strings, and saves and loads fitted models.
//
// It is for programs that select a method by name. Programs with a fixed method import its package.
package catalog

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is one entry of the catalog.
type Method struct {
	algorithms.About
	// Parameters are the parameters that Config.Params may have.
	Parameters []param.Field
	// UsesTriplets reports whether the method's learners implement algorithms.Triplets;
	// UsesQuadruplets and UsesTargets are the same for algorithms.Quadruplets and algorithms.Targets.
	UsesTriplets, UsesQuadruplets, UsesTargets bool
	// New makes a learner. Unknown parameters, and values and kernels that do not parse or are out of
	// range, are a *fault.ParamError.
	New func(Config) (algorithms.Learner, error)

	takes  func(params any) bool // reports whether params are of the method's type
	decode func(*model.File) (algorithms.Model, error)
}

// Config holds the settings of a learner, mostly as text.
type Config struct {
	Kernel   string            // "" for the method's default
	From     any               // a Params of the method to start from, nil for its defaults
	Params   map[string]string // by name; others keep their values in From
	Seed     uint64
	Progress algorithms.ProgressFunc

	Files       *Files // of parameters that were read, nil for none
	Rows        int    // of the points, for which the files must be; 0 if unknown
	MemoryLimit int64  // of the files of parameters, in bytes, 0 for none
}

// parameters is implemented by every method's Params.
type parameters interface{ Validate() error }

// kernelChecker is implemented by Params that restrict the kernel.
type kernelChecker interface {
	// CheckKernel returns an error for an unsupported kernel; the zero Spec means no kernel.
	CheckKernel(asked kernel.Spec) error
}

// entry makes the entry of a method from the functions of its package.
func entry[P parameters, M algorithms.Model](about algorithms.About, learner func(P, algorithms.Common) algorithms.Learner, decode func(*model.File) (M, error)) Method {
	plain := learner(param.Default[P](), algorithms.Common{})
	m := Method{About: about, Parameters: param.Fields(*new(P))}
	_, m.UsesTriplets = plain.(algorithms.Triplets)
	_, m.UsesQuadruplets = plain.(algorithms.Quadruplets)
	_, m.UsesTargets = plain.(algorithms.Targets)
	m.takes = func(params any) bool { _, is := params.(P); return is }
	m.New = func(c Config) (algorithms.Learner, error) {
		p, common := param.Default[P](), algorithms.Common{Seed: c.Seed, Progress: c.Progress}
		if c.From != nil {
			if !m.takes(c.From) {
				return nil, wrongParams(c.From)
			}
			p = c.From.(P)
		}
		if err := m.read(&p, &common, c); err != nil {
			return nil, err
		}
		if err := m.check(p, common.Kernel); err != nil {
			return nil, err
		}
		return learner(p, common), nil
	}
	m.decode = func(f *model.File) (algorithms.Model, error) {
		fitted, err := decode(f)
		if err != nil {
			return nil, err // fitted is a nil pointer, which must not become a non-nil interface
		}
		return fitted, nil
	}
	return m
}

// of is [entry] for a method whose parameters implement learner.Method.
func of[P learner.Method, M algorithms.Model](decode func(*model.File) (M, error)) Method {
	return entry((*new(P)).Rules().About, learner.New[P], decode)
}

// read sets the parameters and the common settings to those of a Config.
func (m Method) read(params any, common *algorithms.Common, c Config) error {
	rest, err := m.fromFiles(params, common, c)
	if err != nil {
		return err
	}
	if err := param.Set(params, m.Name, rest); err != nil {
		return err
	}
	if c.Kernel != "" {
		common.Kernel, err = kernel.Parse(c.Kernel)
	}
	return err
}

// check returns an error for invalid parameters, and for an unsupported kernel.
func (m Method) check(p parameters, asked kernel.Spec) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if k, is := p.(kernelChecker); is {
		return k.CheckKernel(asked)
	}
	return nil
}

// Methods returns all methods, in the order of display.
func Methods() []Method { return slices.Clone(methods()) }

// New returns the learner of a method. Errors are those of [Lookup] and of Method.New.
func New(method string, c Config) (algorithms.Learner, error) {
	m, err := Lookup(method)
	if err != nil {
		return nil, err
	}
	return m.New(c)
}

// ForParams returns the method of the given Params. A value of another type is a *fault.ParamError.
func ForParams(params any) (Method, error) {
	for _, m := range methods() {
		if m.takes(params) {
			return m, nil
		}
	}
	return Method{}, wrongParams(params)
}

func wrongParams(params any) error {
	return &fault.ParamError{Param: "type of the parameters", Value: fmt.Sprintf("%T", params), Want: "the Params of a method, such as krca.Params"}
}

// Lookup returns the method with the given name. An unknown name is a *fault.ParamError that lists
// the methods, the most similar names first.
func Lookup(name string) (Method, error) {
	var names []string
	for _, m := range methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fault.Unknown("method", name, names)
}

// Lesson holds the data that a learner may learn from in addition to points and links.
type Lesson struct {
	Triplets    []links.Triplet
	Quadruplets []links.Quadruplet
	Targets     []float64 // one number for each row
}

// Given reports whether there is anything to learn from besides links.
func (l Lesson) Given() bool {
	return len(l.Triplets) > 0 || len(l.Quadruplets) > 0 || len(l.Targets) > 0
}

// Teach returns a learner that also learns from the lesson. A part that the method cannot learn
// from is a *fault.ParamError.
func Teach(l algorithms.Learner, lesson Lesson) (algorithms.Learner, error) {
	if n := len(lesson.Triplets); n > 0 {
		with, ok := l.(algorithms.Triplets)
		if !ok {
			return nil, notLearned(l, "number of triplets", n)
		}
		l = with.WithTriplets(lesson.Triplets)
	}
	if n := len(lesson.Quadruplets); n > 0 {
		with, ok := l.(algorithms.Quadruplets)
		if !ok {
			return nil, notLearned(l, "number of quadruplets", n)
		}
		l = with.WithQuadruplets(lesson.Quadruplets)
	}
	if n := len(lesson.Targets); n > 0 {
		with, ok := l.(algorithms.Targets)
		if !ok {
			return nil, notLearned(l, "number of targets", n)
		}
		l = with.WithTargets(lesson.Targets)
	}
	return l, nil
}

func notLearned(l algorithms.Learner, what string, n int) error {
	return &fault.ParamError{Param: what, Value: n, Want: fmt.Sprintf("none: %s does not learn from them", l.Method())}
}
