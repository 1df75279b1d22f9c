// Package suspicious finds links that look wrong: those that a metric violates, and those that other links speak
// against.
package suspicious

import (
	"context"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/algorithms/suspicion"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// Link is a link that the other links and the points speak against.
type Link struct {
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

// Rank ranks links by suspicion; x are the points as a learner takes them, d their file.
func Rank(ctx context.Context, m *metric.Metric, d *dataset.Data, x points.Points, set *links.Set, path string, seed uint64) (*suspicion.Result, error) {
	o, err := suspicion.DefaultOptions(seed)
	if err != nil {
		return nil, err
	}
	bar := m.Progress()
	defer bar.Done()
	o.Progress = bar.Report
	r, err := suspicion.Rank(ctx, m.Eng, x, set, o)
	if err != nil {
		return nil, fault.InFile(err, session.NameOr(path, d.Name))
	}
	bar.Done()
	for _, notice := range r.Notices {
		m.Warnf("%s", notice)
	}
	return r, nil
}

// Most returns the first links of a ranking, at most count.
func Most(r *suspicion.Result, d *dataset.Data, count int) []Link {
	out := []Link{}
	for _, s := range r.Suspects[:min(count, len(r.Suspects))] {
		l := Link{I: s.Link.I, J: s.Link.J, Link: s.Link.Sign.String(), Line: s.Link.Line, Score: s.Score, Distance: s.Distance, Reason: s.Reason()}
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

// Rows names the rows of the link, by id where there are some.
func (l Link) Rows() string {
	text := fmt.Sprintf("%d-%d", l.I, l.J)
	if l.IDs != nil {
		text = l.IDs[0] + " - " + l.IDs[1]
	}
	if l.Line > 0 {
		text += fmt.Sprintf(" (line %d)", l.Line)
	}
	return text
}

func listText(w io.Writer, list []Link) {
	fmt.Fprintf(w, "most suspicious links\t%d, judged by metrics learned without them; a score above 0 is wrong more likely than not\n", len(list))
	for _, l := range list {
		fmt.Fprintf(w, "\t%s-link %s: score %.2f; %s\n", l.Link, l.Rows(), l.Score, l.Reason)
	}
}
