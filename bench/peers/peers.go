// Package peers measures mustlink and NumPy, SciPy and scikit-learn on the same work, in turn, in
// one run.
package peers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Case is one piece of work that both sides can do.
type Case struct {
	Name string // "rbf"
	N, D int
	// What names the compared functions: ours and theirs.
	What  string
	flops float64
	work  func(ctx context.Context, s Subject, n, d int) (prepare func(), run func() error,
		check func() float64, err error)
}

// Subject is our side: an engine and, for the elementwise functions, its kernels.
type Subject struct {
	Engine *engine.Engine
	Table  *asm.Table
	// Data is the folder of the data sets, as MUSTLINK_DATA names it; "" for none.
	Data string
}

// Cases returns the cases in the order in which they are measured.
func Cases() []Case {
	var cases []Case
	for _, n := range []int{512, 1024, 2048} {
		f := float64(n)
		cases = append(cases, Case{"gemm", n, n, "Gemm, numpy.dot", 2 * f * f * f, gemm})
	}
	return append(cases,
		Case{"syrk", 2000, 2000, "Syrk (one triangle), numpy.dot(A, A.T) (both triangles)", 8e9, syrk},
		Case{"trsm", 2000, 2000, "Trsm, scipy.linalg.solve_triangular", 8e9, trsm},
		Case{"cholesky", 2000, 2000, "Cholesky, scipy.linalg.cholesky", 8e9 / 3, cholesky},
		Case{"exp", 1_000_000, 1, "Table.Exp (one thread), numpy.exp", 0, exp},
		Case{"rbf", 2000, 16, "kernel.Gram, sklearn rbf_kernel", 0, rbf},
		Case{"rbf", 4000, 64, "kernel.Gram, sklearn rbf_kernel", 0, rbf},
		Case{"rbf", 4000, 784, "kernel.Gram, sklearn rbf_kernel", 0, rbf},
		Case{"rbf", 8000, 100, "kernel.Gram, sklearn rbf_kernel", 0, rbf},
		Case{"rbf-reused", 2000, 16, "kernel.GramTo, sklearn rbf_kernel (which allocates)", 0, rbfReused},
		Case{"rbf-reused", 4000, 64, "kernel.GramTo, sklearn rbf_kernel (which allocates)", 0, rbfReused},
		Case{"rbf-reused", 4000, 784, "kernel.GramTo, sklearn rbf_kernel (which allocates)", 0, rbfReused},
		Case{"rbf-reused", 8000, 100, "kernel.GramTo, sklearn rbf_kernel (which allocates)", 0, rbfReused},
		Case{"nystroem", 60000, 784,
			"kernel.MultiplyTo with 500 landmarks and a map of 500 x 500, sklearn Nystroem.transform", 0,
			nystroem},
		Case{"knn", 10000, 64, "graph.Nearest, 10 neighbors, sklearn NearestNeighbors (brute)", 0, knn},
		Case{"knn", 16100, 123, "graph.Nearest, 10 neighbors, sklearn NearestNeighbors (brute)", 0, knn},
		Case{adult, 16100, 123, "the same on sparse rows of the Adult data", 0, knnAdult},
		Case{text, 1993, 4862,
			"kernel.Gram of rbf on cosine, sparse rows of newsgroup messages, numpy.exp of sklearn " +
				"cosine_similarity", 0, gramText},
		Case{"lle", 10000, 64, "lle.Weights, 10 neighbors, sklearn barycenter_weights", 0, lleWeights},
		Case{"itml", 178, 13, "logdet.Rows, 10 sweeps over 1000 pairs, a NumPy loop of the same steps", 0,
			itml},
		Case{"itml", 2310, 19, "the same", 0, itml},
		Case{"itml", 2000, 256, "the same", 0, itml},
		Case{"eigentop", 4000, 16,
			"eigen.Top, 20 pairs of a Gaussian kernel matrix, the faster of scipy eigsh and eigh", 0,
			eigenTop},
		Case{"laplacian", 4000, 2,
			"eigen.Laplacian, 20 smallest pairs, 10 neighbors, the fastest of scipy eigsh SA, LA of 2I - " +
				"L, shift-invert", 0, laplacian},
		Case{"laplacian", 4000, 16, "the same, the faster of SA and LA", 0, laplacian},
	)
}

// Names returns the names of the cases, each once.
func Names() []string {
	var names []string
	for _, c := range Cases() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Select returns the cases and contests of the given names. Without names, it returns all cases and
// no contests, since these need more packages; cases that need a data set are left out if the
// folder of data sets is not known. An unknown name is an input error.
func Select(names []string, data string) ([]Case, []Contest, error) {
	known := slices.Concat(Names(), ContestNames())
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, nil, fault.Unknown("case", n, known)
		}
	}
	cases := slices.DeleteFunc(Cases(), func(c Case) bool {
		if len(names) == 0 {
			return ofData(c.Name) && data == ""
		}
		return !slices.Contains(names, c.Name)
	})
	contests := slices.DeleteFunc(Contests(), func(c Contest) bool { return !slices.Contains(names, c.Name) })
	return cases, contests, nil
}

// agreement is the maximum relative difference of two sums over results that count as equal.
const agreement = 1e-9

// Run measures one case: both sides compute it once, Run compares the sums over their results, and
// times the two in turn.
func (c Case) Run(ctx context.Context, s Subject, p *Process, threads int,
	o measure.Options) (measure.Measurement, error) {
	prepare, run, check, err := c.work(ctx, s, c.N, c.D)
	if err != nil {
		return measure.Measurement{}, err
	}
	theirs, err := p.prepare(c.Name, c.N, c.D)
	if err != nil {
		return measure.Measurement{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if prepare != nil {
		prepare()
	}
	if err := run(); err != nil {
		return measure.Measurement{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if ours := check(); !(math.Abs(ours-theirs) <= agreement*max(1, math.Abs(theirs))) {
		return measure.Measurement{},
			fmt.Errorf("%s, %d x %d: the sum over the result is %v here and %v in Python: the two do not "+
				"do the same work", c.Name, c.N, c.D, ours, theirs)
	}
	var failed error
	w := measure.Work{Name: c.Name, Size: c.Size(), Threads: threads, Flops: c.flops,
		Contenders: []measure.Contender{
			measure.Func("mustlink", prepare, func() {
				if err := run(); err != nil {
					failed = err
				}
			}),
			{Name: "peer", Time: p.time},
		}}
	measurements, err := measure.Run(ctx, []measure.Work{w}, o)
	switch {
	case err != nil:
		return measure.Measurement{}, err
	case failed != nil:
		return measure.Measurement{}, failed
	}
	return measurements[0], nil
}

// Size returns the size of the case as reports write it.
func (c Case) Size() string {
	if c.D == c.N || c.D == 1 {
		return fmt.Sprintf("n=%d", c.N)
	}
	return fmt.Sprintf("n=%d d=%d", c.N, c.D)
}

// uniform returns number index of a stream, in [0, 1): SplitMix64 (Steele, Lea & Flood 2014),
// The Python side computes the same numbers.
func uniform(stream, index int) float64 {
	z := (uint64(stream)<<40 + uint64(index) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

func matrix(stream, n, d int) blas.Matrix {
	m := blas.NewMatrix(n, d)
	for i := range m.Data {
		m.Data[i] = uniform(stream, i) - 0.5
	}
	return m
}

// sum adds up m, or its lower triangle.
func sum(m blas.Matrix, lower bool) float64 {
	total := 0.0
	for i := range m.Rows {
		row := m.Row(i)
		if lower {
			row = row[:i+1]
		}
		part := 0.0
		for _, v := range row {
			part += v
		}
		total += part
	}
	return total
}

func gemm(_ context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	a, b, c := matrix(1, n, d), matrix(2, d, n), blas.NewMatrix(n, n)
	return nil, func() error {
		s.Engine.Backend().Gemm(false, false, 1, a, b, 0, c)
		return nil
	}, func() float64 { return sum(c, false) }, nil
}

func syrk(_ context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	a, c := matrix(1, n, d), blas.NewMatrix(n, n)
	return nil, func() error {
		s.Engine.Backend().Syrk(false, 1, a, 0, c)
		return nil
	}, func() float64 { return sum(c, true) }, nil
}

func trsm(_ context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	l, b, x := matrix(1, n, n), matrix(2, n, d), blas.NewMatrix(n, d)
	for i := range n {
		l.Set(i, i, float64(n))
	}
	return func() { x.CopyFrom(b) }, func() error {
		s.Engine.Backend().Trsm(true, false, l, x)
		return nil
	}, func() float64 { return sum(x, false) }, nil
}

func cholesky(_ context.Context, s Subject, n, _ int) (func(), func() error, func() float64, error) {
	from, a := matrix(1, n, n), blas.NewMatrix(n, n)
	for i := range n {
		for j := range i {
			from.Set(i, j, (from.At(i, j)+from.At(j, i))/2)
		}
		from.Set(i, i, float64(n))
	}
	return func() { a.CopyFrom(from) },
		func() error { return s.Engine.Backend().Cholesky(a) },
		func() float64 { return sum(a, true) }, nil
}

func exp(_ context.Context, s Subject, n, _ int) (func(), func() error, func() float64, error) {
	x, y := make([]float64, n), blas.NewMatrix(1, n)
	for i := range x {
		x[i] = -20 * uniform(1, i)
	}
	return nil, func() error {
		s.Table.Exp(y.Data, x)
		return nil
	}, func() float64 { return sum(y, false) }, nil
}

// gaussian returns random points and the kernel with gamma = 1/d.
func gaussian(n, d int) (*points.Dense, kernel.Kernel, error) {
	x, err := points.NewDense(n, d, matrix(1, n, d).Data)
	if err != nil {
		return nil, kernel.Kernel{}, err
	}
	spec, err := kernel.Parse(fmt.Sprintf("rbf:gamma=%.17g", 1/float64(d)))
	if err != nil {
		return nil, kernel.Kernel{}, err
	}
	k, err := kernel.New(spec)
	return x, k, err
}

func rbf(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, k, err := gaussian(n, d)
	if err != nil {
		return nil, nil, nil, err
	}
	var gram blas.Matrix
	return nil, func() error {
		gram, err = k.Gram(ctx, s.Engine, x)
		return err
	}, func() float64 { return sum(gram, false) }, nil
}
