// Package heldout divides links into parts that fits do not see, for methods that are judged by
// links.
package heldout

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// streamFolds is the stream of the random numbers that assign points to folds; streamRandom is that
// of the random pairs, streamAmong that of the points whose pairs count.
const (
	streamFolds  = 0x666f6c6473
	streamRandom = 0x70616972
	streamAmong  = 0x616d6f6e67
)

// Pairs holds pairs whose link a fit does not know.
type Pairs struct {
	List [][2]int // must-links first
	Must int      // number of must-links in the list
}

// Fold holds the links of a fit and what is held out.
type Fold struct {
	Fit    *links.Set
	Points []int // points of the fold, which are no part of the fit and have no link in it, ascending
	Links  Pairs // the links of these points
	Among  Pairs // pairs of these points, by implied links too; none if all have the same sign
}

// Training returns the points of a fit and the links between them, renumbered: all points but those
// of the fold. To the fitted model those are new points, as the rows of later data will be. Rows of
// a Gram matrix keep their entries for the points of the fold, which a fit does not read.
func (held Fold) Training(eng *engine.Engine, x points.Points) (points.Points, *links.Set, error) {
	out := make([]bool, x.Len())
	for _, i := range held.Points {
		out[i] = true
	}
	rows := make([]int, 0, x.Len()-len(held.Points))
	for i := range out {
		if !out[i] {
			rows = append(rows, i)
		}
	}
	if err := eng.Check(fmt.Sprintf("the %d points of a fit", len(rows)), points.Bytes(x), "use fewer points"); err != nil {
		return nil, nil, err
	}
	set, err := held.Fit.Restrict(rows)
	if err != nil {
		return nil, nil, err
	}
	return x.Select(rows), set, nil
}

// Deal divides the linked points into count folds. Points joined by must-links stay together,
// unless they exceed the size of a fold. A link is held out in every fold that has one of its
// points. So the closure of the links of a fit never contains a held-out link: one of its points
// has no link in the fit.
//
// Without cannot-links, random pairs without a link serve as such, at most as many as there are
// must-links. Every fold must hold out a must-link and another pair, and leave a must-link for the
// fit. If there are too few links, the error names the number of folds for which they are enough.
func Deal(set *links.Set, count int, seed uint64) ([]Fold, error) {
	if count < 2 {
		return nil, &fault.ParamError{Param: "folds", Value: count, Want: "a number >= 2"}
	}
	folds, poor, err := divide(set, count, seed)
	if err == nil && poor < 0 {
		addPairs(folds, set, seed)
	}
	if err != nil || poor < 0 {
		return folds, err
	}
	advice := fmt.Sprintf("give at least %d must-links without a common point, and %d cannot-links", count, count)
	for fewer := count - 1; fewer >= 2; fewer-- {
		if _, poor, err := divide(set, fewer, seed); err == nil && poor < 0 {
			advice = fmt.Sprintf("%s, or take %d folds, for which they are enough", advice, fewer)
			break
		}
	}
	f := folds[poor]
	left, _ := f.Fit.Count()
	return nil, fault.Data("", "%d links are too few for %d folds: fold %d holds out %d must-links and %d other pairs and leaves %d must-links to fit on, want at least one of each; %s",
		set.Len(), count, poor+1, f.Links.Must, len(f.Links.List)-f.Links.Must, left, advice)
}

// divide returns the folds, and the index of the first fold with too few links, -1 for none.
func divide(set *links.Set, count int, seed uint64) (out []Fold, poor int, err error) {
	of := assign(set, count, rand.New(rand.NewPCG(seed, streamFolds)))
	must, cannot := set.Must(), set.Cannot()
	if len(cannot) == 0 {
		cannot = randomPairs(set, rand.New(rand.NewPCG(seed, streamRandom)))
	}
	out = make([]Fold, count)
	for f := range out {
		if out[f], err = split(set, of, f, must, cannot); err != nil {
			return nil, -1, err
		}
		if left, _ := out[f].Fit.Count(); left == 0 || out[f].Links.Must == 0 || out[f].Links.Must == len(out[f].Links.List) {
			return out, f, nil
		}
	}
	return out, -1, nil
}

// assign returns the fold of every linked point.
func assign(set *links.Set, count int, r *rand.Rand) map[int]int {
	groups := set.Chunklets()
	in := map[int]bool{}
	for _, g := range groups {
		for _, i := range g {
			in[i] = true
		}
	}
	for _, l := range set.Cannot() {
		for _, i := range []int{l.I, l.J} {
			if !in[i] {
				in[i] = true
				groups = append(groups, []int{i})
			}
		}
	}
	room := (len(in) + count - 1) / count
	var parts [][]int
	for _, g := range groups {
		size := len(g)
		if size > room {
			g = slices.Clone(g)
			r.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
			size = (len(g) + count - 1) / count
		}
		parts = slices.AppendSeq(parts, slices.Chunk(g, size))
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	slices.SortStableFunc(parts, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	of, load := map[int]int{}, make([]int, count)
	for _, part := range parts { // the largest first, each to the smallest fold
		f := 0
		for k, n := range load {
			if n < load[f] {
				f = k
			}
		}
		load[f] += len(part)
		for _, i := range part {
			of[i] = f
		}
	}
	return of
}

// split returns fold f.
func split(set *links.Set, of map[int]int, f int, must, cannot []links.Link) (Fold, error) {
	var out Fold
	var kept []links.Link
	for k, list := range [][]links.Link{must, cannot} {
		for _, l := range list {
			held := false
			for _, i := range []int{l.I, l.J} {
				if fold, linked := of[i]; linked && fold == f {
					held = true
				}
			}
			switch {
			case held:
				out.Links.List = append(out.Links.List, [2]int{l.I, l.J})
			case k == 0 || len(set.Cannot()) > 0:
				kept = append(kept, l)
			}
		}
		if k == 0 {
			out.Links.Must = len(out.Links.List)
		}
	}
	for i, fold := range of {
		if fold == f {
			out.Points = append(out.Points, i)
		}
	}
	slices.Sort(out.Points)
	var err error
	if out.Fit, err = links.New(set.N(), kept); err != nil {
		return out, fmt.Errorf("fold %d: %w", f+1, err)
	}
	return out, nil
}

// randomPairs draws as many pairs of linked points as there are must-links, and returns those that
// must-links do not join.
func randomPairs(set *links.Set, r *rand.Rand) []links.Link {
	groups := set.Chunklets()
	group := map[int]int{}
	var linked []int
	for g, rows := range groups {
		for _, i := range rows {
			group[i] = g
			linked = append(linked, i)
		}
	}
	var out []links.Link
	if len(groups) < 2 {
		return nil
	}
	for range set.Must() {
		i, j := linked[r.IntN(len(linked))], linked[r.IntN(len(linked))]
		if group[i] != group[j] {
			out = append(out, links.NewLink(i, j, links.Cannot))
		}
	}
	return out
}
