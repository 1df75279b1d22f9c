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

// AddLinks returns the model of the links of m and those of set, with the landmarks of m: of its
// eigenvectors D is computed from the links, and all that follows, which has the bits of a fit with
// these landmarks. x are the points that m was fitted on. Cost: O(q) for each link, and no kernel
// value.
//
// Other points, a link between points that are not landmarks (in the basic form, of landmarks = 0,
// all are), a link that contradicts one of m, and a model of a file that does not hold its links,
// as those of earlier versions, are a *fault.DataError.
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
		return nil, input.Canceled(ctx, Method+": new links", err)
	}
	return out.model(algorithms.Status{Converged: true, Notices: notices, Elapsed: time.Since(begin)}), nil
}

// checkLandmarks refuses links that count between points that are not landmarks.
func (m *metric) checkLandmarks(set *links.Set) error {
	list := set.Must()
	if m.params.Cannot > 0 {
		list = slices.Concat(list, set.Cannot())
	}
	for _, l := range list {
		for _, i := range []int{l.I, l.J} {
			if _, is := slices.BinarySearch(m.rows, i); !is {
				err := fmt.Errorf("row %d is none of the %d landmarks: want links between these, or a fit with all links", i, len(m.rows))
				return &fault.DataError{Row: -1, Line: l.Line, Err: err}
			}
		}
	}
	return nil
}
