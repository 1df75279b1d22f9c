package krca

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// arrivals are pairs of 16 features, one chunklet of size 2 after another.
const (
	arrivals     = 1250
	arrivalDim   = 16
	arrivalFixed = 1.0
)

// BenchmarkArrivals learns 1250 chunklets of size 2 one by one, up to n = 2500, without an
// embedding. It reports the growth exponent of the time per update from n = 500 to 2500
// (means of 100 updates around each), and relearn-x, the time of learning the kernel from
// scratch at every arrival relative to the updates. That leaves out the embedding, most of
// the time of a whole fit; the total is the trapezoidal rule over ten sizes.
func BenchmarkArrivals(b *testing.B) {
	eng := enginetest.New(b, 0)
	x := gaussian(2*arrivals, arrivalDim, 1)
	b.ReportAllocs()
	for b.Loop() {
		at := arriveAll(b, eng, x)
		total := 0.0
		for _, seconds := range at {
			total += seconds
		}
		b.ReportMetric(total, "s/stream")
		b.ReportMetric(math.Log(around(at, 1200)/around(at, 250))/math.Log(1200.0/250), "exponent")
		b.ReportMetric(1e6*around(at, 250), "us/update@500")
		b.ReportMetric(1e6*around(at, 1200), "us/update@2400")
		b.StopTimer()
		b.ReportMetric(relearn(b, eng, x)/total, "relearn-x")
		b.StartTimer()
	}
}

// around returns the mean over the 100 updates around arrival c.
func around(at []float64, c int) float64 {
	var sum float64
	for _, v := range at[c-50 : c+50] {
		sum += v
	}
	return sum / 100
}

// arriveAll returns the seconds of each arrival.
func arriveAll(t testingTB, eng *engine.Engine, x *points.Dense) []float64 {
	ctx := context.Background()
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=4"),
		Params: Params{FixedS: arrivalFixed, Dims: 1, Form: FormCholesky}}
	u := incremental(t, fittest.On[*Model](t, eng, l, x.Select([]int{0, 1}), chunkletSet(t, 2, []int{0, 1})))
	at := make([]float64, arrivals)
	for c := 1; c < arrivals; c++ {
		begin := time.Now()
		must(t, u.Add(ctx, eng, x, []int{2 * c, 2*c + 1}))
		at[c] = time.Since(begin).Seconds()
	}
	return at
}

// relearn estimates the seconds of learning the kernel from scratch at every arrival.
func relearn(t testingTB, eng *engine.Engine, x *points.Dense) (total float64) {
	k, err := kernel.New(enginetest.Spec(t, "rbf:sigma=4"))
	must(t, err)
	const step = arrivals / 10
	for c := step; c <= arrivals; c += step {
		sizes := make([]int, c)
		for i := range sizes {
			sizes[i] = 2
		}
		weight := float64(step)
		if c == arrivals {
			weight /= 2
		}
		some := x.Select(sequenceFrom(0, 2*c))
		begin := time.Now()
		m := &metric{kernel: k, anchors: some, f: newHelmert(sizes), eps: arrivalFixed / float64(2*c)}
		_, err := newMetric(context.Background(), eng, m, FormCholesky, func(string) {})
		must(t, err)
		total += weight * time.Since(begin).Seconds()
	}
	return total
}

// BenchmarkUpdate measures one arrival at a given n, taken back every time.
func BenchmarkUpdate(b *testing.B) {
	eng, ctx := enginetest.New(b, 0), context.Background()
	x := gaussian(2502, arrivalDim, 1)
	for _, n := range []int{500, 1000, 1500, 2000, 2500} {
		chunklets := make([][]int, n/2)
		for i := range chunklets {
			chunklets[i] = []int{2 * i, 2*i + 1}
		}
		l := Learner{Kernel: enginetest.Spec(b, "rbf:sigma=4"),
			Params: Params{FixedS: arrivalFixed, Dims: 1, Landmarks: 50, Form: FormCholesky}}
		u := incremental(b, fittest.On[*Model](b, eng, l, x, chunkletSet(b, x.N, chunklets...)))
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, u.Add(ctx, eng, x, []int{2500, 2501}))
				b.StopTimer()
				must(b, u.DropLast(1))
				b.StartTimer()
			}
		})
	}
}
