package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// dataFlags name a set of points and say how to read it.
type dataFlags struct {
	path         string
	format       string
	labels       string
	gram         bool
	gramDiagonal string
	alphabet     string
	headerLabels bool
	features     int
	share        int // the points may take 1/share of the memory limit; 0 is all of it
}

// add defines the flags that say how to read points; -i goes first.
func (d *dataFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&d.path, "input", "i", "", "the file of `DATA`: "+dataEndings+"; - for standard input")
	d.addReading(cmd)
	f.BoolVar(&d.gram, "gram", false, "the input is a precomputed Gram matrix (n x n; for new objects n x n_train with --gram-diagonal)")
	f.StringVar(&d.gramDiagonal, "gram-diagonal", "", "`FILE` with k(x,x) of each row of a Gram matrix (default: the diagonal when square)")
}

// dataEndings tells the formats of data by the ends of their files' names.
const dataEndings = ".csv, .npy, .parquet, .svm (svmlight), .idx or -ubyte (MNIST), .fasta (sequences), each also .gz"

// addReading defines the flags that every command with data has.
func (d *dataFlags) addReading(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.format, "format", "", "`FORMAT` of - and of files without a known extension: "+strings.Join(session.Formats(), ", ")+", each also with .gz (default csv)")
	f.StringVar(&d.alphabet, "alphabet", "", "the letters of FASTA sequences: `protein|dna|rna` or the letters themselves (default protein)")
	f.IntVar(&d.features, "features", 0, "number of features of .svm data; 0: the model's, or else the largest number in the file")
	usage.CompleteWith(cmd, "format", session.Formats()...)
	usage.CompleteWith(cmd, "alphabet", "protein", "dna", "rna")
}

// addLabels defines the flags of commands that look at labels.
func (d *dataFlags) addLabels(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.labels, "labels", "", "`FILE` of labels for data that carry none: a CSV with a column label, an .idx vector, the labels of .svm or .fasta")
	f.BoolVar(&d.headerLabels, "labels-from-header", false, "the second word of a FASTA header is the label")
}

// formatName returns the name of the format that the data are in, "" when it is not known.
func (d *dataFlags) formatName() string {
	if name := session.FormatFor(d.path, d.format); name != "" {
		return session.FormatOf("." + name)
	}
	return session.FormatOf(d.path)
}

// withFeatures returns d with the number of features of other points.
func (d *dataFlags) withFeatures(n int) *dataFlags {
	if d.features > 0 || d.formatName() != "svm" {
		return d
	}
	out := *d
	out.features = n
	return &out
}

// readTwo is readData for what compares rows.
func (a *app) readTwo(ctx context.Context, d *dataFlags) (*dataset.Data, error) {
	data, err := a.readData(ctx, d)
	if err == nil {
		err = data.AtLeast(2)
	}
	return data, err
}

// readData reads the points that d describes and passes the reader's warnings on.
func (a *app) readData(ctx context.Context, d *dataFlags) (*dataset.Data, error) {
	o := d.options(a)
	data, err := session.Await(ctx, func() (*dataset.Data, error) {
		if d.path == session.Stream {
			return dataset.Decode(a.Stdin, "standard input", o.Format, o)
		}
		data, _, err := dataset.Map(d.path, o) // released when the program ends
		return data, err
	})
	if err != nil {
		return nil, formatError(err, d.path)
	}
	for _, w := range data.Warnings {
		a.Warnf("%s: %s", data.Name, w)
	}
	return data, nil
}

// formatError speaks of --format where the library speaks of a format's name.
func formatError(err error, path string) error {
	pe, ok := errors.AsType[*fault.ParamError](err)
	if !ok || pe.Param != "format of "+path {
		return usage.RenameParams(err, "format", "--format", "alphabet", "--alphabet", "features", "--features")
	}
	return &fault.ParamError{Param: pe.Param, Value: pe.Value, Want: "one of ." + strings.Join(session.Formats(), ", .") + " (each also .gz), or --format"}
}

func (d *dataFlags) options(a *app) dataset.ReadOptions {
	return dataset.ReadOptions{
		Format:       session.FormatFor(d.path, d.format),
		Labels:       d.labels,
		HeaderLabels: d.headerLabels,
		Alphabet:     d.alphabet,
		Features:     d.features,
		Gram:         d.gram,
		GramDiagonal: d.gramDiagonal,
		MemoryLimit:  int64(a.MemoryLimit) / int64(max(1, d.share)),
		Extensions:   session.Extensions(),
	}
}

// linkFlags name a file of links and say how it names rows.
type linkFlags struct {
	flag string // that names the file, "" for -c
	path string
	by   string
}

func (l *linkFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&l.path, "links", "c", "", "`LINKS`: a CSV of links (i,j,link) or of chunklets (i,chunklet)")
	l.addBy(cmd)
}

func (l *linkFlags) addBy(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.by, "links-by", dataset.ByRow, "how links name rows: `row|id` (0-based numbers, or the column id of the data)")
	usage.CompleteWith(cmd, "links-by", dataset.ByRow, dataset.ByID)
}

// needIDs reports data without ids where rows are named by id.
func (l *linkFlags) needIDs(d *dataset.Data) error {
	if l.by == dataset.ByID && d.IDs == nil {
		return fault.Data(d.Name, "it has no ids (a column id, or the names of FASTA records): want them for --links-by id")
	}
	return nil
}

// readLinks reads the links between the rows of d.
func (a *app) readLinks(ctx context.Context, l *linkFlags, d *dataset.Data) (*links.Set, error) {
	return readRows(ctx, a, l, l.path, d, dataset.DecodeLinks, dataset.ReadLinks)
}

// readRows reads a file that names rows of d, in the way that links do.
func readRows[T any](ctx context.Context, a *app, l *linkFlags, path string, d *dataset.Data,
	decode func(r io.Reader, name string, gz bool, c dataset.LinkContext) (T, error), read func(path string, c dataset.LinkContext) (T, error)) (T, error) {
	if err := l.needIDs(d); err != nil {
		var none T
		return none, err
	}
	c := a.linkContext(l, d)
	return session.Await(ctx, func() (T, error) {
		if path == session.Stream {
			return decode(a.Stdin, "standard input", false, c)
		}
		return read(path, c)
	})
}

// linkContext says which rows of d links can name.
func (a *app) linkContext(l *linkFlags, d *dataset.Data) dataset.LinkContext {
	return dataset.LinkContext{N: d.Points.Len(), IDs: d.IDs, By: l.by, MemoryLimit: int64(a.MemoryLimit)}
}

// readLinksWarning is readLinks that passes warnings on.
func (a *app) readLinksWarning(ctx context.Context, l *linkFlags, d *dataset.Data) (*links.Set, error) {
	set, err := a.readLinks(ctx, l, d)
	if err == nil {
		a.warnOfLinks(l.path, set)
	}
	return set, err
}

// warnOfLinks passes on what is odd in links, with the name of their file, if they are of one.
func (a *app) warnOfLinks(path string, set *links.Set) {
	for _, w := range set.Warnings() {
		if path != "" {
			w = path + ": " + w
		}
		a.Warnf("%s", w)
	}
}

// rowNames returns the ids to write links and pairs with: nil for row numbers.
func (l *linkFlags) rowNames(d *dataset.Data) []string {
	if l.by == dataset.ByID {
		return d.IDs
	}
	return nil
}

// readLabels reads one label a row from a labels file or from data with labels. A stream is
// CSV.
func (a *app) readLabels(ctx context.Context, path string) ([]string, error) {
	return session.Await(ctx, func() ([]string, error) {
		if path == session.Stream {
			return dataset.DecodeLabels(a.Stdin, "standard input", false, int64(a.MemoryLimit))
		}
		return dataset.ReadLabels(path, int64(a.MemoryLimit))
	})
}

// shapeOf describes a set of points for a summary.
func shapeOf(p points.Points) string {
	switch x := p.(type) {
	case *points.Sequences:
		shortest, longest := len(x.Row(0)), 0
		for i := range x.Len() {
			shortest, longest = min(shortest, len(x.Row(i))), max(longest, len(x.Row(i)))
		}
		return fmt.Sprintf("%s of %d to %d letters", session.Plural(x.Len(), "sequence"), shortest, longest)
	case *points.CSR:
		return fmt.Sprintf("%d x %d, sparse: %.3g %% are not 0", x.N, x.D, 100*float64(len(x.Val))/float64(x.N)/float64(x.D))
	}
	return fmt.Sprintf("%d x %d", p.Len(), p.Dim())
}

func columnName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return fmt.Sprintf("%q", d.Features[j])
	}
	return fmt.Sprint(j)
}

// check checks the flags of points, and notes what is read.
func (d *dataFlags) check(c *session.Checks) {
	c.Input("-i, --input", d.path)
	c.Refuse(d.gramDiagonal != "" && !d.gram, "--gram-diagonal is given without --gram: want both, or neither")
	c.Refuse(d.labels != "" && d.headerLabels, "--labels and --labels-from-header are given together: want one of them")
	c.Refuse(d.features < 0, "--features is %d: want a number >= 1", d.features)
	format := d.formatName()
	for _, f := range []struct {
		given      bool
		flag, name string
	}{{d.alphabet != "", "--alphabet", "fasta"}, {d.headerLabels, "--labels-from-header", "fasta"}, {d.features > 0, "--features", "svm"}} {
		other := f.given && format != "" && format != f.name
		c.Refuse(other, "%s is for .%s data, but %s is read as %s: want no %s", f.flag, f.name, d.path, format, f.flag)
	}
	c.File("--labels", d.labels, "")
	c.File("--gram-diagonal", d.gramDiagonal, "")
}

// checkBy checks how links name rows.
func (l *linkFlags) checkBy(c *session.Checks) {
	c.OneOf("--links-by", l.by, []string{dataset.ByRow, dataset.ByID})
}

// check checks the flags of links, and notes that they are read, if they are.
func (l *linkFlags) check(c *session.Checks) {
	l.checkBy(c)
	c.Input(session.NameOr(l.flag, "-c, --links"), l.path)
}
