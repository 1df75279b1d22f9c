package traceratio

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails the search, with its error, with a null space of B and
// without.
func TestFailures(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(2, 7))
	for what, c := range map[string]struct{ m, rank int }{"small": {12, 12},
		"null space": {12, 9}} {
		a, b := large(eng, rng, c.m, c.m, 10, 1), large(eng, rng, c.m, c.rank, 10, 1)
		for _, d := range []int{2, 5} {
			enginetest.FailEverywhere(t, what, 40, func(ctx context.Context) error {
				_, err := Solve(ctx, eng, a, b, d, Options{})
				return err
			}, "(*search).nullSpace")
		}
	}
}

// TestRenew: directions that say little of the spectrum give a matrix that is not positive
// definite, so the shift is doubled until it is.
func TestRenew(t *testing.T) {
	const m = 60
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(4, 9))
	s := &search{ctx: t.Context(), eng: eng, a: large(eng, rng, m, m, 1000, 1),
		b: large(eng, rng, m, m, 1, 1), d: 2, m: m, shifted: blas.NewMatrix(m, m)}
	x, p := newSpace(s), preconditioner{factors: s.shifted}
	defer x.release()
	if err := x.begin(); err != nil {
		t.Fatal(err)
	}
	first, last := x.values[0], x.values[len(x.values)-1]
	if usable, err := p.renew(x, newHistory()); err != nil || !usable {
		t.Fatal(usable, err)
	}
	f, err := x.deflated(p.c, p.last)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, m)
	if err := eng.SymEig(t.Context(), f, w, false); err != nil {
		t.Fatal(err)
	}
	if !(w[0] > 0) || p.last != last || !(p.c > first) {
		t.Errorf("smallest eigenvalue %g, shift %g of values from %g to %g", w[0], p.c, last, first)
	}
}

// TestFailuresOfSpace: what fails in the search in a space fails it, with its error.
func TestFailuresOfSpace(t *testing.T) {
	const m = 60
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(5, 8))
	a, b := large(eng, rng, m, m, 1000, 1), large(eng, rng, m, m, 1, 1)
	enginetest.FailEverywhere(t, "space", 60, func(ctx context.Context) error {
		s := &search{ctx: ctx, eng: eng, a: a, b: b, d: 2, m: m, shifted: blas.NewMatrix(m, m),
			Options: Options{MaxIter: 50}}
		_, err := s.davidson()
		return err
	}, "traceratio.factor")
}

// TestNullOfRounding: directions with eigenvalues of B up to rounding, order times eps times the
// norm, are its null space, and those with twice as much are not.
func TestNullOfRounding(t *testing.T) {
	const m = 5
	for share, null := range map[float64]int{0: 2, 0.5: 2, 2: 1} {
		s := &search{ctx: t.Context(), eng: enginetest.New(t, 1), m: m, b: blas.NewMatrix(m, m),
			shifted: blas.NewMatrix(m, m)}
		for i, v := range []float64{1, share * m * 0x1p-52, 0.5, 0, 0.25} {
			s.b.Set(i, i, v)
		}
		got, err := s.nullSpace()
		if err != nil || got.Rows != null {
			t.Errorf("%v roundings: a null space of %d dimensions, error %v: want %d", share, got.Rows, err,
				null)
		}
	}
}
