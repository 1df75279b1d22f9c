package enginetest

import "github.com/mustlink/mustlink/blas"

// Inverse returns the inverse of a positive definite matrix, both triangles, by Gauss-Jordan
// elimination: a reference that shares no code with the backends.
func Inverse(t Fataler, a blas.Matrix) blas.Matrix {
	t.Helper()
	n := a.Rows
	a, out := a.Clone(), blas.NewMatrix(n, n)
	for i := range n {
		out.Set(i, i, 1)
	}
	for p := range n {
		if a.At(p, p) == 0 {
			t.Fatal("a pivot of a definite matrix is 0")
		}
		f := 1 / a.At(p, p)
		for j := range n {
			a.Set(p, j, a.At(p, j)*f)
			out.Set(p, j, out.At(p, j)*f)
		}
		for i := range n {
			if g := a.At(i, p); i != p && g != 0 {
				for j := range n {
					a.Set(i, j, a.At(i, j)-g*a.At(p, j))
					out.Set(i, j, out.At(i, j)-g*out.At(p, j))
				}
			}
		}
	}
	return out
}
