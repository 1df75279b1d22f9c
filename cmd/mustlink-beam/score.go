package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type scoreFlags struct {
	jobFlags                    // without the flags for bad rows
	truth, predicted, embedding string
	sample                      int64
	seed                        uint64
}

func newScore(a *app) *cobra.Command {
	var s scoreFlags
	cmd := &cobra.Command{
		Use:   "score --truth LABELS [--predicted LABELS] [--embedding PATTERN]",
		Short: "compare labels with true labels, and rate an embedding",
		Long: `Count the rows of each pair of a true and a predicted label, and print the scores of mustlink score: Rand index (plain, balanced,
adjusted), NMI, accuracy. For an embedding print J, the ratio of mean distances between and within classes, on a sample of about
--sample rows drawn by --seed. Rows are matched by their numbers: the files of all patterns, in the order of their names, must have
the same number of rows in total. They may be divided differently.`,
		Example: `  mustlink-beam score --truth 'data/*.csv' --predicted 'labels/part-*.csv'
  mustlink-beam score --truth 'data/*.csv' --embedding 'embedded/part-*.npy' --sample 5000 --seed 1 --json`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runScore(cmd, &s) },
	}
	f := cmd.Flags()
	f.StringVar(&s.truth, "truth", "",
		"the `LABELS`: a pattern of "+session.Endings(" or ", "npy")+
			" files, each also .gz, with the true labels in the column label")
	f.StringVar(&s.predicted, "predicted", "",
		"the `LABELS`: a pattern of files with the predicted labels or clusters in the column label")
	f.StringVar(&s.embedding, "embedding", "",
		"the `PATTERN` of the files of an embedding, one row for each point")
	f.Int64Var(&s.sample, "sample", 2000, "approximate number of rows of the sample for J")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the sample")
	f.IntVar(&s.rows, "element-rows", shard.DefaultRows, "maximum number of rows that are processed at once")
	f.StringVarP(&s.out, "output", "o", "",
		"the `FILE` of scores to write, as JSON; required with runners other than prism, in a folder that "+
			"all workers can write")
	return cmd
}

func (a *app) runScore(cmd *cobra.Command, s *scoreFlags) error {
	check := a.Check(cmd)
	check.Required("truth")
	check.Refuse(s.predicted == "" && s.embedding == "",
		"--predicted and --embedding are missing: want one of them, or both %s", usage.HelpHint(cmd))
	check.Refuse(s.sample < 2, "--sample is %d: want a number >= 2", s.sample)
	check.Refuse(s.out == "" && a.runner != job.Runners[0],
		"--output is missing: with --runner %s want a file that all workers can write %s", a.runner,
		usage.HelpHint(cmd))
	if check.Err != nil {
		return check.Err
	}
	what, truth, err := a.planScore(cmd.Context(), s)
	if err != nil {
		return err
	}
	t := &task{app: a, jobFlags: &s.jobFlags, cmd: cmd, set: truth, config: a.config()}
	t.config.Rows = truth.Rows
	if s.out == "" {
		// in a folder of this process: see job.Temporary
		what.Output = filepath.Join(os.TempDir(), "scores.json")
	} else if what.Output, err = t.stage(shard.StageFile, s.out); err != nil {
		return err
	}
	var scores rows.Scores
	build := infallible(func(scope beam.Scope) { rows.Score(scope, t.config, what) })
	r, err := t.run(build, func() error { return readScores(what.Output, &scores) })
	if err != nil {
		return err
	}
	r.Output, r.Results = s.out, &scores
	return a.print(r, func(w io.Writer) { scoreText(w, &scores) })
}

// planScore divides the inputs so that an element of true labels is read together with the same
// rows of the other input.
func (a *app) planScore(ctx context.Context, s *scoreFlags) (what rows.Scoring, truth *shard.Set, err error) {
	o := shard.Options{Rows: s.rows, MemoryLimit: int64(a.MemoryLimit)}
	labels := o
	labels.OnlyLabels = true
	if truth, err = shard.Plan(ctx, s.truth, labels); err != nil {
		return what, nil, err
	}
	what = rows.Scoring{Rows: truth.Rows, Sample: s.sample, Seed: s.seed}
	for _, other := range []struct {
		pattern string
		o       shard.Options
		pairs   *[]shard.Pair
	}{{s.predicted, labels, &what.Predicted}, {s.embedding, o, &what.Embedding}} {
		if other.pattern == "" {
			continue
		}
		set, err := shard.Plan(ctx, other.pattern, other.o)
		if err != nil {
			return what, nil, err
		}
		if *other.pairs, err = shard.Align(truth, set); err != nil {
			return what, nil, err
		}
	}
	return what, truth, nil
}

func readScores(path string, scores *rows.Scores) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, scores)
	}
	if err != nil {
		return fmt.Errorf("the job ended, but its scores cannot be read: %w", err)
	}
	return nil
}

func scoreText(w io.Writer, s *rows.Scores) {
	if r := s.Labels; r != nil {
		fmt.Fprintf(w, "labeled rows\t%d\nclasses\t%d\nclusters\t%d\n", r.N, r.Classes, r.Clusters)
		for _, f := range r.Scores() {
			fmt.Fprintf(w, "%s\t%.4f\n", f.Name, f.Value)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(w, "note: %s\n", note)
		}
	}
	if s.J != nil {
		fmt.Fprintf(w, "J\t%.4f of %d rows\n", *s.J, s.Sample)
	}
}
