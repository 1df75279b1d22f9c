package labelnoise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Options are the settings of [Rank]. Make them with [DefaultOptions].
type Options struct {
	Metrics []algorithms.Learner // at least one
	// parts of the links; each is measured by metrics fitted on the others, >= 2
	Folds       int
	Repetitions int // divisions into folds, whose results are averaged, >= 1
	// >= 1; from the second on, fits leave out the most suspicious links so far
	Rounds   int
	Seed     uint64 // of the divisions
	Progress algorithms.ProgressFunc
}

// defaultMethods are metrics of different kinds. Each is used directly and with npkl on its
// embedding.
func defaultMethods() []string { return []string{"itml", "lleratio", "krca"} }

// neighborsOnEmbedding is the number of neighbors of npkl on the embedding of a metric, twice its
// default: rows have more neighbors of their own kind where links have drawn rows together.
const neighborsOnEmbedding = "10"

// defaultMetric returns the learner of a method with default parameters, stacked with npkl.
func defaultMetric(method string, seed uint64) (algorithms.Learner, error) {
	first, err := catalog.New(method, catalog.Config{Seed: seed})
	if err != nil {
		return nil, err
	}
	second, err := catalog.New("npkl",
		catalog.Config{Seed: seed,
			Params: map[string]string{"neighbors": neighborsOnEmbedding, "extension": "graph"}})
	return stacked{first, second}, err
}

// Metrics returns the names of the metrics of [DefaultOptions]: three methods with default
// parameters, and npkl on the embedding of each. Neighbors in these embeddings are near in the
// directions that matter.
func Metrics() []string {
	var names []string
	for _, method := range defaultMethods() {
		names = append(names, method, stackedName("npkl", method))
	}
	return names
}

// DefaultOptions returns ten folds, two divisions into folds, three rounds, and the metrics that
// [Metrics] names. [Rank] leaves out those that cannot learn from the given points and links.
func DefaultOptions(seed uint64) (Options, error) {
	o := Options{Folds: 10, Repetitions: 2, Rounds: 3, Seed: seed}
	for _, method := range defaultMethods() {
		l, err := defaultMetric(method, seed)
		if err != nil {
			return o, err
		}
		o.Metrics = append(o.Metrics, l)
	}
	return o, nil
}

// RankedLink is a link with its score and the reasons for it.
type RankedLink struct {
	Link links.Link
	// Score is the logarithm of the odds that the link has the wrong sign. Above 0 the link is more
	// likely wrong than right.
	Score float64
	// Distance is the squared distance of the two rows under metrics fitted without the link, in
	// units of the mean over random pairs: the geometric mean over metrics and repetitions.
	Distance float64
	// Conflict is the contradiction that the link is part of, as its cannot-link or on its path;
	// nil for none.
	Conflict *links.Conflict
}

// Result holds all links, the most suspicious first.
type Result struct {
	Links []RankedLink
	// Share is the estimated share of wrong links.
	Share   float64
	Metrics []string // the metrics that were used
	Notices []string // the metrics that were left out, and why
	Fits    int      // number of fits

	set *links.Set
}

// Rank ranks the links of set between the points x by how likely they are mislabeled. The result
// depends neither on the order of the links nor on the number of workers.
//
// Rank leaves out a metric that cannot learn, with a notice; if it leaves out all metrics, it
// returns the error of the first one. If all links are must-links, random pairs serve as
// cannot-links, and the share of wrong links is fixed at one in twenty. If all are cannot-links,
// those shorter than one random pair in twenty are suspicious, and scores are not odds. Links
// implied by chunklets are ranked like all others. However, a metric that learns from components
// only, such as krca, always satisfies a link that other links imply.
//
// Errors: a *fault.ShapeError if set is for another number of rows; a *fault.ParamError for invalid
// options; a *fault.DataError if there are no links, or a single must-link or a single cannot-link,
// since no fit could learn from its kind without it; a *fault.MemoryError for too many pairs of
// chunklets; ctx.Err(), wrapped. Cost: Metrics x Folds x Repetitions x Rounds fits, twice as many
// with the metrics of [DefaultOptions].
func Rank(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set,
	o Options) (*Result, error) {
	if err := o.check(x, set); err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("all %d pairs of the chunklets", set.Len()), 2*set.Bytes(),
		"use a smaller number of links instead of chunklets"); err != nil {
		return nil, err
	}
	eng, err := eng.Sharing(cacheBytes)
	if err != nil {
		return nil, err
	}
	r := &ranking{x: x, o: o, list: slices.Concat(set.Must(), set.Cannot()),
		randomPairs: randomPairs(x.Len()), begin: time.Now()}
	r.dropped = make([]bool, len(r.list))
	for r.round = range o.Rounds {
		if err := r.runRound(ctx, eng, set); err != nil {
			return nil, err
		}
	}
	return r.result(set), nil
}

func (o *Options) check(x points.Points, set *links.Set) error {
	switch {
	case set.N() != x.Len():
		return fault.Shape("number of points of the links", set.N(), "%d, as there are points", x.Len())
	case len(o.Metrics) == 0:
		return fault.Param("metrics", 0, "at least one method")
	case o.Folds < 2:
		return fault.Param("folds", o.Folds, "a number >= 2")
	case o.Repetitions < 1:
		return fault.Param("repetitions", o.Repetitions, "a number >= 1")
	case o.Rounds < 1:
		return fault.Param("rounds", o.Rounds, "a number >= 1")
	}
	must, cannot := set.Count()
	switch {
	case must+cannot == 0:
		return fault.Data("", "no links: want at least two must-links or two cannot-links")
	case must == 1:
		return fault.Data("", "a single must-link: want two or more to compare it with, or none")
	case cannot == 1:
		return fault.Data("", "a single cannot-link: want two or more to compare it with, or none")
	}
	return nil
}

// cacheBytes is the maximum size of the cache that the fits share if the engine has none of its
// own.
const cacheBytes = 64 << 20

// streamRandomPairs is the stream of the random numbers that draw random pairs.
const streamRandomPairs = 0x737472616e676572

// randomPairs draws pairs of different rows of n.
func randomPairs(n int) [][2]int {
	const count = 1000
	r := rand.New(rand.NewPCG(uint64(n), streamRandomPairs))
	pairs := make([][2]int, count)
	for k := range pairs {
		pairs[k] = sampling.Pair(r, n)
	}
	return pairs
}

// ranking is the state of a call of Rank.
type ranking struct {
	x           points.Points
	o           Options
	list        []links.Link // must-links first
	randomPairs [][2]int
	begin       time.Time
	fits        int

	round   int
	dropped []bool // links that no fit of this round uses
	folds   []fold
	scores  []float64
	share   float64 // of wrong links

	distances []distances // of the metrics that could learn
	notices   []string
	failed    error // the error of the first metric that could not learn
}

// runRound scores all links once and selects the links that the next round drops: as many as are
// estimated to be wrong.
func (r *ranking) runRound(ctx context.Context, eng *engine.Engine, set *links.Set) (err error) {
	r.folds, r.distances, r.notices, r.failed = nil, nil, nil, nil
	if err := r.divide(set); err != nil {
		return err
	}
	if err := r.measure(ctx, eng); err != nil {
		return err
	}
	if r.scores, r.share, err = r.score(); err != nil {
		return err
	}
	order := points.UpTo(len(r.list))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
	clear(r.dropped)
	if !r.oneKind() {
		for _, k := range order[:int(r.share*float64(len(order)))] {
			r.dropped[k] = true
		}
	}
	return nil
}

// oneKind reports whether all links have the same sign. The share of wrong links is not estimated
// then.
func (r *ranking) oneKind() bool { return r.list[0].Sign == r.list[len(r.list)-1].Sign }

// distances are the logarithms of the relative squared distances of the links and of the random
// pairs under one metric, or the error that excludes the metric.
type distances struct {
	metric        string
	links, random []float64
	err           error
}

// measure fits all metrics on all folds and measures the links that each fit left out.
func (r *ranking) measure(ctx context.Context, eng *engine.Engine) error {
	all := make([][]distances, len(r.o.Metrics))
	for m, metric := range r.o.Metrics {
		for _, name := range metricNames(metric) {
			all[m] = append(all[m],
				distances{metric: name, links: make([]float64, len(r.list)),
					random: make([]float64, len(r.randomPairs))})
		}
	}
	results, err := batch.Fit(ctx, eng, r.jobs, batch.Options{})
	if err != nil {
		return err
	}
	for fitted := range results {
		m, f := fitted.Index/len(r.folds), fitted.Index%len(r.folds)
		r.add(ctx, eng, fitted, r.folds[f], all[m])
		r.fits += len(all[m])
		r.o.Progress.Report(algorithms.Progress{Stage: "label noise", Done: r.fits, Total: r.total(),
			Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(r.begin)})
	}
	if ctx.Err() != nil {
		return fmt.Errorf("label noise: canceled after %d of %d fits: %w", r.fits, r.total(), ctx.Err())
	}
	for _, d := range slices.Concat(all...) {
		switch {
		case d.err == nil:
			r.distances = append(r.distances, d)
		case r.failed == nil:
			r.failed = d.err
			fallthrough
		default:
			r.notices = append(r.notices,
				fmt.Sprintf("%s is left out of the ranking of links: %v", d.metric, d.err))
		}
	}
	if len(r.distances) == 0 {
		return r.failed
	}
	return nil
}

// total returns the number of fits of all rounds.
func (r *ranking) total() int {
	count := 0
	for _, metric := range r.o.Metrics {
		count += len(metricNames(metric))
	}
	return r.o.Rounds * count * len(r.folds)
}

// jobs yields the fits of a round, all folds of the first metric first.
func (r *ranking) jobs(yield func(batch.Job) bool) {
	for _, metric := range r.o.Metrics {
		for _, f := range r.folds {
			if !yield(batch.Job{Learner: metric, Points: r.x, Links: f.fit}) {
				return
			}
		}
	}
}

// offset is added to relative squared distances: below it, smaller distances hardly differ.
const offset = 0.01

// add adds the distances of the held-out links of a fold under the metrics of one fit. A metric
// that failed on one fold is not used again.
func (r *ranking) add(ctx context.Context, eng *engine.Engine, fitted batch.Result, f fold, to []distances) {
	metrics := make([]fittedMetric, len(to))
	if fitted.Err == nil {
		metrics = fittedMetrics(fitted.Model)
	}
	for k := range to {
		d := &to[k]
		if d.err == nil {
			d.err = cmp.Or(fitted.Err, metrics[k].err)
		}
		if d.err == nil {
			d.err = r.addDistances(ctx, eng, metrics[k].distances, f, d)
		}
	}
}

// addDistances adds the distances of the held-out links of a fold under one metric.
func (r *ranking) addDistances(ctx context.Context, eng *engine.Engine, of distanceFunc, f fold,
	to *distances) error {
	pairs := slices.Clone(r.randomPairs)
	for _, k := range f.heldOut {
		pairs = append(pairs, [2]int{r.list[k].I, r.list[k].J})
	}
	d, err := of(ctx, eng, r.x, pairs)
	if err != nil {
		return err
	}
	mean := 0.0
	for _, v := range d[:len(r.randomPairs)] {
		mean += v / float64(len(r.randomPairs))
	}
	if !(mean > 0) || math.IsInf(mean, 1) {
		return fmt.Errorf("the mean squared distance of random pairs is %g: want a finite number > 0", mean)
	}
	for k, v := range d {
		logarithm := math.Log(v/mean + offset)
		if math.IsNaN(logarithm) || math.IsInf(logarithm, 0) {
			return fmt.Errorf("the squared distance of a pair is %g: want a finite number", v)
		}
		if k < len(r.randomPairs) {
			to.random[k] += logarithm / float64(len(r.folds))
		} else {
			to.links[f.heldOut[k-len(r.randomPairs)]] += logarithm / float64(r.o.Repetitions)
		}
	}
	return nil
}

// result returns the links in the order of their scores.
func (r *ranking) result(set *links.Set) *Result {
	out := &Result{set: set, Share: r.share, Notices: r.notices, Fits: r.fits,
		Links: make([]RankedLink, len(r.list))}
	conflict := conflicts(set)
	for k, l := range r.list {
		mean := 0.0
		for _, d := range r.distances {
			mean += d.links[k] / float64(len(r.distances))
		}
		out.Links[k] = RankedLink{Link: l, Score: r.scores[k], Distance: max(0, math.Exp(mean)-offset),
			Conflict: conflict[[2]int{l.I, l.J}]}
	}
	for _, d := range r.distances {
		out.Metrics = append(out.Metrics, d.metric)
	}
	slices.SortStableFunc(out.Links, func(a, b RankedLink) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// conflicts returns the first contradiction that each pair is part of.
func conflicts(set *links.Set) map[[2]int]*links.Conflict {
	out := map[[2]int]*links.Conflict{}
	list := set.Conflicts()
	for k := range list {
		for _, l := range append([]links.Link{list[k].Link}, list[k].Path...) {
			if at := [2]int{l.I, l.J}; out[at] == nil {
				out[at] = &list[k]
			}
		}
	}
	return out
}

// Reason describes the evidence for or against the link in words.
func (s RankedLink) Reason() string {
	text := fmt.Sprintf(
		"the squared distance of its rows is %.2g times that of random pairs, by fits without it", s.Distance)
	switch {
	case s.Conflict == nil:
	case s.Link.Sign == links.Cannot:
		text += "; must-links join them: " + s.Conflict.PathString()
	default:
		text += "; it is part of the path " + s.Conflict.PathString() + " between the rows of a cannot-link"
	}
	return text
}

// Without returns the links without the count most suspicious ones. Chunklets are written as pairs,
// so the remaining links still imply the same closure. A count that is negative or leaves no link
// is a *fault.ParamError.
func (r *Result) Without(count int) (*links.Set, error) {
	if count < 0 || count >= len(r.Links) {
		return nil, fault.Param("number of links to leave out", count,
			"a number from 0 to %d, as there are %d links", len(r.Links)-1, len(r.Links))
	}
	var kept []links.Link
	for _, s := range r.Links[count:] {
		kept = append(kept, s.Link)
	}
	return links.New(r.set.N(), kept)
}

// minWeight is the smallest factor of a weight, since links.New reads the weight 0 as 1.
const minWeight = 1e-3

// Reweighted returns the links with their weights multiplied by the probability that their signs
// are right, according to the metrics alone: without the prior that most links are right. The
// factor is 1/2 for a pair that the metrics cannot decide, and at least 0.001. It helps methods
// that use weights (npkl, itml, gml, kbeta, spectral, and clustering with penalties); the others
// ignore them.
func (r *Result) Reweighted() (*links.Set, error) {
	prior := math.Log(r.Share / (1 - r.Share))
	out := make([]links.Link, len(r.Links))
	for k, s := range r.Links {
		out[k] = s.Link
		out[k].Weight *= math.Max(minWeight, 1/(1+math.Exp(s.Score-prior)))
	}
	return links.New(r.set.N(), out)
}
