package learner

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Rules say what a method is and what it asks of its input. A linear method takes dense vectors.
type Rules struct {
	algorithms.About
	Needs Needs
	Pairs bool // it writes out all pairs of the chunklets, which are priced first
}

// Needs says which links a method cannot do without.
type Needs int

const (
	Nothing   Needs = iota // or what the method checks itself
	AnyLinks               // of either kind
	MustLinks              // and ignores cannot-links, with a notice
	BothKinds
	Classes // both kinds, which make classes that differ
)

// check returns a *fault.DataError for links that the method cannot learn from.
func (r Rules) check(set *links.Set) error {
	must, cannot := set.Count()
	switch {
	case r.Needs == AnyLinks && must+cannot == 0:
		return input.NoLinks(r.Name)
	case r.Needs == MustLinks && must == 0 && r.Pairs:
		return fault.Data("", "%s learns from must-links: want at least one, got none", r.Name)
	case r.Needs == MustLinks && must == 0:
		return fault.Data("", "%s learns from must-links: want at least one must-linked pair or chunklet, got none", r.Name)
	case r.Needs == BothKinds && (must == 0 || cannot == 0):
		return fault.Data("", "%s learns from both: want must-links and cannot-links, got %d and %d", r.Name, must, cannot)
	case r.Needs == Classes && (must == 0 || cannot == 0):
		return fault.Data("", "%s learns from classes that differ: want must-links and cannot-links, got %d and %d", r.Name, must, cannot)
	}
	return nil
}
