package catalog_test

import (
	"fmt"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func TestOffsetsExplore(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(60, 2, 12)
	for k := range x.Data {
		x.Data[k] *= .5
	}
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	at := func(offset float64) *points.Dense {
		y := &points.Dense{N: x.N, D: x.D, Data: make([]float64, len(x.Data))}
		for k, v := range x.Data {
			y.Data[k] = (v + 1e8) - 1e8 + offset // with the digits that are left far from 0
		}
		return y
	}
	for _, m := range catalogtest.Methods() {
		line := fmt.Sprintf("%-10s", m.Name)
		want, err := tryFit(t, eng, m, "linear", at(0), set)
		if err != nil {
			t.Logf("%s: at 0: %v", m.Name, err)
			continue
		}
		for _, offset := range []float64{10, 100, 1e3, 1e4, 1e5, 1e6} {
			y := at(offset)
			for _, c := range []struct {
				kernel string
				x      points.Points
			}{{"linear", y}, {"linear", enginetest.Sparse(y)}, {"linear", products(t, eng, "linear", y)}} {
				got, err := tryFit(t, eng, m, c.kernel, c.x, set)
				if err != nil {
					line += " err     "
					if offset < 1e8 {
						t.Logf("%s %g %T: %v", m.Name, offset, c.x, err)
					}
					continue
				}
				line += fmt.Sprintf(" %-8.1g", apart(want, got, false))
			}
			line += " |"
		}
		t.Log(line)
	}
}

func tryFit(t *testing.T, eng *engine.Engine, m catalog.Method, kernel string, x points.Points, set *links.Set) ([]float64, error) {
	l, err := m.New(catalog.Config{Kernel: kernel, Seed: 1})
	if err != nil {
		return nil, err
	}
	f, err := l.Fit(t.Context(), eng, x, set)
	if err != nil {
		return nil, err
	}
	return learned(t, eng, f, x), nil
}
