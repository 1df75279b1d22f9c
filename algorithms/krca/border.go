package krca

import (
	"context"
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// border extends the factor, valid for the first r columns of F, to all of them.
func (u *Incremental) border(ctx context.Context, eng *engine.Engine, r int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f := helmert{start: u.f.start, columns: u.f.columns, count: len(u.positions)}
	b := len(f.columns) - r
	if b == 0 {
		return nil // chunklets of one point: only n grows
	}
	rows, err := u.contrasts(ctx, eng, f, r)
	if err != nil {
		return err
	}
	err = eng.Each(ctx, b, 16, func(i int) { f.apply(rows.Row(i)) })
	if err != nil {
		return err
	}
	left, corner := rows.View(0, b, 0, r), rows.View(0, b, r, r+b)
	err = checkFinite(ctx, eng, rows.View(0, b, 0, r+b), func(int) error {
		return fault.Data("", "a kernel value of a point in the update is not representable: want smaller values (scale the data)")
	})
	if err != nil {
		return err
	}
	for i := range b {
		corner.Data[i*corner.Stride+i] += u.growth.s
	}
	solve(eng.Backend(), u.factor.View(0, r, 0, r), left)
	eng.Backend().Syrk(false, -1, left, 1, corner)
	if err := eng.Cholesky(ctx, corner); err != nil {
		var notDefinite *blas.NotPositiveDefiniteError
		if !errors.As(err, &notDefinite) {
			return err
		}
		return &fault.ParamError{Param: "eps", Value: u.eps,
			Want: "a larger number and a new fit, since sI + F'KF has no Cholesky factor after this update"}
	}
	if err := u.reserve(eng, r, r+b); err != nil {
		return err
	}
	for i := range b {
		to := u.factor.Row(r + i)
		copy(to, left.Row(i))
		copy(to[r:r+i+1], corner.Row(i))
	}
	return nil
}

// fewRows is the number of rows up to which a triangular solve is faster row by row.
const fewRows = 4

// solve overwrites b with b L'^-1. For few rows, as a stream of small chunklets has, most of
// the time of Trsm would go into packing L for a product; dot products read it once.
func solve(backend blas.Backend, l, b blas.Matrix) {
	if b.Rows > fewRows {
		backend.Trsm(false, true, l, b)
		return
	}
	dot := backend.Kernels().Dot
	for j := range l.Rows {
		row := l.Row(j)
		for i := range b.Rows {
			x := b.Row(i)
			x[j] = (x[j] - dot(row[:j], x)) / row[j]
		}
	}
}

// contrasts returns F_B'K, b x n, for the columns B of f from r on: the kernel values of the
// points of the chunklets that change, summed up along the trees.
func (u *Incremental) contrasts(ctx context.Context, eng *engine.Engine, f helmert, r int) (blas.Matrix, error) {
	touched := u.touched(r)
	n, b := f.count, len(f.columns)-r
	need := addBytes(engine.MatrixBytes(len(touched), n), engine.MatrixBytes(b, n))
	if err := eng.Check(fmt.Sprintf("update of chunklets of %d points", len(touched)), need, "update by fewer chunklets at a time"); err != nil {
		return blas.Matrix{}, err
	}
	k := eng.GetMatrix(len(touched), n)
	defer eng.PutMatrix(k)
	if err := u.kernel.CrossTo(ctx, eng, k, u.anchors.Select(touched), u.anchors); err != nil {
		return blas.Matrix{}, err
	}
	place := make(map[int]int, len(touched))
	for i, p := range touched {
		place[p] = i
	}
	out := blas.NewMatrix(b, n)
	for t, c := range f.columns {
		i, ok := place[c.a]
		if !ok {
			continue
		}
		sumA, sumB := k.Row(i), k.Row(place[c.b])
		if t >= r {
			qa, qb, norm := float64(c.qa), float64(c.qb), c.norm()
			for x, row := 0, out.Row(t-r); x < n; x++ {
				row[x] = (qb*sumA[x] - qa*sumB[x]) * norm
			}
		}
		for x, v := range sumB {
			sumA[x] += v
		}
	}
	return out, ctx.Err()
}

// reserve makes room for a factor of order r, of which the first `used` rows are valid. The
// order grows by a quarter at least, so that copying is amortised: O(r^2) in all for each
// order of magnitude, against O(r^2) for every row.
func (u *Incremental) reserve(eng *engine.Engine, used, r int) error {
	if r <= u.factor.Rows {
		return nil
	}
	order := max(r, u.factor.Rows+u.factor.Rows/4, 64)
	if err := eng.Check(fmt.Sprintf("factor of order %d", order), addBytes(engine.MatrixBytes(order, order), engine.MatrixBytes(used, used)), fewerLinks); err != nil {
		return err
	}
	larger := eng.NewMatrix(order, order)
	for i := range used {
		copy(larger.Row(i)[:i+1], u.factor.Row(i))
	}
	u.factor = larger
	return nil
}
