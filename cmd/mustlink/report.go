package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// number is a figure whose JSON is null where it is not defined.
type number float64

func (v number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// String writes four digits after the point, enough for scores.
func (v number) String() string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return strconv.FormatFloat(float64(v), 'f', 4, 64)
}

// warn prints a warning to standard error and keeps it for the JSON report.
func (a *app) warn(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	a.warnings = append(a.warnings, message)
	fmt.Fprintln(a.stderr, "mustlink: warning: "+message)
}

// allWarnings returns the warnings for a JSON report: never nil, so that the field is
// always a list.
func (a *app) allWarnings() []string {
	return append([]string{}, a.warnings...)
}

// print writes the figures that a command exists to show: v as JSON with --json, else text.
func (a *app) print(v any, text func(w io.Writer)) error {
	return a.printTo(a.stdout, v, text)
}

// summarise is print for commands whose product is a file: nothing with --quiet (unless
// --json asks for it), and on standard error when standard output holds the product.
func (a *app) summarise(product string, v any, text func(w io.Writer)) error {
	w := a.stdout
	if product == stream {
		w = a.stderr
	}
	if a.quiet && !a.json {
		return nil
	}
	return a.printTo(w, v, text)
}

func (a *app) printTo(w io.Writer, v any, text func(w io.Writer)) error {
	if a.json {
		return encodeJSON(w, v)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	text(tw)
	return tw.Flush()
}

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// plural writes "1 row", "2 rows".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// joined writes numbers with a separator between them.
func joined(numbers []int, separator string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", separator)
}

// quantile returns the value below which the fraction q of the values lies, the lower one
// of two; NaN without values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}
