package itml

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// carriers is the number of points that carry the embedding, at least as many as are linked.
const carriers = 2000

// kernel learns a kernel.
func (f *fit) kernel(ctx context.Context) (*Model, error) {
	if f.Params.Prior != Identity {
		return nil, &fault.ParamError{Param: "prior", Value: string(f.Params.Prior), Want: "identity, with a kernel"}
	}
	k, err := input.Kernel(ctx, f.eng, f.Kernel, f.x, "linear")
	if err != nil {
		return nil, err
	}
	if err := f.bounds(ctx, k, f.x); err != nil {
		return nil, err
	}
	rows := f.carriers()
	n := len(rows)
	place := map[int]int{}
	for at, i := range rows {
		place[i] = at
	}
	linked := f.linked()
	if err := f.eng.Check("learned kernel matrix", 5*engine.MatrixBytes(n, n), "use fewer links or points"); err != nil {
		return nil, err
	}
	all, err := k.Gram(ctx, f.eng, f.x.Select(rows))
	if err != nil {
		return nil, err
	}
	among := make([]int, len(linked)) // the linked points among the carriers
	own := map[int]int{}
	for at, i := range linked {
		among[at], own[i] = place[i], at
	}
	block := blas.NewMatrix(len(linked), len(linked))
	for a, i := range among {
		for b, j := range among {
			block.Set(a, b, all.At(i, j))
		}
	}
	k0, constraints := block.Clone(), f.constraints(own)
	if f.result, err = logdet.Kernel(ctx, f.eng, block, constraints, f.options()); err != nil {
		return nil, err
	}
	check, err := f.result.CheckKernel(ctx, f.eng, k0, constraints, f.Params.Gamma)
	if err != nil {
		return nil, err
	}
	v, err := f.embedding(ctx, all, among, f.change(constraints))
	if err != nil {
		return nil, err
	}
	return &Model{metric: expansion.New(Method, k, f.x.Select(rows), v), about: f.about(check)}, nil
}

// linked are the points with links, ascending.
func (f *fit) linked() []int {
	seen := map[int]bool{}
	for _, list := range [][]links.Link{f.set.Must(), f.set.Cannot()} {
		for _, l := range list {
			seen[l.I], seen[l.J] = true, true
		}
	}
	out := make([]int, 0, len(seen))
	for i := range seen {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// carriers are the linked points and others drawn at random, ascending.
func (f *fit) carriers() []int {
	linked := f.linked()
	rows := slices.Clone(linked)
	rng := rand.New(rand.NewPCG(f.Seed, 0x6b65726e))
	for _, i := range rng.Perm(f.x.Len()) {
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

// change returns B = P - P K P for the signed multipliers P.
func (f *fit) change(constraints []logdet.Constraint) blas.Matrix {
	n := f.result.A.Rows
	p := blas.NewMatrix(n, n)
	for k, c := range constraints {
		w := f.result.Multipliers[k]
		if c.Kind != logdet.AtMost {
			w = -w
		}
		p.Set(c.I, c.I, p.At(c.I, c.I)+w)
		p.Set(c.J, c.J, p.At(c.J, c.J)+w)
		p.Set(c.I, c.J, p.At(c.I, c.J)-w)
		p.Set(c.J, c.I, p.At(c.J, c.I)-w)
	}
	half, b := blas.NewMatrix(n, n), p.Clone()
	f.eng.Backend().Gemm(false, false, 1, p, f.result.A, 0, half)
	f.eng.Backend().Gemm(false, false, -1, half, p, 1, b)
	return b
}

// rankTol drops directions of the learned kernel matrix that are rounding.
const rankTol = 1e-10

// embedding returns V, y = V k0(l, x) for the carriers l: with the learned kernel matrix of these,
// K = K0 - K0_C B K0_C' = U W U', y = W^-1/2 U' (k0(l, x) - K0_C B k0(C, x)).
func (f *fit) embedding(ctx context.Context, k0 blas.Matrix, among []int, b blas.Matrix) (blas.Matrix, error) {
	n, m := k0.Rows, len(among)
	columns, change := f.eng.NewMatrix(n, m), f.eng.NewMatrix(n, m) // K0_C, K0_C B
	for i := range n {
		row := k0.Row(i)
		for a, j := range among {
			columns.Set(i, a, row[j])
		}
	}
	f.eng.Backend().Gemm(false, false, 1, columns, b, 0, change)
	learned := k0.Clone()
	f.eng.Backend().Gemm(false, true, -1, change, columns, 1, learned)
	w := make([]float64, n)
	if err := f.eng.SymEig(ctx, learned, w, true); err != nil {
		return blas.Matrix{}, err
	}
	dims := 0
	for dims < n && w[n-1-dims] > rankTol*w[n-1] && (f.Params.Dims == 0 || dims < f.Params.Dims) {
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
	on := blas.NewMatrix(dims, m) // of the linked points
	f.eng.Backend().Gemm(false, false, 1, v, change, 0, on)
	for k := range dims {
		for a, j := range among {
			v.Set(k, j, v.At(k, j)-on.At(k, a))
		}
	}
	return v, nil
}
