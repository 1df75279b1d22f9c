// Hostile runs built programs of mustlink on hostile input and counts how they end: mutated files
// of all formats under a hard limit of address space, kills while commands write, extreme
// parameters of all methods, NULL for every argument of the C library, forks of a program that uses
// it, failures of every system call on files, two servers of label that write one file, full and
// closed outputs, limits of memory, and tables that say the same in another way.
//
//	bin/tools/hostile -bin default=bin/mustlink -library default=bin/lib
//
// It prints a table as Markdown, and lists every run that ended in none of the good ways: done, or
// refused with a typed error. Every random choice comes from -seed. It requires sh, for the C
// library cc, and for failures strace.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// campaign is what the parts share.
type campaign struct {
	seed         uint64
	files, kills int
	faults       int // failures of one kind of call of one command, at most
	commands     int // of the failures, 0 for all
	settings     int // of parameters, at most; 0 for all
	answers      int // of the label storm
	sweep        int // runs under a memory limit, at most
	rows         int // of their tables
	relations    int // fits of two tables that say the same, at most
	forks        int
	outputs      int    // lines of the part outputs, 0 for all
	match        string // words of the runs under a memory limit, "" for all
	from         int    // number of the first file
	jobs         int
	keep         string // folder for the files of bad ends, "" for none
	list         io.Writer
}

// part is one part of the campaign.
type part struct {
	name string
	run  func(c *campaign, p program, t *tally) error
}

var parts = []part{{"files", runFiles}, {"parameters", runParameters}, {"kills", runKills}, {"null", runNull},
	{"faults", runFaults}, {"storm", runStorm}, {"outputs", runOutputs},
	{"memory", runMemory}, {"forks", runForks}, {"relations", runRelations}}

func partNames() string {
	list := make([]string, len(parts))
	for k := range parts {
		list[k] = parts[k].name
	}
	return strings.Join(list, ",")
}

func run(args []string, out, list io.Writer) error {
	c := &campaign{list: list}
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.Uint64Var(&c.seed, "seed", 1, "seed of all random choices")
	flags.IntVar(&c.files, "files", 5000, "hostile files")
	flags.IntVar(&c.from, "from", 0, "number of the first file, to go on with an earlier run")
	flags.IntVar(&c.kills, "kills", 1000, "kills")
	flags.IntVar(&c.faults, "faults", 100, "failures of one kind of call of one command, at most")
	flags.IntVar(&c.answers, "answers", 10000, "answers in the label storm")
	flags.IntVar(&c.sweep, "sweep", 1<<30, "runs under a memory limit, at most")
	flags.IntVar(&c.rows, "rows", 1_000_000, "rows of the tables of these runs")
	flags.IntVar(&c.relations, "relations", 1<<30, "comparisons of two tables that say the same, at most")
	flags.IntVar(&c.forks, "forks", 500, "forks of a program that uses the C library")
	flags.DurationVar(&patience, "patience", patience, "time after which a run is a hang")
	flags.IntVar(&c.jobs, "jobs", runtime.NumCPU(), "programs at a time")
	flags.StringVar(&c.match, "match", "", "words of the commands under a memory limit")
	flags.StringVar(&c.keep, "keep", "", "folder for the hostile files of bad ends")
	quick := flags.Bool("quick", false, "few files, kills and parameters")
	all := flags.Bool("all", false, "list every run")
	only := flags.String("only", partNames(), "parts to run")
	bins := flags.String("bin", "", "programs, as BUILD=PATH,...")
	libraries := flags.String("library", "",
		"folders of make build-lib, as BUILD=PATH,...; without it there is no part null")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *quick {
		c.files, c.kills, c.settings, c.answers, c.relations, c.forks, c.outputs = 60, 12, 40, 100, 20, 50, 20
		c.faults, c.commands, c.sweep, c.rows = 2, 3, 6, 400_000
	}
	programs, err := builds(*bins, *libraries)
	if err != nil {
		return err
	}
	from := untyped
	if *all {
		from = done
	}
	var rows []*tally
	for _, name := range strings.Split(*only, ",") {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return fmt.Errorf("-only is %q: want some of %s", *only, partNames())
		}
		for _, p := range programs {
			t := newTally(name, p.build, from)
			if err := parts[at].run(c, p, t); err != nil {
				return fmt.Errorf("%s, %s: %w", name, p.build, err)
			}
			if t.total() > 0 {
				rows = append(rows, t)
			}
		}
	}
	printTable(out, rows)
	if slices.ContainsFunc(rows, (*tally).bad) {
		return errors.New("some runs ended badly: want every one done or refused")
	}
	return nil
}

// builds reads the flags that name programs and libraries.
func builds(bins, libraries string) ([]program, error) {
	folders := map[string]string{}
	for text := range strings.SplitSeq(libraries, ",") {
		build, path, _ := strings.Cut(text, "=")
		folders[build] = path
	}
	var list []program
	for text := range strings.SplitSeq(bins, ",") {
		build, path, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("-bin is %q: want a list of BUILD=PATH", bins)
		}
		full, err := absolute(path)
		if err != nil {
			return nil, err
		}
		p := program{build: build, path: full}
		if folder := folders[build]; folder != "" {
			if p.library, err = absolute(folder); err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	return list, nil
}
