package system

import (
	"maps"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

func TestParse(t *testing.T) {
	method, values, err := Parse(" gml gamma=3  kernel=rbf:sigma=2 ")
	if want := map[string]string{"gamma": "3", "kernel": "rbf:sigma=2"}; err != nil || method != "gml" ||
		!maps.Equal(values, want) {
		t.Errorf("%q with %v, error %v: want gml with %v", method, values, err, want)
	}
	for text, words := range map[string]string{"": "a method", "gml gamma": "NAME=VALUE"} {
		if _, _, err := Parse(text); !fault.IsInput(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v: want one with %q", text, err, words)
		}
	}
}

// TestLearner: "kernel" does not become a parameter, and the values do not change.
func TestLearner(t *testing.T) {
	values := map[string]string{"eps_rel": "0.1", "kernel": "linear"}
	l, err := Learner("krca", values, 1)
	if err != nil || l.Method() != "krca" || len(values) != 2 {
		t.Errorf("%v, error %v, values %v", l, err, values)
	}
	for method, values := range map[string]map[string]string{"krac": nil, "krca": {"epsrel": "1"},
		"rca": {"kernel": "rfb:sigma=1"}} {
		if _, err := Learner(method, values, 1); !fault.IsInput(err) {
			t.Errorf("%s %v: error %v", method, values, err)
		}
	}
}
