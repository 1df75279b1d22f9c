package forest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/operator"
)

// node is a split or a leaf of a tree. Nodes are stored in preorder: the left child of a split is
// the next node.
type node struct {
	threshold float64
	feature   int32 // of a split; -1 for a leaf
	next      int32 // the right child of a split, the number of a leaf
}

// trees are the nodes of all trees, one tree after the other.
type trees struct {
	nodes  []node
	roots  []int
	leaves int
}

// leaf returns the number of the leaf of a point.
func (t *trees) leaf(root int, x []float64) int {
	at := root
	for {
		n := t.nodes[at]
		switch {
		case n.feature < 0:
			return int(n.next)
		case x[n.feature] <= n.threshold:
			at++
		default:
			at = int(n.next)
		}
	}
}

// maxDepth bounds the depth of a tree, and so the number of its leaves with few cannot-links.
const maxDepth = 30

// stream begins the streams of random numbers of the trees.
const stream = 0x666f72657374

// grow returns the trees, and the leaves of the training points.
func (p Params) grow(ctx context.Context, f *learner.Fit) (trees, *leaves, error) {
	x, must, cannot := f.Dense, f.Links.Must(), f.Links.Cannot()
	if err := p.check(f, x.N, x.D, len(must), len(cannot)); err != nil {
		return trees{}, nil, err
	}
	columns := make([]column, x.D)
	if err := f.Eng.Each(ctx, x.D, 1, func(j int) { columns[j] = ranked(x, j) }); err != nil {
		return trees{}, nil, err
	}
	columns = slices.DeleteFunc(columns, func(c column) bool { return len(c.values) == 1 })
	if len(columns) == 0 {
		return trees{}, nil, fault.Data("", "all points are equal: want points that vary")
	}
	l := &leaves{of: make([][]int32, p.Trees), first: make([]int, p.Trees+1)}
	each := make([]grower, p.Trees)
	err := f.Eng.Each(ctx, p.Trees, 1, func(t int) {
		each[t] = grower{Params: p, columns: columns, random: rand.New(rand.NewPCG(f.Seed, stream+uint64(t))),
			of: make([]int32, x.N)}
		each[t].tree(must, cannot)
	})
	if err != nil {
		return trees{}, nil, err
	}
	var all trees
	for t := range each {
		l.of[t], l.first[t+1] = each[t].of, l.first[t]+each[t].leaves
		for i := range l.of[t] {
			l.of[t][i] += int32(l.first[t])
		}
		all.append(each[t].nodes)
	}
	return all, l, nil
}

// append adds a tree whose splits and leaves are counted from 0.
func (t *trees) append(nodes []node) {
	root, leaf := len(t.nodes), 0
	t.roots = append(t.roots, root)
	for _, n := range nodes {
		if n.feature < 0 {
			n.next = int32(t.leaves + leaf)
			leaf++
		} else {
			n.next += int32(root)
		}
		t.nodes = append(t.nodes, n)
	}
	t.leaves += leaf
}

// check checks the memory of the trees: the ranks and values of the features; for each tree the
// leaves of the points and its nodes, at most two for each leaf; for each worker the rows and the
// links of a tree.
func (p Params) check(f *learner.Fit, n, d, must, cannot int) error {
	const nodeBytes, linkBytes = 16, 48
	most := float64(min(n/p.MinLeaf+1, maxDepth*cannot+1)) // leaves of a tree
	tree := 4*float64(n) + 4*nodeBytes*most
	worker := 4*float64(n) + linkBytes*float64(must+cannot)
	need := 12*float64(n)*float64(d) + tree*float64(p.Trees) + worker*float64(f.Eng.Workers())
	if most*float64(p.Trees) > math.MaxInt32/2 {
		need = math.Inf(1) // more nodes than numbers for them
	}
	return f.Eng.Check(fmt.Sprintf("%d trees of %d points", p.Trees, n), int64(min(need, math.MaxInt64/2)),
		"grow fewer trees, or use fewer points")
}

// column is a feature of the training points, as ranks among its different values.
type column struct {
	feature int32
	values  []float64 // ascending
	rank    []int32   // of each point
}

func ranked(x *points.Dense, feature int) column {
	c := column{feature: int32(feature), values: make([]float64, x.N), rank: make([]int32, x.N)}
	for i := range x.N {
		c.values[i] = x.Row(i)[feature]
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	for i := range x.N {
		at, _ := slices.BinarySearch(c.values, x.Row(i)[feature])
		c.rank[i] = int32(at)
	}
	return c
}

// grower grows one tree.
type grower struct {
	Params
	columns            []column // the features that vary
	random             *rand.Rand
	mustAll, cannotAll float64 // sums of the weights of all links
	nodes              []node
	leaves             int
	of                 []int32 // leaf of each point
}

// split is a threshold between the ranks of a feature: ranks up to cut go left.
type split struct {
	*column
	cut int32
}

func (s split) left(i int) bool { return s.rank[i] <= s.cut }

// tree grows the tree of all points.
func (g *grower) tree(must, cannot []links.Link) {
	g.mustAll, g.cannotAll = max(weight(must), math.SmallestNonzeroFloat64), weight(cannot)
	rows := make([]int32, len(g.of))
	for i := range rows {
		rows[i] = int32(i)
	}
	g.grow(rows, slices.Clone(must), slices.Clone(cannot), 0)
}

func weight(list []links.Link) (sum float64) {
	for _, l := range list {
		sum += l.Weight
	}
	return sum
}

// grow grows the subtree of some rows and of the links within them. It reorders its arguments.
func (g *grower) grow(rows []int32, must, cannot []links.Link, depth int) {
	at := len(g.nodes)
	g.nodes = append(g.nodes, node{feature: -1})
	best, found := g.best(rows, must, cannot, depth)
	if !found {
		for _, i := range rows {
			g.of[i] = int32(g.leaves)
		}
		g.leaves++
		return
	}
	middle := partition(rows, func(i int32) bool { return best.left(int(i)) })
	mustLeft, mustRight := divide(must, best)
	cannotLeft, cannotRight := divide(cannot, best)
	g.grow(rows[:middle], mustLeft, cannotLeft, depth+1)
	g.nodes[at] = node{best.values[best.cut], best.feature, int32(len(g.nodes))}
	g.grow(rows[middle:], mustRight, cannotRight, depth+1)
}

// best returns the best of a few random splits, and false for a leaf.
func (g *grower) best(rows []int32, must, cannot []links.Link, depth int) (best split, found bool) {
	if len(cannot) == 0 || depth == maxDepth || len(rows) < 2*g.MinLeaf {
		return best, false
	}
	const draws = 10 // of a feature, until one varies within the rows
	tries, most := 1+int(math.Sqrt(float64(len(g.columns)))), 0.0
	for drawn := draws * tries; drawn > 0 && tries > 0; drawn-- {
		s, ok := g.draw(rows)
		if !ok {
			continue
		}
		tries--
		gain := separated(cannot, s)/g.cannotAll - separated(must, s)/g.mustAll
		if !found || gain > most {
			best, most, found = s, gain, true
		}
	}
	return best, found
}

// draw draws a split. It is invalid if the feature is constant or a side has too few rows.
func (g *grower) draw(rows []int32) (split, bool) {
	s := split{column: &g.columns[g.random.IntN(len(g.columns))]}
	low, high := int32(math.MaxInt32), int32(0)
	for _, i := range rows {
		low, high = min(low, s.rank[i]), max(high, s.rank[i])
	}
	if low == high {
		return s, false
	}
	s.cut = low + g.random.Int32N(high-low)
	if g.MinLeaf == 1 {
		return s, true
	}
	left := 0
	for _, i := range rows {
		if s.left(int(i)) {
			left++
		}
	}
	return s, min(left, len(rows)-left) >= g.MinLeaf
}

// separated returns the weight of the links between the two sides of a split.
func separated(list []links.Link, s split) (sum float64) {
	for _, l := range list {
		if s.left(l.I) != s.left(l.J) {
			sum += l.Weight
		}
	}
	return sum
}

// divide returns the links within the left side and those within the right side.
func divide(list []links.Link, s split) (left, right []links.Link) {
	within := partition(list, func(l links.Link) bool { return s.left(l.I) == s.left(l.J) })
	list = list[:within]
	middle := partition(list, func(l links.Link) bool { return s.left(l.I) })
	return list[:middle], list[middle:]
}

// partition moves the elements with a property to the front and returns their number.
func partition[T any](list []T, has func(T) bool) (count int) {
	for k, v := range list {
		if has(v) {
			list[k], list[count] = list[count], v
			count++
		}
	}
	return count
}

// leaves holds the leaves of the training points. As an operator, it is the centered n x n matrix
// of the shares of common leaves, which is never formed.
type leaves struct {
	of    [][]int32 // of[t][i] is the leaf of point i in tree t, counted over all trees
	first []int     // of each tree, and the number of all leaves
}

func (l *leaves) count() int { return l.first[len(l.of)] }

// Order returns the number of points.
func (l *leaves) Order() int { return len(l.of[0]) }

// panel is the number of columns that are multiplied at a time.
const panel = 16

// Width returns the number of columns that take little longer than one.
func (l *leaves) Width() int { return panel }

// Cost returns the multiply-adds of a product with one vector, divided by n.
func (l *leaves) Cost() float64 { return 2 * float64(len(l.of)) }

// Multiply writes H Z Z' H x / trees to y, where Z has the indicators of the leaves and H subtracts
// the mean.
func (l *leaves) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	for c := 0; c < x.Cols; c += panel {
		to := min(c+panel, x.Cols)
		from, out := x.View(0, x.Rows, c, to).Clone(), y.View(0, y.Rows, c, to)
		linear.Center(from)
		s := eng.GetMatrix(l.count(), to-c)
		err := l.sums(ctx, eng, from, s)
		if err == nil {
			err = l.spread(ctx, eng, s, out)
		}
		eng.PutMatrix(s)
		if err != nil {
			return err
		}
		for i := range out.Rows {
			eng.Backend().Kernels().Scale(1/float64(len(l.of)), out.Row(i))
		}
		linear.Center(out)
	}
	return nil
}

// sums writes to row k of s the sum of the rows of x whose points are in leaf k.
func (l *leaves) sums(ctx context.Context, eng *engine.Engine, x, s blas.Matrix) error {
	return eng.Each(ctx, len(l.of), 1, func(t int) {
		for k := l.first[t]; k < l.first[t+1]; k++ {
			clear(s.Row(k))
		}
		for i, k := range l.of[t] {
			add(s.Row(int(k)), x.Row(i))
		}
	})
}

// spread writes to row i of y the sum of the rows of s at the leaves of point i.
func (l *leaves) spread(ctx context.Context, eng *engine.Engine, s, y blas.Matrix) error {
	return eng.Each(ctx, y.Rows, 256, func(i int) {
		row := y.Row(i)
		clear(row)
		for _, of := range l.of {
			add(row, s.Row(int(of[i])))
		}
	})
}

func add(to, from []float64) {
	for c, v := range from {
		to[c] += v
	}
}

// principal returns the roots of the leading eigenvalues of the operator, which are not 0, and
// their eigenvectors as columns with mean 0.
func (l *leaves) principal(ctx context.Context, eng *engine.Engine, rank int,
	seed uint64) ([]float64, blas.Matrix, error) {
	const tolerance, nothing = 1e-8, 1e-10
	found, err := operator.TopEigenpairs(ctx, eng, l, rank,
		operator.EigenOptions{Seed: seed, Tolerance: tolerance})
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	var roots []float64
	for _, v := range found.Values {
		if v > 0 && v > nothing*found.Values[0] && v > nothing {
			roots = append(roots, math.Sqrt(v))
		}
	}
	if len(roots) == 0 {
		return nil, blas.Matrix{},
			fault.Data("", "no tree separates any points: want cannot-links between points that differ, or "+
				"a smaller min_leaf")
	}
	u := eng.NewMatrix(l.Order(), len(roots))
	found.Vectors.View(0, u.Cols, 0, u.Rows).TransposeTo(u)
	linear.Center(u)
	return roots, u, nil
}
