package krca

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestRotation checks that Q is orthonormal and [B C] = H'K [F H], if all anchors are reference
// points, if the last ones of chunklets are none, and with groups that span blocks of rows.
func TestRotation(t *testing.T) {
	const n = 700
	eng, ctx := enginetest.New(t, 3), t.Context()
	x := gaussian(n, 4, 1)
	set := chunkletSet(t, n, runs(n, 7, slices.Concat([]int{550}, []int{4, 1, 3, 2}, []int{9})...)...)
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=2", 1e-2), x, set).metric
	rows, _ := flatten(set.Chunklets())
	for _, refs := range [][]int{sequence(n), sequence(n)[:650], {0, 3, 7, 14, 21, 659}} {
		c := chosen{slices.Clone(rows), m.f, nil}
		c.begin(refs)
		m := *m
		m.anchors = x.Select(c.rows)
		at, points, k := positions(refs, c.rows), x.Select(refs), len(refs)
		q := newRotation(k, m.f, at)
		got, err := m.rotated(ctx, eng, points, at, &q)
		if err != nil {
			t.Fatal(err)
		}
		one := blas.NewMatrix(k, k)
		for i := range k {
			one.Set(i, i, 1)
		}
		basis := q.expand(one)
		within(t, "Q'Q", toMat(q.apply(basis)), toMat(one), 1e-13)

		r, g := m.f.order(), len(q.columns)
		want, right := blas.NewMatrix(q.groups(), r+q.groups()), blas.NewMatrix(k, r+q.groups())
		cross, err := m.kernel.Cross(ctx, eng, points, m.anchors)
		if err != nil {
			t.Fatal(err)
		}
		all := blas.NewMatrix(r, r)
		for i := range r {
			all.Set(i, i, 1)
		}
		eng.Backend().Gemm(false, false, 1, cross, m.f.expand(all), 0, right.View(0, k, 0, r))
		if cross, err = m.kernel.Cross(ctx, eng, points, points); err != nil {
			t.Fatal(err)
		}
		h := basis.View(0, k, g, k)
		eng.Backend().Gemm(false, false, 1, cross, h, 0, right.View(0, k, r, right.Cols))
		eng.Backend().Gemm(true, false, 1, h, right, 0, want)
		within(t, "H'K [F H]", toMat(got.View(0, got.Rows, 0, want.Cols).Clone()), toMat(want), 1e-12)
	}
}

// TestSubstitution compares it with solving, for orders within a triangle and across several.
func TestSubstitution(t *testing.T) {
	ctx := t.Context()
	for _, r := range []int{1, 31, 512, 513, 1100} {
		var first blas.Matrix
		for _, workers := range []int{1, 3} {
			eng := enginetest.New(t, workers)
			l := blas.NewMatrix(r, r)
			noise := gaussian(r, r, 3)
			for i := range r {
				copy(l.Row(i)[:i], noise.Row(i))
				for j := range i {
					l.Row(i)[j] /= float64(r)
				}
				l.Set(i, i, 1+float64(i%7))
			}
			z := blas.NewMatrix(r, 16)
			copy(z.Data, gaussian(r, 16, 5).Data)
			want := z.Clone()
			eng.Backend().Trsm(true, false, l, want)
			eng.Backend().Trsm(true, true, l, want)
			s, err := newSubstitution(ctx, eng, l)
			if err != nil {
				t.Fatal(err)
			}
			s.solve(ctx, eng, z)
			within(t, "(L L')^-1 z", toMat(z), toMat(want), 1e-13)
			if workers == 1 {
				first = z
			}
			sameBits(t, "for any number of workers", z, first)
		}
	}
}
