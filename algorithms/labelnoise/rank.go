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
	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Options says how links are judged. Make them with [DefaultOptions].
type Options struct {
	Metrics     []algorithms.Learner // at least one
	Folds       int                  // parts of the links, each judged by models of the others, >= 2
	Repetitions int                  // divisions into folds that are averaged over, >= 1
	Rounds      int                  // >= 1; from the second on, models are fitted without what is most suspicious so far
	Seed        uint64               // of the divisions
	Progress    algorithms.ProgressFunc
}

// metrics are the judges' of different kinds: each speaks by itself, and through npkl on neighbors
// by it.
func metrics() []string { return []string{"itml", "lleratio", "krca"} }

// neighborsOnEmbedding is the number of neighbors of npkl on the places of a metric, twice its
// default: rows that links have drawn together have more neighbors of their kind.
const neighborsOnEmbedding = "10"

// defaultMetric returns the learner of a metric with its defaults, and of npkl besides.
func defaultMetric(metric string, seed uint64) (algorithms.Learner, error) {
	first, err := catalog.New(metric, catalog.Config{Seed: seed})
	if err != nil {
		return nil, err
	}
	second, err := catalog.New("npkl", catalog.Config{Seed: seed, Params: map[string]string{"neighbors": neighborsOnEmbedding, "extension": "graph"}})
	return besides{first, second}, err
}

// Metrics names who speaks under [DefaultOptions]: three metrics with their defaults, and npkl on
// the places that each of them gives the points, where neighbors are near in directions that
// matter.
func Metrics() []string {
	var names []string
	for _, metric := range metrics() {
		names = append(names, metric, on("npkl", metric))
	}
	return names
}

// DefaultOptions returns ten folds, divided twice, three rounds, and the methods of [Metrics], of
// which those that cannot learn from the points and links at hand are left out.
func DefaultOptions(seed uint64) (Options, error) {
	o := Options{Folds: 10, Repetitions: 2, Rounds: 3, Seed: seed}
	for _, metric := range metrics() {
		l, err := defaultMetric(metric, seed)
		if err != nil {
			return o, err
		}
		o.Metrics = append(o.Metrics, l)
	}
	return o, nil
}

// Suspect is a link with what speaks against it.
type Suspect struct {
	Link links.Link
	// Score is the logarithm of the odds that the link has the wrong sign: above 0 it is wrong more
	// likely than not.
	Score float64
	// Distance is the squared distance of the two rows under metrics learned without the link, in
	// units of the mean of random pairs: the geometric mean over judges and repetitions.
	Distance float64
	// Conflict is the contradiction that the link is a part of, as the cannot-link or on the path;
	// nil for none.
	Conflict *links.Conflict
}

// Result is all links, the most suspicious first.
type Result struct {
	Suspects []Suspect
	// Share is the share of links that are wrong, as estimated with their scores.
	Share   float64
	Metrics []string // methods that had a say
	Notices []string // metrics that were left out, and why
	Fits    int      // that were made

	set *links.Set
}

// Likely returns how many links are more likely wrong than right: the first of Suspects.
func (r *Result) Likely() int {
	return len(r.Suspects) - len(slices.DeleteFunc(slices.Clone(r.Suspects), func(s Suspect) bool { return s.Score > 0 }))
}

// Rank judges the links of set between the points x. The result does not depend on the order in
// which links were given, nor on the number of workers.
//
// A judge that cannot learn is left out, with a notice; when none is left, the first one's error is
// returned. Where all links are must-links, random pairs stand in for cannot-links, and one link in
// twenty is taken to be wrong; where all are cannot-links, those are suspicious that are shorter
// than one random pair in twenty, and scores are no odds. Links that chunklets imply are judged as
// any others; but for a judge that learns from components only, such as krca, a link that others
// imply is always met.
//
// Errors: a set on another number of rows, a *fault.ShapeError; options that make no sense, a
// *fault.ParamError; no links, or a single one of a kind, which nothing of its kind can judge, a
// *fault.DataError; chunklets with more pairs than memory has room for; ctx.Err(), wrapped. Cost:
// Metrics x Folds x Repetitions x Rounds fits, of the judges of [DefaultOptions] twice as many.
func Rank(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, o Options) (*Result, error) {
	if err := o.check(x, set); err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("all %d pairs of the chunklets", set.Len()), 2*set.Bytes(), "give links, fewer of them, in place of chunklets"); err != nil {
		return nil, err
	}
	eng, err := eng.Sharing(cacheBytes)
	if err != nil {
		return nil, err
	}
	t := &trial{x: x, o: o, list: slices.Concat(set.Must(), set.Cannot()), others: strangers(x.Len()), begin: time.Now()}
	t.dropped = make([]bool, len(t.list))
	for t.round = range o.Rounds {
		if err := t.turn(ctx, eng, set); err != nil {
			return nil, err
		}
	}
	return t.verdict(set), nil
}

func (o *Options) check(x points.Points, set *links.Set) error {
	switch {
	case set.N() != x.Len():
		return &fault.ShapeError{What: "number of points of the links", Got: set.N(), Want: fmt.Sprintf("%d, as there are points", x.Len())}
	case len(o.Metrics) == 0:
		return &fault.ParamError{Param: "judges", Value: 0, Want: "at least one method"}
	case o.Folds < 2:
		return &fault.ParamError{Param: "folds", Value: o.Folds, Want: "a number >= 2"}
	case o.Repetitions < 1:
		return &fault.ParamError{Param: "repetitions", Value: o.Repetitions, Want: "a number >= 1"}
	case o.Rounds < 1:
		return &fault.ParamError{Param: "rounds", Value: o.Rounds, Want: "a number >= 1"}
	}
	must, cannot := set.Count()
	switch {
	case must+cannot == 0:
		return fault.Data("", "there are no links to judge: want at least two of a kind")
	case must == 1:
		return fault.Data("", "there is a single must-link, which no other of its kind can judge: want two or more, or none")
	case cannot == 1:
		return fault.Data("", "there is a single cannot-link, which no other of its kind can judge: want two or more, or none")
	}
	return nil
}

// cacheBytes bounds what the fits keep for each other when the engine has no cache of its own.
const cacheBytes = 64 << 20

// streamStrangers is the stream of the random numbers that draw random pairs.
const streamStrangers = 0x737472616e676572

// strangers draws pairs of different rows of n.
func strangers(n int) [][2]int {
	const count = 1000
	r := rand.New(rand.NewPCG(uint64(n), streamStrangers))
	pairs := make([][2]int, count)
	for k := range pairs {
		pairs[k] = draw.Pair(r, n)
	}
	return pairs
}

// trial is a call of Rank.
type trial struct {
	x      points.Points
	o      Options
	list   []links.Link // must-links first
	others [][2]int     // random pairs
	begin  time.Time
	fits   int

	round   int
	dropped []bool // links that no model of this round is fitted on
	folds   []fold
	scores  []float64
	share   float64 // of links that are wrong

	reported []testimony // of the judges that could learn
	notices  []string
	first    error // of a judge that could not
}

// turn judges all links once, and finds those that the next turn leaves out: as many as are wrong,
// as far as can be told.
func (t *trial) turn(ctx context.Context, eng *engine.Engine, set *links.Set) (err error) {
	t.folds, t.reported, t.notices, t.first = nil, nil, nil, nil
	if err := t.divide(set); err != nil {
		return err
	}
	if err := t.hear(ctx, eng); err != nil {
		return err
	}
	if t.scores, t.share, err = t.weigh(); err != nil {
		return err
	}
	order := make([]int, len(t.list))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.scores[b], t.scores[a]) })
	clear(t.dropped)
	if !t.alone() {
		for _, k := range order[:int(t.share*float64(len(order)))] {
			t.dropped[k] = true
		}
	}
	return nil
}

// alone says that all links are of one kind; nothing is known then of how many are wrong.
func (t *trial) alone() bool { return t.list[0].Sign == t.list[len(t.list)-1].Sign }

// testimony is what a judge's voice says: logarithms of relative squared distances, of the links
// and of random pairs; or why it says nothing.
type testimony struct {
	method       string
	links, other []float64
	failed       error
}

// hear fits all judges on all folds.
func (t *trial) hear(ctx context.Context, eng *engine.Engine) error {
	votesOf := make([][]testimony, len(t.o.Metrics))
	for j, metric := range t.o.Metrics {
		for _, name := range voices(metric) {
			votesOf[j] = append(votesOf[j], testimony{method: name, links: make([]float64, len(t.list)), other: make([]float64, len(t.others))})
		}
	}
	results, err := batch.Fit(ctx, eng, t.jobs, batch.Options{})
	if err != nil {
		return err
	}
	for r := range results {
		j, f := r.Index/len(t.folds), r.Index%len(t.folds)
		t.listen(ctx, eng, r, t.folds[f], votesOf[j])
		t.fits += len(votesOf[j])
		t.o.Progress.Report(algorithms.Progress{Stage: "judging links", Done: t.fits, Total: t.total(), Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(t.begin)})
	}
	if ctx.Err() != nil {
		return fmt.Errorf("judging links stopped after %d of %d fits: %w", t.fits, t.total(), ctx.Err())
	}
	for _, votes := range slices.Concat(votesOf...) {
		switch {
		case votes.failed == nil:
			t.reported = append(t.reported, votes)
		case t.first == nil:
			t.first = votes.failed
			fallthrough
		default:
			t.notices = append(t.notices, fmt.Sprintf("%s cannot judge these links: %v", votes.method, votes.failed))
		}
	}
	if len(t.reported) == 0 {
		return t.first
	}
	return nil
}

// total is the number of fits of all rounds.
func (t *trial) total() int {
	voiced := 0
	for _, metric := range t.o.Metrics {
		voiced += len(voices(metric))
	}
	return t.o.Rounds * voiced * len(t.folds)
}

// jobs yields the fits of a round, those of the first judge first.
func (t *trial) jobs(yield func(batch.Job) bool) {
	for _, metric := range t.o.Metrics {
		for _, f := range t.folds {
			if !yield(batch.Job{Learner: metric, Points: t.x, Links: f.fit}) {
				return
			}
		}
	}
}

// least is added to relative squared distances: what is nearer is as good as in one place.
const least = 0.01

// listen adds what the voices of a judge say of the links of a fold that it was not fitted on. One
// that failed is not heard again.
func (t *trial) listen(ctx context.Context, eng *engine.Engine, r batch.Result, f fold, votesOf []testimony) {
	says := make([]voice, len(votesOf))
	if r.Err == nil {
		says = heard(r.Model)
	}
	for k := range votesOf {
		votes := &votesOf[k]
		if votes.failed == nil {
			votes.failed = cmp.Or(r.Err, says[k].failed)
		}
		if votes.failed == nil {
			votes.failed = t.note(ctx, eng, says[k].measure, f, votes)
		}
	}
}

// note adds the distances of the links of a fold to what a voice has said.
func (t *trial) note(ctx context.Context, eng *engine.Engine, distances measure, f fold, votes *testimony) error {
	pairs := slices.Clone(t.others)
	for _, k := range f.held {
		pairs = append(pairs, [2]int{t.list[k].I, t.list[k].J})
	}
	d, err := distances(ctx, eng, t.x, pairs)
	if err != nil {
		return err
	}
	mean := 0.0
	for _, v := range d[:len(t.others)] {
		mean += v / float64(len(t.others))
	}
	if !(mean > 0) || math.IsInf(mean, 1) {
		return fmt.Errorf("random pairs are %g apart under its metric: want a finite number > 0", mean)
	}
	for k, v := range d {
		closeness := math.Log(v/mean + least)
		if math.IsNaN(closeness) || math.IsInf(closeness, 0) {
			return fmt.Errorf("a pair is %g apart under its metric: want a finite number", v)
		}
		if k < len(t.others) {
			votes.other[k] += closeness / float64(len(t.folds))
		} else {
			votes.links[f.held[k-len(t.others)]] += closeness / float64(t.o.Repetitions)
		}
	}
	return nil
}

// verdict puts the links in order.
func (t *trial) verdict(set *links.Set) *Result {
	r := &Result{set: set, Share: t.share, Notices: t.notices, Fits: t.fits, Suspects: make([]Suspect, len(t.list))}
	conflict := conflicts(set)
	for k, l := range t.list {
		mean := 0.0
		for _, votes := range t.reported {
			mean += votes.links[k] / float64(len(t.reported))
		}
		r.Suspects[k] = Suspect{Link: l, Score: t.scores[k], Distance: max(0, math.Exp(mean)-least), Conflict: conflict[[2]int{l.I, l.J}]}
	}
	for _, votes := range t.reported {
		r.Metrics = append(r.Metrics, votes.method)
	}
	slices.SortStableFunc(r.Suspects, func(a, b Suspect) int { return cmp.Compare(b.Score, a.Score) })
	return r
}

// conflicts returns the first contradiction that each pair is a part of.
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

// Reason says in words what speaks against the link, or for it.
func (s Suspect) Reason() string {
	text := fmt.Sprintf("its rows are %.2g times as far apart as random ones (squared), judged without it", s.Distance)
	switch {
	case s.Conflict == nil:
	case s.Link.Sign == links.Cannot:
		text += "; must-links join them: " + s.Conflict.PathString()
	default:
		text += "; it is on the way " + s.Conflict.PathString() + " between rows of a cannot-link"
	}
	return text
}

// Without returns the links but for the count most suspicious ones. Chunklets are written out as
// pairs, so what the links that stay imply is still implied. A count that is negative, or leaves no
// link, is a *fault.ParamError.
func (r *Result) Without(count int) (*links.Set, error) {
	if count < 0 || count >= len(r.Suspects) {
		return nil, &fault.ParamError{Param: "number of links to leave out", Value: count, Want: fmt.Sprintf("a number from 0 to %d, as there are %d links", len(r.Suspects)-1, len(r.Suspects))}
	}
	var kept []links.Link
	for _, s := range r.Suspects[count:] {
		kept = append(kept, s.Link)
	}
	return links.New(r.set.N(), kept)
}

// leastWeight is that of a link that is certainly wrong; 0 would be taken for 1.
const leastWeight = 1e-3

// Reweighted returns the links with their weights times the probability of their signs by what the
// metrics say alone, without the trust in links that most are right: 1/2 for a pair of which they
// cannot tell, at least 0.001. It helps methods that weigh links (npkl, itml, gml, kbeta, spectral,
// and clustering with penalties); the others do not see it.
func (r *Result) Reweighted() (*links.Set, error) {
	trust := math.Log(r.Share / (1 - r.Share))
	out := make([]links.Link, len(r.Suspects))
	for k, s := range r.Suspects {
		out[k] = s.Link
		out[k].Weight *= math.Max(leastWeight, 1/(1+math.Exp(s.Score-trust)))
	}
	return links.New(r.set.N(), out)
}
