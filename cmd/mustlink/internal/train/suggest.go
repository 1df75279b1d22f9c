package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type suggestCommand struct {
	*session.Session
	data        source.Data
	links       source.Links
	count       int
	classes     int
	interactive bool
	near        float64
	seed        uint64
	preparing   source.Preparing
	out         string
}

func newSuggest(s *session.Session) *cobra.Command {
	c := &suggestCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "suggest [MODEL] -i DATA [-c LINKS] (-o PAIRS | --interactive)",
		Short: "choose the most informative pairs for a person to label next",
		Long: `Choose pairs of rows for a person to label next, given the links so far, and write them to PAIRS, or
ask for the answers with --interactive (active learning).

The classes known so far are groups of rows that cannot-links keep apart. Each query compares a row with one
class, the nearest class first. One or two answers usually assign the row to a class, which implies its
links with all rows of known class. Pairs implied by LINKS are never queried. Rows far from all classes come
first, then those whose class is least certain. Distances are those of MODEL, or those of the raw points
without it. With --classes, a row that belongs to no other class belongs to the last one, without a query.
'mustlink links close' writes the links that the answers imply; methods that learn from single pairs (npkl,
itml, gml) give better results with them.

With --near D the pairs are drawn at random from all pairs up to the distance D, without those of LINKS. Their
answers show which of the pairs that look alike match: pass them to 'mustlink calibrate --near'. D should be
somewhat above the threshold that is wanted; 'mustlink pairs --threshold D' says how many pairs there are.

--interactive shows two rows side by side and reads an answer from standard input: y (they belong together), n,
s (skip), q (quit), or two rows and y or n, such as "3 12 y", for a pair of your own choice. Every answer is
appended to LINKS and is on disk before the next query, so an interrupt loses nothing. An answer that
contradicts the links so far is refused; the message names those links, and the query is repeated.`,
		Example: `  mustlink suggest -i data.csv --standardize -n 20 -o pairs.csv
  mustlink suggest model.mlk -i data.csv -c links.csv -n 20 -o pairs.csv
  mustlink suggest -i data.csv --standardize -c links.csv --interactive --classes 3
  mustlink suggest model.mlk -i data.csv --near 0.8 -n 300 -o ask.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	c.links.Flags(cmd)
	f.Int(&c.count, "count,n", 10,
		"number of pairs; with --interactive the maximum number of answers (default all)", usage.Range(">= 1"))
	f.Int(&c.classes, "classes", 0, "number of classes, if it is known", usage.Range(">= 2"))
	f.Bool(&c.interactive, "interactive", false,
		"ask, and append the answers to LINKS, a .csv file that is created if it does not exist",
		usage.Excludes("output"))
	f.Float(&c.near, "near", 0, "draw the pairs from all pairs up to the distance `D`",
		usage.Range("> 0", "a distance > 0"), usage.Excludes("interactive"), usage.Excludes("classes"))
	c.preparing.Flags(cmd, "without MODEL: ")
	f.Seed(&c.seed)
	f.String(&c.out, "output,o", "", "the file of `PAIRS` to write; - for standard output")
	f.Required("input")
	return cmd
}

// suggestReport is the result of `mustlink suggest`.
type suggestReport struct {
	Pairs    int      `json:"pairs"`
	Classes  int      `json:"classes"` // that are apart, so far
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r *suggestReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s to ask\n", r.Output, fault.Count(r.Pairs, "pair"))
}

func (c *suggestCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	data, err := m.Read(ctx, &c.data)
	if err != nil {
		return err
	}
	table, err := c.preparing.Apply(ctx, c.Session, data)
	if err != nil {
		return err
	}
	coordinates, err := m.Coordinates(ctx, table.Data())
	if err != nil {
		return err
	}
	set, err := c.readLinksSoFar(ctx, data)
	if err != nil {
		return err
	}
	if !m.Learned() {
		if _, err := c.links.Leaks(c.Session, data, table, set); err != nil {
			return err
		}
	}
	if c.near > 0 {
		return c.nearPairs(ctx, m.Eng, data, coordinates, set)
	}
	if err := m.Eng.Check(fmt.Sprintf("queries between %d rows", set.N()),
		activelearning.Bytes(set.N(), c.classes), "use a sample of the rows"); err != nil {
		return fault.InFile(err, data.Name)
	}
	questions, err := activelearning.New(coordinates, set,
		activelearning.Options{Seed: c.seed, Classes: c.classes})
	if err != nil {
		return fault.InFile(err, data.Name)
	}
	if c.classes > 0 && questions.Classes() > c.classes {
		c.Warnf("%s: the links imply %d classes, but --classes is %d, which is ignored", c.links.Path,
			questions.Classes(), c.classes)
	}
	if c.interactive {
		return c.ask(ctx, data, questions)
	}
	var pairs [][2]int
	for _, p := range questions.Batch(c.count) {
		pairs = append(pairs, [2]int{p.I, p.J})
	}
	if len(pairs) < c.count {
		c.Warnf("only %s can be queried at once: the others depend on the answers, or are known",
			fault.Count(len(pairs), "pair"))
	}
	return c.write(ctx, data, pairs, questions.Classes())
}

func (c *suggestCommand) write(ctx context.Context, data *dataset.Data, pairs [][2]int, classes int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.WritePairs(c.out, pairs, c.links.Names(data), c.WritingText()); err != nil {
		return err
	}
	r := &suggestReport{Pairs: len(pairs), Classes: classes, Output: c.out, Warnings: c.Warnings()}
	return c.Summarize(c.out, r, r.text)
}

// nearPairs draws pairs from those up to a distance, without those of links.
func (c *suggestCommand) nearPairs(ctx context.Context, eng *engine.Engine, data *dataset.Data,
	coordinates blas.Matrix, set *links.Set) error {
	found, err := neighbors.Pairs(ctx, eng, coordinates, c.near, neighbors.PairOptions{})
	if err != nil {
		return fault.InFile(usage.RenameParams(err, "threshold", "--near"), data.Name)
	}
	pairs := neighbors.Draw(found, set, c.count, c.seed)
	if len(pairs) < c.count {
		c.Warnf("%s: there are only %s up to the distance %g", data.Name, fault.Count(len(pairs), "pair"),
			c.near)
	}
	return c.write(ctx, data, pairs, 0)
}

// check finds mistakes that do not require reading anything.
func (c *suggestCommand) check(check *session.Checks, args []string) {
	c.preparing.Check(check, len(args) > 0, &c.data)
	check.Models(args)
	c.data.Check(check)
	if c.interactive {
		c.checkInteractive(check)
		return
	}
	check.Required("output")
	c.links.Check(check)
	check.Output("-o, --output", c.out)
}

// checkInteractive checks what matters only to --interactive.
func (c *suggestCommand) checkInteractive(check *session.Checks) {
	check.Required("links")
	check.Refuse(c.links.Path == session.Stream,
		"-c, --links is \"-\": want a file, answers are appended to it")
	check.Refuse(session.HasEnding(c.links.Path, "gz"),
		"-c, --links is %q: want a file that is not compressed, answers are appended to it", c.links.Path)
	check.Output("-c, --links", c.links.Path)
	check.Input("--interactive", session.Stream)
	if !check.Cmd.Flags().Changed("count") {
		c.count = 0
	}
}

// readLinksSoFar reads the links. There are none without -c, or if the file does not exist yet.
func (c *suggestCommand) readLinksSoFar(ctx context.Context, d *dataset.Data) (*links.Set, error) {
	none := c.links.Path == ""
	if c.interactive {
		_, err := os.Stat(c.links.Path)
		none = errors.Is(err, fs.ErrNotExist)
	}
	if none {
		if err := c.links.NeedIDs(d); err != nil {
			return nil, err
		}
		return links.New(d.Points.Len(), nil)
	}
	c.links.Begun = true
	set, err := c.links.Read(ctx, c.Session, d)
	if err != nil {
		return nil, err
	}
	if err := set.Consistent(); err != nil {
		return nil, fault.InFile(err, c.links.Path)
	}
	c.WarnOf(c.links.Path, set.Warnings())
	return set, nil
}
