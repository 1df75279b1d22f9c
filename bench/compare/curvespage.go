package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/internal/view"
)

// column returns the column of a draw.
func column(draw int, heldOut bool) int {
	if heldOut {
		return perDraw*draw + 1
	}
	return perDraw * draw
}

// Markdown returns the curves as a page of tables with the balanced Rand index of training rows and
// that of held-out rows.
func (c *Curves) Markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Learning curves: number of links and share of wrong links\n\n")
	fmt.Fprintf(&b, "Balanced Rand index of k-means, mean of %d repetitions, training rows / held-out "+
		"rows. Where a set has fewer pairs than the number of links, all pairs are links.\n\n",
		c.Results[0].Repetitions)
	fmt.Fprintf(&b, "## Mean over the %d sets\n\n", len(c.Results))
	c.table(&b, c.overall)
	for s := range c.Results {
		fmt.Fprintf(&b, "## %s\n\n", c.set(s))
		c.table(&b, func(system, col int) float64 { return c.Results[s].Ours[system][col].Mean })
	}
	provenance(&b, "curves", c.Results, c.Missing, c.Build, c.Seconds)
	return b.String(), nil
}

func (c *Curves) set(k int) string { return strings.TrimPrefix(c.Results[k].Table.Name, "curves-") }

// overall returns the mean of a column over the sets. It is NaN if the system failed in all
// repetitions of a set.
func (c *Curves) overall(system, col int) float64 {
	sum := 0.0
	for _, r := range c.Results {
		sum += r.Ours[system][col].Mean
	}
	return sum / float64(len(c.Results))
}

// table writes the draws as columns.
func (c *Curves) table(b *strings.Builder, value func(system, col int) float64) {
	for _, part := range [][]int{upTo(0, len(c.Counts)), upTo(len(c.Counts), len(c.Counts)+len(c.Wrong))} {
		b.WriteString("| system |")
		for _, k := range part {
			fmt.Fprintf(b, " %s |", draws()[k].name)
		}
		b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(part)) + "\n")
		for i, system := range c.Systems {
			fmt.Fprintf(b, "| %s |", system)
			for _, k := range part {
				fmt.Fprintf(b, " %s / %s |", number(value(i, column(k, false)), false),
					number(value(i, column(k, true)), false))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
}

func upTo(from, to int) []int {
	var out []int
	for k := from; k < to; k++ {
		out = append(out, k)
	}
	return out
}

// Panels draws the five methods and raw points: the mean over the sets against the number of links
// and against the share of wrong links, for training rows and for held-out rows, with the interval
// over draws of rows and links.
func (c *Curves) Panels() ([]view.Panel, error) {
	var panels []view.Panel
	for _, heldOut := range []bool{false, true} {
		rows := "training rows"
		if heldOut {
			rows = "held-out rows"
		}
		links := view.Lines{Title: "balanced Rand index, " + rows, XLabel: "links", LogX: true}
		wrong := view.Lines{Title: "balanced Rand index, " + rows, XLabel: "wrong links, %"}
		for i, system := range c.Systems {
			if m, err := catalog.Lookup(system); err == nil && m.Baseline {
				continue
			}
			a, b := view.Series{Name: system, Markers: true}, view.Series{Name: system, Markers: true}
			for k, n := range c.Counts {
				if err := c.add(&a, float64(n), i, column(k, heldOut)); err != nil {
					return nil, err
				}
			}
			for k, w := range c.Wrong {
				if err := c.add(&b, 100*w, i, column(len(c.Counts)+k, heldOut)); err != nil {
					return nil, err
				}
			}
			links.Series, wrong.Series = append(links.Series, a), append(wrong.Series, b)
		}
		panels = append(panels, links, wrong)
	}
	return panels, nil
}

// add adds a column to a line, unless the system failed there.
func (c *Curves) add(s *view.Series, x float64, system, col int) error {
	y := c.overall(system, col)
	if math.IsNaN(y) {
		return nil
	}
	in, err := statistics.BootstrapMean(groups(c.Results, system, col), level, uint64(col))
	if err != nil {
		return err
	}
	s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, y), append(s.Low, in.Low), append(s.High, in.High)
	return nil
}
