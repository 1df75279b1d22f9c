package peers

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Numbers of landmarks and neighbors.
const (
	landmarks = 500
	neighbors = 10
)

func rbfReused(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, k, err := gaussian(n, d)
	if err != nil {
		return nil, nil, nil, err
	}
	gram := s.Engine.NewMatrix(n, n)
	return nil, func() error { return k.GramTo(ctx, s.Engine, gram, x) },
		func() float64 { return sum(gram, false) }, nil
}

// nystroem multiplies the kernel values with the first points by K^-1/2 of these points.
func nystroem(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, k, err := gaussian(n, d)
	if err != nil {
		return nil, nil, nil, err
	}
	m := min(n, landmarks)
	basis := &points.Dense{N: m, D: d, Data: x.Data[:m*d]}
	root, err := k.Gram(ctx, s.Engine, basis)
	if err != nil {
		return nil, nil, nil, err
	}
	w := make([]float64, m)
	if err := s.Engine.Backend().SymEig(root, w, true); err != nil {
		return nil, nil, nil, err
	}
	scaled := root.Clone()
	for e, v := range w {
		s.Table.Scale(1/math.Sqrt(max(v, 1e-12)), scaled.Row(e))
	}
	normalization, out := blas.NewMatrix(m, m), s.Engine.NewMatrix(n, m)
	s.Engine.Backend().Gemm(true, false, 1, root, scaled, 0, normalization)
	return nil, func() error { return k.MultiplyTo(ctx, s.Engine, out, x, basis, normalization) },
		func() float64 { return sum(out, false) }, nil
}

func knn(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, err := points.NewDense(n, d, matrix(1, n, d).Data)
	if err != nil {
		return nil, nil, nil, err
	}
	return nearest(ctx, s, x)
}

func nearest(ctx context.Context, s Subject, x points.Points) (func(), func() error, func() float64, error) {
	var found *graph.Neighbors
	run := func() (err error) {
		found, err = graph.Nearest(ctx, s.Engine, kernel.Linear(), x, min(neighbors, x.Len()-1))
		return err
	}
	return nil, run, func() float64 {
		total := 0.0
		for _, v := range found.Squared {
			total += math.Sqrt(v)
		}
		return total
	}, nil
}

func lleWeights(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, err := points.NewDense(n, d, matrix(1, n, d).Data)
	if err != nil {
		return nil, nil, nil, err
	}
	k := min(neighbors, n-1)
	near, err := graph.Nearest(ctx, s.Engine, kernel.Linear(), x, k)
	if err != nil {
		return nil, nil, nil, err
	}
	var w blas.Matrix
	run := func() (err error) {
		w, err = lle.Weights(ctx, s.Engine, n, k, lle.OfVectors(s.Engine, x, near.Index, k),
			lle.DefaultRegularization)
		return err
	}
	return nil, run, func() float64 { return s.Table.Dot(w.Data, w.Data) }, nil
}

// pairs is the number of eigenpairs.
const pairs = 20

// eigenTop finds the largest eigenpairs, with residuals of at most 1e-10 of the norm.
func eigenTop(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, k, err := gaussian(n, d)
	if err != nil {
		return nil, nil, nil, err
	}
	gram, err := k.Gram(ctx, s.Engine, x)
	if err != nil {
		return nil, nil, nil, err
	}
	a, err := operator.Dense(gram)
	if err != nil {
		return nil, nil, nil, err
	}
	var res *operator.Eigenpairs
	run := func() (err error) {
		res, err = operator.TopEigenpairs(ctx, s.Engine, a, min(pairs, n-1),
			operator.EigenOptions{Tolerance: 1e-10})
		return err
	}
	return nil, run, func() float64 { return s.Table.Sum(res.Values) }, nil
}

// laplacian finds the smallest eigenpairs, with residuals of at most 1e-6. Its check uses the
// eigenvalues of 2I - L, which are not small.
func laplacian(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x, err := points.NewDense(n, d, matrix(1, n, d).Data)
	if err != nil {
		return nil, nil, nil, err
	}
	near, err := graph.Nearest(ctx, s.Engine, kernel.Linear(), x, min(neighbors, n-1))
	if err != nil {
		return nil, nil, nil, err
	}
	adjacency := near.Adjacency(graph.Union, graph.Binary)
	k := min(pairs, n-2)
	var res *operator.Eigenpairs
	run := func() (err error) {
		res, err = operator.LaplacianEigenpairs(ctx, s.Engine, adjacency, true, k,
			operator.EigenOptions{Tolerance: 1e-6})
		return err
	}
	return nil, run, func() float64 { return 2*float64(k) - s.Table.Sum(res.Values) }, nil
}
