package links

import (
	"math"
	"math/rand/v2"
	"sort"
)

// classes groups the labeled rows by label and numbers their pairs. A random pair is a random
// number, so the n^2 pairs are never listed.
type classes struct {
	rows  []int // labeled rows, class by class, ascending within a class
	start []int // class k is rows[start[k]:start[k+1]]; classes in order of first row
	// sameUpTo[k] and differentUpTo[k] count the pairs whose first class is below k.
	sameUpTo, differentUpTo []uint64
}

func newClasses(labels []string) *classes {
	number := make(map[string]int)
	var size []int
	class := make([]int, len(labels))
	for i, label := range labels {
		if label == "" {
			class[i] = -1
			continue
		}
		k, ok := number[label]
		if !ok {
			k = len(size)
			number[label] = k
			size = append(size, 0)
		}
		class[i] = k
		size[k]++
	}
	c := &classes{start: make([]int, len(size)+1)}
	for k, q := range size {
		c.start[k+1] = c.start[k] + q
	}
	c.rows = make([]int, c.start[len(size)])
	next := append([]int(nil), c.start...)
	for i, k := range class {
		if k >= 0 {
			c.rows[next[k]] = i
			next[k]++
		}
	}
	c.sameUpTo, c.differentUpTo = make([]uint64, len(size)+1), make([]uint64, len(size)+1)
	for k, q := range size {
		c.sameUpTo[k+1] = c.sameUpTo[k] + triangle(q)
		c.differentUpTo[k+1] = c.differentUpTo[k] + uint64(q)*uint64(len(c.rows)-c.start[k+1])
	}
	return c
}

func (c *classes) count() int { return len(c.start) - 1 }

func (c *classes) members(k int) []int { return c.rows[c.start[k]:c.start[k+1]] }

func (c *classes) samePairs() uint64 { return c.sameUpTo[c.count()] }

func (c *classes) differentPairs() uint64 { return c.differentUpTo[c.count()] }

// same returns the same-class pair with the given number.
func (c *classes) same(number uint64) (i, j int) {
	k := classAt(c.sameUpTo, number)
	a, b := unrankPair(number - c.sameUpTo[k])
	m := c.members(k)
	return m[a], m[b]
}

// different returns the different-class pair with the given number: a row of some class
// and a row of a later class.
func (c *classes) different(number uint64) (i, j int) {
	k := classAt(c.differentUpTo, number)
	later := c.rows[c.start[k+1]:]
	r := number - c.differentUpTo[k]
	return c.members(k)[r/uint64(len(later))], later[r%uint64(len(later))]
}

// classAt returns the k with upTo[k] <= number < upTo[k+1].
func classAt(upTo []uint64, number uint64) int {
	return sort.Search(len(upTo), func(k int) bool { return upTo[k] > number }) - 1
}

// unrankPair returns the a < b with b(b-1)/2 + a = r.
func unrankPair(r uint64) (a, b int) {
	// The square root is accurate to a few units in the last place; the loops make the result
	// exact.
	t := uint64((1 + math.Sqrt(1+8*float64(r))) / 2)
	for t*(t-1)/2 > r {
		t--
	}
	for t*(t+1)/2 <= r {
		t++
	}
	return int(r - t*(t-1)/2), int(t)
}

// shuffle yields 0..total-1 in uniformly random order, lazily: a Fisher-Yates shuffle that stores
// only the positions that have changed, at most one per number.
type shuffle struct {
	rng         *rand.Rand
	total, done uint64
	moved       map[uint64]uint64 // position -> number there, if it is not the position itself
}

func newShuffle(total, seed, stream uint64) *shuffle {
	return &shuffle{rng: rand.New(rand.NewPCG(seed, stream)), total: total, moved: make(map[uint64]uint64)}
}

// next returns the next number; it must be called at most total times.
func (s *shuffle) next() uint64 {
	position := s.done + s.rng.Uint64N(s.total-s.done)
	drawn, head := s.at(position), s.at(s.done)
	delete(s.moved, s.done)
	if position != s.done {
		s.moved[position] = head
	}
	s.done++
	return drawn
}

func (s *shuffle) at(position uint64) uint64 {
	if v, ok := s.moved[position]; ok {
		return v
	}
	return position
}
