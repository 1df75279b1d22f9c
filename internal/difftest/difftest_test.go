package difftest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/internal/difftest"
)

type inner struct {
	Name   string
	values []float64
}

type outer struct {
	In   *inner
	Map  map[string]any
	Call func()
}

func sample() outer {
	return outer{In: &inner{"a", []float64{1, math.NaN()}}, Map: map[string]any{"k": 1, "nothing": nil}}
}

// TestDiff: equal values have no difference, and each change is found in its position.
func TestDiff(t *testing.T) {
	if d := difftest.Diff(sample(), sample()); d != "" {
		t.Errorf("equal values: %s", d)
	}
	for want, change := range map[string]func(*outer){
		`.In.Name is "b": want "a"`:    func(o *outer) { o.In.Name = "b" },
		".In.values[1] is 2: want NaN": func(o *outer) { o.In.values[1] = 2 },
		".In.values is []float64{1}: want []float64{1, NaN}": func(o *outer) {
			o.In.values = o.In.values[:1]
		},
		".In is (*difftest_test.inner)(nil): want": func(o *outer) { o.In = nil },
		".Map[k] is 2: want 1":                     func(o *outer) { o.Map["k"] = 2 },
		".Map[k] is 1: want 1":                     func(o *outer) { o.Map["k"] = 1.0 },
		".Map[k] is nothing: want 1": func(o *outer) {
			delete(o.Map, "k")
			o.Map["l"] = 1
		},
		".Map[nothing] is 0: want":             func(o *outer) { o.Map["nothing"] = 0 },
		".Map is map[string]interface {}(nil)": func(o *outer) { o.Map = nil },
		".Call is (func())":                    func(o *outer) { o.Call = func() {} },
	} {
		got := sample()
		change(&got)
		if d := difftest.Diff(sample(), got); len(d) < len(want) || d[:len(want)] != want {
			t.Errorf("%q: want %q", d, want)
		}
	}
	negative := math.Copysign(0, -1)
	for _, c := range []struct {
		want, got any
		equal     bool
	}{
		{0.0, negative, false}, {math.NaN(), math.NaN(), true}, {[]int{}, []int(nil), false},
		{nil, nil, true}, {nil, 1, false}, {1, int64(1), false},
		{[2]int{1, 2}, [2]int{1, 2}, true}, {fmt.Errorf, nil, false},
	} {
		if d := difftest.Diff(c.want, c.got); (d == "") != c.equal {
			t.Errorf("%v and %v: %q", c.want, c.got, d)
		}
	}
}
