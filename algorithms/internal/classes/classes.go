// Package classes derives classes from links: the must-link components of linked rows, and the
// pairs of components that a cannot-link separates.
package classes

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Classes are the must-link components of the linked rows. Two classes that a cannot-link joins are
// rivals.
type Classes struct {
	Rows    []int   // linked rows, ascending
	Of      []int   // Of[p] is the class of Rows[p]
	Members [][]int // positions in Rows of each class
	rivals  [][]int // rivals of each class, ascending
}

// New returns the classes of a set of links.
func New(set *links.Set) *Classes {
	c, component := &Classes{}, set.Components()
	for _, l := range set.Cannot() {
		c.Rows = append(c.Rows, l.I, l.J)
	}
	for _, rows := range set.Chunklets() {
		c.Rows = append(c.Rows, rows...)
	}
	slices.Sort(c.Rows)
	c.Rows = slices.Compact(c.Rows)
	number := map[int]int{}
	for position, i := range c.Rows {
		k, ok := number[component[i]]
		if !ok {
			k = len(c.Members)
			number[component[i]] = k
			c.Members, c.rivals = append(c.Members, nil), append(c.rivals, nil)
		}
		c.Of = append(c.Of, k)
		c.Members[k] = append(c.Members[k], position)
	}
	for _, l := range set.Cannot() {
		a, b := number[component[l.I]], number[component[l.J]]
		if a != b { // a cannot-link within a component contradicts its must-links and is ignored
			c.rivals[a], c.rivals[b] = append(c.rivals[a], b), append(c.rivals[b], a)
		}
	}
	for k := range c.rivals {
		slices.Sort(c.rivals[k])
		c.rivals[k] = slices.Compact(c.rivals[k])
	}
	return c
}

// Apart reports whether two positions belong to rival classes.
func (c *Classes) Apart(a, b int) bool {
	if c.Of[a] == c.Of[b] {
		return false
	}
	if r := c.rivals[c.Of[a]]; len(r) < len(c.Members)-1 {
		_, ok := slices.BinarySearch(r, c.Of[b])
		return ok
	}
	return true
}

// Rivals returns the rivals of a class, ascending. They are shared: do not change them.
func (c *Classes) Rivals(class int) []int { return c.rivals[class] }

// NumTriplets returns the number of triplets of rows i and j of one class and k of a rival.
func (c *Classes) NumTriplets() (count float64) {
	for k, members := range c.Members {
		count += float64(len(members)) * float64(len(members)-1) * float64(c.numRivals(k))
	}
	return count
}

// RivalMembers returns the positions in Rows of all members of the rivals of a class.
func (c *Classes) RivalMembers(class int) (positions []int) {
	for _, r := range c.rivals[class] {
		positions = append(positions, c.Members[r]...)
	}
	return positions
}

// numRivals returns the number of members of the rivals of a class.
func (c *Classes) numRivals(class int) (count int) {
	for _, r := range c.rivals[class] {
		count += len(c.Members[r])
	}
	return count
}

// Triplets returns the triplets of [Classes.NumTriplets], or a random sample of limit of them if
// there are more. A number that overflows is a *fault.DataError.
func (c *Classes) Triplets(limit int, seed uint64) ([]links.Triplet, error) {
	if c.NumTriplets() > math.MaxInt/2 {
		return nil, fault.Data("", "the number of triplets of the links of %d rows overflows: want fewer links", len(c.Rows))
	}
	total, rivals, counts := 0, make([]int, len(c.Members)), make([]int, len(c.Members)) // counts: triplets by the class of i
	for k, members := range c.Members {
		rivals[k] = c.numRivals(k)
		counts[k] = len(members) * (len(members) - 1) * rivals[k]
		total += counts[k]
	}
	list := make([]links.Triplet, 0, min(total, limit))
	class, first := 0, 0 // first is the number of the first triplet of the class
	for _, at := range draw.Some(total, limit, seed) {
		for ; at-first >= counts[class]; class++ {
			first += counts[class]
		}
		members, pair, k := c.Members[class], (at-first)/rivals[class], (at-first)%rivals[class]
		i, j := pair/(len(members)-1), pair%(len(members)-1)
		if j >= i {
			j++
		}
		list = append(list, links.Triplet{I: c.Rows[members[i]], J: c.Rows[members[j]], K: c.Rows[c.rival(class, k)]})
	}
	return list, nil
}

// rival returns the position of member k among the members of all rivals of a class.
func (c *Classes) rival(class, k int) int {
	for _, r := range c.rivals[class] {
		if k < len(c.Members[r]) {
			return c.Members[r][k]
		}
		k -= len(c.Members[r])
	}
	panic("classes: index of a rival member out of range")
}
