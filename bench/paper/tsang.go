package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// tsang1 is the XOR experiment of Tsang, Cheung & Kwok. Its set-up was found by experiments, not
// copied; Differences describes what was tried and how much each choice matters.
func tsang1() Table {
	t := Table{
		Name:        "tsang-1",
		Paper:       "Tsang, Cheung & Kwok (2005). Kernel relevant component analysis for distance metric learning. International Joint Conference on Neural Networks (IJCNN).",
		Label:       "Table I",
		Caption:     "clustering of the XOR data after metric learning from chunklets",
		Columns:     []string{"Rand index"},
		Rows:        []Row{{Name: "linear kernel"}, {Name: "RCA"}, {Name: "Gaussian kernel"}, {Name: "kernel RCA"}},
		Repetitions: 300,
		Decimals:    3,
		Setup: []string{
			"Data, drawn again in every repetition: 100 points of the plane in two classes, 25 from each of four normal distributions with centers (+-1, +-1) and standard deviation 0.25 in each coordinate; the class is the sign of the product of the center's coordinates.",
			"Side information: two chunklets for each class, of 10 points each, 5 drawn without replacement from either blob of the class; 40 of the 100 points are in a chunklet.",
			"Kernels: linear, and Gaussian exp(-|x-y|^2 / (2 sigma^2)) with sigma = 1.",
			"RCA is kernel RCA with the linear kernel, to which it is equal: whitening by (C + eps I)^-1/2, with C the within-chunklet covariance. eps = 0.01, absolute, for both.",
			"Clustering: plain Lloyd k-means with 2 clusters on all 100 points, one start from two distinct points drawn at random, no restarts; the four systems of a repetition start from the same two points. In the kernels' feature spaces it runs on exact coordinates: all directions of the Gram matrix (learned or not) whose eigenvalue is above 1e-10 of the largest.",
			"Measure: plain Rand index, the share of the 4950 pairs of points on which clusters and classes agree.",
		},
		Differences: []string{
			"Only the systems, the measure, the 300 repetitions and the printed values are the paper's. We chose the number of points, the spread, the chunklets, sigma, eps and the start of k-means among those listed here, as a set-up that gives the printed values; agreement is evidence that such a set-up exists, not that it is the paper's. All values below are means of 300 repetitions with seed 1.",
			"Start of k-means, the choice that matters for the Gaussian kernel: 0.525 from one start at two random points is a mean over good and bad local minima. One k-means++ start gives 0.511, and the best of 10 random starts 0.495 (linear and RCA 0.495, too: it nearly always separates two neighboring blobs from the other two). Kernel RCA does not depend on it.",
			"Chunklets, the choice that matters for kernel RCA: each mixes both blobs of its class. With one pure chunklet of 10 points for each blob, nothing draws the two blobs of a class together, and kernel RCA gives 0.536 with eps = 0.01 and 0.554 with eps = 0.001. Given that they mix, number and size matter little: one chunklet of 10 or five of 4 for each class change every value by at most 0.001.",
			"Choices that matter little: with 40, 200 and 400 points instead of 100, the Gaussian kernel gives 0.522, 0.530 and 0.526, and the other three stay within 0.004 of the paper; eps = 0.001 instead of 0.01 changes kernel RCA from 1.000 to 0.998.",
		},
		Revision: 1,
		Good:     Higher,
		Trial:    tsangXOR,
	}
	names := map[string][2]string{"linear kernel": {"linear kernel", "no RCA"}, "RCA": {"linear kernel", "RCA"},
		"Gaussian kernel": {"Gaussian kernel", "no KRCA"}, "kernel RCA": {"Gaussian kernel", "KRCA"}}
	t.print(func(row, _ string) printed.Key {
		return printed.Key{Table: "tsang-1", Dataset: "XOR", Condition: names[row][0], Method: names[row][1], Measure: "rand_index"}
	})
	return t
}

// The streams of a repetition.
const (
	tsangData = iota
	tsangChunklets
	tsangStart
)

const (
	tsangBlob     = 25   // points of a blob
	tsangSpread   = 0.25 // standard deviation of a coordinate
	tsangChunks   = 2    // chunklets of a class
	tsangFromBlob = 5    // points of a chunklet from each blob of its class
	tsangEps      = 1e-2
	tsangLinear   = "linear"
	tsangGaussian = "rbf:sigma=1"
	tsangRankTol  = 1e-10
)

// tsangXOR is a repetition: linear, RCA, Gaussian and kernel RCA on the same draw.
func tsangXOR(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	x, classes, err := xorBlobs(t.Rand(tsangData))
	if err != nil {
		return nil, err
	}
	chunklets, err := xorChunklets(t.Rand(tsangChunklets))
	if err != nil {
		return nil, err
	}
	var values [][]float64
	for _, k := range []string{tsangLinear, tsangGaussian} {
		for _, embed := range []embedding{plainKernel, relevantComponents} {
			y, err := embed(ctx, eng, k, x, chunklets)
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k, err)
			}
			rand, err := clusterAgainst(ctx, eng, y, classes, t.Seed(tsangStart))
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k, err)
			}
			values = append(values, []float64{rand})
		}
	}
	return values, nil
}

// xorBlobs draws the points, blob by blob, and their classes. Blobs 0 and 3 lie on one
// diagonal, 1 and 2 on the other.
func xorBlobs(r *rand.Rand) (x *points.Dense, classes []int, err error) {
	const n = 4 * tsangBlob
	data := make([]float64, 0, 2*n)
	for blob := range 4 {
		cx, cy := float64(2*(blob&1)-1), float64(2*(blob>>1)-1)
		for range tsangBlob {
			data = append(data, cx+float64(tsangSpread*r.NormFloat64()), cy+float64(tsangSpread*r.NormFloat64()))
			classes = append(classes, (blob&1)^(blob>>1))
		}
	}
	x, err = points.NewDense(n, 2, data)
	return x, classes, err
}

// xorChunklets draws the chunklets of both classes, each with one half from each blob.
func xorChunklets(r *rand.Rand) (*links.Set, error) {
	var chunklets [][]int
	for _, blobs := range [][2]int{{0, 3}, {1, 2}} {
		first, second := r.Perm(tsangBlob), r.Perm(tsangBlob)
		for c := range tsangChunks {
			var members []int
			for i := c * tsangFromBlob; i < (c+1)*tsangFromBlob; i++ {
				members = append(members, blobs[0]*tsangBlob+first[i], blobs[1]*tsangBlob+second[i])
			}
			chunklets = append(chunklets, members)
		}
	}
	return links.FromChunklets(4*tsangBlob, chunklets)
}

// embedding gives points coordinates in which squared Euclidean distances are those of a
// kernel, or of the kernel learned from it.
type embedding func(ctx context.Context, eng *engine.Engine, k string, x points.Points, l *links.Set) (blas.Matrix, error)

// plainKernel embeds by the kernel itself.
func plainKernel(ctx context.Context, eng *engine.Engine, k string, x points.Points, _ *links.Set) (blas.Matrix, error) {
	spec, err := kernel.Parse(k)
	if err != nil {
		return blas.Matrix{}, err
	}
	fn, err := kernel.New(spec)
	if err != nil {
		return blas.Matrix{}, err
	}
	gram, err := fn.Gram(ctx, eng, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	return gramCoordinates(ctx, eng, gram, tsangRankTol)
}

// gramCoordinates returns coordinates with the inner products of a positive semidefinite Gram
// matrix, which it overwrites: row i is (sqrt(w_r) v_r(i))_r over the eigenvalues w_r above tol
// times the largest.
func gramCoordinates(ctx context.Context, eng *engine.Engine, gram blas.Matrix, tol float64) (blas.Matrix, error) {
	n := gram.Rows
	w := make([]float64, n)
	if err := eng.SymEig(ctx, gram, w, true); err != nil {
		return blas.Matrix{}, err
	}
	first := 0 // eigenvalues ascend
	for first < n && !(w[first] > tol*w[n-1]) {
		first++
	}
	y := blas.NewMatrix(n, n-first)
	for r := first; r < n; r++ {
		scale := math.Sqrt(w[r])
		for i, v := range gram.Row(r) {
			y.Set(i, r-first, scale*v)
		}
	}
	return y, nil
}

// relevantComponents embeds by the kernel that (kernel) RCA learns from the chunklets.
func relevantComponents(ctx context.Context, eng *engine.Engine, k string, x points.Points, l *links.Set) (blas.Matrix, error) {
	spec, err := kernel.Parse(k)
	if err != nil {
		return blas.Matrix{}, err
	}
	learner := krca.Learner{Kernel: spec, Params: krca.Params{Eps: tsangEps}} // Dims 0: all directions
	return learnedEmbedding(ctx, eng, learner, x, l)
}

// learnedEmbedding embeds x by the metric that a method learns from it.
func learnedEmbedding(ctx context.Context, eng *engine.Engine, learner algorithms.Learner, x points.Points, l *links.Set) (blas.Matrix, error) {
	m, err := learner.Fit(ctx, eng, x, l)
	if err != nil {
		return blas.Matrix{}, err
	}
	return m.Embed(ctx, eng, x)
}

// clusterAgainst clusters the rows of y into two clusters from one random start, and returns the
// Rand index with the classes.
func clusterAgainst(ctx context.Context, eng *engine.Engine, y blas.Matrix, classes []int, seed uint64) (float64, error) {
	r, err := cluster.KMeans(ctx, eng, y, cluster.Params{
		K: 2, Restarts: 1, Init: cluster.InitRandom, Seed: seed,
	})
	if err != nil {
		return 0, err
	}
	return score.Rand(classes, r.Labels)
}
