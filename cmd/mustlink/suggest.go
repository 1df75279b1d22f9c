package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/suggestion"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
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
		Args: positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSuggest(cmd, args, &s) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	s.data.add(cmd)
	s.data.addLabels(cmd)
	s.links.add(cmd)
	f.IntVarP(&s.count, "count", "n", suggestedPairs, "number of pairs; with --interactive the most answers, all where it is not given")
	f.IntVar(&s.classes, "classes", 0, "number of classes, where it is known")
	f.BoolVar(&s.interactive, "interactive", false, "ask, and append answers to LINKS, a .csv that need not exist yet")
	s.scaling.add(f, "without MODEL: ", "to mean 0 and deviation 1")
	seedFlag(f, &s.seed)
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
	fmt.Fprintf(w, "%s: %s to ask\n", r.Output, plural(r.Pairs, "pair"))
}

func (a *app) runSuggest(cmd *cobra.Command, args []string, s *suggestFlags) error {
	if err := a.checkSuggest(cmd, args, s); err != nil {
		return err
	}
	data, shown, places, err := a.readForSuggest(cmd.Context(), args, s)
	if err != nil {
		return err
	}
	set, err := a.readLinksSoFar(cmd.Context(), s, data)
	if err != nil {
		return err
	}
	session, err := suggestion.New(places, set, suggestion.Options{Seed: s.seed, Classes: s.classes})
	if err != nil {
		return inFile(data.Name, err)
	}
	if s.classes > 0 && session.Classes() > s.classes {
		a.warn("%s: %d classes are apart, but --classes is %d: it is not heeded", s.links.path, session.Classes(), s.classes)
	}
	if s.interactive {
		return a.ask(cmd, s, data, shown, session)
	}
	var pairs [][2]int
	for _, p := range session.Batch(s.count) {
		pairs = append(pairs, [2]int{p.I, p.J})
	}
	if len(pairs) < s.count {
		a.warn("only %s can be asked at once: other questions depend on the answers, or these are known", plural(len(pairs), "pair"))
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := dataset.WritePairs(s.out, pairs, s.links.rowNames(data), a.writingText()); err != nil {
		return err
	}
	r := &suggestReport{Pairs: len(pairs), Classes: session.Classes(), Output: s.out, Warnings: a.allWarnings()}
	return a.summarise(s.out, r, r.text)
}

// checkSuggest finds every mistake that shows before anything is read.
func (a *app) checkSuggest(cmd *cobra.Command, args []string, s *suggestFlags) error {
	if err := required(cmd, "input"); err != nil {
		return err
	}
	if s.count < 1 {
		return &fault.ParamError{Param: "-n, --count", Value: s.count, Want: "a number >= 1"}
	}
	if s.classes < 0 || s.classes == 1 || cmd.Flags().Changed("classes") && s.classes == 0 {
		return &fault.ParamError{Param: "--classes", Value: s.classes, Want: "a number >= 2"}
	}
	if err := s.links.check(); err != nil {
		return err
	}
	if err := s.scaling.check(len(args) > 0, s.data.gram); err != nil {
		return err
	}
	if len(args) > 0 {
		if err := a.useModel(args[0]); err != nil {
			return err
		}
	}
	if err := a.useData(&s.data); err != nil {
		return err
	}
	if s.interactive {
		return a.checkAsking(cmd, s)
	}
	if err := required(cmd, "output"); err != nil {
		return err
	}
	if s.links.path != "" {
		if err := a.useInput("-c, --links", s.links.path); err != nil {
			return err
		}
	}
	return a.checkOutput("-o, --output", s.out)
}

// checkAsking checks what only matters to --interactive.
func (a *app) checkAsking(cmd *cobra.Command, s *suggestFlags) error {
	if err := exclusive(cmd, "interactive", "output"); err != nil {
		return err
	}
	if err := required(cmd, "links"); err != nil {
		return err
	}
	if s.links.path == stream {
		return usagef("-c, --links is \"-\": answers are appended to it, want a file")
	}
	if !cmd.Flags().Changed("count") {
		s.count = 0
	}
	if strings.HasSuffix(strings.ToLower(s.links.path), ".gz") {
		return usagef("-c, --links is %q: answers are appended to it, want a file that is not compressed", s.links.path)
	}
	if err := a.checkOutput("-c, --links", s.links.path); err != nil {
		return err
	}
	return a.useInput("--interactive", stream)
}

// readForSuggest returns the data, its points as they were read, and the places that distances are between.
func (a *app) readForSuggest(ctx context.Context, args []string, s *suggestFlags) (d *dataset.Data, shown points.Points, places blas.Matrix, err error) {
	eng, err := a.engine()
	if err != nil {
		return nil, nil, places, err
	}
	if len(args) == 0 {
		if d, err = a.readData(ctx, &s.data); err != nil {
			return nil, nil, places, err
		}
		shown = d.Points
		if _, err = s.scaling.apply(a, d); err != nil {
			return nil, nil, places, err
		}
		places, err = rawMatrix(eng, d)
		return d, shown, places, err
	}
	var fitted *catalog.Fitted
	if fitted, err = a.loadModel(ctx, args[0]); err != nil {
		return nil, nil, places, err
	}
	d, x, err := a.readFor(ctx, fitted, &s.data)
	if err != nil {
		return nil, nil, places, err
	}
	places, err = fitted.Model.Embed(ctx, eng, x)
	return d, d.Points, places, inFile(d.Name, err)
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
		return nil, inFile(s.links.path, err)
	}
	for _, w := range set.Warnings() {
		a.warn("%s: %s", s.links.path, w)
	}
	return set, nil
}
