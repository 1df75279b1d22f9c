package activelearning

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// streamFirst is the stream of random numbers that draws the first row.
const streamFirst = 0x6669727374

// Pair is a question: do rows I and J belong together? J is of a class that is known, I is to be
// placed.
type Pair struct{ I, J int }

// Options of a [Session].
type Options struct {
	// Seed draws the row that a session without links begins with.
	Seed uint64
	// Classes is the number of classes, 0 when it is not known: what is apart from all but one of
	// them is of that one. A number that the links exceed is not heeded.
	Classes int
}

// Session knows what the links so far imply, and which question is worth most next. It is not safe
// for concurrent use.
type Session struct {
	coordinates blas.Matrix
	seed        uint64
	most        int // classes, 0 when not known
	given       []links.Link

	group  []int          // of every row: rows that must-links join
	rows   [][]int        // of every group, ascending; nil for one that is part of another
	apart  []map[int]bool // groups that cannot-links hold apart
	passed []map[int]bool // groups between which a question was skipped

	classes []int       // groups that are apart from each other, one a class
	class   []int       // of every group, -1 for one that is none
	near    [][]float64 // squared distance of every row to the nearest row of a class
	last    int         // group that was asked about, -1 for none
	calm    int         // groups placed since a class was found
	sure    int         // of these, such that were of the last class that was left for them
}

// New begins with links between n points at places (n x d), the coordinates in which near points
// are likely to belong together: those that a model gives, or the points themselves. Places are
// kept, not copied.
//
// Errors: *fault.ShapeError for links of other rows, *fault.DataError for places that are not
// finite, *[links.ConflictError] for links that contradict one another. Cost O(links + n d rows
// that are linked).
func New(coordinates blas.Matrix, set *links.Set, o Options) (*Session, error) {
	n := coordinates.Rows
	if set.N() != n {
		return nil, &fault.ShapeError{What: "rows of links", Got: set.N(), Want: fmt.Sprintf("%d, as there are points", n)}
	}
	if o.Classes < 0 {
		return nil, &fault.ParamError{Param: "classes", Value: o.Classes, Want: "a number >= 0, 0 when it is not known"}
	}
	if err := set.Consistent(); err != nil {
		return nil, err
	}
	if err := checkCoordinates(coordinates); err != nil {
		return nil, err
	}
	s := &Session{
		coordinates: coordinates, seed: o.Seed, most: o.Classes, last: -1,
		group: make([]int, n), rows: make([][]int, n), class: slices.Repeat([]int{-1}, n),
		apart: make([]map[int]bool, n), passed: make([]map[int]bool, n),
	}
	for i := range n {
		s.group[i], s.rows[i] = i, []int{i}
	}
	for _, c := range set.Chunklets() {
		for _, i := range c[1:] {
			s.join(s.group[c[0]], s.group[i])
		}
	}
	for _, l := range set.Cannot() {
		mark(s.apart, s.group[l.I], s.group[l.J])
	}
	s.given = append(slices.Clone(set.Must()), set.Cannot()...)
	s.begin()
	return s, nil
}

// checkCoordinates refuses places whose distances are not finite.
func checkCoordinates(coordinates blas.Matrix) error {
	origin := make([]float64, coordinates.Cols)
	for i := range coordinates.Rows {
		if !(points.SquaredDistance(coordinates.Row(i), origin) < math.MaxFloat64/8) {
			return &fault.DataError{Row: i, Err: errors.New("its coordinates are not finite or their squares overflow: want smaller ones")}
		}
	}
	return nil
}

// begin takes the largest groups that are apart from each other as the first classes.
func (s *Session) begin() {
	order := make([]int, 0, len(s.rows))
	for g, rows := range s.rows {
		if len(rows) > 1 || len(s.apart[g]) > 0 {
			order = append(order, g)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(len(s.rows[b])-len(s.rows[a]), len(s.apart[b])-len(s.apart[a]))
	})
	if len(order) == 0 && len(s.rows) > 0 {
		order = append(order, rand.New(rand.NewPCG(s.seed, streamFirst)).IntN(len(s.rows)))
	}
	for _, g := range order {
		s.settle(g)
	}
	s.calm, s.sure = 0, 0
}

// settle makes a class of a group that is apart from all of them.
func (s *Session) settle(g int) {
	if s.class[g] >= 0 || s.rows[g] == nil {
		return
	}
	if open := s.open(g); open > 1 || open == 1 && len(s.classes) != s.most {
		return
	} else if open == 1 {
		s.conclude(g)
		return
	}
	s.class[g] = len(s.classes)
	s.classes = append(s.classes, g)
	s.near = append(s.near, slices.Repeat([]float64{math.Inf(1)}, len(s.group)))
	s.approach(s.class[g], s.rows[g])
	s.calm, s.sure = 0, 0
	if len(s.classes) == s.most {
		s.settleAll(s.apart[g])
	}
}

// settleAll looks again at groups about which more is known.
func (s *Session) settleAll(groups map[int]bool) {
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		s.settle(g)
	}
}

// open counts the classes that a group may be of.
func (s *Session) open(g int) (count int) {
	for _, c := range s.classes {
		if !s.apart[g][c] {
			count++
		}
	}
	return count
}

// conclude adds a group to the one class that is left for it.
func (s *Session) conclude(g int) {
	for _, c := range s.classes {
		if !s.apart[g][c] {
			s.must(links.NewLink(s.rows[g][0], s.rows[c][0], links.Must), g, c)
			return
		}
	}
}

// asked notes which group is half placed.
func (s *Session) asked(g, h int) {
	if s.class[g] >= 0 {
		g = h
	}
	s.last = g
}

// approach notes that rows are of a class.
func (s *Session) approach(class int, rows []int) {
	near := s.near[class]
	for i := range near {
		x := s.coordinates.Row(i)
		for _, r := range rows {
			near[i] = min(near[i], points.SquaredDistance(x, s.coordinates.Row(r)))
		}
	}
}

// Answer notes whether rows i and j belong together. What is known already is legal; what the links
// so far exclude is a *[ContradictionError] with the reason, and nothing is noted.
func (s *Session) Answer(l links.Link) error {
	if _, err := links.New(len(s.group), []links.Link{l}); err != nil {
		return err
	}
	g, h := s.group[l.I], s.group[l.J]
	if l.Sign == links.Must && s.apart[g][h] || l.Sign == links.Cannot && g == h {
		return s.contradiction(l)
	}
	switch {
	case g == h || s.apart[g][h]:
		s.given = append(s.given, l)
	case l.Sign == links.Must:
		s.must(l, g, h)
	default:
		s.given = append(s.given, l)
		mark(s.apart, g, h)
		s.asked(g, h)
		s.settle(g)
		s.settle(h)
	}
	return nil
}

// must notes a must-link between two groups, at most one of them a class.
func (s *Session) must(l links.Link, g, h int) {
	s.given = append(s.given, l)
	if s.class[h] < 0 {
		g, h = h, g
	}
	if class := s.class[h]; class >= 0 {
		s.approach(class, s.rows[g])
		s.calm++
		if len(s.classes) > 1 && s.open(g) == 1 {
			s.sure++
		}
	}
	s.join(h, g)
	s.settleAll(s.apart[h])
	s.settle(h)
}

// Skip notes that nobody knows whether rows i and j belong together; their groups are not asked
// about again.
func (s *Session) Skip(i, j int) { mark(s.passed, s.group[i], s.group[j]) }

// join makes group g a part of group h.
func (s *Session) join(h, g int) {
	if g == h {
		return
	}
	for _, i := range s.rows[g] {
		s.group[i] = h
	}
	s.rows[h] = append(s.rows[h], s.rows[g]...)
	slices.Sort(s.rows[h])
	s.rows[g] = nil
	for _, m := range [][]map[int]bool{s.apart, s.passed} {
		for o := range m[g] {
			delete(m[o], g)
			if o != h {
				mark(m, h, o)
			}
		}
		m[g] = nil
	}
	if s.last == g {
		s.last = h
	}
}

func mark(m []map[int]bool, g, h int) {
	for _, p := range [][2]int{{g, h}, {h, g}} {
		if m[p[0]] == nil {
			m[p[0]] = map[int]bool{}
		}
		m[p[0]][p[1]] = true
	}
}

// Known says what the links imply for a pair of rows, if they do.
func (s *Session) Known(i, j int) (links.Sign, bool) {
	g, h := s.group[i], s.group[j]
	switch {
	case g == h:
		return links.Must, true
	case s.apart[g][h]:
		return links.Cannot, true
	}
	return 0, false
}

// Classes returns the number of classes found so far.
func (s *Session) Classes() int { return len(s.classes) }

// Links returns all links, in the order in which they were given.
func (s *Session) Links() []links.Link { return slices.Clone(s.given) }

// ContradictionError reports an answer that the links so far exclude.
type ContradictionError struct {
	Link links.Link
	// Path is a walk over links from Link.I to Link.J that implies the opposite of Link: must-links,
	// and one cannot-link where Link is a must-link.
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

// contradiction finds the path: with l, the links have a conflict, which is a cycle of must-links
// and one cannot-link; what is left of it without l goes from one end of l to the other.
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
