package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

const tsangPaper = "Tsang, Cheung & Kwok (2005). Kernel relevant component analysis for distance metric " +
	"learning. International Joint Conference on Neural Networks (IJCNN)."

// tsang1 is the XOR experiment of Tsang, Cheung & Kwok.
func tsang1() Table {
	t := Table{
		Name:    "tsang-1",
		Paper:   tsangPaper,
		Label:   "Table I",
		Caption: "clustering of the XOR data after metric learning from chunklets",
		Columns: []string{"Rand index"},
		Rows: []Row{{Name: "linear kernel"}, {Name: "RCA"}, {Name: "Gaussian kernel"},
			{Name: "kernel RCA"}},
		Repetitions: 300,
		Decimals:    3,
		Setup:       xorSetup(),
		Differences: []string{
			"The paper has 30 points in each blob, two blobs for each class and four chunklets. It does " +
				"not say where the blobs are, how wide they are, how large the chunklets are and whether " +
				"they mix the two " +
				"blobs of a class. Ours do: the blobs of a class come together only if a chunklet joins them.",
			"The width of the kernel, eps and the number of starts are those of tsang-4.",
		},
		Tried: xorTried(),
		Why: "The best of ten starts nearly always finds the same two clusters. From one start, all " +
			"four numbers are reproduced.",
		Revision: 2,
		Good:     Higher,
		Trial:    tsangXOR,
		Claims:   separationClaims,
	}
	names := map[string][2]string{"linear kernel": {"linear kernel", "no RCA"},
		"RCA":             {"linear kernel", "RCA"},
		"Gaussian kernel": {"Gaussian kernel", "no KRCA"}, "kernel RCA": {"Gaussian kernel", "KRCA"}}
	t.print(func(row, _ string) printed.Key {
		return printed.Key{Table: "tsang-1", Dataset: "XOR", Condition: names[row][0], Method: names[row][1],
			Measure: "rand_index"}
	})
	return t
}

// xorSetup describes the XOR data first and the methods after them.
func xorSetup() []string {
	return []string{
		fmt.Sprintf("Data, drawn again in every repetition: %d points of the plane in two classes, %d from "+
			"each of four normal distributions with centers (+-1, +-1) and standard deviation %g in each "+
			"coordinate; "+
			"the class is the sign of the product of the center's coordinates.", 4*tsangBlob, tsangBlob,
			tsangSpread),
		fmt.Sprintf("Side information: two chunklets for each class, of %d points each, %d drawn without "+
			"replacement from either blob of the class; %d of the points are in a chunklet.", 2*tsangFromBlob,
			tsangFromBlob, 4*tsangChunks*tsangFromBlob),
		"Kernels, RCA and kernel RCA, and clustering as in tsang-4: constrained k-means with 2 clusters.",
		"Measure: balanced Rand index, as in tsang-4. The classes have equal sizes, so the plain index of " +
			"the paper's formula differs from it by at most 0.001.",
	}
}

// The streams of a repetition.
const (
	tsangData = iota
	tsangChunklets
	tsangStart
)

const (
	tsangBlob     = 30   // points of a blob
	tsangSpread   = 0.25 // standard deviation of a coordinate
	tsangChunks   = 2    // chunklets of a class
	tsangFromBlob = 5    // points of a chunklet from each blob of its class
	tsangRankTol  = 1e-10
)

// tsangXOR is a repetition: the four systems of the paper on the same draw.
func tsangXOR(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	d, l, err := xorCase(ctx, eng, t)
	if err != nil {
		return nil, err
	}
	c := uciCase{d: d, l: l, seed: t.Seed(tsangStart)}
	var values [][]float64
	for system := range uciPrinted {
		rand, err := c.run(ctx, eng, system)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", uciNames()[system], err)
		}
		values = append(values, []float64{rand})
	}
	return values, nil
}

// xorCase draws the points with their kernel, and the chunklets.
func xorCase(ctx context.Context, eng *engine.Engine, t Trial) (*labeled, *links.Set, error) {
	x, classes, err := xorBlobs(t.Rand(tsangData))
	if err != nil {
		return nil, nil, err
	}
	l, err := xorChunklets(t.Rand(tsangChunklets))
	if err != nil {
		return nil, nil, err
	}
	d := &labeled{x: x, classes: 2}
	for _, c := range classes {
		d.labels = append(d.labels, strconv.Itoa(c))
	}
	d.gaussian, err = resolved(ctx, eng, tsangWidth, x)
	return d, l, err
}

// xorBlobs draws the points, blob by blob, and their classes. Blobs 0 and 3 lie on one
// diagonal, 1 and 2 on the other.
func xorBlobs(r *rand.Rand) (x *points.Dense, classes []int, err error) {
	const n = 4 * tsangBlob
	data := make([]float64, 0, 2*n)
	for blob := range 4 {
		cx, cy := float64(2*(blob&1)-1), float64(2*(blob>>1)-1)
		for range tsangBlob {
			data = append(data, cx+float64(tsangSpread*r.NormFloat64()),
				cy+float64(tsangSpread*r.NormFloat64()))
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
type embedding func(ctx context.Context, eng *engine.Engine, k string, x points.Points,
	l *links.Set) (blas.Matrix, error)

// plainKernel embeds by the kernel itself.
func plainKernel(ctx context.Context, eng *engine.Engine, k string, x points.Points,
	_ *links.Set) (blas.Matrix, error) {
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
func gramCoordinates(ctx context.Context, eng *engine.Engine, gram blas.Matrix,
	tol float64) (blas.Matrix, error) {
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
func relevantComponents(ctx context.Context, eng *engine.Engine, k string, x points.Points,
	l *links.Set) (blas.Matrix, error) {
	spec, err := kernel.Parse(k)
	if err != nil {
		return blas.Matrix{}, err
	}
	learner := krca.Learner{Kernel: spec, Params: krca.Params{EpsRel: tsangEpsRel}} // Dims 0: all directions
	return learnedEmbedding(ctx, eng, learner, x, l)
}

// learnedEmbedding embeds x by the metric that a method learns from it.
func learnedEmbedding(ctx context.Context, eng *engine.Engine, learner algorithms.Learner, x points.Points,
	l *links.Set) (blas.Matrix, error) {
	m, err := learner.Fit(ctx, eng, x, l)
	if err != nil {
		return blas.Matrix{}, err
	}
	return m.Embed(ctx, eng, x)
}

func xorTried() []string {
	return []string{
		"Values below are means over 100 repetitions for the linear kernel, RCA, the Gaussian kernel and " +
			"kernel RCA; printed are 0.503, 0.502, 0.528 and 1.000.",
		"One start instead of ten: 0.508, 0.505, 0.556, 1.000, all reproduced. The best of ten starts " +
			"nearly always separates two neighboring blobs from the other two (0.496). On tsang-4 ten " +
			"starts agree " +
			"better.",
		"Chunklets of 30 points that are the four blobs: 0.496, 0.496, 0.496, 0.498. Nothing draws the two " +
			"blobs of a class together, so kernel RCA fails; the paper's chunklets cannot be these.",
		"Four chunklets of 30 points that mix both blobs, so that all points are in one: 0.633, 0.631, " +
			"1.000, 1.000 with constrained k-means, which then moves four blocks. With plain k-means from " +
			"one start: " +
			"0.504, 0.505, 0.522, 1.000. The paper names constrained k-means.",
		"Chunklets of 4 points: 0.497, 0.497, 0.499, 0.998; from one start 0.515, 0.506, 0.533, 0.999. " +
			"Wider blobs (0.4): 0.498, 0.499, 0.528, 0.966.",
	}
}
