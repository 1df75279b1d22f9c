package native

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack"
	reflapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
)

// leafEigen is the order of the tridiagonal blocks that are not divided further, and leafWork the
// flops of products that take as long as one of them. clearRows are the rows that a task clears.
const (
	leafEigen = 32
	leafWork  = 1e6
	clearRows = 64
)

// division is the decomposition of a symmetric tridiagonal matrix by divide and conquer (Cuppen
// 1981; Gu & Eisenstat 1995): rank-one changes split the matrix into blocks, and two decomposed
// blocks are merged by the eigenvalues of a diagonal matrix plus a rank-one matrix.
type division struct {
	b     *backend
	d     []float64 // diagonals, then eigenvalues
	e     []float64 // subdiagonal
	q     blas.Matrix
	order []int       // rows of a block by ascending eigenvalue
	count int         // eigenvectors of the whole matrix to compute, those of the largest eigenvalues
	space blas.Matrix // n x n: rows that are being merged
	u     blas.Matrix // n x n: eigenvectors of the merged problem
}

// divideAndConquer decomposes the tridiagonal matrix with diagonal d and subdiagonal e, both of
// which it overwrites; space, of the same order, is scratch. The eigenvalues are returned in d: row
// order[i] of q is the eigenvector of the i-th smallest, d[order[i]], for the last count of them.
func (b *backend) divideAndConquer(d, e []float64, count int, space blas.Matrix,
	s *scratch) (q blas.Matrix, order []int, err error) {
	n := len(d)
	// Deflation compares eigenvalues with components of unit vectors, so the matrix is first scaled
	// exactly to a size near 1.
	exponent := scaleToOne(d, e)
	c := &division{b: b, d: d, e: e, q: s.matrix(n, n), order: make([]int, n), count: count, space: space,
		u: s.matrix(n, n)}
	// Rows have zeros outside their block.
	b.nest.EachBlock(n, clearRows, func(lo, hi int) { clear(c.q.Data[lo*c.q.Stride : hi*c.q.Stride]) })
	var levels [][]merge
	leaves := c.tear(0, n, 0, &levels)
	failed := make([]bool, len(leaves))
	b.nest.Each(leafWork*float64(len(leaves)), len(leaves), func(i int) { failed[i] = !c.leaf(leaves[i]) })
	if slices.Contains(failed, true) {
		return q, nil, &blas.NoConvergenceError{Routine: "dsteqr"}
	}
	for l := len(levels) - 1; l >= 0; l-- {
		level := levels[l]
		if len(level) >= b.nest.Workers() && len(level) > 1 {
			b.nest.Each(math.Inf(1), len(level), func(i int) { c.merge(level[i], b.alone) })
			continue
		}
		for _, m := range level {
			c.merge(m, b.nest)
		}
	}
	for i := range d {
		d[i] = math.Ldexp(d[i], exponent)
	}
	return c.q, c.order, nil
}

// scaleToOne multiplies all elements by 2^-exponent, so that the largest is between 1/2 and 1.
func scaleToOne(d, e []float64) (exponent int) {
	_, exponent = math.Frexp(max(blas.MaxAbs(d), blas.MaxAbs(e)))
	for _, part := range [][]float64{d, e} {
		for i, v := range part {
			part[i] = math.Ldexp(v, -exponent)
		}
	}
	return exponent
}

// merge joins the blocks [lo, mid) and [mid, hi).
type merge struct{ lo, mid, hi int }

// tear cuts [lo, hi) into leaves, which it returns, and lists the merges that reverse the cuts by
// depth.
func (c *division) tear(lo, hi, depth int, levels *[][]merge) (leaves []merge) {
	if hi-lo <= leafEigen {
		return []merge{{lo, lo, hi}}
	}
	if len(*levels) == depth {
		*levels = append(*levels, nil)
	}
	mid := (lo + hi) / 2
	(*levels)[depth] = append((*levels)[depth], merge{lo, mid, hi})
	// T = diag(T1, T2) + |rho| (e_last, sign e_first)(...)'
	c.d[mid-1] -= math.Abs(c.e[mid-1])
	c.d[mid] -= math.Abs(c.e[mid-1])
	return append(c.tear(lo, mid, depth+1, levels), c.tear(mid, hi, depth+1, levels)...)
}

// leaf decomposes a small block by QR iteration.
func (c *division) leaf(m merge) bool {
	n := m.hi - m.lo
	memory := c.b.nest.Borrow(n*n + 2*n)
	defer c.b.nest.Return(memory)
	z, work := (*memory)[:n*n], (*memory)[n*n:n*n+2*n]
	var factor reflapack.Implementation
	d := c.d[m.lo:m.hi]
	if !factor.Dsteqr(lapack.EVTridiag, n, d, c.e[m.lo:max(m.lo, m.hi-1)], z, n, work) {
		return false
	}
	for i := range n {
		c.order[m.lo+i] = m.lo + i
		row := c.q.Row(m.lo + i)[m.lo:m.hi]
		for j := range row {
			row[j] = z[j*n+i]
		}
	}
	return true
}

// These are the parts of the vectors that a row has: of the first block, of both, of the second.
const (
	first = iota
	both
	second
	kinds
)

// merged is the state of a merge.
type merged struct {
	*division
	merge
	nest *tile.Nest
	rho  float64
	z    []float64 // by row, from lo
	kind []int     // likewise

	kept, deflated []int // rows: those of the secular equation, by ascending eigenvalue, and the others
}

// merge replaces the decompositions of two blocks by that of both together.
func (c *division) merge(m merge, nest *tile.Nest) {
	n := m.hi - m.lo
	g := &merged{division: c, merge: m, nest: nest, rho: c.e[m.mid-1], z: make([]float64, n),
		kind: make([]int, n)}
	sign := math.Copysign(1, g.rho)
	for i := range n {
		if row := c.q.Row(m.lo + i); m.lo+i < m.mid {
			g.z[i] = row[m.mid-1] / math.Sqrt2
		} else {
			g.z[i], g.kind[i] = sign*row[m.mid]/math.Sqrt2, second
		}
	}
	g.rho = 2 * math.Abs(g.rho)
	rows := slices.Clone(c.order[m.lo:m.hi])
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(c.d[a], c.d[b]) })
	g.deflate(rows)
	if len(g.kept) > 0 {
		g.solve()
	}
	for i := range n {
		c.order[m.lo+i] = m.lo + i
	}
	slices.SortStableFunc(c.order[m.lo:m.hi], func(a, b int) int { return cmp.Compare(c.d[a], c.d[b]) })
}

// deflate removes rows that are already eigenvectors up to rounding: those with a component of z
// near 0, and, of two with nearly the same eigenvalue, one after a rotation that moves its
// component to the other.
func (g *merged) deflate(rows []int) {
	largest, largestZ := 0.0, 0.0
	for _, i := range rows {
		largest, largestZ = max(largest, math.Abs(g.d[i])), max(largestZ, math.Abs(g.z[i-g.lo]))
	}
	const eps = 0x1p-53
	tol := 8 * eps * max(largest, largestZ)
	g.kept, g.deflated = make([]int, 0, len(rows)), make([]int, 0, len(rows))
	last := -1
	for _, i := range rows {
		switch {
		case g.rho*math.Abs(g.z[i-g.lo]) <= tol:
			g.deflated = append(g.deflated, i)
		case last < 0:
			last = i
		default:
			if g.rotate(last, i, tol) {
				g.deflated = append(g.deflated, last)
			} else {
				g.kept = append(g.kept, last)
			}
			last = i
		}
	}
	if last >= 0 {
		g.kept = append(g.kept, last)
	}
}

// rotate moves the component of row p to row i, if their eigenvalues are close enough.
func (g *merged) rotate(p, i int, tol float64) bool {
	zp, zi := g.z[p-g.lo], g.z[i-g.lo]
	tau := math.Hypot(zp, zi)
	c, s := zi/tau, -zp/tau
	if math.Abs((g.d[i]-g.d[p])*c*s) > tol {
		return false
	}
	g.z[i-g.lo], g.z[p-g.lo] = tau, 0
	if g.kind[i-g.lo] != g.kind[p-g.lo] {
		g.kind[i-g.lo] = both
	}
	x, y := g.q.Row(p)[g.lo:g.hi], g.q.Row(i)[g.lo:g.hi]
	for k, v := range x {
		x[k], y[k] = c*v+s*y[k], c*y[k]-s*v
	}
	dp, di := g.d[p], g.d[i]
	g.d[p], g.d[i] = dp*c*c+di*s*s, dp*s*s+di*c*c
	return true
}

// solve finds the eigenvalues of the rows that were kept and their eigenvectors: combinations of
// the old ones.
func (g *merged) solve() {
	k := len(g.kept)
	u := g.u.View(g.lo, g.lo+k, g.lo, g.lo+k)
	values := g.eigenvalues(u)
	// Deflated rows follow the new ones, with their eigenvalues.
	rest := make([]float64, len(g.deflated))
	for i, row := range g.deflated {
		rest[i] = g.d[row]
	}
	columns, ends := g.byKind()
	from := g.unwanted(values, rest)
	g.eigenvectors(u.View(from, k, 0, k), columns)
	g.combine(u, from, columns, ends)
	copy(g.d[g.lo:], values)
	copy(g.d[g.lo+k:g.hi], rest)
}

// unwanted returns how many of the new vectors, those of the smallest eigenvalues, nobody needs: in
// the last merge, those that are not among the requested ones. Other merges need them all.
func (g *merged) unwanted(values, rest []float64) int {
	n := g.hi - g.lo
	if n < len(g.d) || g.count == n {
		return 0
	}
	all := slices.Concat(values, rest)
	slices.Sort(all)
	at, _ := slices.BinarySearch(values, all[n-g.count])
	return at
}

// each calls f for parts of [0, n), where each index is worth some loops over the poles.
func (g *merged) each(n int, f func(lo, hi int)) {
	const part, pole = 32, 300 // and the flops of products that take as long as a pole
	g.nest.Each(pole*float64(n)*float64(g.hi-g.lo), blocks(n, part), func(i int) {
		f(i*part, min((i+1)*part, n))
	})
}

// eigenvalues returns the roots of the secular equation, and in row i of u the poles minus root
// i.
func (g *merged) eigenvalues(u blas.Matrix) []float64 {
	k := len(g.kept)
	s := secular{d: make([]float64, k), z2: make([]float64, k), rho: g.rho}
	for j, row := range g.kept {
		z := g.z[row-g.lo]
		s.d[j], s.z2[j] = g.d[row], z*z
	}
	values := make([]float64, k)
	g.each(k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			values[i] = s.root(i, u.Row(i))
		}
	})
	// This is the z whose eigenvalues are exactly these (Gu & Eisenstat 1994): its vectors are
	// orthogonal for arbitrarily close eigenvalues.
	g.each(k, func(lo, hi int) {
		w := make([]float64, hi-lo)
		for j := range w {
			w[j] = -u.At(lo+j, lo+j)
		}
		for i := range k {
			row := u.Row(i)[lo:hi]
			for j, v := range row {
				if lo+j != i {
					w[j] *= v / (s.d[lo+j] - s.d[i])
				}
			}
		}
		for j, v := range w {
			at := g.kept[lo+j] - g.lo
			g.z[at] = math.Copysign(math.Sqrt(max(0, v)), g.z[at])
		}
	})
	return values
}

// byKind returns the numbers of the kept rows, those of the first block first, and where the
// kinds end.
func (g *merged) byKind() (columns []int, ends [kinds]int) {
	columns = make([]int, 0, len(g.kept))
	for kind := range kinds {
		for j, row := range g.kept {
			if g.kind[row-g.lo] == kind {
				columns = append(columns, j)
			}
		}
		ends[kind] = len(columns)
	}
	return columns, ends
}

// eigenvectors turns the differences in u to unit vectors z_j / (d_j - root), with the columns in
// the given order.
func (g *merged) eigenvectors(u blas.Matrix, columns []int) {
	g.each(u.Rows, func(lo, hi int) {
		x := make([]float64, u.Cols)
		for i := lo; i < hi; i++ {
			row := u.Row(i)
			for c, j := range columns {
				x[c] = g.z[g.kept[j]-g.lo] / row[j]
			}
			copy(row, x)
			g.b.t.Scale(1/math.Sqrt(g.b.t.Dot(x, x)), row)
		}
	})
}

// combine writes the new vectors, then the deflated ones, over the rows of the merge; of the new
// ones, only those from row from on.
func (g *merged) combine(u blas.Matrix, from int, columns []int, ends [kinds]int) {
	k, n1, n2 := len(g.kept), g.mid-g.lo, g.hi-g.mid
	// This part of the scratch matrix belongs to the merge: its rows, whole.
	space := g.space.Data[g.lo*g.space.Stride:]
	take := func(rows, cols int) blas.Matrix {
		m := blas.MatrixOf(rows, cols, space[:rows*cols])
		space = space[rows*cols:]
		return m
	}
	saved := take(len(g.deflated), n1+n2)
	for i, row := range g.deflated {
		copy(saved.Row(i), g.q.Row(row)[g.lo:g.hi])
	}
	upper, lower := take(ends[both], n1), take(k-ends[first], n2)
	for c, j := range columns {
		row := g.q.Row(g.kept[j])
		if c < ends[both] {
			copy(upper.Row(c), row[g.lo:g.mid])
		}
		if c >= ends[first] {
			copy(lower.Row(c-ends[first]), row[g.mid:g.hi])
		}
	}
	g.nest.Multiply(tile.Product{Alpha: 1, C: g.q.View(g.lo+from, g.lo+k, g.lo, g.mid),
		A: tile.Operand{Matrix: u.View(from, k, 0, ends[both])}, B: tile.Operand{Matrix: upper}})
	g.nest.Multiply(tile.Product{Alpha: 1, C: g.q.View(g.lo+from, g.lo+k, g.mid, g.hi),
		A: tile.Operand{Matrix: u.View(from, k, ends[first], k)}, B: tile.Operand{Matrix: lower}})
	for i := range saved.Rows {
		copy(g.q.Row(g.lo + k + i)[g.lo:g.hi], saved.Row(i))
	}
}

// secular is the equation 1/rho + sum_j z_j^2 / (d_j - x) = 0, d ascending, rho > 0: its roots
// are the eigenvalues of diag(d) + rho z z'. Root i lies between d_i and d_{i+1}, the last one
// between d_k and d_k + rho |z|^2.
type secular struct {
	d, z2 []float64 // poles and squares of z
	rho   float64
}

// root finds root i, and writes d_j minus the root to delta: to high relative accuracy, because
// the root is found as a distance from the nearer of its two poles (Li 1993).
func (s *secular) root(i int, delta []float64) float64 {
	k := len(s.d)
	origin, lo, hi := s.interval(i)
	for j, d := range s.d {
		delta[j] = d - s.d[origin]
	}
	mu := (lo + hi) / 2
	for range 100 {
		psi, dpsi, phi, dphi, size := s.sums(i, mu, delta)
		f := 1/s.rho + psi + phi
		if math.Abs(f) <= 2*float64(k)*0x1p-53*size {
			break
		}
		if f < 0 {
			lo = mu
		} else {
			hi = mu
		}
		next := s.step(i, mu, psi, dpsi, phi, dphi, delta)
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if next == mu || !(next > lo && next < hi) {
			break
		}
		mu = next
	}
	for j := range delta {
		delta[j] -= mu
	}
	return s.d[origin] + mu
}

// interval returns the pole that root i is measured from, and between which distances the root
// lies. The sign of the function in the middle of the poles says which is nearer.
func (s *secular) interval(i int) (origin int, lo, hi float64) {
	k := len(s.d)
	if i == k-1 {
		return i, 0, s.rho * blas.Sum(s.z2) * (1 + float64(k)*0x1p-52)
	}
	gap := s.d[i+1] - s.d[i]
	f := 1 / s.rho
	for j, d := range s.d {
		f += s.z2[j] / ((d - s.d[i]) - gap/2)
	}
	if f >= 0 {
		return i, 0, gap / 2
	}
	return i + 1, -gap / 2, 0
}

// sums returns the sums over the poles up to i and over those behind it at distance mu, their
// derivatives, and the sum of absolute values.
func (s *secular) sums(i int, mu float64, delta []float64) (psi, dpsi, phi, dphi, size float64) {
	size = 1 / s.rho
	for j := range i + 1 {
		r := 1 / (delta[j] - mu)
		t := s.z2[j] * r
		psi += t
		dpsi += t * r
	}
	for j := len(delta) - 1; j > i; j-- {
		r := 1 / (delta[j] - mu)
		t := s.z2[j] * r
		phi += t
		dphi += t * r
	}
	return psi, dpsi, phi, dphi, size - psi + phi
}

// step returns the root of the function that has the poles next to the root and both sums'
// values and derivatives at mu (Bunch, Nielsen & Sorensen 1978).
func (s *secular) step(i int, mu, psi, dpsi, phi, dphi float64, delta []float64) float64 {
	left := delta[i] - mu // < 0
	a := dpsi * left * left
	rest := 1/s.rho + psi - dpsi*left
	if i == len(delta)-1 {
		// rest + a / (delta_i - x) = 0
		return delta[i] + a/rest
	}
	right := delta[i+1] - mu // > 0
	b := dphi * right * right
	rest += phi - dphi*right
	// rest + a/(left - t) + b/(right - t) = 0 for t = x - mu:
	// rest t^2 - (rest (left + right) + a + b) t + rest left right + a right + b left = 0.
	p := rest*(left+right) + a + b
	q := rest*left*right + a*right + b*left
	root := math.Sqrt(max(0, p*p-4*rest*q))
	// The root between the poles: of the two forms the one that does not cancel.
	if p > 0 {
		return mu + 2*q/(p+root)
	}
	return mu + (p-root)/(2*rest)
}
