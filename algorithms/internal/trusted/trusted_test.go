package trusted

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// blobs returns 120 points in three classes and 400 right links.
func blobs(t *testing.T, seed uint64) (x *points.Dense, right []links.Link) {
	t.Helper()
	const n, d = 120, 4
	random, data := rand.New(rand.NewPCG(seed, 1)), make([]float64, n*d)
	for i := range n {
		for j := range d {
			data[i*d+j] = random.NormFloat64()
		}
		data[i*d] += 2 * float64(i%3)
	}
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	for len(right) < 400 {
		if i, j := random.IntN(n), random.IntN(n); i != j {
			sign := links.Must
			if (i-j)%3 != 0 {
				sign = links.Cannot
			}
			right = append(right, links.NewLink(i, j, sign))
		}
	}
	return x, right
}

func set(t *testing.T, n int, list []links.Link) *links.Set {
	t.Helper()
	out, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func trust(t *testing.T, x points.Points, s *links.Set, workers int) (*links.Set, string) {
	t.Helper()
	rows := slices.Concat(s.Chunklets()...)
	kept, notice, err := Links(t.Context(), enginetest.New(t, workers), kernel.Linear(), x.Select(rows), rows,
		s)
	if err != nil {
		t.Fatal(err)
	}
	return kept, notice
}

// TestWrongLinksAreLeftOut adds wrong must-links to right links: most of them are left out, few
// right ones are, and none where there is no contradiction.
func TestWrongLinksAreLeftOut(t *testing.T) {
	for seed := range uint64(5) {
		x, right := blobs(t, seed)
		if kept, notice := trust(t, x, set(t, x.N, right), 1); kept.Len() != set(t, x.N, right).Len() ||
			notice != "" {
			t.Errorf("seed %d: %d right links of %d are left: want all", seed, kept.Len(), len(right))
		}
		wrong := map[[2]int]bool{}
		list := slices.Clone(right)
		for i := 0; len(wrong) < 5; i += 11 {
			if i+1 < x.N && !slices.ContainsFunc(right, func(l links.Link) bool {
				return min(l.I, l.J) == i && max(l.I, l.J) == i+1
			}) {
				wrong[[2]int{i, i + 1}] = true
				list = append(list, links.NewLink(i, i+1, links.Must))
			}
		}
		all := set(t, x.N, list)
		kept, notice := trust(t, x, all, 1)
		for _, l := range kept.Must() {
			delete(wrong, [2]int{l.I, l.J}) // those that are kept
		}
		left := len(all.Must()) - len(kept.Must())
		if len(wrong) < 4 || left > len(wrong)+3 || !strings.Contains(notice, "must-links") {
			t.Errorf("seed %d: %d wrong links of 5 and %d right ones are left out, notice %q: want at "+
				"least 4, at most 3", seed, len(wrong), left-len(wrong), notice)
		}
		if !slices.Equal(kept.Cannot(), all.Cannot()) && len(kept.Cannot()) != len(all.Cannot()) {
			t.Errorf("seed %d: cannot-links changed", seed)
		}
		if again, _ := trust(t, x, all, 3); again.Len() != kept.Len() {
			t.Errorf("seed %d: %d links with 3 workers, %d with one", seed, again.Len(), kept.Len())
		}
	}
}

// TestOtherChunkletsStay checks that must-links between clusters stay if no cannot-link contradicts
// their chunklet.
func TestOtherChunkletsStay(t *testing.T) {
	x, err := points.NewDense(8, 1, []float64{0, 0.1, 0.2, 9, 9.1, 9.2, 0.3, 9.3})
	if err != nil {
		t.Fatal(err)
	}
	must := func(i, j int) links.Link { return links.NewLink(i, j, links.Must) }
	cannot := func(i, j int) links.Link { return links.NewLink(i, j, links.Cannot) }
	s := set(t, 8, []links.Link{must(0, 1), must(1, 2), must(3, 4), must(4, 5), must(2, 5), must(6, 7),
		cannot(0, 3), cannot(0, 4), cannot(1, 3)})
	kept, _ := trust(t, x, s, 1)
	for _, c := range []struct {
		pair [2]int
		want bool
	}{{[2]int{2, 5}, false}, {[2]int{6, 7}, true}, {[2]int{0, 1}, true}, {[2]int{4, 5}, true}} {
		got := slices.ContainsFunc(kept.Must(), func(l links.Link) bool { return [2]int{l.I, l.J} == c.pair })
		if got != c.want {
			t.Errorf("must-link %v kept: %v, want %v", c.pair, got, c.want)
		}
	}
}

// TestNothingLeft checks that links stay if all must-links would be left out.
func TestNothingLeft(t *testing.T) {
	x, err := points.NewDense(3, 1, []float64{0, 5, 10})
	if err != nil {
		t.Fatal(err)
	}
	weak := links.NewLink(0, 1, links.Must)
	weak.Weight = 1e-3
	other := links.NewLink(1, 2, links.Must)
	other.Weight = 1e-3
	s := set(t, 3, []links.Link{weak, other, links.NewLink(0, 2, links.Cannot)})
	if kept, _ := trust(t, x, s, 1); len(kept.Must()) == 0 {
		t.Error("no must-link is left")
	}
}

// TestCanceled checks that the search ends with its context.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cluster(ctx, 2, []edge{{0, 1, 1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want %v", err, context.Canceled)
	}
}

// best returns the largest sum of weights within the clusters of any partition of n points.
func best(n int, edges []edge) float64 {
	most, of := math.Inf(-1), make([]int, n)
	var try func(i, clusters int)
	try = func(i, clusters int) {
		if i == n {
			most = max(most, within(edges, of))
			return
		}
		for c := range clusters + 1 {
			of[i] = c
			try(i+1, max(clusters, c+1))
		}
	}
	try(0, 0)
	return most
}

// TestClusterAgainstAllPartitions compares the search with all partitions of seven points.
func TestClusterAgainstAllPartitions(t *testing.T) {
	const n, graphs = 7, 60
	random, reached := rand.New(rand.NewPCG(3, 4)), 0
	for range graphs {
		var edges []edge
		for i := range n {
			for j := range i {
				if random.IntN(3) > 0 {
					edges = append(edges, edge{j, i, random.NormFloat64()})
				}
			}
		}
		of, err := cluster(t.Context(), n, edges)
		if err != nil {
			t.Fatal(err)
		}
		got, want := within(edges, of), best(n, edges)
		if got > want+1e-12 || got < 0.8*want {
			t.Errorf("sum within clusters is %g: the largest is %g", got, want)
		}
		if got > want-1e-12 {
			reached++
		}
	}
	if reached < graphs*9/10 {
		t.Errorf("%d optima of %d: want nine in ten", reached, graphs)
	}
}

// TestMove: a point moves if that adds more than rounding to the sum within clusters.
func TestMove(t *testing.T) {
	for gain, cluster := range map[float64]int{5e-9: 1, 5e-10: 0, -1: 0} {
		of := []int{0, 0, 1}
		move(adjacency(3, []edge{{0, 1, 1}, {0, 2, 1 + gain}, {1, 2, -5}}), of)
		if want := []int{cluster, 0, 1}; !slices.Equal(of, want) {
			t.Errorf("a gain of %g: clusters %v, want %v", gain, of, want)
		}
	}
}

func TestRanks(t *testing.T) {
	got := ranks([]float64{3, 1, 3, 2})
	if want := []float64{0.75, 0.125, 0.75, 0.375}; !slices.Equal(got, want) {
		t.Errorf("ranks %v: want %v", got, want)
	}
}
