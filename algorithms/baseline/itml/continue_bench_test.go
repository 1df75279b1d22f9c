package itml

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
)

// BenchmarkAddLinks compares a fit of 105 links on 2000 points with adding five of them to a model
// of the other 100, in both modes.
func BenchmarkAddLinks(b *testing.B) {
	const n = 2000
	x, _, _ := enginetest.Bands(b, n, 20, 2, 1)
	list := randomLinks(n, 105, 1)
	ctx, eng := context.Background(), enginetest.New(b, 0)
	for name, text := range map[string]string{"linear": "", "rbf": "rbf:sigma=mean"} {
		b.Run(name, func(b *testing.B) {
			l := Learner{Params: DefaultParams()}
			if text != "" {
				var err error
				if l.Kernel, err = kernel.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
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
