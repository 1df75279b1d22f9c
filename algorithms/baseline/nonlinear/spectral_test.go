package nonlinear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func of(kind SpectralKind) SpectralLearner {
	l := SpectralLearner{Params: param.Default[Spectral]()}
	l.Params.Kind = kind
	return l
}

// TestSpectralFunctionsOfTheLaplacian checks with all eigenvectors that the diffusion kernel is
// exp(-t L), by its power series, and that the regularized Laplacian is the inverse of I + t L.
func TestSpectralFunctionsOfTheLaplacian(t *testing.T) {
	x, _, set := enginetest.Rings(t, 30, 2, 1)
	l := of(SpectralDiffusion)
	l.Params.Rank, l.Params.Neighbors, l.Params.Time = 29, 4, 0.3
	ctx, eng := context.Background(), enginetest.New(t, 0)
	m := fittest.Fit[*SpectralModel](t, l, x, set)
	a, _, err := l.Params.Make(ctx, eng, m.Kernel(), x, l.Similarities)
	if err != nil {
		t.Fatal(err)
	}
	degrees, err := a.Degrees(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	laplacian := blas.NewMatrix(30, 30)
	for i := range 30 {
		a.Each(i, func(j int, w float64) { laplacian.Set(i, j, -w) })
		laplacian.Set(i, i, degrees[i])
	}
	top := 0.0 // of the eigenvector that is left out
	gram := func(m *SpectralModel) blas.Matrix {
		g, err := m.Gram(ctx, eng, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	series, term := blas.NewMatrix(30, 30), blas.NewMatrix(30, 30)
	for i := range 30 {
		series.Set(i, i, 1)
		term.Set(i, i, 1)
		top = max(top, degrees[i])
	}
	for k := 1; k < 80; k++ {
		next := blas.NewMatrix(30, 30)
		eng.Backend().Gemm(false, false, -0.3/float64(k), laplacian, term, 0, next)
		term = next
		for i, v := range term.Data {
			series.Data[i] += v
		}
	}
	got := gram(m)
	for i, v := range got.Data {
		// the largest eigenvalue is above the largest degree
		if math.Abs(v-series.Data[i]) > math.Exp(-0.3*top)+1e-8 {
			t.Fatalf("element %d of the diffusion kernel is %g, want %g", i, v, series.Data[i])
		}
	}
	l.Params.Kind = SpectralRegularized
	got = gram(fittest.Fit[*SpectralModel](t, l, x, set))
	product := got.Clone()
	// (I + t L) K = I, except for one direction
	eng.Backend().Gemm(false, false, 0.3, laplacian, got, 1, product)
	off := 0.0
	for i := range 30 {
		for j := range 30 {
			v := product.At(i, j)
			if i == j {
				v--
			}
			off += v * v
		}
	}
	if math.Abs(off-1) > 1e-6 {
		t.Fatalf("(I + t L) K differs from I by %g squared, want 1: one eigenvector is left out", off)
	}
}

// TestSpectralAligned checks that no alpha of the cone is nearer to the targets, for any alpha and
// for falling ones.
func TestSpectralAligned(t *testing.T) {
	eng := enginetest.New(t, 0)
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n, r := rapid.IntRange(6, 20).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "r")
		free := rapid.SampledFrom([]int{0, 1, r}).Draw(t, "free")
		v := blas.NewMatrix(r, n)
		for i := range v.Data {
			v.Data[i] = rng.NormFloat64()
		}
		labels := make([]string, n)
		for i := range labels {
			labels[i] = fmt.Sprint(i % 2)
		}
		set, err := links.SampleByCount(labels, 4, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		linked := map[int]bool{}
		distance := func(alpha []float64) float64 {
			k := func(i, j int) float64 {
				sum := 0.0
				for c, a := range alpha {
					sum += a * v.At(c, i) * v.At(c, j)
				}
				return sum
			}
			sum := 0.0
			for _, l := range slices.Concat(set.Must(), set.Cannot()) {
				d := k(l.I, l.J) - float64(l.Sign)
				sum += 2 * d * d
				linked[l.I], linked[l.J] = true, true
			}
			for i := range linked {
				sum += (k(i, i) - 1) * (k(i, i) - 1)
			}
			return sum
		}
		alpha := aligned(eng, v, set, free)
		best := distance(alpha)
		for c, a := range alpha {
			if a < 0 || c > free && a > alpha[c-1] {
				t.Fatalf("alpha %v with %d free", alpha, free)
			}
		}
		for range 200 {
			other, size := slices.Clone(alpha), math.Pow(10, -5*rng.Float64())
			for c := range other {
				other[c] = max(0, other[c]+size*rng.NormFloat64())
			}
			if free < r {
				slices.SortFunc(other[free:], func(a, b float64) int {
					if a > b {
						return -1
					}
					return 1
				})
			}
			if d := distance(other); d < best-1e-8*(1+best) {
				t.Fatalf("%v is at %.12g, %v at %.12g", alpha, best, other, d)
			}
		}
	})
}

// TestSpectralLearns checks that learned weights separate the rings better than the raw points do,
// for new points, too.
func TestSpectralLearns(t *testing.T) {
	for _, kind := range []SpectralKind{SpectralDiffusion, SpectralRegularized, SpectralEigenmaps,
		SpectralAlignment, SpectralOrder} {
		x, labels, set := enginetest.Rings(t, 200, 60, 3)
		l := of(kind)
		l.Params.Rank = 12
		m := fittest.Fit[*SpectralModel](t, l, x, set)
		other, classes, _ := enginetest.Rings(t, 100, 5, 4)
		ctx, eng := context.Background(), enginetest.New(t, 0)
		y, err := m.Embed(ctx, eng, other)
		if err != nil {
			t.Fatal(err)
		}
		right, train := 0, m.Coordinates()
		for i := range y.Rows {
			best, at := math.Inf(1), 0
			for j := range train.Rows {
				if d := points.SquaredDistance(y.Row(i), train.Row(j)); d < best {
					best, at = d, j
				}
			}
			if labels[at] == classes[i] {
				right++
			}
		}
		if right < 95 {
			t.Errorf("%s: %d of 100 new points are nearest to one of their class", kind, right)
		}
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := DecodeSpectral(f)
		if err != nil {
			t.Fatal(err)
		}
		if z, err := back.Embed(ctx, eng, other); err != nil || !slices.Equal(y.Data, z.Data) ||
			!slices.Equal(back.Weights(), m.Weights()) {
			t.Errorf("%s: the model that was read differs from the one that was written (%v)", kind, err)
		}
	}
}

func TestSpectralBadInput(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 10, 6)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *Spectral){
		"kind": func(p *Spectral) {
			p.Kind = "k"
		}, "graph": func(p *Spectral) {
			p.Graph = graphkernel.Dense
		}, "rank": func(p *Spectral) { p.Rank = 60 },
		"negative": func(p *Spectral) {
			p.Rank = -1
		}, "time": func(p *Spectral) { p.Time = 0 }, "neighbors": func(p *Spectral) { p.Neighbors = 60 },
		"given": func(p *Spectral) { p.Graph = graphkernel.Given },
	} {
		l := of(SpectralDiffusion)
		change(&l.Params)
		if _, err := l.Fit(ctx, eng, x, set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	if _, err := of(SpectralOrder).Fit(ctx, eng, x, none); !fault.IsInput(err) {
		t.Errorf("no links for order: error %v", err)
	}
	if _, err := of(SpectralDiffusion).Fit(ctx, eng, x, none); err != nil {
		t.Errorf("no links for diffusion: error %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := of(SpectralDiffusion).Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestSpectralNear: a new point is made of as many neighbors as the graph has, and of the default
// where the graph has no such number.
func TestSpectralNear(t *testing.T) {
	p := param.Default[Spectral]()
	usual := p.Neighbors
	p.Neighbors = usual + 3
	if got := p.near(); got != usual+3 {
		t.Errorf("%d neighbors: want %d", got, usual+3)
	}
	p.Graph, p.Neighbors = graphkernel.Dense, 1
	if got := p.near(); got != usual {
		t.Errorf("%d neighbors in a dense graph: want %d", got, usual)
	}
}
