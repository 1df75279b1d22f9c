package logdet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestSweepsDoNotAllocate checks that sweeps of both forms allocate nothing. The ascent, which
// comes once after some sweeps, does.
func TestSweepsDoNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	g := blas.NewMatrix(60, 8)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	eng := enginetest.New(t, 1)
	gram := blas.NewMatrix(60, 60)
	eng.Backend().Syrk(false, 1, g, 0, gram)
	for i := range gram.Rows {
		gram.Set(i, i, gram.At(i, i)+1)
	}
	gram.Mirror()
	var list []Constraint
	for range 100 {
		rows := rng.Perm(60)
		list = append(list, Constraint{Kind: Kind(rng.IntN(2)), I: rows[0], J: rows[1],
			Bound: 1 + rng.Float64()})
	}
	for name, solve := range map[string]func(o Options) (*Result, error){
		"rows": func(o Options) (*Result, error) { return Rows(context.Background(), eng, g, list, o) },
		"kernel": func(o Options) (*Result, error) {
			return Kernel(context.Background(), eng, gram, list, o)
		},
	} {
		each := enginetest.Allocations(t, 5, func(sweeps int) {
			r, err := solve(Options{Gamma: 1, Tolerance: math.SmallestNonzeroFloat64, MaxSweeps: sweeps,
				patience: -1})
			if err != nil || r.Sweeps != sweeps {
				t.Fatalf("%s: %d sweeps of %d: %v", name, r.Sweeps, sweeps, err)
			}
		})
		if each > 0 {
			t.Errorf("%s: %g allocations a sweep: want none", name, each)
		}
	}
}
