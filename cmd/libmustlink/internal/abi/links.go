package abi

import (
	"errors"
	"math"
	"strconv"
	"unsafe"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Links are a mustlink_links.
type Links struct {
	Pairs    int64
	Pair     unsafe.Pointer // int64, two for each pair
	Sign     unsafe.Pointer // int8
	Weight   unsafe.Pointer // float64
	Bound    unsafe.Pointer // float64
	Triplets int64
	Triplet  unsafe.Pointer // int64, three for each triplet
	Rows     int64
	Group    unsafe.Pointer // int64
	Label    unsafe.Pointer // int64
}

// check returns an error for bad numbers, and for arrays that are NULL but not empty.
func (l *Links) check(n int) error {
	switch {
	case l.Pairs < 0 || l.Pairs > math.MaxInt32 || l.Triplets < 0 || l.Triplets > math.MaxInt32:
		return argument("there are %d pairs and %d triplets: want numbers from 0 to %d", l.Pairs, l.Triplets, math.MaxInt32)
	case l.Pairs > 0 && (l.Pair == nil || l.Sign == nil):
		return argument("pair or sign of the links is NULL: want arrays for %d pairs", l.Pairs)
	case l.Triplets > 0 && l.Triplet == nil:
		return argument("triplet of the links is NULL: want an array of %d triplets", l.Triplets)
	case (l.Group != nil || l.Label != nil) && l.Rows != int64(n):
		return &fault.ShapeError{What: "number of groups or labels", Got: int(l.Rows), Want: strconv.Itoa(n) + ", one for each point"}
	}
	return nil
}

// set returns the links between n points for a method. A nil l has none.
func (l *Links) set(n int, method catalog.Method) (*links.Set, error) {
	if l == nil {
		return links.New(n, nil)
	}
	if err := l.check(n); err != nil {
		return nil, err
	}
	set, err := links.New(n, l.pairs())
	if err != nil {
		return nil, err
	}
	if l.Group != nil {
		groups, err := links.FromChunklets(n, groupRows(list[int64](l.Group, l.Rows)))
		if err != nil {
			return nil, err
		}
		if set, err = union(set, groups); err != nil {
			return nil, err
		}
	}
	if l.Label != nil {
		labeled, err := impliedLinks(list[int64](l.Label, l.Rows), method)
		if err != nil {
			return nil, err
		}
		return union(set, labeled)
	}
	return set, nil
}

// union returns the union of two sets. When one is nil it returns the other unchanged, with its
// origin.
func union(a, b *links.Set) (*links.Set, error) {
	if a.Len() == 0 {
		return b, nil
	}
	return links.Union(a, b)
}

func (l *Links) pairs() []links.Link {
	pair, sign := list[int64](l.Pair, 2*l.Pairs), list[int8](l.Sign, l.Pairs)
	out := make([]links.Link, l.Pairs)
	for k := range out {
		out[k] = links.Link{I: int(pair[2*k]), J: int(pair[2*k+1]), Sign: links.Sign(sign[k])}
		if l.Weight != nil {
			out[k].Weight = list[float64](l.Weight, l.Pairs)[k]
		}
		if l.Bound != nil {
			out[k].Bound = list[float64](l.Bound, l.Pairs)[k]
		}
	}
	return out
}

func (l *Links) triplets() []links.Triplet {
	if l == nil || l.Triplets == 0 {
		return nil
	}
	rows := list[int64](l.Triplet, 3*l.Triplets)
	out := make([]links.Triplet, l.Triplets)
	for k := range out {
		out[k] = links.Triplet{I: int(rows[3*k]), J: int(rows[3*k+1]), K: int(rows[3*k+2])}
	}
	return out
}

// groupRows returns the rows of each number >= 0, in the order of their first rows.
func groupRows(number []int64) [][]int {
	at := map[int64]int{}
	var out [][]int
	for i, g := range number {
		if g < 0 {
			continue
		}
		k, known := at[g]
		if !known {
			k = len(out)
			at[g] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

// labelTexts returns labels as text for the library, "" for unlabeled rows.
func labelTexts(label []int64) []string {
	out := make([]string, len(label))
	for i, v := range label {
		if v >= 0 {
			out[i] = strconv.FormatInt(v, 10)
		}
	}
	return out
}

// impliedLinks returns all links that labels imply: every pair for a method that learns from pairs,
// classes for others.
func impliedLinks(label []int64, method catalog.Method) (*links.Set, error) {
	set, err := links.FromLabels(labelTexts(label))
	if err != nil || !method.Pairwise {
		return set, err
	}
	set, err = set.Closure()
	if e, tooMany := errors.AsType[*fault.MemoryError](err); tooMany {
		e.Hint = "the labels imply every pair: draw some of them"
	}
	return set, err
}

// SampleLinks implements mustlink_sample_links.
func SampleLinks(label unsafe.Pointer, rows, must, cannot int64, seed uint64, pair unsafe.Pointer) error {
	switch {
	case rows < 0 || must > math.MaxInt32 || cannot > math.MaxInt32:
		return argument("there are %d rows, %d must-links and %d cannot-links: want numbers from 0 to %d", rows, must, cannot, math.MaxInt32)
	case rows > 0 && label == nil:
		return argument("the labels are NULL: want a pointer")
	case max(must, cannot) > 0 && pair == nil:
		return argument("the output for pairs is NULL: want a pointer")
	}
	set, err := links.SampleByCount(labelTexts(list[int64](label, rows)), int(must), int(cannot), seed)
	if err != nil {
		return err
	}
	out := list[int64](pair, 2*(must+cannot))
	for k, l := range append(append([]links.Link(nil), set.Must()...), set.Cannot()...) {
		out[2*k], out[2*k+1] = int64(l.I), int64(l.J)
	}
	return nil
}
