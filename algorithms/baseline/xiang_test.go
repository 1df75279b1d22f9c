package baseline_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// xiangProblem returns points whose classes differ in the second feature only, and links.
func xiangProblem(t *testing.T, n, d, pairs int) (*points.Dense, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		labels[i] = []string{"a", "b"}[i%2]
		for j := range d {
			x.Data[i*d+j] = 3 * rng.NormFloat64()
		}
		x.Row(i)[1] = 0.2*rng.NormFloat64() + float64(i%2)
	}
	set, err := links.SampleByCount(labels, pairs, pairs, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

func xiangFit(t *testing.T, x points.Points, set *links.Set, dims int) *baseline.XiangModel {
	t.Helper()
	return fittest.Fit[*baseline.XiangModel](t, baseline.XiangLearner{Params: baseline.Xiang{Dims: dims}}, x,
		set)
}

// TestXiangFindsTheDirection checks that the one direction in which classes differ is found, and
// that W has orthonormal rows.
func TestXiangFindsTheDirection(t *testing.T) {
	x, set := xiangProblem(t, 200, 5, 60)
	w, _ := xiangFit(t, x, set, 1).Transform()
	if math.Abs(w.At(0, 1)) < 0.98 {
		t.Errorf("W is %v: want it along the second feature", w.Data)
	}
	w, _ = xiangFit(t, x, set, 0).Transform()
	if w.Rows != 2 {
		t.Fatalf("%d dimensions of 5 features by default, want 2", w.Rows)
	}
	for a := range w.Rows {
		for b := range w.Rows {
			sum, want := 0.0, 0.0
			if a == b {
				want = 1
			}
			for j := range w.Cols {
				sum += w.At(a, j) * w.At(b, j)
			}
			if math.Abs(sum-want) > 1e-13 {
				t.Errorf("product of rows %d and %d is %g", a, b, sum)
			}
		}
	}
}

// TestXiangUnbounded checks that without a bound, W vanishes on the must-links, that the status
// reports it, and that a file preserves it.
func TestXiangUnbounded(t *testing.T) {
	x, set := xiangProblem(t, 40, 9, 3)
	m := xiangFit(t, x, set, 4)
	if m.Status().Message == "" {
		t.Error("no message that the ratio has no bound")
	}
	var pairs [][2]int
	for _, l := range set.Must() {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(d) > 1e-20 {
		t.Errorf("must-links are %v apart", d)
	}
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.Decode[baseline.Xiang](baseline.XiangMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Transform()
	b, _ := back.Transform()
	if !slices.Equal(a.Data, b.Data) || back.Status().Message != m.Status().Message {
		t.Error("the model that was read differs from the one that was written")
	}
	f.Header.Params = []byte(`{"dims":-1}`)
	_, err = fitted.Decode[baseline.Xiang](baseline.XiangMethod, f, fitted.ReadLinear)
	if !fault.IsInput(err) {
		t.Errorf("dims below 0 in a file: error %v", err)
	}
}

func TestXiangBadInput(t *testing.T) {
	x, set := xiangProblem(t, 40, 4, 8)
	only := func(sign links.Sign) *links.Set {
		s, err := links.New(40, []links.Link{links.NewLink(0, 2, sign)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	nan := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	nan.Data[3] = math.Inf(1)
	for name, c := range map[string]struct {
		x    points.Points
		set  *links.Set
		dims int
	}{
		"no cannot-links": {x, only(links.Must), 0},
		"no must-links":   {x, only(links.Cannot), 0},
		"all dims":        {x, set, 4},
		"dims below 0":    {x, set, -1},
		"infinity":        {nan, set, 0},
		"rows":            {x.Select([]int{1, 2}), set, 0},
		"one place":       {&points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set, 0},
		"sparse":          {&points.CSR{N: 40, D: 4, Start: make([]int, 41)}, set, 0},
	} {
		if _, err := (baseline.XiangLearner{Params: baseline.Xiang{Dims: c.dims}}).Fit(context.Background(),
			enginetest.New(t, 0), c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (baseline.XiangLearner{}).Fit(ctx, enginetest.New(t, 0), x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestXiangIdleColumns: a notice counts the columns that no cannot-link determines, and with the
// number of columns that it asks for, rounding does not change the metric.
func TestXiangIdleColumns(t *testing.T) {
	const must, cannot = 6, 5
	rng := rand.New(rand.NewPCG(7, 8))
	x := &points.Dense{N: 60, D: 24}
	for range x.N * x.D {
		x.Data = append(x.Data, rng.NormFloat64())
	}
	var list []links.Link
	var pairs [][2]int
	for k := range must + cannot {
		sign := links.Must
		if k >= must {
			sign = links.Cannot
		}
		list = append(list, links.NewLink(2*k, 2*k+1, sign))
		pairs = append(pairs, [2]int{k, 30 + k})
	}
	set, err := links.New(x.N, list)
	if err != nil {
		t.Fatal(err)
	}
	notices := xiangFit(t, x, set, 0).Status().Notices
	if len(notices) != 1 || !strings.HasPrefix(notices[0], "7 of the 12 columns") ||
		!strings.Contains(notices[0], "use dims=5 or more than 5 cannot-links") {
		t.Errorf("12 columns, 5 cannot-links: %q", notices)
	}
	moved := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for i, v := range moved.Data {
		moved.Data[i] = v * (1 + 4e-16*rng.NormFloat64())
	}
	var squared [2][]float64
	for k, x := range []*points.Dense{x, moved} {
		m := xiangFit(t, x, set, cannot)
		if len(m.Status().Notices) > 0 {
			t.Errorf("5 columns, 5 cannot-links: %q", m.Status().Notices)
		}
		if squared[k], err = m.Distances(context.Background(), enginetest.New(t, 0), x, pairs); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range squared[0] {
		if math.Abs(v-squared[1][k]) > 1e-4*v {
			t.Errorf("pair %d: squared distance %g, and %g after rounding errors", k, v, squared[1][k])
		}
	}
}
