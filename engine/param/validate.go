package param

import (
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Validate returns a *fault.ParamError for the first invalid value, in the order of the fields. It
// then checks that exactly one number of each oneof group is given.
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

// check returns the error for an invalid value.
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

// checkText returns the error for text that is not a choice. For a program the values of the tag
// also are choices too.
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

// groups returns the fields of each oneof group, in order.
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

// checkGroup checks that exactly one number of a group is given.
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

// unquoted is a value that a message shows without quotes.
type unquoted string

// together returns the error for two or more given parameters of a oneof group.
func together(names []string) error {
	return &fault.ParamError{
		Param: names[0],
		Value: unquoted("given together with " + strings.Join(names[1:], " and ")),
		Want:  "one of them: they set the same number",
	}
}
