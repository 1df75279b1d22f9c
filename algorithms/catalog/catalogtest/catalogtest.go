// Package catalogtest (internal: may change) is for tests and measurements that fit every method
// of the catalog to points and links: methods that learn from something else get that too.
package catalogtest

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Methods returns those of the catalog. Learners that learn from targets have those of [Targets].
func Methods() []catalog.Method {
	methods := catalog.Methods()
	for i, m := range methods {
		methods[i] = updated(m)
	}
	return methods
}

// Lookup returns one of [Methods]. Errors are those of [catalog.Lookup].
func Lookup(name string) (catalog.Method, error) {
	m, err := catalog.Lookup(name)
	return updated(m), err
}

// Targets returns 0 and 1 in turn, n numbers.
func Targets(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i % 2)
	}
	return out
}

func updated(m catalog.Method) catalog.Method {
	plain := m.New
	if m.UsesTargets {
		m.New = func(c catalog.Config) (algorithms.Learner, error) {
			l, err := plain(c)
			return learner{l, plain, c}, err
		}
	}
	return m
}

// learner gets its targets when it knows the number of rows.
type learner struct {
	algorithms.Learner
	new    func(catalog.Config) (algorithms.Learner, error)
	config catalog.Config
}

func (l learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	l.config.Lesson.Targets = Targets(x.Len())
	given, err := l.new(l.config)
	if err != nil {
		return nil, err
	}
	return given.Fit(ctx, eng, x, set)
}
