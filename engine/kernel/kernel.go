// Package kernel (internal: may change) evaluates kernel functions: single values, diagonals and
// whole kernel matrices, over dense, sparse and precomputed points.
//
// A kernel is a base inner product (dense, sparse, or read from a Gram matrix) followed by scalar
// maps f(<x,y>, <x,x>, <y,y>). A [Spec] is its parsed text, such as "rbf:sigma=1.5" or
// "rbf:sigma=mean@cosine"; a [Kernel] is a Spec whose parameters are all numbers. Package
// engine/bandwidth resolves bandwidth rules.
//
// # Kernels
//
// [Names] lists them. OUTER@INNER is OUTER applied in the feature space of INNER.
//
// On a precomputed Gram matrix the base inner product is the matrix: "linear" is the matrix itself,
// and "rbf:sigma=1" exp(-(K_ii + K_jj - 2 K_ij)/2).
//
// # Accuracy
//
// Squared distances come from the expansion |x|^2 + |y|^2 - 2<x,y>, which a fast matrix product
// evaluates, and which suffers from cancellation if the points are far from the origin or close to
// each other. Dense data are therefore centered first, and pairs whose squared distance is below
// 1/1000 of |x|^2 + |y|^2 are computed again from the differences of the raw values. The relative
// error of |x-y|^2 is about 1e-13 sqrt(d). Equal rows have distance exactly 0 and an rbf value of
// exactly 1.
//
// Values of the linear kernel lose what rows far from the origin have in common: a constant
// feature, a date, an offset. [Kernel.Around] gives a kernel of <x-m, y-m> for such rows, m their
// mean: dense rows are centered before products; of sparse rows the features that all rows have,
// and the rest of m is a correction of rank one; a Gram matrix is centered, and [Kernel.Noise] has
// the floor of its spectrum.
//
// # Single precision
//
// Only [Kernel.GramSingle], [Kernel.CrossSingle] and [Kernel.MultiplySingle] compute with
// [points.Single], a separate type: linear, rbf and exp, with twice the lanes per vector and a
// relative error of about 1e-5 in squared distances.
//
// # Determinism
//
// Kernel matrices are bit-identical for any number of workers and for any backend: all backends
// share the vector kernels that evaluate them. Gram matrices are exactly symmetric. Row i of a
// cross matrix depends only on point i and on y.
//
// # Evaluation
//
// Points are packed once, and a matrix is computed in tiles: the register tile writes inner
// products to a tile in the second-level cache, the maps are applied to it there, and it is then
// written to memory, past the caches if the matrix is large. For a Gram matrix only the lower
// triangle is computed, and each tile is written twice, once transposed. [Kernel.GramBlocks],
// [Kernel.CrossRows] and [Kernel.MultiplyTo] use the tiles directly, without a matrix. Sparse
// points are evaluated in the same way unless lists of shared features are faster.
package kernel

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Kernel is a kernel function with all its parameters. It is an immutable value.
type Kernel struct {
	spec   Spec
	stages []stage // the scalar maps in order: innermost first, without linear ones
	center *Origin // of a linear kernel, nil for the origin
}

// New returns the kernel of s. A Spec with an unresolved bandwidth rule, or the zero Spec, is a
// *fault.ParamError.
func New(s Spec) (Kernel, error) {
	if s.IsZero() {
		return Kernel{}, fault.Param("kernel", "", "a kernel such as rbf:sigma=1")
	}
	if r, _, open := s.Open(); open {
		return Kernel{}, fault.Param(r.Parameter+" of kernel "+r.Kernel, r.Name,
			"a number; resolve the rule from data first")
	}
	k := Kernel{spec: s}
	for i := s.n - 1; i >= 0; i-- {
		if s.stages[i].kind != linear {
			k.stages = append(k.stages, s.stages[i])
		}
	}
	return k, nil
}

// Linear returns the linear kernel, the inner product itself.
func Linear() Kernel { return Kernel{spec: Spec{n: 1}} }

// Spec returns the parsed text of the kernel.
func (k Kernel) Spec() Spec { return k.spec }

// String returns the canonical text of the kernel.
func (k Kernel) String() string { return k.spec.String() }

// Gram returns the n x n kernel matrix of x, both triangles, exactly symmetric, with the diagonal
// of [Kernel.Diagonal].
//
// Errors: points that are not finite, whose squared length overflows, or of a kind that the kernel
// does not accept; 8n^2 or (for the centered copy of dense points) 8nd bytes above the memory
// limit; ctx.Err(). Cost: n^2 d flops for dense points and one map per pair; each entry is written
// once.
func (k Kernel) Gram(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	return k.gramIn(ctx, eng, x, eng.UnclearedMatrix)
}

// GramScratch is [Kernel.Gram] in scratch memory: return it with [engine.Engine.PutMatrix].
func (k Kernel) GramScratch(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	return k.gramIn(ctx, eng, x, eng.GetMatrix)
}

func (k Kernel) gramIn(ctx context.Context, eng *engine.Engine, x points.Points,
	get func(rows, cols int) blas.Matrix) (blas.Matrix, error) {
	n := x.Len()
	if err := checkMemory(eng, n, n); err != nil {
		return blas.Matrix{}, err
	}
	dst := get(n, n)
	if err := k.GramTo(ctx, eng, dst, x); err != nil {
		return blas.Matrix{}, err
	}
	return dst, nil
}

// GramTo is [Kernel.Gram] into dst, all of which is overwritten (partly, on error). It panics
// if dst is not n x n.
// Errors and cost are those of Gram.
func (k Kernel) GramTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x points.Points) error {
	return k.gramTo(ctx, eng, dst, x, tiling{})
}

func (k Kernel) gramTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x points.Points,
	t tiling) error {
	checkShape(dst, x.Len(), x.Len())
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.into(dst).symmetric(ctx, t)
}

// gramEvaluation prepares the evaluation of x with itself. The caller must release its base.
func (k Kernel) gramEvaluation(ctx context.Context, eng *engine.Engine,
	x points.Points) (*evaluation, error) {
	x, _, err := k.prepare(x, nil)
	if err != nil {
		return nil, err
	}
	b, err := k.gramBase(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	ev, err := k.evaluate(eng, b, x)
	if err == nil && k.center != nil { // the same bits as those of Diagonal
		if ev.diagonal, err = k.diagonal(ctx, eng, x); err != nil {
			ev.base.release()
		}
	}
	return ev, err
}

// crossEvaluation prepares the evaluation of x with y. The caller must release its base.
func (k Kernel) crossEvaluation(ctx context.Context, eng *engine.Engine, x,
	y points.Points) (*evaluation, error) {
	x, y, err := k.prepare(x, y)
	if err != nil {
		return nil, err
	}
	b, err := k.crossBase(ctx, eng, x, y)
	if err != nil {
		return nil, err
	}
	return k.evaluate(eng, b, x, y)
}

// Cross returns the kernel matrix between x and y, |x| x |y|. Row i depends only on point i of x
// and on y: it is bit-identical in any batch (see the package comment).
//
// Errors are those of [Kernel.Gram]; x and y of different dimension are a *fault.ShapeError, of
// incompatible kinds a *fault.ParamError. With a precomputed Gram matrix, every object of y must be
// a reference object, otherwise it is a *fault.DataError. Cost: 2 |x| |y| d flops for dense points
// and one map per pair.
func (k Kernel) Cross(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := checkMemory(eng, x.Len(), y.Len()); err != nil {
		return blas.Matrix{}, err
	}
	dst := eng.UnclearedMatrix(x.Len(), y.Len())
	if err := k.CrossTo(ctx, eng, dst, x, y); err != nil {
		return blas.Matrix{}, err
	}
	return dst, nil
}

// CrossTo is [Kernel.Cross] into dst, all of which is overwritten (partly, on error). It
// panics if dst is not |x| x |y|.
// Errors and cost are those of Cross.
func (k Kernel) CrossTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x, y points.Points) error {
	return k.crossTo(ctx, eng, dst, x, y, tiling{})
}

func (k Kernel) crossTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x, y points.Points,
	t tiling) error {
	checkShape(dst, x.Len(), y.Len())
	turned, err := k.turnedEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	if turned != nil {
		defer turned.base.release()
		return turned.into(dst).transposed(ctx, t)
	}
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.into(dst).whole(ctx, t)
}

// turnedEvaluation prepares the evaluation of y with x if that is better than the reverse, and
// otherwise returns nil: for dense points the smaller set should be packed as a whole. The center
// of the points, and so every bit, is the same.
func (k Kernel) turnedEvaluation(ctx context.Context, eng *engine.Engine, x,
	y points.Points) (*evaluation, error) {
	_, xIsDense := x.(*points.Dense)
	_, yIsDense := y.(*points.Dense)
	if !xIsDense || !yIsDense || x.Len() >= y.Len() || x.Dim() != y.Dim() {
		return nil, nil
	}
	x, y, err := k.prepare(x, y)
	if err != nil {
		return nil, err
	}
	b, err := k.baseAround(ctx, eng, y, x, y)
	if err != nil {
		return nil, err
	}
	return k.evaluate(eng, b, x, y)
}

// Diagonal returns k(x_i, x_i) for every point. Cost: O(nd). Errors: points that are not finite,
// whose squared length overflows, or of a kind that the kernel does not accept; ctx.Err().
func (k Kernel) Diagonal(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	x, _, err := k.prepare(x, nil)
	if err != nil {
		return nil, err
	}
	return k.diagonal(ctx, eng, x)
}

// diagonal is Diagonal for prepared points.
func (k Kernel) diagonal(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	self, err := k.selfProducts(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	if err := checkNorms(self); err != nil {
		return nil, explain(err, x)
	}
	for _, st := range k.stages {
		if err := checkNorms(st.selves(self, self)); err != nil {
			return nil, explain(err, x)
		}
	}
	return self, nil
}

// SquaredDistances returns the squared distances between the points in the kernel's feature space,
// K_ii + K_jj - 2 K_ij, as an n x n matrix, never negative, exactly symmetric, with a diagonal of
// zeros. For the linear kernel these are Euclidean. Cost and errors are those of [Kernel.Gram].
func (k Kernel) SquaredDistances(ctx context.Context, eng *engine.Engine,
	x points.Points) (blas.Matrix, error) {
	return k.Squared().Gram(ctx, eng, x)
}

// prepare checks that the kernel can be evaluated on x, and on x with y unless y is nil, and
// returns them as points with inner products.
func (k Kernel) prepare(x, y points.Points) (points.Points, points.Points, error) {
	sets := []points.Points{x}
	if y != nil {
		sets = append(sets, y)
	}
	for _, p := range sets {
		if err := k.accepts(p); err != nil {
			return nil, nil, err
		}
	}
	if xs, ok := x.(*points.Sequences); ok && y != nil {
		if ys := y.(*points.Sequences); xs.Alphabet != ys.Alphabet {
			return nil, nil, fault.Param("alphabet", xs.Alphabet, "%s, the alphabet of the other sequences",
				ys.Alphabet)
		}
	}
	sets, err := k.vectorsOf(sets...)
	if err != nil {
		return nil, nil, err
	}
	if y == nil {
		return sets[0], nil, nil
	}
	return sets[0], sets[1], nil
}

// accepts returns a ParamError unless the kernel can be evaluated on points of x's kind.
func (k Kernel) accepts(x points.Points) error {
	bad := func(want string) error { return fault.Param("kernel", k.String(), "%s", want) }
	switch x.(type) {
	case *points.Sequences:
		if !k.takesSequences() {
			return bad("a kernel for sequences, such as spectrum:k=3 or rbf:sigma=1@spectrum:k=3")
		}
	case *points.Dense, *points.CSR, *points.Gram:
		if k.takesSequences() {
			return bad("a kernel for vectors, such as rbf:sigma=median (spectrum takes sequences)")
		}
	default:
		return fault.Param("points", fmt.Sprintf("%T", x),
			"*points.Dense, *points.CSR, *points.Sequences or *points.Gram")
	}
	return nil
}

// checkMemory checks the memory of a rows x cols kernel matrix.
func checkMemory(eng *engine.Engine, rows, cols int) error {
	bytes := engine.MatrixBytes(rows, cols)
	if eng.Allows(bytes) {
		return nil
	}
	return eng.Check(fmt.Sprintf("kernel matrix %d x %d", rows, cols), bytes,
		"use fewer points or landmarks, or raise the memory limit")
}

func checkShape(dst blas.Matrix, rows, cols int) {
	blas.CheckMatrix(dst)
	if dst.Rows != rows || dst.Cols != cols {
		panic("kernel: dst has the wrong shape")
	}
}

// IsLinear reports whether the kernel is the base inner product itself.
func (k Kernel) IsLinear() bool { return len(k.stages) == 0 }

// streamBytes is the size from which a matrix is written past the caches: a smaller one may still
// be in a cache when it is read.
const streamBytes = 4 << 20

// matrix writes a kernel matrix.
type matrix struct {
	*evaluation
	dst      blas.Matrix
	streamed bool
	aligned  bool // its rows begin at cache lines
}

func (ev *evaluation) into(dst blas.Matrix) matrix {
	return matrix{ev, dst, 8*len(dst.Data) >= streamBytes, dst.Stride%8 == 0 && asm.AtLine(dst.Data)}
}

// whole fills dst, all m x n of it.
func (w matrix) whole(ctx context.Context, t tiling) error {
	return w.rectangular(ctx, w.dst.Rows, w.dst.Cols, t, sink{end: w.end, tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		return nil
	}})
}

// symmetric fills dst from its lower triangle.
func (w matrix) symmetric(ctx context.Context, t tiling) error {
	return w.lower(ctx, w.dst.Rows, t, sink{end: w.end, tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		w.placeTransposed(b.before(b.Row))
		return nil
	}})
}

// transposed fills dst from its transpose.
func (w matrix) transposed(ctx context.Context, t tiling) error {
	return w.rectangular(ctx, w.dst.Cols, w.dst.Rows, t, sink{end: w.end, tile: func(b Block) error {
		w.placeTransposed(b)
		return nil
	}})
}

// before returns the columns of a block before column j of the whole matrix.
func (b Block) before(j int) Block {
	b.Matrix = b.Matrix.View(0, b.Matrix.Rows, 0, max(0, min(b.Matrix.Cols, j-b.Col)))
	return b
}

// place writes m to dst, beginning at (i, j).
func (w matrix) place(m blas.Matrix, i, j int) {
	if w.streamed {
		w.t.Stream(m.Rows, m.Cols, w.dst.Data[i*w.dst.Stride+j:], w.dst.Stride, m.Data, m.Stride)
		return
	}
	for r := range m.Rows {
		copy(w.dst.Row(i + r)[j:], m.Row(r))
	}
}

func (w matrix) placeTransposed(b Block) {
	m := b.Matrix
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	if w.streamed && w.aligned {
		w.t.StreamTransposed(w.dst.Data[b.Col*w.dst.Stride+b.Row:], w.dst.Stride, m.Data, m.Stride, m.Rows,
			m.Cols)
		return
	}
	turned := w.eng.GetMatrix(m.Cols, m.Rows)
	w.t.Interleave(turned.Data, turned.Stride, turned.Rows, m.Data, m.Stride, m.Rows)
	w.place(turned, b.Col, b.Row)
	w.eng.PutMatrix(turned)
}

func (w matrix) end() {
	if w.streamed {
		w.t.Fence()
	}
}
