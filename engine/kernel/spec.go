package kernel

import (
	"strconv"
	"strings"
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
