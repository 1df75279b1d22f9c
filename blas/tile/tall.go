package tile

// tallPanels is the number of panels of B up to which A is not packed: what a packed block of
// A gains, it gains every time it is read, once for each panel.
const tallPanels = 3

// If A is transposed, so many rows of it are read side by side, which is a block of k, and so many
// elements of each.
const (
	tallDepth   = 16
	tallColumns = 1024
)

// If so many elements of B are packed, 1 MiB, they do not stay in a second-level cache next to the
// rows of A. So many of these rows then share a block of k while it is there.
const (
	tallPacked = 1 << 17
	tallGroup  = 128
)

// tall reports whether the product is to be computed with A where it is: when C has so few
// columns that the product waits for A to come from memory, and a packed copy would be more
// of that. Of a transposed A whole tiles are read, for whole vectors of C.
func (j *job) tall() bool {
	few := j.C.Cols <= tallPanels*j.t.NR && (!j.A.Trans || j.C.Cols%j.t.Lanes == 0)
	return few && !j.A.Symmetric && !j.Lower && j.k > 0
}

// place returns A from row i and column l on, and the distances of its rows and columns.
func (j *job) place(i, l int) (a []float64, row, col int) {
	if j.A.Trans {
		i, l = l, i
	}
	if a = j.A.Matrix.Data[i*j.A.Matrix.Stride+l:]; j.A.Trans {
		return a, 1, j.A.Matrix.Stride
	}
	return a, j.A.Matrix.Stride, 1
}

// tallTask multiplies a block of rows of A, in place, with all columns of B that are packed.
func (j *job) tallTask(i int) {
	t, i0, i1 := j.t, i*j.rows, min((i+1)*j.rows, j.C.Rows)
	if (j.j1-j.j0)%t.Lanes == 0 {
		i0 = j.tallRows(i0, i1)
	}
	if i0 == i1 {
		return
	}
	wide := blocks(j.j1-j.j0, t.NR) * t.NR
	scratch := j.nest.Borrow(t.MR * (wide + j.depth))
	c, edge := (*scratch)[:t.MR*wide], (*scratch)[t.MR*wide:]
	for i := i0; i < i1; i += t.MR {
		rows := min(t.MR, i1-i)
		beta := 1.0
		if j.b0 == 0 {
			beta = j.Beta
		}
		if beta != 0 {
			for r := range rows {
				copy(c[r*wide:], j.C.Row(i + r)[j.j0:j.j1])
			}
		}
		for b := j.b0; b < j.b1; b++ {
			j.tallTile(c, wide, edge, beta, b, i, rows)
			beta = 1
		}
		for r := range rows {
			copy(j.C.Row(i + r)[j.j0:j.j1], c[r*wide:])
		}
	}
	j.nest.Return(scratch)
}

// tallRows computes rows of C from i0 on where they are, as many as are whole tiles, if its columns
// are whole vectors. It returns the first of the others. A long row of A is read along, if B stays
// in the cache; of short ones, or of columns, many at a time.
func (j *job) tallRows(i0, i1 int) int {
	t, c := j.t, j.C
	whole := (i1 - i0) / t.MR * t.MR
	group := whole
	if j.b1-j.b0 > 1 && !j.A.Trans {
		group = t.MR
		if j.width*j.depth*(j.b1-j.b0) > tallPacked {
			group = tallGroup
		}
	}
	for i := i0; i < i0+whole; i += group {
		step := min(group, i0+whole-i)
		beta := 1.0
		if j.b0 == 0 {
			beta = j.Beta
		}
		for b := j.b0; b < j.b1; b++ {
			l0, _ := j.span(b)
			packed, depth := j.panels(b)
			a, aRow, aCol := j.place(i, l0)
			for from := j.j0; from < j.j1; from += t.NR {
				t.Direct(step, min(t.NR, j.j1-from), depth, j.Alpha, beta, a, aRow, aCol, packed[(from-j.j0)*depth:], t.NR, c.Data[i*c.Stride+from:], c.Stride)
			}
			beta = 1
		}
	}
	return i0 + whole
}

// tallTile adds block b of k to a tile of C of MR rows, from row i of A on. Rows beyond the last
// are made up of zeros in edge.
func (j *job) tallTile(c []float64, wide int, edge []float64, beta float64, b, i, rows int) {
	t := j.t
	l0, l1 := j.span(b)
	packed, depth := j.panels(b)
	a, aRow, aCol := j.place(i, l0)
	if rows < t.MR {
		Pack(t, edge, t.MR, t.MR*depth, j.A.Matrix, !j.A.Trans, i, i+rows, l0, l1)
		a, aRow, aCol = edge, 1, t.MR
	}
	for from := 0; from < j.j1-j.j0; from += t.NR {
		lanes := blocks(min(t.NR, j.j1-j.j0-from), t.Lanes) * t.Lanes
		t.Direct(t.MR, lanes, depth, j.Alpha, beta, a, aRow, aCol, packed[from*depth:], t.NR, c[from:], wide)
	}
}
