package catalog_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// limited returns an engine that shares all with eng but for its memory limit.
func limited(t *testing.T, eng *engine.Engine, limit int64) *engine.Engine {
	t.Helper()
	small, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: eng.Workers(), MemoryLimit: limit})
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
	for _, p := range everywhere(t, 60) {
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
			delete(all, "new links") // which are between the few points
			delete(all, "update")    // of few points, whatever the rest
			all["fit"] = func(ctx context.Context) error { _, err := p.fit(ctx, little, nil); return err }
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
	for _, p := range everywhere(t, 40) {
		if p.method.Small || !p.method.Pairwise {
			continue
		}
		set, err := links.FromLabels(labels) // a new set, since a set keeps the pairs that it has written out
		if err != nil {
			t.Fatal(err)
		}
		p.x, p.set = x, set
		bytes, err := allocated(func(ctx context.Context) error { _, err := p.fit(ctx, limited(t, eng, limit), nil); return err })
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
