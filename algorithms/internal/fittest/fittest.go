// Package fittest (internal: may change) fits models for tests.
package fittest

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Fit returns the model of a learner, fitted with all processors.
func Fit[M algorithms.Model](t enginetest.Fataler, l algorithms.Learner, x points.Points, set *links.Set) M {
	t.Helper()
	return On[M](t, enginetest.New(t, 0), l, x, set)
}

// On returns the model of a learner, fitted on an engine.
func On[M algorithms.Model](t enginetest.Fataler, eng *engine.Engine, l algorithms.Learner, x points.Points,
	set *links.Set) M {
	t.Helper()
	m, err := l.Fit(context.Background(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	return m.(M)
}

// Changed returns a function that fits a method with changed defaults.
func Changed[M algorithms.Model, P any](
	method func(P, algorithms.Common) algorithms.Learner, defaults P,
) func(t enginetest.Fataler, change func(*P), x points.Points, set *links.Set) M {
	return func(t enginetest.Fataler, change func(*P), x points.Points, set *links.Set) M {
		t.Helper()
		p := defaults
		change(&p)
		return Fit[M](t, method(p, algorithms.Common{}), x, set)
	}
}

// Spoiled checks that the file of a model is refused as input after each change.
func Spoiled[D any](t *testing.T, m interface{ Encode(f *model.File) error },
	decode func(*model.File) (D, error), changes map[string]func(f *model.File)) {
	t.Helper()
	for name, spoil := range changes {
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		spoil(f)
		if _, err := decode(f); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}

// Fails lets a fit, and the embedding of its points, fail at one look at the context after the
// other: both must return the very error. See [enginetest.FailEverywhere].
func Fails(t *testing.T, l algorithms.Learner, x points.Points, set *links.Set, most int, later ...string) {
	t.Helper()
	eng := enginetest.New(t, 1)
	enginetest.FailEverywhere(t, "fit", most, func(ctx context.Context) error {
		_, err := l.Fit(ctx, eng, x, set)
		return err
	}, later...)
	m, err := l.Fit(context.Background(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.FailEverywhere(t, "embed", most, func(ctx context.Context) error {
		_, err := m.Embed(ctx, eng, x)
		return err
	}, later...)
}
