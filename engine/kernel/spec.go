package kernel

import (
	"cmp"
	"fmt"
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

// Names returns the names of the kernels.
func Names() []string {
	names := make([]string, numKinds)
	for k := range names {
		names[k] = kind(k).String()
	}
	return names
}

// kind numbers the kernels.
type kind uint8

const (
	linear kind = iota
	rbf
	exponential
	poly
	cosine
	sigmoid
	spectrum
	numKinds
	distance // squared distance: internal, never parsed
)

func (k kind) String() string {
	return [...]string{
		linear: "linear", rbf: "rbf", exponential: "exp", poly: "poly", cosine: "cosine", sigmoid: "sigmoid", spectrum: "spectrum",
		distance: "distance",
	}[k]
}

// shiftInvariant reports whether the kernel depends only on x-y.
func (k kind) shiftInvariant() bool { return k == rbf || k == exponential || k == distance }

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
	switch {
	case s.kind == exponential:
		return "width"
	case s.gamma:
		return "gamma"
	default:
		return "sigma"
	}
}

func (s stage) String() string {
	switch s.kind {
	case rbf, exponential:
		v := formatNumber(s.value)
		if s.rule != "" && s.value == 1 {
			v = ""
		}
		return s.kind.String() + ":" + s.bandwidth() + "=" + v + s.rule
	case poly:
		return "poly:degree=" + strconv.Itoa(s.degree) + ",coef=" + formatNumber(s.coef) + ",scale=" + formatNumber(s.scale)
	case sigmoid:
		return "sigmoid:scale=" + formatNumber(s.scale) + ",coef=" + formatNumber(s.coef)
	case spectrum:
		return "spectrum:k=" + strconv.Itoa(s.degree)
	default:
		return s.kind.String()
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
	inner.n = copy(inner.stages[:], s.stages[i+1:s.n])
	if inner.n == 0 {
		inner.n = 1 // the zero stage is linear
	}
	return Rule{Kernel: st.kind.String(), Parameter: st.bandwidth(), Name: st.rule, Factor: st.value}, inner, true
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
		return Spec{}, &fault.ParamError{Param: "kernel", Value: text, Want: fmt.Sprintf("a composition of at most %d kernels", maxStages)}
	}
	s := Spec{n: len(parts)}
	for i, part := range parts {
		st, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return Spec{}, err
		}
		if st.kind == spectrum && i < len(parts)-1 {
			return Spec{}, &fault.ParamError{Param: "kernel", Value: text, Want: "spectrum as the innermost kernel, since it takes sequences"}
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
	p, err := splitParams(k, params)
	if err != nil {
		return stage{}, err
	}
	st := stage{kind: k}
	switch k {
	case rbf, exponential:
		err = p.bandwidth(&st)
	case poly:
		st.degree, st.coef, st.scale = 2, 1, 1
		err = cmp.Or(p.integer("degree", &st.degree), p.number("coef", &st.coef, "a number >= 0", nonNegative), p.number("scale", &st.scale, "a number > 0", positive))
	case sigmoid:
		st.scale = 1
		err = cmp.Or(p.number("scale", &st.scale, "a number > 0", positive), p.number("coef", &st.coef, "a number", finite))
	case spectrum:
		if _, ok := p["k"]; !ok {
			return stage{}, &fault.ParamError{Param: "kernel", Value: text, Want: "spectrum:k=LENGTH, such as spectrum:k=3"}
		}
		err = p.integer("k", &st.degree)
	}
	if err != nil {
		return stage{}, err
	}
	return st, nil
}

// parameters returns the parameters of each kernel, in canonical order.
func (k kind) parameters() []string {
	switch k {
	case rbf:
		return []string{"sigma", "gamma"}
	case exponential:
		return []string{"width"}
	case poly:
		return []string{"degree", "coef", "scale"}
	case sigmoid:
		return []string{"scale", "coef"}
	case spectrum:
		return []string{"k"}
	default:
		return nil
	}
}

// params holds the text of the parameters of one stage by name.
type params map[string]paramText

type paramText struct{ label, text string } // label is the name in errors: "sigma of kernel rbf"

// splitParams splits "a=1,b=2". For kernels with a bandwidth, a value without a name is that of the
// first parameter.
func splitParams(k kind, text string) (params, error) {
	p := params{}
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	names := k.parameters()
	if len(names) == 0 {
		return nil, &fault.ParamError{Param: "kernel", Value: k.String() + ":" + text, Want: k.String() + " without parameters"}
	}
	for field := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(field, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		choices := names
		if bare := !named && (k == rbf || k == exponential); bare && isRule(name) {
			name, value = names[0], name
		} else if bare {
			choices = slices.Concat(names, RuleNames())
		}
		label := name + " of kernel " + k.String()
		switch _, twice := p[name]; {
		case !slices.Contains(names, name):
			return nil, fault.Unknown("parameter of kernel "+k.String(), name, choices)
		case value == "":
			return nil, &fault.ParamError{Param: label, Value: "", Want: "a value after " + name + "="}
		case twice:
			return nil, &fault.ParamError{Param: label, Value: value, Want: "to be given once"}
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
		return &fault.ParamError{Param: "kernel", Value: "rbf:sigma=" + sigma.text + ",gamma=" + g.text, Want: "sigma or gamma, not both"}
	}
	st.gamma = hasGamma
	t, ok := p[st.bandwidth()]
	if !ok {
		want := "a bandwidth: rbf:sigma=NUMBER, rbf:gamma=NUMBER or a rule such as rbf:sigma=median"
		if st.kind == exponential {
			want = "a bandwidth: exp:width=NUMBER or a rule such as exp:width=lle"
		}
		return &fault.ParamError{Param: "kernel", Value: st.kind.String(), Want: want}
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
		return &fault.ParamError{Param: t.label, Value: t.text, Want: "a number > 0; rules are for sigma"}
	}
	factor, rule, ok := splitRule(t.text)
	if !ok {
		want := "a number > 0, or a rule (" + strings.Join(RuleNames(), ", ") + ") with an optional factor before it"
		want += fault.DidYouMean("", strings.TrimLeft(t.text, "0123456789.+-"), RuleNames())
		return &fault.ParamError{Param: t.label, Value: t.text, Want: want}
	}
	st.rule, st.value = rule, 1
	if factor == "" {
		return nil
	}
	v, err := strconv.ParseFloat(factor, 64)
	if err != nil || !(v >= minBandwidth && v <= maxBandwidth) {
		return &fault.ParamError{Param: t.label, Value: t.text, Want: "a factor > 0 before the rule, such as 0.5" + rule}
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
	label := st.bandwidth() + " of kernel " + st.kind.String()
	if !(v > 0) || math.IsInf(v, 0) {
		return &fault.ParamError{Param: label, Value: v, Want: "a number > 0"}
	}
	if v < lo || v > hi {
		return &fault.ParamError{Param: label, Value: v, Want: fmt.Sprintf("a number from %g to %g", lo, hi)}
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
		return &fault.ParamError{Param: t.label, Value: t.text, Want: fmt.Sprintf("a whole number from 1 to %d", maxDegree)}
	}
	*dst = v
	return nil
}
