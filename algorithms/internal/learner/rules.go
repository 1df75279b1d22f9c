package learner

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Rules describe a method and the input that it requires. A linear method learns from
// dense vectors, features or kernel principal coordinates.
type Rules struct {
	algorithms.About
	Needs Needs
	// Sequences is the kernel of a linear method for sequences if nobody asks for one, "" for
	// spectrum:k=3.
	Sequences string
	Pairs     bool // the method stores all pairs of the chunklets; their memory is checked first
	OwnCheck  bool // Learn checks the input itself, as its first report is about that
}

// Needs is the kind of links that a method requires.
type Needs int

// The kinds of links that a method may require.
const (
	Nothing   Needs = iota // none, or the method itself checks its links
	AnyLinks               // links of either kind
	MustLinks              // must-links; cannot-links are ignored, with a notice
	BothKinds              // must-links and cannot-links
	Classes                // must-links and cannot-links, from which classes are derived
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
		return fault.Data("",
			"%s learns from must-links: want at least one must-linked pair or chunklet, got none", r.Name)
	case r.Needs == BothKinds && (must == 0 || cannot == 0):
		return fault.Data("",
			"%s learns from links of both kinds: want must-links and cannot-links, got %d and %d", r.Name,
			must, cannot)
	case r.Needs == Classes && (must == 0 || cannot == 0):
		return fault.Data("", "%s learns from classes: want must-links and cannot-links, got %d and %d",
			r.Name, must, cannot)
	}
	return nil
}
