package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"

	"pgregory.net/rapid"
)

// pairs reads links written as "m0-1 c2-3".
func pairs(s string) []links.Link {
	var ls []links.Link
	for _, f := range strings.Fields(s) {
		var sign rune
		var i, j int
		if _, err := fmt.Sscanf(f, "%c%d-%d", &sign, &i, &j); err != nil {
			panic(err)
		}
		l := links.NewLink(i, j, links.Must)
		if sign == 'c' {
			l.Sign = links.Cannot
		}
		ls = append(ls, l)
	}
	return ls
}

// randomLinks draws pairs without a pair of both signs.
func randomLinks(rng *rand.Rand, n, must, cannot int) []links.Link {
	seen := map[[2]int]bool{}
	var ls []links.Link
	add := func(count int, sign links.Sign) {
		for range count {
			i, j := rng.IntN(n), rng.IntN(n)
			if i > j {
				i, j = j, i
			}
			if i != j && !seen[[2]int{i, j}] {
				seen[[2]int{i, j}] = true
				ls = append(ls, links.NewLink(i, j, sign))
			}
		}
	}
	add(must, links.Must)
	add(cannot, links.Cannot)
	return ls
}

// feasible decides by trying every assignment.
func feasible(n, k int, ls []links.Link) bool {
	ok := false
	allLabelings(n, k, func(labels []int) { ok = ok || satisfies(labels, ls) })
	return ok
}

// TestFeasibilityIsDecided compares with exhaustive search on few points: a result that
// satisfies the links when there is one, a proof with a true certificate when there is none.
func TestFeasibilityIsDecided(t *testing.T) {
	eng := enginetest.New(t, 1)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		k := rapid.IntRange(1, 3).Draw(t, "k")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng"), 0))
		ls := randomLinks(rng, n, rapid.IntRange(0, 3).Draw(t, "must"),
			rapid.IntRange(0, 12).Draw(t, "cannot"))
		set, err := links.New(n, ls)
		if err != nil {
			t.Fatal(err)
		}
		x := enginetest.Lattice(rng, n, 2, 5)
		r, err := Constrained(context.Background(), eng, x, set, Params{K: k, Restarts: 2, Seed: 4})
		var param *fault.ParamError
		if k > n || set.N()-joined(set) < k {
			if !errors.As(err, &param) {
				t.Fatalf("more clusters than blocks: %v", err)
			}
			return
		}
		if feasible(n, k, ls) {
			if err != nil {
				t.Fatalf("a solution exists: %v", err)
			}
			if !satisfies(r.Labels, ls) {
				t.Fatalf("labels %v break the links %v", r.Labels, ls)
			}
			if got := plainInertia(x, r.Labels, k); r.Converged &&
				!(math.Abs(got-r.Inertia) <= 1e-12*(1+got)) {
				t.Fatalf("inertia %g, recomputed %g", r.Inertia, got)
			}
			return
		}
		var bad *InfeasibleError
		if !errors.As(err, &bad) || !errors.Is(err, ErrInfeasible) || !fault.IsInput(err) || !bad.Proven {
			t.Fatalf("no solution exists, got %v", err)
		}
		// The certificate: the links named, with all must-links, have no solution either.
		named := append(append([]links.Link(nil), set.Must()...), bad.Links...)
		if feasible(n, k, named) {
			t.Fatalf("the links named (%v) can be satisfied", err)
		}
		if bad.Exclusive && len(bad.Rows) != k+1 {
			t.Fatalf("a clique of %d for %d clusters", len(bad.Rows), k)
		}
	})
}

// joined returns how many components fewer than points there are.
func joined(s *links.Set) int {
	highest := -1
	for _, c := range s.Components() {
		highest = max(highest, c)
	}
	return s.N() - 1 - highest
}

func TestConstrainedOptimumOfFewPoints(t *testing.T) {
	eng := enginetest.New(t, 1)
	hits := 0
	const trials = 40
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(seed, 9))
		x := blobs(seed, 8, 2, 3, 0.8)
		ls := randomLinks(rng, 8, 2, 5)
		best := math.Inf(1)
		allLabelings(8, 3, func(labels []int) {
			if satisfies(labels, ls) {
				if v := plainInertia(x, labels, 3); v < best {
					best = v
				}
			}
		})
		r, err := Constrained(context.Background(), eng, x, mustSet(t, 8, ls),
			Params{K: 3, Restarts: 30, Seed: seed})
		if math.IsInf(best, 1) {
			if !errors.Is(err, ErrInfeasible) {
				t.Errorf("seed %d: infeasible, got %v", seed, err)
			}
			hits++
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		if r.Inertia < best*(1-1e-12) {
			t.Errorf("seed %d: inertia %g below the optimum %g", seed, r.Inertia, best)
		}
		if r.Inertia <= best*(1+1e-12) {
			hits++
		}
	}
	// A local search need not reach every optimum, but 30 starts on 8 points do nearly always.
	if hits < trials*9/10 {
		t.Errorf("optimum reached in %d of %d", hits, trials)
	}
}

// TestMustLinksMoveAsBlocks checks the rule: every component sits at the center that
// minimizes its summed squared distance, and centers are means of points.
func TestMustLinksMoveAsBlocks(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 60).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng"), 0))
		x := blobs(rng.Uint64(), n, 2, 4, 1)
		set, err := links.New(n, randomLinks(rng, n, n/2, 0))
		if err != nil {
			t.Fatal(err)
		}
		k := rapid.IntRange(1, max(1, n-joined(set))).Draw(t, "k")
		k = min(k, 6)
		r, err := Constrained(context.Background(), eng, x, set, Params{K: k, Restarts: 2, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !satisfies(r.Labels, set.Must()) {
			t.Fatal("a must-link is broken")
		}
		cost := map[[2]int]float64{} // component, center
		for i, b := range set.Components() {
			for c := range k {
				cost[[2]int{b, c}] += enginetest.SquaredDistance(x.Row(i), r.Centers.Row(c))
			}
		}
		for i, b := range set.Components() {
			for c := range k {
				if own := cost[[2]int{b, r.Labels[i]}]; !(cost[[2]int{b, c}] >= own*(1-1e-12)) {
					t.Fatalf("block %d costs %g in cluster %d and %g in %d", b, own, r.Labels[i],
						cost[[2]int{b, c}], c)
				}
			}
		}
		means := plainMeans(x, r.Labels, k)
		for i := range means.Data {
			if !(math.Abs(means.Data[i]-r.Centers.Data[i]) <= 1e-12) {
				t.Fatalf("centers %v, means %v", r.Centers.Data, means.Data)
			}
		}
		if got := plainInertia(x, r.Labels, k); !(math.Abs(got-r.Inertia) <= 1e-12*(1+got)) {
			t.Fatalf("inertia %g, recomputed %g", r.Inertia, got)
		}
	})
}

// TestNoLinksIsKMeans: without links the two methods are the same computation.
func TestNoLinksIsKMeans(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := blobs(2, 300, 4, 5, 1)
	p := Params{K: 5, Seed: 8}
	a, err := KMeans(context.Background(), eng, x, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*links.Set{nil, mustSet(t, 300, nil)} {
		b, err := Constrained(context.Background(), eng, x, l, p)
		if err != nil {
			t.Fatal(err)
		}
		if !sameResult(a, b) {
			t.Error("Constrained without links differs from KMeans")
		}
	}
}

// TestConstrainedInertiaDecreases follows starts with both kinds of links.
func TestConstrainedInertiaDecreases(t *testing.T) {
	eng := enginetest.New(t, 2)
	for seed := range uint64(10) {
		const n, k = 300, 4
		x := blobs(seed, n, 3, k, 1.2)
		l := mustSet(t, n, labelLinks(seed, n, k, 60, 150))
		p, _ := Params{K: k, Seed: seed, Init: InitRandom}.resolve(n)
		b := newBlocks(l)
		g, err := b.conflictGraph(context.Background(), l, k)
		if err != nil {
			t.Fatal(err)
		}
		points, err := newSample(eng, x)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := b.means(eng, points)
		r := newStart(context.Background(), eng, s, p, g, 0, false)
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
		if !r.converged || len(r.trace) < 3 {
			t.Errorf("seed %d: converged %v after %d", seed, r.converged, len(r.trace))
		}
		for i := 1; i < len(r.trace); i++ {
			if !(r.trace[i] <= r.trace[i-1]*(1+1e-14)) {
				t.Errorf("seed %d: the inertia rises from %g to %g", seed, r.trace[i-1], r.trace[i])
			}
		}
	}
}

// labelLinks draws links that agree with the labels i mod k: always feasible.
func labelLinks(seed uint64, n, k, must, cannot int) []links.Link {
	rng := rand.New(rand.NewPCG(seed, 77))
	seen := map[[2]int]bool{}
	var ls []links.Link
	for must > 0 || cannot > 0 {
		i, j := rng.IntN(n), rng.IntN(n)
		if i > j {
			i, j = j, i
		}
		if i == j || seen[[2]int{i, j}] {
			continue
		}
		switch {
		case i%k == j%k && must > 0:
			must--
			ls = append(ls, links.NewLink(i, j, links.Must))
		case i%k != j%k && cannot > 0:
			cannot--
			ls = append(ls, links.NewLink(i, j, links.Cannot))
		default:
			continue
		}
		seen[[2]int{i, j}] = true
	}
	return ls
}

// TestDenseCannotLinksAreSatisfied: sets on which the greedy pass alone fails, because
// nearly all pairs of classes exclude one another.
func TestDenseCannotLinksAreSatisfied(t *testing.T) {
	eng := enginetest.New(t, 2)
	deadEnds := 0
	for _, tt := range []struct{ n, k, must, cannot int }{
		{30, 3, 0, 250}, {60, 5, 10, 1200}, {40, 8, 0, 600}, {200, 3, 0, 500}, {200, 2, 20, 150},
		{100, 4, 0, 300}, {300, 10, 50, 9000},
	} {
		for seed := range uint64(5) {
			x := blobs(seed, tt.n, 2, tt.k, 3) // classes overlap: the greedy pass fails
			ls := labelLinks(seed, tt.n, tt.k, tt.must, tt.cannot)
			l := mustSet(t, tt.n, ls)
			r, err := Constrained(context.Background(), eng, x, l, Params{K: tt.k, Restarts: 2, Seed: seed})
			if err != nil {
				t.Errorf("%+v seed %d: %v", tt, seed, err)
				continue
			}
			if !satisfies(r.Labels, ls) {
				t.Errorf("%+v seed %d: a link is broken", tt, seed)
			}
			if greedyFails(t, l, tt.k, seed) {
				deadEnds++
			}
		}
	}
	if deadEnds < 10 {
		t.Errorf("the greedy pass met only %d dead ends: the sets do not try the search", deadEnds)
	}
}

// greedyFails reports whether the greedy pass with random costs meets a dead end.
func greedyFails(t *testing.T, l *links.Set, k int, seed uint64) bool {
	t.Helper()
	g, err := newBlocks(l).conflictGraph(context.Background(), l, k)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	cost := make([]float64, g.len()*k)
	for i := range cost {
		cost[i] = rng.Float64()
	}
	c := newColoring(g, cost)
	for _, v := range rng.Perm(g.len()) {
		if !c.cheapest(v) {
			return true
		}
	}
	return false
}

func TestInfeasibleMessages(t *testing.T) {
	eng := enginetest.New(t, 1)
	for _, tt := range []struct {
		name, links string
		k           int
		rows        []int
		exclusive   bool
		want        []string
	}{
		{"inside a component", "m0-1 m1-2 c0-2", 2, []int{0, 2}, false, []string{"0-1", "1-2", "drop one"}},
		{"triangle with two clusters", "c0-1 c1-2 c0-2", 2, []int{0, 1, 2}, true,
			[]string{"at least 3 clusters", "0-1, 0-2, 1-2"}},
		{"one cluster", "c3-5", 1, []int{3, 5}, true, []string{"at least 2 clusters"}},
		{"five-cycle with two clusters", "c0-1 c1-2 c2-3 c3-4 c0-4 c4-5", 2, []int{0, 1, 2, 3, 4}, false,
			[]string{"use more clusters"}},
		{"clique of blocks", "m0-7 c7-1 c1-2 c0-2", 2, []int{0, 1, 2}, true, []string{"rows 0, 1, 2", "1-7"}},
		{"five-cycle with an even cycle at its side", "c0-1 c1-2 c2-3 c3-4 c0-4 c4-5 c5-6 c6-7 c4-7", 2,
			[]int{0, 1, 2, 3, 4}, false, []string{"use more clusters"}},
		// The wheel W5 needs four colors without a clique of four.
		{"wheel with three clusters", "c0-1 c1-2 c2-3 c3-4 c0-4 c5-0 c5-1 c5-2 c5-3 c5-4", 3,
			[]int{0, 1, 2, 3, 4, 5}, false, []string{"use more clusters"}},
	} {
		_, err := Constrained(context.Background(), eng, blobs(1, 8, 2, 2, 1), mustSet(t, 8, pairs(tt.links)),
			Params{K: tt.k})
		var bad *InfeasibleError
		if !errors.As(err, &bad) || !bad.Proven || bad.Exclusive != tt.exclusive ||
			!equalInts(bad.Rows, tt.rows) {
			t.Errorf("%s: %#v", tt.name, err)
			continue
		}
		for _, w := range append(tt.want, "cluster: ") {
			if strings.Count(err.Error(), w) != 1 {
				t.Errorf("%s: %q is not once in %q", tt.name, w, err)
			}
		}
	}
	var conflict *links.ConflictError
	_, err := Constrained(context.Background(), eng, blobs(1, 8, 2, 2, 1),
		mustSet(t, 8, pairs("m0-1 m1-2 c0-2")), Params{K: 2})
	if !errors.As(err, &conflict) {
		t.Errorf("%v does not wrap the contradiction", err)
	}
}

// TestSearchGivesUp: a graph too hard for the budget is reported as not proven.
func TestSearchGivesUp(t *testing.T) {
	// Mycielski's graph of order 6: no triangle, 47 vertices, six colors needed.
	edges, n := [][2]int{{0, 1}}, 2
	for range 4 {
		for _, e := range append([][2]int(nil), edges...) {
			edges = append(edges, [2]int{e[0], n + e[1]}, [2]int{e[1], n + e[0]})
		}
		for v := range n {
			edges = append(edges, [2]int{n + v, 2 * n})
		}
		n = 2*n + 1
	}
	g := newConflictGraph(n, 5, edges)
	s := newSearch(g, nil, nil)
	all := g.cores[0]
	nothing := func(int, int) {}
	if got, err := s.run(context.Background(), all, 1000, nothing); got != givenUp || err != nil {
		t.Errorf("1000 nodes: %v, %v", got, err)
	}
	// The same search object recovers, and six colors do.
	g6 := newConflictGraph(n, 6, edges)
	if fail, err := g6.solve(context.Background()); fail != nil || err != nil {
		t.Errorf("six colors: %+v, %v", fail, err)
	}
	for v, near := range g6.adj {
		for _, u := range near {
			if g6.base[v] >= 0 && g6.base[v] == g6.base[u] {
				t.Fatalf("base coloring: %d and %d share a color", u, v)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.run(ctx, all, 1<<20, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled search: %v", err)
	}
	e := &InfeasibleError{K: 5, Rows: make([]int, 30), Links: make([]links.Link, 40)}
	if m := e.Error(); !strings.Contains(m, "though one may exist") || !strings.Contains(m, "and 18 more") ||
		!strings.Contains(m, "and 28 more") {
		t.Errorf("message %q", m)
	}
}

// TestRescueFallsBackToTheBase drives the coloring through all its ways of construction.
func TestRescueFallsBackToTheBase(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 14).Draw(t, "n")
		k := rapid.IntRange(2, 4).Draw(t, "k")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng"), 0))
		var edges [][2]int
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			if i, j := rng.IntN(n), rng.IntN(n); i%k != j%k { // i mod k is a proper coloring
				edges = append(edges, [2]int{i, j})
			}
		}
		g := newConflictGraph(n, k, edges)
		if fail, err := g.solve(context.Background()); fail != nil || err != nil {
			t.Fatalf("%+v, %v", fail, err)
		}
		cost := make([]float64, n*k)
		for i := range cost {
			cost[i] = rng.Float64()
		}
		order := rng.Perm(n)
		proper := func(c *coloring, how string) {
			for v, near := range g.adj {
				for _, u := range near {
					if c.color[v] == c.color[u] || c.color[v] < 0 {
						t.Fatalf("%s: neighbors %d and %d have colors %d and %d", how, v, u, c.color[v],
							c.color[u])
					}
				}
			}
		}
		c := newColoring(g, cost)
		if err := c.construct(context.Background(), order); err != nil {
			t.Fatal(err)
		}
		proper(c, "construct")
		if err := c.rescue(context.Background(), order); err != nil {
			t.Fatal(err)
		}
		proper(c, "rescue")
		c.clear()
		for _, core := range g.cores {
			c.useBase(core)
		}
		for i := len(g.peeled) - 1; i >= 0; i-- {
			if !c.cheapest(g.peeled[i]) {
				t.Fatal("a peeled vertex has no free color")
			}
		}
		proper(c, "base")
		before := c.total()
		if _, err := c.improve(context.Background()); err != nil {
			t.Fatal(err)
		}
		proper(c, "improve")
		if c.total() > before {
			t.Fatalf("improve raises the cost from %g to %g", before, c.total())
		}
		// With two colors exchanges are exact: every component is in its better coloring.
		if k == 2 {
			best := 0.0
			allComponents(g, func(members []int) {
				own, other := 0.0, 0.0
				for _, v := range members {
					own += cost[v*2+c.color[v]]
					other += cost[v*2+1-c.color[v]]
				}
				best += min(own, other)
			})
			if c.total() > best+1e-9 {
				t.Fatalf("two colors: cost %g, optimum %g", c.total(), best)
			}
		}
	})
}

func allComponents(g *conflictGraph, f func([]int)) {
	seen := make([]bool, g.len())
	for v := range seen {
		if seen[v] {
			continue
		}
		seen[v] = true
		members := []int{v}
		for head := 0; head < len(members); head++ {
			for _, u := range g.adj[members[head]] {
				if !seen[u] {
					seen[u] = true
					members = append(members, u)
				}
			}
		}
		f(members)
	}
}

func TestConstrainedBitsDoNotDependOnWorkers(t *testing.T) {
	const n = 1200
	x := blobs(5, n, 6, 5, 1.5)
	l := mustSet(t, n, labelLinks(3, n, 5, 300, 500))
	for _, restarts := range []int{1, 4} {
		p := Params{K: 5, Restarts: restarts, Seed: 11}
		want, err := Constrained(context.Background(), enginetest.New(t, 1), x, l, p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Constrained(context.Background(), enginetest.New(t, 3), x, l, p)
		if err != nil {
			t.Fatal(err)
		}
		if !sameResult(want, got) {
			t.Errorf("restarts=%d: three workers give another result than one", restarts)
		}
	}
}

func TestConstrainedShapes(t *testing.T) {
	eng := enginetest.New(t, 1)
	var shape *fault.ShapeError
	if _, err := Constrained(context.Background(), eng, blobs(1, 8, 2, 2, 1), mustSet(t, 9, nil),
		Params{K: 2}); !errors.As(err, &shape) {
		t.Errorf("links for another number of points: %v", err)
	}
	var param *fault.ParamError
	if _, err := Constrained(context.Background(), eng, blobs(1, 4, 2, 2, 1),
		mustSet(t, 4, pairs("m0-1 m1-2")), Params{K: 3}); !errors.As(err, &param) {
		t.Errorf("three clusters of two blocks: %v", err)
	}
}

// TestTabuSearch: planted colorings in the range where DSATUR drowns are found, and no
// improper one is ever reported.
func TestTabuSearch(t *testing.T) {
	for _, tt := range []struct{ n, k, edges int }{{300, 5, 1500}, {400, 7, 3200}, {60, 3, 130}} {
		rng := rand.New(rand.NewPCG(uint64(tt.n), 0))
		var edges [][2]int
		for len(edges) < tt.edges {
			if i, j := rng.IntN(tt.n), rng.IntN(tt.n); i%tt.k != j%tt.k {
				edges = append(edges, [2]int{i, j})
			}
		}
		g := newConflictGraph(tt.n, tt.k, edges)
		base := make([]int, tt.n)
		for v := range base {
			base[v] = -1
		}
		for _, core := range g.cores {
			ok, err := tabuSearch(context.Background(), g, core, 100_000, base)
			if !ok || err != nil {
				t.Errorf("%+v: nothing found in a core of %d (%v)", tt, len(core), err)
				continue
			}
			for _, v := range core {
				for _, u := range g.adj[v] {
					if base[u] == base[v] {
						t.Fatalf("%+v: neighbors %d and %d share color %d", tt, v, u, base[v])
					}
				}
			}
		}
	}
	// A clique of four has no three-coloring.
	g := newConflictGraph(4, 3, [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}})
	if ok, err := tabuSearch(context.Background(), g, g.cores[0], 500, make([]int, 4)); ok || err != nil {
		t.Errorf("three colors for a clique of four: %v, %v", ok, err)
	}
}

// TestFreshPassEscapes: from labels 0 1 2 of three blocks that exclude one another no swap
// of two clusters pays, but the cycle 1 2 0 costs nothing, and every greedy pass finds it.
func TestFreshPassEscapes(t *testing.T) {
	g := newConflictGraph(3, 3, [][2]int{{0, 1}, {0, 2}, {1, 2}})
	if fail, err := g.solve(context.Background()); fail != nil || err != nil {
		t.Fatal(fail, err)
	}
	cost := []float64{1, 0, 10, 10, 1, 0, 0, 10, 1}
	r := &start{ctx: context.Background(), conflict: g, rng: rand.New(rand.NewPCG(1, 1))}
	got, err := r.color(cost, []int{0, 1, 2}, false)
	if err != nil || !equalInts(got.color, []int{1, 2, 0}) {
		t.Errorf("colors %v (%v), want 1 2 0", got.color, err)
	}
}

// TestBaseTakesTheCheaperImage: on a four-cycle the two classes of the base coloring are
// given to the two colors the cheaper way round.
func TestBaseTakesTheCheaperImage(t *testing.T) {
	g := newConflictGraph(4, 2, [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}})
	if fail, err := g.solve(context.Background()); fail != nil || err != nil {
		t.Fatal(fail, err)
	}
	for _, want := range [][]int{{0, 1, 0, 1}, {1, 0, 1, 0}} {
		cost := make([]float64, 8)
		for v, c := range want {
			cost[2*v+1-c] = 1
		}
		c := newColoring(g, cost)
		c.useBase(g.cores[0])
		if !equalInts(c.color, want) {
			t.Errorf("colors %v, want %v", c.color, want)
		}
	}
}
