package gml

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// BenchmarkAddLinks compares a fit of 105 links on 2000 points with adding five of them to a model
// of the other 100, for every prior.
func BenchmarkAddLinks(b *testing.B) {
	const n = 2000
	x, _, _ := enginetest.Rings(b, n, 2, 1)
	list := enginetest.Mixed(n, 2, 105, 1)
	ctx, eng := context.Background(), enginetest.New(b, 0)
	for _, prior := range []Prior{RBF, Spectral, DataDep} {
		b.Run(string(prior), func(b *testing.B) {
			l := of(prior)
			l.Params.MaxIter = 1000
			m := fittest.Fit[*Model](b, l, x, enginetest.Links(b, n, list[:len(list)-5]))
			more, all := enginetest.Links(b, n, list[len(list)-5:]), enginetest.Links(b, n, list)
			enginetest.Ratio(b, "fit/added", func() error {
				_, err := l.Fit(ctx, eng, x, all)
				return err
			}, func() error {
				_, err := m.AddLinks(ctx, eng, x, more)
				return err
			})
		})
	}
}
