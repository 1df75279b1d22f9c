package links

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Streams of the generator: every kind of draw has its own, so that the number of cannot-links does
// not affect the must-links of the same seed.
const (
	streamMust uint64 = iota + 1
	streamCannot
	streamComponents
)

// SampleByCount draws must distinct unordered pairs of rows with the same label and cannot distinct
// pairs with different labels, each set uniformly and without replacement. Rows whose label is ""
// are unlabeled and never drawn. The same labels and seed give the same links.
//
// A negative number of pairs, or more pairs than exist, is a *fault.ParamError ("must" or "cannot")
// that reports how many exist; more than 2^25 links are a *fault.MemoryError. Cost: O(n + k log k)
// time and O(n + k) memory for k links, for any fraction of all pairs.
func SampleByCount(labels []string, must, cannot int, seed uint64) (*Set, error) {
	c := newClasses(labels)
	if err := checkCount("must", must, c.samePairs(), "same-class"); err != nil {
		return nil, err
	}
	if cannot > 0 && c.count() < 2 {
		return nil, fault.Param("cannot", cannot, "labels of at least two classes for cannot-links, not of "+
			"%d, as on %s", c.count(), plural(len(c.rows), "labeled row", "labeled rows"))
	}
	if err := checkCount("cannot", cannot, c.differentPairs(), "different-class"); err != nil {
		return nil, err
	}
	if err := checkLinks("the sample of links", uint64(must)+uint64(cannot),
		"sample fewer links"); err != nil {
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
		return fault.Param(param, k, "a number >= 0")
	}
	if uint64(k) > available {
		return fault.Param(param, k, "at most %d, the number of %s pairs", available, kind)
	}
	return nil
}

// draw returns k random pairs of those numbered 0..total-1, as sorted links.
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

// SampleByComponents draws must-links uniformly and without replacement from all pairs of rows with
// the same label until there are round(fraction * n) connected components, where n is the number of
// labeled rows. Pairs within a component stay in the sample.
//
// This is the rule of Xing, Ng, Jordan & Russell (NIPS 2002, section 3), which later papers follow:
// with "little" side information the number of components is about 90 % of n (fraction 0.9), with
// "much" about 70 % (0.7); fewer components are more information. Rows whose label is "" are never
// drawn and do not count in n. To add cannot-links, take the [Union] with [SampleByCount] of no
// must-links.
//
// A fraction outside (0, 1], or one with fewer components than classes, is a *fault.ParamError, as
// is one that 2^25 random pairs do not reach (very uneven classes and few components). Cost: O(n +
// k log k) for k links.
func SampleByComponents(labels []string, fraction float64, seed uint64) (*Set, error) {
	return sampleByComponents(labels, fraction, seed, maxLinks)
}

func sampleByComponents(labels []string, fraction float64, seed uint64, limit int) (*Set, error) {
	c := newClasses(labels)
	if !(fraction > 0 && fraction <= 1) {
		return nil, fault.Param("fraction", fraction,
			"a number in (0, 1], the number of components divided by that of rows")
	}
	rows := len(c.rows)
	target := int(math.Round(fraction * float64(rows)))
	if target < c.count() {
		return nil, fault.Param("fraction", fraction, "at least %.4g, as %d labeled rows in %d classes "+
			"form at least %d components", float64(c.count())/float64(rows), rows, c.count(), c.count())
	}
	order := newShuffle(c.samePairs(), seed, streamComponents)
	f := newForest(len(labels))
	unlabeled := len(labels) - rows
	var out []Link
	for f.trees-unlabeled > target {
		if len(out) == limit {
			return nil, fault.Param("fraction", fraction, "a larger number, as %d random same-class pairs "+
				"leave %d components, not %d", limit, f.trees-unlabeled, target)
		}
		i, j := c.same(order.next())
		f.join(i, j)
		out = append(out, NewLink(min(i, j), max(i, j), Must))
	}
	slices.SortFunc(out, comparePairs)
	return &Set{n: len(labels), must: out}, nil
}

// FromLabels returns links that are equivalent to the labels: the rows of each label are a
// chunklet, and one cannot-link joins every two chunklets. Rows whose label is "" are in no link.
// The closure of the set contains all pairs. Cost: O(n + classes^2).
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
	for a, rows := range chunklets { // classes are in the order of their first rows
		for _, others := range chunklets[a+1:] {
			s.cannot = append(s.cannot, NewLink(rows[0], others[0], Cannot))
		}
	}
	return s, nil
}
