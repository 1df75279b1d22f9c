package catalog_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// TestEveryFieldIsDeclared: each exported field of the Params of each method says in its tags that
// it is a parameter, with help, under the name that it has in model files, or that it is none.
func TestEveryFieldIsDeclared(t *testing.T) {
	for _, m := range catalog.Methods() {
		learner, err := m.New(catalog.Config{})
		if err != nil {
			t.Fatal(err)
		}
		params := reflect.Indirect(reflect.ValueOf(learner)).FieldByName("Params")
		var names []string
		for _, f := range reflect.VisibleFields(params.Type()) {
			name, declared := f.Tag.Lookup("param")
			stored, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous || !f.IsExported() || name == "-":
				continue
			case !declared || name == "":
				t.Errorf(`%s: field %s has no tag param: want its name, or "-" for what is no parameter`,
					m.Name, f.Name)
			case f.Tag.Get("help") == "":
				t.Errorf("%s: parameter %s has no help", m.Name, name)
			case stored != name && stored != "-":
				t.Errorf("%s: parameter %s is %q in model files", m.Name, name, stored)
			}
			names = append(names, name)
		}
		var shown []string
		for _, p := range m.Parameters {
			shown = append(shown, p.Name)
		}
		if !slices.Equal(names, shown) ||
			len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			t.Errorf("%s shows %q: want %q, all different", m.Name, shown, names)
		}
		if m.Title == "" || m.Summary == "" || m.Paper == "" {
			t.Errorf("%s says too little of itself: %+v", m.Name, m.About)
		}
	}
}

// TestTagsAreTheConstants: numbers and names in tags are those that packages know.
func TestTagsAreTheConstants(t *testing.T) {
	if got := kbeta.DefaultParams().Rank; got != kbeta.RankRoot {
		t.Errorf("kbeta: rank=root is %d", got)
	}
	if got := param.Default[baseline.LMNN]().Rank; got != baseline.LMNNRankEighth {
		t.Errorf("lmnn: rank=eighth is %d", got)
	}
	if got := lleratio.DefaultParams().Alpha; got != lleratio.AlphaByDimension {
		t.Errorf("lleratio: alpha=auto is %v", got)
	}
	for _, f := range param.Fields(kbeta.Params{}) {
		var rules []string
		for _, c := range f.Choices {
			rules = append(rules, c.Name)
		}
		if f.Name == "rule" && !slices.Equal(rules, landmarks.Rules()) {
			t.Errorf("kbeta: rules %q: want %q", rules, landmarks.Rules())
		}
	}
}
