package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/blocking"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type entitiesCommand struct {
	*session.Session
	data     source.Data
	two      string // the second file
	oneTo    string
	table    *mustlink.Table // of the first file
	second   int             // the first record of the second file, 0 without one
	links    source.Links
	decided  source.Links
	o        mustlink.EntityOptions
	names    []string      // of columns of texts
	texts    *points.Mixed // these columns
	distinct []string
	ask      int
	previous string
	doubtful string
	doubts   int
	out      string
}

func newEntities(s *session.Session) *cobra.Command {
	c := &entitiesCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "entities [MODEL] -i DATA [--two DATA] [-c LINKS] [--compare A,B] [--block KEYS] -o ENTITIES",
		SuggestFor: []string{"resolve", "merge"},
		Short:      "join the records of one person, or of any entity",
		Long: `Join the records of DATA that are the same entity. ENTITIES is a CSV with the columns id (or the
row), entity, a number, and probability.

Candidates are pairs of records, which have equal keys of a --block, or of which one is among the
--neighbors nearest records of the other in the metric of MODEL. --block zip,first-letter(name)
wants both keys equal, and a second --block adds more pairs. Keys are columns or first-letter,
first-three, digits, year or soundex of one, in lower case; a record whose key is empty has no pairs
by it. Without --block and --neighbors, a calibrated MODEL finds all pairs with a probability above
0.1, up to the distance of the farthest must-link that it knows.

The probability of a pair is that of the calibration of MODEL. With --compare, or a MODEL without
calibration, it is a logistic regression on the learned distance and, for each of these columns, the
similarities of Jaro and Winkler and of Levenshtein, common words, rare common words and gaps, of
which nothing follows. It learns from the LINKS that are candidates, at least 10 of each kind, and
is calibrated on links that it did not see. Must-links and cannot-links should be random samples of
the candidates that match and that do not; the share that matches is estimated on all candidates.
--ask N writes N candidates, drawn at random, as PAIRS to answer, and ends.

Entities have the largest likelihood if pairs are independent (correlation clustering): exact for up
to 10 records that candidates connect, otherwise by merging groups and moving records. Links are
kept exactly, and so is --distinct COLUMN, of which an entity has each value once at most, such as
the source; an empty cell may be in any. The probability of a record is the mean of those of its
pairs with the rest of its entity; for a record alone, 1 less the largest one of a pair that may
join it.

--two names a second file with the same columns. Links join a record of -i and one of this file, or
with --one-to many several of these, which may be duplicates. Both have ids, which differ, and ENTITIES
has a column file.

With --previous, the ENTITIES of an earlier run, records that were one entity stay one, with its
number. An entity of several keeps the number of most of its records, and numbers are not used
again. --doubtful writes the candidates about which the entities are wrong most likely, as PAIRS to
answer, with their probabilities. The answers are no random sample: --decided LINKS keeps them, and
no probability is learned from them.`,
		Example: `  mustlink entities calibrated.mlk -i data.csv --distinct source -o entities.csv
  mustlink entities -i data.csv --block zip --block "year(born),first-letter(name)" --ask 400 -o ask.csv
  mustlink entities -i data.csv --block zip --block "year(born),first-letter(name)" -c answers.csv ` +
			`--compare name,street,born -o entities.csv --doubtful doubtful.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	c.links.Flags(cmd)
	f.String(&c.decided.Path, "decided", "", "more `LINKS` to keep, from which no probability is learned, such as "+
		"answers about doubtful pairs")
	f.Strings(&c.o.Compare, "compare", "`COLUMNS` of texts whose similarity the probability depends on")
	f.Repeated(&c.o.Blocks, "block", "`KEYS` that candidates share, such as zip,first-letter(name); repeatable")
	f.Int(&c.o.Neighbors, "neighbors", 0, "candidates are the `K` nearest records of each record in the metric of "+
		"MODEL (default without --block 10, or those above a probability of 0.1)", usage.Range(">= 1"))
	f.Int(&c.o.MaxPairs, "max-pairs", usualPairs, "refuse to find more than `N` candidates",
		usage.Range(">= 1"))
	f.String(&c.two, "two", "", "a second file of `DATA`, of which a record is linked to one of -i")
	f.String(&c.oneTo, "one-to", "one", "how many records of --two are linked to a record of -i: `one|many`",
		usage.Complete("one", "many"), usage.Needs("two"))
	f.Repeated(&c.distinct, "distinct", "a `COLUMN` of which an entity has each value at most once; repeatable")
	f.Int(&c.ask, "ask", 0, "write `N` candidates at random as PAIRS to answer", usage.Range(">= 1"),
		usage.Excludes("previous"), usage.Excludes("doubtful"))
	f.String(&c.previous, "previous", "", "`ENTITIES` of an earlier run, which keep their numbers")
	f.String(&c.doubtful, "doubtful", "", "the file of doubtful `PAIRS` to write")
	f.Int(&c.doubts, "doubts", 100, "number of pairs in the file of --doubtful", usage.Range(">= 1"),
		usage.Needs("doubtful"))
	f.Seed(&c.o.Seed)
	f.String(&c.out, "output,o", "", "the file of `ENTITIES` to write; - for standard output")
	f.Required("input", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (c *entitiesCommand) check(check *session.Checks, args []string) {
	model := len(args) > 0
	check.Do(c.parse)
	check.Refuse(!model && c.o.Neighbors > 0, "--neighbors is given without MODEL: want a model, or --block alone")
	check.Refuse(!model && len(c.o.Blocks) == 0, "--block is missing: want keys that candidates share, or a MODEL")
	check.Refuse(!model && len(c.o.Compare) == 0 && c.ask == 0,
		"--compare is missing: want columns whose similarity the probability depends on, or a MODEL")
	check.Refuse(len(c.o.Compare) > 0 && c.links.Path == "" && c.ask == 0,
		"--compare is given without links: want -c LINKS, which the pair model learns from")
	check.Models(args)
	c.data.Check(check)
	c.data.LabelOptional = model
	check.Refuse(len(c.names) > 0 && !source.CanReadTwice(c.data.Path),
		"--compare, --block and --distinct read the rows twice, but standard input can be read only once: want a file")
	check.File("--two", c.two, "")
	check.OneOf("--one-to", c.oneTo, []string{"one", "many"})
	check.Refuse(c.two != "" && c.data.Labels != "",
		"--labels and --two are given together: want the labels in both files, as a column")
	c.links.Check(check)
	c.decided.Flag = "--decided"
	c.decided.Check(check)
	check.File("--previous", c.previous, "")
	check.Output("--doubtful", c.doubtful)
	check.Output("-o, --output", c.out)
}

// parse finds the names of columns that are read as texts.
func (c *entitiesCommand) parse() error {
	c.names = slices.Concat(c.o.Compare, c.distinct)
	for _, text := range c.o.Blocks {
		rule, err := blocking.Parse(text)
		if err != nil {
			return usage.RenameParams(err, "key", "--block")
		}
		for _, key := range rule {
			c.names = append(c.names, key.Column)
		}
	}
	slices.Sort(c.names)
	c.names = slices.Compact(c.names)
	return nil
}

// entitiesReport is the result of `mustlink entities`.
type entitiesReport struct {
	Records    int                 `json:"records"`
	Entities   int                 `json:"entities"`
	Single     int                 `json:"single"` // entities of one record
	Largest    []int               `json:"largest"`
	Candidates int                 `json:"candidates"`
	Found      *foundLinks         `json:"found,omitempty"` // must-links that are candidates
	Pairs      *mustlink.PairModel `json:"pair_model,omitempty"`
	Components int                 `json:"components"`
	Exact      int                 `json:"exact"`
	Barred     int                 `json:"barred"` // merges that links and columns forbade
	Kept       int                 `json:"kept,omitempty"`
	Joined     int                 `json:"joined,omitempty"` // earlier entities that are now part of another
	Doubtful   int                 `json:"doubtful,omitempty"`
	Scores     *score.Report       `json:"scores,omitempty"`
	Output     string              `json:"output"`
	Warnings   []string            `json:"warnings"`
}

// foundLinks counts the must-links that are candidates.
type foundLinks struct {
	Candidates int `json:"candidates"`
	Must       int `json:"must_links"`
}

func (r *entitiesReport) text(w io.Writer) {
	fmt.Fprintf(w, "entities\t%d of %s\n", r.Entities, fault.Count(r.Records, "record"))
	fmt.Fprintf(w, "largest\t%s; %d of one record\n", session.Joined(r.Largest, " "), r.Single)
	fmt.Fprintf(w, "candidates\t%s", fault.Count(r.Candidates, "pair"))
	if r.Found != nil {
		fmt.Fprintf(w, ", with %d of %s", r.Found.Candidates, fault.Count(r.Found.Must, "must-link"))
	}
	fmt.Fprintln(w)
	if r.Pairs != nil {
		fmt.Fprintf(w, "held-out links\t%s\n", r.Pairs)
	}
	fmt.Fprintf(w, "solved exactly\t%d of %s\n", r.Exact, fault.Count(r.Components, "component"))
	if r.Barred > 0 {
		fmt.Fprintf(w, "forbidden\t%s above 1/2, by links and columns\n", fault.Count(r.Barred, "pair"))
	}
	if r.Kept > 0 {
		fmt.Fprintf(w, "earlier entities\t%d kept, %d joined with others\n", r.Kept, r.Joined)
	}
	scoresLine(w, r.Scores)
	fmt.Fprintf(w, "output\t%s\n", r.Output)
}

func (c *entitiesCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	d, err := c.read(ctx, m, c.data.Path)
	if err != nil {
		return err
	}
	if c.table = mustlink.FromData(d); c.two != "" {
		if d, err = c.readSecond(ctx, m, d); err != nil {
			return err
		}
	}
	if err := c.distinctKeys(); err != nil {
		return err
	}
	known, err := c.readLinks(ctx, &c.links, d)
	if err != nil {
		return err
	}
	c.decided.By = c.links.By
	if c.o.Decided, err = c.readLinks(ctx, &c.decided, d); err != nil {
		return err
	}
	all, err := links.Union(known, c.o.Decided)
	if err != nil {
		return fault.InFile(err, c.given())
	}
	c.o.Model = m.Model
	if c.ask > 0 {
		return c.writeQuestions(ctx, d, all)
	}
	r := &entitiesReport{Records: d.Points.Len(), Output: c.out}
	if len(known.Must()) > 0 {
		r.Found = &foundLinks{Must: len(known.Must())}
	}
	if c.links.Path == "" {
		known = nil
		if len(c.o.Compare) == 0 && m.Calibration() == nil {
			return fault.Data(d.Name, "the model is not calibrated: want a model of mustlink calibrate, or -c LINKS, "+
				"from which the probability of a distance is learned")
		}
	}
	if err := c.earlier(d, all); err != nil {
		return err
	}
	e, err := mustlink.Entities(ctx, c.table, known, c.o)
	if err != nil {
		return c.contradiction(err, d)
	}
	if e.Doubt != "" {
		c.Warnf("%s; probabilities are lowered to that (want --share of all pairs, or 'mustlink calibrate --near')",
			e.Doubt)
	}
	if e.Divided > 0 {
		c.Warnf("%s: %s above 1/2 are left out, as they connect more than 1000 records: want surer links, or "+
			"--distinct", d.Name, fault.Count(e.Divided, "pair"))
	}
	r.describe(e, c.o.Previous)
	r.Scores = scored(d.Labels, numbers(e.Numbers))
	if err := c.write(e, d, r); err != nil {
		return err
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

// scored scores labels against the truth, nil if there is none; labels that cannot be scored do not
// make the command fail.
func scored(truth, labels []string) *score.Report {
	var table score.Table
	if truth == nil || table.Add(truth, labels) != nil {
		return nil
	}
	r, _ := table.Groups()
	if r != nil {
		r.OfClusters()
	}
	return r
}

// read reads the records of a file for the model, and the columns of texts; without a model only
// these.
func (c *entitiesCommand) read(ctx context.Context, m *metric.Metric,
	path string) (d *dataset.Data, err error) {
	texts, records := c.data, c.data
	texts.Path, records.Path = path, path
	if len(c.names) > 0 {
		texts.Keep, texts.Drop, texts.Text, texts.Mixed = c.names, nil, c.names, true
		if d, err = texts.Read(ctx, c.Session); err != nil {
			return nil, usage.RenameParams(err, "--keep", "--compare, --block or --distinct")
		}
		var ok bool
		if c.texts, ok = d.Points.(*points.Mixed); !ok {
			return nil, fault.Data(d.Name, "it has no columns of texts for --compare, --block or --distinct")
		}
		c.o.Texts = mustlink.FromData(d)
	}
	if !m.Learned() {
		return d, nil
	}
	for _, name := range c.names {
		if !slices.Contains(m.Record().Features, name) {
			records.Drop = append(slices.Clip(records.Drop), name)
		}
	}
	return m.Read(ctx, &records)
}

// readSecond returns the records of both files, whose points are the columns of texts.
func (c *entitiesCommand) readSecond(ctx context.Context, m *metric.Metric,
	d *dataset.Data) (*dataset.Data, error) {
	texts, first := c.texts, map[string]bool{}
	other, err := c.read(ctx, m, c.two)
	if err != nil {
		return nil, err
	}
	for _, of := range []*dataset.Data{d, other} {
		if of.IDs == nil {
			return nil, fault.Data(of.Name, "--two names records by id: want a column id")
		}
	}
	for _, id := range d.IDs {
		first[id] = true
	}
	for row, id := range other.IDs {
		if first[id] {
			return nil, &fault.DataError{File: c.two, Row: row, Column: "id", Err: fmt.Errorf(
				"the id is %q, as that of a record of %s: want other ids, by which links name records", id, d.Name)}
		}
	}
	c.second, c.o.Second, c.o.OneToMany = len(d.IDs), mustlink.FromData(other), c.oneTo == "many"
	both := *d
	both.IDs, both.Labels = slices.Concat(d.IDs, other.IDs), slices.Concat(d.Labels, other.Labels)
	if len(both.Labels) != len(both.IDs) { // a file has none
		both.Labels = nil
	}
	all := &points.Mixed{N: len(both.IDs)}
	if texts != nil {
		for k := range texts.Columns {
			at := slices.Index(c.texts.Names(), texts.Columns[k].Name) // which the reader would have missed
			all.Columns = append(all.Columns, *texts.Columns[k].Append(&c.texts.Columns[at]))
		}
	}
	if both.Points, c.texts = all, all; len(c.names) > 0 {
		both.Features = all.Names()
		c.o.Texts = mustlink.FromData(&both)
	}
	return &both, nil
}

// distinctKeys finds the columns of --distinct.
func (c *entitiesCommand) distinctKeys() error {
	for _, name := range c.distinct {
		d, err := c.o.Texts.Distinct(name)
		if err != nil {
			return err
		}
		empty := 0
		for _, key := range d.Keys {
			if key < 0 {
				empty++
			}
		}
		warnEmpty(c.Session, c.data.Path, name, "--distinct", empty, "these records may be in any entity")
		c.o.Distinct = append(c.o.Distinct, d)
	}
	return nil
}

// readLinks reads a file of links, none if there is no file.
func (c *entitiesCommand) readLinks(ctx context.Context, l *source.Links,
	d *dataset.Data) (*links.Set, error) {
	if l.Path == "" {
		return links.New(d.Points.Len(), nil)
	}
	set, err := l.ReadWarning(ctx, c.Session, d)
	if err == nil {
		err = fault.InFile(set.Consistent(), l.Path)
	}
	return set, err
}

// writeQuestions writes candidates at random, without those that links settle.
func (c *entitiesCommand) writeQuestions(ctx context.Context, d *dataset.Data, known *links.Set) error {
	pairs, candidates, err := mustlink.EntityQuestions(ctx, c.table, known, c.o, c.ask)
	if err != nil {
		return c.contradiction(err, d)
	}
	if err := dataset.WritePairs(c.out, pairs, c.links.Names(d), c.WritingText()); err != nil {
		return err
	}
	r := &questionsReport{len(pairs), candidates, c.out, c.Warnings()}
	return c.Summarize(c.out, r, r.text)
}

// questionsReport is the result of `mustlink entities --ask`.
type questionsReport struct {
	Pairs      int      `json:"pairs"`
	Candidates int      `json:"candidates"`
	Output     string   `json:"output"`
	Warnings   []string `json:"warnings"`
}

func (r *questionsReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s to ask, of %s\n", r.Output, fault.Count(r.Pairs, "pair"),
		fault.Count(r.Candidates, "candidate"))
}

// earlier reads the entities of an earlier run: the number of each record, -1 for a new one, and
// the first number that was not used.
func (c *entitiesCommand) earlier(d *dataset.Data, known *links.Set) error {
	if c.previous == "" {
		return nil
	}
	rows, err := dataset.ReadLabels(dataset.Input{Name: c.previous}, dataset.ReadOptions{Label: "entity",
		MemoryLimit: int64(c.MemoryLimit), Extensions: session.Extensions()})
	if err != nil {
		return err
	}
	if rows.IDs == nil || d.IDs == nil {
		return fault.Data(c.previous, "--previous follows records by id: want a column id here and in %s", d.Name)
	}
	row := make(map[string]int, len(d.IDs))
	for i, id := range d.IDs {
		row[id] = i
	}
	c.o.Previous = slices.Repeat([]int{-1}, len(d.IDs))
	for k, label := range rows.Labels {
		number, err := strconv.Atoi(label)
		if err != nil || number < 0 {
			return &fault.DataError{File: c.previous, Row: k, Column: "entity",
				Err: fmt.Errorf("the entity is %q: want a number, as mustlink entities writes it", label)}
		}
		c.o.Next = max(c.o.Next, number+1)
		if i, there := row[rows.IDs[k]]; there {
			c.o.Previous[i] = number
		}
	}
	for _, l := range known.Cannot() {
		if a := c.o.Previous[l.I]; a >= 0 && a == c.o.Previous[l.J] {
			return fault.Data(c.previous, "entity %d has %q and %q, but the cannot-link of line %d of the links "+
				"separates them: want another entity for one of them, or no --previous", a, d.IDs[l.I], d.IDs[l.J], l.Line)
		}
	}
	return nil
}

// given names the files of links and earlier entities.
func (c *entitiesCommand) given() string {
	files := slices.DeleteFunc([]string{c.links.Path, c.decided.Path, c.previous}, func(path string) bool {
		return path == ""
	})
	return strings.Join(files, " and ")
}

// contradiction names the files of links and columns that contradict each other, and the files and
// flags of other mistakes.
func (c *entitiesCommand) contradiction(err error, d *dataset.Data) error {
	if _, is := errors.AsType[*fault.DataError](err); is { // of the links, as it does not name the data
		return fault.InFile(err, session.NameOr(c.links.Path, d.Name))
	}
	if e, is := errors.AsType[*cluster.DistinctError](err); is && e.Column == "" {
		return fault.Data(c.given(), "must-links %s join rows %d and %d of both files, which are of one file: "+
			"want one record of it in an entity, or --one-to many", e.Conflict.PathString(), e.Conflict.Link.I,
			e.Conflict.Link.J)
	}
	err = usage.RenameParams(err, "key", "--block", "threshold", "the distance of the calibration")
	return contradicted(err, c.given(), d.Name, func(e *cluster.DistinctError) (alike, flag string) {
		column := c.texts.Columns[slices.Index(c.texts.Names(), e.Column)]
		return fmt.Sprintf("the same value %q", column.Levels[column.Codes[e.Conflict.Link.I]]), "--distinct"
	})
}

// describe describes the entities.
func (r *entitiesReport) describe(e *mustlink.Resolution, earlier []int) {
	r.Entities, r.Components, r.Exact, r.Barred = len(e.Sizes), e.Components, e.Exact, e.Barred
	r.Candidates, r.Pairs = len(e.Candidates), e.Pairs
	if r.Found != nil {
		r.Found.Candidates = e.Found
	}
	r.Largest, r.Single, _ = largest(e.Sizes)
	kept, before := map[int]bool{}, map[int]bool{}
	for i, v := range earlier {
		if v >= 0 {
			before[v] = true
			if e.Numbers[i] == v {
				kept[v] = true
			}
		}
	}
	r.Kept, r.Joined = len(kept), len(before)-len(kept)
}

// write writes the entities and the doubtful pairs.
func (c *entitiesCommand) write(e *mustlink.Resolution, d *dataset.Data, r *entitiesReport) error {
	if c.doubtful != "" {
		doubts := e.Doubtful(e.Candidates, c.doubts)
		r.Doubtful = len(doubts)
		numbers := make([]float64, 2)
		if err := dataset.WriteMeasuredPairs(c.doubtful, len(doubts), []string{"probability", "together"},
			func(k int) (i, j int, _ []float64, err error) {
				q := doubts[k]
				numbers[0], numbers[1] = q.Probability, 0
				if q.Together {
					numbers[1] = 1
				}
				return int(q.I), int(q.J), numbers, nil
			}, c.links.Names(d), c.WritingText()); err != nil {
			return err
		}
	}
	columns := []string{"id", "entity", "probability"}
	if c.second > 0 {
		columns = append(columns, "file")
	}
	record := make([]string, len(columns))
	return dataset.WriteTable(c.out, columns,
		func(yield func([]string, error) bool) {
			for i, label := range e.Numbers {
				record[0] = strconv.Itoa(i)
				if d.IDs != nil {
					record[0] = d.IDs[i]
				}
				record[1] = strconv.Itoa(label)
				record[2] = strconv.FormatFloat(e.Probability[i], 'g', 6, 64)
				if c.second > 0 {
					record[3] = map[bool]string{true: c.data.Path, false: c.two}[i < c.second]
				}
				if !yield(record, nil) {
					return
				}
			}
		}, c.WritingText())
}
