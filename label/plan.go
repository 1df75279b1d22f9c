package label

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

const (
	// ahead is the number of questions that are chosen while people think, besides one for each.
	ahead = 4
	// patience is how long a person waits for questions that take all answers into account. Later,
	// the next one of those before is asked.
	patience = 30 * time.Millisecond
	// lastPatience is how long a person waits if no question is left of those before.
	lastPatience = 2 * time.Second
)

// event is an answer that the choice of questions does not know yet.
type event struct {
	link links.Link
	skip activelearning.Pair // if the link has no sign
}

// plan is the queue of questions. A goroutine fills it.
type plan struct {
	version, planned int // of the answers, and of those that the queue knows
	events           []event
	restart          bool   // answers were removed
	first            []pair // to ask before the queue
	queue            []activelearning.Pair
	err              error         // of the choice
	wake             chan struct{} // there is work
	changed          chan struct{} // closed with the next queue
}

// begin starts the work in the background.
func (s *Session) begin() error {
	s.plan.wake, s.plan.changed = make(chan struct{}, 1), make(chan struct{})
	questions, err := s.chooser()
	if err != nil {
		return err
	}
	if s.plan.first, err = s.doubts(); err != nil {
		return err
	}
	for _, p := range s.o.First {
		if err := s.check(p[0], p[1], must); err != nil {
			return fmt.Errorf("label: pair %d, %d to ask first: %w", p[0], p[1], err)
		}
		s.plan.first = append(s.plan.first, pairOf(p[0], p[1]))
	}
	if err := s.conclude(questions, s.plan.version); err != nil {
		return err
	}
	s.publish(questions.Batch(len(s.keys)), s.plan.version)
	s.work.Go(func() { s.guarded(func() { s.choose(questions) }) })
	s.fit.learned = s.o.Coordinates
	s.work.Go(func() { s.guarded(s.fits) })
	return nil
}

// news tells the choice of questions about an answer.
func (s *Session) news(e event) {
	s.plan.events = append(s.plan.events, e)
	s.plan.version++
	s.wake()
}

// replan makes the choice of questions begin again.
func (s *Session) replan() {
	s.plan.events, s.plan.restart = nil, true
	s.plan.version++
	s.wake()
}

func (s *Session) wake() {
	select {
	case s.plan.wake <- struct{}{}:
	default:
	}
}

// chooser returns a new choice of questions, which knows all answers.
func (s *Session) chooser() (*activelearning.Session, error) {
	s.mu.Lock()
	all := s.all()
	var passed []pair
	for p := range s.passed {
		passed = append(passed, p)
	}
	s.plan.events, s.plan.restart = nil, false
	s.mu.Unlock()
	set, err := links.New(s.n, all)
	if err != nil {
		return nil, err
	}
	questions, err := activelearning.New(s.o.Coordinates, set,
		activelearning.Options{Seed: s.o.Seed, Classes: s.o.Classes})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(passed, func(a, b pair) int { return slices.Compare(a[:], b[:]) })
	for _, p := range passed {
		questions.Skip(p[0], p[1])
	}
	return questions, nil
}

// choose keeps the queue full until the session ends.
func (s *Session) choose(questions *activelearning.Session) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.plan.wake:
		}
		s.mu.Lock()
		version, events, restart := s.plan.version, s.plan.events, s.plan.restart
		s.plan.events = nil
		s.mu.Unlock()
		var err error
		for _, e := range events {
			if e.link.Sign == 0 {
				questions.Skip(e.skip.I, e.skip.J)
			} else if err = questions.Answer(e.link); err != nil {
				restart = true
			}
		}
		if restart {
			var next *activelearning.Session
			if next, err = s.chooser(); err == nil {
				questions = next
			}
		}
		if err == nil {
			err = s.conclude(questions, version)
		}
		batch := questions.Batch(len(s.keys))
		s.mu.Lock()
		s.plan.err = err
		s.mu.Unlock()
		if s.publish(batch, version); !s.late() {
			s.publish(questions.Batch(ahead+len(s.keys)), version)
		}
	}
}

// conclude keeps the links that follow from the number of classes, unless there are newer answers.
func (s *Session) conclude(questions *activelearning.Session, version int) error {
	if s.o.Classes == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan.version != version {
		return nil
	}
	release, err := take(s.ctx, s.o.File, s.links.at)
	if err != nil {
		return err
	}
	defer release()
	if changed, err := s.links.refresh(); changed || err != nil || s.links.half != "" {
		s.stale = s.stale || changed // the next answer takes the file over
		return err
	}
	var list []record
	when := s.now()
	for _, l := range questions.Links() {
		if s.groups.known(l.I, l.J) == "" {
			list = append(list, record{i: l.I, j: l.J, word: l.Sign.String(), who: byClasses, when: when})
			s.groups.add(l)
		}
	}
	err = s.links.add(list)
	s.stale = s.stale || err != nil // the groups know what the file does not have
	return err
}

// late reports whether there are answers that the queue does not know.
func (s *Session) late() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan.planned != s.plan.version
}

// publish makes a batch the queue.
func (s *Session) publish(batch []activelearning.Pair, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.queue, s.plan.planned = batch, version
	close(s.plan.changed)
	s.plan.changed = make(chan struct{})
}

// next returns the question of a person, and false if none is left.
func (s *Session) next(who string) (activelearning.Pair, bool, error) {
	begin := time.Now()
	for {
		s.mu.Lock()
		if p, ok := s.asked[who]; ok {
			s.mu.Unlock()
			return p, true, nil
		}
		current := s.plan.planned == s.plan.version
		if waited := time.Since(begin); current || waited >= patience {
			if p, ok := s.pick(who); ok || current || waited >= lastPatience {
				err := s.plan.err
				s.mu.Unlock()
				return p, ok, err
			}
		}
		changed := s.plan.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(patience):
		case <-s.ctx.Done():
			return activelearning.Pair{}, false, s.ctx.Err()
		}
	}
}

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

const (
	// wrong is the probability of the opposite from which on an answer looks wrong.
	wrong = 0.9
	// mostAgain is the number of answers that are asked again, mostDoubtful that of the pairs whose
	// probability is nearest to one half.
	mostAgain, mostDoubtful = 20, 100
	// nearest is the number of neighbors among which doubtful pairs are sought, and compared about
	// the number of distances that this takes, or one for each row.
	nearest  = 8
	compared = 40_000_000
)

// doubt is a question that the calibration asks first.
type doubt struct {
	pair
	odds float64 // distance of the probability from what would be no doubt
}

// order sorts doubts, the strongest first, and keeps so many.
func order(list []doubt, most int) []doubt {
	slices.SortFunc(list, func(a, b doubt) int {
		return cmp.Or(cmp.Compare(a.odds, b.odds), slices.Compare(a.pair[:], b.pair[:]))
	})
	list = slices.CompactFunc(list, func(a, b doubt) bool { return a.pair == b.pair })
	return list[:min(most, len(list))]
}

// doubts returns the answers that look wrong, which are asked again once, and the near pairs whose
// probability is nearest to one half. There are none without a calibration.
func (s *Session) doubts() (first []pair, err error) {
	c := s.o.Calibration
	if c == nil {
		return nil, nil
	}
	var again, open []doubt
	y := s.o.Coordinates
	for k := range s.links.records {
		r := &s.links.records[k]
		p := c.Probability(math.Sqrt(points.SquaredDistance(y.Row(r.i), y.Row(r.j))))
		if r.word == cannot {
			p = 1 - p
		}
		if p <= 1-wrong && r.who != byClasses {
			again = append(again, doubt{pairOf(r.i, r.j), p})
		}
	}
	again = order(again, mostAgain)
	for _, d := range again {
		s.again[d.pair] = true
	}
	rows := min(s.n, max(1, compared/s.n))
	at := func(k int) int { return k * s.n / rows } // evenly among all rows
	query := y
	if rows < s.n {
		query = s.o.Engine.NewMatrix(rows, y.Cols)
		for k := range rows {
			copy(query.Row(k), y.Row(at(k)))
		}
	}
	near := min(nearest+1, s.n) // a row is its own neighbor
	index, squares, err := neighbors.Search(s.ctx, s.o.Engine, query, y, near, false)
	if err != nil {
		return nil, err
	}
	for k, j := range index {
		i := at(k / near)
		off := math.Abs(c.Probability(math.Sqrt(squares[k])) - 0.5)
		if i != int(j) && off < wrong-0.5 && s.groups.known(i, int(j)) == "" {
			open = append(open, doubt{pairOf(i, int(j)), off})
		}
	}
	for _, d := range append(again, order(open, mostDoubtful)...) {
		first = append(first, d.pair)
	}
	return first, nil
}

// pick takes the first doubt that is still one, else the first question of the queue, that nobody
// else is asked.
func (s *Session) pick(who string) (activelearning.Pair, bool) {
	for k, p := range s.plan.first {
		known := s.groups.known(p[0], p[1])
		if (known == "") == s.again[p] || s.passed[p] || s.taken(who, p) {
			continue
		}
		s.plan.first = slices.Delete(s.plan.first, k, k+1)
		s.asked[who] = activelearning.Pair{I: p[0], J: p[1]}
		return s.asked[who], true
	}
	for k, p := range s.plan.queue {
		if s.groups.known(p.I, p.J) != "" || s.passed[pairOf(p.I, p.J)] || s.taken(who, pairOf(p.I, p.J)) {
			continue
		}
		s.plan.queue = slices.Delete(s.plan.queue, k, k+1)
		s.asked[who] = p
		return p, true
	}
	return activelearning.Pair{}, false
}

// taken reports whether somebody else is asked about a pair.
func (s *Session) taken(who string, p pair) bool {
	for other, q := range s.asked {
		if other != who && pairOf(q.I, q.J) == p {
			return true
		}
	}
	return false
}
