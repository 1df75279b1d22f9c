package entities

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// problem is records with random probabilities, links that do not contradict each other, and a
// column of keys.
type problem struct {
	n      int
	pairs  []Pair
	truth  []int
	params Params
}

func random(t *testing.T, rng *rand.Rand, n, classes int, density float64) problem {
	p := problem{n: n, truth: make([]int, n)}
	keys := make([]int, n)
	for i := range n {
		p.truth[i], keys[i] = rng.IntN(classes), rng.IntN(4)-1
	}
	var list []links.Link
	for i := range int32(n) {
		for j := i + 1; int(j) < n; j++ {
			same := p.truth[i] == p.truth[j]
			if rng.Float64() < density {
				v := rng.Float64() * 0.7
				if same {
					v = 1 - v
				}
				p.pairs = append(p.pairs, Pair{i, j, v})
			}
			if rng.IntN(3*n) == 0 && (!same || keys[i] < 0 || keys[j] < 0) {
				sign := links.Cannot
				if same {
					sign, keys[i], keys[j] = links.Must, -1, -1
				}
				list = append(list, links.NewLink(int(i), int(j), sign))
			}
		}
	}
	p.params = Params{Links: enginetest.Links(t, n, list),
		Distinct: []cluster.Distinct{{Name: "source", Keys: keys}}}
	return p
}

func (p problem) resolve(t *testing.T, workers int) *Entities {
	t.Helper()
	e, err := Resolve(t.Context(), enginetest.New(t, workers), p.n, p.pairs, p.params)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// gain returns the sum of the log odds within groups, -Inf if they violate a link or a column.
func (p problem) gain(labels []int) (sum float64) {
	for _, q := range p.pairs {
		if labels[q.I] == labels[q.J] {
			sum += logOdds(q.Probability)
		}
	}
	for _, l := range p.params.Links.Must() {
		if labels[l.I] != labels[l.J] {
			return math.Inf(-1)
		}
	}
	for _, l := range p.params.Links.Cannot() {
		if labels[l.I] == labels[l.J] {
			return math.Inf(-1)
		}
	}
	for _, d := range p.params.Distinct {
		for i := range labels {
			for j := range i {
				if labels[i] == labels[j] && d.Keys[i] >= 0 && d.Keys[i] == d.Keys[j] {
					return math.Inf(-1)
				}
			}
		}
	}
	return sum
}

// TestHardLinks: in 300 random problems no link and no column is violated, the result is the same
// for any number of workers and order of pairs, and the numbers are those of the definitions.
func TestHardLinks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 300 {
		p := random(t, rng, 2+rng.IntN(60), 1+rng.IntN(20), 0.6)
		p.params.Largest = []int{0, 7}[k%2]
		e := p.resolve(t, 1)
		if math.IsInf(p.gain(e.Labels), -1) {
			t.Fatalf("problem %d: the entities %v violate a link or a column", k, e.Labels)
		}
		rng.Shuffle(len(p.pairs), func(i, j int) { p.pairs[i], p.pairs[j] = p.pairs[j], p.pairs[i] })
		if other := p.resolve(t, 2); !slices.Equal(e.Labels, other.Labels) ||
			!slices.Equal(e.Probability, other.Probability) || e.Cost != other.Cost {
			t.Fatalf("problem %d: another result with other workers and another order", k)
		}
		sizes := make([]int, len(e.Sizes))
		for i, label := range e.Labels {
			if sizes[label]++; e.Probability[i] < 0 || e.Probability[i] > 1 {
				t.Fatalf("problem %d: probability %v", k, e.Probability[i])
			}
		}
		if !slices.Equal(sizes, e.Sizes) {
			t.Fatalf("problem %d: sizes %v, want %v", k, e.Sizes, sizes)
		}
	}
}

// TestExact: small components have the best of all partitions, and the cost falls short of none.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for k := range 60 {
		p := random(t, rng, 2+rng.IntN(7), 1+rng.IntN(3), 0.9)
		e := p.resolve(t, 1)
		best := math.Inf(-1)
		labels := make([]int, p.n)
		var visit func(i, groups int)
		visit = func(i, groups int) {
			if i == p.n {
				best = max(best, p.gain(labels))
				return
			}
			for g := range groups + 1 {
				labels[i] = g
				visit(i+1, max(groups, g+1))
			}
		}
		visit(0, 0)
		if got := p.gain(e.Labels); math.Abs(got-best) > 1e-9 {
			t.Errorf("problem %d: sum %v of entities %v, want %v", k, got, e.Labels, best)
		}
		if e.Exact != e.Components {
			t.Errorf("problem %d: %d of %d components exact", k, e.Exact, e.Components)
		}
	}
}

// TestMoves: no round of moves or merges lowers the sum, no bar is broken, and small problems come
// near the best sum.
func TestMoves(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	short, all := 0.0, 0.0
	for k := range 200 {
		w := weights{2 + rng.IntN(9), nil}
		w.sums = make([]float64, w.m*w.m)
		for a := range w.m {
			for b := range a {
				v := rng.NormFloat64()
				if rng.IntN(5) == 0 {
					v = math.Inf(-1)
				}
				w.sums[a*w.m+b], w.sums[b*w.m+a] = v, v
			}
		}
		of := make([]int, w.m)
		for a := range of {
			of[a] = a
		}
		last := w.within(of)
		step := func(what string) {
			if now := w.within(of); now < last-1e-12 || math.IsNaN(now) {
				t.Fatalf("problem %d: %s lowers the sum from %v to %v", k, what, last, now)
			} else {
				last = now
			}
		}
		of = w.merge(of)
		step("merging")
		for range 50 {
			w.move(of, rng.IntN(w.m))
			step("a move")
			of = w.merge(of)
			step("merging")
		}
		of = w.improve(of)
		step("improving")
		best := w.within(w.best())
		if last > best+1e-9 {
			t.Fatalf("problem %d: sum %v above the best %v", k, last, best)
		}
		short, all = short+best-last, all+best
	}
	if short > 0.03*all {
		t.Errorf("the sums fall short of the best ones by %v of %v", short, all)
	}
}

// TestPermutation: the cost of the entities does not depend on the order of the records.
func TestPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for k := range 40 {
		p := random(t, rng, 9, 2, 0.9)
		want := p.resolve(t, 1)
		to := rng.Perm(p.n)
		q := problem{n: p.n}
		for _, pair := range p.pairs {
			a, b := int32(to[pair.I]), int32(to[pair.J])
			q.pairs = append(q.pairs, Pair{min(a, b), max(a, b), pair.Probability})
		}
		var list []links.Link
		for _, l := range slices.Concat(p.params.Links.Must(), p.params.Links.Cannot()) {
			list = append(list, links.NewLink(to[l.I], to[l.J], l.Sign))
		}
		keys := make([]int, p.n)
		for i, key := range p.params.Distinct[0].Keys {
			keys[to[i]] = key
		}
		q.params = Params{Links: enginetest.Links(t, p.n, list),
			Distinct: []cluster.Distinct{{Name: "source", Keys: keys}}}
		got := q.resolve(t, 1)
		if math.Abs(got.Cost-want.Cost) > 1e-9 || len(got.Sizes) != len(want.Sizes) {
			t.Errorf("problem %d: cost %v of %d entities, want %v of %d", k, got.Cost, len(got.Sizes), want.Cost,
				len(want.Sizes))
		}
		for i, v := range want.Probability {
			if math.Abs(got.Probability[to[i]]-v) > 1e-9 {
				t.Errorf("problem %d: probability %v, want %v", k, got.Probability[to[i]], v)
			}
		}
	}
}

// TestProbabilities: means within an entity, what a record alone does without, and missing pairs.
func TestProbabilities(t *testing.T) {
	p := problem{n: 6, pairs: []Pair{{0, 1, .9}, {1, 2, .8}, {3, 4, .4}, {2, 5, .7}}}
	p.params.Links = enginetest.Links(t, 6, []links.Link{links.NewLink(2, 5, links.Cannot)})
	p.params.Between = func(i, j int) float64 {
		if i > 1 || j > 2 {
			t.Errorf("pair %d, %d is not within a component", i, j)
		}
		return .5
	}
	e := p.resolve(t, 1)
	if want := []int{0, 0, 0, 1, 2, 3}; !slices.Equal(e.Labels, want) {
		t.Errorf("entities %v, want %v", e.Labels, want)
	}
	for i, want := range []float64{.7, .85, .65, .6, .6, 1} {
		if math.Abs(e.Probability[i]-want) > 1e-12 {
			t.Errorf("record %d: %v, want %v", i, e.Probability[i], want)
		}
	}
	doubts := e.Doubtful(p.pairs, 2)
	if len(doubts) != 2 || doubts[0].Pair != p.pairs[2] || doubts[0].Together ||
		doubts[1].Pair != p.pairs[1] ||
		math.Abs(doubts[1].Wrong-.2) > 1e-12 || e.Barred != 1 {
		t.Errorf("doubts %v, barred %d", doubts, e.Barred)
	}
}

// TestTies: doubts that are equal come by their rows.
func TestTies(t *testing.T) {
	p := problem{n: 5, pairs: []Pair{{1, 2, .3}, {0, 4, .3}, {0, 3, .3}, {2, 3, .4}}}
	e := p.resolve(t, 1)
	want := []Pair{p.pairs[3], p.pairs[2], p.pairs[1], p.pairs[0]}
	for k, d := range e.Doubtful(p.pairs, 9) {
		if d.Pair != want[k] {
			t.Errorf("doubt %d is about %v: want %v", k, d.Pair, want[k])
		}
	}
}

// TestLogOdds: they are those of the definition, and of probabilities within 1e-6 of 0 and 1 those
// at this distance.
func TestLogOdds(t *testing.T) {
	last := math.Log(1e-6 / (1 - 1e-6))
	for p, want := range map[float64]float64{.5: 0, .2: -math.Log(4), 2e-6: math.Log(2e-6 / (1 - 2e-6)),
		9e-7: last, 0: last, 1: -last, 1 - 9e-7: -last} {
		if got := logOdds(p); math.Abs(got-want) > 1e-9 {
			t.Errorf("log odds of %v are %v: want %v", p, got, want)
		}
	}
}

// TestEachEnds: no component begins after the end of the context, although many are one task.
func TestEachEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := each(ctx, enginetest.New(t, 1), 64, func(int) { calls++; cancel() })
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d components after the end of the context, error %v", calls, err)
	}
}

// TestBadInput: contradictions come with their must-links, and no bad pair is taken.
func TestBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	resolve := func(pairs []Pair, p Params) error {
		_, err := Resolve(t.Context(), eng, 3, pairs, p)
		return err
	}
	must := []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Must)}
	var distinct *cluster.DistinctError
	if err := resolve(nil, Params{Links: enginetest.Links(t, 3, must),
		Distinct: []cluster.Distinct{{Name: "s", Keys: []int{7, -1, 7}}}}); !errors.As(err, &distinct) ||
		distinct.Key != 7 || len(distinct.Conflict.Path) != 2 {
		t.Errorf("equal keys: %v", err)
	}
	var conflict *links.ConflictError
	if err := resolve(nil, Params{Links: enginetest.Links(t, 3,
		append(must, links.NewLink(0, 2, links.Cannot)))}); !errors.As(err, &conflict) {
		t.Errorf("contradiction: %v", err)
	}
	for _, pairs := range [][]Pair{{{1, 1, .5}}, {{1, 0, .5}}, {{0, 3, .5}}, {{-1, 1, .5}},
		{{0, 1, math.NaN()}},
		{{0, 1, 1.1}}, {{0, 1, .5}, {0, 2, .5}, {0, 1, .5}}} {
		if err := resolve(pairs, Params{}); !fault.IsInput(err) {
			t.Errorf("%v: %v", pairs, err)
		}
	}
	if err := resolve(nil, Params{Links: enginetest.Links(t, 4, nil)}); !fault.IsInput(err) {
		t.Errorf("links of other rows: %v", err)
	}
	short := []cluster.Distinct{{Name: "s", Keys: []int{1}}}
	if err := resolve(nil, Params{Distinct: short}); !fault.IsInput(err) {
		t.Errorf("keys of other rows: %v", err)
	}
	small := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 100})
	var memory *fault.MemoryError
	if _, err := Resolve(t.Context(), small, 3, nil, Params{}); !errors.As(err, &memory) {
		t.Errorf("memory: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Resolve(ctx, eng, 3, []Pair{{0, 1, .9}}, Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestKeep: when records are added, those that were together stay together with their number, and
// no number means two entities.
func TestKeep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for k := range 100 {
		p := random(t, rng, 30, 8, 0.5)
		n := 20
		first := p
		first.n = n
		first.pairs = slices.DeleteFunc(slices.Clone(p.pairs), func(q Pair) bool { return int(q.J) >= n })
		first.params = Params{}
		e := first.resolve(t, 1)
		none := slices.Repeat([]int{-1}, n)
		before := Keep(e.Labels, none, 100)
		var must []links.Link
		for i := range n {
			for j := range i {
				if before[i] == before[j] {
					must = append(must, links.NewLink(j, i, links.Must))
				}
			}
		}
		p.params = Params{Links: enginetest.Links(t, p.n, must)}
		all := p.resolve(t, 1)
		earlier := append(slices.Clone(before), slices.Repeat([]int{-1}, p.n-n)...)
		after := Keep(all.Labels, earlier, 100+len(e.Sizes))
		number := map[int]int{}
		for i, label := range all.Labels {
			if v, there := number[label]; there && v != after[i] {
				t.Fatalf("problem %d: entity %d has the numbers %d and %d", k, label, v, after[i])
			}
			number[label] = after[i]
		}
		used := map[int]int{}
		for label, v := range number {
			if other, there := used[v]; there {
				t.Fatalf("problem %d: entities %d and %d have the number %d", k, label, other, v)
			}
			used[v] = label
		}
		for i := range n {
			alone := true // the entity has no other earlier number
			for j := range n {
				alone = alone && (all.Labels[i] != all.Labels[j] || before[i] == before[j])
			}
			if alone && after[i] != before[i] {
				t.Fatalf("problem %d: record %d has the number %d, want %d", k, i, after[i], before[i])
			}
		}
	}
	if got := fmt.Sprint(Keep([]int{0, 0, 0, 1, 2}, []int{5, 3, 3, -1, 7}, 8)); got != "[3 3 3 8 7]" {
		t.Errorf("numbers %v", got)
	}
}
