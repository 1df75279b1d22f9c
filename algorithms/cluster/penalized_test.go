package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// stripes returns points whose first coordinate tells three classes apart, and whose others are
// louder noise.
func stripes(n, d int, seed uint64) (blas.Matrix, []string) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := blas.NewMatrix(n, d), make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 3)
		for j := range d {
			x.Set(i, j, 3*rng.NormFloat64())
		}
		x.Set(i, 0, 2*float64(i%3)+0.2*rng.NormFloat64())
	}
	return x, labels
}

// sumOf is the objective by its definition, for metrics as matrices: one, or one a cluster.
func sumOf(x blas.Matrix, l *links.Set, r *PenalizedResult, metrics [][][]float64, plain bool) float64 {
	d, unit, mean := x.Cols, 0.0, columnMeans(x)
	for i := range x.Rows {
		unit += points.SquaredDistance(x.Row(i), mean) / float64(x.Rows)
	}
	of := func(c int) [][]float64 {
		if len(metrics) == 1 {
			return metrics[0]
		}
		return metrics[c]
	}
	form := func(a [][]float64, u, v []float64) float64 {
		sum := 0.0
		for p := range d {
			for q := range d {
				sum += (u[p] - v[p]) * a[p][q] * (u[q] - v[q])
			}
		}
		return sum
	}
	logdet := func(a [][]float64) float64 { // by elimination
		m, sum := make([][]float64, d), 0.0
		for p := range d {
			m[p] = slices.Clone(a[p])
		}
		for p := range d {
			sum += math.Log(m[p][p])
			for q := p + 1; q < d; q++ {
				f := m[q][p] / m[p][p]
				for k := p; k < d; k++ {
					m[q][k] -= f * m[p][k]
				}
			}
		}
		return sum
	}
	total := 0.0
	for i, c := range r.Labels {
		total += form(of(c), x.Row(i), r.Centers.Row(c)) - logdet(of(c))
	}
	for _, k := range append(slices.Clone(l.Must()), l.Cannot()...) {
		c, e := r.Labels[k.I], r.Labels[k.J]
		switch {
		case (k.Sign == links.Must) == (c == e):
		case plain:
			total += unit
		case k.Sign == links.Must:
			total += (form(of(c), x.Row(k.I), x.Row(k.J)) + form(of(e), x.Row(k.I), x.Row(k.J))) / 2
		default:
			far := 0.0
			for i := range x.Rows {
				for j := range i {
					far = max(far, form(of(c), x.Row(i), x.Row(j)))
				}
			}
			total += far - form(of(c), x.Row(k.I), x.Row(k.J))
		}
	}
	return total
}

// matrices returns the metrics of a start.
func matrices(t enginetest.Fataler, r *penalized) [][][]float64 {
	t.Helper()
	var all [][][]float64
	for _, f := range r.metrics {
		d := r.x.Cols
		a, unit := make([][]float64, d), blas.NewMatrix(d, d)
		for c := range d {
			unit.Set(c, c, 1)
		}
		y := f.turn(r.eng, unit) // rows e' L
		for p := range d {
			a[p] = make([]float64, d)
			for q := range d {
				for k := range d {
					a[p][q] += y.At(p, k) * y.At(q, k)
				}
			}
		}
		all = append(all, a)
	}
	return all
}

// started runs one start.
func started(t enginetest.Fataler, x blas.Matrix, l *links.Set, p PenalizedParams) *penalized {
	t.Helper()
	p, err := p.resolve(x.Rows)
	if err != nil {
		t.Fatal(err)
	}
	r := &penalized{penalties: newPenalties(x, l, p), ctx: context.Background(), eng: enginetest.New(t, 0),
		rng: rand.New(rand.NewPCG(p.Seed, 0))}
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	return r
}

// The objective is that of its definition for all kinds; at the end no point and no must-link
// component would cost less in another cluster, and centers are means.
func TestPenalizedIsALocalMinimum(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, labels := stripes(45, 3, rapid.Uint64().Draw(rt, "seed"))
		l, err := links.SampleByCount(labels, 15, 15, 1)
		if err != nil {
			rt.Fatal(err)
		}
		p := PenalizedParams{Metric: rapid.SampledFrom([]MetricKind{MetricNone, MetricDiagonal,
			MetricFull}).Draw(rt, "metric"), Each: rapid.Bool().Draw(rt, "each")}
		p.K = 3
		r := started(rt, x, l, p)
		out := r.result()
		if want := sumOf(x, l, out, matrices(rt, r),
			p.Metric == MetricNone); math.Abs(out.Objective-want) > 1e-8*(1+math.Abs(want)) {
			rt.Fatalf("objective %.12g, by definition %.12g", out.Objective, want)
		}
		if !out.Converged {
			return
		}
		moves := slices.Clone(r.groups)
		for i := range r.labels {
			moves = append(moves, []int{i})
		}
		own, now := slices.Clone(r.labels), r.objective()
		for _, rows := range moves {
			cost := r.cost(rows)
			for c := range 3 {
				for _, i := range rows {
					r.labels[i] = c
				}
				gain := now - r.objective()
				if diff := gain - (cost - r.cost(rows)); math.Abs(diff) > 1e-9*(1+math.Abs(now)) {
					rt.Fatalf("the objective falls by %g when %v go to cluster %d, their cost by %g less",
						gain, rows, c, diff)
				}
				// With a metric that was learned from these very labels a move may pay that did not
				// before.
				if p.Metric == MetricNone && gain > 1e-9*(1+math.Abs(now)) {
					rt.Fatalf("the objective falls by %g when %v go to cluster %d", gain, rows, c)
				}
			}
			for _, i := range rows {
				r.labels[i] = own[i]
			}
		}
		for c := range 3 {
			mean, count := make([]float64, 3), 0.0
			for i, own := range out.Labels {
				if own == c {
					count++
					for k, v := range x.Row(i) {
						mean[k] += v
					}
				}
			}
			for k, v := range mean {
				if math.Abs(v/count-out.Centers.At(c, k)) > 1e-12*(1+math.Abs(v)) {
					rt.Fatalf("center %d is not the mean", c)
				}
			}
		}
	})
}

// The metric that is learned is the best for the partition: others near it and far from it have
// larger sums, by the definition. Without cannot-links, whose farthest pair is another function of
// the metric.
func TestPenalizedMetricIsTheBest(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, labels := stripes(45, 3, rapid.Uint64().Draw(rt, "seed"))
		l, err := links.SampleByCount(labels, 20, 0, 1)
		if err != nil {
			rt.Fatal(err)
		}
		p := PenalizedParams{Metric: rapid.SampledFrom([]MetricKind{MetricDiagonal, MetricFull}).Draw(rt,
			"metric"), Each: rapid.Bool().Draw(rt, "each"), EpsRel: 1e-12}
		p.K = 3
		r := started(rt, x, l, p)
		out, metrics := r.result(), matrices(rt, r)
		best := sumOf(x, l, out, metrics, false)
		for i := 1; i < len(out.Trace); i++ {
			if out.Trace[i] > out.Trace[i-1]+1e-9*math.Abs(out.Trace[i-1]) {
				rt.Fatalf("the sum rises: %v", out.Trace)
			}
		}
		count := [3]int{}
		for _, c := range out.Labels {
			count[c]++
		}
		if p.Each && slices.Min(count[:]) < 4 {
			return // the scatter of so few points is singular, and only eps keeps the metric finite
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			size := math.Pow(10, -3*rng.Float64())
			other := make([][][]float64, len(metrics))
			for m, a := range metrics { // (I + E) A (I + E)', E diagonal for a diagonal metric
				e := make([][]float64, 3)
				for p1 := range 3 {
					e[p1] = make([]float64, 3)
					for q := range 3 {
						if p1 == q || p.Metric == MetricFull {
							e[p1][q] = size * rng.NormFloat64()
						}
					}
					e[p1][p1]++
				}
				other[m] = make([][]float64, 3)
				for p1 := range 3 {
					other[m][p1] = make([]float64, 3)
					for q := range 3 {
						for i := range 3 {
							for j := range 3 {
								other[m][p1][q] += e[p1][i] * a[i][j] * e[q][j]
							}
						}
					}
				}
			}
			if v := sumOf(x, l, out, other, false); v < best-1e-7*(1+math.Abs(best)) {
				rt.Fatalf("another metric has the sum %.12g, below %.12g", v, best)
			}
		}
	})
}

// The farthest pair is that of all pairs.
func TestFarthest(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, _ := stripes(rapid.IntRange(2, 60).Draw(rt, "n"), rapid.IntRange(1, 4).Draw(rt, "d"),
			rapid.Uint64().Draw(rt, "seed"))
		kernels := enginetest.New(rt, 1).Backend().Kernels()
		got, pair := farthest(kernels, x)
		want := 0.0
		for i := range x.Rows {
			for j := range i {
				want = max(want, kernels.SquaredDistance(x.Row(i), x.Row(j)))
			}
		}
		if got != want || kernels.SquaredDistance(x.Row(pair[0]), x.Row(pair[1])) != want {
			rt.Fatalf("farthest %g of %v, want %g", got, pair, want)
		}
	})
}

// A learned metric finds the classes where plain distances do not; without links it is k-means.
func TestPenalizedLearns(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, labels := stripes(150, 4, 5)
	l, err := links.SampleByCount(labels, 50, 50, 2)
	if err != nil {
		t.Fatal(err)
	}
	of := func(m MetricKind) float64 {
		p := PenalizedParams{Metric: m, Params: Params{K: 3, Seed: 1}}
		r, err := Penalized(ctx, eng, x, l, p)
		if err != nil {
			t.Fatal(err)
		}
		v, err := score.AdjustedRand(labels, r.Labels)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if none, diagonal, full := of(MetricNone), of(MetricDiagonal), of(MetricFull); diagonal < none+0.2 ||
		full < none+0.2 {
		t.Errorf("adjusted Rand index %.3f without metric, %.3f diagonal, %.3f full", none, diagonal, full)
	}
	free, err := links.New(150, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Penalized(ctx, eng, x, free, PenalizedParams{Params: Params{K: 3, Seed: 1, Restarts: 20}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := KMeans(ctx, eng, x, Params{K: 3, Seed: 1, Restarts: 20})
	if err != nil || math.Abs(r.Inertia-k.Inertia) > 0.05*k.Inertia || r.Violated != 0 {
		t.Errorf("inertia %g, that of k-means %g (%v)", r.Inertia, k.Inertia, err)
	}
}

// The same bits for any number of workers.
func TestPenalizedDoesNotDependOnWorkers(t *testing.T) {
	x, labels := stripes(300, 5, 6)
	l, err := links.SampleByCount(labels, 60, 60, 2)
	if err != nil {
		t.Fatal(err)
	}
	var first *PenalizedResult
	for _, workers := range []int{1, 2, 5} {
		r, err := Penalized(context.Background(), enginetest.New(t, workers), x, l,
			PenalizedParams{Metric: MetricFull, Each: true, Params: Params{K: 3, Seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !slices.Equal(r.Labels, first.Labels) || !slices.Equal(r.Trace, first.Trace) {
			t.Errorf("%d workers give another partition", workers)
		}
	}
}

func TestPenalizedBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, labels := stripes(30, 2, 7)
	l, err := links.SampleByCount(labels, 5, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := links.New(29, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := x.Clone()
	nan.Set(3, 1, math.NaN())
	huge := x.Clone()
	huge.Set(3, 1, 1e200)
	for name, c := range map[string]struct {
		x      blas.Matrix
		l      *links.Set
		change func(p *PenalizedParams)
	}{
		"clusters": {x, l, func(p *PenalizedParams) { p.K = 31 }},
		"rows":     {x, other, func(*PenalizedParams) {}},
		"NaN":      {nan, l, func(*PenalizedParams) {}},
		"huge":     {huge, l, func(*PenalizedParams) {}},
		"metric":   {x, l, func(p *PenalizedParams) { p.Metric = "m" }},
		"weight":   {x, l, func(p *PenalizedParams) { p.Weight = -1 }},
		"eps":      {x, l, func(p *PenalizedParams) { p.EpsRel = math.NaN() }},
	} {
		p := PenalizedParams{Params: Params{K: 3}}
		c.change(&p)
		if _, err := Penalized(ctx, eng, c.x, c.l, p); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Equal points, a constant column, more clusters than different points: nothing is NaN.
	same := x.Clone()
	for i := range 30 {
		same.Set(i, 0, float64(i%2))
		same.Set(i, 1, 4)
	}
	for _, m := range []MetricKind{MetricNone, MetricDiagonal, MetricFull} {
		for _, each := range []bool{false, true} {
			r, err := Penalized(ctx, eng, same, l,
				PenalizedParams{Params: Params{K: 4, MaxIter: racetest.Fewer(DefaultMaxIter)}, Metric: m,
					Each: each})
			if err != nil || r.Objective-r.Objective != 0 {
				t.Errorf("%s: objective %v, error %v", m, r, err)
			}
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Penalized(done, eng, x, l, PenalizedParams{Params: Params{K: 3}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
