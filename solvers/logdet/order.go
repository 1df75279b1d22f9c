package logdet

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine"
)

// arrange sorts the constraints by their kind and the distance of their points under the prior,
// then by what else distinguishes them: the projections then end in the same place, within the
// tolerance, whatever the numbers of the points and the order of the list. apart returns squared
// distances, and far has a number for each point that grows with its distance from all. Both count
// to single precision, so that rounding does not separate what is equal.
//
// Cost: count log(count) comparisons. An order beyond the memory limit is an error.
func (s *state) arrange(eng *engine.Engine, apart func(i, j int) float64, far []float64) error {
	const each = 96 // bytes: a key, a place, and what is picked
	if err := eng.Check("order of LogDet constraints", each*int64(len(s.constraints)),
		"use fewer constraints"); err != nil {
		return err
	}
	type key struct {
		rank  uint64
		place int
	}
	rest := func(k int) [6]uint64 {
		c := s.constraints[k]
		near, other := far[c.I], far[c.J]
		out := [6]uint64{rounded(max(near, other)), rounded(min(near, other)), math.Float64bits(c.Bound),
			math.Float64bits(c.weight())}
		if c.Kind == Nearer {
			out[4], out[5] = rounded(apart(c.I, c.K)), rounded(far[c.K])
		}
		return out
	}
	keys := make([]key, len(s.constraints))
	for k, c := range s.constraints {
		keys[k] = key{uint64(c.Kind)<<35 | rounded(max(0, apart(c.I, c.J))), k}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		x, y := rest(a.place), rest(b.place)
		return cmp.Or(slices.Compare(x[:], y[:]), a.place-b.place)
	})
	s.place = make([]int, len(keys))
	for k, key := range keys {
		s.place[k] = key.place
	}
	s.constraints = pick(s.constraints, s.place)
	s.inverse, s.Multipliers, s.Bounds = pick(s.inverse, s.place), pick(s.Multipliers, s.place),
		pick(s.Bounds, s.place)
	return nil
}

// rounded returns the bits of v rounded to single precision, with the range of double precision.
func rounded(v float64) uint64 { return (math.Float64bits(v) + 1<<28) >> 29 }

func pick[T any](list []T, places []int) []T {
	out := make([]T, len(places))
	for k, place := range places {
		out[k] = list[place]
	}
	return out
}

// restore undoes arrange, for the result.
func (s *state) restore() {
	multipliers, bounds := slices.Clone(s.Multipliers), slices.Clone(s.Bounds)
	for k, place := range s.place {
		s.Multipliers[place], s.Bounds[place] = multipliers[k], bounds[k]
	}
	for k, at := range s.Skipped {
		s.Skipped[k] = s.place[at]
	}
	slices.Sort(s.Skipped)
}
