package links

import (
	"fmt"
	"math"
)

// Sign is the kind of a link: must-link or cannot-link.
type Sign int8

const (
	Must   Sign = +1 // the two objects belong together
	Cannot Sign = -1 // the two objects do not
)

func (s Sign) String() string {
	if s == Cannot {
		return "cannot"
	}
	return "must"
}

// Link is one constraint on the unordered pair {I, J}.
type Link struct {
	I, J   int // 0-based rows, I != J
	Sign   Sign
	Weight float64 // > 0; 0 means 1
	// Bound is the target for the squared distance, > 0; with NaN the method chooses it. 0 means
	// NaN, as no method can use 0 as a target (a must-link at distance 0 makes the metric singular,
	// and a cannot-link at distance 0 has no effect).
	Bound float64
	Line  int // 1-based line of its file, 0 if none
}

// NewLink returns a link of weight 1 without bound or line.
func NewLink(i, j int, sign Sign) Link {
	return Link{I: i, J: j, Sign: sign, Weight: 1, Bound: math.NaN()}
}

// canonical returns l with I < J and with explicit defaults of Weight and Bound.
func (l Link) canonical() Link {
	if l.I > l.J {
		l.I, l.J = l.J, l.I
	}
	if l.Weight == 0 {
		l.Weight = 1
	}
	if l.Bound == 0 {
		l.Bound = math.NaN()
	}
	return l
}

// sameTarget reports whether two canonical links have the same weight and bound.
func (l Link) sameTarget(m Link) bool {
	return l.Weight == m.Weight && (l.Bound == m.Bound || math.IsNaN(l.Bound) && math.IsNaN(m.Bound))
}

// comparePairs orders canonical links by (I, J).
func comparePairs(a, b Link) int {
	if a.I != b.I {
		return a.I - b.I // rows are not negative, so this cannot overflow
	}
	return a.J - b.J
}

// pairText writes "3-7 (line 4)", or "3-7" for a link without a line.
func pairText(from, to, line int) string {
	if line > 0 {
		return fmt.Sprintf("%d-%d (line %d)", from, to, line)
	}
	return fmt.Sprintf("%d-%d", from, to)
}
