package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// The text of a kernel with any bandwidth parses to a bit-identical bandwidth.
func TestResolveRoundTrip(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		open, err := kernel.Parse(rapid.SampledFrom([]string{"rbf:median", "exp:2lle",
			"rbf:0.1mean@cosine"}).Draw(t, "spec"))
		if err != nil {
			t.Fatal(err)
		}
		v := math.Exp(rapid.Float64Range(-300, 300).Draw(t, "log"))
		s, err := open.Resolve(v)
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsData() {
			t.Fatalf("%q still needs data", s)
		}
		again, err := kernel.Parse(s.String())
		if err != nil || again != s {
			t.Fatalf("%q parses to %q, %v", s, again, err)
		}
	})
}

func TestOpenInnermostFirst(t *testing.T) {
	s := enginetest.Spec(t, "rbf:0.5mean@exp:lle@poly:degree=3")
	want := []struct{ rule, inner string }{{"exp width lle 1", "poly:degree=3,coef=1,scale=1"},
		{"rbf sigma mean 0.5", "exp:width=7@poly:degree=3,coef=1,scale=1"}}
	for _, w := range want {
		r, inner, ok := s.Open()
		fields := strings.Fields(w.rule)
		if !ok || r.Kernel != fields[0] || r.Parameter != fields[1] || r.Name != fields[2] ||
			inner.String() != w.inner {
			t.Fatalf("got %+v inside %q, want %s inside %q", r, inner, w.rule, w.inner)
		}
		var err error
		if s, err = s.Resolve(7); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok := s.Open(); ok || s.NeedsData() ||
		s.String() != "rbf:sigma=7@exp:width=7@poly:degree=3,coef=1,scale=1" {
		t.Errorf("resolved to %q", s)
	}
	if same, err := s.Resolve(3); err != nil || same != s {
		t.Errorf("resolving a resolved kernel: %q, %v", same, err)
	}
	if _, inner, _ := enginetest.Spec(t, "rbf:mean").Open(); inner != enginetest.Spec(t, "linear") {
		t.Errorf("inside a single kernel: %q, want linear", inner)
	}
}

func TestResolveRejects(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-200} {
		var p *fault.ParamError
		if _, err := enginetest.Spec(t, "rbf:mean").Resolve(v); !errors.As(err, &p) {
			t.Errorf("Resolve(%v): %v, want a ParamError", v, err)
		}
	}
}

func TestNewRejects(t *testing.T) {
	var p *fault.ParamError
	if _, err := kernel.New(kernel.Spec{}); !errors.As(err, &p) {
		t.Errorf("zero Spec: %v", err)
	}
	if _, err := kernel.New(enginetest.Spec(t, "rbf:mean")); !errors.As(err, &p) ||
		p.Param != "sigma of kernel rbf" {
		t.Errorf("unresolved rule: %v", err)
	}
}

func TestSpecJSON(t *testing.T) {
	type doc struct{ Kernel kernel.Spec }
	for _, text := range []string{"", "rbf:sigma=0.1", "rbf:sigma=0.5mean@cosine"} {
		d := doc{}
		if text != "" {
			d.Kernel = enginetest.Spec(t, text)
		}
		b, err := json.Marshal(d)
		if err != nil || !strings.Contains(string(b), `"`+text+`"`) {
			t.Fatalf("%s, %v", b, err)
		}
		var back doc
		if err := json.Unmarshal(b, &back); err != nil || back != d {
			t.Errorf("%s read back as %q, %v", b, back.Kernel, err)
		}
	}
	var d doc
	if err := json.Unmarshal([]byte(`{"Kernel":"rfb"}`), &d); !fault.IsInput(err) {
		t.Errorf("got %v", err)
	}
}

// FuzzParse: any text gives an input error, or a kernel whose text is a fixed point of Parse.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"linear", "rbf:sigma=1.5", "rbf:gamma=0x1p-4", "rbf:0.5mean@cosine", "exp:lle",
		"poly:degree=3,coef=0,scale=1e-7", "sigmoid:coef=-1", "rbf:sigma=1@spectrum:k=3",
		"rbf:sigma=1e5knn10", "rbf:sigma=,", "@@", "poly:coef=-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := kernel.Parse(text)
		if err != nil {
			if !fault.IsInput(err) || !s.IsZero() {
				t.Fatalf("Parse(%q) = %q, %v", text, s, err)
			}
			return
		}
		again, err := kernel.Parse(s.String())
		if err != nil || again != s || again.String() != s.String() {
			t.Fatalf("%q parses to %q, whose text parses to %q, %v", text, s, again, err)
		}
		if _, err := kernel.New(s); (err != nil) != s.NeedsData() {
			t.Fatalf("New(%q): %v", s, err)
		}
	})
}

// TestSteps evaluates kernels by their steps.
func TestSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x := &points.Dense{N: 12, D: 4, Data: make([]float64, 48)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for _, text := range []string{
		"linear", "rbf:sigma=1.5", "rbf:gamma=0.3", "exp:width=2", "poly:degree=3,coef=1,scale=0.5", "cosine",
		"sigmoid:scale=0.2,coef=-0.1", "rbf:sigma=2@poly:degree=2",
		"cosine@poly:degree=2,coef=0.5@rbf:sigma=3",
	} {
		spec, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		want, err := k.Gram(context.Background(), enginetest.New(t, 2), x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.N {
			for j := range x.N {
				if got, want := bySteps(k, x.Row(i), x.Row(j)),
					want.At(i, j); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
					t.Errorf("%s: element %d, %d is %v by its steps and %v in the matrix", text, i, j, got,
						want)
				}
			}
		}
	}
}

func bySteps(k kernel.Kernel, x, y []float64) float64 {
	xx, yy, xy := 0.0, 0.0, 0.0
	for j := range x {
		xx, yy, xy = xx+x[j]*x[j], yy+y[j]*y[j], xy+x[j]*y[j]
	}
	for _, s := range k.Steps() {
		d2 := max(0, xx+yy-2*xy)
		switch s.Name {
		case "rbf":
			xy = math.Exp(-s.Decay * d2)
		case "exp":
			xy = math.Exp(-s.Decay * math.Sqrt(d2))
		case "poly":
			xy = math.Pow(s.Scale*xy+s.Coef, float64(s.Degree))
		case "sigmoid":
			xy = math.Tanh(s.Scale*xy + s.Coef)
		case "cosine":
			xy /= math.Sqrt(xx) * math.Sqrt(yy)
		}
		xx, yy = s.Self(xx), s.Self(yy)
	}
	return xy
}
