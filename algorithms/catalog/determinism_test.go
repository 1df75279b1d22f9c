package catalog_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

type schedule struct{ workers, processors int }

// schedules pairs numbers of workers with numbers of processors: each number of either kind is
// there with fewer and with more of the other. The first is what the others are compared with, and
// comes twice.
var schedules = []schedule{{1, 1}, {1, 1}, {1, 4}, {2, 1}, {2, 2}, {3, 2}, {3, 4}, {7, 1}, {7, 4}}

// few are enough where fits take long, and for methods that have been through all with their
// defaults.
var few = []schedule{{1, 1}, {3, 2}, {7, 4}}

// TestBitsDoNotDependOnTheSchedule: every method fits the same model file, to the byte, and answers
// with the same bits, for any number of workers and processors and as often as it is asked.
// (OpenBLAS runs with two threads.)
func TestBitsDoNotDependOnTheSchedule(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	ctx := context.Background()
	// more than one block of rows in every kernel matrix
	for row, p := range racetest.Part(everywhere(t, 130)) {
		t.Run(p.method.Name, func(t *testing.T) {
			var first outcome
			list := racetest.Some(schedules, few)
			if strings.Contains(p.method.Name, "=") {
				list = few
			}
			for i, s := range list {
				if i > 0 && len(list) > len(few) && !drawstest.Turn(row, i, 3) {
					continue
				}
				runtime.GOMAXPROCS(s.processors)
				got, err := p.solve(ctx, enginetest.New(t, s.workers))
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = got
					continue
				}
				if at := got.difference(first); at != "" {
					t.Errorf("run %d, %d workers on %d processors: %s has other bits than with one on one", i,
						s.workers, s.processors, at)
				}
			}
		})
	}
}

// TestBitsOfLargeProblems: the same for problems whose products and decompositions are shared among
// the workers, which those of small ones are not.
func TestBitsOfLargeProblems(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	ctx := context.Background()
	large := slices.DeleteFunc(problems(t, 600), func(p problem) bool {
		return !slices.Contains([]string{"krca", "kbeta", "npkl", "lleratio", "kpca"}, p.method.Name)
	})
	for _, p := range racetest.Part(large) {
		t.Run(p.method.Name, func(t *testing.T) {
			var first outcome
			for _, s := range few {
				runtime.GOMAXPROCS(s.processors)
				got, err := p.solve(ctx, enginetest.New(t, s.workers))
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
				}
				if at := got.difference(first); at != "" {
					t.Errorf("%d workers on %d processors: %s has other bits than with one on one", s.workers,
						s.processors, at)
				}
			}
		})
	}
}

// TestRowsDoNotDependOnTheBlock: a row of an embedding and of a kernel matrix, and a distance, have
// the same bits however the points are cut into blocks. OpenBLAS chooses its kernels by the size of
// a call, so with it they only agree to rounding.
func TestRowsDoNotDependOnTheBlock(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	for row, p := range racetest.Part(everywhere(t, 130)) {
		t.Run(p.method.Name, func(t *testing.T) {
			m, err := p.fit(ctx, eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			coordinates, err := m.Embed(ctx, eng, p.fresh)
			if err != nil {
				t.Fatal(err)
			}
			gram, err := m.Gram(ctx, eng, p.fresh, p.x)
			if err != nil {
				t.Fatal(err)
			}
			distances, err := m.Distances(ctx, eng, p.fresh, chain(p.fresh.N))
			if err != nil {
				t.Fatal(err)
			}
			scale, kernel := norm(coordinates), norm(gram)
			for column, size := range []int{1, 7, 64, 97} {
				if !drawstest.Turn(row, column, 2) {
					continue
				}
				for lo := 0; lo < p.fresh.N; lo += size {
					hi := min(lo+size, p.fresh.N)
					part := points.Slice(p.fresh, lo, hi)
					y, err := m.Embed(ctx, eng, part)
					if err != nil {
						t.Fatal(err)
					}
					k, err := m.Gram(ctx, eng, part, p.x)
					if err != nil {
						t.Fatal(err)
					}
					d, err := m.Distances(ctx, eng, p.fresh, chain(p.fresh.N)[2*lo:2*hi])
					if err != nil {
						t.Fatal(err)
					}
					at := fmt.Sprintf("rows %d to %d in blocks of %d", lo, hi-1, size)
					sameRows(t, "embedding, "+at, y.Data,
						coordinates.View(lo, hi, 0, coordinates.Cols).Clone().Data, scale)
					sameRows(t, "Gram matrix, "+at, k.Data, gram.View(lo, hi, 0, gram.Cols).Clone().Data,
						kernel)
					sameRows(t, "distances, "+at, d, distances[2*lo:2*hi], max(kernel, scale*scale))
				}
			}
		})
	}
}

// sameRows demands equal bits, or with OpenBLAS a difference of rounding relative to size.
func sameRows(t *testing.T, what string, got, want []float64, size float64) {
	t.Helper()
	tolerance := 0.0
	if backends.Default() == "netlib" {
		tolerance = 1e-10 * size
	}
	for i := range want {
		same := math.Float64bits(got[i]) == math.Float64bits(want[i])
		if !same && !(tolerance > 0 && math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: value %d is %v, %v in the whole", what, i, got[i], want[i])
			return
		}
	}
}

// norm returns the largest magnitude of a matrix.
func norm(m blas.Matrix) float64 {
	largest := 0.0
	for _, v := range m.Clone().Data {
		largest = max(largest, math.Abs(v))
	}
	return largest
}
