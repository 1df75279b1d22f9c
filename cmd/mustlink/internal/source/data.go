// Package source reads the input of commands: points and links, with transforms of features.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Data names a set of points and how to read it.
type Data struct {
	Path string
	// ReadOptions are those that flags say; [Data.Options] adds the others.
	dataset.ReadOptions
	Correction string   // of a Gram matrix that is not positive semidefinite, "" for none
	asked      []string // COLUMN=us|eu
	pictures   dataset.Pictures
	model      *catalog.Fitted // that the points are for, or nil
	Share      int             // the points may take 1/share of the memory limit; 0 is all of it
}

// Flags defines the flags for reading points, -i first.
func (d *Data) Flags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.String(&d.Path, "input,i", "",
		"the file of `DATA`: "+session.InputEndings()+"; - for standard input")
	d.ReadingFlags(cmd)
	f.Var((*gramFlag)(d), "gram",
		"the input is a precomputed Gram matrix (n x n; for new objects n x n_train with --gram-diagonal); "+
			"--gram=`clip|flip` makes its negative eigenvalues 0 or positive")
	f.Lookup("gram").NoOptDefVal = "true"
	f.String(&d.GramDiagonal, "gram-diagonal", "",
		"`FILE` with k(x,x) of each row of a Gram matrix (default: the diagonal when square)")
}

// gramFlag is the value of --gram: true, false, or the correction of a matrix that is not positive
// semidefinite.
type gramFlag Data

func (g *gramFlag) String() string {
	switch {
	case g == nil || !g.Gram:
		return "false"
	case g.Correction != "":
		return g.Correction
	}
	return "true"
}

// Set parses the value.
func (g *gramFlag) Set(text string) (err error) {
	g.Gram, g.Correction = true, ""
	if slices.Contains(points.Corrections(), text) {
		g.Correction = text
		return nil
	}
	if g.Gram, err = strconv.ParseBool(text); err != nil {
		return fmt.Errorf("%s, or no value", strings.Join(points.Corrections(), ", "))
	}
	return nil
}

// Type names the values.
func (g *gramFlag) Type() string { return "correction" }

// ReadingFlags defines the flags that every command with data has.
func (d *Data) ReadingFlags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.String(&d.Format, "format", "",
		"`FORMAT` of - and of files without a known extension: "+strings.Join(session.Formats(),
			", ")+", each also with .gz (default csv)", usage.Complete(session.Formats()...))
	f.String(&d.Alphabet, "alphabet", "",
		"the letters of FASTA sequences: `protein|dna|rna` or the letters themselves (default protein)",
		usage.Complete("protein", "dna", "rna"))
	f.Int(&d.Features, "features", 0,
		"number of features of .svm data; 0 for the model's, or without a model the largest feature number "+
			"in the file", usage.Range(">= 0", "a number >= 1"))
	f.String(&d.Label, "label", "", "the `COLUMN` of labels (default label, if there)")
	f.String(&d.ID, "id", "", "the `COLUMN` of ids (default id, if there)")
	f.Strings(&d.Drop, "drop", "`COLUMNS` to leave out, as names or patterns: A,total_*")
	f.Strings(&d.Keep, "keep", "`COLUMNS` to take, and no others, as names or patterns")
	f.Bool(&d.Thousands, "thousands", false, "read 1,234,567 in quotes as a number")
	f.Repeated(&d.asked, "number", "how a column writes its numbers, as `COLUMN=us|eu`: 1,234.5 or 1.234,5; "+
		"repeatable (default as the cells show, or as in the fit of the model)")
	f.String(&d.pictures.Column, "pictures", "",
		"the `COLUMN` of paths of pictures (.png, .jpg or .gif), whose pixels are features; a folder of "+
			"pictures needs none")
	f.String(&d.pictures.Pixels, "pixels", "",
		"the `SIZE` to which pictures are scaled, 32x32 or, in color, 32x32x3 (default 32x32, or that of "+
			"the model)")
	f.String(&d.Header, "header", "",
		"the first line of .csv or .tsv data: `first|none`, names of columns or a row, and then columns are "+
			"called 0, 1, ... (default first, with a warning if it looks like a row)",
		usage.Complete(dataset.HeaderFirst, dataset.HeaderNone))
}

// LabelFlags defines the flags of commands that use labels.
func (d *Data) LabelFlags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.String(&d.Labels, "labels", "",
		"`FILE` of labels for data without labels: a CSV with a column label, an .idx vector, the labels "+
			"of .svm or .fasta")
	f.Bool(&d.HeaderLabels, "labels-from-header", false, "the second word of a FASTA header is the label")
}

// FormatName returns the name of the data format, "" when it is not known.
func (d *Data) FormatName() string {
	if name := session.FormatFor(d.Path, d.Format); name != "" {
		return session.FormatOf("." + name)
	}
	return session.FormatOf(d.Path)
}

// named reports whether the format has names of columns.
func (d *Data) named() bool {
	return dataset.NamesColumns(d.Path, session.FormatFor(d.Path, d.Format), session.Extensions()...)
}

// WithFeatures returns d with n as the number of features, for files that do not contain it.
func (d *Data) WithFeatures(n int) *Data {
	if d.Features > 0 || d.FormatName() != "svm" {
		return d
	}
	out := *d
	out.Features = n
	return &out
}

// For returns d with what a model knows and the file does not say: the number of features, and
// which columns are texts. What is odd about the rows for the model will be a warning. A nil f
// changes nothing.
func (d *Data) For(f *catalog.Fitted) *Data {
	if f == nil {
		return d
	}
	out := *d.WithFeatures(max(0, f.InputDim()))
	out.model = f
	if f.Features != nil && !d.Gram && d.named() {
		out.Mixed = true
		out.Text, out.Numbers = f.Kinds()
	}
	return &out
}

// ReadAtLeastTwo is Read for commands that require two rows or more.
func (d *Data) ReadAtLeastTwo(ctx context.Context, s *session.Session) (*dataset.Data, error) {
	data, err := d.Read(ctx, s)
	if err == nil {
		err = data.AtLeast(2)
	}
	return data, err
}

// Read reads the points that d describes and reports the reader's warnings.
func (d *Data) Read(ctx context.Context, s *session.Session) (*dataset.Data, error) {
	if d.model != nil && d.Correction != "" {
		return nil, usage.Errorf(
			"--gram=%s is given with a model: want --gram, the model corrects rows as in its fit",
			d.Correction)
	}
	o := d.Options(s)
	data, err := session.Await(ctx, func() (*dataset.Data, error) {
		if d.Path == session.Stream {
			return dataset.Decode(s.Stdin, "standard input", o.Format, o)
		}
		return s.Files.Map(d.Path, o)
	})
	if err != nil {
		return nil, FormatError(err, d.Path)
	}
	const text = 16 // of a string, whose content others may share
	s.Hold(text * int64(len(data.IDs)+len(data.Labels)))
	if !data.Mapped() { // the system may drop the pages of files
		s.Hold(points.Bytes(data.Points))
	}
	s.WarnOf(data.Name, data.Warnings)
	if d.model != nil {
		var odd catalog.Remarks
		odd.Add(d.model, data)
		s.WarnOf(data.Name, odd.Text())
	}
	return data, nil
}

// FormatError renames the library's parameter to --format.
func FormatError(err error, path string) error {
	pe, ok := errors.AsType[*fault.ParamError](err)
	if !ok || pe.Param != "format of "+path {
		return usage.RenameParams(err, "format", "--format", "alphabet", "--alphabet", "features",
			"--features", "label", "--label", "id", "--id", "drop", "--drop", "keep", "--keep", "thousands",
			"--thousands", "number", "--number", "pixels", "--pixels", "pictures", "--pictures")
	}
	return fault.Param(pe.Param, pe.Value, "one of .%s (each also .gz), or --format",
		strings.Join(session.Formats(), ", ."))
}

// Options returns the read options of the library.
func (d *Data) Options(s *session.Session) dataset.ReadOptions {
	o := d.ReadOptions
	o.Format, o.Extensions = session.FormatFor(d.Path, d.Format), session.Extensions()
	o.MemoryLimit = int64(s.MemoryLimit) / int64(max(1, d.Share))
	if d.model != nil {
		o.FitMarks, o.Pictures = d.model.Marks, d.model.Pictures
	}
	if d.pictures != (dataset.Pictures{}) {
		o.Pictures = &d.pictures
	}
	return o
}

// Shape describes a set of points for a summary.
func Shape(p points.Points) string {
	switch x := p.(type) {
	case *points.Sequences:
		shortest, longest := len(x.Row(0)), 0
		for i := range x.Len() {
			shortest, longest = min(shortest, len(x.Row(i))), max(longest, len(x.Row(i)))
		}
		return fmt.Sprintf("%s of %d to %d letters", fault.Count(x.Len(), "sequence"), shortest, longest)
	case *points.CSR:
		return fmt.Sprintf("%d x %d, sparse: %.3g %% are not 0", x.N, x.D,
			100*float64(len(x.Val))/float64(x.N)/float64(x.D))
	}
	return fmt.Sprintf("%d x %d", p.Len(), p.Dim())
}

// Check checks the flags of points, and notes the files to read.
func (d *Data) Check(c *session.Checks) {
	c.Input("-i, --input", d.Path)
	c.Refuse(d.GramDiagonal != "" && !d.Gram,
		"--gram-diagonal is given without --gram: want both, or neither")
	c.Refuse(d.Labels != "" && d.HeaderLabels,
		"--labels and --labels-from-header are given together: want one of them")
	format := d.FormatName()
	c.Refuse(d.Header != "" && d.Header != dataset.HeaderFirst && d.Header != dataset.HeaderNone,
		"--header is %q: want first or none", d.Header)
	c.Refuse(d.Header != "" && format != "" && format != "csv" && format != "tsv",
		"--header is for .csv and .tsv data, but %s is read as %s: want no --header", d.Path, format)
	for _, f := range []struct {
		given      bool
		flag, name string
	}{{d.Alphabet != "", "--alphabet", "fasta"}, {d.HeaderLabels, "--labels-from-header", "fasta"},
		{d.Features > 0, "--features", "svm"}} {
		other := f.given && format != "" && format != f.name
		c.Refuse(other, "%s is for .%s data, but %s is read as %s: want no %s", f.flag, f.name, d.Path,
			format, f.flag)
	}
	c.Do(d.parseMarks)
	c.File("--labels", d.Labels, "")
	c.File("--gram-diagonal", d.GramDiagonal, "")
}

// NeedLabels refuses data without labels, and warns of labels that may mean that there is none.
func NeedLabels(s *session.Session, d *dataset.Data) error {
	err := d.NeedLabels("a column label, --labels FILE or, for .fasta, --labels-from-header")
	if err == nil {
		WarnOfLabels(s, d)
	}
	return err
}

// WarnOfLabels warns of labels such as NA, which are classes like others, and of two that are the
// same number.
func WarnOfLabels(s *session.Session, d *dataset.Data) {
	rows := map[string]int{}
	for _, label := range d.Labels {
		if label != "" && dataset.IsMissing(label) {
			rows[label]++
		}
	}
	var each []string
	for _, label := range slices.Sorted(maps.Keys(rows)) {
		each = append(each, fmt.Sprintf("%q is the label of %s", label, fault.Count(rows[label], "row")))
	}
	if len(each) > 0 {
		s.Warnf("%s: %s, a class like others: want empty cells if it means no label", d.Name,
			strings.Join(each, ", "))
	}
	seen, spelled := map[string]bool{}, map[float64]string{}
	for _, label := range d.Labels {
		if seen[label] {
			continue
		}
		seen[label] = true
		v, err := dataset.ParseFloat(label)
		if first, there := spelled[v]; err == nil && there {
			s.Warnf("%s: the labels %q and %q are different classes, but the same number: want one spelling",
				d.Name, first, label)
			return
		} else if err == nil {
			spelled[v] = label
		}
	}
}

// Classes counts the different labels.
func Classes(labels []string) int {
	classes := map[string]bool{}
	for _, label := range labels {
		if label != "" {
			classes[label] = true
		}
	}
	return len(classes)
}

// Opener opens points at their first row; it can be called several times.
type Opener func(ctx context.Context) (*mustlink.RowSource, error)

// Reopen returns an Opener for the points that d describes. It opens a file that can be streamed
// again at each call, and reads other points once.
func (d *Data) Reopen(ctx context.Context, s *session.Session) (Opener, error) {
	if d.InBlocks(s) {
		return func(ctx context.Context) (*mustlink.RowSource, error) { return d.Open(ctx, s, false) }, nil
	}
	data, err := d.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	return func(context.Context) (*mustlink.RowSource, error) { return inMemory(data), nil }, nil
}

// Open begins to read the points that d describes. With counted the number of rows is known from
// the start: a text file, which does not contain it, is first read to its end.
func (d *Data) Open(ctx context.Context, s *session.Session, counted bool) (*mustlink.RowSource, error) {
	if !d.InBlocks(s) || counted && d.FormatName() == "csv" {
		data, err := d.Read(ctx, s)
		if err != nil {
			return nil, err
		}
		return inMemory(data), nil
	}
	stream, err := session.Await(ctx, func() (*dataset.Stream, error) {
		o := d.Options(s)
		if d.Path == session.Stream {
			return dataset.DecodeStream(s.Stdin, "standard input", o.Format, o)
		}
		return dataset.OpenStream(d.Path, o)
	})
	if err != nil {
		return nil, FormatError(err, d.Path)
	}
	var odd catalog.Remarks
	name := ""
	next := func(ctx context.Context, limit int) (*dataset.Data, error) {
		part, err := session.Await(ctx, func() (*dataset.Data, error) { return stream.Next(limit) })
		switch {
		case err == io.EOF:
			s.WarnOf(name, odd.Text())
		case err == nil && d.model != nil:
			name = part.Name
			odd.Add(d.model, part)
		}
		return part, err
	}
	// nothing was written
	return &mustlink.RowSource{Rows: stream.Rows(), Next: next, Close: func() { _ = stream.Close() }}, nil
}

// InBlocks reports whether the data are read a block at a time.
func (d *Data) InBlocks(s *session.Session) bool {
	o := d.Options(s)
	return dataset.Streams(d.Path, o.Format, o.Extensions...) && !o.Gram && o.Labels == ""
}

// inMemory returns the blocks of data in memory.
func inMemory(data *dataset.Data) *mustlink.RowSource {
	n, at := data.Points.Len(), 0
	next := func(_ context.Context, limit int) (*dataset.Data, error) {
		if at == n {
			return nil, io.EOF
		}
		lo, hi := at, min(at+limit, n)
		at = hi
		part := *data
		part.Points = points.Slice(data.Points, lo, hi)
		if data.IDs != nil {
			part.IDs = data.IDs[lo:hi]
		}
		if data.Labels != nil {
			part.Labels = data.Labels[lo:hi]
		}
		return &part, nil
	}
	return &mustlink.RowSource{Rows: n, Next: next, Close: func() {}}
}

// CanReadTwice reports whether the file at path can be read more than once.
func CanReadTwice(path string) bool {
	if path == session.Stream {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() // opening it reports what is wrong
}

// LinesOfBlock returns the number of lines of labels or pairs to read at a time; a line takes as
// much memory as a row of 12 numbers.
func LinesOfBlock(s *session.Session) int { return catalog.BlockRows(12, int64(s.MemoryLimit)) }

// EntryBytes is the approximate size of an entry of a table of labels or names.
const EntryBytes = 150

// CheckCounts refuses a table of labels that is too large.
func CheckCounts(eng *engine.Engine, t *score.Table) error {
	what := fmt.Sprintf("counts of %d labels and pairs of labels", t.Entries())
	return eng.Check(what, int64(t.Entries())*EntryBytes, "want fewer labels")
}

// Precision is the value of --precision: double or single.
type Precision string

// The precisions: 64-bit and 32-bit numbers.
const (
	Double Precision = "double"
	Single Precision = "single"
)

// Flag defines the flag; what names the object of the precision.
func (p *Precision) Flag(f usage.Flags, what string) {
	f.String((*string)(p), "precision", string(Double), "double or single: the `PRECISION` of "+what,
		usage.OneOf(string(Double), string(Single)))
}

// parseMarks reads the values of --number.
func (d *Data) parseMarks() error {
	for _, text := range d.asked {
		column, marks, ok := strings.Cut(text, "=")
		if !ok || column == "" || !dataset.Marks(marks).Valid() {
			return fault.Param("--number", text, "COLUMN=us or COLUMN=eu")
		}
		if d.Marks == nil {
			d.Marks = map[string]dataset.Marks{}
		}
		d.Marks[column] = dataset.Marks(marks)
	}
	return nil
}
