package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Fold is a part of the linked rows that a fit does not see, with the links that judge the fit:
// those with exactly one end among these rows.
//
// A metric may draw rows that it does not know to the middle, and rows that it knows apart. Links
// of two known rows, of two new ones and of one of each are therefore not comparable; these links
// are, because each of them joins a new row to a row of the fit.
type Fold struct {
	Rows  []int    // held out, ascending
	Pairs [][2]int // the held-out row and the row of the fit of each link, must-links first
	Must  int      // number of must-links among the pairs

	set      *links.Set
	kept     []int // rows of the fit, ascending
	sample   []int // positions in Rows of those that stand for all of them in a reference
	ends     []int // second ends of the pairs, ascending
	end, row []int // of each pair: the positions of its second end in ends and of its first in Rows
	// component of must-links that each row is in, for must-links alone; nil if there are
	// cannot-links.
	component []int
}

// Division is the linked rows in parts, each held out from one fit.
type Division struct {
	Folds []*Fold
	// Alone is true if must-links alone judge: there are fewer than five cannot-links to do so.
	Alone bool
	parts int
}

// The least numbers from which there is something to say.
const (
	leastLinks = 5 // links of each kind over all folds
	leastRows  = 8 // held-out rows with a link
)

const (
	streamFolds     = 0x666f6c6473 // the stream of the random numbers that deal rows
	usualParts      = 5
	partsOfFew      = 3       // of fewer than fewRows linked rows
	fewRows         = 15      // linked rows
	mostReferences  = 1 << 20 // distances of a reference: more are slow to sort, and say nothing new
	leastReferences = 32      // rows of a reference
)

// Divide deals the linked rows at random into count parts of equal size, row by row, and returns
// the parts whose links can judge a fit. With count 0 there are five parts, and three of fewer than
// 15 rows.
//
// Components of must-links are not kept together: a held-out row has links to rows of the fit of
// both kinds, so that they can be compared.
//
// Errors: count 1 or negative (*fault.ParamError); too few links (*fault.DataError that says what
// is missing). Cost: O(n + links) for each part.
func Divide(set *links.Set, count int, seed uint64) (*Division, error) {
	rows := linked(set)
	if count == 0 {
		count = usualParts
		if len(rows) < fewRows {
			count = partsOfFew
		}
	}
	if count < 2 {
		return nil, &fault.ParamError{Param: "folds", Value: count, Want: "a number >= 2"}
	}
	must, cannot := set.Count()
	if must == 0 {
		return nil, fault.Data("", "%s and no must-links: want must-links too",
			fault.Count(cannot, "cannot-link"))
	}
	if count > len(rows)/2 {
		return nil, fault.Data("", "%s of %s are too few for %d folds: want at least two rows for each",
			links.Numbers(must, cannot), fault.Count(len(rows), "row"), count)
	}
	of := make([]int, set.N()) // 1 + part of each linked row, 0 for other rows
	for at, k := range rand.New(rand.NewPCG(seed, streamFolds)).Perm(len(rows)) {
		of[rows[k]] = 1 + at%count
	}
	d := &Division{parts: count}
	for part := range count {
		d.Folds = append(d.Folds, newFold(set, of, 1+part))
	}
	cannot = 0
	for _, f := range d.Folds {
		cannot += len(f.Pairs) - f.Must
	}
	d.Alone = cannot < leastLinks
	r := rand.New(rand.NewPCG(seed, streamFolds+1))
	for _, f := range d.Folds {
		if d.Alone {
			f.component = set.Components()
		}
		f.complete(r)
	}
	d.Folds = slices.DeleteFunc(d.Folds, func(f *Fold) bool { return f.Weight() == 0 })
	return d, d.enough(d.Folds, set)
}

// linked returns the rows that links name, ascending.
func linked(set *links.Set) []int {
	in := make([]bool, set.N())
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			in[l.I], in[l.J] = true, true
		}
	}
	var rows []int
	for i, is := range in {
		if is {
			rows = append(rows, i)
		}
	}
	return rows
}

// newFold returns the rows of a part and its links.
func newFold(set *links.Set, of []int, part int) *Fold {
	f := &Fold{set: set}
	for i, p := range of {
		if p == part {
			f.Rows = append(f.Rows, i)
		} else {
			f.kept = append(f.kept, i)
		}
	}
	for k, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			switch {
			case of[l.I] == part && of[l.J] != part:
				f.Pairs = append(f.Pairs, [2]int{l.I, l.J})
			case of[l.J] == part && of[l.I] != part:
				f.Pairs = append(f.Pairs, [2]int{l.J, l.I})
			}
		}
		if k == 0 {
			f.Must = len(f.Pairs)
		}
	}
	return f
}

// complete draws the reference and sets what is computed from the pairs.
func (f *Fold) complete(r *rand.Rand) {
	f.sample = r.Perm(len(f.Rows))
	size := max(leastReferences, mostReferences/max(1, len(f.secondEnds())))
	f.sample = f.sample[:min(size, len(f.sample))]
	slices.Sort(f.sample)
	if f.component != nil {
		f.Pairs = slices.DeleteFunc(f.Pairs[:f.Must], func(p [2]int) bool {
			return !slices.ContainsFunc(f.sample, func(a int) bool { return f.stranger(f.Rows[a], p[1]) })
		})
		f.Must = len(f.Pairs)
	}
	f.ends = f.secondEnds()
	for _, p := range f.Pairs {
		end, _ := slices.BinarySearch(f.ends, p[1])
		row, _ := slices.BinarySearch(f.Rows, p[0])
		f.end, f.row = append(f.end, end), append(f.row, row)
	}
}

// secondEnds returns the rows of the fit that the pairs name, ascending.
func (f *Fold) secondEnds() []int {
	var ends []int
	for _, p := range f.Pairs {
		ends = append(ends, p[1])
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// stranger reports whether no must-links join two rows.
func (f *Fold) stranger(i, j int) bool { return f.component[i] != f.component[j] }

// Weight returns the weight of the fold among others: the number of its links, of m must-links and
// c cannot-links m c / (m + c), which is that of a comparison of both. It is 0 without links to
// compare.
func (f *Fold) Weight() float64 {
	m, c := float64(f.Must), float64(len(f.Pairs)-f.Must)
	switch {
	case len(f.Pairs) == 0:
		return 0
	case f.component != nil:
		return m
	}
	return m * c / (m + c)
}

// enough returns an error if folds have too few links to say something.
func (d *Division) enough(folds []*Fold, set *links.Set) error {
	must, cannot, rows := Count(folds)
	if must >= leastLinks && (cannot >= leastLinks || d.Alone) && rows >= leastRows {
		return nil
	}
	allMust, allCannot := set.Count()
	need := fmt.Sprintf("%d links of each kind", leastLinks)
	if d.Alone && allCannot == 0 {
		need = fmt.Sprintf("%d must-links to rows of other groups", leastLinks)
	}
	return fault.Data("", "%s are too few to hold some out: want at least %s, of %d rows, to judge by",
		links.Numbers(allMust, allCannot), need, leastRows)
}

// Count returns the numbers of links and of held-out rows that judge in some folds.
func Count(folds []*Fold) (must, cannot, rows int) {
	for _, f := range folds {
		must, cannot = must+f.Must, cannot+len(f.Pairs)-f.Must
		in := map[int]bool{}
		for _, i := range f.row {
			in[i] = true
		}
		rows += len(in)
	}
	return must, cannot, rows
}

// Training returns the points of a fit and the links between them, renumbered, and the learner for
// these rows: all rows but those of the fold. To the fitted model those are new points, as the rows
// of later data will be. No link is carried over by a row of the fold. Rows of a Gram matrix keep
// their entries for the points of the fold, which a fit does not read.
func (f *Fold) Training(eng *engine.Engine, l algorithms.Learner, x points.Points) (algorithms.Learner,
	points.Points, *links.Set, error) {
	what := fmt.Sprintf("the %d points of a fit", len(f.kept))
	if err := eng.Check(what, points.Bytes(x), "use fewer points"); err != nil {
		return nil, nil, nil, err
	}
	l, err := algorithms.Among(l, f.kept)
	if err != nil {
		return nil, nil, nil, err
	}
	set, err := f.set.Restrict(f.kept)
	if err != nil {
		return nil, nil, nil, err
	}
	return l, x.Select(f.kept), set, nil
}
