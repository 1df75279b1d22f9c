package statistics

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Interval is a confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is the number of draws of a bootstrap. With it, the ends of a 95 % interval vary by
// about a twentieth of its length.
const resamples = 2000

// streamBootstrap is the stream of the random numbers of [BootstrapMean].
const streamBootstrap = 0x626f6f74

// BootstrapMean returns an interval for the mean over groups of the means within them: it draws the
// values of every group again with replacement, 2000 times, and keeps the middle share level (0 <
// level < 1) of the results (percentile bootstrap; Efron & Tibshirani 1993, An Introduction to the
// Bootstrap, 13.3). One group of one value gives an interval of length 0. No group, an empty group
// or a value that is not finite is a *fault.DataError. Cost: 2000 draws for each value.
func BootstrapMean(groups [][]float64, level float64, seed uint64) (Interval, error) {
	if !(level > 0 && level < 1) {
		return Interval{}, &fault.ParamError{Param: "level", Value: level, Want: "a number between 0 and 1"}
	}
	if len(groups) == 0 {
		return Interval{}, fault.Data("", "no groups of values: want at least 1")
	}
	for g, values := range groups {
		if len(values) == 0 {
			return Interval{}, fault.Data("", "group %d has no values: want at least 1", g)
		}
		if err := finite(values); err != nil {
			return Interval{}, err
		}
	}
	r := rand.New(rand.NewPCG(seed, streamBootstrap))
	means := make([]float64, resamples)
	for k := range means {
		for _, values := range groups {
			sum := 0.0
			for range values {
				sum += values[r.IntN(len(values))]
			}
			means[k] += sum / float64(len(values)) / float64(len(groups))
		}
	}
	slices.Sort(means)
	return Interval{quantile(means, (1-level)/2), quantile(means, (1+level)/2)}, nil
}

// quantile interpolates between the nearest sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func finite(values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fault.Data("", "value %d is %v: want a finite number", i, v)
		}
	}
	return nil
}
