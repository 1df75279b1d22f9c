package asm

import "unsafe"

// Table has the kernels of one level. It is immutable once [Select] returns it, and safe for
// concurrent use; copy it to change an entry in a test.
//
// Slices must be at least as long as the doc of an entry states; nothing beyond that is read or
// written. In slice kernels n = len(x), and the other slices have at least n elements. Outputs and
// inputs are the same slice if the doc allows it, otherwise disjoint.
type Table struct {
	// Level is the level for which the table was selected.
	Level Level

	// Dot returns the inner product
	//	for i, v := range x { sum += v * y[i] }
	// Order at Generic: four partial sums over i mod 4, n mod 4 last elements into the
	// first, then (s0 + s1) + (s2 + s3). NaN and 0*Inf propagate; 0 when n = 0. x and y
	// may overlap. Dot(x, y) = Dot(y, x) exactly, for equal lengths.
	Dot func(x, y []float64) float64

	// Sum returns
	//	for _, v := range x { sum += v }
	// in the order of Dot. NaN propagates; 0 when n = 0.
	Sum func(x []float64) float64

	// SquaredDistance returns
	//	for i, v := range x { d := v - y[i]; sum += d * d }
	// in the order of Dot. Never negative; 0 for equal finite x and y; symmetric to the
	// bit. NaN and Inf-Inf propagate. x and y may overlap.
	SquaredDistance func(x, y []float64) float64

	// Axpy adds a multiple of x to y:
	//	for i, v := range x { y[i] += alpha * v }
	// Elements are independent. alpha = 0 is no exception: NaN and 0*Inf propagate.
	// x and y are disjoint or the same slice.
	Axpy func(alpha float64, x, y []float64)

	// Scale multiplies in place:
	//	for i := range x { x[i] *= alpha }
	// alpha = 0 is no exception: NaN and 0*Inf propagate.
	Scale func(alpha float64, x []float64)

	// Syr adds a symmetric rank-one matrix to the lower triangle of a:
	//	for i, v := range x { Axpy(alpha*v, x[:i+1], a[i*stride:]) }
	// stride >= n. NaN and 0*Inf propagate. a is disjoint from x.
	Syr func(alpha float64, x, a []float64, stride int)

	// Exp writes the exponential function:
	//	for i, v := range x { dst[i] = math.Exp(v) }
	// Error at most 1 ulp (relative 2.3e-16) where the result is a normal number, 2 units of
	// the smallest number where it is not.
	// Exp(0) = 1 exactly, NaN gives NaN, -Inf gives 0, +Inf and v > 709.79 give +Inf,
	// v < -745.14 gives 0. Elements are independent. dst and x are disjoint or the same.
	Exp func(dst, x []float64)

	// Sqrt writes the square roots, correctly rounded:
	//	for i, v := range x { dst[i] = math.Sqrt(v) }
	// v < 0 and NaN give NaN. dst and x are disjoint or the same.
	Sqrt func(dst, x []float64)

	// Power writes x to a whole power, degree >= 1, by repeated squaring:
	//	for i, v := range x {
	//		p := 1.0
	//		for d := degree; d > 1; d >>= 1 { if d&1 == 1 { p *= v }; v *= v }
	//		dst[i] = p * v
	//	}
	// NaN propagates. dst and x are disjoint or the same.
	Power func(dst, x []float64, degree int)

	// SquaredDistances turns inner products with one point into squared distances, and reports
	// whether one of them is smaller than a fraction of its terms, because they canceled:
	//	for j, v := range dot {
	//		dst[j] = max(0, xx + yy[j] - 2*v)
	//		near = near || dst[j] < fraction * (xx + yy[j])
	//	}
	// The doubling is exact, so fusing it changes nothing. xx, yy and fraction are >= 0. NaN stays
	// NaN; if a dst[j] is not finite, near may be true or false. dst and dot are disjoint or the
	// same; yy is disjoint from dst.
	SquaredDistances func(dst, dot []float64, xx float64, yy []float64, fraction float64) (near bool)

	// FirstBelow finds the first element that is at most a common bound or its own bound:
	//	for i, v := range x { if v <= max(limit, limits[i]) { return i } }
	//	return len(x)
	// x may contain NaN, which is never below a bound; limit and limits may not.
	FirstBelow func(x, limits []float64, limit float64) int

	// Gaussian turns inner products of points into values of a Gaussian kernel:
	//	for r := range rows {
	//		row := dst[r*dstStride:][:cols]
	//		near = SquaredDistances(row, dot[r*dotStride:][:cols], xx[r], yy, fraction) || near
	//		Scale(scale, row)
	//		Exp(row, row)
	//	}
	// bit-identical to this loop, but in one pass. dst, dot, xx and yy are disjoint.
	Gaussian func(rows, cols int, dst []float64, dstStride int, dot []float64, dotStride int, xx,
		yy []float64, scale, fraction float64) (near bool)

	// Sweep reads four rows of a matrix once, as rows and as columns:
	//	for r := range 4 { for j := range n {
	//		dots[r] += a[r*stride+j] * x[j] // from 0
	//		y[j] += alpha[r] * a[r*stride+j]
	//	} }
	// The order of the sums over j depends only on n; those of an element of y are in the order of
	// r. NaN and 0*Inf propagate. y is disjoint from a and x.
	Sweep func(n int, a []float64, stride int, x, y []float64, alpha, dots *[4]float64)

	// SparseRows multiplies rows of a sparse matrix with a dense one of cols columns:
	//	for r := range len(start) - 1 { for c := range cols {
	//		t := 0.0
	//		for k := start[r]; k < start[r+1]; k++ { t += weight[k] * x[index[k]*stride+c] }
	//		dst[r*dstStride+c] = t
	//	} }
	// Sums are in the order of k; NaN and 0*Inf propagate. Fastest for cols a multiple of Lanes.
	// dst is disjoint from the others.
	SparseRows func(start []int, index []int32, weight, x []float64, stride, cols int, dst []float64,
		dstStride int)

	// SparseRecur is a step of a recurrence with a sparse matrix:
	//	for r := range len(start) - 1 { for c := range cols {
	//		t := 0.0
	//		for k := start[r]; k < start[r+1]; k++ { t += weight[k] * x[index[k]*stride+c] }
	//		dst[r*dstStride+c] = alpha*t + beta*own[r*stride+c] + gamma*dst[r*dstStride+c]
	//	} }
	// in this order; NaN and 0*Inf propagate. own may be a part of x; dst is disjoint from both.
	SparseRecur func(start []int, index []int32, weight, x []float64, stride, cols int, alpha, beta float64,
		own []float64, gamma float64, dst []float64, dstStride int)

	// Stream copies a matrix to memory that will not be read soon:
	//	for r := range rows { copy(dst[r*stride:][:cols], src[r*srcStride:]) }
	// It bypasses the caches if possible, which more than doubles the speed for a matrix larger
	// than the caches. A Fence must follow before another goroutine may read the copy. dst and src
	// are disjoint.
	Stream func(rows, cols int, dst []float64, stride int, src []float64, srcStride int)
	// StreamTransposed is Stream of a transposed matrix:
	//	for r := range rows { for c := range cols { dst[c*stride+r] = src[r*srcStride+c] } }
	// It is fast if dst begins a cache line of 64 bytes, and stride and rows are multiples of 8.
	StreamTransposed func(dst []float64, stride int, src []float64, srcStride, rows, cols int)
	// Fence makes streamed data visible before all later writes.
	Fence func()

	// Narrow rounds to single precision:
	//	for i, v := range x { dst[i] = float32(v) }
	Narrow func(dst []float32, x []float64)

	// CholeskyOnes solves G w = 1, a vector of ones, for Lanes symmetric positive definite matrices
	// of order k >= 1 at a time. The matrices are interleaved: element (i, j), j <= i, of matrix l
	// is g[(i*k+j)*Lanes+l]; other elements are neither read nor written. It is the Cholesky
	// decomposition by rows, with pivots inverted, and two substitutions:
	//	L[i][j] = (G[i][j] - sum_p<j L[i][p]*L[j][p]) * D[j]
	//	D[i] = 1 / sqrt(G[i][i] - sum_p<i L[i][p]^2)
	//	y[i] = (1 - sum_p<i L[i][p]*y[p]) * D[i]
	//	w[i] = (y[i] - sum_p>i L[p][i]*w[p]) * D[i]
	// sums in ascending order of p. w has k*Lanes elements; g is overwritten by L, with D on
	// its diagonal. A matrix that is not positive definite gives NaN or Inf in its lane only.
	CholeskyOnes func(k int, g, w []float64)

	// Tile multiplies packed panels, C = A B for one MR x NR register tile:
	//	for i := range MR { for j := range NR {
	//		c[i*NR+j] = 0
	//		for l := range k { c[i*NR+j] += a[l*MR+i] * b[l*NR+j] }
	//	} }
	// a holds k columns of MR elements, b k rows of NR, c MR*NR elements, which are
	// overwritten, not read. Each element is summed in the order of l from 0, so it
	// depends on its own row of A and column of B only. NaN and 0*Inf propagate.
	// 2 MR NR k flops. c is disjoint from a and b, which may overlap.
	Tile func(k int, a, b, c []float64)
	// TileTo is Tile into a part of a larger C, scaled:
	//	for i := range MR { for j := range NR {
	//		t := 0.0
	//		for l := range k { t += a[l*MR+i] * b[l*NR+j] }
	//		c[i*stride+j] = alpha*t + beta*c[i*stride+j]
	//	} }
	// beta == 0: c is not read, so it may contain NaN. The sum over l is bit-identical to that of
	// Tile; its product with alpha is rounded before the rest is added.
	TileTo func(k int, alpha, beta float64, a, b, c []float64, stride int)
	// Direct is TileTo on matrices that are not packed, for several tiles, one below the other:
	// rows is a multiple of MR, cols a multiple of Lanes, at least one and at most NR.
	//	for i := range rows { for j := range cols {
	//		t := 0.0
	//		for l := range k { t += a[i*aRow+l*aCol] * b[l*bRow+j] }
	//		c[i*stride+j] = alpha*t + beta*c[i*stride+j]
	//	} }
	// The operations are the same as in TileTo, so the result is bit-identical. Direct is for
	// products so small that the time for packing matters.
	Direct func(rows, cols, k int, alpha, beta float64, a []float64, aRow, aCol int, b []float64, bRow int,
		c []float64, stride int)
	// Interleave packs rows of a matrix into a panel:
	//	for l := range k { for i := range width {
	//		dst[l*width+i] = src[i*stride+l] // 0 for i >= rows
	//	} }
	// rows <= width. Values are moved, NaN with its bits. dst is disjoint from src.
	Interleave func(dst []float64, width, k int, src []float64, stride, rows int)
	// Peak does n rounds of independent multiply-adds on registers and returns the number of
	// operations: the reference for the speed of Tile.
	Peak func(n int) (flops float64)
	// MR, NR are the tile's sizes. KC is the depth of panels at which products ran fastest: a panel
	// of B slightly larger than the first-level cache costs less than more visits to C. All are
	// positive.
	MR, NR, KC int
	// Lanes is the number of elements of a vector, a divisor of NR.
	Lanes int

	// Single has the kernels in single precision.
	Single Single
}

// variant is a level above Generic: apply overwrites the entries for which it has kernels.
type variant struct {
	level  Level
	apply  func(*Table)
	single func(*Table) // of the kernels in single precision; nil for a level without
}

// Select returns the table of a level: the generic kernels, overwritten by those of every
// supported level up to it. An unsupported level gives a *[LevelError] that lists the
// supported ones.
func Select(level Level) (*Table, error) {
	t := generic()
	for _, v := range variants() {
		if v.level <= level {
			v.apply(t)
			if v.single != nil {
				v.single(t)
			}
			t.Level = v.level
		}
	}
	if t.Level != level {
		return nil, unsupported(level)
	}
	return t, nil
}

func unsupported(level Level) *LevelError {
	e := &LevelError{Value: level.String(), Here: true}
	for _, l := range Supported() {
		e.Choices = append(e.Choices, l.String())
	}
	return e
}

// AtLine reports whether x begins a cache line of 64 bytes, which makes [Table.StreamTransposed]
// fast.
func AtLine(x []float64) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 == 0 }
