package compare

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/statistics"
)

// level is the confidence level of the intervals.
const level = 0.95

// Summary summarizes the values of a system over all sets.
type Summary struct {
	System string `json:"system"`
	// Mean holds the mean of every measure over the sets, but the median of times. It is NaN if the
	// system failed everywhere.
	Mean []float64 `json:"-"`
	// Interval is the interval of every measure over the draws of rows and links, for these sets.
	Interval []statistics.Interval `json:"-"`
	// Above counts the sets on which the mean of a measure is above that of raw points. P is the
	// probability of differences at least as large if neither were better (Wilcoxon).
	Above []int     `json:"-"`
	P     []float64 `json:"-"`
}

// mean returns the mean of a measure over the repetitions, by set and system.
func (c *Cross) mean(measure int) [][]float64 {
	out := make([][]float64, len(c.Results))
	for s, r := range c.Results {
		for i := range c.Systems {
			out[s] = append(out[s], r.Ours[i][measure].Mean)
		}
	}
	return out
}

// Ranking ranks the systems by a measure over the sets. A system that fails on a set ranks last
// there.
func (c *Cross) Ranking(measure int) (*statistics.Ranking, error) {
	return statistics.Rank(c.mean(measure))
}

// Summaries returns one summary for each system.
func (c *Cross) Summaries() ([]Summary, error) {
	out := make([]Summary, len(c.Systems))
	raw := slices.Index(c.Systems, Raw)
	for i, name := range c.Systems {
		s := &out[i]
		s.System = name
		for m := range measures {
			values := groups(c.Results, i, m)
			s.Mean = append(s.Mean, middle(values, m >= fitSeconds))
			in := statistics.Interval{Low: math.NaN(), High: math.NaN()}
			if len(values) > 0 {
				var err error
				if in, err = statistics.BootstrapMean(values, level, uint64(m)); err != nil {
					return nil, err
				}
			}
			s.Interval = append(s.Interval, in)
			above, p := 0, math.NaN()
			if raw >= 0 {
				var err error
				if above, p, err = c.against(i, raw, m); err != nil {
					return nil, err
				}
			}
			s.Above, s.P = append(s.Above, above), append(s.P, p)
		}
	}
	return out, nil
}

// groups returns the values of a system in one column, grouped by set, without NaN.
func groups(results []*paper.Result, system, column int) [][]float64 {
	var out [][]float64
	for _, r := range results {
		var values []float64
		for _, trial := range r.Trials {
			if v := trial[system][column]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	return out
}

// middle returns the mean of the groups' means, or their median.
func middle(groups [][]float64, median bool) float64 {
	var means []float64
	for _, g := range groups {
		means = append(means, average(g))
	}
	if len(means) == 0 {
		return math.NaN()
	}
	if !median {
		return average(means)
	}
	slices.Sort(means)
	return (means[(len(means)-1)/2] + means[len(means)/2]) / 2
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// against compares two systems over the sets on which both have values.
func (c *Cross) against(system, other, measure int) (above int, p float64, err error) {
	var a, b []float64
	for _, row := range c.mean(measure) {
		if x, y := row[system], row[other]; !math.IsNaN(x) && !math.IsNaN(y) {
			a, b = append(a, x), append(b, y)
			if x > y {
				above++
			}
		}
	}
	if len(a) < 2 {
		return above, math.NaN(), nil
	}
	_, p, err = statistics.Wilcoxon(a, b)
	return above, p, err
}
