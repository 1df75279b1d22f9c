// Package links holds pairwise constraints: must-link and cannot-link pairs and chunklets,
// validated once, with transitive closure, components and sampling from labels.
package links

import "math"

// Sign says what a link demands.
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
	Bound  float64 // target for the squared distance; NaN when the method chooses
	Line   int     // 1-based line of the file it came from, 0 if none
}

// NewLink returns a link of weight 1 without bound or line.
func NewLink(i, j int, sign Sign) Link {
	return Link{I: i, J: j, Sign: sign, Weight: 1, Bound: math.NaN()}
}
