package catalog

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
)

// Method is one entry of the catalog.
type Method struct {
	Name          string // "krca"
	Summary       string // one line
	Paper         string // where it was published
	DefaultKernel string // as kernel.Parse reads it; "" for a method without kernels
	Parameters    []Parameter
	// UsesCannotLinks is false for a method that ignores cannot-links with a notice.
	UsesCannotLinks bool
	// Pairwise is true for a method that learns from every link by itself, to which what links imply is news; false for
	// one that learns from the components of must-links.
	Pairwise bool
	// UsesTriplets is true for a method whose learners are algorithms.Triplets.
	UsesTriplets bool
	// Baseline is true for a method that is here to compare others with.
	Baseline bool
	// Small is true for a method that takes few points, to compare others with.
	Small bool
	// New makes a learner. Unknown parameters, values that do not parse or are out of
	// range, and kernels that do not parse are *fault.ParamError.
	New func(Config) (algorithms.Learner, error)

	decode func(*model.File) (algorithms.Model, error)
}

// Parameter describes one name that Config.Params may hold.
type Parameter struct {
	Name    string
	Default string // as a person would write it; "" when it is not set by default
	Help    string // one line: meaning, unit, range
}

// Config is what a person chose, as text.
type Config struct {
	Kernel   string            // "" for the method's default
	Params   map[string]string // by name; those left out have their defaults
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// kernel returns the kernel that was chosen, the zero Spec for none: then the learner chooses, by
// the kind of points.
func (c Config) kernel() (kernel.Spec, error) {
	if c.Kernel == "" {
		return kernel.Spec{}, nil
	}
	return kernel.Parse(c.Kernel)
}

// noKernel refuses a kernel for a linear method.
func (c Config) noKernel(method string) error {
	if c.Kernel == "" {
		return nil
	}
	return &fault.ParamError{Param: "kernel", Value: c.Kernel, Want: "no kernel with " + method + ", which is linear (krca takes kernels)"}
}

// Methods returns all methods, in the order in which people should see them.
func Methods() []Method {
	return []Method{krcaMethod(), kbetaMethod(), npklMethod(), lleratioMethod(), gmlMethod(), rcaMethod(), xrcaMethod(), dcaMethod(), itmlMethod(), mmcMethod(), lmnnMethod(), ncaMethod(), xiangMethod(), kleinMethod(), llmaMethod(), spectralMethod(), kpcaMethod(), cmvuMethod(), npkMethod(), simplenpklMethod(), sdplrMethod()}
}

// New returns the learner of a method. Errors are those of [Lookup] and of Method.New.
func New(method string, c Config) (algorithms.Learner, error) {
	m, err := Lookup(method)
	if err != nil {
		return nil, err
	}
	return m.New(c)
}

// Lookup returns the method of that name. An unknown name is a *fault.ParamError that
// lists the methods, the nearest first.
func Lookup(name string) (Method, error) {
	methods := Methods()
	names := make([]string, len(methods))
	for i, m := range methods {
		if m.Name == name {
			return m, nil
		}
		names[i] = m.Name
	}
	return Method{}, fault.Unknown("method", name, names)
}
