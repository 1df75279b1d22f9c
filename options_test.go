package mustlink

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/racetest"
)

// pairsOf returns n random rows of two features, and must-links of neighbors in their order.
func pairsOf(t *testing.T, n int) (*Table, *Links) {
	t.Helper()
	rng, rows := rand.New(rand.NewPCG(1, 1)), make([][]float64, n)
	var must, cannot [][2]int
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		if i%4 == 3 {
			must, cannot = append(must, [2]int{i - 1, i}), append(cannot, [2]int{i - 3, i})
		}
	}
	table, err := FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	links, err := NewLinks(n, must, cannot)
	if err != nil {
		t.Fatal(err)
	}
	return table, links
}

// Models share an engine if their numbers of workers and memory limits are equal, and only then.
func TestEnginesAreShared(t *testing.T) {
	table, links := pairsOf(t, 40)
	fit := func(options ...Option) *Model {
		t.Helper()
		m, err := Fit(t.Context(), table, links, append(options, Method("rca"))...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	none := fit()
	for name, models := range map[string][2]*Model{
		"no options":   {none, fit()},
		"zeros":        {none, fit(Workers(0), MemoryLimit(0))},
		"one worker":   {fit(Workers(1)), fit(Workers(1))},
		"with a limit": {fit(MemoryLimit(1 << 30)), fit(MemoryLimit(1<<30), Workers(0))},
	} {
		if models[0].eng != models[1].eng {
			t.Errorf("%s: two engines", name)
		}
	}
	others := []*Model{none, fit(Workers(1)), fit(Workers(2)), fit(Workers(1), MemoryLimit(1<<30)),
		fit(Workers(1), MemoryLimit(1<<31))}
	for i, m := range others {
		for j := range i {
			if m.eng == others[j].eng {
				t.Errorf("models %d and %d share an engine", j, i)
			}
		}
	}
	if e := others[4].eng; e.Workers() != 1 || e.MemoryLimit() != 1<<31 {
		t.Errorf("an engine of %d workers and %d bytes", e.Workers(), e.MemoryLimit())
	}
}

// An engine that no model uses is forgotten, so that a program may compute its limits.
func TestEnginesAreForgotten(t *testing.T) {
	for limit := range int64(1000) {
		if _, err := engineFor(sharing{1, 1<<40 + limit}); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		runtime.GC()
		left := 0
		engines.Range(func(k, _ any) bool {
			if k.(sharing).limit >= 1<<40 {
				left++
			}
			return true
		})
		if left == 0 {
			return
		}
	}
	t.Error("engines without a model are kept")
}

// Two hundred models with an option of the engine take the memory of their own numbers, whether
// they share the engine of all models, one of their own, or none at all.
func TestModelsKeepNoScratchMemory(t *testing.T) {
	table, links := pairsOf(t, 60)
	live := func() int64 {
		var m runtime.MemStats
		for range 3 { // what is in a sync.Pool is free after two collections
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	models := make([]*Model, racetest.Fewer(200))
	memory := func(options func(i int) []Option) int64 {
		t.Helper()
		before := live()
		for i := range models {
			var err error
			models[i], err = Fit(t.Context(), table, links, append(options(i), Method("krca"))...)
			if err != nil {
				t.Fatal(err)
			}
		}
		after := live()
		runtime.KeepAlive(models)
		clear(models)
		return (after - before) / int64(len(models))
	}
	memory(func(int) []Option { return nil }) // what the first fits of a process make
	all := memory(func(int) []Option { return nil })
	for name, options := range map[string]func(i int) []Option{
		"one worker":       func(int) []Option { return []Option{Workers(1)} },
		"equal limits":     func(int) []Option { return []Option{MemoryLimit(1 << 32)} },
		"different limits": func(i int) []Option { return []Option{MemoryLimit(1<<32 + int64(i))} },
		"own engines": func(i int) []Option {
			e, err := engine.New(engine.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			return []Option{Engine(e)}
		},
	} {
		bound := all + 1<<10
		if name == "different limits" || name == "own engines" {
			bound = all + 8<<10 // an engine without memory
		}
		if a := memory(options); a > bound {
			t.Errorf("%s: a model takes %d bytes, %d with no option", name, a, all)
		}
	}
}
