package catalog_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

const goldenUpdated = "testdata/krca-v1-updated.safetensors"

// warm returns f after one update with the golden data's first points as new ones.
func updated(t *testing.T, f *catalog.Fitted) *catalog.Fitted {
	t.Helper()
	d, _ := training(t)
	x, err := f.Prepare(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Model.(algorithms.Updater).Update(context.Background(), enginetest.New(t, 0), x,
		[]algorithms.Chunklet{
			{ID: algorithms.NewChunklet, Rows: []int{1, 2, 3}}, {ID: 0, Rows: []int{4, 5}},
			{ID: 1, Rows: []int{5}}})
	if err != nil {
		t.Fatal(err)
	}
	out := *f
	out.Model = m
	return &out
}

// TestGoldenUpdated: the golden model, which was written before models could be updated,
// learns more; a golden model with an update loads, and forgets it.
func TestGoldenUpdated(t *testing.T) {
	if *update {
		if err := catalog.Save(goldenUpdated, updated(t, fitted(t))); err != nil {
			t.Fatal(err)
		}
	}
	old, err := catalog.Load(golden)
	if err != nil {
		t.Fatal(err)
	}
	then, err := catalog.Load(goldenUpdated)
	if err != nil {
		t.Fatal(err)
	}
	want := distances(t, updated(t, fitted(t)))
	wantClose(t, "old file, updated", distances(t, updated(t, old)), want)
	wantClose(t, "updated file", distances(t, then), want)
	if then.Model, err = then.Model.(algorithms.Updater).DropLast(context.Background(), enginetest.New(t, 0),
		1); err != nil {
		t.Fatal(err)
	}
	wantClose(t, "update dropped", distances(t, then), distances(t, fitted(t)))
}

func wantClose(t *testing.T, what string, got, want []float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, v)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*largest) {
			t.Errorf("%s: distance %d is %.17g: want %.17g", what, i, got[i], want[i])
		}
	}
}

// TestGoldenLinks: models of files that were written before all Linkers kept what more links start
// from say so; npkl's always did.
func TestGoldenLinks(t *testing.T) {
	d, _ := training(t)
	more, err := links.SampleByCount(d.Labels, 2, 2, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"npkl", "kbeta", "gml", "itml"} {
		then, err := catalog.Load(filepath.Join("testdata", "v1", name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		x, err := then.Prepare(d)
		if err != nil {
			t.Fatal(err)
		}
		_, err = then.Model.(algorithms.Linker).AddLinks(t.Context(), enginetest.New(t, 0), x, more)
		if name == "npkl" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if !fault.IsInput(err) || !strings.Contains(err.Error(), "want a fit with all links") {
			t.Errorf("%s: error %v, want one that asks for a fit", name, err)
		}
	}
}
