// Package catalog (engine room: may change) is the one table of all learning methods by name: it
// makes learners from strings, and saves and loads fitted models.
//
// Programs that take a method's name from a person go through here; programs that know
// which method they want import its package.
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
	// Parameters are those that Config.Params may hold.
	Parameters []param.Field
	// UsesTriplets is true for a method whose learners are algorithms.Triplets, and so on.
	UsesTriplets, UsesQuadruplets, UsesTargets bool
	// New makes a learner. Unknown parameters, values that do not parse or are out of
	// range, and kernels that do not parse are *fault.ParamError.
	New func(Config) (algorithms.Learner, error)

	takes  func(params any) bool // its Params
	decode func(*model.File) (algorithms.Model, error)
}

// Config is what a person chose, mostly as text.
type Config struct {
	Kernel   string            // "" for the method's default
	From     any               // a Params of the method to begin with, nil for its defaults
	Params   map[string]string // by name; those left out are those of From
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// parameters is what a method's Params can do.
type parameters interface{ Validate() error }

// kernelChecker is implemented by Params that do not go with every kernel.
type kernelChecker interface {
	// CheckKernel returns the error of a kernel that is of no use, the zero Spec for none.
	CheckKernel(asked kernel.Spec) error
}

// entry makes the entry of a method out of what its package has.
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
			return nil, err // and no nil pointer in an interface that is not nil
		}
		return fitted, nil
	}
	return m
}

// of is [entry] for a method whose parameters learn.
func of[P learner.Method, M algorithms.Model](decode func(*model.File) (M, error)) Method {
	return entry((*new(P)).Rules().About, learner.New[P], decode)
}

// read sets the parameters, and what is common to all methods, to what a person chose.
func (m Method) read(params any, common *algorithms.Common, c Config) error {
	rest, err := m.fromFiles(params, common, c.Params)
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

// check returns the error of parameters that cannot be used, or not with that kernel.
func (m Method) check(p parameters, asked kernel.Spec) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if m.Linear && asked != (kernel.Spec{}) {
		return &fault.ParamError{Param: "kernel", Value: asked.String(), Want: "no kernel with " + m.Name + ", which is linear (krca takes kernels)"}
	}
	if k, is := p.(kernelChecker); is {
		return k.CheckKernel(asked)
	}
	return nil
}

// Methods returns all methods, in the order in which people should see them.
func Methods() []Method { return slices.Clone(methods()) }

// New returns the learner of a method. Errors are those of [Lookup] and of Method.New.
func New(method string, c Config) (algorithms.Learner, error) {
	m, err := Lookup(method)
	if err != nil {
		return nil, err
	}
	return m.New(c)
}

// ForParams returns the method whose Params these are. A value that is of no method is a
// *fault.ParamError.
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

// Lookup returns the method of that name. An unknown name is a *fault.ParamError that
// lists the methods, the nearest first.
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

// Lesson is what a learner may learn from besides points and links.
type Lesson struct {
	Triplets    []links.Triplet
	Quadruplets []links.Quadruplet
	Targets     []float64 // one number for each row
}

// Teach returns the learner that learns from the lesson, too. A part that the method does not learn
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
