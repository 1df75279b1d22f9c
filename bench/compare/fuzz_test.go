package compare

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// FuzzDecode: any bytes are a comparison that can be drawn, or an input error.
func FuzzDecode(f *testing.F) {
	o := Options{Systems: []string{Raw, "rca"}, Repetitions: 2, Seed: 4, Data: folder(f)}
	c, err := Run(context.Background(), newEngine(f, 1), o)
	if err != nil {
		f.Fatal(err)
	}
	o.Sets, o.Repetitions = []string{"iris"}, 1
	l, err := RunCurves(context.Background(), newEngine(f, 1), o)
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range []any{c, l, map[string]int{"links": 3}} {
		text, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode(text)
		if err == nil {
			var panels []view.Panel
			if panels, err = d.Panels(); err == nil {
				err = view.Write(io.Discard, "svg", view.Size{}, panels...)
			}
		}
		if err != nil && !fault.IsInput(err) {
			t.Errorf("error %v is not of the input", err)
		}
	})
}

// FuzzSystem: any text is a system with a learner of its method, or an input error.
func FuzzSystem(f *testing.F) {
	for _, text := range []string{"gml gamma=3 kernel=linear", "krca",
		"select criterion=links methods=krca+rca", "select methods=", "", "krca eps", "krca =1",
		"rca kernel=rbf:mean", "select criterion=no"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") {
			return // FuzzParameters of the catalog covers files
		}
		l, err := learner(text, 1, 2)
		switch {
		case err != nil && !fault.IsInput(err):
			t.Errorf("%q: error %v is not of the input", text, err)
		case err == nil && l.Method() != strings.Fields(text)[0]:
			t.Errorf("%q is a learner of %s", text, l.Method())
		}
	})
}
