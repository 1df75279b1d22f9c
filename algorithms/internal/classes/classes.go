// Package classes makes classes of links: the must-link components of linked rows, and which of them differ.
package classes

import (
	"slices"

	"github.com/mustlink/mustlink/engine/links"
)

// Classes are the must-link components of the linked rows, and which of them differ.
type Classes struct {
	Rows    []int   // linked rows, ascending
	Of      []int   // class of Rows[p]
	Members [][]int // places in Rows
	rivals  [][]int // the classes that a cannot-link joins to each, ascending
}

// New returns the classes of a set.
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
	for place, i := range c.Rows {
		k, ok := number[component[i]]
		if !ok {
			k = len(c.Members)
			number[component[i]] = k
			c.Members, c.rivals = append(c.Members, nil), append(c.rivals, nil)
		}
		c.Of = append(c.Of, k)
		c.Members[k] = append(c.Members[k], place)
	}
	for _, l := range set.Cannot() {
		a, b := number[component[l.I]], number[component[l.J]]
		if a != b { // else the set contradicts itself, and the must-links win
			c.rivals[a], c.rivals[b] = append(c.rivals[a], b), append(c.rivals[b], a)
		}
	}
	for k := range c.rivals {
		slices.Sort(c.rivals[k])
		c.rivals[k] = slices.Compact(c.rivals[k])
	}
	return c
}

// Apart says whether two places are of different classes.
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

// Rivals returns the classes that a cannot-link joins to a class, ascending. They are shared: do not change them.
func (c *Classes) Rivals(class int) []int { return c.rivals[class] }
