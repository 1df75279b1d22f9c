package blastest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// Bench times the operations that dominate the methods, as op/n=.../backend=..., and reports
// GFLOP/s by the operation counts in [blas.Backend] (SymEig: 9 n^3 for every algorithm, so that
// backends can be compared).
func Bench(b *testing.B, backend blas.Backend) {
	s := &suite{backend, rand.New(rand.NewPCG(1, 1))}
	for _, n := range []int{100, 300, 1000} {
		x := s.random(n, n).Matrix
		spd := mirror(s.spd(n).Matrix)
		c, l, w := blas.NewMatrix(n, n), blas.NewMatrix(n, n), make([]float64, n)
		cube := float64(n) * float64(n) * float64(n)
		check := func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, op := range []struct {
			name  string
			flops float64
			run   func()
		}{
			{"Gemm", 2 * cube, func() { backend.Gemm(false, false, 1, x, x, 0, c) }},
			{"GemmNT", 2 * cube, func() { backend.Gemm(false, true, 1, x, x, 0, c) }},
			{"Syrk", cube, func() { backend.Syrk(false, 1, x, 0, c) }},
			{"Cholesky", cube / 3, func() { c.CopyFrom(spd); check(backend.Cholesky(c)) }},
			{"Trsm", cube, func() { c.CopyFrom(x); backend.Trsm(true, false, spd, c) }},
			{"Symm", 2 * cube, func() { backend.Symm(true, 1, spd, x, 0, c) }},
			{"Trmm", cube, func() { c.CopyFrom(x); backend.Trmm(true, false, spd, c) }},
			{"Inverse", cube / 3, func() { c.CopyFrom(spd); check(backend.TriangularInverse(c)) }},
			{"QR", 8 * cube / 3, func() { c.CopyFrom(x); backend.QR(c, l) }},
			{"SymEig", 9 * cube, func() { c.CopyFrom(spd); check(backend.SymEig(c, w, true)) }},
		} {
			b.Run(fmt.Sprintf("%s/n=%d/backend=%s", op.name, n, backend.Name()), func(b *testing.B) {
				for b.Loop() {
					op.run()
				}
				b.ReportMetric(op.flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
