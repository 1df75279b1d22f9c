// Package catalog (internal: may change) is the table of all learning methods by name. It makes
// learners from strings, and saves and loads fitted models.
//
// It is for programs that select a method by name. Programs with a fixed method import its package.
package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is one entry of the catalog.
type Method struct {
	algorithms.About
	// Parameters are the parameters that Config.Params may have.
	Parameters []param.Field
	// New makes a learner. Unknown parameters, values and kernels that do not parse or are out of
	// range, and a part of a lesson that the method does not learn from, are a *fault.ParamError.
	New func(Config) (algorithms.Learner, error)

	takes  func(params any) bool // reports whether params are of the method's type
	decode func(*model.File) (algorithms.Model, error)
}

// Config holds the settings of a learner, mostly as text.
type Config struct {
	Kernel   string            // "" for the method's default
	From     any               // a Params of the method to start from, nil for its defaults
	Params   map[string]string // by name; others keep their values in From
	Lesson   algorithms.Lesson // what to learn from besides links
	Seed     uint64
	Progress algorithms.ProgressFunc

	Files       *Files // of parameters that were read, nil for none
	Rows        int    // of the points, for which the files must be; 0 if unknown
	MemoryLimit int64  // of the files of parameters, in bytes, 0 for none
}

// kernelChecker is implemented by Params that restrict the kernel.
type kernelChecker interface {
	// CheckKernel returns an error for an unsupported kernel; the zero Spec means no kernel.
	CheckKernel(asked kernel.Spec) error
}

// of makes the entry of a method from its parameters and the function that reads its models.
func of[P learner.Method, M algorithms.Model](decode func(*model.File) (M, error)) Method {
	m := Method{About: (*new(P)).Rules().About, Parameters: param.Fields(*new(P)),
		decode: fitted.Decoder(decode)}
	m.takes = func(params any) bool { _, is := params.(P); return is }
	m.New = func(c Config) (algorithms.Learner, error) {
		p, common := param.Default[P](),
			algorithms.Common{Lesson: c.Lesson, Seed: c.Seed, Progress: c.Progress}
		if c.From != nil {
			if !m.takes(c.From) {
				return nil, wrongParams(c.From)
			}
			p = c.From.(P)
		}
		if err := m.read(&p, &common, c); err != nil {
			return nil, err
		}
		if err := m.check(p, common); err != nil {
			return nil, err
		}
		return learner.New(p, common), nil
	}
	return m
}

// mapped makes the entry of a method whose models are only maps.
func mapped[P learner.Method](read fitted.Reader) Method {
	return of[P](func(f *model.File) (*fitted.Model[P], error) {
		return fitted.Decode[P]((*new(P)).Rules().Name, f, read)
	})
}

// onGraph makes the entry of a method whose models are kernel matrices on a graph.
func onGraph[P interface {
	learner.Method
	graphkernel.Parameters
}]() Method {
	return of[P](func(f *model.File) (*graphkernel.Fitted[P], error) {
		return graphkernel.DecodeFitted[P]((*new(P)).Rules().Name, f)
	})
}

// traced makes the entry of a method whose models are linear maps with the objectives of a solver.
func traced[P learner.Method]() Method {
	return of[P](func(f *model.File) (*fitted.Traced[P], error) {
		return fitted.DecodeTraced[P]((*new(P)).Rules().Name, f, fitted.ReadLinear)
	})
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

// check returns an error for invalid parameters, for an unsupported kernel, and for a part of the
// lesson that the method does not learn from.
func (m Method) check(p learner.Method, c algorithms.Common) error {
	if err := fitted.Validate(p); err != nil {
		return err
	}
	if k, is := p.(kernelChecker); is {
		if err := k.CheckKernel(c.Kernel); err != nil {
			return err
		}
	}
	return c.Lesson.For(m.About)
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
	return &fault.ParamError{Param: "type of the parameters", Value: fmt.Sprintf("%T", params),
		Want: "the Params of a method, such as krca.Params"}
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

// Choice is a method, and the reason for it if nobody named it.
type Choice struct {
	Method Method
	Why    string            // "" for a method that was named
	Params map[string]string // of the method as it is chosen, nil for its defaults
}

// Choose returns the method for links and other lessons when nobody names one: mlkr for targets,
// lsml for quadruplets, itml for triplets; for links blend if there are both kinds, but lleratio in
// parts with more than 20,000 linked rows, krca for must-links alone, and itml for cannot-links
// alone. A nil set stands for links of both kinds. [Choice.Among] has the last word once the rows
// are prepared. docs/choosing.md has the evidence.
func Choose(l *links.Set, lesson algorithms.Lesson) (c Choice, err error) {
	must, cannot := 1, 1
	if l != nil {
		must, cannot = l.Count()
	}
	name := ""
	switch {
	case lesson.Targets != nil:
		name, c.Why = "mlkr", "it learns from targets"
	case lesson.Quadruplets != nil:
		name, c.Why = "lsml", "it learns from quadruplets"
	case lesson.Triplets != nil:
		name, c.Why = "itml", "it learns from triplets"
	case must == 0:
		name, c.Why = "itml", "there are only cannot-links"
	case cannot == 0:
		name, c.Why = "krca", "there are only must-links"
	case l != nil && parts.Suits("lleratio", l):
		name, c.Why = "lleratio", "there are links of both kinds, too many for blend"
	default:
		name, c.Why = "blend", "there are links of both kinds"
	}
	c.Method, err = Lookup(name)
	return c, err
}

// Among returns the choice for points, once these are prepared: adapt with the average of ten
// neighbors for must-links between embeddings, whose own distances are so good already that the
// metrics of the other methods are worse with few links. docs/choosing.md has the evidence.
// If asked, rows are taken for embeddings whatever they look like.
func (c Choice) Among(eng *engine.Engine, x points.Points, l *links.Set, asked bool) Choice {
	rows, dense := x.(*points.Dense)
	must, _ := l.Count()
	others := []string{"blend", "lleratio", "krca"}
	if c.Why == "" || !dense || must == 0 || !slices.Contains(others, c.Method.Name) ||
		!asked && !baseline.Embeddings(eng, rows) {
		return c
	}
	method, err := Lookup(baseline.AdaptMethod)
	if err != nil {
		return c
	}
	params := map[string]string{"smooth": "10"}
	if asked {
		params["unit"] = string(baseline.AdaptYes)
	}
	return Choice{method, "the rows are embeddings", params}
}

// Duration is a rough time of a fit on two processors, and 0 for a method that was named. It is
// estimated and not measured, so that what depends on it, such as the number of fits of a verdict
// and the model that this may choose, is the same on every machine and next to any other work.
func (c Choice) Duration(x points.Points, l *links.Set) time.Duration {
	if c.Why == "" {
		return 0
	}
	n, pairs := float64(x.Len()), float64(l.Len())
	seconds := 5e-8 * float64(points.Bytes(x)) / 8
	switch c.Method.Name {
	case "blend":
		seconds = n * (1e-7*n + 3e-7*pairs)
	case "lleratio": // in parts, see Choose
		seconds = 1e-3 * pairs
	case "krca":
		seconds = 7e-8 * n * n
	}
	return time.Duration(seconds * float64(time.Second))
}

// Lighter returns the next choice if the memory limit refuses the method, and false if the method
// was named or there is none.
func (c Choice) Lighter(refused *fault.MemoryError) (Choice, bool) {
	name := ""
	switch c.Method.Name { // each learns from the same links in less memory
	case "blend":
		name = "lleratio"
	case "lleratio":
		name = "itml"
	case "krca":
		name = "rca"
	}
	if name == "" || c.Why == "" {
		return c, false
	}
	method, err := Lookup(name)
	why := fmt.Sprintf("%s needs %s, above the memory limit of %s", c.Method.Name,
		fault.FormatBytes(refused.Need), fault.FormatBytes(refused.Limit))
	return Choice{Method: method, Why: why}, err == nil
}
