package catalog

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// setters reads the text of each parameter into a Params struct.
type setters map[string]func(text string) error

// apply calls the setter of every given parameter, in the order of their names, so that of
// several mistakes the same one is always reported.
func (s setters) apply(m Method, given map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		set, ok := s[name]
		if !ok {
			names := make([]string, len(m.Parameters))
			for i, p := range m.Parameters {
				names[i] = p.Name
			}
			return fault.Unknown("parameter of "+m.Name, name, names)
		}
		if err := set(strings.TrimSpace(given[name])); err != nil {
			return err
		}
	}
	return nil
}

// positive returns a setter of a finite number > 0.
func positive(name string, to *float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return &fault.ParamError{Param: name, Value: text, Want: "a finite number > 0"}
		}
		*to = v
		return nil
	}
}

// notNegative returns a setter of a finite number >= 0.
func notNegative(name string, to *float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return &fault.ParamError{Param: name, Value: text, Want: "a finite number >= 0"}
		}
		*to = v
		return nil
	}
}

// number returns a setter for a number whose range the method checks.
func number(name string, to *float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return &fault.ParamError{Param: name, Value: text, Want: "a number"}
		}
		*to = v
		return nil
	}
}

// count returns a setter of an integer >= 0.
func count(name string, to *int) func(string) error {
	return func(text string) error {
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > math.MaxInt32 {
			return &fault.ParamError{Param: name, Value: text, Want: "an integer from 0 to " + strconv.Itoa(math.MaxInt32)}
		}
		*to = v
		return nil
	}
}

// text writes a default as a person would.
func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// flag returns a setter of true or false.
func flag(name string, to *bool) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseBool(text)
		if err != nil {
			return &fault.ParamError{Param: name, Value: text, Want: "true or false"}
		}
		*to = v
		return nil
	}
}
