package catalog_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// limited returns an engine that shares all with eng but for its memory limit.
func limited(t *testing.T, eng *engine.Engine, limit int64) *engine.Engine {
	t.Helper()
	small, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: eng.Workers(),
		MemoryLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return small
}

// wantRefused checks the error of a request above the limit: what needs the memory, how much, the
// limit, and what to do.
func wantRefused(t *testing.T, what string, err error, limit int64) {
	t.Helper()
	var refused *fault.MemoryError
	if !errors.As(err, &refused) {
		t.Errorf("%s within %d bytes: error %v, want a MemoryError", what, limit, err)
		return
	}
	if refused.What == "" || refused.Hint == "" || refused.Need <= limit || refused.Limit != limit {
		t.Errorf("%s within %d bytes: incomplete error %+v", what, limit, refused)
	}
}

// TestMemoryLimit: with less memory than it needs a method says so, whatever the limit, and with
// enough it gives the bits that it gives without limit.
func TestMemoryLimit(t *testing.T) {
	eng, refused := enginetest.New(t, 2), 0
	for _, p := range racetest.Part(everywhere(t, 60)) {
		if p.method.Name == "krca form=spectral" {
			continue // which cannot be updated, as a part of its use
		}
		t.Run(p.method.Name, func(t *testing.T) {
			want, err := p.solve(context.Background(), eng)
			if err != nil {
				t.Fatal(err)
			}
			for limit := int64(1); ; limit *= 2 {
				got, err := p.solve(context.Background(), limited(t, eng, limit))
				if err == nil {
					if at := got.difference(want); at != "" {
						t.Errorf("%s differs within %d bytes", at, limit)
					}
					if limit == 1 {
						t.Error("fitted within a byte")
					}
					return
				}
				wantRefused(t, "fit and use", err, limit)
				refused++
				if limit > 1<<40 {
					t.Fatal("refused however much there is")
				}
			}
		})
	}
	t.Logf("fits and uses refused by a memory limit: %d", refused)
}

// TestRefusedBeforeAllocated: what the limit does not allow is refused before it is allocated: fits
// of 3000 points, and each use of a model on as many, take no more than the checks of their input
// do.
func TestRefusedBeforeAllocated(t *testing.T) {
	const limit, most = 10_000, 2 << 20 // a kernel matrix of 3000 points takes 72 MB
	eng, refused := enginetest.New(t, 2), 0
	large := everywhere(t, 3000)
	for i, small := range everywhere(t, 40) {
		t.Run(small.method.Name, func(t *testing.T) {
			p := large[i]
			little := limited(t, eng, limit)
			m, err := small.fit(context.Background(), eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := small.learn(t, eng)
			all := p.uses(little, m)
			delete(all, "new links")    // which are between the few points
			delete(all, "update")       // of few points, whatever the rest
			if p.method.Name != "raw" { // whose fit takes none
				all["fit"] = func(ctx context.Context) error { _, err := p.fit(ctx, little, nil); return err }
			}
			for name, f := range all {
				bytes, err := allocated(f)
				wantRefused(t, name, err, limit)
				if bytes > most {
					t.Errorf("%s: %d bytes were allocated before it was refused", name, bytes)
				}
				refused++
			}
			if at := small.learn(t, eng).difference(want); at != "" {
				t.Errorf("%s differs after refusals", at)
			}
		})
	}
	t.Logf("refused before anything large was allocated: %d", refused)
}

// allocated runs f and returns how many bytes it allocated.
func allocated(f func(context.Context) error) (uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f(context.Background())
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// TestPairsOfChunkletsAreRefused: large chunklets stand for far more pairs than there are rows; a
// method that learns from every pair prices them before it writes them out.
func TestPairsOfChunkletsAreRefused(t *testing.T) {
	const n, classes, limit, most = 4000, 2, 16 << 20, 100 << 20 // 4 million pairs take 190 MB
	eng := enginetest.New(t, 2)
	x, labels, _ := enginetest.Bands(t, n, 4, 1, 5)
	for i := range labels {
		labels[i] = strconv.Itoa(i % classes)
	}
	total := 0
	for _, p := range racetest.Part(everywhere(t, 40)) {
		if p.method.Small || !p.method.Pairwise {
			continue
		}
		set, err := links.FromLabels(labels) // a new set, since a set keeps the pairs that it has written out
		if err != nil {
			t.Fatal(err)
		}
		p.x, p.set = x, set
		bytes, err := allocated(func(ctx context.Context) error {
			_, err := p.fit(ctx, limited(t, eng, limit), nil)
			return err
		})
		if err != nil {
			wantRefused(t, p.method.Name, err, limit)
		}
		if bytes > most {
			t.Errorf("%s allocated %d MiB within %d MiB, error %v", p.method.Name, bytes>>20, limit>>20, err)
		}
		total++
	}
	t.Logf("fits of chunklets of %d pairs within %d MiB: %d", n*(n/classes-1)/2, limit>>20, total)
}

// widened returns dense points as sparse ones of another width, their features spread over it in
// order.
func widened(t *testing.T, x *points.Dense, width int) *points.CSR {
	t.Helper()
	start, col, val := []int{0}, []int32{}, []float64{}
	for i := range x.N {
		for j, v := range x.Row(i) {
			col, val = append(col, int32(j*((width-1)/(x.D-1)))), append(val, v)
		}
		start = append(start, len(val))
	}
	out, err := points.NewCSR(x.N, width, start, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWidthTakesNoMemory: what fits of sparse points and uses of their models allocate does not
// grow with the number of features, which a file of one line can make two billion. All of it
// together stays within the limit that they are given.
func TestWidthTakesNoMemory(t *testing.T) {
	racetest.Skip(t, "TestEveryMethodTakesEveryKind fits all methods to sparse points")
	const limit, slack = 32 << 20, 1 << 20
	eng := limited(t, enginetest.New(t, 1), limit)
	list, rules := everywhere(t, 40), []string{"mean", "median", "knn10", "msq", "lle"}
	for _, rule := range rules {
		list = append(list, list[slices.IndexFunc(list, func(p problem) bool {
			return p.method.Name == "krca"
		})].with("krca "+rule, []string{"kernel=rbf:sigma=" + rule}))
	}
	for _, p := range list {
		if p.method.Name == "mmc kernel=linear" { // the same as without
			continue
		}
		t.Run(p.method.Name, func(t *testing.T) {
			fit := func(width int) uint64 {
				learner, err := p.method.New(catalog.Config{Seed: 3})
				if err != nil {
					t.Fatal(err)
				}
				x, fresh := widened(t, p.x, width), widened(t, p.fresh, width)
				bytes, err := allocated(func(ctx context.Context) error {
					m, err := learner.Fit(ctx, eng, x, p.set)
					if err != nil {
						return err
					}
					if _, err := m.Gram(ctx, eng, fresh, nil); err != nil {
						return err
					}
					if _, err := m.Distances(ctx, eng, x, [][2]int{{0, 1}}); err != nil {
						return err
					}
					_, err = m.Embed(ctx, eng, fresh)
					return err
				})
				if err != nil {
					t.Fatalf("%d features: %v", width, err)
				}
				return bytes
			}
			narrow, wide := fit(1000), fit(math.MaxInt32)
			if wide > max(narrow, limit)+slack || wide > narrow+narrow/2+slack {
				t.Errorf("%d bytes for two billion features, %d for a thousand", wide, narrow)
			}
		})
	}
}

// TestTermsOfWidePoints: weights of terms take memory for the terms that occur, and are those of
// all terms; so is the model file.
func TestTermsOfWidePoints(t *testing.T) {
	x, _, _ := enginetest.Bands(t, 30, 4, 8, 1)
	for k, v := range x.Data {
		x.Data[k] = math.Floor(math.Abs(v))
	}
	weigh := func(width int) []float64 {
		sparse := widened(t, x, width)
		weights, err := prepare.CountTerms(sparse)
		if err != nil {
			t.Fatal(err)
		}
		file, err := catalog.Encode(&catalog.Fitted{Model: fitted(t).Model, Scaling: weights})
		if err != nil {
			t.Fatal(err)
		}
		if n := file.Tensors["tfidf.weight"].Len(); n > 100 {
			t.Errorf("%d weights for 4 terms of %d", n, width)
		}
		out, err := weights.Apply(sparse)
		if err != nil {
			t.Fatal(err)
		}
		return out.(*points.CSR).Val
	}
	if narrow, wide := weigh(4), weigh(math.MaxInt32); !slices.Equal(narrow, wide) {
		t.Errorf("weights %v of two billion terms, %v of four", wide, narrow)
	}
}

// peak runs f and returns the largest live heap that was seen while it ran, less that before: what
// the latest run of the collector, which runs often, has found in use. It can miss a peak between
// two runs. It can also be too large: the collector counts everything as live that is allocated
// while it runs, and on a busy machine it runs long. So f runs again, up to four times, while the
// result is above a bound, and the smallest one counts.
func peak(bound uint64, f func() error) (uint64, error) {
	most, err := peakOnce(f)
	for range 4 {
		if most <= bound {
			break
		}
		again, _ := peakOnce(f)
		most = min(most, again)
	}
	return most, err
}

// peakOnce is peak for one run of f.
func peakOnce(f func() error) (uint64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before, done, most := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		largest := before
		for {
			largest = max(largest, heap())
			select {
			case <-done:
				most <- largest
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	err := f()
	close(done)
	return <-most - before, err
}

// TestPeakOfHeap: the heap of a fit stays below twice the smallest limit under which it passes, and
// four megabytes for what is bounded by a constant: scratch memory, small samples. So whatever
// grows with the input has its price.
func TestPeakOfHeap(t *testing.T) {
	racetest.Skip(t, "TestManyGoroutines fits all methods")
	const n, slack = 300, 4 << 20
	eng, highest, total := enginetest.New(t, 2), 0.0, 0
	for row, p := range everywhere(t, n) {
		if p.method.Name == "scml" || p.method.Name == "mlkr kernel=rbf:sigma=mean" {
			continue // which take long, on the coordinates of others
		}
		times := uint64(2)
		if p.method.Name == "blend" {
			times = 4 // it keeps the models of several methods, each of which has its price
		}
		for kind, x := range map[string]points.Points{"dense": p.x,
			"sparse": widened(t, p.x, math.MaxInt32)} {
			if settings := strings.Contains(p.method.Name, "="); kind == "sparse" && settings ||
				!settings && !drawstest.Turn(row, len(kind), 2) { // the names have lengths of both parities
				continue
			}
			for limit := int64(1 << 18); ; limit *= 2 {
				little := limited(t, eng, limit)
				bound := times*uint64(limit) + slack
				most, err := peak(bound, func() error {
					learner, err := p.method.New(catalog.Config{Seed: 3})
					if err == nil {
						_, err = learner.Fit(t.Context(), little, x, p.set)
					}
					return err
				})
				if most > bound {
					t.Errorf("%s of %s points: a heap of %d KiB within %d KiB, error %v", p.method.Name, kind,
						most>>10, limit>>10, err)
				}
				if err == nil {
					highest, total = max(highest, float64(most)/float64(bound)), total+1
					break
				}
				wantRefused(t, p.method.Name, err, limit)
				if limit > 1<<40 {
					t.Fatalf("%s of %s points: refused however much there is: %v", p.method.Name, kind, err)
				}
			}
		}
	}
	t.Logf("%d fits: at most %.0f %% of that, with %d MiB for constants", total, 100*highest, slack>>20)
}
