package catalog_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// 64 goroutines share one engine and the models of all methods. Each fits a method, uses a model
// that others use at the same time, and cancels a fit halfway, whose scratch memory no other fit
// may use before it ends. Every result is bit-identical to that without other goroutines.
func TestManyGoroutines(t *testing.T) {
	const goroutines = 64
	ctx, eng := context.Background(), enginetest.New(t, 3)
	list := everywhere(t, 110) // two blocks of rows
	models, alone := make([]algorithms.Model, len(list)), make([]outcome, len(list))
	for i, p := range list {
		var err error
		if models[i], err = p.fit(ctx, eng, nil); err != nil {
			t.Fatalf("%s: %v", p.method.Name, err)
		}
		if alone[i], err = p.use(ctx, eng, models[i]); err != nil {
			t.Fatalf("%s: %v", p.method.Name, err)
		}
	}
	var group sync.WaitGroup
	start := make(chan struct{})
	for g := range goroutines {
		group.Go(func() {
			<-start
			fits, shared, stopped := g%len(list), (g+7)%len(list), (g+13)%len(list)
			if err := list[stopped].abandon(ctx, eng); err != nil {
				t.Errorf("%s, canceled while others run: error %v", list[stopped].method.Name, err)
			}
			got, err := list[fits].solve(ctx, eng)
			if at := got.difference(alone[fits]); err != nil || at != "" {
				t.Errorf("%s, fitted while others run: error %v, %s differs from that of a fit alone",
					list[fits].method.Name, err, at)
			}
			got, err = list[shared].use(ctx, eng, models[shared])
			if at := got.difference(alone[shared]); err != nil || at != "" {
				t.Errorf("a shared model of %s: error %v, %s differs from that of its use alone",
					list[shared].method.Name, err, at)
			}
		})
	}
	close(start)
	group.Wait()
}

// TestProgressIsOneAtATime: a fit's reports come on the goroutine that fits, whatever the workers,
// so a listener needs no lock (the race detector would see one that does).
func TestProgressIsOneAtATime(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 3)
	for _, p := range problems(t, 40) {
		var reports []algorithms.Progress
		if _, err := p.fit(ctx, eng, func(r algorithms.Progress) {
			reports = append(reports, r)
		}); err != nil {
			t.Fatalf("%s: %v", p.method.Name, err)
		}
		if len(reports) == 0 {
			t.Errorf("%s reports no progress", p.method.Name)
		}
		for i, r := range reports {
			if r.Stage == "" || r.Done < 0 || r.Total < 0 || i > 0 && r.Elapsed < reports[i-1].Elapsed {
				t.Errorf("%s: report %d is %+v after %+v", p.method.Name, i, r, reports[max(0, i-1)])
			}
		}
	}
}

// errNotStopped says that a fit went on to its end although its context had ended.
var errNotStopped = errors.New("a fit whose context ended gave a model")

// abandon begins to fit and cancels at the first report of progress.
func (p problem) abandon(ctx context.Context, eng *engine.Engine) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	switch _, err := p.fit(ctx, eng, func(algorithms.Progress) { cancel() }); {
	case err == nil:
		return errNotStopped
	case !errors.Is(err, context.Canceled):
		return err
	}
	return nil
}
