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
