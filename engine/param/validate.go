package param

import (
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Validate returns a *fault.ParamError for the first value that cannot be used, in the order of the
// fields. Then groups are looked at of which exactly one number is to be given.
func Validate(params any) error {
	list := all(params)
	for _, f := range list {
		if err := f.check(); err != nil {
			return err
		}
	}
	for _, group := range groups(list) {
		if err := checkGroup(group); err != nil {
			return err
		}
	}
	return nil
}

// check returns the error of a value that cannot be used.
func (f field) check() error {
	var v float64
	switch f.kind() {
	case Text:
		return f.checkText(f.value.String(), true)
	case Int:
		v = float64(f.value.Int())
	case Float:
		v = f.value.Float()
	}
	if f.kind() == Bool || v == 0 && f.tag("oneof") != "" || f.inRange(v) || f.isNamed(v) {
		return nil
	}
	return f.refuse(f.value.Interface())
}

// checkText returns the error of text that is no choice; of a program's, a value of the tag also is
// one.
func (f field) checkText(text string, program bool) error {
	list := choices(f.tag("choices"))
	if len(list) == 0 || text == "" && f.tag("zero") != "" {
		return nil
	}
	known := make([]string, len(list))
	for i, c := range list {
		known[i] = c.Name
	}
	also := strings.Split(f.tag("also"), ",")
	if slices.Contains(known, text) || program && text != "" && slices.Contains(also, text) {
		return nil
	}
	return fault.Unknown(f.name, text, known)
}

// groups returns the fields of each tag oneof, in order.
func groups(list []field) [][]field {
	var out [][]field
	for _, f := range list {
		name := f.tag("oneof")
		if name == "" {
			continue
		}
		at := slices.IndexFunc(out, func(g []field) bool { return g[0].tag("oneof") == name })
		if at < 0 {
			out, at = append(out, nil), len(out)
		}
		out[at] = append(out[at], f)
	}
	return out
}

// checkGroup demands that exactly one number of a group is given.
func checkGroup(group []field) error {
	var given, others []string
	for i, f := range group {
		if i > 0 {
			others = append(others, f.name)
		}
		if !f.value.IsZero() {
			given = append(given, f.name)
		}
	}
	switch first := group[0]; {
	case len(given) > 1:
		return together(given)
	case len(given) == 0:
		want := first.want() + " (or give " + strings.Join(others, " or ") + ")"
		return &fault.ParamError{Param: first.name, Value: first.value.Interface(), Want: want}
	}
	return nil
}

// unquoted is a value that a message shows as it is.
type unquoted string

// together is the error for parameters, two or more, of which only one may be given.
func together(names []string) error {
	return &fault.ParamError{
		Param: names[0],
		Value: unquoted("given together with " + strings.Join(names[1:], " and ")),
		Want:  "one of them: they set the same number",
	}
}
