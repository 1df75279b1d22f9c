package krca

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// The points of Rows alone give the file that all points give, in both forms.
func TestFitRows(t *testing.T) {
	x := gaussian(300, 4, 8)
	set := chunkletSet(t, 300, []int{290, 4, 20}, []int{7, 180, 33, 121}, []int{200, 11}, []int{250})
	eng := enginetest.New(t, 2)
	for name, l := range map[string]Learner{
		"eps_rel": {Kernel: enginetest.Spec(t, "rbf:sigma=1.5"),
			Params: Params{EpsRel: 1e-3, Dims: 5, Landmarks: 60}, Seed: 4},
		"exp": {Kernel: enginetest.Spec(t, "exp:width=2@poly:degree=2,coef=1"),
			Params: Params{EpsRel: 1e-3, Dims: 5, Landmarks: 60}, Seed: 5},
		"eps": {Kernel: enginetest.Spec(t, "linear"), Params: Params{Eps: 1e-2, Landmarks: 60}, Seed: 4},
		"fixed_s": {Kernel: enginetest.Spec(t, "rbf:sigma=1"),
			Params: Params{FixedS: 0.5, Dims: 3, Landmarks: 60}},
		"spectral": {Kernel: enginetest.Spec(t, "linear"),
			Params: Params{Eps: 1e-5, Dims: 3, Landmarks: 60, Form: FormSpectral}},
		"all": {Kernel: enginetest.Spec(t, "rbf:sigma=1"), Params: Params{EpsRel: 1e-3, Dims: 3}},
	} {
		rows, err := l.Rows(set)
		if err != nil {
			t.Fatal(name, err)
		}
		if most := 60 + 10; !slices.IsSorted(rows) || name != "all" && len(rows) > most {
			t.Errorf("%s: %d rows, want at most %d, ascending", name, len(rows), most)
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
	x, eng := gaussian(50, 2, 3), enginetest.New(t, 1)
	set := chunkletSet(t, 50, []int{1, 2}, []int{30, 4})
	good := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=1"),
		Params: Params{EpsRel: 1e-3, Dims: 3, Landmarks: 20}}
	rows, err := good.Rows(set)
	if err != nil {
		t.Fatal(err)
	}
	given := x.Select(rows)
	for name, c := range map[string]struct {
		change func(l *Learner)
		x      points.Points
		set    *links.Set
	}{
		"a rule of bandwidths": {func(l *Learner) {
			l.Kernel = enginetest.Spec(t, "rbf:sigma=mean")
		}, given, set},
		"the default kernel": {func(l *Learner) { l.Kernel = kernel.Spec{} }, given, set},
		"eps_rel of unequal norms": {func(l *Learner) {
			l.Kernel = enginetest.Spec(t, "linear")
		}, given, set},
		"too many points": {func(*Learner) {}, x, set},
		"no links":        {func(*Learner) {}, given, chunkletSet(t, 50, []int{1})},
		"a parameter":     {func(l *Learner) { l.Params.Dims = -1 }, given, set},
	} {
		l := good
		c.change(&l)
		if _, err := l.FitRows(t.Context(), eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}
