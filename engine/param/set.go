package param

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Setter is implemented by (pointers to) parameter structs in which one text can set several
// fields, such as a graph with its radius.
type Setter interface {
	// SetText sets the named parameter. It returns false and changes nothing if text is an ordinary
	// value of the field.
	SetText(name, text string) (bool, error)
}

// Set parses the given texts into the struct that params points to, in the order of names, so that
// the first of several mistakes is always the same. Spaces around a text are ignored. A given
// member of a oneof group replaces the default of the group. The error is a *fault.ParamError;
// method is the owner of the parameters in messages.
func Set(params any, method string, given map[string]string) error {
	list := all(params)
	if err := startGroups(list, given); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := slices.IndexFunc(list, func(f field) bool { return f.name == name })
		if at < 0 {
			return fault.Unknown("parameter of "+method, name, names(list))
		}
		if err := list[at].set(strings.TrimSpace(given[name])); err != nil {
			return err
		}
	}
	return nil
}

func names(list []field) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	return out
}

// startGroups clears the defaults of groups with a given member, and refuses two given members.
func startGroups(list []field, given map[string]string) error {
	for _, group := range groups(list) {
		var found []string
		for _, f := range group {
			if _, is := given[f.name]; is {
				found = append(found, f.name)
			}
		}
		if len(found) > 1 {
			return together(found)
		}
		for _, f := range group {
			if len(found) > 0 {
				f.value.SetZero()
			}
		}
	}
	return nil
}

// set parses the text of one parameter.
func (f field) set(text string) error {
	if s, is := f.owner.Addr().Interface().(Setter); is {
		if done, err := s.SetText(f.name, text); done || err != nil {
			return err
		}
	}
	switch f.kind() {
	case Int:
		return f.setInt(text)
	case Float:
		v, named := f.named(text)
		if !named {
			var err error
			if v, err = strconv.ParseFloat(text, 64); err != nil || !f.inRange(v) {
				return f.refuse(text)
			}
		}
		f.value.SetFloat(v)
	case Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return f.refuse(text)
		}
		f.value.SetBool(v)
	case Text:
		if err := f.checkText(text, false); err != nil {
			return err
		}
		f.value.SetString(text)
	}
	return nil
}

func (f field) setInt(text string) error {
	if v, named := f.named(text); named {
		f.value.SetInt(int64(v))
		return nil
	}
	v, err := strconv.Atoi(text)
	switch {
	case err != nil || !f.inRange(float64(v)):
		return f.refuse(text)
	case v > math.MaxInt32:
		return &fault.ParamError{Param: f.name, Value: text, Want: "an integer <= " + strconv.Itoa(math.MaxInt32)}
	}
	f.value.SetInt(int64(v))
	return nil
}

// refuse returns the error for an invalid value.
func (f field) refuse(value any) error {
	return &fault.ParamError{Param: f.name, Value: value, Want: f.want()}
}

// want describes the valid values.
func (f field) want() string {
	s := "a number"
	switch f.kind() {
	case Bool:
		return "true or false"
	case Int:
		s = "an integer"
	}
	bounds := f.bounds()
	low, high, both := strings.Cut(bounds, ", ")
	if f.kind() == Float && !both {
		s = "a finite number"
	}
	least, closed := strings.CutPrefix(low, ">= ")
	if most, is := strings.CutPrefix(high, "<= "); closed && is {
		s += " from " + least + " to " + most
	} else if bounds != "" {
		s += " " + strings.ReplaceAll(bounds, ", ", " and ")
	}
	for _, w := range f.words() {
		s += ", or " + w.Name
	}
	if zero := f.tag("zero"); zero != "" {
		s += " (0: " + zero + ")"
	}
	return s
}
