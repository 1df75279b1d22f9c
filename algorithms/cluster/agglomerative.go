package cluster

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

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
}

// Distinct is a column of keys of the rows. A group has at most one row with a key.
type Distinct struct {
	Name string
	Keys []int // of each row; a row with a negative key is free
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

// DistinctError reports two rows with the same key that must-links put in one group.
type DistinctError struct {
	Column   string         // name of the column
	Key      int            // of both rows
	Conflict links.Conflict // the rows, as a cannot-link, and a shortest path of must-links
}

func (e *DistinctError) Error() string {
	return fmt.Sprintf("rows %d and %d have the same key %d in the column %q, at most one row of which is "+
		"in a group, but the must-links %s join them", e.Conflict.Link.I, e.Conflict.Link.J, e.Key, e.Column,
		e.Conflict.PathString())
}

// InputFault marks the error as caused by input.
func (e *DistinctError) InputFault() {}

// Agglomerative merges rows into groups from the bottom up, and satisfies every link of l and every
// column of distinct keys: must-linked rows share a group, and cannot-linked rows, or rows with the
// same key, do not. A nil l means no links; weights and bounds of links are ignored.
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
// neighbors wherever they hold a minimum spanning tree.
//
// Errors: *[links.ConflictError] for a cannot-link within a must-link component, and
// *[DistinctError] for equal keys in one, both with the path of must-links; *fault.ParamError
// (Linkage, Threshold, Groups above the number of components, negative keys are none),
// *fault.ShapeError (a matrix, links or keys for other rows, more than 2^31-1 pairs),
// *fault.DataError (row and column of a distance that is negative, not finite or not symmetric, and
// of an element on the diagonal or out of order), *fault.MemoryError, and ctx.Err(), wrapped.
//
// Cost: O(m log(m)^2) for m pairs and cannot-links, on one core, as a merge changes what the next
// one is, plus for each merge that was tried the smaller group's rows times the columns of keys.
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
		far: p.Distance != nil && p.Linkage != SingleLinkage}
	if p.Groups > len(a.groups) {
		return nil, &fault.ParamError{Param: "number of groups", Value: p.Groups,
			Want: fmt.Sprintf("at most %d, the number of must-link components", len(a.groups))}
	}
	for i, c := range start {
		if err := a.put(int32(i), c); err != nil {
			return nil, err
		}
	}
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

// checkAgglomerative checks all but the links, and the memory.
func checkAgglomerative(eng *engine.Engine, g *sparse.Matrix, l *links.Set, p AgglomerativeParams) error {
	names := []string{string(AverageLinkage), string(CompleteLinkage), string(SingleLinkage)}
	switch {
	case !slices.Contains(names, string(p.Linkage)):
		return fault.Unknown("linkage", string(p.Linkage), names)
	case !(p.Threshold >= 0):
		return &fault.ParamError{Param: "threshold", Value: p.Threshold, Want: "a distance >= 0"}
	case p.Groups < 0:
		return &fault.ParamError{Param: "number of groups", Value: p.Groups, Want: "a number >= 0, 0 for any"}
	}
	if err := checkPairs(g); err != nil {
		return err
	}
	pairs, most := g.Count()/2, int64(edgeBytes)
	if l != nil {
		if l.N() != g.Rows {
			return &fault.ShapeError{What: "number of rows of the graph", Got: g.Rows,
				Want: fmt.Sprintf("%d, as the links are for", l.N())}
		}
		pairs += len(l.Cannot())
	}
	if len(p.Distinct) > 0 || l != nil && len(l.Cannot()) > 0 {
		most += forbiddenBytes
	}
	for _, d := range p.Distinct {
		if len(d.Keys) != g.Rows {
			return &fault.ShapeError{What: fmt.Sprintf("number of keys in the column %q", d.Name),
				Got: len(d.Keys), Want: fmt.Sprintf("%d, the number of rows of the graph", g.Rows)}
		}
	}
	if pairs > math.MaxInt32 {
		return &fault.ShapeError{What: "number of pairs and cannot-links", Got: pairs,
			Want: "at most 2^31 - 1"}
	}
	return eng.Check(fmt.Sprintf("groups of %d rows by %d pairs", g.Rows, pairs),
		most*int64(pairs)+int64(groupBytes+keyBytes*len(p.Distinct))*int64(g.Rows),
		"use fewer neighbors or a smaller radius")
}

// Memory of an edge with its places in the heap, the lists and the map; of a record of a forbidden
// merge in a slice that grows; of a row with its group and merge; and of a key in the map.
const edgeBytes, forbiddenBytes, groupBytes, keyBytes = 150, 130, 250, 80

// checkPairs refuses a matrix that is not in order, and what is not a graph of squared distances.
func checkPairs(g *sparse.Matrix) error {
	if g == nil {
		return &fault.ParamError{Param: "graph", Value: nil, Want: "squared distances of pairs of rows"}
	}
	n, end := g.Rows, len(g.Col)
	if n < 0 || n > math.MaxInt32 || len(g.Start) != n+1 || g.Start[0] != 0 || g.Start[n] != end ||
		len(g.Val) != end {
		return &fault.ShapeError{What: "number of elements of the graph", Got: end,
			Want: fmt.Sprintf("that of distances, %d, and the end of the last of %d rows", len(g.Val), n)}
	}
	for i := range n {
		if lo, hi := g.Start[i], g.Start[i+1]; lo > hi || hi > end {
			return &fault.DataError{Row: i, Err: fmt.Errorf("elements %d to %d of %d: want rows in order",
				lo, hi, end)}
		}
		last := int32(-1)
		for _, j := range g.Col[g.Start[i]:g.Start[i+1]] {
			if j <= last || int(j) >= n || int(j) == i {
				return &fault.DataError{Row: i, Column: strconv.Itoa(int(j)), Err: fmt.Errorf(
					"want the numbers of other rows, from 0 to %d, each once and in ascending order", n-1)}
			}
			last = j
		}
	}
	return graph.Check(g)
}

// agglomeration is the state of [Agglomerative], and the heap of its edges, by height.
type agglomeration struct {
	AgglomerativeParams
	links  *links.Set
	out    *Dendrogram
	of     []int // group of each row
	groups []group
	keys   map[key]int32    // row that has the key
	far    bool             // pairs that the graph lacks count
	edges  []edge           // between groups
	known  map[uint64]int32 // edge between two groups
	heap   []place          // of the edges that are not dead
}

// group is one of the must-link components, with what it took over.
type group struct {
	rows   []int32
	edges  []int32 // also dead ones
	node   int     // number in the history
	weight int     // rows and edges, also those that are no more: of two groups, the heavier one stays
}

// place is a place of the heap. It has the height of its edge, as most comparisons need no more.
type place struct {
	height float64
	edge   int32
}

// key is a key of a column in a group.
type key struct{ group, column, key int }

// edge is what the graph and the links have between the groups a and b.
type edge struct {
	a, b   int32   // a is -1 when the edge is dead: merged into another
	i, j   int32   // the smallest pair of rows, the largest numbers without pairs
	count  int     // pairs of rows: with a Distance none or all
	at     int32   // place in the heap
	reason int32   // 1 + number of the cannot-link between them, 0 for none
	barred bool    // not a merge, whatever comes
	sum    float64 // of distances, or the smallest or largest
	height float64 // +Inf without pairs, and if barred
}

// put puts a row into a group. Only the first groups, of must-linked rows, can have its keys.
func (a *agglomeration) put(i int32, g int) error {
	for k, d := range a.Distinct {
		if d.Keys[i] < 0 {
			continue
		}
		own := key{g, k, d.Keys[i]}
		if first, ok := a.keys[own]; ok {
			return &DistinctError{d.Name, own.key, links.Conflict{
				Link: links.NewLink(int(first), int(i), links.Cannot),
				Path: a.links.Path(int(first), int(i))}}
		}
		delete(a.keys, key{a.of[i], k, d.Keys[i]})
		a.keys[own] = i
	}
	a.of[i] = g
	a.groups[g].rows = append(a.groups[g].rows, i)
	return nil
}

// read makes edges of the graph and the cannot-links.
func (a *agglomeration) read(ctx context.Context, g *sparse.Matrix) error {
	cannot := a.links.Cannot()
	a.edges = make([]edge, 0, g.Count()/2+len(cannot))
	a.known = make(map[uint64]int32, cap(a.edges))
	for i := range g.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		col, val := g.Row(i)
		for k, j := range col {
			if int(j) > i && a.of[i] != a.of[j] {
				one := edge{i: int32(i), j: j, count: 1, sum: math.Sqrt(val[k])}
				a.between(i, int(j)).add(&one, a.Linkage)
			}
		}
	}
	for k, l := range cannot {
		a.between(l.I, l.J).add(&edge{i: math.MaxInt32, reason: int32(k + 1)}, a.Linkage)
	}
	a.heap = make([]place, len(a.edges))
	for k := range a.edges {
		e := &a.edges[k]
		if a.far && e.count > 0 && e.count < a.pairs(e.a, e.b) {
			e.count, e.sum = 0, 0
			if err := a.fill(ctx, e, e.a, e.b); err != nil {
				return err
			}
		}
		a.heap[k], e.at = place{e.height, int32(k)}, int32(k)
		for _, c := range []int32{e.a, e.b} {
			a.groups[c].edges = append(a.groups[c].edges, int32(k))
		}
	}
	for c := range a.groups {
		one := &a.groups[c]
		one.node, one.weight = c, len(one.rows)+len(one.edges)
	}
	heap.Init(a)
	return nil
}

// between returns the edge between the groups of two rows, a new one if there is none.
func (a *agglomeration) between(i, j int) *edge {
	x, y := int32(a.of[i]), int32(a.of[j])
	k, ok := a.known[pairOf(x, y)]
	if !ok {
		k = int32(len(a.edges))
		a.known[pairOf(x, y)] = k
		a.edges = append(a.edges, edge{a: x, b: y, i: math.MaxInt32})
	}
	return &a.edges[k]
}

// pairOf is the key of an edge in known.
func pairOf(x, y int32) uint64 { return uint64(min(x, y))<<32 | uint64(max(x, y)) }

// add adds the pairs and the link of f.
func (e *edge) add(f *edge, linkage Linkage) {
	switch {
	case e.count == 0 || f.count == 0 || linkage == AverageLinkage:
		e.sum += f.sum // both count, or one of them is 0
	case linkage == SingleLinkage:
		e.sum = min(e.sum, f.sum)
	default:
		e.sum = max(e.sum, f.sum)
	}
	if f.i < e.i || f.i == e.i && f.j < e.j {
		e.i, e.j = f.i, f.j
	}
	if e.reason == 0 || f.reason > 0 && f.reason < e.reason {
		e.reason = f.reason
	}
	e.count += f.count
	e.barred = e.barred || f.barred
	switch {
	case e.barred || e.count == 0:
		e.height = math.Inf(1)
	case linkage == AverageLinkage:
		e.height = e.sum / float64(e.count)
	default:
		e.height = e.sum
	}
}

// run merges groups until none may.
func (a *agglomeration) run(ctx context.Context) error {
	last := 0.0
	for left := len(a.groups); left > max(a.Groups, 1) && len(a.heap) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &a.edges[a.heap[0].edge]
		height := max(e.height, last) // by rounding, a mean may be smaller than its smallest term
		if height > a.Threshold || math.IsInf(height, 1) {
			break
		}
		if a.lacks(e) || a.forbids(e, height) {
			e.barred, e.height = true, math.Inf(1)
			a.move(e)
			continue
		}
		if err := a.merge(ctx, e, height); err != nil {
			return err
		}
		last = height
		left--
	}
	return nil
}

// lacks reports whether a pair that the linkage needs is not in the graph.
func (a *agglomeration) lacks(e *edge) bool {
	return a.Linkage == CompleteLinkage && e.count < a.pairs(e.a, e.b)
}

// pairs returns the number of pairs of rows of two groups.
func (a *agglomeration) pairs(x, y int32) int { return len(a.groups[x].rows) * len(a.groups[y].rows) }

// fill adds the distances of all pairs of rows of the groups x and y to an edge.
func (a *agglomeration) fill(ctx context.Context, e *edge, x, y int32) error {
	all := edge{i: math.MaxInt32, count: a.pairs(x, y)}
	for _, i := range a.groups[x].rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, j := range a.groups[y].rows {
			d := a.Distance(int(i), int(j))
			if !(d >= 0) {
				return &fault.DataError{Row: int(i), Column: strconv.Itoa(int(j)),
					Err: fmt.Errorf("distance %v: want a number >= 0", d)}
			}
			if a.Linkage == CompleteLinkage {
				all.sum = max(all.sum, d)
			} else {
				all.sum += d
			}
		}
	}
	e.add(&all, a.Linkage)
	return nil
}

// forbids reports whether the groups of e may not merge, and records it.
func (a *agglomeration) forbids(e *edge, height float64) bool {
	f := Forbidden{Height: height, Column: -1}
	if e.reason > 0 {
		l := a.links.Cannot()[e.reason-1]
		f.I, f.J, f.Line = l.I, l.J, l.Line
	} else if f.I, f.J, f.Column = a.clash(e); f.Column < 0 {
		return false
	}
	f.A, f.B = a.groups[a.of[f.I]].node, a.groups[a.of[f.J]].node
	if f.A > f.B {
		f.A, f.B, f.I, f.J = f.B, f.A, f.J, f.I
	}
	a.out.Forbidden = append(a.out.Forbidden, f)
	return true
}

// clash returns a row of each group that have the same key of a column, -1 if none have.
func (a *agglomeration) clash(e *edge) (i, j, column int) {
	few, many := e.a, e.b
	if len(a.groups[few].rows) > len(a.groups[many].rows) {
		few, many = many, few
	}
	for _, i := range a.groups[few].rows {
		for k, d := range a.Distinct {
			if j, ok := a.keys[key{int(many), k, d.Keys[i]}]; ok {
				return int(i), int(j), k
			}
		}
	}
	return 0, 0, -1
}

// merge merges the groups of an edge: the heavier one takes over rows and edges of the other.
func (a *agglomeration) merge(ctx context.Context, between *edge, height float64) error {
	keep, gone := between.a, between.b
	if a.groups[keep].weight < a.groups[gone].weight {
		keep, gone = gone, keep
	}
	to, from := &a.groups[keep], &a.groups[gone]
	delete(a.known, pairOf(keep, gone))
	a.kill(between)
	if a.far { // what only one of them has pairs with, the other one gets
		for _, both := range [][2]int32{{keep, gone}, {gone, keep}} {
			if err := a.complete(ctx, both[0], both[1]); err != nil {
				return err
			}
		}
	}
	for _, k := range from.edges {
		e := &a.edges[k]
		if e.a < 0 {
			continue
		}
		other := e.a ^ e.b ^ gone
		delete(a.known, pairOf(gone, other))
		pair := pairOf(keep, other)
		if known, ok := a.known[pair]; ok {
			a.kill(e)
			a.edges[known].add(e, a.Linkage)
			a.move(&a.edges[known])
			continue
		}
		e.a, e.b = keep, other
		a.known[pair] = k
		to.edges = append(to.edges, k)
	}
	for _, i := range from.rows {
		_ = a.put(i, int(keep)) // their keys differ, or the groups would not merge
	}
	node := len(a.groups) + len(a.out.Merges)
	a.out.Merges = append(a.out.Merges, Merge{min(to.node, from.node), max(to.node, from.node), height,
		len(to.rows)})
	to.node, to.weight = node, to.weight+from.weight
	from.rows, from.edges = nil, nil
	return nil
}

// complete fills the edges of the group has, which is to be one with lacks, with the pairs that
// other groups and lacks have, where the graph has none of these.
func (a *agglomeration) complete(ctx context.Context, has, lacks int32) error {
	one := &a.groups[has]
	one.edges = slices.DeleteFunc(one.edges, func(k int32) bool { return a.edges[k].a < 0 })
	for _, k := range one.edges {
		e := &a.edges[k]
		other := e.a ^ e.b ^ has
		known, ok := a.known[pairOf(lacks, other)]
		if e.count == 0 || ok && a.edges[known].count > 0 {
			continue
		}
		if err := a.fill(ctx, e, lacks, other); err != nil {
			return err
		}
		a.move(e)
	}
	return nil
}

// move puts an edge where its height belongs in the heap.
func (a *agglomeration) move(e *edge) {
	a.heap[e.at].height = e.height
	heap.Fix(a, int(e.at))
}

// kill takes an edge out of the heap.
func (a *agglomeration) kill(e *edge) {
	heap.Remove(a, int(e.at))
	e.a = -1
}

// label numbers the groups.
func (a *agglomeration) label() {
	a.out.Labels = make([]int, len(a.of))
	number := make([]int, len(a.groups)) // 1 + number, 0 for none yet
	for i, g := range a.of {
		if number[g] == 0 {
			a.out.Sizes = append(a.out.Sizes, len(a.groups[g].rows))
			number[g] = len(a.out.Sizes)
		}
		a.out.Labels[i] = number[g] - 1
	}
}

// Len, Less, Swap, Push and Pop are those of [heap.Interface]. Nothing is pushed.
func (a *agglomeration) Len() int { return len(a.heap) }

// Less orders edges by height, then by their smallest pairs of rows.
func (a *agglomeration) Less(x, y int) bool {
	if p, q := a.heap[x].height, a.heap[y].height; p != q {
		return p < q
	}
	e, f := &a.edges[a.heap[x].edge], &a.edges[a.heap[y].edge]
	return e.i < f.i || e.i == f.i && e.j < f.j
}

func (a *agglomeration) Swap(x, y int) {
	a.heap[x], a.heap[y] = a.heap[y], a.heap[x]
	a.edges[a.heap[x].edge].at, a.edges[a.heap[y].edge].at = int32(x), int32(y)
}

func (a *agglomeration) Push(any) {}

func (a *agglomeration) Pop() any {
	a.heap = a.heap[:len(a.heap)-1]
	return nil
}
