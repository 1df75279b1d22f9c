package krca

import (
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// contradictory returns two well-separated groups with right links between rows from 5 on, and the
// same links with a wrong must-link between the groups.
func contradictory(t *testing.T) (x *points.Dense, right, wrong *links.Set) {
	t.Helper()
	const n, first = 60, 5
	x = gaussian(n+2*first, 3, 9)
	var list []links.Link
	for i := range n {
		x.Row(first + i)[0] += 8 * float64(i%2)
		if i+4 < n {
			list = append(list, links.NewLink(first+i, first+i+4-2*(i/2%2), links.Must))
		}
		if i%3 == 0 {
			list = append(list, links.NewLink(first+i, first+(i+7)%n, links.Cannot))
		}
	}
	var err error
	if right, err = links.New(x.N, list); err != nil {
		t.Fatal(err)
	}
	if wrong, err = links.New(x.N, append(list, links.NewLink(25, 38, links.Must))); err != nil {
		t.Fatal(err)
	}
	return x, right, wrong
}

// TestRobust checks that a wrong must-link does not change the metric, in any kind of fit, and that
// right links give the same bits as the method of the paper.
func TestRobust(t *testing.T) {
	x, right, wrong := contradictory(t)
	eng, ctx := enginetest.New(t, 2), t.Context()
	plain := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"),
		Params: Params{EpsRel: 1e-3, Dims: 4, Landmarks: 20}}
	robust := plain
	robust.Params.Robust = true
	pairs := [][2]int{{0, 1}, {25, 38}, {5, 50}, {2, 2}}
	distances := func(m algorithms.Model, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := distances(plain.Fit(ctx, eng, x, right))
	if harmed := distances(plain.Fit(ctx, eng, x, wrong)); slices.Equal(harmed, want) {
		t.Error("robust=false leaves out the wrong must-link")
	}
	m, err := robust.Fit(ctx, eng, x, wrong)
	if got := distances(m, err); !slices.Equal(got, want) {
		t.Errorf("distances %v with a wrong must-link, %v without", got, want)
	}
	if notices := m.Status().Notices; len(notices) != 1 || !strings.Contains(notices[0], "left out 1 of") {
		t.Errorf("notices %q: want one about a must-link", notices)
	}
	if got := distances(robust.Fit(ctx, eng, x, right)); !slices.Equal(got, want) {
		t.Errorf("distances %v of right links, %v with robust=false", got, want)
	}
	rows, err := robust.Rows(wrong)
	if err != nil || len(rows) >= x.N {
		t.Fatalf("%d rows, error %v: want fewer than all", len(rows), err)
	}
	if got := distances(robust.FitRows(ctx, eng, x.Select(rows), wrong)); !slices.Equal(got, want) {
		t.Errorf("distances %v of FitRows, %v of right links", got, want)
	}
	u, err := m.(*Model).Incremental()
	if err != nil || u.Chunklets() != len(right.Chunklets()) {
		t.Errorf("%d chunklets to update, error %v: want those of right links", u.Chunklets(), err)
	}
}

// TestRobustParts checks metrics without an embedding, and paths.
func TestRobustParts(t *testing.T) {
	x, right, wrong := contradictory(t)
	eng, ctx := enginetest.New(t, 1), t.Context()
	plain := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: Params{EpsRel: 1e-3, Dims: 4}}
	robust := plain
	robust.Params.Robust = true
	pairs, values := [][2]int{{0, 1}, {25, 38}, {5, 50}}, []float64{1e-3, 1e-2}
	of := func(l Learner, set *links.Set) (out [][]float64) {
		t.Helper()
		metric, err := FitMetric(ctx, eng, l, x, set)
		if err != nil {
			t.Fatal(err)
		}
		path, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		d, err := metric.Distances(ctx, eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		along, err := path.Distances(ctx, eng, x, pairs, values)
		if err != nil {
			t.Fatal(err)
		}
		return append(along, d)
	}
	want, got, harmed := of(plain, right), of(robust, wrong), of(plain, wrong)
	for k := range want {
		if !slices.Equal(got[k], want[k]) {
			t.Errorf("distances %d: %v with a wrong must-link, %v without", k, got[k], want[k])
		}
		if slices.Equal(harmed[k], want[k]) {
			t.Errorf("distances %d: robust=false leaves out the wrong must-link", k)
		}
	}
}

// TestAllDistancesEqual: a kernel so narrow that no point is near another, and must-links that
// weigh nothing against the regularization, leave all distances equal, and a notice says so.
// Neither alone does.
func TestAllDistancesEqual(t *testing.T) {
	x := gaussian(30, 3, 4)
	set := chunkletSet(t, x.N, runs(x.N, 1, 2, 3, 2)...)
	for _, c := range []struct {
		kernel string
		epsRel float64
		noted  bool
	}{{"rbf:sigma=1e-9", 1e12, true}, {"rbf:sigma=1e-9", 1e-3, false}, {"rbf:sigma=1", 1e12, false}} {
		l := Learner{Kernel: enginetest.Spec(t, c.kernel), Params: Params{EpsRel: c.epsRel}}
		m, err := l.Fit(t.Context(), enginetest.New(t, 1), x, set)
		if err != nil {
			t.Fatal(err)
		}
		notices := m.Status().Notices
		if noted := slices.ContainsFunc(notices, func(n string) bool {
			return strings.Contains(n, "all learned distances")
		}); noted != c.noted {
			t.Errorf("%s, eps_rel=%g: notices %q", c.kernel, c.epsRel, notices)
		}
	}
}
