// Package system parses the systems that a comparison names: a method, and parameters that differ
// from its defaults.
package system

import (
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
)

// Parse splits "gml gamma=3 kernel=linear" into the method and its parameters. Text of another form
// is a *fault.ParamError.
func Parse(text string) (method string, values map[string]string, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", nil, &fault.ParamError{Param: "system", Value: text,
			Want: "a method, and NAME=VALUE for each parameter that differs from its default"}
	}
	values = map[string]string{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return "", nil, &fault.ParamError{Param: "system", Value: text,
				Want: "NAME=VALUE after the method"}
		}
		values[name] = value
	}
	return words[0], values, nil
}

// Learner returns the learner of a method of the catalog with these parameters; the value of
// "kernel" is its kernel. The errors are those of catalog.New.
func Learner(method string, values map[string]string, seed uint64) (algorithms.Learner, error) {
	c := catalog.Config{Seed: seed, Kernel: values["kernel"], Params: map[string]string{}}
	for name, value := range values {
		if name != "kernel" {
			c.Params[name] = value
		}
	}
	return catalog.New(method, c)
}
