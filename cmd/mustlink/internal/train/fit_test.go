package train

import "testing"

func TestParseParams(t *testing.T) {
	got, err := parseParams([]string{"a=1", "b=x,y=z", "c="})
	if err != nil || len(got) != 3 || got["a"] != "1" || got["b"] != "x,y=z" || got["c"] != "" {
		t.Errorf("%v, %v", got, err)
	}
}
