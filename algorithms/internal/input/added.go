package input

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// AddedLinks returns the links that a model of the named method has learned, old, with those of set, on the points x that it was fitted on.
// Of a link that is in both, the old one counts. No new links, another number of points and a link that contradicts an old one are a
// *fault.DataError; so is a model that does not hold its links, for which old is nil.
func AddedLinks(eng *engine.Engine, method string, x points.Points, old, set *links.Set) (*links.Set, error) {
	if old == nil {
		return nil, fault.Data("", "the model does not hold what a fit with more links starts from: want a fit with all links")
	}
	if err := FittedOn(x, old.N()); err != nil {
		return nil, err
	}
	if err := CheckPairs(eng, x, set); err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, NoLinks(method)
	}
	all, err := links.New(x.Len(), slices.Concat(old.Must(), old.Cannot(), set.Must(), set.Cannot()))
	if err != nil {
		return nil, fmt.Errorf("new links and those of the model: %w", err)
	}
	return all, nil
}

// FittedOn refuses points that are not as many as the model was fitted on.
func FittedOn(x points.Points, n int) error {
	if x.Len() != n {
		return fault.Data("", "%d points: want the %d that the model was fitted on", x.Len(), n)
	}
	return nil
}
