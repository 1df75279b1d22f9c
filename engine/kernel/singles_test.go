package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// singlesOf returns normal points in single precision, far from the origin; every fifth point is
// close to another one, and every seventh is a copy.
func singlesOf(rng *rand.Rand, n, d int, shift float64) *points.Single {
	p := &points.Single{N: n, D: d, Data: make([]float32, n*d)}
	for i := range n {
		for l := range d {
			p.Row(i)[l] = float32(shift + rng.NormFloat64())
			switch {
			case i%5 == 4:
				p.Row(i)[l] = p.Row(i - 4)[l] * (1 + float32(rng.NormFloat64())*1e-3)
			case i%7 == 6:
				p.Row(i)[l] = p.Row(i - 6)[l]
			}
		}
	}
	return p
}

// squared returns the squared distances of the points as sums of squared differences in double
// precision.
func squared(x, y *points.Single) blas.Matrix {
	out := blas.NewMatrix(x.N, y.N)
	for i := range x.N {
		for j := range y.N {
			sum := 0.0
			for l, v := range x.Row(i) {
				d := float64(v) - float64(y.Row(j)[l])
				sum += d * d
			}
			out.Set(i, j, sum)
		}
	}
	return out
}

// The documented error bounds hold relative to a reference in double precision, for all kernels,
// sizes and SIMD levels: for inner products, and for squared distances, whose error bound is
// propagated through the kernel.
func TestSingles(t *testing.T) {
	for _, level := range asm.Supported() {
		t.Run(level.String(), func(t *testing.T) {
			backend, err := backends.Open(backends.Options{SIMD: level.String()})
			if err != nil {
				t.Fatal(err)
			}
			eng := enginetest.With(t, engine.Options{Backend: backend})
			propertytest.Check(t, func(rt *rapid.T) {
				n, m, d := rapid.IntRange(1, 220).Draw(rt, "n"), rapid.IntRange(1, 450).Draw(rt, "m"),
					rapid.IntRange(1, 40).Draw(rt, "d")
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
				shift := rapid.SampledFrom([]float64{0, 3}).Draw(rt, "shift")
				x, y := singlesOf(rng, n, d, shift), singlesOf(rng, m, d, shift)
				symmetric := rapid.Bool().Draw(rt, "gram")
				if symmetric {
					y, m = x, n
				}
				d2 := squared(x, y)
				text := rapid.SampledFrom([]string{"linear", "rbf:sigma=2", "rbf:gamma=0.3",
					"exp:width=3", "cauchy:width=2"}).Draw(rt, "kernel")
				stride := m + rapid.IntRange(0, 17).Draw(rt, "gap")
				dst := blas.Matrix32{Rows: n, Cols: m, Stride: stride, Data: make([]float32, n*stride)}
				if symmetric {
					err = enginetest.Kernel(t, text).GramSingle(t.Context(), eng, dst, x)
				} else {
					err = enginetest.Kernel(t, text).CrossSingle(t.Context(), eng, dst, x, y)
				}
				if err != nil {
					rt.Fatal(err)
				}
				relative := 64 * (math.Sqrt(float64(d)) + 4) * 0x1p-24
				for i := range n {
					for j := range m {
						got, want, bound := float64(dst.At(i, j)), 0.0, 0.0
						v := d2.At(i, j)
						switch text {
						case "linear":
							xx, yy := 0.0, 0.0
							for l, a := range x.Row(i) {
								b := y.Row(j)[l]
								want, xx, yy = want+float64(a)*float64(b), xx+float64(a)*float64(a),
									yy+float64(b)*float64(b)
							}
							bound = float64(d+1) * 0x1p-24 * math.Sqrt(xx*yy)
						case "exp:width=3":
							want = math.Exp(-math.Sqrt(v) / 3)
							bound = want * (math.Sqrt(v)/3*(relative+0x1p-22) + 0x1p-22)
						case "cauchy:width=2":
							want = 4 / (4 + v)
							bound = want * (relative + 0x1p-22)
						default:
							decay := map[string]float64{"rbf:sigma=2": 1.0 / 8, "rbf:gamma=0.3": 0.3}[text]
							want = math.Exp(-decay * v)
							bound = want * (decay*v*(relative+0x1p-22) + 0x1p-22)
						}
						if !(math.Abs(got-want) <= bound+1e-37) {
							rt.Fatalf("%s, element (%d, %d): %v, want %v, %.3g of the bound; squared "+
								"distance %v", text, i, j, got, want, math.Abs(got-want)/bound, v)
						}
						if symmetric && dst.At(j, i) != dst.At(i, j) {
							rt.Fatalf("(%d, %d) is not (%d, %d)", i, j, j, i)
						}
						if v == 0 && text != "linear" && got != 1 {
							rt.Fatalf("equal points %d and %d have the value %v", i, j, got)
						}
					}
				}
			})
		})
	}
}

// A matrix that is written past the caches equals one that is not, and results are bit-identical
// for any number of workers.
func TestSinglesAnyWorkers(t *testing.T) {
	x := singlesOf(rand.New(rand.NewPCG(1, 1)), 1200, 20, 0)
	k := enginetest.Kernel(t, "rbf:sigma=3")
	var first []float32
	for _, workers := range []int{1, 2, 3, 7} {
		eng := enginetest.New(t, workers)
		dst := blas.NewMatrix32(x.N, x.N)
		if err := k.GramSingle(t.Context(), eng, dst, x); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = dst.Data
			small := &points.Single{N: 300, D: x.D, Data: x.Data[:300*x.D]}
			part := blas.NewMatrix32(300, x.N)
			if err := k.CrossSingle(t.Context(), eng, part, small, x); err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				if !slices.Equal(part.Row(i), dst.Row(i)) {
					t.Fatalf("row %d depends on its batch", i)
				}
			}
		} else if !slices.Equal(dst.Data, first) {
			t.Errorf("%d workers: the bits differ", workers)
		}
	}
}

func TestSinglesErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	good := singlesOf(rand.New(rand.NewPCG(1, 1)), 4, 3, 0)
	with := func(v float32) *points.Single {
		p := &points.Single{N: 4, D: 3, Data: slices.Clone(good.Data)}
		p.Data[7] = v
		return p
	}
	for name, c := range map[string]struct {
		kernel string
		x      *points.Single
		want   any
	}{
		"other kernel": {"poly:degree=2", good, new(*fault.ParamError)},
		"two kernels":  {"rbf:sigma=1@cosine", good, new(*fault.ParamError)},
		"narrow":       {"rbf:sigma=1e-25", good, new(*fault.ParamError)},
		"NaN":          {"rbf:sigma=1", with(float32(math.NaN())), new(*fault.DataError)},
		"too large":    {"linear", with(1e25), new(*fault.DataError)},
		"all too small": {"rbf:sigma=1", &points.Single{N: 2, D: 1, Data: []float32{1e-20, -1e-20}},
			new(*fault.DataError)},
	} {
		dst := blas.NewMatrix32(c.x.N, c.x.N)
		if err := enginetest.Kernel(t, c.kernel).GramSingle(t.Context(), eng, dst, c.x); !errors.As(err,
			c.want) {
			t.Errorf("%s: %v, want a %T", name, err, c.want)
		}
	}
	var shape *fault.ShapeError
	if err := kernel.Linear().CrossSingle(t.Context(), eng, blas.NewMatrix32(4, 1), good,
		&points.Single{N: 1, D: 2, Data: make([]float32, 2)}); !errors.As(err, &shape) {
		t.Errorf("other dimension: %v", err)
	}
	limited := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 16})
	var memory *fault.MemoryError
	if err := kernel.Linear().GramSingle(t.Context(), limited, blas.NewMatrix32(4, 4), good); !errors.As(err,
		&memory) {
		t.Errorf("memory limit: %v", err)
	}
}

// BenchmarkGramSingle compares single with double precision, both into reused memory.
func BenchmarkGramSingle(b *testing.B) {
	eng := enginetest.New(b, 0)
	for _, s := range []struct{ n, d int }{{2000, 16}, {4000, 64}, {8000, 100}} {
		x := enginetest.Normal(rand.New(rand.NewPCG(1, 1)), s.n, s.d, 0)
		narrow, err := points.Narrow(x)
		if err != nil {
			b.Fatal(err)
		}
		k := enginetest.Kernel(b, "rbf:sigma=5")
		b.Run(fmt.Sprintf("n=%d/d=%d", s.n, s.d), func(b *testing.B) {
			double, single := eng.NewMatrix(s.n, s.n), blas.NewMatrix32(s.n, s.n)
			enginetest.Ratio(b, "double/single", func() error {
				return k.GramTo(b.Context(), eng, double, x)
			},
				func() error { return k.GramSingle(b.Context(), eng, single, narrow) })
		})
	}
}

// The product equals that of the kernel matrix, up to the rounding of sums in single precision, for
// tiles of every shape.
func TestMultiplySingle(t *testing.T) {
	for _, level := range asm.Supported() {
		backend, err := backends.Open(backends.Options{SIMD: level.String()})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct{ n, m, d, p int }{{1, 1, 1, 1}, {50, 30, 4, 3}, {97, 500, 7, 49},
			{130, 1700, 3, 100}, {0, 5, 2, 2}, {5, 3, 2, 0}} {
			rng := rand.New(rand.NewPCG(4, uint64(s.n)))
			x, y := singlesOf(rng, s.n, s.d, 0), singlesOf(rng, s.m, s.d, 0)
			v := blas.NewMatrix32(s.m, s.p)
			for i := range v.Data {
				v.Data[i] = float32(rng.NormFloat64())
			}
			k := enginetest.Kernel(t, "rbf:sigma=2")
			for _, workers := range []int{1, 3} {
				eng := enginetest.With(t, engine.Options{Backend: backend, Workers: workers})
				dst, values := blas.NewMatrix32(s.n, s.p), blas.NewMatrix32(s.n, s.m)
				if err := k.MultiplySingle(t.Context(), eng, dst, x, y, v); err != nil {
					t.Fatal(err)
				}
				if err := k.CrossSingle(t.Context(), eng, values, x, y); err != nil {
					t.Fatal(err)
				}
				want, size := plainProduct(s.n, s.m, s.p, values.Data, v.Data)
				for at, w := range want {
					if got := float64(dst.Data[at]); !(math.Abs(got-w) <= float64(s.m+8)*0x1p-24*size[at]) {
						t.Fatalf("%v, %d workers, level %v: element (%d, %d) is %v, want %v", s, workers,
							level, at/s.p, at%s.p, got, w)
					}
				}
			}
		}
	}
}

// BenchmarkMultiplySingle has the size of an embedding: 500 landmarks and 500 coordinates.
func BenchmarkMultiplySingle(b *testing.B) {
	eng := enginetest.New(b, 0)
	for _, s := range []struct{ n, d int }{{20000, 100}, {20000, 784}} {
		const m = 500
		rng := rand.New(rand.NewPCG(1, 1))
		x, y, v := enginetest.Normal(rng, s.n, s.d, 0), enginetest.Normal(rng, m, s.d, 0),
			enginetest.Normal(rng, m, m, 0)
		var narrow [3]*points.Single
		for i, p := range []*points.Dense{x, y, v} {
			var err error
			if narrow[i], err = points.Narrow(p); err != nil {
				b.Fatal(err)
			}
		}
		k := enginetest.Kernel(b, "rbf:sigma=10")
		b.Run(fmt.Sprintf("n=%d/m=%d/d=%d", s.n, m, s.d), func(b *testing.B) {
			double, single := eng.NewMatrix(s.n, m), blas.NewMatrix32(s.n, m)
			enginetest.Ratio(b, "double/single", func() error {
				return k.MultiplyTo(b.Context(), eng, double, x, y, blas.MatrixOf(m, m, v.Data))
			}, func() error {
				return k.MultiplySingle(b.Context(), eng, single, narrow[0], narrow[1],
					blas.Matrix32{Rows: m, Cols: m, Stride: m, Data: narrow[2].Data})
			})
		})
	}
}

// TestSinglesLook: one strip of few rows and many columns looks at its context at every tile, and
// ends there.
func TestSinglesLook(t *testing.T) {
	rng, eng, k := rand.New(rand.NewPCG(1, 2)), enginetest.New(t, 1), enginetest.Kernel(t, "rbf:sigma=1")
	x, y := singlesOf(rng, 3, 2, 0), singlesOf(rng, 2000, 2, 0)
	cross := func(at int) (int, error) {
		ctx := enginetest.FailAt(at, enginetest.ErrBroken)
		err := k.CrossSingle(ctx, eng, blas.NewMatrix32(3, 2000), x, y)
		return ctx.Looks(), err
	}
	looks, err := cross(0)
	if err != nil || looks < 5 {
		t.Fatalf("%d looks, error %v", looks, err)
	}
	for at := 1; at <= looks; at++ {
		if got, err := cross(at); !errors.Is(err, enginetest.ErrBroken) || got > at+2 {
			t.Errorf("failing at look %d: %d looks, error %v", at, got, err)
		}
	}
}
