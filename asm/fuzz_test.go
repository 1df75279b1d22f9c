package asm_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
)

// The targets below take lengths, offsets and values from the input, including special values. They
// compare every level with the documented loop, and with the generic level where both are
// bit-identical.

// differential runs f on the choices of an input, for every level.
func differential(f *testing.F, check func(t *testing.T, b *asmtest.Bytes, generic, table *asm.Table)) {
	var tables []*asm.Table
	for _, level := range asm.Supported() {
		table, err := asm.Select(level)
		if err != nil {
			f.Fatal(err)
		}
		tables = append(tables, table)
	}
	for n := range 40 {
		seed := make([]byte, 48)
		for i := range seed {
			seed[i] = byte((i*i + 3*i + 7) * (2*n + 1))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, table := range tables {
			check(t, asmtest.NewBytes(input), tables[0], table)
		}
	})
}

// vector returns a vector of chosen values at a chosen place.
func vector(b *asmtest.Bytes, n int) *asmtest.Vector {
	return asmtest.NewVector(n, b.Below(9), asmtest.Fill(b.Values(n)))
}

// length is mostly short, where vector loops and their tails meet.
func length(b *asmtest.Bytes) int {
	if b.Below(8) == 0 {
		return b.Below(2000)
	}
	return b.Below(70)
}

// total is a sum in an unknown order: the value that it must be close to, and the properties that
// are certain if terms are not finite.
type total struct {
	value, size   float64
	terms         int
	nan, pos, neg bool
	overflow      bool // of a product of finite numbers: it may end as anything
}

// add adds x y.
func (s *total) add(x, y float64) {
	v := x * y
	s.terms++
	switch {
	case math.IsNaN(v):
		s.nan = true
	case math.IsInf(v, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		s.overflow = true
	case math.IsInf(v, 0):
		s.pos, s.neg = s.pos || v > 0, s.neg || v < 0
	default:
		s.value += v
		s.size += math.Abs(v)
	}
}

// wrong describes the error of got, or returns "" if got is within 2 (terms + 1) eps of the terms'
// sizes, and the last bit of a denormal number for each, of the sum.
func (s *total) wrong(got float64) string {
	want, bound := s.value, 2*float64(s.terms+1)*eps*s.size+5e-324*float64(s.terms+1)
	switch {
	case s.nan || s.pos && s.neg && !s.overflow:
		want = math.NaN()
	case s.overflow || s.size > math.MaxFloat64/4:
		return ""
	case s.pos:
		want = math.Inf(1)
	case s.neg:
		want = math.Inf(-1)
	}
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= bound {
		return ""
	}
	return fmt.Sprintf("is %v: want %v within %.3g", got, want, bound)
}

func (s *total) check(t *testing.T, what string, got float64) {
	t.Helper()
	if wrong := s.wrong(got); wrong != "" {
		t.Fatalf("%s %s", what, wrong)
	}
}

func FuzzReductions(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) {
		n := length(b)
		x, y := vector(b, n), vector(b, n)
		var dot, sum, distance total
		for i, v := range x.Data {
			dot.add(v, y.Data[i])
			sum.add(v, 1)
			distance.add(v-y.Data[i], v-y.Data[i])
			if d := v - y.Data[i]; math.IsInf(d, 0) && !math.IsInf(v, 0) && !math.IsInf(y.Data[i], 0) {
				distance.overflow = true
			}
		}
		what := fmt.Sprintf("%v, n=%d: ", table.Level, n)
		dot.check(t, what+"Dot", table.Dot(x.Data, y.Data))
		sum.check(t, what+"Sum", table.Sum(x.Data))
		d := table.SquaredDistance(x.Data, y.Data)
		distance.check(t, what+"SquaredDistance", d)
		if d < 0 {
			t.Fatalf("%sSquaredDistance is %v", what, d)
		}
		same(t, what+"swapped", []float64{table.Dot(y.Data, x.Data), table.SquaredDistance(y.Data, x.Data)},
			[]float64{table.Dot(x.Data, y.Data), d})
		x.Check(t, what+"x")
		y.Check(t, what+"y")
	})
}

// rounded reports whether got is a x + y with one rounding or with two.
func rounded(got, a, x, y float64) bool {
	one, two := math.FMA(a, x, y), float64(a*x)+y
	return got == one || got == two || math.IsNaN(got) && (math.IsNaN(one) || math.IsNaN(two))
}

func FuzzMaps(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, generic, table *asm.Table) {
		n, alpha, degree, fraction := length(b), b.Special(), 1+b.Below(100), 0.25*float64(b.Below(5))
		x, y, dst := vector(b, n), vector(b, n), vector(b, n)
		want, what := make([]float64, n), fmt.Sprintf("%v, n=%d, alpha=%v: ", table.Level, n, alpha)

		before := slices.Clone(y.Data)
		table.Axpy(alpha, x.Data, y.Data)
		for i, v := range x.Data {
			if !rounded(y.Data[i], alpha, v, before[i]) {
				t.Fatalf("%sAxpy of %v to %v is %v", what, v, before[i], y.Data[i])
			}
		}
		copy(dst.Data, x.Data)
		table.Scale(alpha, dst.Data)
		for i, v := range x.Data {
			want[i] = alpha * v
		}
		same(t, what+"Scale", dst.Data, want)
		table.Sqrt(dst.Data, x.Data)
		generic.Sqrt(want, x.Data)
		same(t, what+"Sqrt", dst.Data, want)
		table.Power(dst.Data, x.Data, degree)
		generic.Power(want, x.Data, degree)
		same(t, fmt.Sprintf("%sPower %d", what, degree), dst.Data, want)
		narrow(t, what, table, x.Data)
		generic.Exp(want, x.Data)
		exponentials(t, what, table, x.Data, dst.Data, want)

		positive(y.Data)
		near := table.SquaredDistances(dst.Data, x.Data, math.Abs(alpha), y.Data, fraction)
		wantNear := generic.SquaredDistances(want, x.Data, math.Abs(alpha), y.Data, fraction)
		same(t, what+"SquaredDistances", dst.Data, want)
		if near != wantNear && allFinite(want) {
			t.Fatalf("%sSquaredDistances: near is %t: want %t", what, near, wantNear)
		}
		for i, v := range y.Data { // limits are numbers
			if math.IsNaN(v) {
				y.Data[i] = 0
			}
		}
		if limit := alpha; !math.IsNaN(limit) {
			if got, want := table.FirstBelow(x.Data, y.Data, limit),
				generic.FirstBelow(x.Data, y.Data, limit); got != want {
				t.Fatalf("%sFirstBelow finds %d: want %d", what, got, want)
			}
		}
		for name, v := range map[string]*asmtest.Vector{"x": x, "y": y, "dst": dst} {
			v.Check(t, what+name)
		}
	})
}

// positive drops signs, as squared lengths have none.
func positive(x []float64) {
	for i, v := range x {
		x[i] = math.Abs(v)
	}
}

func allFinite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 })
}

func narrow(t *testing.T, what string, table *asm.Table, x []float64) {
	t.Helper()
	dst := make([]float32, len(x)+1)
	dst[len(x)] = 7
	table.Narrow(dst[:len(x)], x)
	for i, v := range x {
		if got, want := dst[i], float32(v); math.Float32bits(got) != math.Float32bits(want) &&
			!math.IsNaN(v) {
			t.Fatalf("%sfloat32(%v) is %v: want %v", what, v, got, want)
		}
	}
	if dst[len(x)] != 7 {
		t.Fatalf("%sNarrow wrote behind the end", what)
	}
}

// exponentials compares Exp with the generic one: each is within one unit of the exact value, or
// two of the smallest number.
func exponentials(t *testing.T, what string, table *asm.Table, x, dst, generic []float64) {
	t.Helper()
	table.Exp(dst, x)
	for i, v := range x {
		got, want := dst[i], generic[i]
		bound := 2 * (math.Nextafter(want, math.Inf(1)) - want)
		if want < 0x1p-1022 {
			bound = 4 * 5e-324
		}
		switch {
		case equalBits(got, want), math.Abs(got-want) <= bound:
		case v > 709.782 && v < 709.783: // where the result overflows, within the bound either is right
		default:
			t.Fatalf("%sexp(%v) is %v: want %v", what, v, got, want)
		}
	}
}

// equalBits reports whether the bits are equal; any two NaN count as equal.
func equalBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// FuzzGaussian checks that one pass is bit-identical to its three steps.
func FuzzGaussian(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) {
		rows, n := b.Below(5), length(b)
		dotStride, stride := n+b.Below(3), n+b.Below(3)
		scale, fraction := b.Special(), 0.25*float64(b.Below(5))
		size := func(stride int) int { return max(0, (rows-1)*stride+n) }
		dot, xx, yy, dst := vector(b, size(dotStride)), vector(b, rows), vector(b, n), vector(b, size(stride))
		positive(xx.Data)
		positive(yy.Data)
		want, wantNear, finite := slices.Clone(dst.Data), false, true
		for r := range rows {
			row := want[r*stride:][:n]
			wantNear = table.SquaredDistances(row, dot.Data[r*dotStride:][:n], xx.Data[r], yy.Data,
				fraction) || wantNear
			finite = finite && allFinite(row)
			table.Scale(scale, row)
			table.Exp(row, row)
		}
		near := table.Gaussian(rows, n, dst.Data, stride, dot.Data, dotStride, xx.Data, yy.Data, scale,
			fraction)
		what := fmt.Sprintf("%v, %d rows of %d, scale %v", table.Level, rows, n, scale)
		same(t, what, dst.Data, want)
		if near != wantNear && finite {
			t.Fatalf("%s: near is %t: want %t", what, near, wantNear)
		}
		for name, v := range map[string]*asmtest.Vector{"dot": dot, "xx": xx, "yy": yy, "dst": dst} {
			v.Check(t, what+": "+name)
		}
	})
}

// FuzzTiles checks the product of panels, and the related kernels, which are bit-identical to it.
func FuzzTiles(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) {
		mr, nr, k := table.MR, table.NR, b.Below(40)
		if b.Below(8) == 0 {
			k = b.Below(300)
		}
		what := fmt.Sprintf("%v, k=%d: ", table.Level, k)
		x, y, product := vector(b, k*mr), vector(b, k*nr), vector(b, mr*nr)
		table.Tile(k, x.Data, y.Data, product.Data)
		for i := range mr {
			for j := range nr {
				var s total
				for l := range k {
					s.add(x.Data[l*mr+i], y.Data[l*nr+j])
				}
				if wrong := s.wrong(product.Data[i*nr+j]); wrong != "" {
					t.Fatalf("%sTile at (%d,%d) %s", what, i, j, wrong)
				}
			}
		}
		alpha, beta, stride := b.Special(), b.Special(), nr+b.Below(3)
		c := vector(b, (mr-1)*stride+nr)
		before := slices.Clone(c.Data)
		table.TileTo(k, alpha, beta, x.Data, y.Data, c.Data, stride)
		what += fmt.Sprintf("alpha=%v, beta=%v: ", alpha, beta)
		for i, v := range before {
			row, col := i/stride, i%stride
			var ok bool
			switch got := c.Data[i]; {
			case col >= nr:
				ok = equalBits(got, v)
			case beta == 0:
				ok = equalBits(got, alpha*product.Data[row*nr+col])
			default:
				ok = rounded(got, beta, v, alpha*product.Data[row*nr+col])
			}
			if !ok {
				t.Fatalf("%sTileTo at (%d,%d) makes %v of %v and the product %v", what, row, col, c.Data[i],
					v, product.Data[min(row*nr+col, mr*nr-1)])
			}
		}
		for name, v := range map[string]*asmtest.Vector{"a": x, "b": y, "product": product, "c": c} {
			v.Check(t, what+name)
		}
		direct(t, what, b, table, k, alpha, beta, x.Data, y.Data)
	})
}

// direct compares Direct, on matrices that are stored in another way, with TileTo.
func direct(t *testing.T, what string, b *asmtest.Bytes, table *asm.Table, k int, alpha, beta float64, x,
	y []float64) {
	t.Helper()
	mr, nr := table.MR, table.NR
	cols := table.Lanes * (1 + b.Below(nr/table.Lanes))
	aRow, aCol, bRow, stride := 1, mr+b.Below(3), cols+b.Below(3), cols+b.Below(3)
	if b.Coin() {
		aRow, aCol = k+b.Below(3), 1
	}
	size := func(rows, rowStride, cols, colStride int) int {
		return max(0, rows-1)*rowStride + max(0, cols-1)*colStride + 1
	}
	zero := func() float64 { return 0 }
	p, q := asmtest.NewVector(size(mr, aRow, k, aCol), b.Below(9), zero),
		asmtest.NewVector(size(k, bRow, cols, 1), b.Below(9), zero)
	for l := range k {
		for i := range mr {
			p.Data[i*aRow+l*aCol] = x[l*mr+i]
		}
		copy(q.Data[l*bRow:], y[l*nr:][:cols])
	}
	c, want := vector(b, (mr-1)*stride+cols), make([]float64, mr*nr)
	for i := range mr {
		copy(want[i*nr:], c.Data[i*stride:][:cols])
	}
	table.TileTo(k, alpha, beta, x, y, want, nr)
	table.Direct(mr, cols, k, alpha, beta, p.Data, aRow, aCol, q.Data, bRow, c.Data, stride)
	for i := range mr {
		same(t, fmt.Sprintf("%sDirect, row %d of %d columns", what, i, cols), c.Data[i*stride:][:cols],
			want[i*nr:][:cols])
	}
	for name, v := range map[string]*asmtest.Vector{"a": p, "b": q, "c": c} {
		v.Check(t, what+"Direct: "+name)
	}
}

// FuzzRows checks the kernels on rows of matrices: Sweep, Syr, the sparse products.
func FuzzRows(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) {
		sweep(t, b, table)
		syr(t, b, table)
		sparseRows(t, b, table)
	})
}

func sweep(t *testing.T, b *asmtest.Bytes, table *asm.Table) {
	t.Helper()
	n := length(b)
	stride := n + b.Below(4)
	a, x, y, alpha, dots := vector(b, 3*stride+n), vector(b, n), vector(b, n), [4]float64(b.Values(4)),
		[4]float64{}
	before := slices.Clone(y.Data)
	table.Sweep(n, a.Data, stride, x.Data, y.Data, &alpha, &dots)
	what := fmt.Sprintf("%v, n=%d: ", table.Level, n)
	sums := make([]total, n)
	for j, v := range before {
		sums[j].add(v, 1)
	}
	for r := range 4 {
		var s total
		for j, v := range a.Data[r*stride:][:n] {
			s.add(v, x.Data[j])
			sums[j].add(alpha[r], v)
		}
		s.check(t, fmt.Sprintf("%sSweep, product with row %d", what, r), dots[r])
	}
	for j := range sums {
		if wrong := sums[j].wrong(y.Data[j]); wrong != "" {
			t.Fatalf("%sSweep, element %d %s", what, j, wrong)
		}
	}
	for name, v := range map[string]*asmtest.Vector{"a": a, "x": x, "y": y} {
		v.Check(t, what+"Sweep: "+name)
	}
}

func syr(t *testing.T, b *asmtest.Bytes, table *asm.Table) {
	t.Helper()
	n, alpha := b.Below(40), b.Special()
	stride := n + b.Below(3)
	x, a := vector(b, n), vector(b, max(0, (n-1)*stride+n))
	want := slices.Clone(a.Data)
	for i, v := range x.Data {
		table.Axpy(alpha*v, x.Data[:i+1], want[i*stride:])
	}
	table.Syr(alpha, x.Data, a.Data, stride)
	same(t, fmt.Sprintf("%v, n=%d: Syr", table.Level, n), a.Data, want)
	x.Check(t, "Syr: x")
	a.Check(t, "Syr: a")
}

func sparseRows(t *testing.T, b *asmtest.Bytes, table *asm.Table) {
	t.Helper()
	rows, height, cols := 1+b.Below(6), 1+b.Below(9), b.Below(50)
	start, index := []int{0}, []int32(nil)
	for range rows {
		for range b.Below(9) {
			index = append(index, int32(b.Below(height)))
		}
		start = append(start, len(index))
	}
	stride, dstStride := cols+b.Below(3), cols+b.Below(3)
	weight, x, dst := vector(b, len(index)), vector(b, height*stride), vector(b, rows*dstStride)
	before := slices.Clone(dst.Data)
	table.SparseRows(start, index, weight.Data, x.Data, stride, cols, dst.Data, dstStride)
	product := slices.Clone(dst.Data)
	what := fmt.Sprintf("%v, %d columns: ", table.Level, cols)
	for i, got := range product {
		if i%dstStride >= cols {
			if !equalBits(got, before[i]) {
				t.Fatalf("%sSparseRows wrote behind a row", what)
			}
			continue
		}
		r, c, s := i/dstStride, i%dstStride, total{}
		for k := start[r]; k < start[r+1]; k++ {
			s.add(weight.Data[k], x.Data[int(index[k])*stride+c])
		}
		if wrong := s.wrong(got); wrong != "" {
			t.Fatalf("%sSparseRows at (%d,%d) %s", what, r, c, wrong)
		}
	}
	// The recurrence with 1, 0, 0 on finite numbers is the product; with 0 or 1 in other places, a
	// sum.
	alpha, beta, gamma := b.Tame(), b.Tame(), b.Tame()
	own := vector(b, rows*stride)
	copy(dst.Data, before)
	table.SparseRecur(start, index, weight.Data, x.Data, stride, cols, alpha, beta, own.Data, gamma, dst.Data,
		dstStride)
	for i, got := range dst.Data {
		if i%dstStride >= cols {
			if !equalBits(got, before[i]) {
				t.Fatalf("%sSparseRecur wrote behind a row", what)
			}
			continue
		}
		r, c, s := i/dstStride, i%dstStride, total{}
		for k := start[r]; k < start[r+1]; k++ {
			s.add(weight.Data[k], x.Data[int(index[k])*stride+c])
		}
		if s.nan || s.pos || s.neg || s.overflow || s.size > 0x1p900 || s.size < 0x1p-900 {
			continue // beyond the range before alpha, or after it, comes out in its own way
		}
		s.value, s.size = alpha*s.value, math.Abs(alpha)*s.size
		s.add(beta, own.Data[r*stride+c])
		s.add(gamma, before[i])
		if wrong := s.wrong(got); wrong != "" {
			t.Fatalf("%sSparseRecur at (%d,%d) %s", what, r, c, wrong)
		}
	}
	for name, v := range map[string]*asmtest.Vector{"weight": weight, "x": x, "own": own, "dst": dst} {
		v.Check(t, what+name)
	}
}

// FuzzCholeskyOnes checks that every lane is bit-identical for any contents of the other lanes, and
// that definite systems are solved.
func FuzzCholeskyOnes(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) { choleskyOnes(t, b, table) })
}

func choleskyOnes(t *testing.T, b *asmtest.Bytes, table *asm.Table) {
	t.Helper()
	k, lanes := 1+b.Below(12), table.Lanes
	if b.Below(64) == 1 {
		k = 60 + b.Below(10)
	}
	g, w := vector(b, k*k*lanes), vector(b, k*lanes)
	definite := b.Below(lanes)
	gram(table, g.Data, b.Tames(k*(k+2)), k, lanes, definite)
	from := slices.Clone(g.Data)
	table.CholeskyOnes(k, g.Data, w.Data)
	what := fmt.Sprintf("%v, k=%d", table.Level, k)
	g.Check(t, what+": g")
	w.Check(t, what+": w")
	alone, solution := make([]float64, k*k*lanes), make([]float64, k*lanes)
	for i := definite; i < len(from); i += lanes {
		alone[i] = from[i]
	}
	table.CholeskyOnes(k, alone, solution)
	length := func(i int) float64 { return math.Sqrt(from[(i*k+i)*lanes+definite]) } // of a row of L
	for i := range k {
		same(t, fmt.Sprintf("%s: w[%d] of lane %d among other lanes", what, i, definite),
			w.Data[i*lanes+definite:][:1], solution[i*lanes+definite:][:1])
		sum, size := 0.0, 1.0
		for j := range k {
			sum += from[(max(i, j)*k+min(i, j))*lanes+definite] * w.Data[j*lanes+definite]
			size += length(i) * length(j) * math.Abs(w.Data[j*lanes+definite])
		}
		if sum-sum == 0 { // the matrix may be indefinite by rounding
			within(t, fmt.Sprintf("%s: (G w)[%d]", what, i), sum, 1, 40*float64(k)*eps*size)
		}
	}
}

// gram writes the Gram matrix of the rows of x, k x (k+2), into a lane.
func gram(table *asm.Table, g, x []float64, k, lanes, lane int) {
	for i := range k {
		for j := range i + 1 {
			g[(i*k+j)*lanes+lane] = table.Dot(x[i*(k+2):][:k+2], x[j*(k+2):][:k+2])
		}
	}
}

// FuzzMoves checks that values, and the bits of NaN, are moved to the right elements only.
func FuzzMoves(f *testing.F) {
	differential(f, func(t *testing.T, b *asmtest.Bytes, _, table *asm.Table) {
		rows, cols := b.Below(30), length(b)
		stride, srcStride := cols+b.Below(9), cols+b.Below(3)
		src, dst := vector(b, max(0, (rows-1)*srcStride+cols)), vector(b, max(0, (rows-1)*stride+cols))
		want := slices.Clone(dst.Data)
		for r := range rows {
			copy(want[r*stride:][:cols], src.Data[r*srcStride:])
		}
		table.Stream(rows, cols, dst.Data, stride, src.Data, srcStride)
		table.Fence()
		what := fmt.Sprintf("%v, %d x %d", table.Level, rows, cols)
		moved(t, what+": Stream", dst, want)

		stride = rows + b.Below(9)
		dst = vector(b, max(0, (cols-1)*stride+rows))
		want = slices.Clone(dst.Data)
		for r := range rows {
			for c := range cols {
				want[c*stride+r] = src.Data[r*srcStride+c]
			}
		}
		table.StreamTransposed(dst.Data, stride, src.Data, srcStride, rows, cols)
		table.Fence()
		moved(t, what+": StreamTransposed", dst, want)

		width := rows + b.Below(4)
		dst = vector(b, width*cols)
		want = make([]float64, width*cols)
		for l := range cols {
			for i := range rows {
				want[l*width+i] = src.Data[i*srcStride+l]
			}
		}
		table.Interleave(dst.Data, width, cols, src.Data, srcStride, rows)
		moved(t, fmt.Sprintf("%s: Interleave to width %d", what, width), dst, want)
		src.Check(t, what+": src")
	})
}

func moved(t *testing.T, what string, got *asmtest.Vector, want []float64) {
	t.Helper()
	got.Check(t, what)
	for i, v := range want {
		if math.Float64bits(got.Data[i]) != math.Float64bits(v) {
			t.Fatalf("%s: element %d is %v: want the bits of %v", what, i, got.Data[i], v)
		}
	}
}
