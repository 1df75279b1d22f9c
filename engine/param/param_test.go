package param_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

type mode string

// Shape is an embedded struct that parses text itself.
type Shape struct {
	Graph  string `param:"graph" default:"knn" choices:"knn (nearest, either way),eps:R,@FILE (distances)" also:"eps,given" file:"distances" help:"neighbors"`
	Radius float64
	Near   int  `param:"near" default:"5" range:">= 1" help:"neighbors of a point"`
	Heat   bool `param:"heat" help:"true weighs edges"`
}

func (s *Shape) SetText(name, text string) (bool, error) {
	if name != "graph" || !strings.HasPrefix(text, "eps:") {
		return false, nil
	}
	s.Graph, s.Radius = "eps", 2
	if text == "eps:0" {
		return false, &fault.ParamError{Param: "radius", Value: text, Want: "a finite number > 0"}
	}
	return true, nil
}

// Settings embeds Shape with another default.
type Settings struct {
	Loss  mode `param:"loss" default:"square" choices:"square,hinge" help:"loss"`
	Shape `default:"near=7"`
}

type params struct {
	Rank     int `param:"rank" default:"root" named:"root=-1: the root of the points; all=-2" zero:"none" help:"directions"`
	Dims     int `param:"dims" help:"columns"`
	Settings `default:"loss=linear; heat=true" choices:"loss=linear,hinge (twice the loss)"`
	Tol      float64 `param:"tol" default:"1e-3" range:"> 0, < 1" help:"change that ends the fit"`
	Free     float64 `param:"free" unit:"seconds" help:"time"`
	Part     float64 `param:"part" range:">= 0, <= 1" help:"share"`
	Least    int     `param:"least" default:"2" range:">= 2" zero:"a tenth" help:"eigenvectors"`
	Mode     mode    `param:"mode" choices:"a,b" zero:"a" help:"way"`
	Name     string  `param:"name" default:"p5" help:"bound"`
	A        float64 `param:"a" default:"0.5" oneof:"unit" range:"> 0" help:"first"`
	B        float64 `param:"b" oneof:"unit" range:"> 0" help:"second"`
	C        float64 `param:"c" oneof:"unit" range:"> 0" help:"third"`
	Rows     []int   `param:"-"`
}

func defaults() params {
	return params{
		Rank: -1, Settings: Settings{Loss: "linear", Shape: Shape{Graph: "knn", Near: 7, Heat: true}},
		Tol: 1e-3, Least: 2, Name: "p5", A: 0.5,
	}
}

func TestDefault(t *testing.T) {
	if got := param.Default[params](); !reflect.DeepEqual(got, defaults()) {
		t.Errorf("got %+v", got)
	}
	if got := param.Default[Shape](); got.Near != 5 || got.Heat {
		t.Errorf("not embedded: %+v", got)
	}
	if err := param.Validate(defaults()); err != nil {
		t.Errorf("defaults: %v", err)
	}
	d := defaults()
	if err := param.Validate(&d); err != nil {
		t.Errorf("a pointer to them: %v", err)
	}
}

// Fields returns the parameters in order, with their help.
func TestFields(t *testing.T) {
	type c = param.Choice
	want := []param.Field{
		{Name: "rank", Meaning: "directions", Zero: "none", Type: param.Int, Default: "root", Range: ">= 0",
			Words: []c{{"root", "the root of the points"}, {"all", ""}},
			Help:  "directions; root: the root of the points; 0: none"},
		{Name: "dims", Meaning: "columns", Type: param.Int, Default: "0", Range: ">= 0", Help: "columns"},
		{Name: "loss", Meaning: "loss", Type: param.Text, Default: "linear",
			Choices: []c{{"linear", ""}, {"hinge", "twice the loss"}},
			Help:    "loss: linear or hinge (twice the loss)"},
		{
			Name: "graph", Meaning: "neighbors", Type: param.Text, Default: "knn",
			Choices: []c{{"knn", "nearest, either way"}, {"eps:R", ""}, {"@FILE", "distances"}},
			File:    "distances",
			Help:    "neighbors: knn (nearest, either way), eps:R or @FILE (distances)",
		},
		{Name: "near", Meaning: "neighbors of a point", Type: param.Int, Default: "7", Range: ">= 1",
			Help: "neighbors of a point, >= 1"},
		{Name: "heat", Meaning: "true weighs edges", Type: param.Bool, Default: "true",
			Help: "true weighs edges"},
		{Name: "tol", Meaning: "change that ends the fit", Type: param.Float, Default: "1e-3",
			Range: "> 0, < 1", Help: "change that ends the fit, > 0, < 1"},
		{Name: "free", Meaning: "time in seconds", Type: param.Float, Default: "0", Help: "time in seconds"},
		{Name: "part", Meaning: "share", Type: param.Float, Default: "0", Range: ">= 0, <= 1",
			Help: "share, >= 0, <= 1"},
		{Name: "least", Meaning: "eigenvectors", Zero: "a tenth", Type: param.Int, Default: "2",
			Range: ">= 2", Help: "eigenvectors, >= 2; 0: a tenth"},
		{Name: "mode", Meaning: "way", Zero: "a", Type: param.Text, Choices: []c{{"a", ""}, {"b", ""}},
			Help: "way: a or b; without it a"},
		{Name: "name", Meaning: "bound", Type: param.Text, Default: "p5", Help: "bound"},
		{Name: "a", Meaning: "first", Type: param.Float, Default: "0.5", Range: "> 0", Help: "first, > 0"},
		{Name: "b", Meaning: "second", Instead: "a", Type: param.Float, Range: "> 0",
			Help: "second, > 0; instead of a"},
		{Name: "c", Meaning: "third", Instead: "a", Type: param.Float, Range: "> 0",
			Help: "third, > 0; instead of a"},
	}
	got := param.Fields(params{})
	if len(got) != len(want) {
		t.Fatalf("%d fields: want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("got  %+v\nwant %+v", got[i], want[i])
		}
	}
}

// Valid text sets the fields.
func TestSet(t *testing.T) {
	for text, change := range map[string]func(*params){
		"rank= 12 ":     func(p *params) { p.Rank = 12 },
		"rank=0":        func(p *params) { p.Rank = 0 },
		"rank=all":      func(p *params) { p.Rank = -2 },
		"dims=3":        func(p *params) { p.Dims = 3 },
		"loss=hinge":    func(p *params) { p.Loss = "hinge" },
		"graph=eps:2":   func(p *params) { p.Graph, p.Radius = "eps", 2 },
		"graph=knn":     func(*params) {},
		"near=1":        func(p *params) { p.Near = 1 },
		"heat=false":    func(p *params) { p.Heat = false },
		"tol=0.999":     func(p *params) { p.Tol = 0.999 },
		"free=-1e300":   func(p *params) { p.Free = -1e300 },
		"least=0":       func(p *params) { p.Least = 0 },
		"mode=b":        func(p *params) { p.Mode = "b" },
		"mode=":         func(*params) {},
		"name=anything": func(p *params) { p.Name = "anything" },
		"a=0.25":        func(p *params) { p.A = 0.25 },
		"c=2":           func(p *params) { p.A, p.C = 0, 2 },
	} {
		name, value, _ := strings.Cut(text, "=")
		got, want := defaults(), defaults()
		change(&want)
		if err := param.Set(&got, "test", map[string]string{name: value}); err != nil ||
			!reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, error %v: want %+v", text, got, err, want)
		}
		if err := param.Validate(got); err != nil {
			t.Errorf("%s, checked: %v", text, err)
		}
	}
}

// Invalid text gives these complete messages.
func TestSetRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"rank=-1":         `rank is "-1": want an integer >= 0, or root, or all (0: none)`, // only by name
		"rank=Root":       `rank is "Root": want an integer >= 0, or root, or all (0: none)`,
		"dims=-1":         `dims is "-1": want an integer >= 0`,
		"dims=1e3":        `dims is "1e3": want an integer >= 0`,
		"dims=":           `dims is "": want an integer >= 0`,
		"dims=3000000000": `dims is "3000000000": want an integer <= 2147483647`,
		"loss=square":     `loss is "square": want one of linear, hinge`,
		"loss=Hinge":      `loss is "Hinge": want one of linear, hinge; did you mean "hinge"?`,
		"loss=":           `loss is "": want one of linear, hinge`,
		"graph=eps":       `graph is "eps": want one of knn, eps:R, @FILE; did you mean "eps:R"?`,
		"graph=eps:0":     `radius is "eps:0": want a finite number > 0`,
		"near=0":          `near is "0": want an integer >= 1`,
		"heat=2":          `heat is "2": want true or false`,
		"tol=1":           `tol is "1": want a number > 0 and < 1`,
		"tol=NaN":         `tol is "NaN": want a number > 0 and < 1`,
		"free=inf":        `free is "inf": want a finite number`,
		"free=x":          `free is "x": want a finite number`,
		"part=1.1":        `part is "1.1": want a number from 0 to 1`,
		"least=1":         `least is "1": want an integer >= 2 (0: a tenth)`,
		"mode=c":          `mode is "c": want one of a, b; did you mean "a"?`,
		"a=0":             `a is "0": want a finite number > 0`,
		"rnak=1":          `parameter of test is "rnak": want one of rank, dims, loss, graph, near, heat, tol, free, part, least, mode, name, a, b, c; did you mean "rank"?`,
		"Rows=1":          `parameter of test is "Rows": want `,
		"c=1 a=2":         `a is given together with c: want one of them: they set the same number`,
		"tol=2 dims=-1":   `dims is "-1": want an integer >= 0`, // the first by name
	} {
		given := map[string]string{}
		for _, s := range strings.Fields(text) {
			name, value, _ := strings.Cut(s, "=")
			given[name] = value
		}
		p := defaults()
		err := param.Set(&p, "test", given)
		_, typed := errors.AsType[*fault.ParamError](err)
		if !typed || err.Error() != want &&
			!(strings.HasSuffix(want, "want ") && strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: error %v\nwant %s", text, err, want)
		}
	}
}

// Validate accepts and refuses these values.
func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*params)
		want   string
	}{
		"a number with a name": {func(p *params) { p.Rank = -2 }, ""},
		"no name": {func(p *params) {
			p.Rank = -3
		}, "rank is -3: want an integer >= 0, or root, or all (0: none)"},
		"large":    {func(p *params) { p.Dims = math.MaxInt32 + 1 }, ""},
		"negative": {func(p *params) { p.Dims = -1 }, "dims is -1: want an integer >= 0"},
		"another loss": {func(p *params) {
			p.Loss = "square"
		}, `loss is "square": want one of linear, hinge`},
		"no loss":             {func(p *params) { p.Loss = "" }, `loss is "": want one of linear, hinge`},
		"a value of programs": {func(p *params) { p.Graph = "given" }, ""},
		"no graph": {func(p *params) {
			p.Graph = ""
		}, `graph is "": want one of knn, eps:R, @FILE`},
		"in an embedded struct": {func(p *params) { p.Near = 0 }, "near is 0: want an integer >= 1"},
		"NaN": {func(p *params) {
			p.Tol = math.NaN()
		}, "tol is NaN: want a number > 0 and < 1"},
		"infinite": {func(p *params) {
			p.Free = math.Inf(-1)
		}, "free is -Inf: want a finite number"},
		"0 with a meaning": {func(p *params) { p.Least = 0 }, ""},
		"below the range": {func(p *params) {
			p.Least = 1
		}, "least is 1: want an integer >= 2 (0: a tenth)"},
		"no text, with a meaning": {func(p *params) { p.Mode = "" }, ""},
		"another of the group":    {func(p *params) { p.A, p.B = 0, 1 }, ""},
		"two of the group": {func(p *params) {
			p.B, p.C = 1, 2
		}, "a is given together with b and c: want one of them: they set the same number"},
		"none of the group": {func(p *params) {
			p.A = 0
		}, "a is 0: want a finite number > 0 (or give b or c)"},
		"a bad one of the group": {func(p *params) {
			p.A, p.B = 0, -1
		}, "b is -1: want a finite number > 0"},
		"two mistakes": {func(p *params) {
			p.Tol, p.Dims = 7, -1
		}, "dims is -1: want an integer >= 0"},
	} {
		p := defaults()
		c.change(&p)
		switch err := param.Validate(p); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!fault.IsInput(err) || err.Error() != c.want):
			t.Errorf("%s: error %v\nwant %s", name, err, c.want)
		}
	}
}

// Tags that cannot be parsed are mistakes of the program.
func TestBadTags(t *testing.T) {
	for name, use := range map[string]func(){
		"a range": func() {
			_ = param.Validate(struct {
				A int `param:"a" range:"some"`
			}{})
		},
		"a bound": func() {
			_ = param.Validate(struct {
				A int `param:"a" range:">= x"`
			}{})
		},
		"a default": func() {
			param.Default[struct {
				A int `param:"a" default:"x"`
			}]()
		},
		"a number": func() {
			param.Default[struct {
				A int `param:"a" default:"w" named:"w=x"`
			}]()
		},
		"a type": func() {
			param.Fields(struct {
				A []int `param:"a"`
			}{})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("invalid tag, %s: no panic", name)
				}
			}()
			use()
		}()
	}
}

// Any text is refused with a typed error that names the parameter, or gives valid parameters.
func FuzzSet(f *testing.F) {
	for _, name := range []string{"rank", "dims", "loss", "graph", "heat", "tol", "free", "least", "mode",
		"name", "a", "b"} {
		for _, text := range []string{"root", "-1", "0", "1e-3", "hinge", "eps:2", "@x", "NaN", "true", " 7 ",
			"9999999999"} {
			f.Add(name, text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		p := defaults()
		if err := param.Set(&p, "test", map[string]string{name: text}); err != nil {
			if !fault.IsInput(err) || len(err.Error()) > 1000 {
				t.Errorf("%q=%q: error %v", name, text, err)
			}
			return
		}
		if err := param.Validate(p); err != nil {
			t.Errorf("%q=%q is accepted, and then refused: %v", name, text, err)
		}
	})
}
