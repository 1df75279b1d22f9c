package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/suggestion"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type suggestFlags struct {
	data        dataFlags
	links       linkFlags
	count       int
	classes     int
	interactive bool
	seed        uint64
	scaling     scalingFlags
	out         string
}

// suggestedPairs is how many are written where -n does not say.
const suggestedPairs = 10

func newSuggest(a *app) *cobra.Command {
	var s suggestFlags
	cmd := &cobra.Command{
		Use:   "suggest [MODEL] -i DATA [-c LINKS] (-o PAIRS | --interactive)",
		Short: "choose the pairs that are worth asking about next",
		Long: `Choose pairs of rows that a person should look at next, given the links so far, and write them to PAIRS, or
ask with --interactive.

A row is asked against the classes that were met, those that are apart, the nearest first: a question or two
place it, and its links with all rows that are placed follow. What follows from LINKS is never asked. Rows
far from all classes come first, then those of which it is least certain where they belong. Distances are
those of MODEL, or without it those of the points. With --classes a row that is of no other class is of the
last one, without a question. What follows from the answers is written by 'mustlink links close'; methods that
learn from single pairs (npkl, itml, gml) do better with it.

--interactive shows two rows side by side and reads from standard input: y (they belong together), n, s (skip),
q (quit), or two rows and y or n, such as "3 12 y", for a pair of one's own. Every answer is appended to LINKS, and
on disk, before the next question: an interrupt loses nothing. An answer that the links so far exclude is
refused with the links that say so, and the question comes again.`,
		Example: `  mustlink suggest -i data.csv --standardize -n 20 -o pairs.csv
  mustlink suggest model.mlk -i data.csv -c links.csv -n 20 -o pairs.csv
  mustlink suggest -i data.csv --standardize -c links.csv --interactive --classes 3`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSuggest(cmd, args, &s) },
	}
	f := cmd.Flags()
	s.data.add(cmd)
	s.data.addLabels(cmd)
	s.links.add(cmd)
	f.IntVarP(&s.count, "count", "n", suggestedPairs, "number of pairs; with --interactive the most answers, all where it is not given")
	f.IntVar(&s.classes, "classes", 0, "number of classes, where it is known")
	f.BoolVar(&s.interactive, "interactive", false, "ask, and append answers to LINKS, a .csv that need not exist yet")
	s.scaling.add(f, "without MODEL: ", "to mean 0 and deviation 1")
	usage.SeedFlag(f, &s.seed)
	f.StringVarP(&s.out, "output", "o", "", "the file of `PAIRS` to write; - for standard output")
	return cmd
}

// suggestReport is what `mustlink suggest` prints.
type suggestReport struct {
	Pairs    int      `json:"pairs"`
	Classes  int      `json:"classes"` // that are apart, so far
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r *suggestReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s to ask\n", r.Output, session.Plural(r.Pairs, "pair"))
}

func (a *app) runSuggest(cmd *cobra.Command, args []string, s *suggestFlags) error {
	if err := a.checkSuggest(cmd, args, s); err != nil {
		return err
	}
	ctx := cmd.Context()
	m, err := a.metric(ctx, args...)
	if err != nil {
		return err
	}
	data, err := m.read(ctx, &s.data)
	if err != nil {
		return err
	}
	table, err := s.scaling.apply(a, data)
	if err != nil {
		return err
	}
	places, err := m.coordinates(ctx, table.Data())
	if err != nil {
		return err
	}
	set, err := a.readLinksSoFar(ctx, s, data)
	if err != nil {
		return err
	}
	questions, err := suggestion.New(places, set, suggestion.Options{Seed: s.seed, Classes: s.classes})
	if err != nil {
		return fault.InFile(err, data.Name)
	}
	if s.classes > 0 && questions.Classes() > s.classes {
		a.Warnf("%s: %d classes are apart, but --classes is %d: it is not heeded", s.links.path, questions.Classes(), s.classes)
	}
	if s.interactive {
		return a.ask(cmd, s, data, questions)
	}
	var pairs [][2]int
	for _, p := range questions.Batch(s.count) {
		pairs = append(pairs, [2]int{p.I, p.J})
	}
	if len(pairs) < s.count {
		a.Warnf("only %s can be asked at once: other questions depend on the answers, or these are known", session.Plural(len(pairs), "pair"))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.WritePairs(s.out, pairs, s.links.rowNames(data), a.WritingText()); err != nil {
		return err
	}
	r := &suggestReport{Pairs: len(pairs), Classes: questions.Classes(), Output: s.out, Warnings: a.Warnings()}
	return a.Summarize(s.out, r, r.text)
}

// checkSuggest finds every mistake that shows before anything is read.
func (a *app) checkSuggest(cmd *cobra.Command, args []string, s *suggestFlags) error {
	check := a.Check(cmd)
	check.Required("input")
	check.Least("-n, --count", s.count, 1)
	check.Refuse(s.classes < 0 || s.classes == 1 || cmd.Flags().Changed("classes") && s.classes == 0, "--classes is %d: want a number >= 2", s.classes)
	s.scaling.check(check, len(args) > 0, s.data.gram)
	check.Models(args)
	s.data.check(check)
	if s.interactive {
		s.checkAsking(check)
		return check.Err
	}
	check.Required("output")
	s.links.check(check)
	check.Output("-o, --output", s.out)
	return check.Err
}

// checkAsking checks what only matters to --interactive.
func (s *suggestFlags) checkAsking(check *session.Checks) {
	check.Exclusive("interactive", "output")
	check.Required("links")
	check.Refuse(s.links.path == session.Stream, "-c, --links is \"-\": answers are appended to it, want a file")
	check.Refuse(session.HasEnding(s.links.path, "gz"), "-c, --links is %q: answers are appended to it, want a file that is not compressed", s.links.path)
	s.links.checkBy(check)
	check.Output("-c, --links", s.links.path)
	check.Input("--interactive", session.Stream)
	if !check.Cmd.Flags().Changed("count") {
		s.count = 0
	}
}

// readLinksSoFar reads the links; there are none without -c, nor in a file that is yet to be made.
func (a *app) readLinksSoFar(ctx context.Context, s *suggestFlags, d *dataset.Data) (*links.Set, error) {
	none := s.links.path == ""
	if s.interactive {
		_, err := os.Stat(s.links.path)
		none = errors.Is(err, fs.ErrNotExist)
	}
	if none {
		if err := s.links.needIDs(d); err != nil {
			return nil, err
		}
		return links.New(d.Points.Len(), nil)
	}
	set, err := a.readLinks(ctx, &s.links, d)
	if err != nil {
		return nil, err
	}
	if err := set.Consistent(); err != nil {
		return nil, fault.InFile(err, s.links.path)
	}
	a.warnOfLinks(s.links.path, set)
	return set, nil
}
