package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

var linkages = []Linkage{AverageLinkage, CompleteLinkage, SingleLinkage, WardLinkage}

// squares is the graph of n rows with the squares of these distances, negative ones left out.
func squares(n int, distance func(i, j int) float64) *sparse.Matrix {
	g := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, 1, n+1)}
	for i := range n {
		for j := range n {
			if d := distance(min(i, j), max(i, j)); i != j && d >= 0 {
				g.Col, g.Val = append(g.Col, int32(j)), append(g.Val, d*d)
			}
		}
		g.Start = append(g.Start, len(g.Col))
	}
	return g
}

// byDefinition merges groups of rows as the documentation of Agglomerative says, in O(n^4).
func byDefinition(g *sparse.Matrix, l *links.Set, p AgglomerativeParams) *Dendrogram {
	type group struct {
		node int
		rows []int
	}
	out := &Dendrogram{Start: l.Components()}
	var groups []group
	for i, c := range out.Start {
		if c == len(groups) {
			groups = append(groups, group{node: c})
		}
		groups[c].rows = append(groups[c].rows, i)
	}
	components := len(groups)
	type pair struct{ a, b int } // nodes
	parts := map[int][]int{}     // nodes in a node
	for _, one := range groups {
		parts[one.node] = []int{one.node}
	}
	tried := map[pair]bool{}
	last := 0.0
	for len(groups) > max(p.Groups, 1) {
		best, bestA, bestB, first := math.Inf(1), -1, -1, [2]int{}
		for a, x := range groups {
		pairs:
			for b, y := range groups[:a] {
				for _, v := range parts[x.node] {
					for _, w := range parts[y.node] {
						if tried[pair{min(v, w), max(v, w)}] {
							continue pairs
						}
					}
				}
				joined, count, sum, least, most, smallest := 0, 0, 0.0, math.Inf(1), 0.0, [2]int{g.Rows, 0}
				for _, i := range x.rows {
					for _, j := range y.rows {
						col, _ := g.Row(i)
						_, near := slices.BinarySearch(col, int32(j))
						d := math.Sqrt(g.At(i, j))
						if near {
							joined++
						} else if d = -1; p.Distance != nil && p.Linkage != SingleLinkage {
							d = p.Distance(i, j)
						}
						if d < 0 {
							continue
						}
						count++
						sum, least, most = sum+d, min(least, d), max(most, d)
						at := [2]int{min(i, j), max(i, j)}
						if near && slices.Compare(at[:], smallest[:]) < 0 {
							smallest = at
						}
					}
				}
				height := map[Linkage]float64{AverageLinkage: sum / float64(count), CompleteLinkage: most,
					SingleLinkage: least, WardLinkage: increase(p.Rows, x.rows, y.rows)}[p.Linkage]
				if joined == 0 || p.Linkage == CompleteLinkage && count < len(x.rows)*len(y.rows) {
					continue
				}
				if bestA < 0 || height < best || height == best && slices.Compare(smallest[:], first[:]) < 0 {
					best, bestA, bestB, first = height, a, b, smallest
				}
			}
		}
		if bestA < 0 || best > p.Threshold {
			break
		}
		if groups[bestA].node > groups[bestB].node {
			bestA, bestB = bestB, bestA
		}
		x, y := groups[bestA], groups[bestB]
		last = max(last, best)
		if separate(x.rows, y.rows, l, p.Distinct) {
			tried[pair{x.node, y.node}] = true
			out.Forbidden = append(out.Forbidden, Forbidden{A: x.node, B: y.node, Height: last})
			continue
		}
		node := group{node: components + len(out.Merges), rows: slices.Sorted(slices.Values(
			slices.Concat(x.rows, y.rows)))}
		parts[node.node] = slices.Concat(parts[x.node], parts[y.node], []int{node.node})
		out.Merges = append(out.Merges, Merge{x.node, y.node, last, len(node.rows)})
		groups = slices.Delete(groups, max(bestA, bestB), max(bestA, bestB)+1)
		groups[min(bestA, bestB)] = node
	}
	slices.SortFunc(groups, func(a, b group) int { return a.rows[0] - b.rows[0] })
	out.Labels = make([]int, g.Rows)
	for k, one := range groups {
		out.Sizes = append(out.Sizes, len(one.rows))
		for _, i := range one.rows {
			out.Labels[i] = k
		}
	}
	return out
}

// increase is the root of twice what a merge adds to the squared distances of rows from the means
// of their groups.
func increase(rows blas.Matrix, x, y []int) float64 {
	spread := func(list []int) (sum float64) {
		for c := range rows.Cols {
			mean := 0.0
			for _, i := range list {
				mean += rows.At(i, c) / float64(len(list))
			}
			for _, i := range list {
				sum += (rows.At(i, c) - mean) * (rows.At(i, c) - mean)
			}
		}
		return sum
	}
	return math.Sqrt(2 * max(0, spread(slices.Concat(x, y))-spread(x)-spread(y)))
}

// separate reports whether links or keys keep two groups of rows apart.
func separate(x, y []int, l *links.Set, distinct []Distinct) bool {
	for _, i := range x {
		for _, j := range y {
			if keptApart(i, j, l, distinct) {
				return true
			}
		}
	}
	return false
}

func keptApart(i, j int, l *links.Set, distinct []Distinct) bool {
	cannot := func(c links.Link) bool { return c.I == min(i, j) && c.J == max(i, j) }
	return slices.ContainsFunc(l.Cannot(), cannot) ||
		slices.ContainsFunc(distinct, func(d Distinct) bool { return alike(d, i, j) })
}

// alike reports whether a column keeps two rows apart.
func alike(d Distinct, i, j int) bool {
	if d.Width > 0 {
		return math.Abs(d.Values[i]-d.Values[j]) < d.Width
	}
	return d.Keys[i] >= 0 && d.Keys[i] == d.Keys[j]
}

// checkReasons: the two rows of every forbidden merge are in its nodes, and may not be in one
// group.
func checkReasons(t testing.TB, r *Dendrogram, l *links.Set, distinct []Distinct) {
	t.Helper()
	lines := map[[2]int]int{}
	for _, c := range l.Cannot() {
		lines[[2]int{c.I, c.J}] = c.Line
	}
	parent := map[int]int{}
	components := slices.Max(append(slices.Clone(r.Start), -1)) + 1
	for m, one := range r.Merges {
		parent[one.A], parent[one.B] = m+components, m+components
	}
	within := func(row, node int) bool {
		at := r.Start[row]
		for at < node && parent[at] > at {
			at = parent[at]
		}
		return at == node
	}
	for _, f := range r.Forbidden {
		ok := f.A < f.B && within(f.I, f.A) && within(f.J, f.B)
		if f.Column >= 0 {
			ok = ok && f.Line == 0 && alike(distinct[f.Column], f.I, f.J)
		} else if line, found := lines[[2]int{min(f.I, f.J), max(f.I, f.J)}]; !found || line != f.Line {
			ok = false
		}
		if !ok {
			t.Fatalf("%+v: no reason, merges %v, start %v", f, r.Merges, r.Start)
		}
	}
}

// problem draws links and keys between n rows of some classes; a share of the links is wrong.
func problem(t testing.TB, rng *rand.Rand, n, count int, wrong float64) (*links.Set, []Distinct) {
	t.Helper()
	classes := 1 + rng.IntN(max(n/2, 1))
	list, seen := []links.Link{}, map[[2]int]bool{}
	for range count {
		i, j := rng.IntN(n), rng.IntN(n)
		if rng.IntN(2) == 0 { // of one class, which few random pairs are
			j = i%classes + classes*rng.IntN(n/classes)
		}
		if at := [2]int{min(i, j), max(i, j)}; i == j || seen[at] {
			continue
		} else {
			seen[at] = true
		}
		sign := links.Must
		if (i%classes == j%classes) == (rng.Float64() < wrong) {
			sign = links.Cannot
		}
		one := links.NewLink(i, j, sign)
		one.Line = len(list) + 2
		list = append(list, one)
	}
	distinct := make([]Distinct, rng.IntN(3))
	for k := range distinct {
		distinct[k] = Distinct{Name: fmt.Sprintf("source %d", k), Keys: make([]int, n)}
		for i := range n {
			distinct[k].Keys[i] = i / classes // rows of one class have different keys
			if wrong > 0 && rng.IntN(n) == 0 {
				distinct[k].Keys[i] = 0
			}
			if k == 1 && rng.IntN(2) == 0 {
				distinct[k].Keys[i] = -1
			}
		}
		if rng.IntN(3) == 0 { // the same as positions
			d := &distinct[k]
			if d.Width, d.Values = 0.75, make([]float64, n); wrong > 0 {
				d.Width = 0.7 // whose multiples are rounded
			}
			for i, key := range d.Keys {
				if d.Values[i] = d.Width*float64(key) - 2; key < 0 {
					d.Values[i] = math.NaN()
				}
			}
			if rng.IntN(2) == 0 {
				d.Keys = nil
			}
		}
	}
	return enginetest.Links(t, n, list), distinct
}

// Every merge, height, refusal and label is that of the definition: distances are small whole
// numbers, whose sums are exact, with many ties.
func TestAgglomerativeIsByDefinition(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 1))
	merges, forbidden, refused := 0, 0, 0
	problems := drawstest.Count(500, 5000)
	for range problems {
		n := 1 + rng.IntN(12)
		gaps := float64(rng.IntN(2)) * rng.Float64() // in half of the problems no pair is missing
		table, far := map[[2]int]float64{}, map[[2]int]float64{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				at := [2]int{i, j}
				if table[at] = float64(rng.IntN(9)); rng.Float64() < gaps {
					table[at], far[at] = -1, table[at]+float64(rng.IntN(9))
				} else {
					far[at] = table[at]
				}
			}
		}
		g := squares(n, func(i, j int) float64 { return table[[2]int{i, j}] })
		l, distinct := problem(t, rng, n, rng.IntN(n+3), 0.05)
		for _, linkage := range linkages[:3] { // Ward's is not of whole numbers
			p := AgglomerativeParams{Linkage: linkage, Threshold: []float64{math.Inf(1), 4}[rng.IntN(2)],
				Groups: rng.IntN(1 + min(3, l.NumComponents())), Distinct: distinct}
			if rng.IntN(2) == 0 {
				p.Distance = func(i, j int) float64 { return far[[2]int{min(i, j), max(i, j)}] }
			}
			got, err := Agglomerative(context.Background(), eng, g, l, p)
			if err != nil {
				checkContradiction(t, err, l, distinct)
				refused++
				continue
			}
			checkReasons(t, got, l, distinct)
			want := byDefinition(g, l, p)
			for k := range got.Forbidden { // any reason is enough
				f := &got.Forbidden[k]
				f.I, f.J, f.Column, f.Line = 0, 0, 0, 0
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%d rows, %+v, links %v %v:\ngot  %+v\nwant %+v", n, p, l.Must(), l.Cannot(), got, want)
			}
			merges, forbidden = merges+len(got.Merges), forbidden+len(got.Forbidden)
		}
	}
	t.Logf("%d merges, %d forbidden, %d problems refused", merges, forbidden, refused)
	if merges < 3*problems || forbidden < problems || 25*refused < problems {
		t.Errorf("%d merges, %d forbidden, %d problems refused: the problems are too easy", merges, forbidden,
			refused)
	}
}

// uniform draws rows between 0 and 1.
func uniform(rng *rand.Rand, n, d int) blas.Matrix {
	x := blas.NewMatrix(n, d)
	for i := range n {
		for c := range d {
			x.Set(i, c, rng.Float64())
		}
	}
	return x
}

// Ward's linkage merges what adds least to the sum of squares, on any graph and under links.
func TestWardIsByDefinition(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 10))
	merges, forbidden := 0, 0
	problems := drawstest.Count(300, 3000)
	for range problems {
		n := 1 + rng.IntN(12)
		x := uniform(rng, n, 1+rng.IntN(3))
		gaps := float64(rng.IntN(2)) * rng.Float64()
		table := map[[2]int]float64{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if table[[2]int{i, j}] = rng.Float64(); rng.Float64() < gaps {
					table[[2]int{i, j}] = -1
				}
			}
		}
		g := squares(n, func(i, j int) float64 { return table[[2]int{i, j}] })
		l, distinct := problem(t, rng, n, rng.IntN(n+3), 0)
		p := AgglomerativeParams{Linkage: WardLinkage, Threshold: []float64{math.Inf(1), 0.5}[rng.IntN(2)],
			Distinct: distinct, Rows: x}
		got, err := Agglomerative(context.Background(), eng, g, l, p)
		if err != nil {
			checkContradiction(t, err, l, distinct)
			continue
		}
		want := byDefinition(g, l, p)
		if !slices.Equal(got.Labels, want.Labels) || len(got.Merges) != len(want.Merges) ||
			len(got.Forbidden) != len(want.Forbidden) {
			t.Fatalf("%d rows, links %v %v:\ngot  %+v\nwant %+v", n, l.Must(), l.Cannot(), got, want)
		}
		for m, one := range want.Merges {
			if is := got.Merges[m]; is.A != one.A || is.B != one.B || is.Size != one.Size ||
				math.Abs(is.Height-one.Height) > 1e-7 {
				t.Fatalf("merge %d is %+v, want %+v", m, is, one)
			}
		}
		merges, forbidden = merges+len(got.Merges), forbidden+len(got.Forbidden)
	}
	if merges < 2*problems || 3*forbidden < problems {
		t.Errorf("%d merges, %d forbidden: the problems are too easy", merges, forbidden)
	}
}

// checkContradiction: the error names two rows that may not be in one group, and must-links that
// lead from one to the other.
func checkContradiction(t testing.TB, err error, l *links.Set, distinct []Distinct) {
	t.Helper()
	conflict, bad := links.Conflict{}, true
	if e, ok := errors.AsType[*links.ConflictError](err); ok {
		conflict = e.First
		bad = !slices.ContainsFunc(l.Cannot(), func(c links.Link) bool {
			return c.I == conflict.Link.I && c.J == conflict.Link.J && c.Line == conflict.Link.Line
		})
	} else if e, ok := errors.AsType[*DistinctError](err); ok {
		conflict = e.Conflict
		bad = !slices.ContainsFunc(distinct, func(d Distinct) bool {
			return d.Name == e.Column && d.Width == e.Width && alike(d, conflict.Link.I, conflict.Link.J) &&
				(d.Width > 0 || d.Keys[conflict.Link.I] == e.Key)
		})
	}
	at := conflict.Link.I
	for _, step := range conflict.Path {
		bad = bad || at != step.I && at != step.J || !slices.ContainsFunc(l.Must(), func(m links.Link) bool {
			return m.I == step.I && m.J == step.J && m.Line == step.Line
		})
		at = step.I + step.J - at
	}
	if bad || at != conflict.Link.J || conflict.Link.I == conflict.Link.J || !fault.IsInput(err) {
		t.Fatalf("%v: no contradiction", err)
	}
}

// No group of any size breaks a link or a key, no two groups could still merge, and what is refused
// contradicts itself.
func TestAgglomerativeKeepsAllLinks(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 2))
	kept, refused, forbidden := 0, 0, 0
	problems := drawstest.Count(1000, 5000)
	for k := range problems {
		n := 2 + rng.IntN(1+min(2000, 2*k))
		l, distinct := problem(t, rng, n, rng.IntN(1+min(4000, 4*n)), []float64{0, 0, 0.001}[rng.IntN(3)])
		g := randomGraph(rng, n, 5)
		p := AgglomerativeParams{Linkage: linkages[k%4], Threshold: []float64{math.Inf(1), 0.5}[rng.IntN(2)],
			Distinct: distinct, Rows: uniform(rng, n, 2)}
		r, err := Agglomerative(context.Background(), eng, g, l, p)
		component := plainComponents(n, l.Must())
		if got := contradicts(component, l, distinct); got != (err != nil) {
			t.Fatalf("the links contradict each other: %t, error %v", got, err)
		}
		if err != nil {
			checkContradiction(t, err, l, distinct)
			refused++
			continue
		}
		if contradicts(r.Labels, l, distinct) || !satisfies(r.Labels, l.Must()) {
			t.Fatalf("%d rows, %d links, %s: a link or a key is violated", n, l.Len(), p.Linkage)
		}
		checkNumbers(t, r)
		checkReasons(t, r, l, distinct)
		if p.Linkage == SingleLinkage { // the pairs of the graph say which groups could merge
			checkMaximal(t, g, r, l, p)
		}
		kept, forbidden = kept+l.Len(), forbidden+len(r.Forbidden)
	}
	t.Logf("%d links kept, %d merges forbidden, %d problems refused", kept, forbidden, refused)
	if 20*refused < problems || kept < 100*problems || forbidden < 10*problems {
		t.Errorf("%d links kept, %d merges forbidden, %d problems refused: the problems are too easy", kept,
			forbidden, refused)
	}
}

// randomGraph joins every row with some random ones at random distances.
func randomGraph(rng *rand.Rand, n, k int) *sparse.Matrix {
	near := make([]map[int]float64, n)
	for i := range near {
		near[i] = map[int]float64{}
	}
	for i := range n {
		for range k {
			if j := rng.IntN(n); j != i {
				d := rng.Float64()
				near[i][j], near[j][i] = d, d
			}
		}
	}
	g := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, 1, n+1)}
	for i := range n {
		var col []int32
		for j := range near[i] {
			col = append(col, int32(j))
		}
		slices.Sort(col)
		for _, j := range col {
			g.Col, g.Val = append(g.Col, j), append(g.Val, near[i][int(j)])
		}
		g.Start = append(g.Start, len(g.Col))
	}
	return g
}

// plainComponents spreads the smallest row along must-links until nothing changes.
func plainComponents(n int, must []links.Link) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	for changed := true; changed; {
		changed = false
		for _, l := range must {
			if of[l.I] != of[l.J] {
				of[l.I] = min(of[l.I], of[l.J])
				of[l.J], changed = of[l.I], true
			}
		}
	}
	return of
}

// contradicts reports whether a group has a cannot-link, or a key twice.
func contradicts(labels []int, l *links.Set, distinct []Distinct) bool {
	for _, c := range l.Cannot() {
		if labels[c.I] == labels[c.J] {
			return true
		}
	}
	for _, d := range distinct {
		if d.Width > 0 {
			order, last := make([]int, len(labels)), map[int]int{}
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(i, j int) int { return cmp.Compare(d.Values[i], d.Values[j]) })
			for _, i := range order {
				if j, ok := last[labels[i]]; ok && alike(d, i, j) {
					return true
				}
				last[labels[i]] = i
			}
			continue
		}
		seen := map[[2]int]bool{}
		for i, key := range d.Keys {
			if at := [2]int{labels[i], key}; key >= 0 && seen[at] {
				return true
			} else {
				seen[at] = true
			}
		}
	}
	return false
}

// checkNumbers: groups are numbered by their first rows, sizes count, merges build them.
func checkNumbers(t testing.TB, r *Dendrogram) {
	t.Helper()
	sizes := make([]int, len(r.Sizes))
	next := 0
	for _, k := range r.Labels {
		if k > next || k < 0 {
			t.Fatalf("group %d comes before %d", k, next)
		}
		if k == next {
			next++
		}
		sizes[k]++
	}
	components := slices.Max(append(slices.Clone(r.Start), -1)) + 1
	if !slices.Equal(sizes, r.Sizes) || len(r.Sizes) != components-len(r.Merges) {
		t.Fatalf("sizes %v of %v, %d components, %d merges", r.Sizes, sizes, components, len(r.Merges))
	}
	last := 0.0
	for m, one := range r.Merges {
		if one.Height < last || one.A >= one.B || one.B >= components+m {
			t.Fatalf("merge %d is %+v after height %v", m, one, last)
		}
		last = one.Height
	}
}

// checkMaximal: a pair of the graph within the threshold is in one group, or a link or a key keeps
// its groups apart.
func checkMaximal(t testing.TB, g *sparse.Matrix, r *Dendrogram, l *links.Set, p AgglomerativeParams) {
	t.Helper()
	apart := map[[2]int]bool{}
	for _, c := range l.Cannot() {
		a, b := r.Labels[c.I], r.Labels[c.J]
		apart[[2]int{min(a, b), max(a, b)}] = true
	}
	rows := make([][]int, len(r.Sizes))
	for i, k := range r.Labels {
		rows[k] = append(rows[k], i)
	}
	none := enginetest.Links(t, l.N(), nil)
	for i := range g.Rows {
		col, val := g.Row(i)
		for k, j := range col {
			a, b := r.Labels[i], r.Labels[j]
			if a < b && math.Sqrt(val[k]) <= p.Threshold && !apart[[2]int{a, b}] {
				if !separate(rows[a], rows[b], none, p.Distinct) {
					t.Fatalf("groups %d and %d of rows %d and %d could merge", a, b, i, j)
				}
				apart[[2]int{a, b}] = true
			}
		}
	}
}

// lanceWilliams returns the heights of a complete graph by the update formulas of Lance and
// Williams (1967, Computer Journal 9:373-380).
func lanceWilliams(d [][]float64, linkage Linkage) (heights []float64) {
	n := len(d)
	size, gone := make([]float64, n), make([]bool, n)
	for i := range size {
		size[i] = 1
	}
	for range n - 1 {
		x, y := -1, -1
		for i := range n {
			for j := range i {
				if !gone[i] && !gone[j] && (x < 0 || d[i][j] < d[x][y]) {
					x, y = i, j
				}
			}
		}
		heights = append(heights, d[x][y])
		for k := range n {
			if k == x || k == y {
				continue
			}
			if linkage == WardLinkage {
				all := size[x] + size[y] + size[k]
				d[x][k] = math.Sqrt(((size[x]+size[k])*d[x][k]*d[x][k] + (size[y]+size[k])*d[y][k]*d[y][k] -
					size[k]*d[x][y]*d[x][y]) / all)
				d[k][x] = d[x][k]
				continue
			}
			a, b, c := size[x]/(size[x]+size[y]), size[y]/(size[x]+size[y]), 0.0
			if linkage == CompleteLinkage {
				a, b, c = 0.5, 0.5, 0.5
			} else if linkage == SingleLinkage {
				a, b, c = 0.5, 0.5, -0.5
			}
			d[x][k] = a*d[x][k] + b*d[y][k] + c*math.Abs(d[x][k]-d[y][k])
			d[k][x] = d[x][k]
		}
		size[x] += size[y]
		gone[y] = true
	}
	return heights
}

func TestAgglomerativeIsLanceWilliams(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 3))
	for _, n := range []int{2, 3, 30, 90} {
		x := enginetest.Normal(rng, n, 3, 0)
		for _, linkage := range linkages {
			d := make([][]float64, n)
			for i := range d {
				d[i] = make([]float64, n)
				for j := range d[i] {
					d[i][j] = math.Sqrt(enginetest.SquaredDistance(x.Row(i), x.Row(j)))
				}
			}
			g, err := graph.Within(context.Background(), eng, enginetest.Kernel(t, "linear"), x, 100)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Agglomerative(context.Background(), eng, g, nil,
				AgglomerativeParams{Linkage: linkage, Threshold: math.Inf(1),
					Rows: blas.MatrixOf(x.N, x.D, x.Data)})
			if err != nil {
				t.Fatal(err)
			}
			want := lanceWilliams(d, linkage)
			if len(r.Merges) != n-1 || len(r.Sizes) != 1 {
				t.Fatalf("%d merges of %d rows", len(r.Merges), n)
			}
			for m, one := range r.Merges {
				if math.Abs(one.Height-want[m]) > 1e-13*float64(n)*want[m] {
					t.Errorf("%s of %d rows: height %d is %v, want %v", linkage, n, m, one.Height, want[m])
				}
			}
		}
	}
}

// Complete linkage up to a radius needs only the pairs within it.
func TestCompleteLinkageWithinRadius(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 4))
	x := enginetest.Normal(rng, 200, 2, 0)
	l, distinct := problem(t, rng, 200, 60, 0)
	var want *Dendrogram
	for _, radius := range []float64{100, 0.8, 0.5} {
		g, err := graph.Within(context.Background(), eng, enginetest.Kernel(t, "linear"), x, radius)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Agglomerative(context.Background(), eng, g, l,
			AgglomerativeParams{Linkage: CompleteLinkage, Threshold: 0.5, Distinct: distinct})
		if err != nil {
			t.Fatal(err)
		}
		for k := range r.Forbidden { // of several reasons, the numbers of edges decide
			f := &r.Forbidden[k]
			f.I, f.J, f.Column, f.Line = 0, 0, 0, 0
		}
		if want == nil {
			want = r
		}
		if !reflect.DeepEqual(r, want) || len(r.Merges) < 50 {
			t.Errorf("radius %g: %d merges, want %d", radius, len(r.Merges), len(want.Merges))
		}
	}
}

// Rows in another order are in the same groups, and merge at the same heights, when distances
// differ.
func TestAgglomerativeOfPermutedRows(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 5))
	const n = 300
	for draw := range drawstest.Count(30, 300) {
		l, distinct := problem(t, rng, n, 200, 0)
		g := randomGraph(rng, n, 6)
		p := AgglomerativeParams{Linkage: linkages[draw%4], Threshold: 0.7, Distinct: distinct,
			Rows: uniform(rng, n, 5)}
		want, err := Agglomerative(context.Background(), eng, g, l, p)
		if err != nil {
			t.Fatal(err)
		}
		order, place := make([]int32, n), make([]int, n)
		for r, i := range rng.Perm(n) {
			order[r], place[i] = int32(i), r
		}
		moved := make([]links.Link, 0, l.Len())
		for _, one := range slices.Concat(l.Must(), l.Cannot()) {
			one.I, one.J = place[one.I], place[one.J]
			moved = append(moved, one)
		}
		p.Distinct = slices.Clone(distinct)
		rows := p.Rows
		p.Rows = blas.NewMatrix(n, rows.Cols)
		for i, at := range place {
			copy(p.Rows.Row(at), rows.Row(i))
		}
		for k, d := range distinct {
			p.Distinct[k].Keys, p.Distinct[k].Values = make([]int, n), make([]float64, n)
			for i, at := range place {
				if d.Width > 0 {
					p.Distinct[k].Values[at] = d.Values[i]
				} else {
					p.Distinct[k].Keys[at] = d.Keys[i]
				}
			}
		}
		set := enginetest.Links(t, n, moved)
		got, err := Agglomerative(context.Background(), eng, g.Permute(order), set, p)
		if err != nil {
			t.Fatal(err)
		}
		number := map[int]int{}
		for i, k := range want.Labels {
			if known, ok := number[k]; ok && known != got.Labels[place[i]] {
				t.Fatalf("%s: row %d is in another group", p.Linkage, i)
			}
			number[k] = got.Labels[place[i]]
		}
		if len(got.Sizes) != len(want.Sizes) || len(got.Forbidden) != len(want.Forbidden) {
			t.Fatalf("%s: %d groups, %d forbidden, want %d and %d", p.Linkage, len(got.Sizes),
				len(got.Forbidden), len(want.Sizes), len(want.Forbidden))
		}
		for m := range got.Merges {
			if math.Abs(got.Merges[m].Height-want.Merges[m].Height) > 1e-13 {
				t.Errorf("%s: merge %d is %v, want %v", p.Linkage, m, got.Merges[m], want.Merges[m])
			}
		}
	}
}

// What is wrong is named.
func TestAgglomerativeErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	good := func() *sparse.Matrix { return squares(4, func(i, j int) float64 { return float64(i + j) }) }
	set := func(n int, list ...links.Link) *links.Set { return enginetest.Links(t, n, list) }
	must := func(i, j int) links.Link { return links.NewLink(i, j, links.Must) }
	for name, c := range map[string]struct {
		change func(*sparse.Matrix) *sparse.Matrix
		links  *links.Set
		params AgglomerativeParams
		want   any
		text   string
	}{
		"no graph": {change: func(*sparse.Matrix) *sparse.Matrix { return nil }, want: &fault.ParamError{}},
		"too few starts": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Start = g.Start[:4]; return g },
			want: &fault.ShapeError{}},
		"starts out of order": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Start[2] = 2; return g },
			want: &fault.DataError{}, text: "row 1: elements 3 to 2 of 12: want rows in order"},
		"too few distances": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Val = g.Val[:5]; return g },
			want: &fault.ShapeError{}},
		"not square": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Cols = 5; return g },
			want: &fault.ShapeError{}},
		"column out of range": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Col[2] = 4; return g },
			want: &fault.DataError{}, text: `row 0, column "4": want the numbers of other rows, from 0 to 3, ` +
				`each once and in ascending order`},
		"self edge": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Col[3] = 1; return g },
			want: &fault.DataError{}, text: `row 1, column "1": want the numbers of other rows, from 0 to 3, ` +
				`each once and in ascending order`},
		"NaN": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Val[1] = math.NaN(); return g },
			want: &fault.DataError{}, text: `row 0, column "2": weight NaN: want a finite number >= 0`},
		"not symmetric": {change: func(g *sparse.Matrix) *sparse.Matrix { g.Val[1] = 7; return g },
			want: &fault.DataError{}},
		"linkage": {params: AgglomerativeParams{Linkage: "median"}, want: &fault.ParamError{},
			text: `linkage is "median": want one of average, complete, single, ward`},
		"no coordinates": {params: AgglomerativeParams{Linkage: WardLinkage}, want: &fault.ShapeError{}},
		"no finite coordinates": {params: AgglomerativeParams{Linkage: WardLinkage,
			Rows: blas.MatrixOf(4, 1, []float64{1, 2, math.NaN(), 3})}, want: &fault.DataError{}},
		"width": {params: AgglomerativeParams{Distinct: []Distinct{{Name: "at", Width: -1}}},
			want: &fault.ParamError{}, text: `width of the column "at" is -1: want a number > 0, or 0 for keys`},
		"too few values": {params: AgglomerativeParams{
			Distinct: []Distinct{{Width: 1, Keys: make([]int, 4)}}},
			want: &fault.ShapeError{}},
		"infinite value": {params: AgglomerativeParams{Distinct: []Distinct{{Name: "at", Width: 1,
			Values: []float64{1, math.Inf(-1), 2, 3}}}}, want: &fault.DataError{},
			text: `row 1, column "at": value -Inf: want a number of size below 2^50 times the width 1`},
		"near values": {params: AgglomerativeParams{Distinct: []Distinct{{Name: "at", Width: 2,
			Values: []float64{1.5, 9, math.NaN(), 3}}}}, links: set(4, must(0, 1), must(1, 3)),
			want: &DistinctError{}, text: `rows 0 and 3 differ by less than 2 in the column "at", as no rows of a ` +
				`group do, but the must-links 0-1, 1-3 join them`},
		"threshold": {params: AgglomerativeParams{Threshold: math.NaN()}, want: &fault.ParamError{}},
		"groups":    {params: AgglomerativeParams{Groups: -1}, want: &fault.ParamError{}},
		"more groups than components": {params: AgglomerativeParams{Groups: 4}, links: set(4, must(0, 1)),
			want: &fault.ParamError{}},
		"other rows": {links: set(5), want: &fault.ShapeError{}},
		"keys": {params: AgglomerativeParams{Distinct: []Distinct{{Name: "id", Keys: []int{1, 2}}}},
			want: &fault.ShapeError{}},
		"cannot": {links: set(4, must(0, 1), must(1, 3), links.NewLink(0, 3, links.Cannot)),
			want: &links.ConflictError{}},
		"equal keys": {params: AgglomerativeParams{
			Distinct: []Distinct{{Name: "source", Keys: []int{5, 1, 5, 5}}}},
			links: set(4, must(0, 1), must(1, 3)), want: &DistinctError{},
			text: `rows 0 and 3 have the same key 5 in the column "source", at most one row of which is in a ` +
				`group, but the must-links 0-1, 1-3 join them`},
	} {
		g := good()
		if c.change != nil {
			g = c.change(g)
		}
		r, err := Agglomerative(context.Background(), eng, g, c.links, c.params)
		if r != nil || reflect.TypeOf(err) != reflect.TypeOf(c.want) || !fault.IsInput(err) ||
			c.text != "" && err.Error() != c.text {
			t.Errorf("%s: %v, error %T %v", name, r, err, err)
		}
	}
	chain := squares(3, func(i, j int) float64 { return float64(3 - 2*(j-i)) }) // without 0-2
	_, err := Agglomerative(context.Background(), eng, chain, nil, AgglomerativeParams{Threshold: 9,
		Distance: func(int, int) float64 { return math.NaN() }})
	if e, ok := errors.AsType[*fault.DataError](err); !ok || e.Row != 0 || e.Column != "2" {
		t.Errorf("no distance of a pair that the graph lacks: error %v", err)
	}
	chunklet, err := links.FromChunklets(4, [][]int{{0, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Agglomerative(context.Background(), eng, good(), chunklet,
		AgglomerativeParams{Distinct: []Distinct{{Name: "source", Keys: []int{1, 1, 2, 1}}}})
	checkContradiction(t, err, chunklet, []Distinct{{Name: "source", Keys: []int{1, 1, 2, 1}}})

	small := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 1000})
	if _, err := Agglomerative(context.Background(), small, good(), nil, AgglomerativeParams{}); err == nil {
		t.Error("there is memory for no edge")
	} else if e, ok := errors.AsType[*fault.MemoryError](err); !ok || e.Need > 3000 {
		t.Errorf("error %v", err)
	}
	for _, n := range []int{0, 1} {
		g := squares(n, func(int, int) float64 { return 1 })
		r, err := Agglomerative(context.Background(), eng, g, nil, AgglomerativeParams{})
		if err != nil || len(r.Labels) != n || len(r.Sizes) != n || len(r.Merges) != 0 {
			t.Errorf("%d rows: %+v, error %v", n, r, err)
		}
	}
}

// Cancellation ends it wherever it looks at the context.
func TestAgglomerativeCanceled(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 6))
	g := randomGraph(rng, 40, 4)
	run := func(ctx context.Context) (*Dendrogram, error) {
		return Agglomerative(ctx, eng, g, nil, AgglomerativeParams{Threshold: 1})
	}
	whole := enginetest.StopAt(0)
	if _, err := run(whole); err != nil || whole.Looks() < 40+30 {
		t.Fatalf("%d looks, error %v", whole.Looks(), err)
	}
	for at := 1; at <= whole.Looks(); at++ {
		if r, err := run(enginetest.StopAt(at)); r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("canceled at look %d: %v, error %v", at, r, err)
		}
	}
}

// The memory is about what the price says: all allocations together, of which slices that grew are
// no more when the last ones are made, are not far from it.
func TestAgglomerativeMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 7))
	n := racetest.Fewer(20000)
	g := randomGraph(rng, n, 8)
	l, distinct := problem(t, rng, n, n/5, 0)
	for _, p := range []AgglomerativeParams{{Threshold: math.Inf(1)},
		{Threshold: math.Inf(1), Distinct: distinct}} {
		used, set := g.Count()/2, l
		if len(p.Distinct) > 0 {
			used += len(l.Cannot())
		}
		most := int64(edgeBytes+forbiddenBytes)*int64(used) +
			int64(groupBytes+keyBytes*len(p.Distinct))*int64(n)
		if len(p.Distinct) == 0 {
			set, most = nil, most-forbiddenBytes*int64(used)
		}
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: most})
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Agglomerative(context.Background(), eng, g, set, p)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		all := int64(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%d edges, %d merges, %d forbidden: %d MB allocated in all, priced %d MB", used, len(r.Merges),
			len(r.Forbidden), all>>20, most>>20)
		if all > most*8/5 || all < most/3 {
			t.Errorf("%d MB allocated in all, priced %d MB", all>>20, most>>20)
		}
	}
}

// FuzzAgglomerative: any numbers give a typed error, or groups that keep the links.
func FuzzAgglomerative(f *testing.F) {
	rng := rand.New(rand.NewPCG(70, 8))
	for _, seed := range propertytest.Inputs(rng, 200) {
		f.Add(seed, rng.IntN(2) == 0)
	}
	eng := enginetest.With(f, engine.Options{Workers: 1, MemoryLimit: 1 << 20})
	f.Fuzz(func(t *testing.T, input []byte, sound bool) {
		next := func() int { // -128 to 127, then zeros
			if len(input) == 0 {
				return 0
			}
			v := int(int8(input[0]))
			input = input[1:]
			return v
		}
		n := 1 + (next()&255)%12
		value := func() float64 {
			if v := next(); v < -120 && !sound {
				return []float64{math.NaN(), math.Inf(1), -1, math.MaxFloat64}[-v%4]
			} else {
				return float64(v & 31)
			}
		}
		table := map[[2]int]float64{}
		g := squares(n, func(i, j int) float64 {
			at := [2]int{i, j}
			if _, ok := table[at]; !ok {
				table[at] = value()
			}
			return table[at]
		})
		if !sound {
			for range next() & 3 {
				g.Start[(next()&255)%len(g.Start)] = next()
				if len(g.Col) > 0 {
					g.Col[(next()&255)%len(g.Col)] = int32(next())
				}
			}
		}
		var list []links.Link
		for range (next() & 255) % 8 {
			list = append(list, links.NewLink(next(), next(), links.Sign(next()|1)))
			if sound {
				one := &list[len(list)-1]
				one.I, one.J, one.Sign = (one.I&255)%n, (one.J&255)%n, links.Sign(2*(int(one.Sign)>>1&1)-1)
			}
		}
		l, err := links.New(n, list)
		if err != nil {
			return
		}
		p := AgglomerativeParams{Linkage: linkages[(next()&255)%4], Threshold: value(), Groups: next() % 3,
			Distinct: []Distinct{{Name: "key", Keys: make([]int, n)}}}
		if next()&1 == 0 {
			at := Distinct{Name: "at", Width: value(), Keys: p.Distinct[0].Keys, Values: make([]float64, n)}
			for i := range at.Values {
				at.Values[i] = value()
			}
			p.Distinct = append(p.Distinct, at)
		}
		if p.Rows = blas.NewMatrix(n, 2); p.Linkage == WardLinkage {
			for i := range n {
				p.Rows.Set(i, next()&1, value())
			}
		}
		if far := value(); next()&1 == 0 {
			p.Distance = func(int, int) float64 { return far }
		}
		for i := range n {
			p.Distinct[0].Keys[i] = next() % 8
		}
		d, err := Density(context.Background(), eng, g, l, DensityParams{MinSize: 2 + next()&3,
			CoreSize: next() & 3, Threshold: float64(next() & 7), Distinct: p.Distinct})
		if err != nil && !fault.IsInput(err) {
			t.Fatalf("%T %v", err, err)
		}
		if err == nil && !satisfies(d.Labels, l.Must()) {
			t.Fatalf("density: labels %v, links %v", d.Labels, list)
		}
		r, err := Agglomerative(context.Background(), eng, g, l, p)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if contradicts(r.Labels, l, p.Distinct) || !satisfies(r.Labels, l.Must()) {
			t.Fatalf("labels %v, links %v, keys %v", r.Labels, list, p.Distinct)
		}
		checkNumbers(t, r)
		checkReasons(t, r, l, p.Distinct)
	})
}

// BenchmarkAgglomerative groups random points by their ten nearest neighbors.
func BenchmarkAgglomerative(b *testing.B) {
	eng, rng := enginetest.New(b, 0), rand.New(rand.NewPCG(70, 9))
	for _, n := range []int{10_000, 100_000} {
		x := enginetest.Normal(rng, n, 32, 0)
		k, err := kernel.New(enginetest.Spec(b, "linear"))
		if err != nil {
			b.Fatal(err)
		}
		near, err := graph.Nearest(context.Background(), eng, k, x, 10)
		if err != nil {
			b.Fatal(err)
		}
		g := near.Adjacency(graph.Union, func(squared float64) float64 { return squared })
		l, distinct := problem(b, rng, n, n/10, 0)
		for _, linkage := range linkages {
			for name, set := range map[string]*links.Set{"": nil, "-links": l} {
				p := AgglomerativeParams{Linkage: linkage, Threshold: math.Inf(1),
					Rows: blas.MatrixOf(x.N, x.D, x.Data)}
				if set != nil {
					p.Distinct = distinct
				}
				b.Run(fmt.Sprintf("%s-%d%s", linkage, n, name), func(b *testing.B) {
					for b.Loop() {
						if _, err := Agglomerative(context.Background(), eng, g, set, p); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
