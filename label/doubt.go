package label

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/engine/points"
)

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
