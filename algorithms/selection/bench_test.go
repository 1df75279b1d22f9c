package selection

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// twoHundred returns 200 candidates of three methods.
func twoHundred(b *testing.B) []Candidate {
	evenly := func(name string, from, to float64, count int) Axis {
		a := Axis{Name: name}
		for k := range count {
			v := from * math.Pow(to/from, float64(k)/float64(count-1))
			a.Values = append(a.Values, strconv.FormatFloat(v, 'g', 4, 64))
		}
		return a
	}
	var all []Candidate
	for _, g := range []struct {
		method string
		axes   []Axis
	}{
		{"krca", []Axis{{"kernel",
			[]string{"linear", "rbf:sigma=0.5msq", "rbf:sigma=msq", "rbf:sigma=2msq", "rbf:sigma=4msq"}},
			evenly("eps_rel", 1e-4, 0.1, 16)}},
		{"kbeta", []Axis{{"kernel",
			[]string{"rbf:sigma=0.5mean", "rbf:sigma=mean", "rbf:sigma=2mean", "rbf:sigma=4mean"}},
			evenly("reg_d", 1e-8, 1e-3, 15)}},
		{"npkl", []Axis{{"neighbors", []string{"5", "10"}}, {"delta", []string{"0.1", "0.5"}},
			evenly("C", 0.01, 100, 15)}},
	} {
		list, err := Grid([]string{g.method}, g.axes)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, list...)
	}
	if len(all) != 200 {
		b.Fatalf("%d candidates", len(all))
	}
	return all
}

// BenchmarkSelect scores 200 candidates by held-out links, together as Select does, and with
// separate fits. The best candidate is the same. Run it with -benchtime 1x.
func BenchmarkSelect(b *testing.B) {
	b.Run("wine", func(b *testing.B) {
		folder := os.Getenv("MUSTLINK_DATA")
		if folder == "" {
			b.Skip("MUSTLINK_DATA is not set")
		}
		d, err := dataset.Read(filepath.Join(folder, "wine.csv"), dataset.ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		scaling, _, err := prepare.Standardize(d.Points)
		if err != nil {
			b.Fatal(err)
		}
		x, err := scaling.Apply(d.Points)
		if err != nil {
			b.Fatal(err)
		}
		set, err := links.SampleByCount(d.Labels, 100, 100, 1)
		if err != nil {
			b.Fatal(err)
		}
		rivals(b, x, set, 5)
	})
	b.Run("n=2000,d=64", func(b *testing.B) {
		x, _, set := enginetest.Bands(b, 2000, 64, 500, 1)
		rivals(b, x, set, 2)
	})
}

func rivals(b *testing.B, x points.Points, set *links.Set, folds int) {
	ctx, eng := context.Background(), enginetest.New(b, 0)
	o := DefaultOptions()
	o.Candidates, o.Folds = twoHundred(b), folds
	for b.Loop() {
		begin := time.Now()
		together, err := Select(ctx, eng, x, set, o)
		if err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		alone := apart(b, x, set, o)
		b.ReportMetric(middle.Sub(begin).Seconds(), "s/together")
		b.ReportMetric(time.Since(middle).Seconds()/middle.Sub(begin).Seconds(), "apart-x")
		for k, r := range []*Result{together, alone} {
			seconds := map[string]float64{}
			for _, t := range r.Trials {
				seconds[t.Candidate.Method] += t.Seconds
			}
			b.Logf("%d: %s, %.6f; %d of %d failed; s of %.3v", k, r.Best, r.Trials[0].Mean, failed(r),
				len(r.Trials), seconds)
		}
		if together.Best.String() != alone.Best.String() {
			b.Errorf("the winner is %q, and %q by fits of their own", together.Best, alone.Best)
		}
	}
}

// apart is Select without shared fits and without a shared cache.
func apart(b *testing.B, x points.Points, set *links.Set, o Options) *Result {
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		b.Fatal(err)
	}
	store, err := openStore("", x, set, &o)
	if err != nil {
		b.Fatal(err)
	}
	s := &search{evaluator: j, store: store, start: time.Now(), trials: make([]Trial, len(o.Candidates)),
		apart: true}
	for i, c := range o.Candidates {
		s.trials[i].Candidate = c
	}
	if err := s.run(context.Background(), enginetest.New(b, 0)); err != nil {
		b.Fatal(err)
	}
	r, err := s.result()
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func failed(r *Result) int {
	n := 0
	for _, t := range r.Trials {
		if t.Error != "" {
			n++
		}
	}
	return n
}
