package kbeta

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// AddLinks returns the model of the links of m and those of set, with the landmarks of m. It
// computes D from all links and the stored eigenvectors, and the rest from D; the result is
// bit-identical to a fit with these landmarks. x are the points that m was fitted on. Cost: O(q)
// for each link, and no kernel value.
//
// These are a *fault.DataError: other points; a link between points that are not landmarks (in the
// basic form, landmarks = 0, all points are); a link that contradicts one of m; a model whose file
// does not store its links, like files of earlier versions.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	begin := time.Now()
	all, err := input.AddedLinks(eng, Method, x, m.links, set)
	if err != nil {
		return nil, err
	}
	if err := m.checkLandmarks(all); err != nil {
		return nil, err
	}
	out := m.again()
	var notices []string
	if cannot := all.Cannot(); m.params.Cannot == 0 && len(cannot) > 0 {
		notices = append(notices, ignored(len(cannot)))
	}
	notices = append(notices, out.learn(all)...)
	if err := ctx.Err(); err != nil {
		return nil, input.Failed(ctx, Method+": new links", err)
	}
	return out.model(algorithms.Status{Converged: true, Notices: notices, Elapsed: time.Since(begin)}), nil
}

// checkLandmarks refuses links that would be used between points that are not landmarks.
func (m *metric) checkLandmarks(set *links.Set) error {
	list := set.Must()
	if m.params.Cannot > 0 {
		list = slices.Concat(list, set.Cannot())
	}
	for _, l := range list {
		for _, i := range []int{l.I, l.J} {
			if _, is := slices.BinarySearch(m.rows, i); !is {
				err := fmt.Errorf("row %d is not one of the %d landmarks: want links between landmarks, or a fit with all links", i, len(m.rows))
				return &fault.DataError{Row: -1, Line: l.Line, Err: err}
			}
		}
	}
	return nil
}
