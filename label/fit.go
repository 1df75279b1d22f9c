package label

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/solvers/tsne"
)

const (
	// fitRows is the number of rows that a fit in the background learns from, besides linked ones. The
	// default method and its verdict take some seconds with so many.
	fitRows = 2000
	// fewest is the number of answers before the first fit. The next ones come when the answers
	// have grown by a tenth, and by as many as this.
	fewest = 5
	// steady and enough say when people can stop: the verdict moved by less during so many answers.
	steady = 0.005
	enough = 50
	// coming is the number of answers that the hint about a verdict looks ahead.
	coming = 20
)

// fitting is what the fits in the background have found.
type fitting struct {
	running bool
	version int // of the map, 0 for none
	answers int // at the begin of the last fit
	curve   []mark
	note    string // why there is no verdict, or what the fit warned of
	method  string
	took    time.Duration
	learned blas.Matrix // coordinates of all rows, or those of the questions before the first fit
	plane   tsne.Plane
	view    view.Layout
}

// mark is the verdict after so many answers.
type mark struct {
	Answers int     `json:"answers"`
	AUC     float64 `json:"auc"`
	Error   float64 `json:"error"`
	Raw     float64 `json:"raw"`
	Text    string  `json:"text"` // the verdict in words
	Finding string  `json:"finding"`
	Hint    string  `json:"hint"` // what the finding means, and what more answers would bring
}

// hint says in a sentence what a verdict after so many answers means. Its error falls with the root
// of their number, which says what [coming] more of them would show.
func hint(v *verdict.Verdict, answers int) string {
	seen := v.Detectable()
	later := seen * math.Sqrt(float64(answers)/float64(answers+coming))
	switch {
	case v.Found == verdict.Better:
		return "The learned metric is better than the rows as they are."
	case v.Found == verdict.Worse:
		return "The learned metric is worse than the rows as they are: more answers may change that."
	case v.TooEarly():
		return fmt.Sprintf("Too early to tell: a gain below %.2f would usually be missed, and with %d more "+
			"answers one below %.2f.", seen, coming, later)
	}
	return fmt.Sprintf("No clear difference: a gain of %.2f would usually be seen.", seen)
}

// fits draws the rows, and fits metrics until the session ends.
func (s *Session) fits() {
	if err := s.draw(s.o.Coordinates, "before learning"); err != nil {
		s.noted(err)
	}
	if !s.o.Fit {
		return
	}
	for pause := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-s.ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		if set, answers := s.due(); set != nil {
			s.noted(s.learn(set, answers))
		}
	}
}

// noted keeps the error of a fit for people to read, and "" for none.
func (s *Session) noted(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fit.running = false
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	s.fit.note = err.Error()
}

// due returns the links to learn from if there are enough new ones, and the number of answers.
func (s *Session) due() (*links.Set, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := len(s.links.records)
	if answers < fewest || math.Abs(float64(answers-s.fit.answers)) < max(fewest, 0.1*float64(answers)) {
		return nil, 0
	}
	set, err := links.New(s.n, s.all())
	if err != nil {
		return nil, 0
	}
	s.fit.running, s.fit.answers = true, answers
	return set, answers
}

// learn fits a metric to links, assesses it and draws all rows in it.
func (s *Session) learn(set *links.Set, answers int) error {
	begin := time.Now()
	table, set, err := s.some(set)
	if err != nil {
		return err
	}
	options := []mustlink.Option{mustlink.HoldOut(0), mustlink.Seed(s.o.Seed), mustlink.Engine(s.o.Engine)}
	if s.o.Method != "" {
		options = append(options, mustlink.Method(s.o.Method))
	}
	if table.Transform() == nil {
		options = append(options, mustlink.Unprepared())
	}
	m, err := mustlink.Fit(s.ctx, table, set, options...)
	if err != nil {
		return err
	}
	y, err := m.Record().Model.Embed(s.ctx, s.o.Engine, s.o.Table.Data().Points)
	if err != nil {
		return err
	}
	if err := s.draw(y, "learned by "+m.Describe().Method); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fit.method, s.fit.took, s.fit.note = m.Describe().Method, time.Since(begin), ""
	if v := m.Verdict(); v.Missing != "" {
		s.fit.note = v.Missing
	} else {
		s.fit.curve = append(s.fit.curve, mark{answers, min(1, max(0, v.AUC)), v.Error, min(1, max(0, v.Raw)),
			v.String(), string(v.Found), hint(v, answers)})
	}
	return nil
}

// some returns the rows that a fit learns from: all of a small table, else the linked ones and
// others that the seed draws.
func (s *Session) some(set *links.Set) (*mustlink.Table, *links.Set, error) {
	if s.n <= fitRows {
		return s.o.Table, set, nil
	}
	taken := map[int]bool{}
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			taken[l.I], taken[l.J] = true, true
		}
	}
	rng := rand.New(rand.NewPCG(s.o.Seed, uint64(s.n)))
	for size := len(taken) + fitRows; len(taken) < min(size, s.n); {
		taken[rng.IntN(s.n)] = true
	}
	rows := make([]int, 0, len(taken))
	for i := range taken {
		rows = append(rows, i)
	}
	slices.Sort(rows)
	table, err := s.o.Table.Select(rows)
	if err != nil {
		return nil, nil, err
	}
	set, err = set.Restrict(rows)
	return table, set, err
}

// draw makes the map of all rows by their coordinates, turned to the map before.
func (s *Session) draw(y blas.Matrix, name string) error {
	a, b, share, err := view.Plane(s.ctx, s.o.Engine, y)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	plane := tsne.Plane{X: a, Y: b}
	if s.fit.plane.X != nil {
		plane = tsne.Align(plane, s.fit.plane)
	}
	s.fit.plane, s.fit.learned = plane, y
	s.fit.view = view.Layout{Name: name, XLabel: "principal direction", YLabel: "principal direction",
		X: plane.X, Y: plane.Y, NoScale: share == [2]float64{}}
	s.fit.version++
	return nil
}

// settled reports whether the verdict has stopped moving.
func settled(curve []mark) bool {
	if len(curve) == 0 {
		return false
	}
	last := curve[len(curve)-1]
	for k := len(curve) - 1; k >= 0; k-- {
		if math.Abs(curve[k].AUC-last.AUC) >= steady {
			return false
		}
		if curve[k].Answers <= last.Answers-enough {
			return true
		}
	}
	return false
}
