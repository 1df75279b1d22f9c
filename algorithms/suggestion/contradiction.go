package suggestion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/links"
)

// ContradictionError reports an answer that the links so far exclude.
type ContradictionError struct {
	Link links.Link
	// Path is a walk over links from Link.I to Link.J that implies the opposite of Link: must-links, and one cannot-link where
	// Link is a must-link.
	Path []links.Link
}

// Error writes the path as "3-7 must (line 4), 7-12 cannot".
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("%s-link %d-%d contradicts %s", e.Link.Sign, e.Link.I, e.Link.J, e.PathString())
}

// PathString writes the path in walking order from Link.I.
func (e *ContradictionError) PathString() string {
	parts := make([]string, len(e.Path))
	at := e.Link.I
	for k, l := range e.Path {
		next := l.I + l.J - at
		parts[k] = fmt.Sprintf("%d-%d %s", at, next, l.Sign)
		if l.Line > 0 {
			parts[k] += fmt.Sprintf(" (line %d)", l.Line)
		}
		at = next
	}
	return strings.Join(parts, ", ")
}

// InputFault marks the error as caused by input.
func (e *ContradictionError) InputFault() {}

// contradiction finds the path: with l, the links have a conflict, which is a cycle of must-links and one cannot-link; what
// is left of it without l goes from one end of l to the other.
func (s *Session) contradiction(l links.Link) error {
	same := func(o links.Link) bool { return o.I == l.I && o.J == l.J || o.I == l.J && o.J == l.I }
	if k := slices.IndexFunc(s.given, same); k >= 0 {
		return &ContradictionError{l, s.given[k : k+1 : k+1]}
	}
	set, err := links.New(len(s.group), append(slices.Clone(s.given), l))
	if err != nil {
		return err
	}
	conflict := set.Conflicts()[0]
	cycle := append(slices.Clone(conflict.Path), conflict.Link)
	k := slices.IndexFunc(cycle, same)
	path := append(slices.Clone(cycle[k+1:]), cycle[:k]...)
	if first := path[0]; first.I != l.I && first.J != l.I {
		slices.Reverse(path)
	}
	return &ContradictionError{l, path}
}
