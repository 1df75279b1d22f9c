package page

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/label"
)

// points maps the points to the plane, clusters them and adds their features.
func (m *maker) points() error {
	p := &m.out.Points
	p.Count, p.IDs, p.Labels = m.Data.Points.Len(), m.Data.IDs, m.Data.Labels
	bar := m.Progress()
	defer bar.Done()
	planes := pictures.Planes{Eng: m.Eng, Kind: m.Plane, Seed: m.Seed, Bar: bar, Sets: len(m.Spaces)}
	for _, v := range m.Spaces {
		var s view.Scatter
		name := pictures.CoordinateName
		if v.Fitted == nil {
			name = m.Column
		}
		if err := planes.Set(m.ctx, &s, v.Y, name); err != nil {
			return err
		}
		if s.NoScale {
			p.Note = planeNote(p.Count)
		}
		shown := view.Layout{Name: v.Title(), XLabel: s.XLabel, YLabel: s.YLabel, X: s.X, Y: s.Y,
			NoScale: s.NoScale, Before: v.Fitted == nil}
		near, err := m.neighbors(v)
		if err != nil {
			return err
		}
		shown.Near = near
		if m.k >= 2 {
			c, err := m.cluster(v.Y, m.Seed)
			if err != nil {
				return err
			}
			shown.Clusters = c.Labels
		}
		p.Views = append(p.Views, shown)
	}
	if x, ok := m.Data.Points.(*points.Dense); ok {
		for j := range min(x.D, m.Features) {
			f := view.Feature{Name: session.Clip(pictures.FeatureName(m.Data, j), session.LongName),
				Values: make([]float64, x.N)}
			for i := range f.Values {
				f.Values[i] = x.Row(i)[j]
			}
			p.Features = append(p.Features, f)
		}
	}
	if m.Set == nil {
		return nil
	}
	if err := m.Eng.Check("all pairs of the chunklets", m.Set.Bytes(),
		"pass links instead of chunklets"); err != nil {
		return err
	}
	p.Must, p.Cannot = source.Pairs(m.Set.Must()), source.Pairs(m.Set.Cannot())
	return nil
}

// planeNote explains a neighbor embedding of n rows.
func planeNote(n int) string {
	note := "Neighbor embedding (t-SNE): near rows stay near, so that clusters are seen; the axes and the " +
		"distances of clusters have no meaning. The planes before and after are turned to each other."
	if n > view.NeighborRows {
		note += fmt.Sprintf(" It embeds %d rows; the others lie between their nearest ones.",
			view.NeighborRows)
	}
	return note
}

// Neighbors on the page: of each row, and the maximum number of rows to list them for.
const (
	nearest       = 8
	maxNearestFor = 10_000
)

// neighbors returns the nearest rows of each row, nil for too many or too few rows.
func (m *maker) neighbors(v pictures.Space) (*view.Neighbors, error) {
	n := v.Y.Rows
	count := min(nearest, n-1)
	if n > maxNearestFor || count < 1 {
		return nil, nil
	}
	index, squared, err := neighbors.Search(m.ctx, m.Eng, v.Y, v.Y, count, true)
	if err != nil {
		return nil, err
	}
	out := &view.Neighbors{Count: count, Index: index, Distance: make([]float64, len(squared))}
	for k, d := range squared {
		out.Distance[k] = math.Sqrt(d)
	}
	return out, nil
}

// The maximum number of violated links of a metric on the page, the worst ones first, and of those
// whose cells are there.
const (
	maxViolations = 5000
	maxRead       = 100
)

// listViolations lists the links that the learned metrics violate.
func (m *maker) listViolations() error {
	if m.Set == nil || m.Set.Len() == 0 {
		return nil
	}
	var columns []label.Column
	if _, mixed := m.Data.Points.(*points.Mixed); mixed { // others are drawn, with all their features
		columns = label.ColumnsOf(m.Data)
	}
	for _, v := range m.Spaces {
		if v.Fitted == nil {
			continue
		}
		fit, err := metric.MeasureLinks(m.ctx, m.Eng, v.Fitted.Model, v.X, m.Set)
		if err != nil {
			return err
		}
		if len(fit.Violated) > maxViolations {
			m.Warnf("%d of the %d links violated under %s are on the page", maxViolations, len(fit.Violated),
				v.Name)
			fit.Violated = fit.Violated[:maxViolations]
		}
		for at, w := range fit.Violated {
			bad := view.Violation{I: w.I, J: w.J, Link: w.Link, Line: w.Line, Metric: v.Name,
				Distance: w.Distance, Expected: w.Bound, Excess: excess(w)}
			if at < maxRead {
				bad.Cells = cells(columns, w.I, w.J)
			}
			m.out.Violations = append(m.out.Violations, bad)
		}
	}
	return nil
}

// cells returns the cells of two rows, cut to a length that people read.
func cells(columns []label.Column, i, j int) (out [][3]string) {
	shown, _ := label.Differing(columns, i, j)
	for _, c := range shown {
		out = append(out, [3]string{session.Clip(c.Name, session.LongName), session.Clip(c.Text(i), 300),
			session.Clip(c.Text(j), 300)})
	}
	return out
}

// listSuspicious lists the links that other links and the points contradict.
func (m *maker) listSuspicious() error {
	if m.Suspicious == 0 || m.Set.Len() == 0 {
		return nil
	}
	x := m.Data.Points
	if len(m.Spaces) > 0 {
		x = m.Spaces[0].X
	}
	ranked, err := m.RankLinks(m.ctx, m.Data, x, m.Set, m.Links.Path, m.Seed)
	if err != nil {
		return err
	}
	for _, l := range metric.FirstLinks(ranked, m.Data, m.Suspicious) {
		m.out.SuspiciousLinks = append(m.out.SuspiciousLinks,
			view.SuspiciousLink{Rows: l.Rows(), Link: l.Link, Score: l.Score, Reason: l.Reason})
	}
	return nil
}

// excess returns the factor by which a must-link is too long, or a cannot-link too short, at most a
// million.
func excess(w metric.Violation) float64 {
	const most = 1e6
	v := w.Distance / w.Bound
	if w.Link == links.Cannot.String() {
		v = w.Bound / w.Distance
	}
	if !(v <= most) {
		return most
	}
	return v
}
