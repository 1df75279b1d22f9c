package paper

import (
	"context"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

const huPaper = "Hu, Wang & Chen (2011). BCDNPKL: scalable non-parametric kernel learning using block " +
	"coordinate descent. ICML 2011."

// huSystem is a method that learns a kernel matrix.
type huSystem struct {
	name    string
	learner func(g npkl.Neighborhood, k kernel.Spec, c float64, seed uint64) algorithms.Learner
}

// huDelta returns delta for a weight of links.
func huDelta(c float64) float64 { return c / 2 }

// huNPKL returns npkl with one of its losses.
func huNPKL(loss npkl.Loss) huSystem {
	return huSystem{strings.ToUpper(string(loss)),
		func(g npkl.Neighborhood, k kernel.Spec, c float64, seed uint64) algorithms.Learner {
			p := npkl.DefaultParams()
			p.Extension = npkl.FromGraph // the tables look at training rows alone
			p.Loss, p.C, p.Delta, p.Tol, p.Neighborhood = loss, c, huDelta(c), 1e-4, g
			return npkl.Learner{Params: p, Kernel: k, Seed: seed}
		}}
}

// huEmbedding returns the coordinates that a learner gives to the points x.
func huEmbedding(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points,
	set *links.Set) (blas.Matrix, error) {
	m, err := l.Fit(ctx, eng, x, set)
	if err != nil {
		return blas.Matrix{}, err
	}
	// the same coordinates as those of Embed, without another search for neighbors
	if table, ok := m.(interface{ Coordinates() blas.Matrix }); ok && table.Coordinates().Rows > 0 {
		return table.Coordinates(), nil
	}
	return m.Embed(ctx, eng, x)
}

// huRestarts is the number of starts of k-means; the one with the smallest inertia counts.
const huRestarts = 10

// huLinks draws share pairs for each point, half of them must-links.
func huLinks(labels []string, share float64, seed uint64) (*links.Set, error) {
	half := int(math.Round(share * float64(len(labels)) / 2))
	return huPairs(labels, half, seed)
}

// huCluster returns the pair accuracy of k-means, in percent.
func huCluster(ctx context.Context, eng *engine.Engine, y blas.Matrix, d *labeled,
	seed uint64) (float64, error) {
	clusters, err := huClusters(ctx, eng, y, d.classes, seed)
	if err != nil {
		return 0, err
	}
	v, err := score.Rand(d.labels, clusters)
	return 100 * v, err
}

// huClusters returns the clusters of k-means.
func huClusters(ctx context.Context, eng *engine.Engine, y blas.Matrix, k int, seed uint64) ([]int, error) {
	r, err := cluster.KMeans(ctx, eng, y,
		cluster.Params{K: k, Restarts: huRestarts, Init: cluster.InitRandom, Seed: seed})
	if err != nil {
		return nil, err
	}
	return r.Labels, nil
}
