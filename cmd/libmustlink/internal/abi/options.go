package abi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// engineOptions are the options of mustlink_engine_new.
type engineOptions struct {
	Workers     int    `json:"workers"`
	MemoryLimit int64  `json:"memory_limit"`
	Backend     string `json:"backend"`
	SIMD        string `json:"simd"`
	BLASThreads int    `json:"blas_threads"`
}

// fitOptions are the options of mustlink_fit.
type fitOptions struct {
	Kernel      string           `json:"kernel"`
	Params      map[string]value `json:"params"`
	Seed        *uint64          `json:"seed"`
	Standardize bool             `json:"standardize"`
	TFIDF       bool             `json:"tfidf"`
	Features    []string         `json:"features"`
	Quadruplets []quadruplet     `json:"quadruplets"`
	Targets     []float64        `json:"targets"`
}

// updateOptions are the options of mustlink_update.
type updateOptions struct {
	Extend   bool `json:"extend"`
	DropLast int  `json:"drop_last"`
}

// value is a parameter as text. In JSON it may be a string, a number or a boolean.
type value string

// UnmarshalJSON keeps the digits of a number unchanged.
func (v *value) UnmarshalJSON(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, `"`) {
		return json.Unmarshal(b, (*string)(v))
	}
	if text == "null" || strings.ContainsAny(text[:1], "[{") {
		return fmt.Errorf("%s: want a text, a number, true or false", text)
	}
	*v = value(text)
	return nil
}

// quadruplet is a comparison in JSON: four rows.
type quadruplet links.Quadruplet

// UnmarshalJSON accepts a list of four integers.
func (q *quadruplet) UnmarshalJSON(b []byte) error {
	var rows []int
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 4 {
		return fmt.Errorf("quadruplet %s: want a list of four rows", b)
	}
	*q = quadruplet{I: rows[0], J: rows[1], K: rows[2], L: rows[3]}
	return nil
}

// quadruplets returns the comparisons, nil for none.
func (o *fitOptions) quadruplets() (list []links.Quadruplet) {
	for _, q := range o.Quadruplets {
		list = append(list, links.Quadruplet(q))
	}
	return list
}

// params returns the parameters as text by name.
func (o *fitOptions) params() map[string]string {
	out := make(map[string]string, len(o.Params))
	for name, v := range o.Params {
		out[name] = string(v)
	}
	return out
}

// seed returns the given seed, or the default of the command.
func (o *fitOptions) seed() uint64 {
	if o.Seed == nil {
		return 1
	}
	return *o.Seed
}

// parse reads a JSON object into o. Missing members, or an empty text, leave the values of o
// unchanged.
func parse(text string, o any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		return optionError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return optionError(errors.New("there is more text after the object"))
	}
	return nil
}

func optionError(err error) error {
	text := strings.TrimPrefix(err.Error(), "json: ")
	return fault.Data("", "options: %s: want a JSON object of known options", text)
}

// check requires a name for every feature or none, and at most one of standardize and tfidf.
func (o *fitOptions) check(features int) error {
	if o.Features != nil && len(o.Features) != features {
		return &fault.ShapeError{What: "number of names of features", Got: len(o.Features), Want: fmt.Sprint(features)}
	}
	if o.Standardize && o.TFIDF {
		return &fault.ParamError{Param: "standardize", Value: true, Want: "one of standardize and tfidf"}
	}
	return nil
}

// options returns the options of the library.
func (o *fitOptions) options() []mustlink.Option {
	out := []mustlink.Option{mustlink.Kernel(o.Kernel), mustlink.Seed(o.seed()), mustlink.Targets(o.Targets)}
	for name, v := range o.Params {
		out = append(out, mustlink.Param(name, string(v)))
	}
	if o.Standardize {
		out = append(out, mustlink.Standardize())
	}
	if o.TFIDF {
		out = append(out, mustlink.TFIDF())
	}
	return out
}
