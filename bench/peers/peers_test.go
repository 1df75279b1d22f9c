package peers

import (
	"cmp"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestUniform: the numbers are the published first outputs of SplitMix64 with seed 0.
func TestUniform(t *testing.T) {
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := uniform(0, i); got != float64(want>>11)/(1<<53) {
			t.Errorf("number %d is %v: want that of %#x", i, got, want)
		}
	}
}

// TestSidesAgree: both sides compute the same results for every case, at small sizes.
func TestSidesAgree(t *testing.T) {
	python := ""
	// the second is Debian's, with its packages
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(program, "-c", "import sklearn").Run() == nil {
			python = program
			break
		}
	}
	if python == "" {
		t.Skip("no python3 with scikit-learn is installed")
	}
	ctx := context.Background()
	s := subject(t)
	p, err := Start(ctx, python, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	if !strings.Contains(p.About(), "NumPy") {
		t.Errorf("about: %q", p.About())
	}
	for _, c := range cases(t, s) {
		c.N, c.D = 40, min(c.D, 30)
		f, err := c.Run(ctx, s, p, 1, measure.Options{Rounds: 1, MinTime: time.Microsecond, Pause: -1})
		if err != nil {
			t.Error(err)
		} else if f.Entries[1].Seconds.Median <= 0 {
			t.Errorf("%s: no time measured", c.Name)
		}
	}
	wrong := Case{Name: "gemm", N: 20, D: 20, work: syrk}
	if _, err := wrong.Run(ctx, s, p, 1, measure.Options{Rounds: 1, Pause: -1}); err == nil ||
		!strings.Contains(err.Error(), "not do the same work") {
		t.Errorf("other work on our side: error %v: want one that reports different work", err)
	}
	if _, err := p.prepare("svd", 3, 3); err == nil {
		t.Error("no error for an unknown case")
	}
}

// TestOurSide: the results of our side alone are finite and the same in two runs.
func TestOurSide(t *testing.T) {
	ctx, s := context.Background(), subject(t)
	for _, c := range cases(t, s) {
		prepare, run, check, err := c.work(ctx, s, 17, 5)
		if err != nil {
			t.Fatal(err)
		}
		var sums [2]float64
		for i := range sums {
			if prepare != nil {
				prepare()
			}
			if err := run(); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			sums[i] = check()
		}
		if sums[0] != sums[1] || math.IsNaN(sums[0]) || sums[0] == 0 {
			t.Errorf("%s: sums %v over two results: want the same number", c.Name, sums)
		}
	}
}

func TestStartFails(t *testing.T) {
	for _, program := range []string{"no-such-program", "false"} {
		if p, err := Start(context.Background(), program, 1); err == nil ||
			!strings.Contains(err.Error(), "python3-sklearn") {
			t.Errorf("%s: %v, error %v: want one that says what to install", program, p, err)
		}
	}
}

func TestSelect(t *testing.T) {
	if _, _, err := Select([]string{"gemm", "rfb"}, ""); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "rbf") {
		t.Errorf("error %v: want one that names rbf", err)
	}
	cases, contests, err := Select([]string{"rbf"}, "")
	if err != nil || len(cases) != 4 || len(contests) != 0 {
		t.Errorf("%d cases, %d contests, error %v: want 4 and none", len(cases), len(contests), err)
	}
	if cases, contests, err := Select([]string{"mmc"}, ""); err != nil || len(cases) != 0 ||
		len(contests) != 3 {
		t.Errorf("%d cases, %d contests, error %v: want none and 3", len(cases), len(contests), err)
	}
	if some, err := On(Contests(), []string{"wine"}); err != nil || len(some) != len(ContestNames()) {
		t.Errorf("%d contests on wine, error %v: want %d", len(some), err, len(ContestNames()))
	}
	if _, err := On(Contests(), []string{"wein"}); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "wine") {
		t.Errorf("error %v: want one that names wine", err)
	}
	all, contests, err := Select(nil, "folder")
	if len(contests) != 0 {
		t.Errorf("%d contests without names: want none", len(contests))
	}
	without, _, _ := Select(nil, "")
	if err != nil || len(all) != len(Cases()) || len(without) != len(all)-2 {
		t.Errorf("%d cases with data and %d without, error %v: want %d and two less", len(all), len(without),
			err, len(Cases()))
	}
	named, _, err := Select([]string{adult}, "")
	if err != nil || len(named) != 1 {
		t.Fatalf("%d cases, error %v: want the named one", len(named), err)
	}
	if _, _, _, err := named[0].work(context.Background(), Subject{}, 1, 1); !fault.IsInput(err) {
		t.Errorf("without data: %v: want an input error", err)
	}
}

func subject(t *testing.T) Subject {
	t.Helper()
	eng, err := engine.New(engine.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	return Subject{eng, table, os.Getenv("MUSTLINK_DATA")}
}

// cases returns the cases that can run on this machine.
func cases(t *testing.T, s Subject) []Case {
	t.Helper()
	all, _, err := Select(nil, s.Data)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCore: the peers are started again with the best core if their OpenBLAS chose an old one, and
// keep a core that the environment chose.
func TestCore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an interpreter is a script here")
	}
	python := filepath.Join(t.TempDir(), "python")
	const script = `#!/bin/sh
core=${OPENBLAS_CORETYPE:-Prescott}
while read line; do echo "{\"about\": \"$core\", \"cores\": [\"$core\"]}"; done
`
	if err := os.WriteFile(python, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for chosen, want := range map[string]string{
		"":        cmp.Or(blas.BetterCore("Prescott", asm.Best()), "Prescott"),
		"Nehalem": "Nehalem",
	} {
		t.Setenv(blas.CoreVariable, chosen)
		p, err := Start(t.Context(), python, 1)
		if err != nil {
			t.Fatal(err)
		}
		if p.About() != want {
			t.Errorf("%q is chosen: core %q, want %q", chosen, p.About(), want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
