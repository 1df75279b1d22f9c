package lmnn

import (
	"slices"

	"github.com/mustlink/mustlink/engine/links"
)

// classes are the must-link components of the linked rows, and which of them differ.
type classes struct {
	rows    []int   // linked rows, ascending
	of      []int   // class of rows[p]
	members [][]int // places in rows
	rivals  [][]int // the classes that a cannot-link joins to each, ascending
}

func newClasses(set *links.Set) *classes {
	c, component := &classes{}, set.Components()
	for _, l := range set.Cannot() {
		c.rows = append(c.rows, l.I, l.J)
	}
	for _, rows := range set.Chunklets() {
		c.rows = append(c.rows, rows...)
	}
	slices.Sort(c.rows)
	c.rows = slices.Compact(c.rows)
	number := map[int]int{}
	for place, i := range c.rows {
		k, ok := number[component[i]]
		if !ok {
			k = len(c.members)
			number[component[i]] = k
			c.members, c.rivals = append(c.members, nil), append(c.rivals, nil)
		}
		c.of = append(c.of, k)
		c.members[k] = append(c.members[k], place)
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

// apart says whether two places are of different classes.
func (c *classes) apart(a, b int) bool {
	if c.of[a] == c.of[b] {
		return false
	}
	if r := c.rivals[c.of[a]]; len(r) < len(c.members)-1 {
		_, ok := slices.BinarySearch(r, c.of[b])
		return ok
	}
	return true
}
