package source

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
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Preparing says how the columns of points become numbers before anything else.
type Preparing struct {
	mode        string   // auto or none
	kinds       []string // COLUMN=KIND
	options     mustlink.Preparing
	standardize bool
	robust      bool
	tfidf       bool
	learns      bool // what follows learns from the points, and not from what a model makes of them
	cmd         *cobra.Command
	noText      bool // --text means something else for the command
}

// The values of --prepare.
const (
	prepareAuto = "auto"
	prepareNone = "none"
)

// preparingFlags are the flags that ask for something else than the default.
var preparingFlags = []string{"standardize", "robust", "tfidf", "impute", "indicators", "type", "levels",
	"cyclic", "text"}

// FlagsWithoutText is Flags for a command that has another --text.
func (p *Preparing) FlagsWithoutText(cmd *cobra.Command, before string) {
	p.noText = true
	p.Flags(cmd, before)
}

// Flags defines the flags; before is the beginning of their help texts.
func (p *Preparing) Flags(cmd *cobra.Command, before string) {
	p.cmd = cmd
	f := usage.FlagsOf(cmd)
	f.String(&p.mode, "prepare", prepareAuto,
		before+"`auto|none`: make numbers of the columns as their kinds ask, or take complete numbers as "+
			"they are", usage.OneOf(prepareAuto, prepareNone))
	f.Repeated(&p.kinds, "type",
		before+"the kind of a column as `COLUMN=KIND`: "+strings.Join(prepare.Kinds(), ", ")+"; repeatable")
	f.String(&p.options.Impute, "impute", "",
		before+"how missing numbers are filled: `median|mean|most-frequent|constant=V|sides|error` "+
			"(default median); sides: below and above all values, in two columns, for the method forest",
		usage.Complete("median", "mean", "most-frequent", "sides", "error"))
	f.Bool(&p.options.Indicators, "indicators", false,
		before+"add a column of 0 and 1 for each column with missing values")
	f.Bool(&p.standardize, "standardize", false,
		before+"scale all numbers to mean 0 and standard deviation 1, also where they share a unit",
		usage.Excludes("tfidf"), usage.Excludes("robust"))
	f.Bool(&p.robust, "robust", false, before+"scale all numbers by their medians and quartiles",
		usage.Excludes("tfidf"))
	f.Int(&p.options.Levels, "levels", 0,
		before+"columns of a category, at most; the rarer texts share the last one (default 50)")
	f.Bool(&p.options.Cyclic, "cyclic", false,
		before+"add the day of the week, the day of the year and the hour of dates, as cosines and sines")
	if !p.noText {
		f.String(&p.options.Text, "text", "",
			before+"columns of text as weighted counts (TF-IDF) of `words|letters:K`",
			usage.Complete("words", "letters:3"))
	}
	f.Bool(&p.tfidf, "tfidf", false,
		before+"weight counts of terms by the rarity of the terms (TF-IDF), and scale rows to unit length")
}

// CountWords makes texts weighted counts of their words, as --text words does, unless the column is
// left out. It follows Check, and reports whether it does.
func (p *Preparing) CountWords(column string) bool {
	if p.options.Kinds[column] == prepare.Drop || p.AsRead() {
		return false
	}
	p.options.Text = "words"
	return true
}

// Asked returns the flag that asks for something else than the default, "" for none.
func (p *Preparing) Asked() string {
	if p.cmd == nil {
		return ""
	}
	for _, name := range preparingFlags {
		if p.cmd.Flags().Changed(name) && !(name == "text" && p.noText) {
			return "--" + name
		}
	}
	return ""
}

// AsRead reports whether points are taken as they are.
func (p *Preparing) AsRead() bool { return p.mode == prepareNone && p.Asked() == "" }

// Weighs reports whether terms are weighted by their rarity among all rows.
func (p *Preparing) Weighs() bool { return p.tfidf }

// TakeAsRead makes the default of --prepare none, for commands whose other inputs are points as
// they are.
func (p *Preparing) TakeAsRead() {
	if !p.cmd.Flags().Changed("prepare") {
		p.mode = prepareNone
	}
}

// TakeEmbeddings makes points be read and taken as complete numbers, on scales that need no look.
// It follows Check.
func (p *Preparing) TakeEmbeddings(data *Data) {
	p.mode, p.learns, data.Mixed = prepareNone, false, false
}

// EmbeddingsExclude are the flags that do not go with rows that are embeddings.
func EmbeddingsExclude() []string { return append([]string{"prepare", "gram"}, preparingFlags...) }

// Check refuses combinations that exclude a preparation, and makes data be read as it asks.
func (p *Preparing) Check(c *session.Checks, model bool, data *Data) {
	asked := p.Asked()
	c.Refuse(asked != "" && model,
		"%s is given with MODEL: want one of the two, the model prepares points as in its fit", asked)
	p.options.Gram = data.Correction
	c.Refuse(asked != "" && data.Gram,
		"%s and --gram are given together: a Gram matrix has no columns to prepare", asked)
	strict := p.mode == prepareNone
	only := asked == "" || asked == "--standardize" || asked == "--tfidf" || asked == "--robust"
	c.Refuse(strict && !only, "%s is given with --prepare none: want --prepare auto", asked)
	c.Do(func() error { return p.parseKinds(data) })
	c.Do(func() error { return p.renamed(p.options.Check(), "") })
	data.Mixed = !strict && !p.tfidf && !model && !data.Gram
	switch {
	case p.standardize:
		p.options.Scale = "standardize"
	case p.robust:
		p.options.Scale = "robust"
	case model:
		p.mode = prepareNone // the model prepares
	}
	p.learns = !model
}

// parseKinds reads the values of --type.
func (p *Preparing) parseKinds(data *Data) error {
	for _, text := range p.kinds {
		column, kind, ok := strings.Cut(text, "=")
		if !ok || column == "" {
			return fault.Param("--type", text, "COLUMN=KIND")
		}
		if !slices.Contains(prepare.Kinds(), kind) {
			return fault.Unknown("--type "+column, kind, prepare.Kinds())
		}
		if p.options.Kinds == nil {
			p.options.Kinds = map[string]mustlink.ColumnKind{}
		}
		p.options.Kinds[column] = prepare.Kind(kind)
		if !data.named() {
			continue
		}
		switch prepare.Kind(kind) {
		case prepare.Number:
			data.Numbers = append(data.Numbers, column)
		case prepare.Category, prepare.Boolean, prepare.Date, prepare.DayFirst, prepare.MonthFirst,
			prepare.Censored, prepare.Text:
			data.Text = append(data.Text, column)
		}
	}
	return nil
}

// Apply prepares the points of d as the flags ask, and reports what is odd about its columns. A
// Gram matrix to learn from must be positive semidefinite, or is corrected.
func (p *Preparing) Apply(ctx context.Context, run *session.Session,
	d *dataset.Data) (table *mustlink.Table, err error) {
	table = mustlink.FromData(d)
	_, gram := d.Points.(*points.Gram)
	switch {
	case p.tfidf:
		table, err = table.TFIDF()
	case !p.AsRead() || gram && p.learns:
		var eng *engine.Engine
		if eng, err = run.Engine(); err == nil {
			table, err = table.PrepareOn(ctx, eng, p.options)
		}
	}
	if err != nil {
		return nil, p.renamed(err, d.Name)
	}
	if x := table.Data().Points; x != d.Points {
		run.Hold(points.Bytes(x))
	}
	warnings := table.Warnings()[len(d.Warnings):]
	if p.AsRead() && p.learns {
		apart, err := scalesApart(d)
		if err != nil {
			return nil, fault.InFile(err, d.Name)
		}
		if apart != "" {
			warnings = append(warnings, apart)
		}
	}
	run.WarnOf(d.Name, warnings)
	return table, nil
}

// renamed names the flags in an error, and the file.
func (p *Preparing) renamed(err error, file string) error {
	pe, ok := errors.AsType[*fault.ParamError](err)
	if ok && p.cmd.Flags().Lookup(pe.Param) != nil {
		return fault.InFile(usage.RenameParams(err, pe.Param, "--"+pe.Param), file)
	}
	return err
}

// Column is a column, or several alike, in the JSON of a command.
type Column struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Missing  int    `json:"missing"`
	Distinct int    `json:"distinct"`
	Range    string `json:"range"`
	Example  string `json:"example"`
	Outputs  int    `json:"outputs"`
	Does     string `json:"does"`
}

// Columns returns the summary of a table for JSON.
func Columns(summary []mustlink.Column) []Column {
	var out []Column
	for _, c := range summary {
		out = append(out, Column{c.Name, string(c.Kind), c.Missing, c.Distinct, c.Range(), c.Example,
			c.Outputs, c.Does})
	}
	return out
}

// WriteColumns writes a line for each column: what it is, and what is done with it. Columns in a
// row that are alike share a line.
func WriteColumns(w io.Writer, columns []Column) {
	fmt.Fprintln(w, "column\tkind\tmissing\tdistinct\trange\texample\tpreparation")
	for lo, hi := 0, 0; lo < len(columns); lo = hi {
		for hi = lo + 1; hi < len(columns) && alike(&columns[lo], &columns[hi]); hi++ {
		}
		if hi-lo < 4 {
			hi = lo + 1
		}
		writeColumn(w, columns[lo:hi])
	}
}

// alike reports whether two columns can share a line.
func alike(a, b *Column) bool {
	return a.Kind == "number" && a.Kind == b.Kind && a.Does == b.Does && a.Missing == 0 && b.Missing == 0
}

// writeColumn writes the line of one column, or of several alike.
func writeColumn(w io.Writer, some []Column) {
	c, distinct := some[0], strconv.Itoa(some[0].Distinct)
	c.Name = session.Clip(session.Printable(c.Name), session.LongName)
	if len(some) > 1 {
		last := session.Clip(session.Printable(some[len(some)-1].Name), session.LongName)
		c = Column{Name: fmt.Sprintf("%s to %s (%d)", c.Name, last, len(some)), Kind: c.Kind, Does: c.Does}
		few := func(a, b Column) int { return a.Distinct - b.Distinct }
		low, high := slices.MinFunc(some, few).Distinct, slices.MaxFunc(some, few).Distinct
		if distinct = strconv.Itoa(high); low < high {
			distinct = fmt.Sprintf("%d to %d", low, high)
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", c.Name, c.Kind, c.Missing, distinct,
		session.NameOr(c.Range, "-"), session.NameOr(session.Clip(session.Printable(c.Example), 24), "-"),
		session.NameOr(session.Printable(c.Does), "-"))
}

// scalesApart says how much the scales of complete numbers differ if nothing scales them: "" unless
// the largest standard deviation is more than ten times the smallest.
func scalesApart(d *dataset.Data) (string, error) {
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return "", nil
	}
	scaling, _, err := prepare.Standardize(x)
	if err != nil {
		return "", err
	}
	low, high := -1, -1
	for j, s := range scaling.Scale {
		if s > 0 && (low < 0 || s < scaling.Scale[low]) {
			low = j
		}
		if s > 0 && (high < 0 || s > scaling.Scale[high]) {
			high = j
		}
	}
	if low < 0 || scaling.Scale[high] <= 10*scaling.Scale[low] {
		return "", nil
	}
	return fmt.Sprintf("the scales of column %s and column %s differ by a factor of %.0f, and nothing "+
		"scales them: want --standardize",
		columnName(d, high), columnName(d, low), scaling.Scale[high]/scaling.Scale[low]), nil
}

// columnName returns the name of a column in quotes, or its number.
func columnName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return strconv.Quote(d.Features[j])
	}
	return strconv.Itoa(j)
}
