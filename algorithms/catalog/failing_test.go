package catalog_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// later are functions that see an end of the context only as that of a computation: each is
// followed by another look. Most ask whether a matrix is definite.
var later = []string{"krca.(*metric).solve", "krca.(*metric).scaleResidual", "krca.(*metric).weighted",
	"lleratio.(*fit).orthonormal", "baseline.(*mmcProblem).newton",
	"traceratio.(*search).nullSpace", "baseline.MMC.full", "optimize.(*program).normal",
	"optimize.(*sdpSearch).coupled", "optimize.(*sdpSearch).search", "optimize.(*sdpSearch).newton"}

// TestFailAtEveryLook: whatever fails once, of all that looks at the context (kernels, products,
// decompositions, solvers), fails the fit, or the use of a model, with exactly its error.
func TestFailAtEveryLook(t *testing.T) {
	eng, failed, most := enginetest.New(t, 1), 0, drawstest.Count(8, 200)
	for _, p := range racetest.Part(everywhere(t, 40)) {
		t.Run(p.method.Name, func(t *testing.T) {
			failed += enginetest.FailEverywhere(t, "fit", most, func(ctx context.Context) error {
				_, err := p.fit(ctx, eng, nil)
				return err
			}, later...)
			m, err := p.fit(context.Background(), eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, use := range p.uses(eng, m) {
				failed += enginetest.FailEverywhere(t, name, most, use, later...)
			}
		})
	}
	t.Logf("failures that came through: %d", failed)
}

// broken is a backend that fails at one decomposition. Cholesky's refusal of a matrix is an answer
// that methods ask for, so it does not fail here.
type broken struct {
	blas.Backend
	last, calls atomic.Int64
}

func (b *broken) fails() error {
	if b.calls.Add(1) == b.last.Load() {
		return enginetest.ErrBroken
	}
	return nil
}

func (b *broken) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	if err := b.fails(); err != nil {
		return err
	}
	return b.Backend.SymEig(a, w, vectors)
}

func (b *broken) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	if err := b.fails(); err != nil {
		return err
	}
	return b.Backend.SymEigTop(a, w, v)
}

// TestBrokenBackend: a decomposition that fails fails the fit with its error.
func TestBrokenBackend(t *testing.T) {
	b := &broken{Backend: enginetest.Backend(t, "", 1)}
	eng := enginetest.With(t, engine.Options{Backend: b, Workers: 1})
	failed := 0
	for _, p := range racetest.Part(everywhere(t, 40)) {
		t.Run(p.method.Name, func(t *testing.T) {
			b.last.Store(0)
			b.calls.Store(0)
			if _, err := p.fit(context.Background(), eng, nil); err != nil {
				t.Fatal(err)
			}
			n := int(b.calls.Load())
			for _, k := range some(n, drawstest.Count(8, 200)) {
				b.calls.Store(0)
				b.last.Store(int64(k))
				if _, err := p.fit(context.Background(), eng, nil); !errors.Is(err, enginetest.ErrBroken) {
					t.Errorf("failing at call %d of %d: error %v", k, n, err)
				}
				failed++
			}
		})
	}
	t.Logf("failures of the backend that came through: %d", failed)
}
