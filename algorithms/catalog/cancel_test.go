package catalog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// elsewhere are parameters and kernels that send methods through other loops than their
// defaults do.
var elsewhere = []string{
	"krca landmarks=15", "krca form=spectral", "kbeta landmarks=20", "kbeta landmarks=20 extension=nystrom",
	"npkl plan=full", "npkl loss=hl", "lleratio mode=linear", "lleratio mode=full", "gml prior=spectral",
	"gml prior=datadep",
	"rca kernel=rbf:sigma=mean", "mmc kernel=linear", "lmnn kernel=rbf:sigma=mean",
	"mlkr kernel=rbf:sigma=mean", "llma kernel=rbf:sigma=mean", "forest kernel=rbf:sigma=mean",
	"gml prior=spectral basis=isomap", "mmc diagonal=true", "spectral kind=order", "spectral kind=alignment",
	"spectral kind=eigenmaps basis=lle",
}

// everywhere returns the problems of all methods with their defaults and with the parameters above.
func everywhere(t enginetest.Fataler, n int) []problem {
	t.Helper()
	list := problems(t, n)
	for _, text := range elsewhere {
		name, settings, _ := strings.Cut(text, " ")
		i := slices.IndexFunc(list, func(p problem) bool { return p.method.Name == name })
		if i < 0 {
			t.Fatal("no method " + name)
		}
		p := list[i].with(text, strings.Fields(settings))
		if strings.HasPrefix(text, "kbeta landmarks") {
			p.more = p.set // new links must be between landmarks, as the points of these are
		}
		list = append(list, p)
	}
	return list
}

// with returns the problem for a method with other parameters than its defaults.
func (p problem) with(name string, settings []string) problem {
	make := p.method.New
	p.method.Name = name
	p.method.New = func(c catalog.Config) (algorithms.Learner, error) {
		c.Params = map[string]string{}
		for _, s := range settings {
			if key, value, _ := strings.Cut(s, "="); key == "kernel" {
				c.Kernel = value
			} else {
				c.Params[key] = value
			}
		}
		return make(c)
	}
	return p
}

// reports counts those of a fit that nothing disturbs.
func (p problem) reports(t *testing.T, eng *engine.Engine) int {
	t.Helper()
	n := 0
	if _, err := p.fit(context.Background(), eng, func(algorithms.Progress) { n++ }); err != nil {
		t.Fatal(err)
	}
	return n
}

// learn fits the model and returns its file, bits and all.
func (p problem) learn(t *testing.T, eng *engine.Engine) outcome {
	t.Helper()
	m, err := p.fit(context.Background(), eng, nil)
	if err != nil {
		t.Fatal(err)
	}
	var o outcome
	if err := p.ask(context.Background(), eng, &o, "", m); err != nil {
		t.Fatal(err)
	}
	return o
}

// some returns the numbers 1 to n, or so many of them: the first ones, and others up to n.
func some(n, most int) []int {
	var list []int
	for k := 1; k <= n; k++ {
		list = append(list, k)
	}
	if n <= most {
		return list
	}
	list = list[:most/2]
	for i := 1; i <= most-most/2; i++ {
		list = append(list, most/2+(n-most/2)*i/(most-most/2))
	}
	return list
}

// TestCancelAtEveryReport: a fit whose listener cancels ends at once with the context's error,
// leaves no goroutine behind, and the engine fits the same bits afterwards.
func TestCancelAtEveryReport(t *testing.T) {
	eng, canceled := enginetest.New(t, 2), 0
	list := racetest.Part(everywhere(t, 40))
	for _, p := range list {
		t.Run(p.method.Name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			want, n := p.learn(t, eng), p.reports(t, eng)
			for _, k := range some(n, drawstest.Count(30, 100)) {
				ctx, cancel := context.WithCancel(context.Background())
				reports := 0
				_, err := p.fit(ctx, eng, func(algorithms.Progress) {
					if reports++; reports == k {
						cancel()
					}
				})
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("canceled at report %d of %d: error %v", k, n, err)
				}
				if reports > k+1 {
					t.Errorf("canceled at report %d: %d more came", k, reports-k)
				}
				canceled++
			}
			if at := p.learn(t, eng).difference(want); at != "" {
				t.Errorf("%s differs in a fit after the canceled ones", at)
			}
		})
	}
	t.Logf("fits canceled at a report of progress: %d of %d settings of %d methods", canceled, len(list),
		len(catalog.Methods()))
}

// TestCancelAtEveryLook: wherever a fit, or a use of a model, looks at its context, it ends there
// when that has ended, and what comes afterwards has the same bits.
func TestCancelAtEveryLook(t *testing.T) {
	eng, fits, uses := enginetest.New(t, 2), 0, 0
	for _, p := range racetest.Part(everywhere(t, 40)) {
		t.Run(p.method.Name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			m, err := p.fit(context.Background(), eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := p.learn(t, eng)
			fits += stopEverywhere(t, "fit", func(ctx context.Context) error {
				_, err := p.fit(ctx, eng, nil)
				return err
			})
			for name, use := range p.uses(eng, m) {
				uses += stopEverywhere(t, name, use)
			}
			if at := p.learn(t, eng).difference(want); at != "" {
				t.Errorf("%s differs after what was canceled", at)
			}
		})
	}
	t.Logf("canceled where the context is looked at: %d fits, %d uses of models", fits, uses)
}

// uses returns all operations of a model, one function for each.
func (p problem) uses(eng *engine.Engine, m algorithms.Model) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"embedding": func(ctx context.Context) error {
			_, err := m.Embed(ctx, eng, p.fresh)
			return err
		},
		"Gram matrix": func(ctx context.Context) error {
			_, err := m.Gram(ctx, eng, p.fresh, nil)
			return err
		},
		"cross Gram matrix": func(ctx context.Context) error {
			_, err := m.Gram(ctx, eng, p.fresh, p.x)
			return err
		},
		"distances": func(ctx context.Context) error {
			_, err := m.Distances(ctx, eng, p.fresh, chain(p.fresh.N))
			return err
		},
	}
	switch m := m.(type) {
	case algorithms.Linker:
		all["new links"] = func(ctx context.Context) error {
			_, err := m.AddLinks(ctx, eng, p.x, p.more)
			return err
		}
	case algorithms.Updater:
		if p.method.Name == "krca form=spectral" {
			break // which cannot be updated
		}
		all["update"] = func(ctx context.Context) error {
			_, err := m.Update(ctx, eng, p.fresh,
				[]algorithms.Chunklet{{ID: algorithms.NewChunklet, Rows: []int{0, 3, 6}}})
			return err
		}
	}
	return all
}

// looksAfter is how often work may look at its context after that has ended: once a worker, and
// once for each of the functions that return.
const looksAfter = 8

// stopEverywhere runs f with contexts that end at one look after the other, and returns how often
// it did.
func stopEverywhere(t *testing.T, what string, f func(context.Context) error) int {
	t.Helper()
	whole := enginetest.StopAt(0)
	if err := f(whole); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if whole.Looks() == 0 {
		t.Errorf("%s never looks at its context", what)
	}
	stopped := 0
	for _, k := range some(whole.Looks(), drawstest.Count(20, 60)) {
		ctx := enginetest.StopAt(k)
		err := f(ctx)
		if !ctx.Stopped() { // the looks of several workers are not always as many
			continue
		}
		stopped++
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled at look %d of %d: error %v", what, k, whole.Looks(), err)
		}
		if more := ctx.Late() - 1; more > looksAfter {
			t.Errorf("%s, canceled at look %d: %d looks came after it, want at most %d", what, k, more, looksAfter)
		}
	}
	return stopped
}

// TestPanickingListener: a panic of the listener reaches the goroutine that fits, as it is, and
// neither the engine nor what it lends is the worse for it.
func TestPanickingListener(t *testing.T) {
	eng, panics := enginetest.New(t, 2), 0
	for _, p := range racetest.Part(everywhere(t, 40)) {
		t.Run(p.method.Name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			want, n := p.learn(t, eng), p.reports(t, eng)
			for _, k := range some(n, drawstest.Count(7, 20)) {
				cause, reports := errors.New("a listener's panic"), 0
				got := recovered(func() {
					_, _ = p.fit(context.Background(), eng, func(algorithms.Progress) {
						if reports++; reports == k {
							panic(cause)
						}
					})
				})
				if got != any(cause) {
					t.Errorf("the listener's panic at report %d of %d arrives as %v", k, n, got)
				}
				if at := p.learn(t, eng).difference(want); at != "" {
					t.Errorf("%s differs in the fit after a panic at report %d of %d", at, k, n)
				}
				panics++
			}
		})
	}
	t.Logf("panics of a listener that reached the fitting goroutine: %d", panics)
}

// recovered runs f and returns the value it panics with, nil for none.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
