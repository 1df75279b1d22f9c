package lleratio

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// Sparse rows, with zeros that are there and without, have as many features that vary as the dense
// ones.
func TestVaryingOfSparseRows(t *testing.T) {
	drew := propertytest.Cases(t, "a zero that is there", "a feature that begins later", "one row", "a limit")
	propertytest.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		x := &points.Dense{N: n, D: d, Data: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, 2).Draw(t, "value"))
		}), n*d, n*d).Draw(t, "x")}
		s := &points.CSR{N: n, D: d, Start: []int{0}}
		for i := range n {
			for j, v := range x.Row(i) {
				if v != 0 || rapid.Bool().Draw(t, "there") {
					s.Col, s.Val = append(s.Col, int32(j)), append(s.Val, v)
				}
				drew("a zero that is there", v == 0 && slices.Contains(s.Col[s.Start[i]:], int32(j)))
				drew("a feature that begins later", i > 0 && v != 0 && x.Row(i - 1)[j] == 0)
			}
			s.Start = append(s.Start, len(s.Col))
		}
		dense, sparse := varyingDense(x, limit), varyingSparse(s, limit)
		drew("one row", n == 1)
		drew("a limit", dense == limit && varyingDense(x, d+1) > limit)
		if dense != sparse {
			t.Fatalf("%d of the dense rows, %d of the sparse ones", dense, sparse)
		}
	})
}

// Products of many rows, block by block, are undone by the other factor, and end with the context.
func TestBlocks(t *testing.T) {
	n := 2*blockRows + 10
	rng := rand.New(rand.NewPCG(1, 2))
	f := &fit{Fit: &learner.Fit{Eng: enginetest.New(t, 1)}}
	r := blas.MatrixOf(2, 2, []float64{2, 0, -1, 3})
	v := enginetest.Matrix(rng, n, 2, 0)
	c := v.Clone()
	c.View(0, 2, 0, 2).CopyFrom(r) // the rows of the support points
	if err := f.divided(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range 2 {
			want, got := v.At(i, j), c.At(i, 0)*r.At(j, 0)+c.At(i, 1)*r.At(j, 1)
			if i < 2 {
				want, got = r.At(i, j), c.At(i, j)
			}
			if math.Abs(got-want) > 1e-14 {
				t.Fatalf("element (%d, %d) is %v: want %v", i, j, got, want)
			}
		}
	}
	w := blas.MatrixOf(1, 2, []float64{5, 7})
	out, err := f.multiplied(t.Context(), v.Clone(), w)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if want := 5*v.At(i, 0) + 7*v.At(i, 1); math.Abs(out.At(i, 0)-want) > 1e-13 {
			t.Fatalf("row %d is %v: want %v", i, out.At(i, 0), want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c = v.Clone()
	if err := f.divided(ctx, c, r); !errors.Is(err, context.Canceled) || c.At(n-1, 1) != v.At(n-1, 1) {
		t.Errorf("divided after the end of the context, error %v", err)
	}
	c = v.Clone()
	if _, err := f.multiplied(ctx, c, w); !errors.Is(err, context.Canceled) || c.Data[n-1] != v.Data[n-1] {
		t.Errorf("multiplied after the end of the context, error %v", err)
	}
}
