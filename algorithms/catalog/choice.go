package catalog

import (
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/engine/links"
)

// MethodFor returns the method for links and other lessons when nobody names one, and the reason:
// mlkr for targets, lsml for quadruplets, itml for triplets; for links blend if there are both
// kinds, but lleratio in parts with more than 20,000 linked rows, krca for must-links alone, and
// itml for cannot-links alone. A nil set stands for links of both kinds. docs/choosing.md has the
// evidence.
func MethodFor(l *links.Set, lesson Lesson) (m Method, why string, err error) {
	must, cannot := 1, 1
	if l != nil {
		must, cannot = l.Count()
	}
	name := ""
	switch {
	case lesson.Targets != nil:
		name, why = "mlkr", "it learns from targets"
	case lesson.Quadruplets != nil:
		name, why = "lsml", "it learns from quadruplets"
	case lesson.Triplets != nil:
		name, why = "itml", "it learns from triplets"
	case must == 0:
		name, why = "itml", "there are only cannot-links"
	case cannot == 0:
		name, why = "krca", "there are only must-links"
	case l != nil && parts.Suits("lleratio", l):
		name, why = "lleratio", "there are links of both kinds, too many for blend"
	default:
		name, why = "blend", "there are links of both kinds"
	}
	m, err = Lookup(name)
	return m, why, err
}
