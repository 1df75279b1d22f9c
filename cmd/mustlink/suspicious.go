package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/mustlink/mustlink/algorithms/suspicion"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// suspiciousLink is a link that the other links and the points speak against.
type suspiciousLink struct {
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

// judged ranks links by suspicion; x are the points as a learner takes them, d their file.
func (a *app) judged(ctx context.Context, eng *engine.Engine, d *dataset.Data, x points.Points, set *links.Set, path string, seed uint64) (*suspicion.Result, error) {
	o, err := suspicion.DefaultOptions(seed)
	if err != nil {
		return nil, err
	}
	bar := a.Progress()
	defer bar.Done()
	o.Progress = bar.Report
	r, err := suspicion.Rank(ctx, eng, x, set, o)
	if err != nil {
		return nil, fault.InFile(err, session.NameOr(path, d.Name))
	}
	bar.Done()
	for _, notice := range r.Notices {
		a.Warnf("%s", notice)
	}
	return r, nil
}

// mostSuspicious returns the first links of a ranking, at most count.
func mostSuspicious(r *suspicion.Result, d *dataset.Data, count int) []suspiciousLink {
	out := []suspiciousLink{}
	for _, s := range r.Suspects[:min(count, len(r.Suspects))] {
		l := suspiciousLink{I: s.Link.I, J: s.Link.J, Link: s.Link.Sign.String(), Line: s.Link.Line, Score: s.Score, Distance: s.Distance, Reason: s.Reason()}
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

// rows names the rows of the link, by id where there are some.
func (l suspiciousLink) rows() string {
	text := fmt.Sprintf("%d-%d", l.I, l.J)
	if l.IDs != nil {
		text = l.IDs[0] + " - " + l.IDs[1]
	}
	if l.Line > 0 {
		text += fmt.Sprintf(" (line %d)", l.Line)
	}
	return text
}

func suspiciousText(w io.Writer, list []suspiciousLink) {
	fmt.Fprintf(w, "most suspicious links\t%d, judged by metrics learned without them; a score above 0 is wrong more likely than not\n", len(list))
	for _, l := range list {
		fmt.Fprintf(w, "\t%s-link %s: score %.2f; %s\n", l.Link, l.rows(), l.Score, l.Reason)
	}
}

// checkDrop reports a share of links that cannot be left out.
func checkDrop(check *session.Checks, share float64) {
	check.Refuse(!(share >= 0 && share < 1), "--drop-suspicious is %v: want the share of links to leave out, 0 to below 1", share)
}

// dropSuspicious leaves the most suspicious links out.
func (a *app) dropSuspicious(ctx context.Context, eng *engine.Engine, fl *fitFlags, d *dataset.Data, set *links.Set) (*links.Set, []suspiciousLink, error) {
	r, err := a.judged(ctx, eng, d, d.Points, set, fl.links.path, fl.seed)
	if err != nil {
		return nil, nil, err
	}
	count := int(math.Round(fl.drop * float64(set.Len())))
	kept, err := r.Without(min(count, set.Len()-1))
	return kept, mostSuspicious(r, d, count), err
}
