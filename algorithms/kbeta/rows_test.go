package kbeta_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

func parse(t *testing.T, text string) kernel.Spec {
	t.Helper()
	spec, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestFitRows checks that the points of Rows alone give the same model file as all points.
func TestFitRows(t *testing.T) {
	x, set := blobs(t, 400, 60)
	eng := enginetest.New(t, 2)
	for name, change := range map[string]func(p *kbeta.Params){
		"landmarks":         func(p *kbeta.Params) { p.Landmarks = 150 },
		"all points":        func(p *kbeta.Params) {},
		"fewer than linked": func(p *kbeta.Params) { p.Landmarks = 10 },
		"rows of landmarks": func(p *kbeta.Params) {
			p.LandmarkRows, p.Rule = []int{3, 399, 17}, landmarks.Leverage
		},
		"cannot-links": func(p *kbeta.Params) { p.Landmarks, p.Cannot = 150, 0.5 },
		"Nystrom's, uniform": func(p *kbeta.Params) {
			p.Landmarks, p.Extension, p.Rule = 130, kbeta.Nystrom, ""
		},
	} {
		l := kbeta.Learner{Kernel: parse(t, "rbf:sigma=0.7"), Params: kbeta.DefaultParams(), Seed: 6}
		change(&l.Params)
		rows, err := l.Rows(set)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.IsSorted(rows) || name != "all points" && len(rows) == x.N {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		some, err := l.FitRows(t.Context(), eng, x.Select(rows), set)
		if err != nil {
			t.Fatal(name, err)
		}
		all, err := l.Fit(t.Context(), eng, x, set)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(enginetest.TimelessModel(t, some), enginetest.TimelessModel(t, all)) {
			t.Errorf("%s: the file is not that of a fit on all points", name)
		}
	}
}

func TestFitRowsErrors(t *testing.T) {
	x, set := blobs(t, 100, 20)
	eng := enginetest.New(t, 1)
	good := kbeta.Learner{Kernel: parse(t, "rbf:sigma=0.7"), Params: kbeta.DefaultParams()}
	good.Params.Landmarks = 60
	rows, err := good.Rows(set)
	if err != nil {
		t.Fatal(err)
	}
	given := x.Select(rows)
	none, err := links.New(100, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(l *kbeta.Learner)
		x      points.Points
		set    *links.Set
	}{
		"a rule of landmarks": {func(l *kbeta.Learner) { l.Params.Rule = landmarks.KMeans }, given, set},
		"a rule of bandwidths": {func(l *kbeta.Learner) {
			l.Kernel = parse(t, "rbf:sigma=mean")
		}, given, set},
		"the default kernel": {func(l *kbeta.Learner) { l.Kernel = kernel.Spec{} }, given, set},
		"too many points":    {func(*kbeta.Learner) {}, x, set},
		"no links":           {func(*kbeta.Learner) {}, given, none},
		"a parameter":        {func(l *kbeta.Learner) { l.Params.Neighbors = 0 }, given, set},
		"too many neighbors": {func(l *kbeta.Learner) { l.Params.Neighbors = 60 }, given, set},
	} {
		l := good
		c.change(&l)
		if _, err := l.FitRows(t.Context(), eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	var rule *fault.ParamError
	good.Params.Rule = landmarks.Farthest
	if _, err := good.Rows(set); !errors.As(err, &rule) || rule.Param != "rule" {
		t.Errorf("rows of the farthest points: %v", err)
	}
}
