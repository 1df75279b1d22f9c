package logdet

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// arrange sorts the constraints by their kind and the distance of their points under the prior,
// then by what else distinguishes them: the projections then end in the same place, within the
// tolerance, whatever the numbers of the points and the order of the list. apart returns squared
// distances, and far has a number for each point that grows with its distance from all. Both count
// to single precision, so that rounding does not separate what is equal.
//
// Cost: count log(count) comparisons. An order beyond the memory limit is an error.
func (s *state) arrange(eng *engine.Engine, apart func(i, j int) float64, far []float64) error {
	const each = 88 // bytes: the first part of a key, a place, and what is picked
	if err := eng.Check("order of LogDet constraints", each*int64(len(s.constraints)),
		"use fewer constraints"); err != nil {
		return err
	}
	s.place = make([]int, len(s.constraints))
	begin := make([]uint64, len(s.place)) // of the keys
	for k, c := range s.constraints {
		s.place[k], begin[k] = k, uint64(c.Kind)<<35|rounded(max(0, apart(c.I, c.J)))
	}
	rest := func(k int) [6]uint64 {
		c := s.constraints[k]
		i, j := rounded(far[c.I]), rounded(far[c.J])
		out := [6]uint64{max(i, j), min(i, j), math.Float64bits(c.Bound), math.Float64bits(c.weight())}
		if c.Kind == Nearer {
			out[4], out[5] = rounded(apart(c.I, c.K)), rounded(far[c.K])
		}
		return out
	}
	slices.SortFunc(s.place, func(a, b int) int {
		if begin[a] != begin[b] {
			return cmp.Compare(begin[a], begin[b])
		}
		x, y := rest(a), rest(b)
		return cmp.Or(slices.Compare(x[:], y[:]), a-b)
	})
	s.constraints, s.inverse = points.Pick(s.constraints, s.place), points.Pick(s.inverse, s.place)
	s.Multipliers, s.Bounds = points.Pick(s.Multipliers, s.place), points.Pick(s.Bounds, s.place)
	return nil
}

// rounded returns the bits of v rounded to single precision, with the range of double precision.
func rounded(v float64) uint64 { return (math.Float64bits(v) + 1<<28) >> 29 }

// restore undoes arrange, for the result.
func (s *state) restore() {
	multipliers, bounds := s.Multipliers, s.Bounds
	s.Multipliers, s.Bounds = make([]float64, len(bounds)), make([]float64, len(bounds))
	for k, place := range s.place {
		s.Multipliers[place], s.Bounds[place] = multipliers[k], bounds[k]
	}
	s.Skipped = points.Pick(s.place, s.Skipped)
	slices.Sort(s.Skipped)
}
