package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/docpage"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// The names of what `paper all` writes into its folder.
const (
	reproductionPage = "reproduction.md"
	resultsFolder    = "results"
	detailsFolder    = "papers" // in that of results
	stateFile        = "state.jsonl"
)

// quickRepetitions returns the number of repetitions of a quick run: as few as a test of the order
// of systems needs.
func quickRepetitions(t paper.Table) int {
	const minTrials, part = 6, 10
	return min(t.Repetitions, max(minTrials, t.Repetitions/part))
}

// allRun runs all tables and figures.
type allRun struct {
	*app
	cmd     *cobra.Command
	p       *paperFlags
	eng     *engine.Engine
	start   time.Time
	numbers *printed.Numbers
	entries []paper.Entry
}

func (a *app) runAll(cmd *cobra.Command, p *paperFlags, tables []paper.Table, figures []paper.Figure) error {
	check := a.Check(cmd)
	check.Refuse(p.out == session.Stream, "all writes one page for each table: want a folder with -o %s",
		usage.HelpHint(cmd))
	check.Refuse(p.repetitions != 0,
		"--repetitions is given, but all uses the number of every table: want --quick for fewer")
	check.Do(func() error {
		return p.findData(a, []string{"mnist-train-images-idx3-ubyte.gz", "and others"})
	})
	check.Do(func() error { return session.MakeFolder(p.out) })
	check.Do(func() error { return session.MakeFolder(filepath.Join(p.out, resultsFolder)) })
	p.state = session.NameOr(p.state, filepath.Join(p.out, stateFile))
	check.State(p.state)
	if check.Err != nil {
		return check.Err
	}
	numbers, err := p.numbers()
	if err != nil {
		return err
	}
	eng, err := a.Engine()
	if err != nil {
		return err
	}
	r := &allRun{app: a, cmd: cmd, p: p, eng: eng, numbers: numbers, start: time.Now()}
	for _, t := range tables {
		if err := r.table(t.With(numbers)); err != nil {
			return err
		}
	}
	for _, f := range figures {
		if err := r.figure(f.With(numbers)); err != nil {
			return err
		}
	}
	return r.finish()
}

// missing returns the files that are not in the folder of data sets.
func (r *allRun) missing(names []string) []string {
	var out []string
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(r.p.data, name)); err != nil {
			out = append(out, name)
		}
	}
	return out
}

// table runs a table and writes its page, its numbers and its picture.
func (r *allRun) table(t paper.Table) error {
	if missing := r.missing(t.Data); missing != nil {
		r.entries = append(r.entries,
			paper.Entry{Name: t.Name, Paper: t.Paper, Label: t.Label, Caption: t.Caption, Missing: missing})
		return nil
	}
	begin := time.Now()
	repetitions := t.Repetitions
	if r.p.quick {
		repetitions = quickRepetitions(t)
	}
	bar := r.Progress()
	defer bar.Done()
	result, err := paper.Run(r.cmd.Context(), r.eng, t, paper.Options{
		Seed: r.p.seed, State: r.p.state, Repetitions: repetitions, Kept: r.p.quick, Data: r.p.data,
		Progress: bar.Report,
	})
	if err != nil {
		return err
	}
	bar.Done()
	e, err := result.Entry()
	if err != nil {
		return err
	}
	r.entries = append(r.entries, e)
	p := product{numbers: result, text: result.Markdown(), across: 4}
	if t.Drawn() {
		p.panels = drawn(result.Panels())
	}
	return r.write(t.Name, begin, p)
}

// figure computes a figure, unless an earlier run did, and writes its page, its numbers and its
// picture.
func (r *allRun) figure(f paper.Figure) error {
	if missing := r.missing(f.Data); missing != nil {
		r.entries = append(r.entries,
			paper.Entry{Name: f.Name, Paper: f.Paper, Label: f.Label, Caption: f.Caption, Missing: missing})
		return nil
	}
	if d, err := r.earlier(f); err != nil || d != nil {
		if d != nil {
			r.entries = append(r.entries, d.Entry())
		}
		return err
	}
	begin := time.Now()
	bar := r.Progress()
	defer bar.Done()
	d, err := f.Make(r.cmd.Context(), r.eng,
		paper.Sketch{Seed: r.p.seed, Data: r.p.data, Progress: bar.Report})
	if err != nil {
		return err
	}
	bar.Done()
	r.entries = append(r.entries, d.Entry())
	p := product{numbers: d, text: d.Markdown(), across: d.Across}
	if len(d.Panels) > 0 {
		p.panels = drawn(d.Panels)
	}
	return r.write(f.Name, begin, p)
}

// sameFigure reports whether two figures have the same definition, as their pages write it.
func sameFigure(a, b paper.Figure) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// earlier returns the figure of the same definition and seed that an earlier run computed on this
// backend, or nil. It does for figures what the state file does for tables.
func (r *allRun) earlier(f paper.Figure) (*paper.Drawing, error) {
	text, err := os.ReadFile(r.path(f.Name, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d paper.Drawing
	if json.Unmarshal(text, &d) != nil || d.Seed != r.p.seed ||
		d.Build.Backend != r.eng.Backend().Describe() || !sameFigure(d.Figure, f) {
		return nil, nil // another definition, seed or backend: compute it again
	}
	d.Figure = f
	return &d, nil
}

func (r *allRun) path(name, extension string) string {
	return filepath.Join(r.p.out, resultsFolder, name+extension)
}

// write writes the files of an entry, the numbers last, since they mark it as finished.
func (r *allRun) write(name string, begin time.Time, p product) error {
	for _, extension := range []string{".svg", ".md", ".json"} {
		if extension == ".svg" && p.panels == nil {
			continue
		}
		if err := p.writeFile(r.app, r.path(name, extension)); err != nil {
			return err
		}
	}
	if !r.Quiet && !r.JSON {
		fmt.Fprintf(r.Stderr, "%s: %s\n", name, time.Since(begin).Round(time.Second/10))
	}
	return nil
}

// finish writes the page that summarizes all entries.
func (r *allRun) finish() error {
	command := "mustlink-bench paper all --data DIR -o DIR"
	if r.p.quick {
		command += " --quick"
	}
	command += fmt.Sprintf(" --seed %d", r.p.seed)
	page := filepath.Join(r.p.out, reproductionPage)
	short, details, err := docpage.Details(paper.Reproduction(r.entries, r.numbers, resultsFolder, command),
		resultsFolder+"/"+detailsFolder)
	if err != nil {
		return err
	}
	if err := r.WriteText(page, short); err != nil {
		return err
	}
	folder := filepath.Join(r.p.out, resultsFolder, detailsFolder)
	if err := session.MakeFolder(folder); err != nil {
		return err
	}
	for name, text := range details {
		if err := r.WriteText(filepath.Join(folder, name), string(text)); err != nil {
			return err
		}
	}
	own, rivals := paper.Count(r.entries, paper.Own), paper.Count(r.entries, paper.Rival)
	report := struct {
		Entries []paper.Entry `json:"entries"`
		Own     paper.Tally   `json:"own"`    // quality of the papers' own methods, on their data
		Rivals  paper.Tally   `json:"rivals"` // quality of the systems they are compared with
		Seconds float64       `json:"seconds"`
	}{r.entries, own, rivals, time.Since(r.start).Seconds()}
	return r.Summarize(page, report, func(w io.Writer) {
		fmt.Fprintf(w, "own methods\treproduced %d, better %d, worse %d\n", own.Reproduced, own.Better,
			own.Worse)
		fmt.Fprintf(w, "rivals\treproduced %d, above %d, below %d\n", rivals.Reproduced, rivals.Better,
			rivals.Worse)
		fmt.Fprintf(w, "%s\twritten to %s\n", time.Since(r.start).Round(time.Second), page)
	})
}
