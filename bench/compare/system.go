package compare

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
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
// from links, but those that take few points only, which solve the problem of another method.
func Systems() []string {
	names := []string{Raw}
	for _, m := range catalog.Methods() {
		if !m.Small && !m.UsesTargets {
			names = append(names, m.Name)
		}
	}
	return names
}

const (
	restarts = 10 // of k-means
	votes    = 5  // of the nearest neighbors
)

// The figures of a system in a repetition, in the order of [Measures].
const (
	seenRand = iota
	unseenRand
	seenARI
	unseenARI
	seenNMI
	unseenNMI
	seenNeighbors
	unseenNeighbors
	fitSeconds
	embedSeconds
	measures
)

// Measures names the figures: of the rows that links were drawn from, and of rows that no method
// has seen.
func Measures() []string {
	return []string{
		"balanced Rand, seen", "balanced Rand, unseen", "adjusted Rand, seen", "adjusted Rand, unseen", "NMI, seen", "NMI, unseen",
		"5-NN accuracy, seen", "5-NN accuracy, unseen", "fit, s", "embed, s",
	}
}

// problem is what all systems of a repetition are given.
type problem struct {
	seen, unseen half
	links        *links.Set
	seed         uint64
}

// drawn returns the problem of a repetition: halves of the rows, and links between those of the
// first.
func drawn(ctx context.Context, eng *engine.Engine, t paper.Trial) (*problem, error) {
	seen, unseen, err := t.Shared.(*rows).halves(ctx, eng, mostRows, t.Seed(0))
	if err != nil {
		return nil, err
	}
	set, err := drawLinks(seen.labels, int(linksPerRow*float64(seen.x.N)+0.5), 0, t.Seed(1))
	return &problem{seen, unseen, set, t.Seed(2)}, err
}

// noted is figures for a repetition on a set: a system that fails is noted, and only a context that
// is done is an error.
func (p *problem) noted(ctx context.Context, eng *engine.Engine, system, set string, repetition int, failed *failures) ([]float64, error) {
	v, err := p.figures(ctx, eng, system)
	if err != nil && ctx.Err() == nil {
		failed.add(set, system, repetition, err)
	}
	return v, ctx.Err()
}

// figures returns those of a system; all are NaN for one that fails, with the error.
func (p *problem) figures(ctx context.Context, eng *engine.Engine, system string) ([]float64, error) {
	out := make([]float64, measures)
	for k := range out {
		out[k] = math.NaN()
	}
	coordinates, err := p.coordinates(ctx, eng, system, out)
	if err != nil {
		return out, err
	}
	for k, h := range []half{p.seen, p.unseen} {
		if err := p.clustered(ctx, eng, coordinates[k], h.labels, out[seenRand+k:]); err != nil {
			return out, err
		}
		if out[seenNeighbors+k], err = shareOfNeighbors(ctx, eng, coordinates[0], p.seen.labels, coordinates[k], h.labels, k == 0); err != nil {
			return out, err
		}
	}
	return out, nil
}

// places returns where a system puts the points of both halves, and notes what it takes.
func (p *problem) coordinates(ctx context.Context, eng *engine.Engine, system string, out []float64) ([2]blas.Matrix, error) {
	var coordinates [2]blas.Matrix
	if system == Raw {
		for k, h := range []half{p.seen, p.unseen} {
			coordinates[k] = blas.Matrix{Rows: h.x.N, Cols: h.x.D, Stride: h.x.D, Data: h.x.Data}
		}
		out[fitSeconds], out[embedSeconds] = 0, 0
		return coordinates, nil
	}
	learner, err := learner(system, p.seed, classes(p.seen.labels))
	if err != nil {
		return coordinates, err
	}
	start := time.Now()
	m, err := learner.Fit(ctx, eng, p.seen.x, p.links)
	if err != nil {
		return coordinates, err
	}
	fitted := time.Now()
	for k, h := range []half{p.seen, p.unseen} {
		if coordinates[k], err = m.Embed(ctx, eng, h.x); err != nil {
			return coordinates, err
		}
	}
	out[fitSeconds], out[embedSeconds] = fitted.Sub(start).Seconds(), time.Since(fitted).Seconds()
	return coordinates, nil
}

// learner returns the method that the first word of a system names, with its defaults but for the
// parameters that the other words set: "gml", "gml gamma=3 kernel=linear". The method "select"
// chooses one by held-out links, in a quick search; its parameters are criterion, halving (true
// unless it is false), incumbent and methods (joined by +). It may know the number of classes.
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
	seen := map[string]bool{}
	for _, l := range labels {
		seen[l] = true
	}
	return len(seen)
}

// clustered writes balanced Rand index, adjusted Rand index and mutual information of k-means into
// every second of out.
func (p *problem) clustered(ctx context.Context, eng *engine.Engine, y blas.Matrix, labels []string, out []float64) error {
	r, err := cluster.KMeans(ctx, eng, y, cluster.Params{K: classes(labels), Restarts: restarts, Seed: p.seed})
	if err != nil {
		return err
	}
	for k, measure := range []func([]string, []int) (float64, error){score.BalancedRand[string, int], score.AdjustedRand[string, int], score.NMI[string, int]} {
		if out[2*k], err = measure(labels, r.Labels); err != nil {
			return err
		}
	}
	return nil
}

// shareOfNeighbors is the share of query points whose nearest neighbors among the training points have
// their label; same says that they are the training points, and no point is its own neighbor.
func shareOfNeighbors(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, query blas.Matrix, truth []string, same bool) (float64, error) {
	classify := neighbors.Classify
	if same {
		classify = func(ctx context.Context, eng *engine.Engine, train blas.Matrix, labels []string, _ blas.Matrix, k int) ([]string, error) {
			return neighbors.LeaveOneOut(ctx, eng, train, labels, k)
		}
	}
	found, err := classify(ctx, eng, train, labels, query, min(votes, train.Rows-1))
	if err != nil {
		return 0, fmt.Errorf("nearest neighbors: %w", err)
	}
	return score.Accuracy(truth, found)
}
