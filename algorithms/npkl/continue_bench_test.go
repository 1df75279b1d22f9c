package npkl

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// BenchmarkAddLinks compares a fit of 105 links on 2000 points with adding five of them to a model
// of the other 100.
func BenchmarkAddLinks(b *testing.B) {
	x, labels := clouds(2000, 20, 4)
	set, err := links.SampleByCount(labels, 50, 50, 1)
	if err != nil {
		b.Fatal(err)
	}
	more, err := links.SampleByCount(labels, 3, 2, 2)
	if err != nil {
		b.Fatal(err)
	}
	ctx, eng, l := context.Background(), enginetest.New(b, 0), Learner{Params: DefaultParams()}
	m := fittest.Fit[*Model](b, l, x, set)
	all, err := links.New(x.N,
		append(append(set.Must(), more.Must()...), append(set.Cannot(), more.Cannot()...)...))
	if err != nil {
		b.Fatal(err)
	}
	enginetest.Ratio(b, "fit/added", func() error {
		_, err := l.Fit(ctx, eng, x, all)
		return err
	}, func() error {
		_, err := m.AddLinks(ctx, eng, x, more)
		return err
	})
}

// BenchmarkPath compares fits of eight values of C on 2000 points with 400 links with a path of
// them.
func BenchmarkPath(b *testing.B) {
	x, labels := clouds(2000, 20, 4)
	set, err := links.SampleByCount(labels, 200, 200, 1)
	if err != nil {
		b.Fatal(err)
	}
	values := []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32}
	ctx, eng, l := context.Background(), enginetest.New(b, 0), Learner{Params: DefaultParams()}
	enginetest.Ratio(b, "fits/path", func() error {
		for _, c := range values {
			l.Params.C = c
			if _, err := l.Fit(ctx, eng, x, set); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		path, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			return err
		}
		_, err = path.(*Path).Models(ctx, eng, values)
		return err
	})
}
