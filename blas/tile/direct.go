package tile

// unpacked reports whether the product is computed from the factors in place: if it is so small
// that packing costs more than it gains, or has so few rows that a packed B would be read only a
// few times. A B that is stored in the wrong order is still packed.
func (j *job) unpacked() bool {
	if j.B.Trans || j.B.Symmetric || j.A.Symmetric || j.Lower || j.k == 0 {
		return false
	}
	size := &j.nest.sizes
	return max(j.C.Rows, j.C.Cols, j.k) <= size.directSide || j.C.Rows <= size.directRows
}

// fringe is scratch for tiles at the edges, which are computed from copies padded with zeros.
type fringe struct {
	a, b, c []float64
}

// directTask computes the i-th chunk of columns without packing more than its edges.
func (j *job) directTask(i int) {
	t := j.t
	c0, c1 := i*j.chunk, min((i+1)*j.chunk, j.C.Cols)
	whole := c0 + (c1-c0)/t.Lanes*t.Lanes
	var f fringe
	if whole < c1 || j.C.Rows%t.MR != 0 {
		scratch := j.nest.Borrow(j.depth*(t.MR+t.Lanes) + t.MR*t.NR)
		defer j.nest.Return(scratch)
		edge := *scratch
		f = fringe{c: edge[:t.MR*t.NR], a: edge[t.MR*t.NR:][:j.depth*t.MR], b: edge[t.MR*t.NR+j.depth*t.MR:]}
	}
	beta, stride := j.Beta, j.B.Matrix.Stride
	for b := range blocks(j.k, j.depth) {
		l0, l1 := j.span(b)
		for c := c0; c < whole; c += t.NR {
			j.column(&f, beta, l0, l1, c, min(t.NR, whole-c), j.B.Matrix.Data[l0*stride+c:], stride)
		}
		if whole < c1 {
			Pack(t, f.b, t.Lanes, j.depth*t.Lanes, j.B.Matrix, false, whole, c1, l0, l1)
			j.column(&f, beta, l0, l1, whole, c1-whole, f.b, t.Lanes)
		}
		beta = 1
	}
}

// direct computes the product from the factors in place, in chunks of columns.
func (j *job) direct() {
	j.chunk = j.C.Cols
	if j.workers > 1 {
		j.chunk = share(j.C.Cols, j.C.Cols/(tasksEach*j.workers), j.t.NR)
	}
	j.each(blocks(j.C.Cols, j.chunk), j.whole)
}

// column computes the columns [c, c+cols) of C, over depths [l0, l1): B's part starts at b.
func (j *job) column(f *fringe, beta float64, l0, l1, c, cols int, b []float64, bRow int) {
	t, m, stride := j.t, j.C.Rows, j.C.Stride
	lanes := blocks(cols, t.Lanes) * t.Lanes
	a, aRow, aCol := j.A.Matrix.Data, j.A.Matrix.Stride, 1
	if j.A.Trans {
		aRow, aCol = 1, aRow
	}
	i := 0
	if lanes == cols {
		if i = m / t.MR * t.MR; i > 0 {
			t.Direct(i, cols, l1-l0, j.Alpha, beta, a[l0*aCol:], aRow, aCol, b, bRow, j.C.Data[c:], stride)
		}
	}
	for ; i < m; i += t.MR {
		rows := min(t.MR, m-i)
		from, fromRow, fromCol := a[i*aRow+l0*aCol:], aRow, aCol
		if rows < t.MR {
			Pack(t, f.a, t.MR, j.depth*t.MR, j.A.Matrix, !j.A.Trans, i, m, l0, l1)
			from, fromRow, fromCol = f.a, 1, t.MR
		}
		if beta != 0 {
			for r := range rows {
				copy(f.c[r*t.NR:], j.C.Data[(i+r)*stride+c:][:cols])
			}
		}
		t.Direct(t.MR, lanes, l1-l0, j.Alpha, beta, from, fromRow, fromCol, b, bRow, f.c, t.NR)
		for r := range rows {
			copy(j.C.Data[(i+r)*stride+c:][:cols], f.c[r*t.NR:])
		}
	}
}
