package links

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Streams of the generator: every kind of draw has its own, so that asking for more
// cannot-links does not change the must-links of the same seed.
const (
	streamMust uint64 = iota + 1
	streamCannot
	streamComponents
	streamChunklets
)

// SampleByCount draws must distinct unordered pairs of rows with the same label and cannot
// distinct pairs with different labels, each set uniformly and without replacement.
// Rows whose label is "" are unlabeled and never drawn. The same labels and seed give the
// same links.
//
// Asking for more pairs than exist, or for fewer than none, is a *fault.ParamError ("must"
// or "cannot") that says how many there are; more than 2^25 links a *fault.MemoryError.
// Cost O(n + k log k) time and O(n + k) memory for k links, whatever share of all pairs
// they are.
func SampleByCount(labels []string, must, cannot int, seed uint64) (*Set, error) {
	c := newClasses(labels)
	if err := checkCount("must", must, c.samePairs(), "same-class"); err != nil {
		return nil, err
	}
	if err := checkCount("cannot", cannot, c.differentPairs(), "different-class"); err != nil {
		return nil, err
	}
	if err := checkLinks("the sample of links", uint64(must)+uint64(cannot), "ask for fewer"); err != nil {
		return nil, err
	}
	return &Set{
		n:      len(labels),
		must:   draw(must, c.samePairs(), c.same, Must, seed, streamMust),
		cannot: draw(cannot, c.differentPairs(), c.different, Cannot, seed, streamCannot),
	}, nil
}

func checkCount(param string, k int, available uint64, kind string) error {
	if k < 0 {
		return &fault.ParamError{Param: param, Value: k, Want: "a number >= 0"}
	}
	if uint64(k) > available {
		return &fault.ParamError{Param: param, Value: k, Want: fmt.Sprintf("at most %d, the number of %s pairs", available, kind)}
	}
	return nil
}

// draw returns k of the pairs numbered 0..total-1 as sorted links.
func draw(k int, total uint64, pair func(uint64) (int, int), sign Sign, seed, stream uint64) []Link {
	order := newShuffle(total, seed, stream)
	out := make([]Link, k)
	for r := range out {
		i, j := pair(order.next())
		out[r] = NewLink(min(i, j), max(i, j), sign)
	}
	slices.SortFunc(out, comparePairs)
	return out
}

// SampleByComponents draws must-links uniformly and without replacement from all pairs of
// rows with the same label until they leave round(fraction * n) connected components, n
// being the number of labeled rows. Pairs that join nothing new stay in the sample.
//
// This is the rule of Xing, Ng, Jordan & Russell (NIPS 2002, section 3), which the papers
// after it follow: "little" side information leaves about 90 % of n components (fraction
// 0.9), "much" about 70 % (0.7): fewer components are more information.
// Rows whose label is "" are never drawn and do not count in n. For cannot-links beside
// them take the [Union] with [SampleByCount] of no must-links.
//
// A fraction outside (0, 1], or one that leaves fewer components than there are classes,
// is a *fault.ParamError, as is one that 2^25 random pairs do not reach (very uneven
// classes and few components). Cost O(n + k log k) for k links.
func SampleByComponents(labels []string, fraction float64, seed uint64) (*Set, error) {
	return sampleByComponents(labels, fraction, seed, maxLinks)
}

func sampleByComponents(labels []string, fraction float64, seed uint64, limit int) (*Set, error) {
	c := newClasses(labels)
	if !(fraction > 0 && fraction <= 1) {
		return nil, &fault.ParamError{Param: "fraction", Value: fraction, Want: "a number in (0, 1]: the components over the rows"}
	}
	rows := len(c.rows)
	target := int(math.Round(fraction * float64(rows)))
	if target < c.count() {
		return nil, &fault.ParamError{Param: "fraction", Value: fraction,
			Want: fmt.Sprintf("at least %.4g: %d labeled rows in %d classes form no fewer than %d components",
				float64(c.count())/float64(rows), rows, c.count(), c.count())}
	}
	order := newShuffle(c.samePairs(), seed, streamComponents)
	f := newForest(len(labels))
	unlabeled := len(labels) - rows
	var out []Link
	for f.trees-unlabeled > target {
		if len(out) == limit {
			return nil, &fault.ParamError{Param: "fraction", Value: fraction,
				Want: fmt.Sprintf("a larger one: %d random same-class pairs leave %d components, not %d", limit, f.trees-unlabeled, target)}
		}
		i, j := c.same(order.next())
		f.join(i, j)
		out = append(out, NewLink(min(i, j), max(i, j), Must))
	}
	slices.SortFunc(out, comparePairs)
	return &Set{n: len(labels), must: out}, nil
}

// SampleChunklets draws disjoint chunklets of size rows, each from one class: the class
// with probability proportional to its rows not yet drawn, among classes with at least
// size of them, then the rows uniformly. Rows whose label is "" are never drawn.
//
// A size below 1, or more chunklets than the classes can fill, is a *fault.ParamError.
// Cost O(n + chunklets * classes).
func SampleChunklets(labels []string, chunklets, size int, seed uint64) (*Set, error) {
	if size < 1 {
		return nil, &fault.ParamError{Param: "size", Value: size, Want: "a number >= 1"}
	}
	c := newClasses(labels)
	possible := 0
	left := make([][]int, c.count())
	for k := range left {
		left[k] = c.members(k)
		possible += len(left[k]) / size
	}
	if chunklets < 0 || chunklets > possible {
		return nil, &fault.ParamError{Param: "chunklets", Value: chunklets,
			Want: fmt.Sprintf("0 to %d, as many disjoint groups of %d as the classes hold", possible, size)}
	}
	rng := rand.New(rand.NewPCG(seed, streamChunklets))
	out := make([][]int, chunklets)
	for r := range out {
		k := pickClass(rng, left, size)
		rows := left[k]
		for a := range size { // the first steps of a Fisher-Yates shuffle
			b := a + rng.IntN(len(rows)-a)
			rows[a], rows[b] = rows[b], rows[a]
		}
		out[r], left[k] = rows[:size], rows[size:]
	}
	return FromChunklets(len(labels), out)
}

// pickClass draws a class that still has at least size rows, by its number of rows.
func pickClass(rng *rand.Rand, left [][]int, size int) int {
	total := 0
	for _, rows := range left {
		if len(rows) >= size {
			total += len(rows)
		}
	}
	at := rng.IntN(total)
	for k, rows := range left {
		if len(rows) < size {
			continue
		}
		if at -= len(rows); at < 0 {
			return k
		}
	}
	panic("links: no class left to draw from") // unreachable: at < total
}

// FromLabels returns the links that say what the labels say: the rows of each label are a chunklet,
// and one cannot-link joins every two of them. Rows whose label is "" are in none. The closure of
// the set holds all pairs. O(n + classes^2).
func FromLabels(labels []string) (*Set, error) {
	c := newClasses(labels)
	var chunklets [][]int
	for k := range c.count() {
		chunklets = append(chunklets, c.members(k))
	}
	s, err := FromChunklets(len(labels), chunklets)
	if err != nil {
		return nil, err
	}
	for a, rows := range chunklets { // classes come in the order of their first rows
		for _, others := range chunklets[a+1:] {
			s.cannot = append(s.cannot, NewLink(rows[0], others[0], Cannot))
		}
	}
	return s, nil
}
