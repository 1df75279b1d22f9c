package selection

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/internal/heldout"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// Criterion names the score of a model.
type Criterion string

// The criteria. All are larger for better models and at most 1.
const (
	// Ranking is the probability that a held-out must-link is shorter than a held-out cannot-link
	// (AUC): the mean of that of the given links and that of all pairs of two held-out points which
	// links join or separate, also by implication.
	Ranking Criterion = "ranking"
	// Agreement is the balanced share of held-out links that k-means with Options.Clusters clusters
	// satisfies.
	Agreement Criterion = "agreement"
	// Combined is the mean of Ranking and Agreement of the same fit. The first measures every held-out
	// link by its distance, the second by the clusters, and their errors differ.
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
	x      points.Points
	o      *Options
	folds  []heldout.Fold
	halves [][2]heldout.Fold // for Stability
}

// newEvaluator returns an evaluator with the links divided into folds or halves.
func newEvaluator(x points.Points, set *links.Set, o *Options) (*evaluator, error) {
	j := &evaluator{x: x, o: o}
	var err error
	if o.Criterion != Stability {
		j.folds, err = heldout.Deal(set, o.Folds, o.Seed)
		return j, err
	}
	for f := range o.Folds {
		two, err := heldout.Deal(set, 2, o.Seed+uint64(f))
		if err != nil {
			return nil, err
		}
		j.halves = append(j.halves, [2]heldout.Fold{two[0], two[1]})
	}
	return j, nil
}

// score fits a candidate on fold f and returns its score.
func (j *evaluator) score(ctx context.Context, eng *engine.Engine, c Candidate, f int) (float64, error) {
	if j.o.Criterion == Stability {
		return j.stability(ctx, eng, c, f)
	}
	m, err := j.fit(ctx, eng, c, j.folds[f])
	if err != nil {
		return 0, err
	}
	return j.measure(ctx, eng, m, f)
}

// measure returns the score of a model on fold f.
func (j *evaluator) measure(ctx context.Context, eng *engine.Engine, m algorithms.Model, f int) (float64, error) {
	switch j.o.Criterion {
	case Agreement:
		return j.agreement(ctx, eng, m, f)
	case Combined:
		return j.combined(ctx, eng, m, f)
	case Labels:
		return j.labels(ctx, eng, m, f)
	}
	return j.ranking(ctx, eng, m, f)
}

// fit fits a candidate without the points of a fold.
func (j *evaluator) fit(ctx context.Context, eng *engine.Engine, c Candidate, held heldout.Fold) (algorithms.Model, error) {
	l, err := c.Learner(j.o.Seed, nil)
	if err != nil {
		return nil, err
	}
	x, set, err := held.Training(eng, j.x)
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, eng, x, set)
}

// ranking returns the ranking of the fold.
func (j *evaluator) ranking(ctx context.Context, eng *engine.Engine, m algorithms.Model, f int) (float64, error) {
	d, err := m.Distances(ctx, eng, j.x, j.folds[f].Ranked())
	if err != nil {
		return 0, err
	}
	return j.folds[f].Ranking(d)
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

// agreement returns the mean of the share of must-links within clusters and the share of
// cannot-links between clusters.
func (j *evaluator) agreement(ctx context.Context, eng *engine.Engine, m algorithms.Model, f int) (float64, error) {
	of, err := j.clusters(ctx, eng, m)
	if err != nil {
		return 0, err
	}
	held := j.folds[f]
	var satisfied [2]float64 // must-links, cannot-links
	for k, p := range held.Links.List {
		switch same := of[p[0]] == of[p[1]]; {
		case k < held.Links.Must && same:
			satisfied[0]++
		case k >= held.Links.Must && !same:
			satisfied[1]++
		}
	}
	return satisfied[0]/float64(held.Links.Must)/2 + satisfied[1]/float64(len(held.Links.List)-held.Links.Must)/2, nil
}

// combined returns the mean of ranking and agreement.
func (j *evaluator) combined(ctx context.Context, eng *engine.Engine, m algorithms.Model, f int) (float64, error) {
	ranking, err := j.ranking(ctx, eng, m, f)
	if err != nil {
		return 0, err
	}
	agreement, err := j.agreement(ctx, eng, m, f)
	return (ranking + agreement) / 2, err
}

// labels returns the accuracy of nearest-neighbor classification of the fold's labeled points by
// the other labeled points.
func (j *evaluator) labels(ctx context.Context, eng *engine.Engine, m algorithms.Model, f int) (float64, error) {
	held := map[int]bool{}
	for _, i := range j.folds[f].Points {
		held[i] = true
	}
	var train, test []int
	var of, truth []string
	for i, l := range j.o.Labels {
		switch {
		case l == "":
		case held[i]:
			test, truth = append(test, i), append(truth, l)
		default:
			train, of = append(train, i), append(of, l)
		}
	}
	if len(test) == 0 || len(train) == 0 {
		return 0, fault.Data("", "fold %d has %d labeled points and leaves %d: want at least one of each; give more labels, or fewer folds", f+1, len(test), len(train))
	}
	y, err := m.Embed(ctx, eng, j.x)
	if err != nil {
		return 0, err
	}
	found, err := neighbors.Classify(ctx, eng, y.Select(train), of, y.Select(test), min(voters, len(train)))
	if err != nil {
		return 0, err
	}
	return score.Accuracy(truth, found)
}

// stability returns the agreement between the clusters of two models, each fitted on one half of
// the links.
func (j *evaluator) stability(ctx context.Context, eng *engine.Engine, c Candidate, f int) (float64, error) {
	var of [2][]int
	for k, held := range j.halves[f] {
		m, err := j.fit(ctx, eng, c, held)
		if err != nil {
			return 0, err
		}
		if of[k], err = j.clusters(ctx, eng, m); err != nil {
			return 0, err
		}
	}
	return score.AdjustedRand(of[0], of[1])
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
			return &fault.ParamError{Param: "clusters", Value: o.Clusters, Want: fmt.Sprintf("the number of clusters, 2 to %d, for the criterion %s", n, o.Criterion)}
		}
	case Labels:
		if len(o.Labels) != n {
			return &fault.ShapeError{What: "number of labels", Got: len(o.Labels), Want: fmt.Sprintf("%d, one for each point, for the criterion labels", n)}
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
