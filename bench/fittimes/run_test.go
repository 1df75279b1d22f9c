package fittimes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// law is a build whose fit times are given by a formula.
type law struct {
	seconds func(c Case) float64
	fitted  []Case
}

func (l *law) Time(_ context.Context, c Case, calls int) (time.Duration, error) {
	if len(l.fitted) == 0 || l.fitted[len(l.fitted)-1] != c {
		l.fitted = append(l.fitted, c)
	}
	return time.Duration(float64(calls) * l.seconds(c) * 1e9), nil
}

// power returns n^2 d links^0.5 microseconds.
func power(c Case) float64 {
	n := float64(c.Points)
	return 1e-6 * n * n * float64(c.Features) * math.Sqrt(float64(c.Links))
}

var someSizes = Sizes{Points: []int{400, 800, 1600}, Features: []int{2, 4, 8}, Links: []int{100, 400, 1600}}

// TestExponentsOfALaw: plan, run and rows recover the exponents of a law, also with scaled sizes.
func TestExponentsOfALaw(t *testing.T) {
	methods := []string{"krca", "npkl graph=dense", "npk"}
	plan, err := Plan(methods, someSizes)
	if err != nil || len(plan) != 3*7 {
		t.Fatalf("%d cases, error %v: want seven for each method", len(plan), err)
	}
	measurements, err := Run(context.Background(), plan, []string{Default}, []Fitter{&law{seconds: power}},
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Rows(methods, someSizes, measurements)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		for k, want := range [3]float64{2, 1, 0.5} {
			// Times are whole nanoseconds, of more than 1e-4 s: 1e-5 of them.
			if g := r.Growth[k]; math.Abs(g.Exponent-want) > 1e-4 || g.Error > 1e-4 || g.R2 < 0.9999 {
				t.Errorf("%s: exponent %d is %+v: want %v", r.Method, k, g, want)
			}
		}
		if want := power(r.Largest); r.Method != methods[i] || math.Abs(r.Seconds-want) > 1e-9 {
			t.Errorf("%s takes %v s for %+v: want %v", r.Method, r.Seconds, r.Largest, want)
		}
	}
	if r := rows[2]; r.Largest != (Case{"npk", smallPoints, 4, 40}) {
		t.Errorf("the largest case of npk is %+v: want %d points, and links in proportion", r.Largest,
			smallPoints)
	}
	table := GrowthTable(rows)
	if lines := strings.Split(strings.TrimSpace(table), "\n"); len(lines) != 5 ||
		!strings.HasPrefix(lines[3], "| npkl graph=dense | n=1600 d=4 links=400 | ") ||
		!strings.Contains(lines[3], "| 2.00 ± 0.00 (1.000) |") {
		t.Errorf("table:\n%s", table)
	}
	panels, err := Panels(methods, someSizes, measurements)
	if err != nil || len(panels) != 6 {
		t.Fatalf("%d panels, error %v: want three for methods and three for methods for few points",
			len(panels), err)
	}
	if err := view.Write(&bytes.Buffer{}, "svg", view.Size{Columns: 3}, panels...); err != nil {
		t.Error(err)
	}
}

// TestRatios: faster and slower builds have their ratios, and a ratio that misses its aim is
// marked.
func TestRatios(t *testing.T) {
	plan, err := Contest([]string{"gml", "rca", "npk"}, []int{500, 2000})
	if err != nil || len(plan) != 5 {
		t.Fatalf("plan %v, error %v: want npk once", plan, err)
	}
	times := func(factor float64) *law {
		return &law{seconds: func(c Case) float64 { return factor * power(c) }}
	}
	names := []string{Default, Netlib, PureGo}
	measurements, err := Run(context.Background(), plan, names, []Fitter{times(1), times(0.5), times(6)},
		Options{Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Ratios(measurements) {
		want := map[string]float64{Netlib: 0.5, PureGo: 6}[r.Build]
		if math.Abs(r.Ratio.Median-want) > 1e-4 || r.Met() != (r.Build == PureGo) {
			t.Errorf("%s of %s: %+v, met %v: want %v", r.Case.Method, r.Build, r.Ratio, r.Met(), want)
		}
		if aims := map[string]float64{Netlib: 1 / 1.2}; r.Case.Method == "rca" && r.Want != aims[r.Build] {
			t.Errorf("rca in %s aims at %v", r.Build, r.Want)
		}
	}
	table := RatioTable(measurements)
	if want := "| gml | 2000 |"; !strings.Contains(table, want) ||
		!strings.Contains(table, "| 0.50 (0.50 to 0.50) | **0.83 missed** | 6.00 (6.00 to 6.00) | 5.00 |") ||
		!strings.Contains(table, "| **0.77 missed** |") || strings.Count(table, "\n") != 7 {
		t.Errorf("table:\n%s", table)
	}
	panels := RatioPanels(measurements)
	if err := view.Write(&bytes.Buffer{}, "svg", view.Size{}, panels...); err != nil || len(panels) != 2 {
		t.Fatalf("%d panels, error %v: want one for each build", len(panels), err)
	}
	for _, s := range panels[0].(view.Lines).Series {
		if !slices.IsSorted(s.X) || len(s.X) != len(s.Y) {
			t.Errorf("series %+v: want the order of the times", s)
		}
	}
	measurements[0].Entries[0].Name = "other" // aims are those of the default build
	if r := Ratios(measurements[:1])[0]; r.Want != 0 || !r.Met() {
		t.Errorf("a ratio to another build aims at %v", r.Want)
	}
}

// TestResume: what an earlier run has measured is not measured again, and the file is complete
// after every case.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	setup := Setup{Machine: "m", Builds: []Build{{Name: Default}}, Threads: 2, Rounds: 1}
	plan, err := Plan([]string{"krca"}, someSizes)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := Resume(path, setup); f != nil || err != nil {
		t.Errorf("without a file: %v, error %v", f, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	kept := Report{Setup: setup}
	first := &law{seconds: power}
	begun, err := Run(ctx, plan, []string{Default}, []Fitter{first},
		Options{Rounds: 1, Finished: func(f Measurement) error {
			kept.Measurements = append(kept.Measurements, f)
			if len(kept.Measurements) == 3 {
				cancel()
			}
			return kept.Save(path)
		}})
	if !errors.Is(err, context.Canceled) || len(begun) != 3 {
		t.Fatalf("%d measurements, error %v: want three, and that of the context", len(begun), err)
	}
	earlier, err := Resume(path, setup)
	if err != nil || len(earlier) != 3 {
		t.Fatalf("%d measurements kept, error %v: want three", len(earlier), err)
	}
	second := &law{seconds: func(c Case) float64 { return 2 * power(c) }}
	measurements, err := Run(context.Background(), plan, []string{Default}, []Fitter{second},
		Options{Rounds: 1, Earlier: earlier})
	if err != nil || len(measurements) != len(plan) || !slices.Equal(second.fitted, plan[3:]) {
		t.Errorf("%d measurements, fitted %v, error %v: want the rest of %v", len(measurements),
			second.fitted, err, plan)
	}
	if !slices.EqualFunc(measurements[:3], earlier, func(a, b Measurement) bool {
		return a.Case == b.Case && a.Entries[0] == b.Entries[0]
	}) {
		t.Errorf("measurements %+v: want the earlier ones first", measurements[:3])
	}
	other := setup
	other.Threads = 1
	if _, err := Resume(path, other); !fault.IsInput(err) || !strings.Contains(err.Error(), "state.json") ||
		!strings.Contains(err.Error(), "--threads") {
		t.Errorf("state of another set-up: error %v", err)
	}
	if err := (Report{}).Save(filepath.Join(path, "x")); err == nil {
		t.Error("saving below a file: want an error")
	}
}

// TestLocal: fits end with the error of the context.
func TestLocal(t *testing.T) {
	l := &Local{Engine: enginetest.New(t, 2)}
	c := Case{"kpca", 40, 3, 10}
	if d, err := l.Time(context.Background(), c, 2); err != nil || d <= 0 {
		t.Errorf("%v, error %v", d, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Time(ctx, c, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want that of the context", err)
	}
	if _, err := l.Time(context.Background(), Case{"kpca", 4, 1, 100}, 1); !fault.IsInput(err) {
		t.Errorf("more links than pairs: error %v", err)
	}
}

// TestProblem: problems are the same every time, and have the sizes of their cases.
func TestProblem(t *testing.T) {
	c := Case{Points: 31, Features: 3, Links: 9}
	x, set, err := c.Problem()
	again, sameSet, err2 := c.Problem()
	if err != nil || err2 != nil || x.N != 31 || x.D != 3 || len(set.Must()) != 5 || len(set.Cannot()) != 4 {
		t.Fatalf("%d x %d, %d and %d links, errors %v and %v", x.N, x.D, len(set.Must()), len(set.Cannot()),
			err, err2)
	}
	if !slices.Equal(x.Data, again.Data) ||
		fmt.Sprint(set.Must(), set.Cannot()) != fmt.Sprint(sameSet.Must(), sameSet.Cannot()) {
		t.Error("the problem differs when it is drawn again")
	}
	if err := x.Validate(); err != nil {
		t.Error(err)
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		methods []string
		sizes   Sizes
		word    string
	}{
		{[]string{"krac"}, someSizes, "krca"},
		{[]string{""}, someSizes, "a method"},
		{[]string{"krca eps"}, someSizes, "NAME=VALUE"},
		{[]string{"krca epsrel=1"}, someSizes, "eps_rel"},
		{[]string{"krca"}, Sizes{[]int{100, 200}, someSizes.Features, someSizes.Links}, "sizes"},
		{[]string{"krca"}, Sizes{[]int{100, 200, 200}, someSizes.Features, someSizes.Links}, "increasing"},
		{[]string{"krca"}, Sizes{someSizes.Points, []int{0, 1, 2}, someSizes.Links}, "features"},
		{[]string{"krca"}, Sizes{someSizes.Points, someSizes.Features, []int{4, 3, 2}}, "links"},
	} {
		if _, err := Plan(c.methods, c.sizes); !fault.IsInput(err) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v %+v: error %v: want one with %q", c.methods, c.sizes, err, c.word)
		}
	}
	for method, n := range map[string]int{"krac": 100, "krca": 3, "krca eps": 100} {
		if _, err := Contest([]string{method}, []int{n}); !fault.IsInput(err) {
			t.Errorf("%s with %d points: error %v", method, n, err)
		}
	}
	if plan, err := Contest(Compared(), []int{500, 2000}); err != nil || len(plan) < 2*20 {
		t.Errorf("%d cases of all methods, error %v", len(plan), err)
	}
	if plan, err := Plan(Methods(), DefaultSizes()); err != nil || len(plan) != 7*len(Methods()) {
		t.Errorf("%d cases of all methods, error %v", len(plan), err)
	}
}

// TestServe: a process answers each request with one line, and continues after a fit that fails.
func TestServe(t *testing.T) {
	eng := enginetest.New(t, 1)
	in := strings.NewReader(`{}
{"case":{"method":"rca","points":30,"features":2,"links":10},"calls":2}
{"case":{"method":"rca","points":30,"features":2,"links":10},"calls":0}
{"case":{"method":"acr","points":30,"features":2,"links":10},"calls":1}
{"case":{"method":"rca","points":30,"features":2,"links":10},"calls":1}
`)
	var out bytes.Buffer
	if err := Serve(context.Background(), Build{Name: "b"}, &Local{Engine: eng}, in, &out); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	var answers []answer
	for d.More() {
		var a answer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != 5 || answers[0].About == nil || answers[0].About.Name != "b" ||
		answers[1].Nanoseconds <= 0 || answers[1].Error != "" ||
		!strings.Contains(answers[2].Error, "0 calls") || !strings.Contains(answers[3].Error, "acr") ||
		answers[4].Nanoseconds <= 0 {
		t.Errorf("answers %+v", answers)
	}
	if err := Serve(context.Background(), Build{}, &Local{Engine: eng}, strings.NewReader("what\n"),
		&out); !fault.IsInput(err) {
		t.Errorf("no request: error %v", err)
	}
}

// TestCore: a build is started again with the best core if its OpenBLAS chose an old one, and keeps
// a core that the environment chose.
func TestCore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a build is a script here")
	}
	build := filepath.Join(t.TempDir(), "build")
	const script = `#!/bin/sh
core=${OPENBLAS_CORETYPE:-Prescott}
while read line; do echo "{\"about\": {\"core\": \"$core\"}}"; done
`
	if err := os.WriteFile(build, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for chosen, want := range map[string]string{
		"":        cmp.Or(blas.BetterCore("Prescott", asm.Best()), "Prescott"),
		"Nehalem": "Nehalem",
	} {
		t.Setenv(blas.CoreVariable, chosen)
		p, err := Start(t.Context(), build, 1)
		if err != nil {
			t.Fatal(err)
		}
		if p.About.Core != want {
			t.Errorf("%q is chosen: core %q, want %q", chosen, p.About.Core, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
