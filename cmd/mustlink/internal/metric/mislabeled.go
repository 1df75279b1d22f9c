package metric

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// SuspiciousLink is a link that the other links and the points contradict.
type SuspiciousLink struct {
	I        int      `json:"i"`
	J        int      `json:"j"`
	IDs      []string `json:"ids,omitempty"` // of the two rows
	Link     string   `json:"link"`
	Line     int      `json:"line,omitempty"`
	Score    float64  `json:"score"`                     // logarithm of the odds that it is wrong
	Distance float64  `json:"relative_squared_distance"` // judged without it, 1 for random pairs
	Path     string   `json:"contradiction,omitempty"`
	Reason   string   `json:"reason"`
}

// RankLinks ranks links by how likely they are mislabeled. x are the points as a learner takes
// them, d is their file.
func (m *Metric) RankLinks(ctx context.Context, d *dataset.Data, x points.Points, set *links.Set, path string,
	seed uint64) (*labelnoise.Result, error) {
	o, err := labelnoise.DefaultOptions(seed)
	if err != nil {
		return nil, err
	}
	bar := m.Progress()
	defer bar.Done()
	o.Progress = bar.Report
	r, err := labelnoise.Rank(ctx, m.Eng, x, set, o)
	if err != nil {
		return nil, fault.InFile(err, session.NameOr(path, d.Name))
	}
	bar.Done()
	m.WarnOf("", r.Notices)
	return r, nil
}

// FirstLinks returns the first links of a ranking, at most count.
func FirstLinks(r *labelnoise.Result, d *dataset.Data, count int) []SuspiciousLink {
	out := []SuspiciousLink{}
	for _, s := range r.Links[:min(count, len(r.Links))] {
		l := SuspiciousLink{I: s.Link.I, J: s.Link.J, Link: s.Link.Sign.String(), Line: s.Link.Line,
			Score: s.Score, Distance: s.Distance, Reason: s.Reason()}
		if d.IDs != nil {
			l.IDs = []string{d.IDs[l.I], d.IDs[l.J]}
		}
		if s.Conflict != nil {
			l.Path = s.Conflict.String()
		}
		out = append(out, l)
	}
	return out
}

// Rows names the rows of the link, by id if they have ids.
func (l SuspiciousLink) Rows() string {
	text := fmt.Sprintf("%d-%d", l.I, l.J)
	if l.IDs != nil {
		text = l.IDs[0] + " - " + l.IDs[1]
	}
	if l.Line > 0 {
		text += fmt.Sprintf(" (line %d)", l.Line)
	}
	return text
}

func listText(w io.Writer, list []SuspiciousLink) {
	fmt.Fprintf(w, "most suspicious links\t%d, by metrics learned without them; a link with a score above "+
		"0 is more likely wrong than right\n", len(list))
	for _, l := range list {
		fmt.Fprintf(w, "\t%s-link %s: score %.2f; %s\n", l.Link, l.Rows(), l.Score, l.Reason)
	}
}

// LinkFit describes how well the learned metric satisfies links.
type LinkFit struct {
	TrainingData bool           `json:"training_data"` // the data are those of the fit
	Must         int            `json:"must_links"`
	Cannot       int            `json:"cannot_links"`
	MedianMust   session.Number `json:"median_must"` // squared distances
	MedianCannot session.Number `json:"median_cannot"`
	MedianRandom session.Number `json:"median_random"`
	Violated     []Violation    `json:"violated"`
	Conflicts    []string       `json:"conflicts"`
	// Suspicious are the links that other links contradict; nil unless they were requested.
	Suspicious []SuspiciousLink `json:"suspicious,omitempty"`
}

// Violation is a link that the metric violates.
type Violation struct {
	I        int     `json:"i"`
	J        int     `json:"j"`
	Link     string  `json:"link"`
	Line     int     `json:"line,omitempty"`
	Apart    float64 `json:"distance"`
	Distance float64 `json:"squared_distance"` // deprecated: its square
	// maximum of the square for a must-link, minimum for a cannot-link
	Bound  float64 `json:"expected"`
	excess float64
}

// MeasureLinks returns the distances of links under a metric, and the violated links.
func MeasureLinks(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points,
	set *links.Set) (*LinkFit, error) {
	must, err := m.Distances(ctx, eng, x, source.Pairs(set.Must()))
	if err != nil {
		return nil, err
	}
	cannot, err := m.Distances(ctx, eng, x, source.Pairs(set.Cannot()))
	if err != nil {
		return nil, err
	}
	random, err := m.Distances(ctx, eng, x, randomPairs(x.Len()))
	if err != nil {
		return nil, err
	}
	near, typical := session.Quantile(must, 0.5), session.Quantile(random, 0.5)
	f := &LinkFit{
		Must: len(must), Cannot: len(cannot),
		MedianMust: session.Number(near), MedianCannot: session.Number(session.Quantile(cannot, 0.5)),
		MedianRandom: session.Number(typical),
		Violated:     []Violation{}, Conflicts: []string{},
	}
	for _, c := range set.Conflicts() {
		f.Conflicts = append(f.Conflicts, c.String())
	}
	if len(must) == 0 {
		near = session.Quantile(random, 0.05)
	}
	for k, l := range set.Must() {
		f.assess(l, must[k], typical, must[k]-typical)
	}
	for k, l := range set.Cannot() {
		f.assess(l, cannot[k], near, near-cannot[k])
	}
	slices.SortStableFunc(f.Violated, func(a, b Violation) int { return cmp.Compare(b.excess, a.excess) })
	return f, nil
}

func (f *LinkFit) assess(l links.Link, distance, bound, excess float64) {
	if excess > 0 {
		f.Violated = append(f.Violated,
			Violation{l.I, l.J, l.Sign.String(), l.Line, math.Sqrt(distance), distance,
				bound, excess})
	}
}

// randomPairs draws pairs of different rows, the same for the same n.
func randomPairs(n int) [][2]int {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	pairs := make([][2]int, 2000)
	for k := range pairs {
		pairs[k] = source.RandomPair(rng, n)
	}
	return pairs
}

// Text writes the violated links, at most so many.
func (f *LinkFit) Text(w io.Writer, most int) {
	which := "data that differ from those of the fit"
	if f.TrainingData {
		which = "training rows: the model may have learned from these links"
	}
	fmt.Fprintf(w, "links\t%d must, %d cannot, on %s\n", f.Must, f.Cannot, which)
	fmt.Fprintf(w, "median squared distance\tmust %.4g, cannot %.4g, random pairs %.4g\n",
		float64(f.MedianMust), float64(f.MedianCannot), float64(f.MedianRandom))
	for _, c := range f.Conflicts {
		fmt.Fprintf(w, "contradiction\t%s\n", c)
	}
	fmt.Fprintf(w, "violated links\t%d\n", len(f.Violated))
	for k, v := range f.Violated {
		if k == most {
			fmt.Fprintf(w, "\tand %d more\n", len(f.Violated)-most)
			break
		}
		side := "at most"
		if v.Link == links.Cannot.String() {
			side = "at least"
		}
		line := ""
		if v.Line > 0 {
			line = fmt.Sprintf(" (line %d)", v.Line)
		}
		fmt.Fprintf(w, "\t%s-link %d-%d%s: squared distance %.4g, expected %s %.4g\n", v.Link, v.I, v.J, line,
			v.Distance, side, v.Bound)
	}
	if f.Suspicious != nil {
		listText(w, f.Suspicious)
	}
}
