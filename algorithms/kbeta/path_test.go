package kbeta_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestPathIsTheFits checks that every model on the path is bit-identical to a fit, and that
// distances agree up to rounding: between landmarks and new points, for both extensions and with
// iterations.
func TestPathIsTheFits(t *testing.T) {
	const n = 80
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, set := blobs(t, n, 20)
	fresh, _ := blobs(t, 30, 1)
	both := &points.Dense{N: n + 30, D: 2, Data: append(slices.Clone(x.Data), fresh.Data...)}
	var pairs [][2]int
	for i := range both.N {
		pairs = append(pairs, [2]int{i, (i*7 + 3) % both.N})
	}
	values := []float64{1e-2, 0, 1e-6, 1, 100}
	for name, change := range map[string]func(p *kbeta.Params){
		"basic":      func(*kbeta.Params) {},
		"landmarks":  func(p *kbeta.Params) { p.Landmarks = 45 },
		"iterations": func(p *kbeta.Params) { p.Landmarks, p.Iterations = 45, 3 },
		"nystrom":    func(p *kbeta.Params) { p.Landmarks, p.Extension = 45, kbeta.Nystrom },
		"cannot":     func(p *kbeta.Params) { p.Cannot = 0.7 },
	} {
		l := kbeta.Learner{Params: kbeta.DefaultParams(), Seed: 7}
		change(&l.Params)
		path, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := path.Distances(ctx, eng, both, pairs, values)
		if err != nil {
			t.Fatal(err)
		}
		for at, regD := range values {
			if l.Params.RegD = regD; regD > 0 {
				if parameter, value := l.PathValue(); parameter != "reg_d" || value != regD {
					t.Errorf("the path is of %s = %g", parameter, value)
				}
			}
			want, err := l.Fit(ctx, eng, x, set)
			if err != nil {
				t.Fatal(err)
			}
			m, err := path.(*kbeta.Path).Model(regD)
			if err != nil {
				t.Fatal(err)
			}
			if m.Params().RegD != regD || m.Objective() != want.(*kbeta.Model).Objective() {
				t.Errorf("%s: parameters %+v, objective %g", name, m.Params(), m.Objective())
			}
			wantSameModel(t, eng, m, want.(*kbeta.Model), both)
			d, err := want.Distances(ctx, eng, both, pairs)
			if err != nil {
				t.Fatal(err)
			}
			for k := range d {
				if !(math.Abs(got[at][k]-d[k]) <= 1e-12*slices.Max(d)) {
					t.Fatalf("%s, reg_d %g: pair %v is %.17g apart, after a fit %.17g", name, regD, pairs[k],
						got[at][k], d[k])
				}
			}
		}
	}
}

func TestPathMistakes(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, set := blobs(t, 30, 8)
	l := kbeta.Learner{Params: kbeta.DefaultParams()}
	path, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 1}}, []float64{1, v}); !fault.IsInput(err) {
			t.Errorf("reg_d %g: error %v, want one of the input", v, err)
		}
	}
	if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 30}}, []float64{1}); !fault.IsInput(err) {
		t.Errorf("a row out of range: error %v", err)
	}
	if _, err := l.FitPath(ctx, eng, x, enginetest.Links(t, 30, nil)); !fault.IsInput(err) {
		t.Errorf("no links: error %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.FitPath(ended, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	if _, err := path.Distances(ended, eng, x, [][2]int{{0, 1}}, []float64{1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// labeled returns points with three sets of links: 100 must-links, five more, and all of them.
func labeled(b *testing.B, n int) (x *points.Dense, set, more, all *links.Set) {
	x, _, all = enginetest.Bands(b, n, 20, 105, 1)
	list := all.Must()
	return x, enginetest.Links(b, n, list[:100]), enginetest.Links(b, n, list[100:]),
		enginetest.Links(b, n, list)
}

// BenchmarkAddLinks compares a fit of 105 links on 2000 landmarks with adding five of them to a
// model of the other 100.
func BenchmarkAddLinks(b *testing.B) {
	x, set, more, all := labeled(b, 2000)
	ctx, eng, l := context.Background(), enginetest.New(b, 0), kbeta.Learner{Params: kbeta.DefaultParams()}
	m := fit(b, eng, x, set, "", nil)
	enginetest.Ratio(b, "fit/added", func() error {
		_, err := l.Fit(ctx, eng, x, all)
		return err
	}, func() error {
		_, err := m.AddLinks(ctx, eng, x, more)
		return err
	})
}

// BenchmarkPath compares fits of eight values of reg_d on 2000 landmarks, and the distances of 1000
// pairs, with a path of them.
func BenchmarkPath(b *testing.B) {
	x, _, _, all := labeled(b, 2000)
	ctx, eng, l := context.Background(), enginetest.New(b, 0), kbeta.Learner{Params: kbeta.DefaultParams()}
	values := []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}
	pairs := make([][2]int, 1000)
	for p := range pairs {
		pairs[p] = [2]int{p, x.N - 1 - p}
	}
	enginetest.Ratio(b, "fits/path", func() error {
		for _, v := range values {
			l.Params.RegD = v
			m, err := l.Fit(ctx, eng, x, all)
			if err != nil {
				return err
			}
			if _, err := m.Distances(ctx, eng, x, pairs); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		path, err := l.FitPath(ctx, eng, x, all)
		if err != nil {
			return err
		}
		_, err = path.Distances(ctx, eng, x, pairs, values)
		return err
	})
}
