// Package entities (internal: may change) joins records that are the same into entities, by the
// probabilities of their pairs.
//
// If pairs are independent, the log-likelihood of entities is a constant, plus the sum of the log
// odds of all pairs within entities. The largest is sought: correlation clustering (Bansal, Blum &
// Chawla 2004) with weights log p/(1-p). Links, and columns of which an entity has each value at
// most once, are kept exactly.
package entities

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Pair is two records I < J, and the probability that they are the same.
type Pair struct {
	I, J        int32
	Probability float64
}

// Params are the parameters of [Resolve].
type Params struct {
	Links    *links.Set         // between the records, which entities keep; nil for none
	Distinct []cluster.Distinct // columns of which an entity has every key at most once
	// Between, if not nil, returns the probability of a pair that the list lacks, for pairs within a
	// component. Without it such a pair says nothing. It is called from several goroutines.
	Between func(i, j int) float64
	// Largest is the number of parts, must-linked records as one, in a component that is solved as a
	// whole; 0 for 1000. More are divided first, at the pairs with the smallest probabilities.
	Largest int
}

// Entities are the result of [Resolve].
type Entities struct {
	Labels []int // entity of each record, numbered by the first records
	Sizes  []int // records of each entity
	// Probability of each record: the mean of those of its pairs with the others of its entity, 1 for
	// must-linked ones; of a record alone, 1 less the largest of a pair that links and columns allow.
	Probability []float64
	Cost        float64 // sum of |log odds| of pairs that the entities contradict, within components
	Components  int     // of pairs with a probability above 1/2
	Exact       int     // of these were solved exactly
	Divided     int     // pairs above 1/2 that were left out to divide large components
	Barred      int     // pairs above 1/2 in the list that a cannot-link or a column forbids

	settled func(i, j int32) bool // links or columns decide the pair
}

// largest is the usual Params.Largest; exact that of the components which are solved exactly.
const largest, exact = 1000, 10

// Resolve joins n records into entities.
//
// Records that pairs above 1/2, and must-links, connect are a component, and only these can be an
// entity. Components of up to 10 parts are solved exactly, by dynamic programming over their
// subsets. In others the two groups with the largest sum of log odds merge until none is positive;
// then records move to other groups, change places with the one that keeps them out, and groups
// merge, while this raises the sum. That is no optimum, but the sum never falls. Probabilities
// count within 1e-6 of 0 and 1.
//
// Errors: *links.ConflictError for a cannot-link within must-linked records, and
// *cluster.DistinctError for equal keys in them, both with the must-links; *fault.ParamError (a
// column with a Width); *fault.ShapeError (links or keys for other rows), *fault.DataError (a pair
// that is none, twice there or has no probability), *fault.MemoryError, and ctx.Err(), wrapped.
//
// The result is the same for any number of workers and any order of pairs. Cost: O(p log p) for p
// pairs; in a component of m parts m^2 probabilities, 3^m sums up to 10 parts, and about m^2 for
// each round of moves in larger ones. Memory: 80 bytes a pair, and m^2 numbers for each worker.
func Resolve(ctx context.Context, eng *engine.Engine, n int, pairs []Pair, p Params) (*Entities, error) {
	p.Largest = cmp.Or(p.Largest, largest)
	if p.Links == nil {
		p.Links, _ = links.New(n, nil) // no links cannot be wrong
	}
	r := &resolution{Params: p, n: n, pairs: slices.Clone(pairs), out: &Entities{}}
	if err := r.check(eng); err != nil {
		return nil, err
	}
	components := r.components()
	most := 0
	for _, parts := range components {
		most = max(most, len(parts))
	}
	if err := eng.Check(fmt.Sprintf("entities of %d records", most),
		2*int64(eng.Workers())*engine.MatrixBytes(most, most), "use surer pairs, or fewer"); err != nil {
		return nil, err
	}
	chosen := make([][][]int, len(components)) // parts of each entity
	solve := func(c int) { chosen[c] = r.solve(components[c]) }
	if err := each(ctx, eng, len(components), solve); err != nil {
		return nil, err
	}
	entity := make([]int, len(r.rows)) // of each part
	count := 0
	for c, groups := range chosen {
		for _, parts := range groups {
			for _, part := range parts {
				entity[part] = count
			}
			count++
		}
		if len(components[c]) <= exact {
			r.out.Exact++
		}
	}
	r.label(entity, count)
	return r.out, r.assess(ctx, eng, components)
}

// each calls f for n components, several at a time.
func each(ctx context.Context, eng *engine.Engine, n int, f func(c int)) error {
	err := eng.For(ctx, n, 64, func(lo, hi int) error {
		for c := lo; c < hi; c++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			f(c)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("entities: %w", err)
	}
	return nil
}

// resolution is the state of [Resolve]. A part is a record, or must-linked ones.
type resolution struct {
	Params
	n      int
	pairs  []Pair // ascending
	start  []int  // of the pairs of each row as I
	part   []int  // of each row
	rows   [][]int32
	cannot map[[2]int]bool // pairs a < b of parts
	keys   [][][2]int      // column and key of each part
	out    *Entities
}

func (r *resolution) check(eng *engine.Engine) error {
	if r.Links.N() != r.n {
		return fault.Shape("number of rows of the links", r.Links.N(), "%d", r.n)
	}
	const pairBytes, rowBytes = 80, 200
	if err := eng.Check(fmt.Sprintf("entities of %d records by %d pairs", r.n, len(r.pairs)),
		pairBytes*int64(len(r.pairs))+rowBytes*int64(r.n), "use fewer pairs"); err != nil {
		return err
	}
	slices.SortFunc(r.pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	r.start = make([]int, r.n+1)
	for k, q := range r.pairs {
		if q.I < 0 || q.I >= q.J || int(q.J) >= r.n || !(q.Probability >= 0 && q.Probability <= 1) ||
			k > 0 && q.I == r.pairs[k-1].I && q.J == r.pairs[k-1].J {
			return &fault.DataError{Row: int(q.I), Err: fmt.Errorf("pair with row %d, probability %g: want "+
				"each pair of rows i < j once, and a probability from 0 to 1", q.J, q.Probability)}
		}
		r.start[q.I+1] = k + 1
	}
	for i := range r.n {
		r.start[i+1] = max(r.start[i+1], r.start[i])
	}
	if err := r.Links.Consistent(); err != nil {
		return err
	}
	r.part = r.Links.Components()
	r.rows = make([][]int32, r.Links.NumComponents())
	r.keys = make([][][2]int, len(r.rows))
	for i, part := range r.part {
		r.rows[part] = append(r.rows[part], int32(i))
	}
	r.cannot = map[[2]int]bool{}
	for _, l := range r.Links.Cannot() {
		a, b := r.part[l.I], r.part[l.J]
		r.cannot[[2]int{min(a, b), max(a, b)}] = true
	}
	return r.checkKeys()
}

// checkKeys finds the keys of parts, which they have once.
func (r *resolution) checkKeys() error {
	for c, d := range r.Distinct {
		if d.Width != 0 {
			return fault.Param("width of the column "+d.Name, d.Width,
				"0: entities keep columns of keys apart")
		}
		if len(d.Keys) != r.n {
			return &fault.ShapeError{What: fmt.Sprintf("number of keys in the column %q", d.Name),
				Got: len(d.Keys), Want: fmt.Sprintf("%d, the number of records", r.n)}
		}
		for part, rows := range r.rows {
			first := map[int]int32{}
			for _, i := range rows {
				key := d.Keys[i]
				if key < 0 {
					continue
				}
				if other, there := first[key]; there {
					return &cluster.DistinctError{Column: d.Name, Key: key, Conflict: links.Conflict{
						Link: links.NewLink(int(other), int(i), links.Cannot),
						Path: r.Links.Path(int(other), int(i))}}
				}
				first[key] = i
				r.keys[part] = append(r.keys[part], [2]int{c, key})
			}
		}
	}
	return nil
}

// barred reports whether two parts may not be one entity.
func (r *resolution) barred(a, b int) bool {
	if r.cannot[[2]int{min(a, b), max(a, b)}] {
		return true
	}
	return slices.ContainsFunc(r.keys[a], func(key [2]int) bool { return slices.Contains(r.keys[b], key) })
}

// components returns the parts of each component, ascending. The surest pairs connect first, and
// none makes a component of too many parts.
func (r *resolution) components() (out [][]int) {
	var order []int
	for k, q := range r.pairs {
		if q.Probability > 0.5 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(r.pairs[b].Probability, r.pairs[a].Probability)
	})
	parent, size := make([]int, len(r.rows)), make([]int, len(r.rows))
	for part := range parent {
		parent[part], size[part] = part, 1
	}
	root := func(a int) int {
		for parent[a] != a {
			parent[a] = parent[parent[a]]
			a = parent[a]
		}
		return a
	}
	for _, k := range order {
		a, b := r.part[r.pairs[k].I], r.part[r.pairs[k].J]
		if a == b {
			continue
		}
		if r.barred(a, b) {
			r.out.Barred++
			continue
		}
		switch a, b = root(a), root(b); {
		case a == b:
		case size[a]+size[b] > r.Largest:
			r.out.Divided++
		default:
			a, b = min(a, b), max(a, b)
			parent[b] = a
			size[a] += size[b]
		}
	}
	number := make([]int, len(r.rows))
	for part := range parent {
		top := root(part)
		if top == part {
			number[part] = len(out)
			out = append(out, nil)
		}
		out[number[top]] = append(out[number[top]], part)
	}
	r.out.Components = len(out)
	return out
}

// probability returns that of rows i and j, and whether it is known.
func (r *resolution) probability(i, j int32) (float64, bool) {
	i, j = min(i, j), max(i, j)
	of := r.pairs[r.start[i]:r.start[i+1]]
	k, found := slices.BinarySearchFunc(of, j, func(q Pair, j int32) int { return cmp.Compare(q.J, j) })
	if found {
		return of[k].Probability, true
	}
	if r.Between != nil {
		return r.Between(int(i), int(j)), true
	}
	return 0, false
}

// logOdds returns those of a probability, that counts within 1e-6 of 0 and 1.
func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}

// solve returns the entities of a component, each as its parts.
func (r *resolution) solve(parts []int) (groups [][]int) {
	m := len(parts)
	if m == 1 {
		return [][]int{parts}
	}
	w := weights{m, make([]float64, m*m)}
	for a := range m {
		for b := range a {
			sum := 0.0
			if r.barred(parts[a], parts[b]) {
				sum = math.Inf(-1)
			} else {
				for _, i := range r.rows[parts[a]] {
					for _, j := range r.rows[parts[b]] {
						if p, known := r.probability(i, j); known {
							sum += logOdds(p)
						}
					}
				}
			}
			w.sums[a*m+b], w.sums[b*m+a] = sum, sum
		}
	}
	var of []int
	if m <= exact {
		of = w.best()
	} else {
		of = w.improve(w.merge(nil))
	}
	number := map[int]int{}
	for a, g := range of {
		k, there := number[g]
		if !there {
			k = len(groups)
			number[g], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], parts[a])
	}
	return groups
}

// label numbers the entities by their first rows.
func (r *resolution) label(entity []int, count int) {
	number := slices.Repeat([]int{-1}, count)
	r.out.Labels = make([]int, r.n)
	for i, part := range r.part {
		k := &number[entity[part]]
		if *k < 0 {
			*k = len(r.out.Sizes)
			r.out.Sizes = append(r.out.Sizes, 0)
		}
		r.out.Labels[i] = *k
		r.out.Sizes[*k]++
	}
	r.out.settled = func(i, j int32) bool {
		return r.part[i] == r.part[j] || r.barred(r.part[i], r.part[j])
	}
}

// assess computes the probabilities of records, and the cost.
func (r *resolution) assess(ctx context.Context, eng *engine.Engine, components [][]int) error {
	r.out.Probability = slices.Repeat([]float64{1}, r.n)
	cost := make([]float64, len(components))
	assess := func(c int) { cost[c] = r.assessOne(components[c]) }
	if err := each(ctx, eng, len(components), assess); err != nil {
		return err
	}
	for _, v := range cost {
		r.out.Cost += v
	}
	for _, q := range r.pairs {
		if !r.out.settled(q.I, q.J) {
			for _, i := range []int32{q.I, q.J} {
				if r.out.Sizes[r.out.Labels[i]] == 1 {
					r.out.Probability[i] = min(r.out.Probability[i], 1-q.Probability)
				}
			}
		}
	}
	return nil
}

func (r *resolution) assessOne(parts []int) (cost float64) {
	sum := map[int32]float64{}
	for a := range parts {
		for b := range a {
			for _, i := range r.rows[parts[a]] {
				for _, j := range r.rows[parts[b]] {
					p, known := r.probability(i, j)
					together := r.out.Labels[i] == r.out.Labels[j]
					if together {
						sum[i], sum[j] = sum[i]+p, sum[j]+p
					}
					if known && together == (p < 0.5) && !r.barred(parts[a], parts[b]) {
						cost += math.Abs(logOdds(p))
					}
				}
			}
		}
	}
	for _, part := range parts {
		for _, i := range r.rows[part] {
			if others := r.out.Sizes[r.out.Labels[i]] - 1; others > 0 {
				r.out.Probability[i] = (sum[i] + float64(len(r.rows[part])-1)) / float64(others)
			}
		}
	}
	return cost
}

// Doubt is a pair, and the probability that the entities are wrong about it.
type Doubt struct {
	Pair
	Together bool
	Wrong    float64
}

// Doubtful returns up to most of the pairs, those first about which the entities are wrong most
// likely, ties by rows. Pairs that links or columns decide are none.
func (e *Entities) Doubtful(pairs []Pair, most int) []Doubt {
	var out []Doubt
	for _, q := range pairs {
		if !e.settled(q.I, q.J) {
			d := Doubt{q, e.Labels[q.I] == e.Labels[q.J], q.Probability}
			if d.Together {
				d.Wrong = 1 - q.Probability
			}
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Doubt) int {
		return cmp.Or(cmp.Compare(b.Wrong, a.Wrong), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	return out[:min(most, len(out))]
}

// Keep returns the numbers of entities that keep earlier ones: an entity has the earlier number of
// most of its records, ties to the first, and others count from next. labels are those of
// [Entities], earlier has the number of each record, -1 of a new one; the records of an earlier
// number have one label.
func Keep(labels, earlier []int, next int) []int {
	type votes struct{ label, number int }
	count, best := map[votes]int{}, map[int]int{} // best number of a label
	for i, label := range labels {
		if earlier[i] >= 0 {
			count[votes{label, earlier[i]}]++
		}
	}
	for i, label := range labels {
		now, there := best[label]
		if v := earlier[i]; v >= 0 && (!there || count[votes{label, v}] > count[votes{label, now}]) {
			best[label] = v
		}
	}
	out := make([]int, len(labels))
	for i, label := range labels {
		if _, there := best[label]; !there {
			best[label] = next
			next++
		}
		out[i] = best[label]
	}
	return out
}
