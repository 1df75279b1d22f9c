package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
)

// TestTileTo checks that TileTo is alpha times Tile plus beta C, writes its tile only, and does not
// read C if beta is 0.
func TestTileTo(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		mr, nr := table.MR, table.NR
		rng := rand.New(rand.NewPCG(7, 8))
		for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 31, table.KC, table.KC + 3, 5000} {
			for _, stride := range []int{nr, nr + 5} {
				a := asmtest.NewVector(k*mr, 1, rng.NormFloat64)
				b := asmtest.NewVector(k*nr, 2, rng.NormFloat64)
				product := make([]float64, mr*nr)
				if k <= table.KC+3 {
					table.Tile(k, a.Data, b.Data, product)
				} else {
					reference(table, k, a.Data, b.Data, product)
				}
				for _, f := range [][2]float64{{1, 0}, {1, 1}, {-2, 1}, {0.3, -0.7},
					{1, math.Copysign(0, -1)}} {
					alpha, beta := f[0], f[1]
					c := asmtest.NewVector((mr-1)*stride+nr, 3, rng.NormFloat64)
					if beta == 0 {
						for i := range mr {
							for j := range nr {
								c.Data[i*stride+j] = math.NaN()
							}
						}
					}
					before := slices.Clone(c.Data)
					table.TileTo(k, alpha, beta, a.Data, b.Data, c.Data, stride)
					what := fmt.Sprintf("k=%d stride=%d alpha=%v beta=%v", k, stride, alpha, beta)
					a.Check(t, what)
					b.Check(t, what)
					c.Check(t, what)
					for i, v := range c.Data {
						row, col := i/stride, i%stride
						if col >= nr {
							if v != before[i] {
								t.Fatalf("%s: element %d between the rows was written", what, i)
							}
							continue
						}
						want := alpha * product[row*nr+col]
						size := math.Abs(want) + float64(k)
						if beta != 0 {
							want += beta * before[i]
							size += math.Abs(beta * before[i])
						}
						bound := 2 * eps * size
						if k > table.KC+3 {
							bound *= float64(k)
						}
						within(t, fmt.Sprintf("%s: c[%d,%d]", what, row, col), v, want, bound)
						if alpha == 1 && beta == 0 && k <= table.KC+3 && v != product[row*nr+col] {
							t.Fatalf("%s: c[%d,%d] is %v, Tile gives %v: want the same bits", what, row, col,
								v, product[row*nr+col])
						}
					}
				}
			}
		}
	})
}

// reference is the loop that Tile's documentation states.
func reference(table *asm.Table, k int, a, b, c []float64) {
	for i := range table.MR {
		for j := range table.NR {
			for l := range k {
				c[i*table.NR+j] += a[l*table.MR+i] * b[l*table.NR+j]
			}
		}
	}
}

// TestInterleave checks that Interleave moves values, and the bits of NaN, for every number of rows
// and any depth.
func TestInterleave(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(9, 10))
		odd := math.Float64frombits(0x7ff8_0000_dead_beef)
		for _, width := range []int{1, table.MR, table.NR, 7} {
			for rows := range width + 1 {
				for _, k := range []int{0, 1, 3, 8, 13, 64, 65} {
					stride := k + 3
					src := asmtest.NewVector(max(0, (rows-1)*stride+k), 1, rng.NormFloat64)
					if len(src.Data) > 0 {
						src.Data[len(src.Data)-1] = odd
					}
					dst := asmtest.NewVector(width*k, 2, math.NaN)
					table.Interleave(dst.Data, width, k, src.Data, stride, rows)
					what := fmt.Sprintf("width=%d rows=%d k=%d", width, rows, k)
					src.Check(t, what)
					dst.Check(t, what)
					for l := range k {
						for i := range width {
							want := 0.0
							if i < rows {
								want = src.Data[i*stride+l]
							}
							if got := dst.Data[l*width+i]; math.Float64bits(got) != math.Float64bits(want) {
								t.Fatalf("%s: lane %d at depth %d is %v: want %v", what, i, l, got, want)
							}
						}
					}
				}
			}
		}
	})
}

// TestSyr checks that Syr writes the lower triangle only, and that each row is an Axpy.
func TestSyr(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(11, 12))
		for n := range 40 {
			stride := n + n%3
			x := asmtest.NewVector(n, 1, rng.NormFloat64)
			a := asmtest.NewVector(max(0, (n-1)*stride+n), 2, rng.NormFloat64)
			want := slices.Clone(a.Data)
			for i, v := range x.Data {
				table.Axpy(-0.3*v, x.Data[:i+1], want[i*stride:])
			}
			table.Syr(-0.3, x.Data, a.Data, stride)
			x.Check(t, "x")
			a.Check(t, "a")
			if !slices.Equal(a.Data, want) {
				t.Fatalf("n=%d: not the rows of Axpy", n)
			}
		}
	})
}

// TestMaps checks that Sqrt, Power and SquaredDistances are bit-identical to the generic kernels,
// in place, too.
func TestMaps(t *testing.T) {
	generic, err := asm.Select(asm.Generic)
	if err != nil {
		t.Fatal(err)
	}
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e300,
		-3}
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(13, 14))
		draw := func() float64 {
			if rng.IntN(4) == 0 {
				return special[rng.IntN(len(special))]
			}
			return 3 * rng.NormFloat64()
		}
		maps := map[string]func(table *asm.Table, dst, x, y []float64){
			"Sqrt": func(table *asm.Table, dst, x, _ []float64) { table.Sqrt(dst, x) },
			"SquaredDistances": func(table *asm.Table, dst, x, y []float64) {
				table.SquaredDistances(dst, x, 1.5, y, 0.1)
			},
		}
		for _, degree := range []int{1, 2, 3, 4, 5, 6, 7, 100} {
			maps[fmt.Sprintf("Power %d", degree)] = func(table *asm.Table, dst, x, _ []float64) {
				table.Power(dst, x, degree)
			}
		}
		for name, f := range maps {
			for _, n := range append(lengths(), 513, 9000) {
				x, y, dst := asmtest.NewVector(n, n%3, draw), asmtest.NewVector(n, n%5, draw),
					asmtest.NewVector(n, n%4, math.NaN)
				want := make([]float64, n)
				f(generic, want, x.Data, y.Data)
				f(table, dst.Data, x.Data, y.Data)
				for what, v := range map[string]*asmtest.Vector{"x": x, "y": y, "dst": dst} {
					v.Check(t, name+": "+what)
				}
				same(t, fmt.Sprintf("%s n=%d", name, n), dst.Data, want)
				f(table, x.Data, x.Data, y.Data)
				same(t, fmt.Sprintf("%s n=%d in place", name, n), x.Data, want)
			}
		}
	})
}

// same demands equal bits, but any NaN for NaN.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if math.Float64bits(got[i]) != math.Float64bits(v) && !(math.IsNaN(got[i]) && math.IsNaN(v)) {
			t.Fatalf("%s: element %d is %v: want %v", what, i, got[i], v)
		}
	}
}

// TestSquaredDistancesValues checks squared distances of known points.
func TestSquaredDistancesValues(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for n := 1; n < 20; n++ {
			dot, yy := slices.Repeat([]float64{6}, n), slices.Repeat([]float64{9}, n)
			dst := make([]float64, n)
			table.SquaredDistances(dst, dot, 4, yy, 0)
			for _, v := range dst {
				if v != 1 {
					t.Fatalf("|2-3|^2 = %v: want 1", v)
				}
			}
			dot[n-1], yy[0] = 7, math.NaN() // 4 + 9 - 14 < 0
			table.SquaredDistances(dst, dot, 4, yy, 0)
			if n > 1 && (dst[n-1] != 0 || math.Signbit(dst[n-1])) || !math.IsNaN(dst[0]) {
				t.Fatalf("n=%d: %v: want NaN first and 0 last", n, dst)
			}
		}
	})
}

// TestExpRange checks Exp over the whole range: results below the smallest normal number are within
// two units of the smallest number, the others within one unit in the last place; also where
// reduction changes its multiple of ln 2, and at the ends.
func TestExpRange(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(15, 16))
		var x []float64
		for range 1500 {
			x = append(x, -746+rng.Float64()*(710+746))
			edge := (float64(rng.IntN(2100)-1075) + 0.5) * math.Ln2
			x = append(x, math.Nextafter(edge, 0), edge, math.Nextafter(edge, 1e9))
			x = append(x, -708.4-rng.Float64()*37) // denormal results
			x = append(x, 709+rng.Float64()*0.782) // the last octave
			x = append(x, math.Ldexp(rng.NormFloat64(), -rng.IntN(70)))
		}
		x = append(x, 709.782712893384, -745.1332191019411, -708.3964185322641, 709.7827128933841)
		dst := make([]float64, len(x))
		table.Exp(dst, x)
		for i, v := range x {
			want := exp(v)
			if want > 1.797e308 { // the Go library already gives +Inf for the last of these
				if dst[i] < 1.797e308 {
					t.Fatalf("exp(%v) = %v: want %v", v, dst[i], want)
				}
				continue
			}
			unit := math.Nextafter(want, math.Inf(1)) - want
			bound := unit
			if want < 0x1p-1022 {
				bound = 2 * 5e-324
			}
			within(t, fmt.Sprintf("exp(%v)", v), dst[i], want, bound)
		}
	})
}

// TestPeak checks that Peak counts the operations of its rounds.
func TestPeak(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		one := table.Peak(1)
		if !(one > 0) || table.Peak(10000) != 10000*one || table.Peak(0) != 0 {
			t.Errorf("%v operations in a round, %v in 10000: want proportional ones", one, table.Peak(10000))
		}
	})
}

// TestLong checks that long slices, which are processed in parts, have the elementwise results of
// short ones.
func TestLong(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		const n = 40_003
		rng := rand.New(rand.NewPCG(17, 18))
		x, y, dst := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		table.Exp(dst, x)
		sum := slices.Clone(y)
		table.Axpy(0.7, x, sum)
		for i := 0; i < n; i += 997 {
			one, term := make([]float64, 1), []float64{y[i]}
			table.Exp(one, x[i:i+1])
			table.Axpy(0.7, x[i:i+1], term)
			if one[0] != dst[i] || term[0] != sum[i] {
				t.Fatalf("element %d alone is %v and %v, in the slice %v and %v", i, one[0], term[0], dst[i],
					sum[i])
			}
		}
		var want, size float64
		for i := range x {
			want += x[i] * y[i]
			size += math.Abs(x[i] * y[i])
		}
		within(t, "dot", table.Dot(x, y), want, 2*eps*size*200)
	})
}

func BenchmarkTile(b *testing.B) {
	for _, level := range asm.Supported() {
		t, err := asm.Select(level)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(level.String(), func(b *testing.B) {
			x, y, c := make([]float64, t.KC*t.MR), make([]float64, t.KC*t.NR), make([]float64, t.MR*t.NR)
			for b.Loop() {
				t.Tile(t.KC, x, y, c)
			}
			flops := 2 * float64(t.MR*t.NR*t.KC)
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
		})
		b.Run("peak/"+level.String(), func(b *testing.B) {
			flops := 0.0
			for b.Loop() {
				flops += t.Peak(1000)
			}
			b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GF/s")
		})
	}
}

func BenchmarkExp(b *testing.B) {
	x := make([]float64, 4096)
	for i := range x {
		x[i] = -20 * float64(i) / 4096
	}
	dst := make([]float64, len(x))
	for _, level := range asm.Supported() {
		t, err := asm.Select(level)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(level.String(), func(b *testing.B) {
			for b.Loop() {
				t.Exp(dst, x)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/element")
		})
	}
}

func BenchmarkInterleave(b *testing.B) {
	src := make([]float64, 24*1024)
	for _, level := range asm.Supported() {
		t, err := asm.Select(level)
		if err != nil {
			b.Fatal(err)
		}
		dst := make([]float64, t.NR*256)
		b.Run(level.String(), func(b *testing.B) {
			b.SetBytes(int64(16 * len(dst)))
			for b.Loop() {
				t.Interleave(dst, t.NR, 256, src, 1024, t.NR)
			}
		})
	}
}

// TestSquaredDistancesNear checks that SquaredDistances reports a near distance exactly if there is
// one, at any element, and not at the bound itself.
func TestSquaredDistancesNear(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for _, n := range []int{1, 2, 7, 8, 31, 64, 65, 9000} {
			dot, yy, dst := make([]float64, n), slices.Repeat([]float64{3}, n), make([]float64, n)
			if table.SquaredDistances(dst, dot, 1, yy, 1) { // 4 < 1 * 4
				t.Fatalf("n=%d: near at the bound: want below it only", n)
			}
			for at := 0; at < n; at += 1 + n/50 {
				dot[at] = 0x1p-51
				if !table.SquaredDistances(dst, dot, 1, yy, 1) {
					t.Fatalf("n=%d: element %d is near: want true", n, at)
				}
				dot[at] = 0
			}
		}
	})
}

// TestFirstBelow checks that FirstBelow finds the first element by either bound, at any element,
// including equality, and skips NaN.
func TestFirstBelow(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for _, n := range append(lengths(), 8192, 9001) {
			x := asmtest.NewVector(n, n%5, func() float64 { return 2 })
			limits := asmtest.NewVector(n, n%3, func() float64 { return 1 })
			find := func() int { return table.FirstBelow(x.Data, limits.Data, 0.5) }
			if got := find(); got != n {
				t.Fatalf("n=%d: found element %d: want none", n, got)
			}
			for at := 0; at < n; at += 1 + n/40 {
				for _, v := range []float64{1, 0.5, -3, math.Inf(-1)} {
					x.Data[at] = v
					if at+1 < n {
						x.Data[n-1] = 0 // a later one
					}
					if at > 0 {
						x.Data[at-1] = math.NaN()
					}
					if got := find(); got != at {
						t.Fatalf("n=%d: found element %d: want %d", n, got, at)
					}
					limits.Data[at] = math.Inf(-1)
					if got := find(); (got == at) != (v <= 0.5) {
						t.Fatalf("n=%d: found element %d, value %v at %d: want it by the common bound only",
							n, got, v, at)
					}
					limits.Data[at] = 1
				}
				x.Data[at], x.Data[n-1] = 2, 2
				if at > 0 {
					x.Data[at-1] = 2
				}
			}
			x.Check(t, "x")
			limits.Check(t, "limits")
		}
	})
}

// TestStream checks that Stream copies, and that StreamTransposed writes the transpose, at any
// alignment of either side, and writes only there.
func TestStream(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(19, 20))
		for _, n := range append(lengths(), 8300) {
			for offset := range 9 {
				for _, rows := range []int{1, 3} {
					stride, srcStride := n+offset%2*(8-n%8), n+offset%3
					src := asmtest.NewVector((rows-1)*srcStride+n, (3*offset)%8, rng.NormFloat64)
					dst := asmtest.NewVector((rows-1)*stride+n, offset, rng.NormFloat64)
					want := slices.Clone(dst.Data)
					for r := range rows {
						copy(want[r*stride:][:n], src.Data[r*srcStride:])
					}
					table.Stream(rows, n, dst.Data, stride, src.Data, srcStride)
					table.Fence()
					src.Check(t, "src")
					dst.Check(t, "dst")
					if !slices.Equal(dst.Data, want) {
						t.Fatalf("%d rows of %d, offset %d: the copy differs", rows, n, offset)
					}
				}
			}
		}
		for _, rows := range []int{0, 1, 7, 8, 9, 16, 24} {
			for _, cols := range []int{0, 1, 3, 4, 8, 12, 40, 43} {
				for _, extra := range []int{0, 3, 8} {
					for offset := range 9 {
						stride, srcStride := (rows+7)/8*8+extra, cols+offset%3
						src := asmtest.NewVector(max(0, (rows-1)*srcStride+cols), offset%5, rng.NormFloat64)
						// A vector begins with guards: its data can begin anywhere in a cache line.
						dst := asmtest.NewVector(max(0, (cols-1)*stride+rows), offset, rng.NormFloat64)
						want := slices.Clone(dst.Data)
						table.StreamTransposed(dst.Data, stride, src.Data, srcStride, rows, cols)
						table.Fence()
						for r := range rows {
							for c := range cols {
								want[c*stride+r] = src.Data[r*srcStride+c]
							}
						}
						dst.Check(t, "dst")
						if !slices.Equal(dst.Data, want) {
							t.Fatalf("%d x %d, stride %d, offset %d: not the transpose, or something "+
								"outside it was written", rows, cols, stride, offset)
						}
					}
				}
			}
		}
	})
}

// TestGaussian checks that Gaussian is bit-identical to its three steps, row by row.
func TestGaussian(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(27, 28))
		for _, n := range append(lengths(), 4096, 9001) {
			for i, fraction := range []float64{0, 0.5, 1e-3} {
				rows, dotStride, stride := 2*i, n+i, n+n%3
				size := func(stride int) int { return max(0, (rows-1)*stride+n) }
				dot := asmtest.NewVector(size(dotStride), n%5, rng.NormFloat64)
				xx := asmtest.NewVector(rows, 1, func() float64 { return 3 * rng.Float64() })
				yy := asmtest.NewVector(n, n%3, func() float64 { return 30 * rng.Float64() })
				dst := asmtest.NewVector(size(stride), n%4, rng.NormFloat64)
				want, wantNear := slices.Clone(dst.Data), false
				for r := range rows {
					row := want[r*stride:][:n]
					wantNear = table.SquaredDistances(row, dot.Data[r*dotStride:][:n], xx.Data[r], yy.Data,
						fraction) || wantNear
					table.Scale(-0.7, row)
					table.Exp(row, row)
				}
				near := table.Gaussian(rows, n, dst.Data, stride, dot.Data, dotStride, xx.Data, yy.Data, -0.7,
					fraction)
				for what, v := range map[string]*asmtest.Vector{"dot": dot, "xx": xx, "yy": yy, "dst": dst} {
					v.Check(t, what)
				}
				same(t, fmt.Sprintf("%d rows of %d", rows, n), dst.Data, want)
				if near != wantNear {
					t.Fatalf("n=%d fraction=%v: near is %t: want %t", n, fraction, near, wantNear)
				}
			}
		}
	})
}

// TestSweep checks that Sweep is four inner products and four Axpys, up to rounding.
func TestSweep(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(29, 30))
		for _, n := range append(lengths(), 2048, 5000) {
			stride := n + n%3
			a := asmtest.NewVector(3*stride+n, n%5, rng.NormFloat64)
			x, y := asmtest.NewVector(n, n%3, rng.NormFloat64), asmtest.NewVector(n, n%7, rng.NormFloat64)
			before := slices.Clone(y.Data)
			alpha, dots := [4]float64{0.5, -2, 0, 3}, [4]float64{math.NaN(), 1, 2, 3}
			table.Sweep(n, a.Data, stride, x.Data, y.Data, &alpha, &dots)
			for what, v := range map[string]*asmtest.Vector{"a": a, "x": x, "y": y} {
				v.Check(t, what)
			}
			for r := range 4 {
				want, size := 0.0, 0.0
				for j, v := range a.Data[r*stride:][:n] {
					want += v * x.Data[j]
					size += math.Abs(v * x.Data[j])
				}
				within(t, fmt.Sprintf("n=%d: product with row %d", n, r), dots[r], want, eps*float64(n)*size)
			}
			for j, v := range y.Data {
				want, size := before[j], math.Abs(before[j])
				for r := range 4 {
					want += alpha[r] * a.Data[r*stride+j]
					size += math.Abs(alpha[r] * a.Data[r*stride+j])
				}
				within(t, fmt.Sprintf("n=%d: element %d of y", n, j), v, want, 4*eps*size)
			}
		}
	})
}

// TestSparseRows checks that SparseRows is the product with the dense matrix of the sparse rows, up
// to rounding, and that the bits of a column do not depend on the number of other columns.
func TestSparseRows(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(31, 32))
		const rows, height = 40, 60
		start, index := []int{0}, []int32(nil)
		for r := range rows {
			for k := range []int{0, 1, 5, 16, 37, 2500}[r%6] {
				index = append(index, int32((k*7+r)%height))
			}
			start = append(start, len(index))
		}
		for _, cols := range []int{0, 1, 3, 4, 7, 8, 11, 16, 24, 32, 33, 45} {
			stride, dstStride := cols+cols%3+1, cols+cols%2+2
			weight := asmtest.NewVector(len(index), 1, rng.NormFloat64)
			x := asmtest.NewVector(height*stride, 3, rng.NormFloat64)
			dst := asmtest.NewVector(rows*dstStride, 5, func() float64 { return math.NaN() })
			table.SparseRows(start, index, weight.Data, x.Data, stride, cols, dst.Data, dstStride)
			dst.Check(t, "dst")
			for r := range rows {
				for c := range dstStride {
					got := dst.Data[r*dstStride+c]
					if c >= cols {
						if !math.IsNaN(got) {
							t.Fatalf("cols=%d: wrote behind row %d", cols, r)
						}
						continue
					}
					want, size := 0.0, 0.0
					for k := start[r]; k < start[r+1]; k++ {
						v := weight.Data[k] * x.Data[int(index[k])*stride+c]
						want += v
						size += math.Abs(v)
					}
					within(t, fmt.Sprintf("cols=%d: element (%d, %d)", cols, r, c), got, want,
						eps*float64(start[r+1]-start[r])*size)
				}
				one := make([]float64, rows)
				again := slices.Clone(dst.Data)
				for i := range again {
					again[i] = float64(i % 5)
				}
				table.SparseRecur(start, index, weight.Data, x.Data, stride, cols, 0.5, -3, x.Data[stride:],
					2, again, dstStride)
				for c := range cols {
					want := 0.5*dst.Data[r*dstStride+c] - 3*x.Data[(r+1)*stride+c] +
						2*float64((r*dstStride+c)%5)
					size := math.Abs(dst.Data[r*dstStride+c]) + 3*math.Abs(x.Data[(r+1)*stride+c]) + 8
					within(t, fmt.Sprintf("cols=%d: recurrence (%d, %d)", cols, r, c), again[r*dstStride+c],
						want, 4*eps*size)
					table.SparseRows(start, index, weight.Data, x.Data[c:], stride, 1, one, 1)
					if math.Float64bits(one[r]) != math.Float64bits(dst.Data[r*dstStride+c]) {
						t.Fatalf("cols=%d: element (%d, %d) alone is %v, not %v", cols, r, c, one[r],
							dst.Data[r*dstStride+c])
					}
				}
			}
		}
	})
}

// TestNarrow checks that Narrow rounds like Go's conversion.
func TestNarrow(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(21, 22))
		for _, n := range append(lengths(), 9000) {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(400)-200)
			}
			dst := make([]float32, n+1)
			dst[n] = 7
			table.Narrow(dst[:n], x)
			for i, v := range x {
				if dst[i] != float32(v) {
					t.Fatalf("n=%d: float32(%v) is %v: want %v", n, v, dst[i], float32(v))
				}
			}
			if dst[n] != 7 {
				t.Fatalf("n=%d: wrote behind the end", n)
			}
		}
	})
}

// TestCholeskyOnes checks that CholeskyOnes solves the system of every lane, for any contents of
// the other lanes, without writing above the diagonals: |G w - 1| is small relative to |G| |w|.
func TestCholeskyOnes(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(23, 24))
		lanes := table.Lanes
		for _, k := range []int{1, 2, 3, 5, 10, 31, 64, 65, 70} {
			g := asmtest.NewVector(k*k*lanes, 1, func() float64 { return 99 })
			w := asmtest.NewVector(k*lanes, 2, math.NaN)
			for l := range lanes {
				f := make([]float64, k*(k+2)) // G = F F'
				for i := range f {
					f[i] = rng.NormFloat64()
				}
				for i := range k {
					for j := range i + 1 {
						g.Data[(i*k+j)*lanes+l] = table.Dot(f[i*(k+2):][:k+2], f[j*(k+2):][:k+2])
					}
				}
			}
			bad := lanes - 1
			if k > 1 {
				g.Data[(k*k-1)*lanes+bad] = -1
			}
			from := slices.Clone(g.Data)
			table.CholeskyOnes(k, g.Data, w.Data)
			g.Check(t, "g")
			w.Check(t, "w")
			for l := range lanes {
				for i := range k {
					sum, size := 0.0, 1.0
					for j := range k {
						v := from[(max(i, j)*k+min(i, j))*lanes+l] * w.Data[j*lanes+l]
						sum += v
						size += math.Abs(v)
					}
					if k > 1 && l == bad {
						if sum-sum == 0 {
							t.Fatalf("k=%d: the indefinite matrix gave %v: want no number", k, sum)
						}
						continue
					}
					within(t, fmt.Sprintf("k=%d, lane %d: (G w)[%d]", k, l, i), sum, 1,
						40*float64(k)*eps*size)
					for j := i + 1; j < k; j++ {
						if g.Data[(i*k+j)*lanes+l] != 99 {
							t.Fatalf("k=%d: element (%d,%d) above the diagonal was written", k, i, j)
						}
					}
				}
			}
		}
	})
}

// TestShortSlices: a slice that is too short is found before the kernels, which check no bounds,
// read or write behind it.
func TestShortSlices(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		const n = 64
		x, dst := slices.Repeat([]float64{1}, n), make([]float64, n)
		for what, f := range map[string]func(short []float64){
			"Dot":                   func(short []float64) { table.Dot(x, short) },
			"SquaredDistance":       func(short []float64) { table.SquaredDistance(x, short) },
			"Axpy":                  func(short []float64) { table.Axpy(2, x, short) },
			"Exp":                   func(short []float64) { table.Exp(short, x) },
			"Sqrt":                  func(short []float64) { table.Sqrt(short, x) },
			"Power":                 func(short []float64) { table.Power(short, x, 3) },
			"SquaredDistances, yy":  func(short []float64) { table.SquaredDistances(dst, x, 1, short, 0) },
			"SquaredDistances, dst": func(short []float64) { table.SquaredDistances(short, x, 1, x, 0) },
			"FirstBelow":            func(short []float64) { table.FirstBelow(x, short, 0) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s went through a slice that is too short", what)
					}
				}()
				f(make([]float64, n-1)[: n-1 : n-1])
			}()
		}
	})
}
