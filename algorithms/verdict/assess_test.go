package verdict_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func learner(t *testing.T, method string) algorithms.Learner {
	t.Helper()
	l, err := catalog.New(method, catalog.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func judged(t *testing.T, method string, x points.Points, set *links.Set, folds int) *verdict.Verdict {
	t.Helper()
	v, err := verdict.Assess(t.Context(), enginetest.New(t, 2), learner(t, method), x, set,
		verdict.Options{Folds: folds, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Validate(); err != nil {
		t.Error(err)
	}
	return v
}

// Rings are apart in a learned kernel, and not as they are. With links that mean nothing, no metric
// is called better. Links that say the opposite of distance make it worse than raw or similar.
func TestFindings(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 120, 5, 3)
	right := enginetest.Drawn(t, labels, 150, 150, 4)
	for _, folds := range []int{1, 4} {
		if v := judged(t, "lleratio", x, right, folds); v.Finding() != verdict.Better || v.Gain < 0.2 ||
			v.Fits != folds || len(v.Reasons) > 0 {
			t.Errorf("rings, %d folds: %+v", folds, v)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(5) {
		meaningless := make([]string, len(labels))
		for i := range meaningless {
			meaningless[i] = string(rune('a' + rng.IntN(2)))
		}
		v := judged(t, "lleratio", x, enginetest.Drawn(t, meaningless, 100, 100, seed), 1)
		if v.Finding() == verdict.Better || len(v.Reasons) != 3 || math.Abs(v.AUC-0.5) > 5*v.Error {
			t.Errorf("meaningless links: %v, reasons %q", v, v.Reasons)
		}
	}
}

// Raw is the AUC of the held-out links in the points as they are, whatever the method.
func TestRawDoesNotDependOnTheMethod(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	set := enginetest.Drawn(t, labels, 80, 80, 4)
	a, b := judged(t, "krca", x, set, 3), judged(t, "itml", x, set, 3)
	if a.Raw != b.Raw || a.Must != b.Must || a.Cannot != b.Cannot || a.AUC == b.AUC {
		t.Errorf("%+v, %+v", a, b)
	}
}

// The linear method without change, kpca with a linear kernel and all directions, has the AUC of
// raw points.
func TestUnchangedMetricIsSimilar(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	l, err := catalog.New("kpca", catalog.Config{Kernel: "linear", Params: map[string]string{"dims": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Assess(t.Context(), enginetest.New(t, 2), l, x, enginetest.Drawn(t, labels, 80, 80, 4),
		verdict.Options{Seed: 3})
	if err != nil || math.Abs(v.Gain) > 1e-12 || v.Finding() != verdict.Similar {
		t.Errorf("%+v, %v", v, err)
	}
}

// With a duration that is given, the number of fits does not depend on the clock.
func TestEach(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	set := enginetest.Drawn(t, labels, 80, 80, 4)
	for seconds, want := range map[time.Duration]int{1: 5, 3: 3, 5: 2, 100: 1} {
		v, err := verdict.Assess(t.Context(), enginetest.New(t, 2), learner(t, "rca"), x, set,
			verdict.Options{Budget: 10 * time.Hour, Each: seconds * time.Hour})
		if err != nil || v.Fits != want || v.Parts != 5 {
			t.Errorf("%d hours each of ten: %+v, %v: want %d fits of 5", seconds, v, err, want)
		}
	}
}

// A verdict has the same bits for any number of workers.
func TestWorkers(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	set := enginetest.Drawn(t, labels, 80, 80, 4)
	var first *verdict.Verdict
	for _, workers := range []int{1, 3} {
		v, err := verdict.Assess(t.Context(), enginetest.New(t, workers), learner(t, "blend"), x, set,
			verdict.Options{Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !reflect.DeepEqual(v, first) {
			t.Errorf("%+v, with one worker %+v", v, first)
		}
		first = v
	}
}

// Too few links, links of one kind, and fits that fail give a verdict that says so.
func TestMissing(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	few := enginetest.Drawn(t, labels, 3, 3, 4)
	cannot := enginetest.Drawn(t, labels, 0, 60, 4)
	for name, c := range map[string]struct {
		method string
		set    *links.Set
		want   string
	}{
		"few":    {"lleratio", few, "of each kind"},
		"cannot": {"itml", cannot, "want must-links too"},
		"fails":  {"mlkr", enginetest.Drawn(t, labels, 60, 60, 4), "a fit without some of the links failed"},
	} {
		v := judged(t, c.method, x, c.set, 1)
		if v.Finding() != verdict.Unknown || !strings.Contains(v.Missing, c.want) ||
			!strings.HasPrefix(v.String(), "not judged: ") {
			t.Errorf("%s: %+v, want %q", name, v, c.want)
		}
	}
	if v := judged(t, "krca", x, enginetest.Drawn(t, labels, 80, 0, 4), 1); v.Finding() != verdict.Better ||
		!v.Alone || v.Cannot != 0 {
		t.Errorf("must-links alone: %+v", v)
	}
}

// What fails anywhere is the error, or that of a fit that the verdict counts as failed.
func TestFailing(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 40, 5, 3)
	set := enginetest.Drawn(t, labels, 40, 40, 4)
	for _, method := range []string{"krca", "itml"} {
		enginetest.FailEverywhere(t, method, 200, func(ctx context.Context) error {
			v, err := verdict.Assess(ctx, enginetest.New(t, 1), learner(t, method), x, set,
				verdict.Options{Folds: 2})
			if err == nil && (v.Failed == 1 || strings.Contains(v.Missing, enginetest.ErrBroken.Error())) {
				return enginetest.ErrBroken
			}
			return err
		})
	}
}

// Wrong input and the end of the context are errors.
func TestErrors(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 40, 5, 3)
	set := enginetest.Drawn(t, labels, 40, 40, 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := verdict.Assess(ctx, enginetest.New(t, 1), learner(t, "krca"), x, set,
		verdict.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := verdict.Assess(t.Context(), enginetest.New(t, 1), learner(t, "krca"),
		x.Select([]int{1, 2, 3}), set, verdict.Options{}); !fault.IsInput(err) {
		t.Errorf("other points: %v", err)
	}
	if _, err := verdict.Assess(t.Context(), enginetest.New(t, 1), learner(t, "krca"), x, set,
		verdict.Options{Folds: -1}); !fault.IsInput(err) {
		t.Errorf("folds: %v", err)
	}
}

// Every kind of points has distances without learning; those of vectors do not depend on how they
// are stored.
func TestRawDistances(t *testing.T) {
	x, _, _ := enginetest.Rings(t, 30, 3, 3)
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gram := make([]float64, x.N*x.N)
	reference := make([]int, x.N)
	diagonal := make([]float64, x.N)
	for i := range x.N {
		for j := range x.N {
			for k := range x.D {
				gram[i*x.N+j] += x.Row(i)[k] * x.Row(j)[k]
			}
		}
		diagonal[i], reference[i] = gram[i*x.N+i], i
	}
	pairs := [][2]int{{0, 1}, {3, 20}, {7, 7}}
	for name, p := range map[string]points.Points{"sparse": enginetest.Sparse(x),
		"Gram": &points.Gram{N: x.N, M: x.N, Data: gram, Diagonal: diagonal, Reference: reference}} {
		d, err := verdict.Distances(t.Context(), eng, p, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for k, pair := range pairs {
			if want := enginetest.SquaredDistance(x.Row(pair[0]),
				x.Row(pair[1])); math.Abs(d[k]-want) > 1e-12 {
				t.Errorf("%s, pair %v: %v, want %v", name, pair, d[k], want)
			}
		}
	}
}

// The last step of a learning curve is the verdict on the same folds; the steps have ever more
// links.
func TestCurve(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 120, 5, 3)
	set := enginetest.Drawn(t, labels, 150, 150, 4)
	o := verdict.Options{Folds: 2, Seed: 3}
	c, err := verdict.Grow(t.Context(), enginetest.New(t, 2), learner(t, "lleratio"), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	v := judged(t, "lleratio", x, set, 2)
	if last := c.Steps[len(c.Steps)-1]; last.AUC != v.AUC || last.Error != v.Error || c.Raw != v.Raw {
		t.Errorf("last step %+v, raw %v: verdict %+v", last, c.Raw, v)
	}
	for k := range len(c.Steps) - 1 {
		if c.Steps[k].Links >= c.Steps[k+1].Links {
			t.Errorf("steps %+v: want ever more links", c.Steps)
		}
	}
	if before := c.Steps[len(c.Steps)-2].AUC; math.Abs(before+c.Gain-v.AUC) > 1e-15 ||
		c.Saturated() != (c.Gain <= c.GainError) {
		t.Errorf("the last doubling gained %v of %+v", c.Gain, c.Steps)
	}
	for want, gain := range map[string]float64{"no more than chance": 1, "may help": 1.5, "would help": 2} {
		c.Gain, c.GainError = gain, 1
		if !strings.HasSuffix(c.String(), want) {
			t.Errorf("%v errors: %v, want %q", gain, c, want)
		}
	}
	if c, err = verdict.Grow(t.Context(), enginetest.New(t, 2), learner(t, "rca"), x, set,
		verdict.Options{Folds: 5}); err != nil {
		t.Fatal(err)
	}
	if v := judged(t, "rca", x, set, 5); v.Fits < 3 || c.Steps[0].Links < 1 ||
		c.Steps[len(c.Steps)-1].Links > set.Len() {
		t.Errorf("steps %+v of %d fits: want means of 1 to %d links", c.Steps, v.Fits, set.Len())
	}
	few, err := verdict.Grow(t.Context(), enginetest.New(t, 2), learner(t, "lleratio"), x,
		enginetest.Drawn(t, labels, 2, 2, 4), o)
	if err != nil || few.Missing == "" || !strings.HasPrefix(few.String(), "not measured") {
		t.Errorf("few links: %+v, %v", few, err)
	}
}
