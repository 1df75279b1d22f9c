package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// extreme are values that no one means: each is refused, or harmless.
var extreme = []string{"0", "-1", "1e-300", "1e300", "NaN", "Inf"}

// number finds the ends of a range.
var number = regexp.MustCompile(`[0-9][0-9.e+-]*`)

// settings are parameters under which others act, by method.
var settings = map[string][]string{
	"krca": {"form=spectral"}, "lleratio": {"mode=linear"}, "gml": {"prior=spectral", "prior=datadep"},
	"mmc":      {"diagonal=true"},
	"spectral": {"kind=order", "kind=alignment", "kind=eigenmaps"}, "npkl": {"loss=hl"},
	"kbeta": {"landmarks=12"},
}

// sweep is what a sweep counted.
type sweep struct {
	eng                  *engine.Engine
	tried, refused, flat int
}

// TestExtremeParameters: whatever number a parameter is, the fit is refused with a typed error, or
// its model has finite coordinates and a file, and says so if it tells no points apart. The ends of
// ranges are such numbers too.
func TestExtremeParameters(t *testing.T) {
	s := sweep{eng: enginetest.New(t, 1)}
	for _, c := range []struct {
		n, d int
		seed uint64
	}{{24, 4, 11}, {17, 2, 5}} {
		x, _, set := enginetest.Bands(t, c.n, c.d, 8, c.seed)
		for _, m := range racetest.Part(catalogtest.Methods()) {
			for _, setting := range append([]string{""}, settings[m.Name]...) {
				s.parameters(t, m, setting, x, set)
			}
		}
		for _, name := range []string{"itml", "gml"} {
			m, err := catalogtest.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			s.one(t, m, map[string]string{"upper": "1e-300", "lower": "1e300"}, x, set)
		}
	}
	t.Logf("%d extreme settings: %d refused, %d noted as telling no points apart", s.tried, s.refused, s.flat)
}

// parameters sets each parameter of a method to extreme values, under a setting of another.
func (s *sweep) parameters(t *testing.T, m catalog.Method, setting string, x points.Points, set *links.Set) {
	t.Helper()
	given := map[string]string{}
	if name, value, is := strings.Cut(setting, "="); is {
		given[name] = value
	}
	for _, p := range m.Parameters {
		if p.Type == param.Bool || given[p.Name] != "" {
			continue
		}
		values := extreme
		if p.Type == param.Float {
			values = slices.Concat(values, number.FindAllString(p.Range, -1))
		}
		for _, value := range values {
			with := maps.Clone(given)
			with[p.Name] = value
			s.one(t, m, with, x, set)
		}
	}
}

// one fits a method and checks what comes of it.
func (s *sweep) one(t *testing.T, m catalog.Method, params map[string]string, x points.Points,
	set *links.Set) {
	t.Helper()
	what := fmt.Sprint(m.Name, params)
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v\n%s", what, p, stack())
		}
	}()
	s.tried++
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	l, err := m.New(catalog.Config{Seed: 1, Params: params})
	var model algorithms.Model
	if err == nil {
		model, err = l.Fit(ctx, s.eng, x, set)
	}
	if err != nil {
		s.refused++
		wantInput(t, what, err)
		return
	}
	file, err := catalog.Encode(&catalog.Fitted{Model: model})
	if err == nil {
		_, err = catalog.Decode(file)
	}
	if err != nil || model.Dim() < 1 {
		t.Errorf("%s: %d dimensions, and its file: %v", what, model.Dim(), err)
	}
	y, err := model.Embed(ctx, s.eng, x)
	if err != nil {
		t.Errorf("%s: embedding: %v", what, err)
		return
	}
	noted := slices.ContainsFunc(model.Status().Notices, func(n string) bool {
		return strings.Contains(n, "all learned distances")
	})
	if noted {
		s.flat++
	}
	if !noted && constant(t, what, y) {
		t.Errorf("%s: all points have the same coordinates, and no notice says so", what)
	}
}

// constant reports whether all rows are equal, and demands finite ones.
func constant(t *testing.T, what string, y blas.Matrix) bool {
	t.Helper()
	same := true
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			if v-v != 0 {
				t.Errorf("%s: coordinate %d of row %d is %v", what, j, i, v)
			}
			same = same && v == y.At(0, j)
		}
	}
	return same
}
