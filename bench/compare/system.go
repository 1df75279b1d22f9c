package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// Raw is the system that learns nothing: the points as they are.
const Raw = "raw points"

// Systems returns the names of all systems: raw points, and every method of the catalog that learns
// from links. Methods for few points are left out, as they solve the problem of another method, and
// parts, which is its base method for so few links.
func Systems() []string {
	names := []string{Raw}
	for _, m := range catalog.Methods() {
		if !m.Small && !m.UsesTargets && m.Name != parts.Method {
			names = append(names, m.Name)
		}
	}
	return names
}

const (
	restarts = 10 // of k-means
	votes    = 5  // of the nearest neighbors
)

// The values of a system in a repetition, in the order of [Measures].
const (
	trainingRand = iota
	heldOutRand
	trainingARI
	heldOutARI
	trainingNMI
	heldOutNMI
	trainingNeighbors
	heldOutNeighbors
	heldOutPrecision
	heldOutAUC
	fitSeconds
	embedSeconds
	measures
)

// Measures returns the names of the columns: quality on training rows and on held-out rows, and
// times.
func Measures() []string {
	return []string{
		"balanced Rand, training", "balanced Rand, held-out", "adjusted Rand, training",
		"adjusted Rand, held-out",
		"NMI, training", "NMI, held-out", "5-NN accuracy, training", "5-NN accuracy, held-out",
		"MAP, held-out", "AUC, held-out", "fit, s", "embed, s",
	}
}

// problem is the input of all systems in a repetition.
type problem struct {
	training, heldOut half
	links             *links.Set
	seed              uint64
}

// drawn returns the problem of a repetition: two halves of the rows, and links between training
// rows.
func drawn(ctx context.Context, eng *engine.Engine, t paper.Trial, l Links) (*problem, error) {
	training, heldOut, err := t.Shared.(*rows).halves(ctx, eng, maxRows, t.Seed(0))
	if err != nil {
		return nil, err
	}
	set, err := drawLinks(training.labels, int(l.perRow()*float64(training.x.N)+0.5), l.Wrong, t.Seed(1))
	return &problem{training, heldOut, set, t.Seed(2)}, err
}

// permuted returns as many links, drawn in the same way after the labels were permuted.
func (p *problem) permuted() (*links.Set, error) {
	labels := slices.Clone(p.training.labels)
	rand.New(rand.NewPCG(p.seed, 1)).Shuffle(len(labels), func(i, j int) {
		labels[i], labels[j] = labels[j],
			labels[i]
	})
	return drawLinks(labels, p.links.Len(), 0, p.seed)
}

// measured returns the values of a system in one repetition on a set. A failure of the system is
// recorded; only the end of the context is an error.
func (p *problem) measured(ctx context.Context, eng *engine.Engine, system, set string, repetition int,
	failed *failures) ([]float64, error) {
	v, err := p.values(ctx, eng, system)
	if err != nil && ctx.Err() == nil {
		failed.add(set, system, repetition, err)
	}
	return v, ctx.Err()
}

// values returns the values of a system. If it fails, all of them are NaN, and the error says why.
func (p *problem) values(ctx context.Context, eng *engine.Engine, system string) ([]float64, error) {
	out := make([]float64, measures)
	for k := range out {
		out[k] = math.NaN()
	}
	coordinates, err := p.coordinates(ctx, eng, system, out)
	if err != nil {
		return out, err
	}
	for k, h := range []half{p.training, p.heldOut} {
		if err := p.clustered(ctx, eng, coordinates[k], h.labels, out[trainingRand+k:]); err != nil {
			return out, err
		}
		if out[trainingNeighbors+k],
			err = shareOfNeighbors(ctx, eng, coordinates[0], p.training.labels, coordinates[k], h.labels,
			k == 0); err != nil {
			return out, err
		}
	}
	return out, ranked(ctx, eng, coordinates[1], p.heldOut.labels, out[heldOutPrecision:])
}

// coordinates returns the embeddings of both halves by a system, and writes its times to out.
func (p *problem) coordinates(ctx context.Context, eng *engine.Engine, system string,
	out []float64) ([2]blas.Matrix, error) {
	var coordinates [2]blas.Matrix
	if system == Raw {
		for k, h := range []half{p.training, p.heldOut} {
			coordinates[k] = blas.MatrixOf(h.x.N, h.x.D, h.x.Data)
		}
		out[fitSeconds], out[embedSeconds] = 0, 0
		return coordinates, nil
	}
	learner, err := learner(system, p.seed, classes(p.training.labels))
	if err != nil {
		return coordinates, err
	}
	start := time.Now()
	m, err := learner.Fit(ctx, eng, p.training.x, p.links)
	if err != nil {
		return coordinates, err
	}
	fitted := time.Now()
	for k, h := range []half{p.training, p.heldOut} {
		if coordinates[k], err = m.Embed(ctx, eng, h.x); err != nil {
			return coordinates, err
		}
	}
	out[fitSeconds], out[embedSeconds] = fitted.Sub(start).Seconds(), time.Since(fitted).Seconds()
	return coordinates, nil
}

// learner returns the learner of a system, written as "gml" or "gml gamma=3 kernel=linear": the
// first word is the method, the others set parameters that differ from its defaults. The method
// "select" selects one by held-out links, as the command does by default if it knows the number of
// clusters, which is the number of classes here. Its parameters are criterion, halving, incumbent,
// margin and methods (joined by +).
func learner(text string, seed uint64, classes int) (algorithms.Learner, error) {
	method, params, err := system.Parse(text)
	if err != nil {
		return nil, err
	}
	if method == selects {
		return newChooser(params, seed, classes)
	}
	return system.Learner(method, params, seed)
}

func classes(labels []string) int {
	distinct := map[string]bool{}
	for _, l := range labels {
		distinct[l] = true
	}
	return len(distinct)
}

// clustered writes the balanced Rand index, the adjusted Rand index and the normalized mutual
// information of k-means into every second element of out.
func (p *problem) clustered(ctx context.Context, eng *engine.Engine, y blas.Matrix, labels []string,
	out []float64) error {
	r, err := cluster.KMeans(ctx, eng, y,
		cluster.Params{K: classes(labels), Restarts: restarts, Seed: p.seed})
	if err != nil {
		return err
	}
	for k, measure := range []func([]string, []int) (float64, error){score.BalancedRand[string, int],
		score.AdjustedRand[string, int], score.NMI[string, int]} {
		if out[2*k], err = measure(labels, r.Labels); err != nil {
			return err
		}
	}
	return nil
}

// shareOfNeighbors returns the share of query points whose nearest neighbors among the training
// points have their label. If same is true, the query points are the training points, and no point
// is its own neighbor.
func shareOfNeighbors(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string,
	query blas.Matrix, truth []string, same bool) (float64, error) {
	classify := neighbors.Classify
	if same {
		classify = func(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string,
			_ blas.Matrix, k int) ([]string, error) {
			return neighbors.LeaveOneOut(ctx, eng, train, labels, k)
		}
	}
	found, err := classify(ctx, eng, train, labels, query, min(votes, train.Rows-1))
	if err != nil {
		return 0, fmt.Errorf("nearest neighbors: %w", err)
	}
	return score.Accuracy(truth, found)
}
