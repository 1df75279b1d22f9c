package blas

// Every backend checks dimensions, strides and lengths, in this order, before it works. The checks
// panic with the constants of errors.go.

// CheckMatrix panics unless m satisfies the invariants of [Matrix].
func CheckMatrix(m Matrix) {
	if m.Rows < 0 || m.Cols < 0 {
		panic(errNegativeDimension)
	}
	if m.Stride < max(1, m.Cols) {
		panic(errStride)
	}
	if m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		panic(errShortData)
	}
}

// CheckSquare panics unless m is a valid square matrix, and returns its order.
func CheckSquare(m Matrix) int {
	CheckMatrix(m)
	if m.Rows != m.Cols {
		panic(errNotSquare)
	}
	return m.Rows
}

// CheckGemm panics unless the shapes of [Backend.Gemm] agree, and returns m, n and k.
func CheckGemm(transA, transB bool, a, b, c Matrix) (m, n, k int) {
	CheckMatrix(a)
	CheckMatrix(b)
	CheckMatrix(c)
	m, k = opShape(transA, a)
	kb, n := opShape(transB, b)
	if kb != k || c.Rows != m || c.Cols != n {
		panic(errShape)
	}
	return m, n, k
}

// CheckSyrk panics unless the shapes of [Backend.Syrk] agree, and returns n and k.
func CheckSyrk(trans bool, a, c Matrix) (n, k int) {
	CheckMatrix(a)
	n, k = opShape(trans, a)
	if CheckSquare(c) != n {
		panic(errShape)
	}
	return n, k
}

// CheckSymm panics unless the shapes of [Backend.Symm] agree, and returns those of C.
func CheckSymm(left bool, a, b, c Matrix) (m, n int) {
	order := CheckSquare(a)
	CheckMatrix(b)
	CheckMatrix(c)
	if rows, _ := opShape(!left, b); rows != order || c.Rows != b.Rows || c.Cols != b.Cols {
		panic(errShape)
	}
	return c.Rows, c.Cols
}

// CheckGemv panics unless the shapes of [Backend.Gemv] agree.
func CheckGemv(trans bool, a Matrix, x, y []float64) {
	CheckMatrix(a)
	m, n := opShape(trans, a)
	if len(x) != n || len(y) != m {
		panic(errShape)
	}
}

// CheckSymv panics unless the shapes of [Backend.Symv] agree, and returns the order.
func CheckSymv(a Matrix, x, y []float64) int {
	n := CheckSquare(a)
	CheckLength(len(x), n)
	CheckLength(len(y), n)
	return n
}

// CheckSyr panics unless the shapes of [Backend.Syr] agree, and returns the order.
func CheckSyr(x []float64, a Matrix) int {
	n := CheckSquare(a)
	CheckLength(len(x), n)
	return n
}

// CheckSymEig panics unless the shapes of [Backend.SymEig] agree, and returns the order.
func CheckSymEig(a Matrix, w []float64) int {
	n := CheckSquare(a)
	CheckLength(len(w), n)
	return n
}

// CheckSymEigTop panics unless the shapes of [Backend.SymEigTop] agree, and returns the
// order and the number of eigenvalues.
func CheckSymEigTop(a Matrix, w []float64, v Matrix) (n, k int) {
	n = CheckSquare(a)
	CheckMatrix(v)
	if len(w) > n || v.Rows != len(w) || v.Cols != n {
		panic(errShape)
	}
	return n, len(w)
}

// CheckTrsm panics unless the shapes of [Backend.Trsm] or [Backend.Trmm] agree, and returns
// L's order and the number of right-hand sides.
func CheckTrsm(left bool, l, b Matrix) (n, m int) {
	n = CheckSquare(l)
	CheckMatrix(b)
	order, m := opShape(!left, b)
	if order != n {
		panic(errShape)
	}
	return n, m
}

// CheckQR panics unless the shapes of [Backend.QR] agree, and returns those of A.
func CheckQR(a, l Matrix) (m, n int) {
	CheckMatrix(a)
	n = CheckSquare(l)
	if a.Cols != n || a.Rows < n {
		panic(errShape)
	}
	return a.Rows, n
}

// CheckLength panics unless got == want.
func CheckLength(got, want int) {
	if got != want {
		panic(errShape)
	}
}

// opShape returns the shape of m, transposed when trans is set.
func opShape(trans bool, m Matrix) (rows, cols int) {
	if trans {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}
