package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcome is what became of a fault.
type outcome string

const (
	killed    outcome = "killed"
	hung      outcome = "hung" // killed too: the tests did not end in their time
	survived  outcome = "SURVIVED"
	invalid   outcome = "does not compile"
	outOfTime outcome = "out of time"
	noTests   outcome = "no tests"
)

// tests runs those of packages.
type tests struct {
	o        options
	work     string
	end      time.Time
	w        io.Writer
	listed   []listed
	programs map[string]*program
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir                          string
	Deps, Imports, TestImports, XTestImports []string
	TestGoFiles, XTestGoFiles                []string
}

// spent is the time of a run: on the processors, and on the clock, which other work makes longer.
type spent struct{ busy, wall time.Duration }

// program is the tests of one package, with or without the race detector.
type program struct {
	path, dir string
	race      bool
	usual     spent  // by the tests without a fault
	wrong     string // why they do not run
}

// of returns the test programs for a package, the most direct first.
func (t *tests) of(path string, race bool) (list []*program, err error) {
	if t.listed == nil {
		out, err := output(t.o.root, "go", "list", "-json", "./...")
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(strings.NewReader(out)); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			t.listed = append(t.listed, p)
		}
		slices.SortStableFunc(t.listed, func(a, b listed) int {
			return cmp.Compare(len(a.Deps), len(b.Deps))
		})
	}
	var own, others []*program
	for _, p := range t.listed {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		direct := slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports), path)
		if p.ImportPath != path && !direct {
			continue
		}
		key := fmt.Sprint(p.ImportPath, race)
		if t.programs[key] == nil {
			t.programs[key] = &program{path: p.ImportPath, dir: p.Dir, race: race}
		}
		if p.ImportPath == path {
			own = append(own, t.programs[key])
		} else {
			others = append(others, t.programs[key])
		}
	}
	return append(own, others[:min(len(others), t.o.importers)]...), nil
}

// try plants a fault and runs the tests. Locks are tested with the race detector.
func (t *tests) try(m *mutant) (outcome, error) {
	programs, err := t.of(m.pkg.PkgPath, m.kind == "lock")
	if err != nil {
		return "", err
	}
	file := filepath.Join(t.work, "mutant.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(t.o.root, filepath.FromSlash(m.file)): file}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(t.work, "overlay.json")
	err = errors.Join(os.WriteFile(file, m.source(), 0o600), os.WriteFile(list, overlay, 0o600))
	if err != nil {
		return "", err
	}
	ran := false
	for _, p := range programs {
		if err := t.measure(p); err != nil {
			return "", err
		}
		if p.wrong != "" {
			continue
		}
		ran = true
		if message, err := t.build(p, "-overlay", list); err != nil {
			return "", err
		} else if message != "" {
			return invalid, nil
		}
		limit := 5*time.Second + time.Duration(t.o.factor*float64(p.usual.busy))
		wall := time.Minute + time.Duration(3*t.o.factor*float64(p.usual.wall))
		got, _, took := t.run(p, limit, wall)
		if got == hung && took.busy < limit/4 { // a lock waits, or the machine was elsewhere
			got, _, _ = t.run(p, limit, wall)
		}
		if got != survived {
			return got, nil
		}
		if time.Now().After(t.end) {
			return outOfTime, nil
		}
	}
	if !ran {
		return noTests, nil
	}
	return survived, nil
}

// measure runs the tests without a fault, once.
func (t *tests) measure(p *program) error {
	if p.usual.wall > 0 || p.wrong != "" {
		return nil
	}
	message, err := t.build(p)
	if err != nil {
		return err
	}
	if message == "" {
		var got outcome
		got, message, p.usual = t.run(p, t.o.slow, 10*t.o.slow)
		switch got {
		case hung:
			message = fmt.Sprintf("they take more than %v of the processors", t.o.slow)
		case killed:
			message = "they fail without a fault: " + last(message)
		case outOfTime:
			message = "no time is left"
		default:
			message = ""
		}
	}
	if p.wrong = message; message != "" {
		fmt.Fprintf(t.w, "note: the tests of %s are left out: %s\n", p.path, message)
	}
	return nil
}

func last(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

func (t *tests) binary() string { return filepath.Join(t.work, "tests") }

// build compiles tests and returns the message of the compiler if it refuses.
func (t *tests) build(p *program, flags ...string) (message string, err error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", t.binary()}, flags...)
	if p.race {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, p.path)...)
	build.Dir = t.o.root
	out, err := build.CombinedOutput()
	if _, refused := errors.AsType[*exec.ExitError](err); refused {
		return last(string(out)), nil
	}
	return "", err
}

// run runs tests for at most so long on the processors and on the clock. Memory has a bound, as a
// wrong size may ask for all of it.
func (t *tests) run(p *program, busy, wall time.Duration) (got outcome, message string, took spent) {
	ctx, cancel := context.WithTimeout(context.Background(), min(wall, max(time.Until(t.end), time.Second)))
	defer cancel()
	bounds := fmt.Sprintf("ulimit -t %d; ", int(math.Ceil(busy.Seconds())))
	if !p.race { // which reserves addresses by the terabyte
		bounds += "ulimit -v 16000000; "
	}
	bounds += `exec "$0" -test.failfast -test.timeout=0`
	command := exec.CommandContext(ctx, "sh", "-c", bounds, t.binary())
	command.Dir, command.WaitDelay = p.dir, 5*time.Second
	command.Env = append(os.Environ(), "RAPID_NOFAILFILE=true") // or failing property tests write files
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	began := time.Now()
	err := command.Run()
	took.wall = time.Since(began)
	if s := command.ProcessState; s != nil {
		took.busy = s.UserTime() + s.SystemTime()
	}
	switch {
	case ctx.Err() != nil && time.Now().After(t.end):
		return outOfTime, "", took
	case ctx.Err() != nil || err != nil && (took.busy >= busy || command.ProcessState.ExitCode() < 0):
		return hung, "", took // a signal is that of the bound, as tests send themselves none
	case err != nil:
		return killed, out.String(), took
	}
	return survived, "", took
}
