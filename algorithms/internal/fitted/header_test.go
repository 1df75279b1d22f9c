package fitted

import (
	"encoding/json"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

type first struct {
	A int    `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

type second struct {
	C []float64 `json:"c,omitempty"`
}

// The entry of a method is one object with the members of all parts, some of which may be empty.
// Each part reads its own members.
func TestPartsOfTheHeader(t *testing.T) {
	for _, c := range []struct {
		parts []any
		want  string
	}{
		{nil, ""},
		{[]any{nil, nil}, ""},
		{[]any{first{}}, "{}"},
		{[]any{nil, first{1, "x"}, nil}, `{"a":1,"b":"x"}`},
		{[]any{first{}, second{}}, "{}"},
		{[]any{first{}, second{[]float64{2}}}, `{"c":[2]}`},
		{[]any{second{[]float64{2}}, first{}}, `{"c":[2]}`},
		{[]any{first{B: "}"}, second{[]float64{2, 3}}, nil}, `{"b":"}","c":[2,3]}`},
	} {
		f := &model.File{}
		if err := SetHeader(f, "m", first{A: 7}, second{}, c.parts...); err != nil {
			t.Fatal(err)
		}
		if got := string(f.Header.Extra["m"]); got != c.want {
			t.Errorf("%v: entry %s, want %s", c.parts, got, c.want)
		}
		if c.want == "" {
			continue
		}
		var params, a first
		var status, b second
		if err := ReadHeader(f, "m", &params, &status, &a, &b); err != nil || params.A != 7 {
			t.Fatalf("%v: parameters %+v, error %v", c.parts, params, err)
		}
		whole, err := json.Marshal(struct {
			first
			second
		}{a, b})
		var x, y map[string]any
		if err != nil || json.Unmarshal(whole, &x) != nil || json.Unmarshal([]byte(c.want), &y) != nil ||
			len(x) != len(y) {
			t.Errorf("%v: read %s, want the members of %s", c.parts, whole, c.want)
		}
	}
	if err := ReadHeader(&model.File{Header: model.Header{Method: "m"}}, "m", &first{},
		&second{}); !fault.IsInput(err) {
		t.Errorf("a header without parameters: %v", err)
	}
}
