package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// Criterion names the score of a model.
type Criterion string

// The criteria. All are larger for better models. Those of links are 1/2 on average if the features
// say nothing about links.
const (
	// Ranking is the probability that a held-out must-link is shorter than a held-out cannot-link
	// (AUC), less what the rows of the fit alone give, plus 1/2: see [verdict.Fold.Ranking].
	Ranking Criterion = "ranking"
	// Agreement is the balanced share of held-out links that k-means with Options.Clusters clusters
	// satisfies, less what the rows of the fit alone give, plus 1/2.
	Agreement Criterion = "agreement"
	// Combined is the mean of Ranking and Agreement of the same fit. The first measures every
	// held-out link by its distance, the second by the clusters, and their errors differ.
	Combined Criterion = "combined"
	// Labels is the accuracy of nearest labeled neighbors, for labeled points without a link in the
	// fit.
	Labels Criterion = "labels"
	// Stability is the adjusted Rand index between the clusters of two models fitted on disjoint
	// halves of the links.
	Stability Criterion = "stability"
)

// DefaultCriterion returns the criterion for a number of clusters: Combined, or Ranking if the
// number is 0, which means unknown.
func DefaultCriterion(clusters int) Criterion {
	if clusters == 0 {
		return Ranking
	}
	return Combined
}

// Criteria returns all criteria.
func Criteria() []string {
	return []string{string(Ranking), string(Agreement), string(Combined), string(Labels), string(Stability)}
}

const (
	restarts = 10 // of k-means
	voters   = 5  // nearest neighbors of a classification
)

// evaluator scores candidates.
type evaluator struct {
	x     points.Points
	o     *Options
	folds []*verdict.Fold
	// halves are the links in two parts, for each fold of Stability.
	halves [][2]*links.Set
}

// learner returns the learner of a candidate for all points.
func (j *evaluator) learner(c Candidate) (algorithms.Learner, error) {
	return c.Learner(catalog.Config{Seed: j.o.Seed, Files: j.o.Files, Rows: j.x.Len()})
}

// newEvaluator returns an evaluator with the links divided into folds or halves.
func newEvaluator(x points.Points, set *links.Set, o *Options) (*evaluator, error) {
	j := &evaluator{x: x, o: o}
	if o.Criterion != Stability {
		d, err := verdict.Divide(set, o.Folds, o.Seed)
		if err != nil {
			return nil, err
		}
		j.folds = d.Folds
		return j, nil
	}
	for f := range o.Folds {
		two, err := halve(set, o.Seed+uint64(f))
		if err != nil {
			return nil, err
		}
		j.halves = append(j.halves, two)
	}
	return j, nil
}

// streamHalves is the stream of the random numbers that divide links into halves.
const streamHalves = 0x68616c766573

// halve divides the links of each kind at random into two parts of equal size.
func halve(set *links.Set, seed uint64) (two [2]*links.Set, err error) {
	must, cannot := set.Count()
	if must < 2 {
		return two, fault.Data("",
			"%s: want at least 2 must-links, one for each half", links.Numbers(must, cannot))
	}
	r := rand.New(rand.NewPCG(seed, streamHalves))
	var parts [2][]links.Link
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for at, k := range r.Perm(len(list)) {
			parts[at%2] = append(parts[at%2], list[k])
		}
	}
	for k := range two {
		if two[k], err = links.New(set.N(), parts[k]); err != nil {
			return two, err
		}
	}
	return two, nil
}

// parts returns the number of folds that a candidate can be scored on.
func (j *evaluator) parts() int { return max(len(j.folds), len(j.halves)) }

// weight returns the weight of fold f among others.
func (j *evaluator) weight(f int) float64 {
	switch j.o.Criterion {
	case Stability:
		return 1
	case Labels:
		test, _ := j.labeled(f)
		return float64(len(test))
	}
	return j.folds[f].Weight()
}

// score fits a candidate on fold f and returns its score.
func (j *evaluator) score(ctx context.Context, eng *engine.Engine, c Candidate, f int) (verdict.Statistic,
	error) {
	if j.o.Criterion == Stability {
		return j.stability(ctx, eng, c, f)
	}
	l, err := j.learner(c)
	if err != nil {
		return verdict.Statistic{}, err
	}
	l, x, set, err := j.folds[f].Training(eng, l, j.x)
	if err != nil {
		return verdict.Statistic{}, err
	}
	m, err := l.Fit(ctx, eng, x, set)
	if err != nil {
		return verdict.Statistic{}, err
	}
	return j.measure(ctx, eng, m, f)
}

// measure returns the score of a model on fold f.
func (j *evaluator) measure(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	f int) (verdict.Statistic, error) {
	switch j.o.Criterion {
	case Agreement:
		return j.agreement(ctx, eng, m, f)
	case Combined:
		ranking, err := j.ranking(ctx, eng, m, f)
		if err != nil {
			return ranking, err
		}
		agreement, err := j.agreement(ctx, eng, m, f)
		if err != nil {
			return agreement, err
		}
		return ranking.Mean(agreement), nil
	case Labels:
		return j.labels(ctx, eng, m, f)
	}
	return j.ranking(ctx, eng, m, f)
}

// ranking returns the ranking of the fold.
func (j *evaluator) ranking(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	f int) (verdict.Statistic, error) {
	var d []float64
	var err error
	if raw, is := m.(unlearned); is { // it may have no coordinates
		d, err = raw.Distances(ctx, eng, j.x, j.folds[f].Ranked())
	} else {
		d, err = j.folds[f].Distances(ctx, eng, m, j.x)
	}
	if err != nil {
		return verdict.Statistic{}, err
	}
	return j.folds[f].Ranking(ctx, d)
}

// clusters returns the k-means clusters of all points.
func (j *evaluator) clusters(ctx context.Context, eng *engine.Engine, m algorithms.Model) ([]int, error) {
	y, err := m.Embed(ctx, eng, j.x)
	if err != nil {
		return nil, err
	}
	r, err := cluster.KMeans(ctx, eng, y, cluster.Params{K: j.o.Clusters, Restarts: restarts, Seed: j.o.Seed})
	if err != nil {
		return nil, err
	}
	return r.Labels, nil
}

// agreement returns how well clusters agree with the links of the fold.
func (j *evaluator) agreement(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	f int) (verdict.Statistic, error) {
	of, err := j.clusters(ctx, eng, m)
	if err != nil {
		return verdict.Statistic{}, err
	}
	return j.folds[f].Agreement(of), nil
}

// labeled returns the labeled rows of fold f and the other ones.
func (j *evaluator) labeled(f int) (test, train []int) {
	for i, l := range j.o.Labels {
		if l == "" {
			continue
		}
		if _, held := slices.BinarySearch(j.folds[f].Rows, i); held {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return test, train
}

// labels returns the accuracy of nearest-neighbor classification of the fold's labeled points by
// the other labeled points.
func (j *evaluator) labels(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	f int) (s verdict.Statistic, err error) {
	test, train := j.labeled(f)
	if len(test) == 0 || len(train) == 0 {
		return s, fault.Data("",
			"fold %d has %d labeled points and leaves %d: want at least one of each; give "+
				"more labels, or fewer folds", f+1, len(test), len(train))
	}
	of := make([]string, len(train))
	for k, i := range train {
		of[k] = j.o.Labels[i]
	}
	y, err := m.Embed(ctx, eng, j.x)
	if err != nil {
		return s, err
	}
	found, err := neighbors.Classify(ctx, eng, y.Select(train), of, y.Select(test), min(voters, len(train)))
	if err != nil {
		return s, err
	}
	right, n := make([]float64, len(test)), float64(len(test))
	for k, i := range test {
		if found[k] == j.o.Labels[i] {
			right[k] = 1
			s.Value++
		}
	}
	s.Value /= n
	s.Rows = make([]float64, len(j.folds[f].Rows))
	for k, i := range test {
		at, _ := slices.BinarySearch(j.folds[f].Rows, i)
		s.Rows[at] = (right[k] - s.Value) / n
	}
	return s, nil
}

// stability returns the agreement between the clusters of two models, each fitted on one half of
// the links.
func (j *evaluator) stability(ctx context.Context, eng *engine.Engine, c Candidate, f int) (verdict.Statistic,
	error) {
	var of [2][]int
	for k, half := range j.halves[f] {
		l, err := j.learner(c)
		if err != nil {
			return verdict.Statistic{}, err
		}
		m, err := l.Fit(ctx, eng, j.x, half)
		if err != nil {
			return verdict.Statistic{}, err
		}
		if of[k], err = j.clusters(ctx, eng, m); err != nil {
			return verdict.Statistic{}, err
		}
	}
	rand, err := score.AdjustedRand(of[0], of[1])
	return verdict.Statistic{Value: rand}, err
}

// check returns an error for missing options of the criterion and for an invalid incumbent.
func (o *Options) check(n int) error {
	if err := o.checkIncumbent(); err != nil {
		return err
	}
	switch o.Criterion {
	case Ranking:
	case Agreement, Combined, Stability:
		if o.Clusters < 2 || o.Clusters > n {
			return &fault.ParamError{Param: "clusters", Value: o.Clusters,
				Want: fmt.Sprintf("the number of clusters, 2 to %d, for the criterion %s", n, o.Criterion)}
		}
	case Labels:
		if len(o.Labels) != n {
			return &fault.ShapeError{What: "number of labels", Got: len(o.Labels),
				Want: fmt.Sprintf("%d, one for each point, for the criterion labels", n)}
		}
	default:
		return fault.Unknown("criterion", string(o.Criterion), Criteria())
	}
	return nil
}

// finite returns an error for a score that is not finite.
func finite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("the score is %v: want a finite number", v)
	}
	return nil
}
