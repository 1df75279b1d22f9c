package catalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestPrepareSequences: a model of sequences takes sequences over its own alphabet, and no
// other model takes any.
func TestPrepareSequences(t *testing.T) {
	over := func(alphabet string) *points.Sequences {
		x, err := points.NewSequences(alphabet, []int{0, 4, 8, 12}, []byte("ACCAACACCCAA"))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := links.FromChunklets(3, [][]int{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	x := over("ACGT")
	m, err := krca.Learner{Params: krca.DefaultParams()}.Fit(context.Background(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	f := &catalog.Fitted{Model: m}
	if got, err := f.Prepare(&dataset.Data{Points: x}); err != nil || got != points.Points(x) {
		t.Errorf("sequences over the model's alphabet: %v, error %v: want them as they are", got, err)
	}
	vectors := &points.Dense{N: 1, D: 4, Data: make([]float64, 4)}
	for name, c := range map[string]struct {
		f     *catalog.Fitted
		x     points.Points
		words string
	}{
		"another alphabet":     {f, over("TGCA"), "the alphabet is TGCA: want ACGT"},
		"a larger alphabet":    {f, over(points.Protein), "want ACGT"},
		"vectors":              {f, vectors, "no sequences"},
		"sequences as vectors": {fitted(t), over("ACGT"), "got sequences"},
	} {
		var data *fault.DataError
		if _, err := c.f.Prepare(&dataset.Data{Points: c.x}); !errors.As(err, &data) ||
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v: want a DataError that says %q", name, err, c.words)
		}
	}
}
