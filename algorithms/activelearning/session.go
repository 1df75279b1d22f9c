package activelearning

import (
	"cmp"
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

// streamFirst is the stream of the random numbers that draw the first row.
const streamFirst = 0x6669727374

// Pair is a query: do rows I and J belong together? J is in a known class, I is not assigned yet.
type Pair struct{ I, J int }

// Options are the settings of a [Session].
type Options struct {
	// Seed draws the first row of a session without links.
	Seed uint64
	// Classes is the number of classes, 0 if it is unknown. A group that cannot be in all classes
	// but one is in that class. A number below that of the classes of the links is ignored.
	Classes int
}

// Session keeps the closure of the links so far, and chooses the next queries. It is not safe for
// concurrent use.
type Session struct {
	coordinates blas.Matrix
	seed        uint64
	maxClasses  int // number of classes, 0 if unknown
	given       []links.Link

	group  []int          // the group of every row: rows joined by must-links
	rows   [][]int        // the rows of every group, ascending; nil for a group that is part of another
	apart  []map[int]bool // groups separated by cannot-links
	passed []map[int]bool // groups between which a query was skipped

	classes []int       // one group per class; all are separated from each other
	class   []int       // the class of every group, -1 for none
	near    [][]float64 // by class, the squared distance of every row to the nearest row of the class
	last    int         // group of the last query, -1 for none
	calm    int         // number of groups assigned since the last new class
	sure    int         // number of these that had one possible class left before the answer
}

// Bytes returns the memory of a session between n points with links of the given number of classes,
// and of a batch of its queries.
func Bytes(n, classes int) int64 {
	const row, distances = 80, 16 // groups and their lists; near, and its copy in a batch
	return int64(n) * (row + distances*int64(max(1, classes)))
}

// New returns a session that starts with links between n points. In the coordinates (n x d), near
// points should be likely to belong together: the embedding of a model, or the points themselves.
// New keeps them without a copy.
//
// Errors: *fault.ShapeError for links between another number of rows, *fault.DataError for
// coordinates that are not finite, *[links.ConflictError] for links that contradict one another.
// Cost: O(links + n d linked rows).
func New(coordinates blas.Matrix, set *links.Set, o Options) (*Session, error) {
	n := coordinates.Rows
	if set.N() != n {
		return nil, fault.Shape("rows of links", set.N(), "%d, as there are points", n)
	}
	if o.Classes < 0 {
		return nil, fault.Param("classes", o.Classes, "a number >= 0 (0 for unknown)")
	}
	if err := set.Consistent(); err != nil {
		return nil, err
	}
	if err := checkCoordinates(coordinates); err != nil {
		return nil, err
	}
	s := &Session{
		coordinates: coordinates, seed: o.Seed, maxClasses: o.Classes, last: -1,
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

// checkCoordinates returns an error for coordinates whose distances are not finite.
func checkCoordinates(coordinates blas.Matrix) error {
	origin := make([]float64, coordinates.Cols)
	for i := range coordinates.Rows {
		if !(points.SquaredDistance(coordinates.Row(i), origin) < math.MaxFloat64/8) {
			return fault.Row(i,
				"coordinates are not finite, or their squares overflow: want smaller finite values")
		}
	}
	return nil
}

// begin makes the largest groups that are separated from each other the first classes.
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

// settle makes a group that is separated from all classes a new class. It assigns a group with one
// possible class to that class, if all classes are known.
func (s *Session) settle(g int) {
	if s.class[g] >= 0 || s.rows[g] == nil {
		return
	}
	if open := s.open(g); open > 1 || open == 1 && len(s.classes) != s.maxClasses {
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
	if len(s.classes) == s.maxClasses {
		s.settleAll(s.apart[g])
	}
}

// settleAll settles groups whose separations have changed.
func (s *Session) settleAll(groups map[int]bool) {
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		s.settle(g)
	}
}

// open counts the possible classes of a group.
func (s *Session) open(g int) (count int) {
	for _, c := range s.classes {
		if !s.apart[g][c] {
			count++
		}
	}
	return count
}

// conclude adds a group to its one possible class.
func (s *Session) conclude(g int) {
	for _, c := range s.classes {
		if !s.apart[g][c] {
			s.must(links.NewLink(s.rows[g][0], s.rows[c][0], links.Must), g, c)
			return
		}
	}
}

// asked records which of two groups is still without a class.
func (s *Session) asked(g, h int) {
	if s.class[g] >= 0 {
		g = h
	}
	s.last = g
}

// approach updates the distances to a class for new rows of the class.
func (s *Session) approach(class int, rows []int) {
	near := s.near[class]
	for i := range near {
		x := s.coordinates.Row(i)
		for _, r := range rows {
			near[i] = min(near[i], points.SquaredDistance(x, s.coordinates.Row(r)))
		}
	}
}

// Answer adds a link, the answer to a query. An implied link is valid. A link that contradicts the
// links so far is a *[ContradictionError], and Answer does not add it.
func (s *Session) Answer(l links.Link) error {
	if _, err := links.New(len(s.group), []links.Link{l}); err != nil {
		return err
	}
	g, h := s.group[l.I], s.group[l.J]
	if l.Sign == links.Must && s.apart[g][h] || l.Sign == links.Cannot && g == h {
		return Contradiction(len(s.group), s.given, l)
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

// must adds a must-link between two groups, at most one of which has a class.
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

// Skip records that rows i and j have no answer. Their two groups are not queried against each
// other again.
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

// Known returns the sign that the links imply for a pair of rows, and false if they imply none.
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

// Links returns all links, in the order in which they were added.
func (s *Session) Links() []links.Link { return slices.Clone(s.given) }

// ContradictionError reports a link that contradicts the links so far.
type ContradictionError struct {
	Link links.Link
	// Path is a path of links from Link.I to Link.J that implies the opposite of Link: must-links
	// only if Link is a cannot-link, else with one cannot-link among them.
	Path []links.Link
}

// Error returns a message with the path, written as "3-7 must (line 4), 7-12 cannot".
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("%s-link %d-%d contradicts %s", e.Link.Sign, e.Link.I, e.Link.J, e.PathString())
}

// PathString returns the path from Link.I to Link.J.
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

// Contradiction returns the error for a link between two of n rows that contradicts the given
// links, which contradict each other nowhere. It is nil if l contradicts nothing. Cost: O(n + links
// log links).
func Contradiction(n int, given []links.Link, l links.Link) error {
	same := func(o links.Link) bool { return o.I == l.I && o.J == l.J || o.I == l.J && o.J == l.I }
	if k := slices.IndexFunc(given, same); k >= 0 {
		if given[k].Sign == l.Sign {
			return nil
		}
		return &ContradictionError{l, given[k : k+1 : k+1]}
	}
	set, err := links.New(n, append(slices.Clone(given), l))
	if err != nil {
		return err
	}
	// A conflict is a cycle of must-links and one cannot-link. Without l, this cycle is a path
	// between the rows of l.
	conflicts := set.Conflicts()
	if len(conflicts) == 0 {
		return nil
	}
	cycle := append(slices.Clone(conflicts[0].Path), conflicts[0].Link)
	k := slices.IndexFunc(cycle, same)
	path := append(slices.Clone(cycle[k+1:]), cycle[:k]...)
	if first := path[0]; first.I != l.I && first.J != l.I {
		slices.Reverse(path)
	}
	return &ContradictionError{l, path}
}
