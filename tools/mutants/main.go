// Mutants plants faults in the code, one at a time, and says which of them the tests do not find.
//
//	bin/tools/mutants -n 200 -seed 7           faults in all packages of the module
//	bin/tools/mutants engine/links solvers/... faults in these
//	bin/tools/mutants -changed HEAD~1          faults on the lines that changed since a commit
//	bin/tools/mutants -again FILE              the survivors that a run before has written to a file
//
// A mutant is the code with one fault: another operator, constant or bound, a negated condition, a
// statement, an error check, a look at the context or a lock less. The compiler reads it as an
// overlay, so the files stay as they are. The tests that run are those of the package, then those
// of the packages that import it most directly. A fault that none of them notices is a survivor.
//
// The same seed draws the same faults in the same files. With -changed each survivor is a failure.
// Survivors that change no result belong into equivalents.txt, as their second line says, with the
// reason in a comment.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// options are the flags.
type options struct {
	count       int
	seed        uint64
	box         time.Duration // for everything
	slow        time.Duration // on the processors: tests that take longer are left out
	factor      float64       // the time of tests with a fault, relative to without
	importers   int
	changed     string
	again       string
	kinds       string
	equivalents string
	root        string
}

func main() {
	var o options
	flag.IntVar(&o.count, "n", 100, "`number` of faults")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the draw")
	flag.DurationVar(&o.box, "time", 24*time.Hour, "time for everything, on the clock")
	flag.DurationVar(&o.slow, "slow", time.Minute, "leave out tests that take longer, on the processors")
	flag.Float64Var(&o.factor, "factor", 5, "time of the tests with a fault, relative to without")
	flag.IntVar(&o.importers, "importers", 2, "importing packages whose tests run too")
	flag.StringVar(&o.changed, "changed", "", "only lines that changed since this `commit`; survivors fail")
	flag.StringVar(&o.again, "again", "", "only the survivors in the output of another run, a `file`")
	flag.StringVar(&o.kinds, "kinds", "", "only faults of these kinds, as a,b")
	flag.StringVar(&o.equivalents, "equivalents", filepath.Join("tools", "mutants", "equivalents.txt"),
		"`file` of known faults that change no result")
	flag.Parse()
	o.root = "."
	survivors, err := run(o, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || o.changed != "" && survivors > 0 {
		os.Exit(1)
	}
}

// survivorText stands before what names a survivor.
const survivorText = "if it changes no result: "

// run plants the faults and returns the number of survivors.
func run(o options, folders []string, w io.Writer) (survivors int, err error) {
	end := time.Now().Add(o.box)
	if o.root, err = filepath.Abs(o.root); err != nil {
		return 0, err
	}
	if dirty, err := changedLines(o.root, "HEAD"); err == nil && len(dirty) > 0 {
		fmt.Fprintf(w, "note: changes that are not committed, in %d files, are tested too\n", len(dirty))
	}
	var lines changes
	if o.changed != "" {
		if lines, err = changedLines(o.root, o.changed); err != nil {
			return 0, err
		}
		folders = lines.folders()
		if len(folders) == 0 {
			fmt.Fprintf(w, "no line of the library has changed since %s\n", o.changed)
			return 0, nil
		}
	}
	known, err := readEquivalents(filepath.Join(o.root, o.equivalents))
	if err != nil {
		return 0, err
	}
	again, err := readEquivalents(o.again)
	if err != nil {
		return 0, err
	}
	if o.again != "" && len(again) == 0 {
		return 0, fmt.Errorf("no survivor in %s: want the output of another run", o.again)
	}
	packages, err := load(o.root, folders)
	if err != nil {
		return 0, err
	}
	for _, p := range packages {
		p.find(o.kinds, func(m *mutant) bool {
			return !known[m.text()] && lines.touch(m) && (o.again == "" || again[m.text()])
		})
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	t := &tests{o: o, work: work, end: end, w: w, programs: map[string]*program{}}
	var result table
	d := newDraw(packages, o.seed)
	for len(result) < o.count && time.Now().Before(end) {
		m := d.next()
		if m == nil {
			break
		}
		began := time.Now()
		switch m.outcome, err = t.try(m); {
		case err != nil:
			return result.survivors(), err
		case m.outcome == outOfTime:
			continue
		case m.outcome == noTests: // which has been said
			d.drop(m.pkg)
			continue
		}
		fmt.Fprintf(w, "%s %s:%d %s in %s: %s => %s (%.0fs)\n", m.outcome, m.file, m.line, m.kind, m.function,
			m.was, m.is, time.Since(began).Seconds())
		if m.outcome == survived {
			fmt.Fprintf(w, "\t%s%s\n", survivorText, m.text())
		}
		if m.outcome != invalid {
			result = append(result, m)
		}
	}
	if d.invalid > 0 {
		fmt.Fprintf(w, "%d faults that do not compile were drawn, and left out\n", d.invalid)
	}
	if time.Now().After(end) {
		fmt.Fprintf(w, "the time is up after %d of %d faults\n", len(result), o.count)
	}
	result.print(w, d.candidates)
	return result.survivors(), nil
}
