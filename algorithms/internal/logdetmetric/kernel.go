package logdetmetric

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Positions numbers rows.
func Positions(rows []int) map[int]int {
	place := make(map[int]int, len(rows))
	for at, i := range rows {
		place[i] = at
	}
	return place
}

// Change returns B = P - P K P for the learned kernel matrix K of a result and the signed
// multipliers P of its constraints: where the prior was k0, the learned kernel is k0(x, y) - k0(x,
// .) B k0(., y).
func Change(eng *engine.Engine, r *logdet.Result, constraints []logdet.Constraint) blas.Matrix {
	n := r.A.Rows
	p := blas.NewMatrix(n, n)
	add := func(i, j int, w float64) {
		p.Set(i, i, p.At(i, i)+w)
		p.Set(j, j, p.At(j, j)+w)
		p.Set(i, j, p.At(i, j)-w)
		p.Set(j, i, p.At(j, i)-w)
	}
	for k, c := range constraints {
		w := r.Multipliers[k]
		switch c.Kind {
		case logdet.AtMost:
			add(c.I, c.J, w)
		case logdet.AtLeast:
			add(c.I, c.J, -w)
		case logdet.Nearer:
			add(c.I, c.J, w)
			add(c.I, c.K, -w)
		}
	}
	half, b := blas.NewMatrix(n, n), p.Clone()
	eng.Backend().Gemm(false, false, 1, p, r.A, 0, half)
	eng.Backend().Gemm(false, false, -1, half, p, 1, b)
	return b
}

// carriers is the number of points that carry an embedding, at least as many as are linked.
const carriers = 2000

// Carry returns the linked points and others drawn at random, ascending.
func Carry(linked []int, n int, seed uint64) []int {
	rows := slices.Clone(linked)
	rng := rand.New(rand.NewPCG(seed, 0x6b65726e))
	for _, i := range rng.Perm(n) {
		if len(rows) >= carriers {
			break
		}
		if _, is := slices.BinarySearch(linked, i); !is {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}

// rankTol drops directions of the learned kernel matrix that are rounding.
const rankTol = 1e-10

// Learned returns the map of the named method into the directions of the learned kernel
//
//	scale k(x, y) - scale^2 k(x, l) B k(l, y)
//
// on up to 2000 of the points x, the linked ones l among them: dims directions, 0 for all.
func Learned(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, scale float64, x points.Points, linked []int, b blas.Matrix, dims int, seed uint64) (*maps.Map, error) {
	rows := Carry(linked, x.Len(), seed)
	n := len(rows)
	if err := eng.Check("learned kernel matrix", 4*engine.MatrixBytes(n, n), "use fewer links or points"); err != nil {
		return nil, err
	}
	support := x.Select(rows)
	gram, err := k.Gram(ctx, eng, support)
	if err != nil {
		return nil, err
	}
	eng.Backend().Kernels().Scale(scale, gram.Data)
	place, among := Positions(rows), make([]int, len(linked))
	for a, i := range linked {
		among[a] = place[i]
	}
	v, err := directions(ctx, eng, gram, among, b, dims)
	if err != nil {
		return nil, err
	}
	eng.Backend().Kernels().Scale(scale, v.Data)
	return maps.NewExpansion(method, k, support, v, nil), nil
}

// directions returns V, y = V k0(l, x) for the carriers l: with the learned kernel matrix of these,
// K = K0 - K0_C B K0_C' = U W U', y = W^-1/2 U' (k0(l, x) - K0_C B k0(C, x)).
func directions(ctx context.Context, eng *engine.Engine, k0 blas.Matrix, among []int, b blas.Matrix, most int) (blas.Matrix, error) {
	n, m := k0.Rows, len(among)
	columns, change := eng.NewMatrix(n, m), eng.NewMatrix(n, m) // K0_C, K0_C B
	for i := range n {
		row := k0.Row(i)
		for a, j := range among {
			columns.Set(i, a, row[j])
		}
	}
	eng.Backend().Gemm(false, false, 1, columns, b, 0, change)
	learned := k0.Clone()
	eng.Backend().Gemm(false, true, -1, change, columns, 1, learned)
	v, err := Axes(ctx, eng, learned, most)
	if err != nil {
		return v, err
	}
	dims := v.Rows
	on := blas.NewMatrix(dims, m) // of the linked points
	eng.Backend().Gemm(false, false, 1, v, change, 0, on)
	for k := range dims {
		for a, j := range among {
			v.Set(k, j, v.At(k, j)-on.At(k, a))
		}
	}
	return v, nil
}

// Axes returns the rows u' / sqrt(w) for the eigenpairs of a learned kernel matrix, the largest
// first, most of them, 0 for all. The matrix is overwritten.
func Axes(ctx context.Context, eng *engine.Engine, learned blas.Matrix, most int) (blas.Matrix, error) {
	n := learned.Rows
	w := make([]float64, n)
	if err := eng.SymEig(ctx, learned, w, true); err != nil {
		return blas.Matrix{}, err
	}
	dims := 0
	for dims < n && w[n-1-dims] > rankTol*w[n-1] && (most == 0 || dims < most) {
		dims++
	}
	if dims == 0 {
		return blas.Matrix{}, fault.Data("", "the learned kernel matrix is 0: want points that differ under the kernel")
	}
	v := blas.NewMatrix(dims, n)
	for k := range dims {
		root := 1 / math.Sqrt(w[n-1-k])
		for i, u := range learned.Row(n - 1 - k) {
			v.Set(k, i, root*u)
		}
	}
	return v, nil
}
