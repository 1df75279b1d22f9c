package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/bench/panels"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/internal/view"
)

// Markdown returns the cross table as a page.
func (c *Cross) Markdown() (string, error) {
	summaries, err := c.Summaries()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Cross table: all systems on %d data sets\n\n", len(c.Results))
	fmt.Fprintf(&b, "Means over the sets, each the mean of %d repetitions.\n\n",
		c.Results[0].Repetitions)
	c.overview(&b, summaries)
	c.quality(&b, summaries, "balanced Rand", trainingRand, heldOutRand)
	c.quality(&b, summaries, "5-NN accuracy", trainingNeighbors, heldOutNeighbors)
	c.columns(&b, summaries, "## MAP and AUC of held-out rows, against raw points", []string{"MAP", "AUC"},
		heldOutPrecision, heldOutPrecision, heldOutAUC)
	if len(c.Results) > 1 {
		if err := c.ranks(&b); err != nil {
			return "", err
		}
	}
	for _, m := range []int{trainingRand, heldOutRand, heldOutNeighbors} {
		c.bySet(&b, m)
	}
	c.failures(&b)
	provenance(&b, "cross", c.Results, c.Missing, c.Build, c.Seconds)
	return b.String(), nil
}

// overview writes the means of all measures.
func (c *Cross) overview(b *strings.Builder, summaries []Summary) {
	b.WriteString("| system |")
	for _, m := range Measures() {
		fmt.Fprintf(b, " %s |", m)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", measures) + "\n")
	for _, s := range summaries {
		fmt.Fprintf(b, "| %s |", s.System)
		for m, v := range s.Mean {
			fmt.Fprintf(b, " %s |", number(v, m >= fitSeconds))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "\nEvery method runs with its defaults, which the CSV lists, on one thread; times are medians. "+
		"The CSV also compares each system with raw points: %.0f %% intervals over draws of rows and links, "+
		"the number of sets where it is ahead, and Wilcoxon's p over the sets, two-sided and not corrected for "+
		"the number of systems.\n\n", 100*level)
}

// quality writes a measure with its intervals and compares it with that of raw points.
func (c *Cross) quality(b *strings.Builder, summaries []Summary, name string, training, heldOut int) {
	c.columns(b, summaries, "## "+name+", against raw points", []string{"training", "held-out"}, heldOut,
		training, heldOut)
}

// columns writes measures with their intervals, the number of sets where each system is above raw
// points, and the probability of that by chance. The systems are in the order of the measure best.
func (c *Cross) columns(b *strings.Builder, summaries []Summary, title string, names []string, best int,
	list ...int) {
	fmt.Fprintf(b, "%s\n\n| system |", title)
	for _, name := range names {
		fmt.Fprintf(b, " %s | above raw on | p |", name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: | ---: | ---: |", len(names)) + "\n")
	order := slices.Clone(summaries)
	slices.SortStableFunc(order, func(x, y Summary) int { return cmp.Compare(y.Mean[best], x.Mean[best]) })
	for _, s := range order {
		fmt.Fprintf(b, "| %s |", s.System)
		for _, m := range list {
			fmt.Fprintf(b, " %.3f [%.3f, %.3f] |", s.Mean[m], s.Interval[m].Low, s.Interval[m].High)
			if s.System == Raw {
				b.WriteString(" | |")
			} else {
				fmt.Fprintf(b, " %d of %d | %s |", s.Above[m], len(c.Results), probability(s.P[m]))
			}
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// ranks writes mean ranks.
func (c *Cross) ranks(b *strings.Builder) error {
	b.WriteString("## Mean ranks\n\n| system | balanced Rand, training | balanced Rand, held-out | 5-NN " +
		"accuracy, held-out |\n| --- | ---: | ---: | ---: |\n")
	var all []*statistics.Ranking
	for _, m := range []int{trainingRand, heldOutRand, heldOutNeighbors} {
		r, err := c.Ranking(m)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	for _, i := range byRank(all[1].Mean) {
		fmt.Fprintf(b, "| %s | %.1f | %.1f | %.1f |\n", c.Systems[i], all[0].Mean[i], all[1].Mean[i],
			all[2].Mean[i])
	}
	fmt.Fprintf(b, "\nRank 1 is best. Mean ranks differ if they are more than %.1f apart (Nemenyi, 0.05 "+
		"over all pairs). Friedman's test that all systems are equal has p %s, %s and %s.\n\n",
		all[0].Critical, probability(all[0].P), probability(all[1].P), probability(all[2].P))
	return nil
}

// byRank returns the order of the ranks; equal ranks keep their order.
func byRank(mean []float64) []int {
	order := make([]int, len(mean))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(mean[i], mean[j]) })
	return order
}

// bySet writes a measure of every system on every set.
func (c *Cross) bySet(b *strings.Builder, measure int) {
	fmt.Fprintf(b, "## %s, by data set\n\n| set |", Measures()[measure])
	for _, s := range c.Systems {
		fmt.Fprintf(b, " %s |", s)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(c.Systems)) + "\n")
	for _, r := range c.Results {
		fmt.Fprintf(b, "| %s |", strings.TrimPrefix(r.Table.Name, "cross-"))
		for i := range c.Systems {
			v := r.Ours[i][measure]
			if math.IsNaN(v.SD) {
				fmt.Fprintf(b, " %s |", number(v.Mean, false))
			} else {
				fmt.Fprintf(b, " %.3f ± %.3f |", v.Mean, v.SD)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// failures writes which systems failed, on which sets and how often.
func (c *Cross) failures(b *strings.Builder) {
	var lines []string
	for i, system := range c.Systems {
		for _, r := range c.Results {
			n := 0
			for _, trial := range r.Trials {
				if math.IsNaN(trial[i][trainingRand]) {
					n++
				}
			}
			if n > 0 {
				lines = append(lines,
					fmt.Sprintf("- %s on %s: %d of %d repetitions.", system,
						strings.TrimPrefix(r.Table.Name, "cross-"), n, r.Repetitions))
			}
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "## Failures\n\n%s\n\n", strings.Join(lines, "\n"))
	}
}

// Panels returns the panels of the picture: mean ranks on training rows and on held-out rows.
func (c *Cross) Panels() ([]view.Panel, error) {
	var drawn []view.Panel
	for _, m := range []int{trainingRand, heldOutRand} {
		r, err := c.Ranking(m)
		if err != nil {
			return nil, err
		}
		p := panels.Ranks{Title: Measures()[m] + " rows", XLabel: "mean rank; bars apart differ",
			Critical: r.Critical}
		for _, i := range byRank(r.Mean) {
			method, err := catalog.Lookup(c.Systems[i])
			p.Names, p.Mean = append(p.Names, c.Systems[i]), append(p.Mean, r.Mean[i])
			p.Emphasized = append(p.Emphasized, err == nil && !method.Baseline)
		}
		drawn = append(drawn, view.Drawing(p.Draw))
	}
	return drawn, nil
}

// provenance writes the set-up of the run, its command and its build.
func provenance(b *strings.Builder, command string, results []*paper.Result, missing []string,
	build paper.Build, seconds float64) {
	b.WriteString("## Set-up\n\n")
	lines := results[0].Table.Setup
	common := setup(nil, Links{})
	common = common[:len(common)-1] // without the line about defaults
	if command != "cross" && slices.Contains(lines, common[0]) {
		lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return slices.Contains(common, line)
		})
		b.WriteString("- Rows, features, links and k-means are those of [cross](cross.md).\n")
	}
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if len(missing) > 0 {
		fmt.Fprintf(b, "- Missing: %s.\n", strings.Join(missing, ", "))
	}
	resumed := 0
	for _, r := range results {
		resumed += r.Resumed
	}
	fmt.Fprintf(b, "\n## Made with\n\n    mustlink-bench %s --repetitions %d --seed %d --data DIR\n\n- "+
		"Date: %s\n- Build: %s\n- Wall time: %s", command, results[0].Repetitions, results[0].Seed,
		time.Now().UTC().Format(time.DateOnly), build,
		time.Duration(seconds*float64(time.Second)).Round(time.Second))
	if resumed > 0 {
		fmt.Fprintf(b, "; %d repetitions were taken from a state file", resumed)
	}
	b.WriteByte('\n')
}

func number(v float64, time bool) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case time && v < 0.1:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
