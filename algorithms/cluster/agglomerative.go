package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Linkage is the height at which two groups merge, from the distances of the pairs between them.
type Linkage string

const (
	// AverageLinkage is the mean distance (UPGMA). Pairs that the graph lacks count only with a
	// Distance.
	AverageLinkage Linkage = "average"
	// CompleteLinkage is the largest distance. A pair that the graph lacks counts as infinitely far
	// without a Distance.
	CompleteLinkage Linkage = "complete"
	// SingleLinkage is the smallest distance of the pairs that the graph has.
	SingleLinkage Linkage = "single"
	// WardLinkage is what the merge adds to the sum of squared distances of rows from the centers of
	// their groups, as a distance: sqrt(2 a b / (a+b)) times the distance of the centers of groups of
	// a and b rows (Ward 1963, JASA 58:236-244). It is the distance of two rows, and between random
	// parts of one group, of any sizes, its mean square is that of the distances of the group's rows.
	WardLinkage Linkage = "ward"
)

// AgglomerativeParams are the parameters of [Agglomerative].
type AgglomerativeParams struct {
	Linkage Linkage // "" for [AverageLinkage]
	// Threshold is the largest height of a merge, a distance >= 0; +Inf for no limit.
	Threshold float64
	// Groups ends merging at so many groups, 0 for no such end. More are left if the threshold, the
	// links or the gaps of the graph forbid further merges.
	Groups int
	// Distinct are columns of which a group has every key at most once, such as the source of a row.
	Distinct []Distinct
	// Distance, if not nil, returns the distance >= 0 of any two rows, for pairs that the graph lacks.
	Distance func(i, j int) float64
	// Rows are the coordinates of the rows, for WardLinkage alone, which takes distances from them.
	Rows blas.Matrix
}

// Distinct is a column of which two rows of a group differ: in their keys, or, with a Width, by so
// much in their values. These are positions or times: the same person is not in two pictures that
// were taken in the same minute.
type Distinct struct {
	Name string
	Keys []int // of each row; a row with a negative key is free
	// Width, if not 0, is the smallest difference > 0 of the values of two rows of a group. Keys are
	// then not used, and a row with the value NaN is free.
	Width  float64
	Values []float64
}

// Dendrogram is the result of [Agglomerative].
type Dendrogram struct {
	Labels []int // group of every row, numbered by the groups' first rows
	Sizes  []int // rows of every group
	// Start is the node of every row before the first merge: the number of its must-link component.
	Start     []int
	Merges    []Merge     // in order; merge m makes the node m + the number of components
	Forbidden []Forbidden // merges that links or keys did not allow, in order
}

// Merge is two nodes A < B that became one. Heights never fall from one merge to the next.
type Merge struct {
	A, B   int
	Height float64 // a distance
	Size   int     // rows of the new node
}

// Forbidden is a merge of the nodes A < B that was the next one by height, and two rows for which
// it was not allowed, I of A and J of B.
type Forbidden struct {
	A, B   int
	Height float64
	I, J   int
	Column int // in Distinct, where the rows have the same key; -1 if a cannot-link joins them
	Line   int // of the cannot-link, 0 if none
}

// DistinctError reports two rows that must-links put in one group, but a column does not.
type DistinctError struct {
	Column   string         // name of the column
	Key      int            // of both rows, if there is no Width
	Width    float64        // of the column
	Conflict links.Conflict // the rows, as a cannot-link, and a shortest path of must-links
}

func (e *DistinctError) Error() string {
	same := fmt.Sprintf("have the same key %d in the column %q, at most one row of which is in a group", e.Key,
		e.Column)
	if e.Width > 0 {
		same = fmt.Sprintf("differ by less than %v in the column %q, as no rows of a group do", e.Width, e.Column)
	}
	return fmt.Sprintf("rows %d and %d %s, but the must-links %s join them", e.Conflict.Link.I,
		e.Conflict.Link.J, same, e.Conflict.PathString())
}

// InputFault marks the error as caused by input.
func (e *DistinctError) InputFault() {}

// Agglomerative merges rows into groups from the bottom up, and satisfies every link of l and every
// column of distinct rows: must-linked rows share a group, and cannot-linked rows, or rows that are
// equal or too near in a column, do not. A nil l means no links; weights and bounds of links are
// ignored.
//
// The graph g has the squared distances of pairs of rows (n x n, symmetric, the diagonal empty), as
// [graph.Within] returns them, or [graph.Neighbors.Adjacency]; distances are their roots. Groups
// begin as must-link components. The two groups with the smallest height merge, ties to the one
// with the smallest pair of rows, by numbers, that the graph has between them. A merge that is not
// allowed is recorded, and these two groups, and those that contain them, never merge. So the
// result is greedy, not an optimum, but no two of its groups could merge within the threshold.
//
// Groups between which the graph has no pair do not merge, at any height. Between others, average
// and complete linkage take the pairs that the graph lacks from p.Distance, and so are those of all
// pairs. Without it, and with pairs that are missing because they are far:
//
//   - the average is that of the near pairs alone, below the average of all, so that groups of more
//     than k rows run together in a graph of k neighbors. In a graph of the pairs within the
//     threshold, groups are connected components;
//   - the complete linkage is exact up to the radius of [graph.Within], and in a graph of k
//     neighbors it leaves groups of about k rows at most.
//
// The single linkage asks for no more pairs: it is exact up to that radius, and in a graph of
// neighbors wherever they hold a minimum spanning tree. Ward's linkage takes its distances from
// p.Rows, and from the graph only which groups may merge.
//
// Errors: *[links.ConflictError] for a cannot-link within a must-link component, and
// *[DistinctError] for equal keys in one, both with the path of must-links; *fault.ParamError
// (Linkage, Threshold, Groups above the number of components, Width; negative keys are no error),
// *fault.ShapeError (a matrix, links or keys for other rows, more than 2^31-1 pairs),
// *fault.DataError (row and column of a distance that is negative, not finite or not symmetric, of
// an element on the diagonal or out of order, and of a value that is infinite or above 2^50 times
// its Width), *fault.MemoryError, and ctx.Err(), wrapped.
//
// Cost: O(m log(m)^2) for m pairs and cannot-links, on one core, as a merge changes what the next
// one is, plus for each merge that was tried the smaller group's rows times the columns of keys.
// Ward's linkage measures all pairs that a new group has: d flops each for d coordinates.
// Distance is asked once for each pair of rows of groups that the graph joins: for n rows at most
// n^2/2 times, and about n times the size of a group if a threshold keeps groups small.
// Memory: about 150 bytes for each pair, and as much again for the records of forbidden merges.
func Agglomerative(ctx context.Context, eng *engine.Engine, g *sparse.Matrix, l *links.Set,
	p AgglomerativeParams) (*Dendrogram, error) {
	if p.Linkage == "" {
		p.Linkage = AverageLinkage
	}
	if err := checkAgglomerative(eng, g, l, p); err != nil {
		return nil, err
	}
	if l == nil {
		l, _ = links.New(g.Rows, nil) // of no links, which cannot be wrong
	}
	if err := l.Consistent(); err != nil {
		return nil, err
	}
	start := l.Components()
	a := &agglomeration{AgglomerativeParams: p, links: l, out: &Dendrogram{Start: start},
		of: slices.Clone(start), groups: make([]group, l.NumComponents()), keys: map[key]int32{},
		far: p.Distance != nil && (p.Linkage == AverageLinkage || p.Linkage == CompleteLinkage)}
	if p.Groups > len(a.groups) {
		return nil, fault.Param("number of groups", p.Groups,
			"at most %d, the number of must-link components", len(a.groups))
	}
	for i, c := range start {
		if err := a.put(int32(i), c); err != nil {
			return nil, err
		}
	}
	a.center()
	err := a.read(ctx, g)
	if err == nil {
		err = a.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: agglomerative: %w", err)
	}
	a.label()
	return a.out, nil
}

// Linkages returns the names of all linkages.
func Linkages() []string {
	return []string{string(AverageLinkage), string(CompleteLinkage), string(SingleLinkage),
		string(WardLinkage)}
}

// checkAgglomerative checks all but the links, and the memory.
func checkAgglomerative(eng *engine.Engine, g *sparse.Matrix, l *links.Set, p AgglomerativeParams) error {
	names := Linkages()
	switch {
	case !slices.Contains(names, string(p.Linkage)):
		return fault.Unknown("linkage", string(p.Linkage), names)
	case !(p.Threshold >= 0):
		return fault.Param("threshold", p.Threshold, "a distance >= 0")
	case p.Groups < 0:
		return fault.Param("number of groups", p.Groups, "a number >= 0, 0 for any")
	}
	if err := checkPairs(g); err != nil {
		return err
	}
	coordinates := 0
	if p.Linkage == WardLinkage {
		if coordinates = p.Rows.Cols; p.Rows.Rows != g.Rows {
			return fault.Shape("number of rows with coordinates", p.Rows.Rows,
				"%d, the number of rows of the graph", g.Rows)
		}
		if err := checkFinite(p.Rows); err != nil {
			return err
		}
	}
	pairs, most := g.Count()/2, int64(edgeBytes)
	if l != nil {
		if l.N() != g.Rows {
			return fault.Shape("number of rows of the graph", g.Rows, "%d, as the links are for", l.N())
		}
		pairs += len(l.Cannot())
	}
	if len(p.Distinct) > 0 || l != nil && len(l.Cannot()) > 0 {
		most += forbiddenBytes
	}
	for _, d := range p.Distinct {
		if err := d.check(g.Rows); err != nil {
			return err
		}
	}
	if pairs > math.MaxInt32 {
		return fault.Shape("number of pairs and cannot-links", pairs, "at most 2^31 - 1")
	}
	return eng.Check(fmt.Sprintf("groups of %d rows by %d pairs", g.Rows, pairs),
		most*int64(pairs)+int64(groupBytes+8*coordinates+keyBytes*len(p.Distinct))*int64(g.Rows),
		"use fewer neighbors or a smaller radius")
}

// Memory of an edge with its places in the heap, the lists and the map; of a record of a forbidden
// merge in a slice that grows; of a row with its group and merge; and of a key in the map.
const edgeBytes, forbiddenBytes, groupBytes, keyBytes = 150, 130, 250, 80

// checkPairs refuses a matrix that is not in order, and what is not a graph of squared distances.
func checkPairs(g *sparse.Matrix) error {
	if g == nil {
		return fault.Param("graph", nil, "squared distances of pairs of rows")
	}
	n, end := g.Rows, len(g.Col)
	if n < 0 || n > math.MaxInt32 || len(g.Start) != n+1 || g.Start[0] != 0 || g.Start[n] != end ||
		len(g.Val) != end {
		return fault.Shape("number of elements of the graph", end,
			"that of distances, %d, and the end of the last of %d rows", len(g.Val), n)
	}
	for i := range n {
		if lo, hi := g.Start[i], g.Start[i+1]; lo > hi || hi > end {
			return fault.Row(i, "elements %d to %d of %d: want rows in order", lo, hi, end)
		}
		last := int32(-1)
		for _, j := range g.Col[g.Start[i]:g.Start[i+1]] {
			if j <= last || int(j) >= n || int(j) == i {
				return fault.Cell(i, strconv.Itoa(int(j)),
					"want the numbers of other rows, from 0 to %d, each once and in ascending order", n-1)
			}
			last = j
		}
	}
	return graph.Check(g)
}

// check checks the keys or the values of n rows.
func (d *Distinct) check(n int) error {
	if !(d.Width >= 0) || math.IsInf(d.Width, 1) {
		return fault.Param(fmt.Sprintf("width of the column %q", d.Name), d.Width,
			"a number > 0, or 0 for keys")
	}
	count := len(d.Keys)
	if d.Width > 0 {
		count = len(d.Values)
	}
	if count != n {
		return fault.Shape(fmt.Sprintf("number of keys in the column %q", d.Name), count,
			"%d, the number of rows of the graph", n)
	}
	for i, v := range d.Values {
		if d.Width > 0 && math.Abs(v)/d.Width > 1<<50 {
			return fault.Cell(i, d.Name,
				"value %v: want a number of size below 2^50 times the width %v", v, d.Width)
		}
	}
	return nil
}

// key returns what a group has at most once, if the row is not free: its key, or the cell of its
// value. Two values of a cell, half as wide as the width, differ by less than the width.
func (d *Distinct) key(i int32) (key int64, bound bool) {
	if d.Width == 0 {
		return int64(d.Keys[i]), d.Keys[i] >= 0
	}
	return int64(math.Floor(2 * (d.Values[i] / d.Width))), !math.IsNaN(d.Values[i])
}
