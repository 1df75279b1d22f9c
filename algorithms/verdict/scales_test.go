package verdict

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// The hint about scales is given where they differ, wherever the columns are; a column that does
// not vary is on no scale.
func TestScalesDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		scale, origin [3]float64
		want          bool
	}{
		"one scale":             {[3]float64{1, 1, 1}, [3]float64{}, false},
		"near scales":           {[3]float64{1, 4, 2}, [3]float64{1e6, -1e6, 0}, false},
		"a larger column":       {[3]float64{1, 1, 30}, [3]float64{}, true},
		"the same, far away":    {[3]float64{1, 1, 30}, [3]float64{1e6, -1e6, 3e6}, true},
		"a column of one value": {[3]float64{1, 1, 0}, [3]float64{0, 0, 1e6}, false},
	} {
		x := &points.Dense{N: 200, D: 3, Data: make([]float64, 600)}
		for k := range x.Data {
			x.Data[k] = c.origin[k%3] + c.scale[k%3]*rng.NormFloat64()
		}
		if got := scalesDiffer(x); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The rarer kind of links decides whether there are few, and the reason has the numbers of both.
func TestReasonOfFewLinks(t *testing.T) {
	x := &points.Dense{N: 2, D: 1, Data: []float64{1, 2}}
	for _, c := range []struct {
		v    Verdict
		want string // "" for none
	}{
		{Verdict{Must: 3, Cannot: 100}, "only 3 must-links and 100 cannot-links judge"},
		{Verdict{Must: 100, Cannot: 3}, "only 100 must-links and 3 cannot-links judge"},
		{Verdict{Must: 3, Cannot: 3, Fits: 4, Failed: 1, Parts: 5}, "judge: more links decide"},
		{Verdict{Must: 3, Cannot: 3, Fits: 3, Failed: 1, Parts: 5}, "more links, or all folds, decide"},
		{Verdict{Must: few, Cannot: few}, ""},
		{Verdict{Must: few, Alone: true}, ""},
		{Verdict{Must: few - 1, Alone: true}, "only 59 must-links judge"},
	} {
		c.v.AUC, c.v.Raw = .8, .8
		a := &assessment{learner: methodName("rca"), x: x, division: &Division{Alone: c.v.Alone}}
		list := strings.Join(a.reasons(&c.v), "; ")
		if c.want == "" && strings.Contains(list, "only") || !strings.Contains(list, c.want) {
			t.Errorf("%+v: reasons %q: want %q", c.v, list, c.want)
		}
	}
}

// methodName is a learner that only has a name.
type methodName string

func (m methodName) Method() string { return string(m) }

func (m methodName) Fit(context.Context, *engine.Engine, points.Points,
	*links.Set) (algorithms.Model, error) {
	panic("not fitted")
}

// A verdict of a file has no negative number.
func TestNegativeNumbers(t *testing.T) {
	good := Verdict{Found: Better, Must: 1, Cannot: 1, Fits: 1, Parts: 1, Rows: 1}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(v *Verdict){
		"must-links":   func(v *Verdict) { v.Must = -1 },
		"cannot-links": func(v *Verdict) { v.Cannot = -1 },
		"fits":         func(v *Verdict) { v.Fits = -1 },
		"rows":         func(v *Verdict) { v.Rows = -1 },
		"failed fits":  func(v *Verdict) { v.Failed = -1 },
		"candidates":   func(v *Verdict) { v.Candidates = -1 },
		"parts":        func(v *Verdict) { v.Parts = 0 },
	} {
		v := good
		spoil(&v)
		if err := v.Validate(); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}
