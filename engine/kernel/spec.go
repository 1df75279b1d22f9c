package kernel

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// maxStages bounds the length of a composition. A fixed bound makes Spec a comparable value.
const maxStages = 4

// Spec is the parsed text of a kernel. Specs are values: equal kernels compare equal with ==, and
// Parse(s.String()) == s. The zero Spec is not a kernel; [Parse] returns valid ones.
type Spec struct {
	n      int
	stages [maxStages]stage // outermost first, as written
}

// Rule is a bandwidth that depends on data: Factor times the rule Name.
type Rule struct {
	Kernel    string  // "rbf" or "exp"
	Parameter string  // "sigma" or "width"
	Name      string  // one of RuleNames
	Factor    float64 // > 0
}

// RuleNames returns the bandwidth rules: mean, median, knn10, msq, lle.
func RuleNames() []string { return []string{"mean", "median", "knn10", "msq", "lle"} }

// stage is one kernel of a composition with its parameters; unused ones are zero.
type stage struct {
	kind   kind
	gamma  bool    // rbf: value is gamma rather than sigma
	value  float64 // bandwidth, or the factor of rule
	rule   string  // "" when value is the bandwidth itself
	degree int     // poly; k of spectrum
	coef   float64 // poly, sigmoid
	scale  float64 // poly, sigmoid
}

// bandwidth returns the name of the stage's bandwidth parameter.
func (s stage) bandwidth() string {
	names := s.entry().parameters
	if s.gamma {
		return names[1]
	}
	return names[0]
}

func (s stage) String() string {
	switch e := s.entry(); {
	case e.width:
		v := formatNumber(s.value)
		if s.rule != "" && s.value == 1 {
			v = ""
		}
		return e.name + ":" + s.bandwidth() + "=" + v + s.rule
	case e.write != nil:
		return e.name + ":" + e.write(s)
	default:
		return e.name
	}
}

// formatNumber writes the shortest decimal that parses to the same bits.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// String returns the canonical text with all parameters: "rbf:sigma=1.5",
// "poly:degree=2,coef=1,scale=1". It is "" for the zero Spec.
func (s Spec) String() string {
	var parts []string
	for _, st := range s.stages[:s.n] {
		parts = append(parts, st.String())
	}
	return strings.Join(parts, "@")
}

// MarshalText returns the text of String, so that a Spec is a string in JSON. The error is always
// nil.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses text as [Parse] does; empty text gives the zero Spec.
func (s *Spec) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Spec{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// IsZero reports whether s is the zero Spec.
func (s Spec) IsZero() bool { return s.n == 0 }

// NeedsData reports whether a bandwidth is still a rule that has to be resolved from data.
func (s Spec) NeedsData() bool { return s.open() >= 0 }

// open returns the innermost stage whose bandwidth is a rule, or -1. The innermost comes first
// because an outer rule needs the distances of a complete inner kernel.
func (s Spec) open() int {
	for i := s.n - 1; i >= 0; i-- {
		if s.stages[i].rule != "" {
			return i
		}
	}
	return -1
}

// Open returns the innermost unresolved rule and the kernel whose distances it uses: the inner
// kernel, "linear" if there is none. ok is false if no rule is left.
func (s Spec) Open() (r Rule, inner Spec, ok bool) {
	i := s.open()
	if i < 0 {
		return Rule{}, Spec{}, false
	}
	st := s.stages[i]
	inner.n = max(1, copy(inner.stages[:], s.stages[i+1:s.n])) // the zero stage is linear
	return Rule{Kernel: st.entry().name, Parameter: st.bandwidth(), Name: st.rule, Factor: st.value}, inner,
		true
}

// Resolve returns s with the innermost unresolved rule replaced by the number v, its factor
// included. A v that is not a valid bandwidth is a *fault.ParamError. Without an unresolved rule,
// Resolve returns s unchanged.
func (s Spec) Resolve(v float64) (Spec, error) {
	i := s.open()
	if i < 0 {
		return s, nil
	}
	st := &s.stages[i]
	if err := checkBandwidth(*st, v); err != nil {
		return Spec{}, err
	}
	st.value, st.rule = v, ""
	return s, nil
}

// Bounds of a bandwidth: within them 1/(2 sigma^2) neither overflows nor vanishes.
const minBandwidth, maxBandwidth = 1e-150, 1e150

// maxDegree bounds the degree of a polynomial kernel and the k of a spectrum kernel.
const maxDegree = 100

// Parse reads a kernel: STAGE or OUTER@INNER, where a STAGE is NAME or NAME:param=value,…. The
// bandwidth of rbf (sigma) and exp (width) may be a rule, with an optional factor before it
// ("rbf:sigma=0.5mean"), and its name may be omitted ("exp:lle"). Errors are *fault.ParamError and
// suggest the nearest correct word.
func Parse(text string) (Spec, error) {
	parts := strings.Split(text, "@")
	if len(parts) > maxStages {
		return Spec{}, fault.Param("kernel", text, "a composition of at most %d kernels", maxStages)
	}
	s := Spec{n: len(parts)}
	for i, part := range parts {
		st, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return Spec{}, err
		}
		if st.entry().sequences && i < len(parts)-1 {
			return Spec{}, fault.Param("kernel", text,
				"%s as the innermost kernel, since it takes sequences", st.entry().name)
		}
		s.stages[i] = st
	}
	return s, nil
}

func parseStage(text string) (stage, error) {
	name, params, _ := strings.Cut(text, ":")
	k := kind(slices.Index(Names(), strings.TrimSpace(name)))
	if k >= numKinds { // Index's -1 wraps to the largest kind
		return stage{}, fault.Unknown("kernel", strings.TrimSpace(name), Names())
	}
	p, err := splitParams(&table[k], params)
	if err != nil {
		return stage{}, err
	}
	st := stage{kind: k}
	switch e := &table[k]; {
	case e.width:
		err = p.bandwidth(&st)
	case e.read != nil:
		err = e.read(p, text, &st)
	}
	if err != nil {
		return stage{}, err
	}
	return st, nil
}

// params holds the text of the parameters of one stage by name.
type params map[string]paramText

type paramText struct{ label, text string } // label is the name in errors: "sigma of kernel rbf"

// splitParams splits "a=1,b=2". For kernels with a bandwidth, a value without a name is that of the
// first parameter.
func splitParams(e *entry, text string) (params, error) {
	p := params{}
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	names := e.parameters
	if len(names) == 0 {
		return nil, fault.Param("kernel", e.name+":"+text, "%s without parameters", e.name)
	}
	for field := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(field, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		choices := names
		if bare := !named && e.width; bare && isRule(name) {
			name, value = names[0], name
		} else if bare {
			choices = slices.Concat(names, RuleNames())
		}
		label := name + " of kernel " + e.name
		switch _, twice := p[name]; {
		case !slices.Contains(names, name):
			return nil, fault.Unknown("parameter of kernel "+e.name, name, choices)
		case value == "":
			return nil, fault.Param(label, "", "a value after %s=", name)
		case twice:
			return nil, fault.Param(label, value, "to be given once")
		}
		p[name] = paramText{label, value}
	}
	return p, nil
}

// splitRule splits "0.5mean" into the text before a rule's name and the name.
func splitRule(text string) (factor, rule string, ok bool) {
	for _, r := range RuleNames() {
		if f, found := strings.CutSuffix(text, r); found {
			return f, r, true
		}
	}
	return "", "", false
}

// isRule reports whether text is a rule with or without a factor.
func isRule(text string) bool {
	factor, _, ok := splitRule(text)
	_, err := strconv.ParseFloat(factor, 64)
	return ok && (factor == "" || err == nil)
}

// bandwidth reads sigma, gamma or width into st.
func (p params) bandwidth(st *stage) error {
	sigma, both := p["sigma"]
	g, hasGamma := p["gamma"]
	if both && hasGamma {
		return fault.Param("kernel", "rbf:sigma="+sigma.text+",gamma="+g.text, "sigma or gamma, not both")
	}
	st.gamma = hasGamma
	t, ok := p[st.bandwidth()]
	if !ok {
		return &fault.ParamError{Param: "kernel", Value: st.entry().name, Want: st.entry().lacking}
	}
	if v, err := strconv.ParseFloat(t.text, 64); err == nil {
		st.value = v
		return checkBandwidth(*st, v)
	}
	return parseRule(st, t)
}

// parseRule reads a bandwidth that is not a number.
func parseRule(st *stage, t paramText) error {
	if st.gamma {
		return fault.Param(t.label, t.text, "a number > 0; rules are for sigma")
	}
	factor, rule, ok := splitRule(t.text)
	if !ok {
		want := "a number > 0, or a rule (" + strings.Join(RuleNames(), ", ") +
			") with an optional factor before it"
		want += fault.DidYouMean("", strings.TrimLeft(t.text, "0123456789.+-"), RuleNames())
		return &fault.ParamError{Param: t.label, Value: t.text, Want: want}
	}
	st.rule, st.value = rule, 1
	if factor == "" {
		return nil
	}
	v, err := strconv.ParseFloat(factor, 64)
	if err != nil || !(v >= minBandwidth && v <= maxBandwidth) {
		return fault.Param(t.label, t.text, "a factor > 0 before the rule, such as 0.5%s", rule)
	}
	st.value = v
	return nil
}

// checkBandwidth returns a ParamError unless v is an acceptable bandwidth for st.
func checkBandwidth(st stage, v float64) error {
	lo, hi := minBandwidth, maxBandwidth
	if st.gamma {
		lo, hi = minBandwidth*minBandwidth, maxBandwidth*maxBandwidth
	}
	label := st.bandwidth() + " of kernel " + st.entry().name
	if !(v > 0) || math.IsInf(v, 0) {
		return fault.Param(label, v, "a number > 0")
	}
	if v < lo || v > hi {
		return fault.Param(label, v, "a number from %g to %g", lo, hi)
	}
	return nil
}

func positive(v float64) bool    { return v > 0 && !math.IsInf(v, 0) }
func nonNegative(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
func finite(v float64) bool      { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number reads a parameter, if given, into dst.
func (p params) number(name string, dst *float64, want string, ok func(float64) bool) error {
	t, given := p[name]
	if !given {
		return nil
	}
	v, err := strconv.ParseFloat(t.text, 64)
	if err != nil || !ok(v) {
		return &fault.ParamError{Param: t.label, Value: t.text, Want: want}
	}
	*dst = v + 0 // -0 becomes 0, so that equal kernels compare and print equal
	return nil
}

// integer reads a parameter from 1 to maxDegree, if given, into dst.
func (p params) integer(name string, dst *int) error {
	t, given := p[name]
	if !given {
		return nil
	}
	v, err := strconv.Atoi(t.text)
	if err != nil || v < 1 || v > maxDegree {
		return fault.Param(t.label, t.text, "a whole number from 1 to %d", maxDegree)
	}
	*dst = v
	return nil
}
