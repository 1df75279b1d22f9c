package label

import "github.com/mustlink/mustlink/engine/links"

// groups are the rows that must-links join, and the groups that cannot-links separate.
type groups struct {
	of    []int
	rows  map[int][]int // of groups with more than one row
	apart map[int]map[int]bool
}

func newGroups(n int) *groups {
	g := &groups{of: make([]int, n), rows: map[int][]int{}, apart: map[int]map[int]bool{}}
	for i := range g.of {
		g.of[i] = i
	}
	return g
}

// known returns what the links imply for two rows: must, cannot, or "" for nothing.
func (g *groups) known(i, j int) string {
	switch a, b := g.of[i], g.of[j]; {
	case a == b:
		return must
	case g.apart[a][b]:
		return cannot
	}
	return ""
}

// add adds a link that contradicts nothing.
func (g *groups) add(l links.Link) {
	a, b := g.of[l.I], g.of[l.J]
	switch {
	case a == b || g.apart[a][b]:
	case l.Sign == links.Cannot:
		g.separate(a, b)
	default:
		g.join(a, b)
	}
}

func (g *groups) separate(a, b int) {
	for _, p := range [][2]int{{a, b}, {b, a}} {
		if g.apart[p[0]] == nil {
			g.apart[p[0]] = map[int]bool{}
		}
		g.apart[p[0]][p[1]] = true
	}
}

// members returns the rows of a group.
func (g *groups) members(a int) []int {
	if rows := g.rows[a]; rows != nil {
		return rows
	}
	return []int{a}
}

// join makes the smaller of two groups a part of the other.
func (g *groups) join(a, b int) {
	if len(g.members(a)) < len(g.members(b)) {
		a, b = b, a
	}
	moved := g.members(b)
	for _, i := range moved {
		g.of[i] = a
	}
	g.rows[a] = append(g.members(a), moved...)
	delete(g.rows, b)
	for c := range g.apart[b] {
		delete(g.apart[c], b)
		g.separate(a, c)
	}
	delete(g.apart, b)
}
