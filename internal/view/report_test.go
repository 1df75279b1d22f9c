package view_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/internal/view/viewtest"
)

// payload returns the data of the page's script.
func payload(t *testing.T, page string) map[string]any {
	t.Helper()
	_, after, ok := strings.Cut(page, "const DATA = ")
	if !ok {
		t.Fatal("no data in the page")
	}
	var v map[string]any
	if err := json.NewDecoder(strings.NewReader(after)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWrite: one element ends one script, no hostile text is markup, nothing is fetched, and the
// script reads the given values.
func TestWrite(t *testing.T) {
	r := viewtest.Sample(40)
	page := viewtest.Written(t, r)
	if got := strings.Count(page, "</script>"); got != 1 {
		t.Errorf("%d ends of scripts: want 1", got)
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "<script>window") {
		t.Error("a text has become markup")
	}
	if urls := regexp.MustCompile(`(?:src|href|url\(|@import)\s*=?\s*["']?https?:`).FindString(
		page); urls != "" {
		t.Errorf("the page fetches %q", urls)
	}
	for _, name := range []string{"page.css", "page.js"} {
		if b, err := os.ReadFile(name); err != nil || !strings.Contains(page, string(b)) {
			t.Errorf("%s is not in the page: %v", name, err)
		}
	}
	v := payload(t, page)
	ids := v["ids"].([]any)
	for i, id := range r.Points.IDs {
		if want := strings.ToValidUTF8(id, "\uFFFD"); ids[i] != want {
			t.Fatalf("id %d is %.40q: want %.40q", i, ids[i], want)
		}
	}
	names := v["names"].([]any)
	for i, k := range numbers[uint32](t, v["labels"]) {
		if want := cmp.Or(r.Points.Labels[i], "no label"); names[k] != want {
			t.Fatalf("label %d is %.40q: want %.40q", i, names[k], want)
		}
	}
	view := v["views"].([]any)[0].(map[string]any)
	for i, x := range numbers[float32](t, view["x"]) {
		if math.Abs(float64(x)-r.Points.Views[0].X[i]) > 1e-7 {
			t.Fatalf("place %d is %g: want %g", i, x, r.Points.Views[0].X[i])
		}
	}
	feature := v["features"].([]any)[0].(map[string]any)
	low, high := feature["min"].(float64), feature["max"].(float64)
	for i, q := range numbers[uint16](t, feature["q"]) {
		got, want := low+(high-low)*float64(q)/math.MaxUint16, r.Points.Features[0].Values[i]
		if math.Abs(got-want) > (high-low)/math.MaxUint16 {
			t.Fatalf("feature of point %d is %g: want %g", i, got, want)
		}
	}
	must := numbers[uint32](t, v["must"])
	if len(must) != 2*len(r.Points.Must) || int(must[2]) != r.Points.Must[1][0] ||
		int(must[3]) != r.Points.Must[1][1] {
		t.Errorf("must-links %v: want %v", must, r.Points.Must)
	}
	for _, want := range []string{"0.500 ± 0.010", "0.900", "–", "<rect", "mustlink report",
		"better than raw", "0.930 ± 0.020", "0.710", "not judged: too few links", "in-sample",
		`style="width:93.0%"`, "60 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

func numbers[T any](t *testing.T, text any) []T {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text.(string))
	if err != nil {
		t.Fatal(err)
	}
	var one T
	out := make([]T, len(b)/binary.Size(one))
	if _, err := binary.Decode(b, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEmpty: an empty report is a page without a script and its data.
func TestEmpty(t *testing.T) {
	page := viewtest.Written(t, &view.Report{Title: "nothing"})
	if strings.Contains(page, "<script") || !strings.Contains(page, "nothing") ||
		!strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		t.Errorf("%s", page)
	}
}

// TestExtremes: features and coordinates of any finite size are written as finite numbers.
func TestExtremes(t *testing.T) {
	r := &view.Report{Points: view.Points{Count: 3,
		Features: []view.Feature{{Name: "f", Values: []float64{-math.MaxFloat64, 0, math.MaxFloat64}}},
		Views: []view.Layout{{Name: "v", X: []float64{-1e308, 0, 1e308},
			Y: []float64{5e-324, 0, -5e-324}}}}}
	v := payload(t, viewtest.Written(t, r))
	if q := numbers[uint16](t, v["features"].([]any)[0].(map[string]any)["q"]); q[0] != 0 || q[1] != 32768 ||
		q[2] != math.MaxUint16 {
		t.Errorf("levels %v", q)
	}
	view := v["views"].([]any)[0].(map[string]any)
	for _, c := range []string{"x", "y"} {
		for _, x := range numbers[float32](t, view[c]) {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				t.Errorf("%s is %v", c, x)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for name, change := range map[string]func(p *view.Points){
		"labels":       func(p *view.Points) { p.Labels = p.Labels[1:] },
		"ids":          func(p *view.Points) { p.IDs = p.IDs[1:] },
		"feature":      func(p *view.Points) { p.Features[0].Values = nil },
		"not finite":   func(p *view.Points) { p.Views[0].X[0] = math.NaN() },
		"infinite":     func(p *view.Points) { p.Features[0].Values[0] = math.Inf(1) },
		"coordinates":  func(p *view.Points) { p.Views[0].Y = p.Views[0].Y[1:] },
		"clusters":     func(p *view.Points) { p.Views[1].Clusters = []int{1} },
		"neighbors":    func(p *view.Points) { p.Views[0].Near.Index = p.Views[0].Near.Index[1:] },
		"no neighbor":  func(p *view.Points) { p.Views[0].Near.Index[3] = 40 },
		"far neighbor": func(p *view.Points) { p.Views[0].Near.Distance[3] = math.Inf(1) },
		"link":         func(p *view.Points) { p.Must[0][1] = 40 },
		"link below 0": func(p *view.Points) { p.Cannot[0][0] = -1 },
	} {
		r := viewtest.Sample(40)
		change(&r.Points)
		var b bytes.Buffer
		if err := view.WriteReport(&b, r); !fault.IsInput(err) || b.Len() > 0 {
			t.Errorf("%s: error %v after %d bytes", name, err, b.Len())
		}
	}
}
