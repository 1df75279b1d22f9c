package dataset_test

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
)

func TestDecodeChunklets(t *testing.T) {
	c := dataset.LinkContext{N: 6}
	got, err := dataset.ReadChunklets(dataset.Input{Name: "x.csv",
		Stream: strings.NewReader("chunklet,i\nb,4\n0, 1\nb,1\n 0 ,5\n")}, c)
	want := []dataset.Chunklet{{Name: "b", Rows: []int{4, 1}, Line: 2},
		{Name: "0", Rows: []int{1, 5}, Line: 3}}
	if err != nil || difftest.Diff(got, want) != "" {
		t.Errorf("error %v, %s", err, difftest.Diff(got, want))
	}
	for _, bad := range []struct{ text, want string }{
		{"i,j,link\n0,1,must\n", "want i,chunklet"},
		{"i,chunklet\n6,a\n", "line 2"},
		{"i,chunklet\n1,a\n2, \n", "line 3"},
		{"i,chunklet\nx,a\n", "not a row number"},
		{"", "empty"},
	} {
		list, err := dataset.ReadChunklets(dataset.Input{Name: "x.csv", Stream: strings.NewReader(bad.text)},
			c)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), "x.csv") ||
			!strings.Contains(err.Error(), bad.want) || list != nil {
			t.Errorf("%q: list %v, error %v, want an input error with %q", bad.text, list, err, bad.want)
		}
	}
}
