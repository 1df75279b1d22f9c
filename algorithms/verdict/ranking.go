package verdict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Metric returns the squared distance of two rows. It is safe for concurrent use.
type Metric func(i, j int) float64

// Ranked returns the pairs of rows whose distances a ranking needs: the links, and then every row
// of the reference with the second end of every link.
func (f *Fold) Ranked() [][2]int {
	list := append(make([][2]int, 0, len(f.Pairs)+len(f.sample)*len(f.ends)), f.Pairs...)
	for _, a := range f.sample {
		for _, t := range f.ends {
			list = append(list, [2]int{f.Rows[a], t})
		}
	}
	return list
}

// Ranking returns how well distances rank the links of the fold, by the distances of the ranked
// pairs: the probability that a must-link is shorter than a cannot-link (AUC), less what the rows
// of the fit alone give, plus 1/2.
//
// The rows of the fit that have must-links may be nearer to all new rows than those that have
// cannot-links; then the links are ranked well by any new rows, whatever these are like. So the AUC
// of distances from all held-out rows to the same rows of the fit is subtracted. The figure is 1/2
// on average if the features say nothing about the links, whatever the fit has made of the rows
// that it knows; it need not lie in [0, 1]. For must-links alone it is the probability that a
// must-link is shorter than the distance of its end in the fit to a held-out row that no must-links
// join to it.
//
// Errors: a distance that is not finite, and ctx.Err(). Cost: O(ranked pairs log).
func (f *Fold) Ranking(ctx context.Context, d []float64) (Statistic, error) {
	for k, v := range d {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Statistic{}, fmt.Errorf("distance %d of the held-out rows is %v: want a finite number", k,
				v)
		}
	}
	own, reference := d[:len(f.Pairs)], d[len(f.Pairs):]
	if f.component != nil {
		return f.amongStrangers(own, reference), nil
	}
	return f.centered(own, reference), ctx.Err()
}

// centered is Ranking by links of both kinds.
func (f *Fold) centered(own, reference []float64) Statistic {
	m, c, rows := f.Must, len(own)-f.Must, len(f.sample)
	must, cannot := newDistribution(own[:m]), newDistribution(own[m:])
	// must-links and cannot-links of each end
	links := [2][]int{make([]int, len(f.ends)), make([]int, len(f.ends))}
	for k, t := range f.end {
		links[kind(k, m)][t]++
	}
	means := f.references(reference, must, cannot, links[1])
	s := f.newStatistic()
	s.Value = 0.5
	for t, n := range links[0] {
		s.Value -= float64(n) * means[t][2] / float64(m)
	}
	// A reference has the held-out row itself among its rows: without it, the part would be larger.
	others := float64(rows) / float64(max(1, rows-1))
	for k, v := range own {
		t, part := f.end[k], 0.0
		if k < m {
			above := 1 - cannot.share(v)
			s.Value += above / float64(m)
			part = (above - means[t][0]) / float64(m) * others
		} else {
			part = (must.share(v) - means[t][1]) / float64(c) * others
		}
		s.Links[k] = part
		s.Rows[f.row[k]] += part
	}
	return s
}

// references returns for each end the means over the reference of the share of cannot-links above,
// of must-links below, and of the reference of cannot-links above. cannots is the number of
// cannot-links of each end. One sort gives them all; it has at most mostReferences distances, on
// one core.
func (f *Fold) references(reference []float64, must, cannot distribution, cannots []int) [][3]float64 {
	sorted, total := make([]quickselect.Key, len(reference)), 0.0 // distances of ends, as their rows
	for k, v := range reference {
		end := k % len(f.ends)
		sorted[k] = quickselect.Key{Value: v, Row: int32(end)}
		total += float64(cannots[end])
	}
	slices.SortFunc(sorted, quickselect.Key.Compare)
	means, below := make([][3]float64, len(f.ends)), 0.0
	shorter, longer := must.ascending(), cannot.ascending()
	for from := 0; from < len(sorted); {
		to, equal, v := from, 0.0, sorted[from].Value
		for ; to < len(sorted) && sorted[to].Value == v; to++ {
			equal += float64(cannots[sorted[to].Row])
		}
		shares := [3]float64{1 - longer(v), shorter(v), 1 - (below+equal/2)/total}
		for _, d := range sorted[from:to] {
			for k, share := range shares {
				means[d.Row][k] += share / float64(len(f.sample))
			}
		}
		from, below = to, below+equal
	}
	return means
}

// kind is 0 for a must-link and 1 for a cannot-link.
func kind(k, must int) int {
	if k < must {
		return 0
	}
	return 1
}

// amongStrangers is Ranking by must-links alone.
func (f *Fold) amongStrangers(own, reference []float64) Statistic {
	s, m := f.newStatistic(), float64(len(own))
	shorter := func(k, a int) float64 {
		return (1 - float64(cmp.Compare(own[k], reference[a*len(f.ends)+f.end[k]]))) / 2
	}
	for k := range own {
		strangers := f.strangers(k)
		for _, a := range strangers {
			s.Links[k] += shorter(k, a) / float64(len(strangers))
		}
		for _, a := range strangers {
			s.Rows[f.sample[a]] += (shorter(k, a) - s.Links[k]) / float64(len(strangers)) / m
		}
		s.Value += s.Links[k] / m
	}
	for k, h := range s.Links {
		s.Links[k] = (h - s.Value) / m
		s.Rows[f.row[k]] += s.Links[k]
	}
	return s
}

// strangers returns the rows of the reference, as positions in the sample, that no must-links join
// to the second end of pair k; there is at least one.
func (f *Fold) strangers(k int) []int {
	var list []int
	for a, i := range f.sample {
		if f.stranger(f.Rows[i], f.ends[f.end[k]]) {
			list = append(list, a)
		}
	}
	return list
}

// plain returns the AUC of the links themselves.
func (f *Fold) plain(own []float64) float64 {
	cannot, sum := newDistribution(own[f.Must:]), 0.0
	for _, v := range own[:f.Must] {
		sum += 1 - cannot.share(v)
	}
	return sum / float64(f.Must)
}

// distances returns the distances of the ranked pairs.
func (f *Fold) distances(ctx context.Context, eng *engine.Engine, between Metric) ([]float64, error) {
	list := f.Ranked()
	d := make([]float64, len(list))
	return d, eng.Each(ctx, len(list), 1024, func(k int) { d[k] = between(list[k][0], list[k][1]) })
}

// Agreement returns how well clusters agree with the links of the fold: the mean of the share of
// must-links within clusters and of cannot-links between them, less what the rows of the fit alone
// give, plus 1/2, as for [Fold.Ranking]. of is the cluster of each row.
func (f *Fold) Agreement(of []int) Statistic {
	s := f.newStatistic()
	s.Value = 0.5
	for k, p := range f.Pairs {
		expected := 0.0 // share of the reference in the cluster of the second end
		for _, a := range f.sample {
			expected += together(of, f.Rows[a], p[1]) / float64(len(f.sample))
		}
		part := (together(of, p[0], p[1]) - expected) / 2
		switch {
		case k < f.Must:
			part /= float64(f.Must)
		default:
			part /= -float64(len(f.Pairs) - f.Must)
		}
		s.Value += part
		s.Links[k] = part
		s.Rows[f.row[k]] += part
	}
	return s
}

// together is 1 for two rows of one cluster, otherwise 0.
func together(of []int, i, j int) float64 {
	if of[i] == of[j] {
		return 1
	}
	return 0
}

// distribution is a sample of numbers, ascending.
type distribution []float64

func newDistribution(values []float64) distribution { return slices.Sorted(slices.Values(values)) }

// share returns the share of numbers below v; those equal to v count half.
func (d distribution) share(v float64) float64 {
	from, found := slices.BinarySearch(d, v)
	to := from
	if found {
		to, _ = slices.BinarySearch(d, math.Nextafter(v, math.Inf(1)))
	}
	return float64(from+to) / 2 / float64(len(d))
}

// ascending returns share for numbers that do not fall from call to call, at O(1) each.
func (d distribution) ascending() func(v float64) float64 {
	from, to := 0, 0
	return func(v float64) float64 {
		for from < len(d) && d[from] < v {
			from++
		}
		for to = max(to, from); to < len(d) && d[to] == v; to++ {
		}
		return float64(from+to) / 2 / float64(len(d))
	}
}

// words is the kernel that compares sequences without learning.
const words = "cosine@spectrum:k=3"

// Distances returns the squared distance of each pair of rows of x without learning: Euclidean
// distance of vectors, the distance that a Gram matrix gives, and for sequences that of the counts
// of words of three letters, scaled to unit length. Errors are those of the kernel. Cost: O(d) for
// each pair.
func Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	between, err := rawMetric(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	const together = 1024
	return out, eng.Each(ctx, len(pairs), together, func(p int) {
		out[p] = between(pairs[p][0], pairs[p][1])
	})
}

// vectors returns the squared distance of two vectors by the fastest kernel.
func vectors(eng *engine.Engine, x *points.Dense) Metric {
	t := eng.Backend().Kernels()
	return func(i, j int) float64 { return t.SquaredDistance(x.Row(i), x.Row(j)) }
}

// rawMetric returns the squared distance of two rows of x without learning.
func rawMetric(ctx context.Context, eng *engine.Engine, x points.Points) (Metric, error) {
	if dense, is := x.(*points.Dense); is {
		return vectors(eng, dense), nil
	}
	k := kernel.Linear()
	if _, sequences := x.(*points.Sequences); sequences {
		spec, err := kernel.Parse(words)
		if err != nil {
			return nil, err
		}
		if k, err = kernel.New(spec); err != nil {
			return nil, err
		}
	}
	return k.Distances(ctx, eng, x)
}

// Distances returns the squared distances of the ranked pairs in the coordinates that the model
// gives rows of x: those that clusters, neighbors and pairs are made of.
func (f *Fold) Distances(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	x points.Points) ([]float64, error) {
	between, err := embedded(ctx, eng, m, x, f.Rows, f.ends)
	if err != nil {
		return nil, err
	}
	return f.distances(ctx, eng, between)
}

// embedded returns the squared distance of two of some rows in the coordinates that the model gives
// them: those that clusters, neighbors and pictures are made of. A model may have an exact distance
// in a space of more dimensions.
func embedded(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points,
	lists ...[]int) (Metric, error) {
	rows := slices.Concat(lists...)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	what := fmt.Sprintf("coordinates of %d rows to judge by", len(rows))
	if err := eng.Check(what, engine.MatrixBytes(len(rows), m.Dim()),
		"use fewer links, or no verdict"); err != nil {
		return nil, err
	}
	y, err := m.Embed(ctx, eng, x.Select(rows))
	if err != nil {
		return nil, err
	}
	at := make([]int, x.Len())
	for k, i := range rows {
		at[i] = k
	}
	between := vectors(eng, &points.Dense{N: y.Rows, D: y.Cols, Data: y.Data})
	return func(i, j int) float64 { return between(at[i], at[j]) }, nil
}
