package cluster

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

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
	edges  []int32   // also dead ones
	node   int       // number in the history
	weight int       // rows and edges, also those that are no more: of two groups, the heavier one stays
	center []float64 // of the rows, nil if not needed
}

// place is a place of the heap. It has the height of its edge, as most comparisons need no more.
type place struct {
	height float64
	edge   int32
}

// key is a key of a column in a group.
type key struct {
	group, column int
	key           int64
}

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
	for k := range a.Distinct {
		d := &a.Distinct[k]
		own, bound := d.key(i)
		if !bound {
			continue
		}
		if first, ok := a.taken(k, i, g); ok {
			e := &DistinctError{Column: d.Name, Width: d.Width, Conflict: links.Conflict{
				Link: links.NewLink(int(first), int(i), links.Cannot),
				Path: a.links.Path(int(first), int(i))}}
			if d.Width == 0 {
				e.Key = int(own)
			}
			return e
		}
		delete(a.keys, key{a.of[i], k, own})
		a.keys[key{g, k, own}] = i
	}
	a.of[i] = g
	a.groups[g].rows = append(a.groups[g].rows, i)
	return nil
}

// taken returns a row of a group that may not be in one with row i, by column k.
func (a *agglomeration) taken(k int, i int32, g int) (j int32, ok bool) {
	d := &a.Distinct[k]
	own, bound := d.key(i)
	if !bound {
		return 0, false
	}
	if d.Width == 0 {
		j, ok = a.keys[key{g, k, own}]
		return j, ok
	}
	for at := own - 3; at <= own+3; at++ { // two cells are the width, one is for rounding
		j, ok = a.keys[key{g, k, at}]
		if ok && math.Abs(d.Values[i]-d.Values[j]) < d.Width {
			return j, true
		}
	}
	return 0, false
}

// center finds the centers of the first groups, if the linkage takes distances from them.
func (a *agglomeration) center() {
	if a.Linkage != WardLinkage {
		return
	}
	all := blas.NewMatrix(len(a.groups), a.Rows.Cols)
	for c := range a.groups {
		one := &a.groups[c]
		one.center = all.Row(c)
		for k, i := range one.rows {
			toward(one.center, a.Rows.Row(int(i)), 1/float64(k+1))
		}
	}
}

// toward moves a center by a share of the way to another point.
func toward(center, to []float64, share float64) {
	for c, v := range to {
		center[c] += share * (v - center[c])
	}
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
		a.measure(e)
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
}

// measure finds the height of an edge.
func (a *agglomeration) measure(e *edge) {
	switch x, y := &a.groups[e.a], &a.groups[e.b]; {
	case e.barred || e.count == 0:
		e.height = math.Inf(1)
	case a.Linkage == AverageLinkage:
		e.height = e.sum / float64(e.count)
	case a.Linkage == WardLinkage:
		p, q := float64(len(x.rows)), float64(len(y.rows))
		e.height = math.Sqrt(2 * p * q / (p + q) * points.SquaredDistance(x.center, y.center))
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
			e.barred = true
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
				return fault.Cell(int(i), strconv.Itoa(int(j)), "distance %v: want a number >= 0", d)
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
		for k := range a.Distinct {
			if j, ok := a.taken(k, i, int(many)); ok {
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
	if from.center != nil {
		toward(to.center, from.center, float64(len(from.rows))/float64(len(from.rows)+len(to.rows)))
	}
	for _, i := range from.rows {
		_ = a.put(i, int(keep)) // their keys differ, or the groups would not merge
	}
	node := len(a.groups) + len(a.out.Merges)
	a.out.Merges = append(a.out.Merges, Merge{min(to.node, from.node), max(to.node, from.node), height,
		len(to.rows)})
	to.node, to.weight = node, to.weight+from.weight
	from.rows, from.edges = nil, nil
	if to.center != nil { // all heights have changed
		for _, k := range a.living(keep) {
			a.move(&a.edges[k])
		}
	}
	return nil
}

// complete fills the edges of the group has, which is to be one with lacks, with the pairs that
// other groups and lacks have, where the graph has none of these.
func (a *agglomeration) complete(ctx context.Context, has, lacks int32) error {
	for _, k := range a.living(has) {
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

// living returns the edges of a group that are not dead.
func (a *agglomeration) living(g int32) []int32 {
	one := &a.groups[g]
	one.edges = slices.DeleteFunc(one.edges, func(k int32) bool { return a.edges[k].a < 0 })
	return one.edges
}

// move measures an edge, and puts it where its height belongs in the heap.
func (a *agglomeration) move(e *edge) {
	a.measure(e)
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
