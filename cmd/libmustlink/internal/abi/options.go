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

// engineOptions are those of mustlink_engine_new.
type engineOptions struct {
	Workers     int    `json:"workers"`
	MemoryLimit int64  `json:"memory_limit"`
	Backend     string `json:"backend"`
	SIMD        string `json:"simd"`
	BLASThreads int    `json:"blas_threads"`
}

// fitOptions are those of mustlink_fit.
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

// updateOptions are those of mustlink_update.
type updateOptions struct {
	Extend   bool `json:"extend"`
	DropLast int  `json:"drop_last"`
}

// value is a parameter as a person would write it; JSON may have it as a text, a number or a truth
// value.
type value string

// UnmarshalJSON takes the digits of a number as they stand.
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

// quadruplet is a comparison as JSON has it: four rows.
type quadruplet links.Quadruplet

// UnmarshalJSON takes a list of four whole numbers.
func (q *quadruplet) UnmarshalJSON(b []byte) error {
	var rows []int
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 4 {
		return fmt.Errorf("quadruplet %s: want a list of four rows", b)
	}
	*q = quadruplet{I: rows[0], J: rows[1], K: rows[2], L: rows[3]}
	return nil
}

// quadruplets returns the comparisons as methods take them, nil for none.
func (o *fitOptions) quadruplets() (list []links.Quadruplet) {
	for _, q := range o.Quadruplets {
		list = append(list, links.Quadruplet(q))
	}
	return list
}

// params returns the parameters as the catalog takes them.
func (o *fitOptions) params() map[string]string {
	out := make(map[string]string, len(o.Params))
	for name, v := range o.Params {
		out[name] = string(v)
	}
	return out
}

// seed returns the one given, or that of the command.
func (o *fitOptions) seed() uint64 {
	if o.Seed == nil {
		return 1
	}
	return *o.Seed
}

// parse reads an object of JSON into o, which keeps its values where the text, or all of it, is
// missing.
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
		return optionError(errors.New("more follows after the object"))
	}
	return nil
}

func optionError(err error) error {
	text := strings.TrimPrefix(err.Error(), "json: ")
	return fault.Data("", "options: %s: want a JSON object of the options that there are", text)
}

// check demands as many names as there are features, and one way of changing these.
func (o *fitOptions) check(features int) error {
	if o.Features != nil && len(o.Features) != features {
		return &fault.ShapeError{What: "number of names of features", Got: len(o.Features), Want: fmt.Sprint(features)}
	}
	if o.Standardize && o.TFIDF {
		return &fault.ParamError{Param: "standardize", Value: true, Want: "one of standardize and tfidf"}
	}
	return nil
}

// options returns the options as the library takes them.
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
