package kernel

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Results are bit-identical for any height of the row blocks.
func TestRowBlocksDoNotMatter(t *testing.T) {
	eng, err := engine.New(engine.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{2, 70} {
		x, y := &points.Dense{N: 200, D: d}, &points.Dense{N: 230, D: d}
		for _, p := range []*points.Dense{x, y} {
			p.Data = make([]float64, p.N*d)
			for i := range p.Data {
				p.Data[i] = rng.NormFloat64()
			}
		}
		for _, text := range []string{"linear", "rbf:sigma=2"} {
			spec, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			k, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			var gram, cross []float64
			for _, rows := range []int{128, 1, 7, 64, 199, 1000} {
				g, c := blas.NewMatrix(200, 200), blas.NewMatrix(200, 230)
				tile := tiling{rows: rows, cols: 96}
				if err := k.gramTo(t.Context(), eng, g, x, tile); err != nil {
					t.Fatal(err)
				}
				if err := k.crossTo(t.Context(), eng, c, x, y, tile); err != nil {
					t.Fatal(err)
				}
				if gram == nil {
					gram, cross = g.Data, c.Data
				}
				if i := firstDifference(gram, g.Data); i >= 0 {
					t.Fatalf("%s d=%d: gram (%d, %d) differs with %d rows a block", text, d, i/200, i%200,
						rows)
				}
				if i := firstDifference(cross, c.Data); i >= 0 {
					t.Fatalf("%s d=%d: cross (%d, %d) differs with %d rows a block", text, d, i/230, i%230,
						rows)
				}
			}
		}
	}
}

func firstDifference(a, b []float64) int {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// counting is a base that counts the distances that are computed again from differences.
type counting struct {
	base
	count *atomic.Int64
}

func (c counting) exact(i, j int) float64 {
	c.count.Add(1)
	return c.base.exact(i, j)
}

// Far from the origin, centering keeps the expansion accurate for all but the nearest pairs:
// without it the result would be correct too, but every distance would be computed twice.
func TestCenteringSavesWork(t *testing.T) {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 1))
	x := &points.Dense{N: 100, D: 4, Data: make([]float64, 400)}
	for i := range x.Data {
		x.Data[i] = 1e6 + rng.NormFloat64()
	}
	k := Kernel{stages: []stage{{kind: rbf, value: 1}}}
	b, err := k.crossBase(t.Context(), eng, x, x)
	if err != nil {
		t.Fatal(err)
	}
	defer b.release()
	var count atomic.Int64
	ev, err := k.evaluate(eng, counting{b, &count})
	if err != nil {
		t.Fatal(err)
	}
	if err := ev.into(blas.NewMatrix(100, 100)).whole(t.Context(), denseTiling); err != nil {
		t.Fatal(err)
	}
	// 100 of the 10000 pairs are a point with itself.
	if c := count.Load(); c < 100 || c > 200 {
		t.Errorf("%d of 10000 distances were computed from differences, want 100 to 200", c)
	}
}

func TestPower(t *testing.T) {
	for n := 1; n <= maxDegree; n++ {
		want := 1.0
		for range n {
			want *= 1.0625 // 17/16: rounding starts after 12 factors
		}
		if got := power(1.0625, n); math.Abs(got-want) > 1e-14*want {
			t.Errorf("1.0625^%d = %v, want %v", n, got, want)
		}
	}
	if power(-2, 3) != -8 || power(0, 5) != 0 || power(-3, 2) != 9 {
		t.Error("a sign or a power of zero is wrong")
	}
}
