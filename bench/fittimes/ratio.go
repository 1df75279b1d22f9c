package fittimes

import (
	"strings"

	"github.com/mustlink/mustlink/bench/measure"
)

// The names of the builds.
const (
	Default = "default"
	Netlib  = "netlib"
	PureGo  = "purego"
)

// Ratio is the time of another build for a case, divided by that of the first build.
type Ratio struct {
	Case    Case           `json:"case"`
	Build   string         `json:"build"`
	Seconds float64        `json:"seconds"` // of the first build
	Ratio   measure.Spread `json:"ratio"`
	// Want is the minimum ratio that is aimed at, 0 for none.
	Want float64 `json:"want,omitempty"`
}

// Met reports whether the median reaches the aim.
func (r Ratio) Met() bool { return r.Ratio.Median >= r.Want }

// Ratios returns the ratios of all builds but the first.
func Ratios(measurements []Measurement) []Ratio {
	var out []Ratio
	for _, f := range measurements {
		for _, e := range f.Entries[1:] {
			r := Ratio{Case: f.Case, Build: e.Name, Seconds: f.Entries[0].Seconds.Median, Ratio: e.Ratio}
			if f.Entries[0].Name == Default {
				r.Want = want(f.Case, e.Name)
			}
			out = append(out, r)
		}
	}
	return out
}

// Compared returns the systems that compare the builds: all methods, and npkl on the graph of all
// pairs.
func Compared() []string { return append(Methods(), "npkl graph=dense") }

// bound reports whether a method spends most of a fit in decompositions of symmetric matrices.
func bound(method string) bool {
	switch method {
	case "krca", "kbeta", "kpca", "spectral", "cmvu", "simplenpkl", "npk":
		return true
	}
	return false
}

// want returns the minimum ratio that the default build aims at: at most 1.2 times slower than
// OpenBLAS, 1.3 times in decompositions, and at least 5 times as fast as pure Go where matrix
// products dominate large problems.
func want(c Case, build string) float64 {
	name, _, _ := strings.Cut(c.Method, " ")
	switch {
	case build == Netlib && bound(name):
		return 1 / 1.3
	case build == Netlib:
		return 1 / 1.2
	case build == PureGo && c.Points >= 2000:
		switch c.Method {
		case "krca", "kbeta", "npkl graph=dense", "gml":
			return 5
		}
	}
	return 0
}
