package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// eachSingle runs a test with the kernels of every level that this processor has.
func eachSingle(t *testing.T, test func(t *testing.T, s Single)) {
	t.Helper()
	for _, level := range Supported() {
		table, err := Select(level)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(level.String(), func(t *testing.T) { test(t, table.Single) })
	}
}

func drawn32(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// Each element of a tile is within the bound of a sum of k rounded products, what lies between its
// rows is not touched, and k = 0 gives zeros.
func TestSingleTile(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		if s.NR%s.Lanes != 0 {
			t.Fatalf("%d columns, %d lanes", s.NR, s.Lanes)
		}
		propertytest.Check(t, func(rt *rapid.T) {
			k := rapid.IntRange(0, 70).Draw(rt, "k")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			a, b := drawn32(rng, k*s.MR), drawn32(rng, k*s.NR)
			stride := s.NR + rapid.IntRange(0, 5).Draw(rt, "gap")
			c := make([]float32, s.MR*stride)
			for i := range c {
				c[i] = float32(math.NaN())
			}
			s.Tile(k, a, b, c, stride)
			for i := range s.MR {
				for j := range stride {
					got := float64(c[i*stride+j])
					if j >= s.NR {
						if !math.IsNaN(got) {
							rt.Fatalf("column %d is beyond the tile, and was written", j)
						}
						continue
					}
					want, size := 0.0, 0.0
					for l := range k {
						p := float64(a[l*s.MR+i]) * float64(b[l*s.NR+j])
						want, size = want+p, size+math.Abs(p)
					}
					if !(math.Abs(got-want) <= float64(k+1)*0x1p-24*size) {
						rt.Fatalf("element (%d, %d) is %v, want %v", i, j, got, want)
					}
				}
			}
		})
	})
}

// Squared distances are those of the formula, bit for bit, and near says whether one is below the
// fraction.
func TestSingleDistances(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		rng := rand.New(rand.NewPCG(3, 4))
		for trial := range 200 {
			n := s.Lanes * (trial % 9)
			dot, yy, dst := drawn32(rng, n), drawn32(rng, n), make([]float32, n)
			for j := range yy {
				yy[j] = yy[j] * yy[j]
			}
			xx, fraction, near := float32(rng.Float64()*3), float32(0.01), false
			for j := range n {
				if trial%2 == 0 {
					dot[j] = (xx + yy[j]) / 4 // nothing cancels
				}
			}
			if n > 0 && trial%4 == 0 {
				dot[n-1] = (xx + yy[n-1]) / 2
			}
			got := s.SquaredDistances(dst, dot, xx, yy, fraction)
			for j := range n {
				sum := xx + yy[j]
				want := max(0, sum-2*dot[j])
				near = near || want < fraction*sum
				if dst[j] != want {
					t.Fatalf("n = %d, element %d: %v, want %v", n, j, dst[j], want)
				}
			}
			if got != near {
				t.Fatalf("trial %d: near is %v, want %v", trial, got, near)
			}
		}
		dst := make([]float32, s.Lanes)
		dot := slices.Repeat([]float32{float32(math.NaN())}, s.Lanes)
		s.SquaredDistances(dst, dot, 1, make([]float32, s.Lanes), 0)
		if dst[0] == dst[0] {
			t.Error("a NaN is lost")
		}
	})
}

// The exponential function is within two units in the last place where it is a normal number, and
// right at the ends.
func TestSingleExp(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		const n = 1 << 16
		x, dst := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = -87.3 + 175.6*float32(i)/n
		}
		worst := 0.0
		for _, scale := range []float32{1, -0.5} {
			s.Exp(dst, x, scale)
			for i, v := range x {
				want := math.Exp(float64(scale * v))
				worst = max(worst, math.Abs(float64(dst[i])-want)/want)
			}
		}
		if !(worst <= 2*0x1p-23) {
			t.Errorf("largest relative error %.3g", worst)
		}
		inf := float32(math.Inf(1))
		ends := map[float32]float32{0: 1, -inf: 0, inf: inf, -88: 0, -1e30: 0, 89: inf, 1e30: inf, -100: 0}
		for v, want := range ends {
			x := slices.Repeat([]float32{v}, s.Lanes)
			s.Exp(x, x, 1)
			if x[s.Lanes-1] != want || math.Signbit(float64(x[0])) {
				t.Errorf("exp(%v) = %v, want %v", v, x[0], want)
			}
		}
		nan := slices.Repeat([]float32{float32(math.NaN())}, s.Lanes)
		s.Exp(nan, nan, 1)
		if nan[0] == nan[0] {
			t.Error("a NaN is lost")
		}
	})
}

func TestSingleSqrt(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		x := drawn32(rand.New(rand.NewPCG(5, 6)), 64*s.Lanes)
		for i := range x {
			x[i] *= x[i]
		}
		dst := make([]float32, len(x))
		s.Sqrt(dst, x)
		for i, v := range x {
			if want := float32(math.Sqrt(float64(v))); dst[i] != want {
				t.Fatalf("sqrt(%v) = %v, want %v", v, dst[i], want)
			}
		}
	})
}

// TestSingleStreams checks that copies are right for every size and alignment, and write only their
// target.
func TestSingleStreams(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		propertytest.Check(t, func(rt *rapid.T) {
			rows, cols := rapid.IntRange(0, 50).Draw(rt, "rows"), rapid.IntRange(0, 40).Draw(rt, "cols")
			stride, srcStride := rapid.SampledFrom([]int{rows, rows + 3, 64}).Draw(rt, "stride"),
				cols+rapid.IntRange(0, 3).Draw(rt, "gap")
			src := drawn32(rand.New(rand.NewPCG(7, 8)), rows*srcStride+1)
			memory := make([]float32, cols*stride+64)
			at := 0
			for !AtLine32(memory[at:]) {
				at++
			}
			at += rapid.IntRange(0, 2).Draw(rt, "offset")
			s.StreamTransposed(memory[at:], stride, src, srcStride, rows, cols)
			for i, v := range memory {
				c, r := 0, -1
				if stride > 0 && i >= at {
					c, r = (i-at)/stride, (i-at)%stride
				}
				want := float32(0)
				if r >= 0 && r < rows && c < cols {
					want = src[r*srcStride+c]
				}
				if v != want {
					rt.Fatalf("%d x %d, element (%d, %d): %v, want %v", rows, cols, r, c, v, want)
				}
			}
			whole := make([]float32, rows*(cols+2))
			s.Stream(rows, cols, whole, cols+2, src, srcStride)
			for r := range rows {
				if !slices.Equal(whole[r*(cols+2):][:cols], src[r*srcStride:][:cols]) ||
					whole[r*(cols+2)+cols] != 0 {
					rt.Fatalf("row %d is not copied", r)
				}
			}
		})
	})
}

// TestShortTarget: a copy to a target that is too short panics before it writes behind it.
func TestShortTarget(t *testing.T) {
	eachSingle(t, func(t *testing.T, s Single) {
		const rows, cols = 32, 16
		memory, at := make([]float32, rows*cols+64), 0
		for !AtLine32(memory[at:]) {
			at++
		}
		end := at + rows*cols - 1
		defer func() {
			if recover() == nil || memory[end] != 0 {
				t.Errorf("a target of %d values: the next is %v: want a panic and 0", end-at, memory[end])
			}
		}()
		s.StreamTransposed(memory[at:end:end], rows, slices.Repeat([]float32{7}, rows*cols), cols, rows, cols)
	})
}
