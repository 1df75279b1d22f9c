package label

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Options are the settings of a [Session].
type Options struct {
	Title string
	// Table has the rows to ask about, and what metrics are learned from: prepared, or taken as it
	// is.
	Table *mustlink.Table
	// Coordinates choose the questions: near rows should be likely to belong together.
	Coordinates blas.Matrix
	// Calibration of distances between coordinates, nil for none: answers that it finds wrong are
	// asked again, once, and then the near pairs of which it is least sure, before other questions.
	Calibration *mustlink.Calibration
	// Columns are what people see of a row; Names are its names, nil for row numbers.
	Columns []Column
	Names   []string
	// All shows all columns of a question, also those that hardly differ.
	All bool
	// Images are the pictures of rows, nil for none.
	Images *Images

	// Classes is the number of classes, 0 if it is unknown. A row that is in no other class is in
	// the last one, without a question.
	Classes int

	File  string          // of answers, a CSV of links that is made if it does not exist
	ByID  bool            // the file names rows by the ids of the table
	Given *mustlink.Links // links that are known besides, or nil
	First [][2]int        // pairs of different rows to ask about before others, in this order

	People []Person // who may answer
	Hosts  []string // names of the server in requests, with ports; without any, those of this machine
	Next   string   // the command to go on with after the session, "" for none

	Fit    bool   // learn a metric meanwhile
	Method string // of the fits, "" to choose it by the links
	Engine *engine.Engine
	Seed   uint64
	// Guard calls work that uses the points of a mapped file; see [dataset.Mappings.Guard]. It may
	// be nil.
	Guard func(work func() error) error
}

// byClasses is the name in a link that follows from the number of classes. These links are derived
// again when answers are removed.
const byClasses = "(classes)"

// Person is one who answers.
type Person struct {
	Name string // in the file of answers, perhaps ""
	Key  string // the first part of the paths of this person, at least 16 letters that nobody can guess
}

// pair is two rows, the smaller one first.
type pair [2]int

func pairOf(i, j int) pair { return pair{min(i, j), max(i, j)} }

// Session asks people. It is safe for concurrent use.
type Session struct {
	o     Options
	n     int
	names *names
	keys  map[[sha256.Size]byte]string // names of people by the hashes of their keys

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	links  *file
	open   *file // of pairs without an answer, and of answers that others overruled
	given  []links.Link
	stale  bool // groups and questions are not those of the files
	groups *groups
	passed map[pair]bool // pairs without an answer
	again  map[pair]bool // answers that look wrong
	asked  map[string]activelearning.Pair
	last   time.Time // of the last answer
	plan   plan
	fit    fitting
	done   chan struct{} // closed when somebody ends the session, or the data are gone
	err    error         // of the data
	once   sync.Once
}

// New returns a session, and begins to work in the background until ctx ends or Close is called.
// Errors: a file of answers that cannot be used, answers that contradict each other or the given
// links, and coordinates that are not finite.
func New(ctx context.Context, o Options) (*Session, error) {
	s := &Session{o: o, n: o.Table.Rows(), asked: map[string]activelearning.Pair{},
		again: map[pair]bool{}, done: make(chan struct{})}
	if o.Coordinates.Rows != s.n {
		return nil, fault.Shape("rows of coordinates", o.Coordinates.Rows, "%d, as the table has", s.n)
	}
	const drawn = 64 // of a row: its group and place in the session, and places in two maps
	if err := o.Engine.Check(fmt.Sprintf("questions about %d rows", s.n),
		int64(s.n)*drawn+activelearning.Bytes(s.n, o.Classes), "label a sample of the rows"); err != nil {
		return nil, err
	}
	if err := s.people(); err != nil {
		return nil, err
	}
	var ids []string
	if o.ByID {
		if ids = o.Table.IDs(); ids == nil {
			return nil, fault.Data(o.Table.Data().Name,
				"it has no ids: want a column id, or links by row number")
		}
	}
	s.names = newNames(s.n, ids, o.Engine.MemoryLimit())
	if o.Given != nil {
		s.given = slices.Concat(o.Given.Must(), o.Given.Cannot())
	}
	s.o.Columns = slices.Clone(o.Columns)
	measure(s.o.Columns, s.n)
	if err := s.openFiles(ctx); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(ctx)
	if err := s.begin(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// openFiles reads the files of answers.
func (s *Session) openFiles(ctx context.Context) error {
	release, err := take(ctx, s.o.File, func(string) {})
	if err != nil {
		return err
	}
	defer release()
	if s.links, err = openFile(s.o.File, "link", s.names); err != nil {
		return err
	}
	if s.open, err = openFile(OpenQuestions(s.o.File), "answer", s.names); err != nil {
		s.links.close()
		return err
	}
	return s.rebuild()
}

// OpenQuestions returns the path of the file of open questions next to a file of answers: pairs
// that somebody could not answer, and answers that were overruled.
func OpenQuestions(path string) string { return strings.TrimSuffix(path, ".csv") + ".open.csv" }

// people takes the keys.
func (s *Session) people() error {
	s.keys = map[[sha256.Size]byte]string{}
	for _, p := range s.o.People {
		hash := sha256.Sum256([]byte(p.Key))
		if _, twice := s.keys[hash]; twice || len(p.Key) < 16 || p.Name == byClasses {
			return fault.Param("key", "of "+p.Name, "at least 16 letters, different for each person")
		}
		s.keys[hash] = p.Name
	}
	return nil
}

// Close ends the work in the background and waits for it.
func (s *Session) Close() {
	s.stop()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links.former)+len(s.open.former) > 0 {
		// The last lines of files that were replaced. What cannot be carried over stays there.
		_ = s.alone(context.Background(), func() error { return nil })
	}
	s.links.close()
	s.open.close()
}

// Done is closed when a person ends the session on the page, or when the data changed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session cannot go on, after the end of Done; nil if a person ended it.
func (s *Session) Err() error { return s.err }

// guarded does work on the data; if these changed, the session ends.
func (s *Session) guarded(work func()) {
	if s.o.Guard == nil {
		work()
		return
	}
	err := s.o.Guard(func() error {
		work()
		return nil
	})
	if err != nil {
		s.finish(err)
	}
}

// Dropped returns the unfinished line that a crash had left in the file of answers, "" for none.
func (s *Session) Dropped() string { return strings.TrimSpace(s.links.dropped) }

// Answers returns the links of the answers so far, without those that were given.
func (s *Session) Answers() (*mustlink.Links, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return links.New(s.n, s.all()[len(s.given):])
}

// all returns the given links and those of the answers.
func (s *Session) all() []links.Link {
	list := slices.Clone(s.given)
	for k := range s.links.records {
		list = append(list, s.links.records[k].link())
	}
	return list
}

// rebuild takes the files as they are now.
func (s *Session) rebuild() error {
	all := s.all()
	set, err := links.New(s.n, all)
	if err == nil {
		err = set.Consistent()
	}
	if err != nil {
		return fault.InFile(err, s.o.File)
	}
	s.groups, s.passed = newGroups(s.n), map[pair]bool{}
	for _, l := range all {
		s.groups.add(l)
	}
	for k := range s.open.records {
		if r := &s.open.records[k]; r.word == unknown {
			s.passed[pairOf(r.i, r.j)] = true
		}
	}
	for _, f := range []*file{s.links, s.open} {
		for k := range f.records {
			if t := f.records[k].when; t.After(s.last) {
				s.last = t
			}
		}
	}
	s.replan()
	return nil
}

// refresh takes over what other programs have written into the files.
func (s *Session) refresh() error {
	a, err := s.links.refresh()
	if err != nil {
		return err
	}
	b, err := s.open.refresh()
	if err != nil {
		return err
	}
	if s.stale = s.stale || a || b; s.stale {
		if err := s.rebuild(); err != nil {
			return err
		}
	}
	s.stale = false
	return nil
}

// halfPatience is how long a change waits for another program to end the line that it has begun.
const halfPatience = time.Second

// alone changes the files while no other session does, after it has taken over what other programs
// have written. If a change fails, the files are what counts.
func (s *Session) alone(ctx context.Context, change func() error) error {
	release, err := take(ctx, s.o.File, s.links.at)
	if err != nil {
		return err
	}
	defer release()
	err = s.refresh()
	for end := time.Now().Add(halfPatience); err == nil && s.links.half+s.open.half != "" &&
		time.Now().Before(end); err = s.refresh() {
		time.Sleep(lockRetry)
	}
	if err == nil {
		s.links.at("refreshed")
		err = change()
		s.stale = s.stale || err != nil
	}
	return err
}

// now returns the time of a new answer, later than all others, so that it tells answers apart.
func (s *Session) now() time.Time {
	t := time.Now().UTC().Truncate(time.Millisecond)
	if !t.After(s.last) {
		t = s.last.Add(time.Millisecond)
	}
	s.last = t
	return t
}

// errRow is a request about rows that do not exist.
var errRow = errors.New("want two different rows of the table, and must, cannot or unknown")

// check refuses a pair or a word that is none.
func (s *Session) check(i, j int, word string) error {
	if i < 0 || j < 0 || i >= s.n || j >= s.n || i == j || word != must && word != cannot && word != unknown {
		return errRow
	}
	return nil
}

// reply is an answer of one person about a pair.
type reply struct {
	I    int    `json:"i"`
	J    int    `json:"j"`
	Word string `json:"answer"`
}

// answer keeps answers that a person gave together. Those that contradict links, or each other, are
// not kept; the first of them is returned with the links that imply its opposite.
func (s *Session) answer(who string, list []reply) (first *contradiction, err error) {
	for _, r := range list {
		if err := s.check(r.I, r.J, r.Word); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.alone(s.ctx, func() error {
		first, err = s.keep(who, list)
		return err
	})
	return first, err
}

// keep is answer while no other session changes the files.
func (s *Session) keep(who string, list []reply) (first *contradiction, err error) {
	var kept, skipped []record
	when, trial := s.now(), s.groups
	if len(list) > 1 { // they may contradict each other
		trial = newGroups(s.n)
		for _, l := range s.all() {
			trial.add(l)
		}
	}
	for _, r := range list {
		one := record{i: r.I, j: r.J, word: r.Word, who: who, when: when}
		switch known := trial.known(r.I, r.J); {
		case r.Word == unknown:
			if !slices.ContainsFunc(s.open.records, func(x record) bool { return x.repeats(&one) }) {
				skipped = append(skipped, one)
			}
		case known == r.Word && (s.groups.known(r.I, r.J) == "" || s.said(&one)):
		case known == r.Word: // what implies it may be withdrawn, so it must not count on that
			kept = append(kept, one)
		case known != "":
			if first == nil {
				first = &contradiction{Reply: r, Rest: []reply{}}
			} else {
				first.Rest = append(first.Rest, r)
			}
		default:
			kept = append(kept, one)
			if len(list) > 1 {
				trial.add(one.link())
			}
		}
	}
	if err := s.links.add(kept); err != nil {
		return nil, err
	}
	for k := range kept {
		s.groups.add(kept[k].link())
		s.news(event{link: kept[k].link()})
	}
	if err := s.open.add(skipped); err != nil {
		return nil, err
	}
	for _, r := range skipped {
		s.passed[pairOf(r.i, r.j)] = true
		s.news(event{skip: activelearning.Pair{I: r.i, J: r.j}})
	}
	if first != nil {
		s.explain(first) // the question stays
		return first, nil
	}
	delete(s.asked, who)
	return nil, nil
}

// said reports whether a link or an answer says the same of the pair itself.
func (s *Session) said(one *record) bool {
	return slices.ContainsFunc(s.all(), func(l links.Link) bool {
		return pairOf(l.I, l.J) == pairOf(one.i, one.j) && l.Sign == one.link().Sign
	})
}

// contradiction is an answer, and a path of links that implies its opposite.
type contradiction struct {
	Reply reply   `json:"reply"`
	Path  []step  `json:"path"`
	Rest  []reply `json:"rest"` // given together with it, which contradict links too: to be given again
}

// step is a link of a path, from row I to row J.
type step struct {
	I         int    `json:"i"`
	J         int    `json:"j"`
	NameI     string `json:"from"`
	NameJ     string `json:"to"`
	Word      string `json:"link"`
	Who       string `json:"who,omitempty"`
	When      string `json:"when,omitempty"`
	Line      int    `json:"line,omitempty"`
	Removable bool   `json:"removable"` // it is an answer, and not a given link
}

// explain adds the path to a contradiction.
func (s *Session) explain(c *contradiction) {
	l := (&record{i: c.Reply.I, j: c.Reply.J, word: c.Reply.Word}).link()
	found, ok := errors.AsType[*activelearning.ContradictionError](activelearning.Contradiction(s.n, s.all(),
		l))
	if !ok {
		return
	}
	at := l.I
	for _, l := range found.Path {
		next := l.I + l.J - at
		one := step{I: at, J: next, NameI: s.name(at), NameJ: s.name(next), Word: l.Sign.String(),
			Line: l.Line}
		for k := range s.links.records {
			if r := &s.links.records[k]; pairOf(r.i, r.j) == pairOf(at, next) && r.word == one.Word {
				one.Who, one.Line, one.Removable = r.who, r.line, r.who != byClasses
				if !r.when.IsZero() {
					one.When = r.when.Format(time.RFC3339)
				}
				break
			}
		}
		c.Path, at = append(c.Path, one), next
	}
}

// settle ends a contradiction. With remove, these earlier answers are withdrawn and the new one is
// kept, unless others contradict it still. Without, the new one is withdrawn. What one person said
// and another overruled becomes a disagreement in the file of open questions.
func (s *Session) settle(who string, r reply, remove []pair) (first *contradiction, err error) {
	if err := s.check(r.I, r.J, r.Word); err != nil || r.Word == unknown {
		return nil, errRow
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.alone(s.ctx, func() error {
		if err := s.overrule(who, r, remove); err != nil || len(remove) == 0 {
			return err
		}
		first, err = s.keep(who, []reply{r})
		return err
	})
	return first, err
}

// overrule withdraws answers, and keeps the new one in the same step unless other links contradict
// it. The disagreements are on disk before anything is removed, so a failure or a crash may leave
// an answer in both files, and never in none.
func (s *Session) overrule(who string, r reply, remove []pair) error {
	var overruled []record
	if len(remove) == 0 {
		c := &contradiction{Reply: r}
		s.explain(c)
		if slices.ContainsFunc(c.Path, func(p step) bool { return p.Who != who }) {
			overruled = append(overruled, record{i: r.I, j: r.J, word: r.Word, who: who, when: s.now()})
		}
		delete(s.asked, who)
		return s.open.add(overruled)
	}
	gone := func(x *record) bool { return slices.Contains(remove, pairOf(x.i, x.j)) || x.who == byClasses }
	left := newGroups(s.n)
	for _, l := range s.given {
		left.add(l)
	}
	for k := range s.links.records {
		x := s.links.records[k]
		if !gone(&x) {
			left.add(x.link())
			continue
		}
		recorded := func(y record) bool { return y.repeats(&x) && (x.when.IsZero() || y.when.Equal(x.when)) }
		if x.who != who && x.who != byClasses && !slices.ContainsFunc(s.open.records, recorded) {
			x.fields = nil
			if x.when.IsZero() {
				x.when = s.now()
			}
			overruled = append(overruled, x)
		}
	}
	var kept []record
	if left.known(r.I, r.J) == "" {
		kept = []record{{i: r.I, j: r.J, word: r.Word, who: who, when: s.now()}}
	}
	if err := s.open.add(overruled); err != nil {
		return err
	}
	if err := s.links.rewrite(gone, kept); err != nil {
		return err
	}
	return s.rebuild()
}

// undo removes the last answer of a person, and asks about its pair again. It returns false if
// there is none.
func (s *Session) undo(who string) (found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.alone(s.ctx, func() error {
		found, err = s.withdraw(who)
		return err
	})
	return found, err
}

// withdraw is undo while no other session changes the files.
func (s *Session) withdraw(who string) (bool, error) {
	var last record
	for _, f := range []*file{s.links, s.open} {
		for k := range f.records {
			if r := f.records[k]; r.who == who && !r.when.IsZero() && !r.when.Before(last.when) {
				last = r
			}
		}
	}
	if last.when.IsZero() {
		return false, nil
	}
	same := func(r *record) bool { return r.who == who && r.when.Equal(last.when) || r.who == byClasses }
	for _, f := range []*file{s.links, s.open} {
		if slices.ContainsFunc(f.records, func(r record) bool { return same(&r) }) {
			if err := f.rewrite(same, nil); err != nil {
				return false, err
			}
		}
	}
	if err := s.rebuild(); err != nil {
		return false, err
	}
	s.asked[who] = activelearning.Pair{I: last.i, J: last.j}
	return true, nil
}

// ask makes a pair the question of a person.
func (s *Session) ask(who string, i, j int) error {
	if err := s.check(i, j, unknown); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[who] = activelearning.Pair{I: i, J: j}
	return nil
}

// disagreement is an answer that was overruled by another person.
type disagreement struct {
	I    int    `json:"i"`
	J    int    `json:"j"`
	A    string `json:"a"`
	B    string `json:"b"`
	Word string `json:"answer"`
	Who  string `json:"who"`
	When string `json:"when"`
	Now  string `json:"now"` // what the links say: must, cannot, or "" for nothing
}

// disagreements lists the answers that were overruled, the latest first.
func (s *Session) disagreements() []disagreement {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []disagreement{}
	for k := range s.open.records {
		if r := &s.open.records[k]; r.word != unknown {
			out = append(out, disagreement{r.i, r.j, s.name(r.i), s.name(r.j), r.word, r.who,
				r.when.Format(time.RFC3339), s.groups.known(r.i, r.j)})
		}
	}
	slices.Reverse(out)
	return out
}

// name returns the name of a row for people. One that changes the direction of writing does so for
// itself alone.
func (s *Session) name(i int) string {
	if s.o.Names == nil {
		return "row " + s.names.name(i)
	}
	name := cut(s.o.Names[i], longestName)
	if strings.ContainsAny(name, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
		const first, end = "\u2068", "\u2069" // an isolate
		name = first + name + end
	}
	return name
}

// finish ends the session.
func (s *Session) finish(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.done)
	})
}
