package fittimes

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Growth is the exponent p of a time that is proportional to size^p.
type Growth struct {
	Exponent float64 `json:"exponent"`
	// Error is the standard error of the exponent; it is 0 if the times follow a power law.
	Error float64 `json:"standard_error"`
	// R2 is the share of the variance of log time that the law explains, 1 if the variance is 0.
	R2 float64 `json:"r2"`
}

// Measure fits a power law to the times of at least three sizes, by least squares of the
// logarithms. Sizes and times must be positive, and the sizes must not all be the same; otherwise
// the error is a *fault.ParamError.
func Measure(sizes, seconds []float64) (Growth, error) {
	n := len(sizes)
	if n < 3 || len(seconds) != n {
		return Growth{}, &fault.ParamError{Param: "sizes", Value: n,
			Want: "at least three sizes, and a time for each"}
	}
	x, err := logarithms("size", sizes)
	if err != nil {
		return Growth{}, err
	}
	y, err := logarithms("time", seconds)
	if err != nil {
		return Growth{}, err
	}
	var sxx, sxy, syy float64
	mx, my := mean(x), mean(y)
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	if sxx == 0 {
		return Growth{}, &fault.ParamError{Param: "sizes", Value: sizes[0], Want: "different sizes"}
	}
	g := Growth{Exponent: sxy / sxx, R2: 1}
	rest := 0.0
	for i := range x {
		e := y[i] - my - g.Exponent*(x[i]-mx)
		rest += e * e
	}
	g.Error = math.Sqrt(rest / float64(n-2) / sxx)
	if syy > 0 {
		g.R2 = 1 - rest/syy
	}
	return g, nil
}

func logarithms(name string, values []float64) ([]float64, error) {
	logs := make([]float64, len(values))
	for i, v := range values {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, &fault.ParamError{Param: name, Value: v, Want: "a number > 0"}
		}
		logs[i] = math.Log(v)
	}
	return logs, nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func (g Growth) String() string { return fmt.Sprintf("%.2f ± %.2f (%.3f)", g.Exponent, g.Error, g.R2) }
