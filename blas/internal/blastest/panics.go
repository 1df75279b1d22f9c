package blastest

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// testPanics checks that shapes that do not agree panic with a constant message of package blas.
func testPanics(t *testing.T, s *suite) {
	mat := blas.NewMatrix
	vec := func(n int) []float64 { return make([]float64, n) }
	short := blas.MatrixOf(3, 3, vec(8))
	narrow := blas.Matrix{Rows: 3, Cols: 3, Stride: 2, Data: vec(9)}
	negative := blas.Matrix{Rows: -1, Cols: 3, Stride: 3}
	b := s.b
	for name, f := range map[string]func(){
		"Gemm/inner":         func() { b.Gemm(false, false, 1, mat(2, 3), mat(4, 5), 0, mat(2, 5)) },
		"Gemm/innerTrans":    func() { b.Gemm(true, true, 1, mat(3, 2), mat(4, 5), 0, mat(2, 4)) },
		"Gemm/rows":          func() { b.Gemm(false, false, 1, mat(2, 3), mat(3, 5), 0, mat(3, 5)) },
		"Gemm/columns":       func() { b.Gemm(false, true, 1, mat(2, 3), mat(5, 3), 0, mat(2, 3)) },
		"Gemm/alphaZero":     func() { b.Gemm(false, false, 0, mat(2, 3), mat(4, 5), 1, mat(2, 5)) },
		"Gemm/short":         func() { b.Gemm(false, false, 1, short, mat(3, 3), 0, mat(3, 3)) },
		"Gemm/stride":        func() { b.Gemm(false, false, 1, mat(3, 3), narrow, 0, mat(3, 3)) },
		"Gemm/negative":      func() { b.Gemm(false, false, 1, negative, mat(3, 3), 0, mat(0, 3)) },
		"Syrk/square":        func() { b.Syrk(false, 1, mat(3, 2), 0, mat(3, 4)) },
		"Syrk/order":         func() { b.Syrk(true, 1, mat(3, 2), 0, mat(3, 3)) },
		"Syr/length":         func() { b.Syr(1, vec(2), mat(3, 3)) },
		"Syr/square":         func() { b.Syr(1, vec(3), mat(3, 4)) },
		"Gemv/x":             func() { b.Gemv(false, 1, mat(2, 3), vec(2), 0, vec(2)) },
		"Gemv/y":             func() { b.Gemv(true, 1, mat(2, 3), vec(2), 0, vec(2)) },
		"Symv/x":             func() { b.Symv(1, mat(3, 3), vec(2), 0, vec(3)) },
		"Symv/y":             func() { b.Symv(1, mat(3, 3), vec(3), 0, vec(4)) },
		"Trsm/left":          func() { b.Trsm(true, false, mat(3, 3), mat(2, 3)) },
		"Trsm/right":         func() { b.Trsm(false, false, mat(3, 3), mat(3, 2)) },
		"Trsm/square":        func() { b.Trsm(true, false, mat(3, 2), mat(3, 3)) },
		"Trsm/short":         func() { b.Trsm(true, false, short, mat(3, 2)) },
		"Symm/left":          func() { b.Symm(true, 1, mat(3, 3), mat(2, 3), 0, mat(2, 3)) },
		"Symm/right":         func() { b.Symm(false, 1, mat(3, 3), mat(3, 2), 0, mat(3, 2)) },
		"Symm/square":        func() { b.Symm(true, 1, mat(3, 2), mat(3, 2), 0, mat(3, 2)) },
		"Symm/output":        func() { b.Symm(true, 0, mat(3, 3), mat(3, 2), 1, mat(3, 3)) },
		"Trmm/left":          func() { b.Trmm(true, false, mat(3, 3), mat(2, 3)) },
		"Trmm/right":         func() { b.Trmm(false, false, mat(3, 3), mat(3, 2)) },
		"Trmm/square":        func() { b.Trmm(true, false, mat(3, 2), mat(3, 3)) },
		"Inverse/square":     func() { _ = b.TriangularInverse(mat(3, 2)) },
		"Inverse/short":      func() { _ = b.TriangularInverse(short) },
		"QR/wide":            func() { b.QR(mat(2, 3), mat(3, 3)) },
		"QR/order":           func() { b.QR(mat(4, 3), mat(4, 4)) },
		"QR/square":          func() { b.QR(mat(4, 3), mat(3, 4)) },
		"Cholesky/square":    func() { _ = b.Cholesky(mat(3, 2)) },
		"Cholesky/short":     func() { _ = b.Cholesky(short) },
		"SymEig/square":      func() { _ = b.SymEig(mat(3, 2), vec(3), true) },
		"SymEig/length":      func() { _ = b.SymEig(mat(3, 3), vec(2), true) },
		"SymEigTop/k":        func() { _ = b.SymEigTop(mat(3, 3), vec(2), mat(3, 3)) },
		"SymEigTop/columns":  func() { _ = b.SymEigTop(mat(3, 3), vec(2), mat(2, 2)) },
		"SymEigTop/too many": func() { _ = b.SymEigTop(mat(3, 3), vec(4), mat(4, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, ok := recover().(string); !ok || !strings.HasPrefix(msg, "blas: ") {
					t.Errorf("panic is %q: want a constant message of package blas", msg)
				}
			}()
			f()
		})
	}
}
