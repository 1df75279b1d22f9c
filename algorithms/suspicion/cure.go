package suspicion

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Without returns the links but for the count most suspicious ones. Chunklets are written out as pairs, so what the links
// that stay imply is still implied. A count that is negative, or leaves no link, is a *fault.ParamError.
func (r *Result) Without(count int) (*links.Set, error) {
	if count < 0 || count >= len(r.Suspects) {
		return nil, &fault.ParamError{Param: "number of links to leave out", Value: count, Want: fmt.Sprintf("a number from 0 to %d, as there are %d links", len(r.Suspects)-1, len(r.Suspects))}
	}
	var kept []links.Link
	for _, s := range r.Suspects[count:] {
		kept = append(kept, s.Link)
	}
	return links.New(r.set.N(), kept)
}

// leastWeight is that of a link that is certainly wrong; 0 would be taken for 1.
const leastWeight = 1e-3

// Reweighted returns the links with their weights times the probability of their signs by what the judges say alone, without
// the trust in links that most are right: 1/2 for a pair of which they cannot tell, at least 0.001. It helps
// methods that weigh links (npkl, itml, gml, kbeta, spectral, and clustering with penalties); the others do not see it.
func (r *Result) Reweighted() (*links.Set, error) {
	trust := math.Log(r.Share / (1 - r.Share))
	out := make([]links.Link, len(r.Suspects))
	for k, s := range r.Suspects {
		out[k] = s.Link
		out[k].Weight *= math.Max(leastWeight, 1/(1+math.Exp(s.Score-trust)))
	}
	return links.New(r.set.N(), out)
}
