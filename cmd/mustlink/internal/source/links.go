package source

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Links names a file of links and how it refers to rows.
type Links struct {
	Flag  string // flag for the file, "" for -c
	Path  string
	By    string
	Begun bool // the file may have no links yet
}

// Flags defines the flags of links.
func (l *Links) Flags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.String(&l.Path, "links,c", "", "`LINKS`: a CSV of links (i,j,link) or of chunklets (i,chunklet)",
		usage.Excludes("links-from-labels"))
	l.ByFlag(cmd)
}

// ByFlag defines the flag for how the file refers to rows.
func (l *Links) ByFlag(cmd *cobra.Command) {
	usage.FlagsOf(cmd).String(&l.By, "links-by", dataset.ByAuto,
		"how links name rows: `row|id|auto`, 0-based numbers, or the column id of the data; auto is id if the "+
			"data have ids and the first names are no numbers",
		usage.OneOf(dataset.ByRow, dataset.ByID, dataset.ByAuto))
}

// NeedIDs refuses data without ids if links name rows by id.
func (l *Links) NeedIDs(d *dataset.Data) error {
	if l.By == dataset.ByID && d.IDs == nil {
		return fault.Data(d.Name,
			"it has no ids: want a column id, or FASTA records with names, for --links-by id")
	}
	return nil
}

// Read reads the links between the rows of d.
func (l *Links) Read(ctx context.Context, s *session.Session, d *dataset.Data) (*links.Set, error) {
	return ReadRows(ctx, s, l, l.Path, d, dataset.ReadLinks)
}

// ReadRows reads a file that refers to rows of d as links do.
func ReadRows[T any](ctx context.Context, s *session.Session, l *Links, path string, d *dataset.Data,
	read func(in dataset.Input, c dataset.LinkContext) (T, error)) (T, error) {
	if err := l.NeedIDs(d); err != nil {
		var none T
		return none, err
	}
	c := l.Context(s, d)
	c.Found = func(by, doubt string) {
		if l.By = by; doubt != "" {
			s.Warnf("%s: %s", path, doubt)
		}
	}
	return session.Await(ctx, func() (T, error) { return read(s.Input(path), c) })
}

// Follow makes l name rows as a file does that is there already.
func (l *Links) Follow(s *session.Session, path string, d *dataset.Data) {
	if l.By != dataset.ByAuto {
		return
	}
	if by, err := l.Context(s, d).NamesRows(path); err == nil { // who reads the links reports errors
		l.By = by
	}
}

// Context describes the rows of d that links can refer to.
func (l *Links) Context(s *session.Session, d *dataset.Data) dataset.LinkContext {
	return dataset.LinkContext{N: d.Points.Len(), IDs: d.IDs, By: l.By, MemoryLimit: int64(s.MemoryLimit),
		MayBeEmpty: l.Begun}
}

// ReadWarning is Read, and warns about what is odd in the links.
func (l *Links) ReadWarning(ctx context.Context, s *session.Session, d *dataset.Data) (*links.Set, error) {
	set, err := l.Read(ctx, s, d)
	if err == nil {
		s.WarnOf(l.Path, set.Warnings())
	}
	return set, err
}

// Leaks returns the columns of d that decide the links alone and that a table, made of d, has as
// features, and warns about them. Links that were made from one of the features are an error.
func (l *Links) Leaks(s *session.Session, d *dataset.Data, t *mustlink.Table, set *links.Set) ([]prepare.Leak,
	error) {
	inputs := prepare.Inputs(t.Transform(), d.Features)
	if name := set.Label(); name != "" && slices.Contains(inputs, name) {
		return nil, fault.Data(l.Path, "the links were made from column %q, which is now a feature: want %s",
			name, strings.Join(without(d, name), " or "))
	}
	leaks := prepare.Leaks(d, inputs, set)
	WarnOfLeaks(s, d, leaks)
	return leaks, nil
}

// WarnOfLeaks warns about columns that decide links alone.
func WarnOfLeaks(s *session.Session, d *dataset.Data, leaks []prepare.Leak) {
	const most = 3
	for k, leak := range leaks {
		if k == most {
			s.Warnf("%s: %s more decide all links as well", d.Name, fault.Count(len(leaks)-most, "column"))
			return
		}
		advice := ""
		if flags := without(d, leak.Column); d.Features != nil { // the flags name columns
			advice = " " + flags[0] + " leaves it out of the features"
			for _, other := range flags[1:] {
				advice += ", or " + other
			}
		}
		s.Warnf("%s: %s%s", d.Name, leak, advice)
	}
}

// without returns the flags of which each leaves a column out of the features of d.
func without(d *dataset.Data, column string) []string {
	name := usage.Quoted(column)
	if d.Labels == nil {
		return []string{"--label " + name, "--drop " + name}
	}
	return []string{"--drop " + name} // another --label would make a feature of the labels
}

// Names returns the ids for links and pairs that a command writes: nil for row numbers.
func (l *Links) Names(d *dataset.Data) []string {
	if l.By == dataset.ByID {
		return d.IDs
	}
	return nil
}

// Check checks the flags of links, and notes the file as an input if it is given.
func (l *Links) Check(c *session.Checks) {
	c.Input(session.NameOr(l.Flag, "-c, --links"), l.Path)
}

// Pairs returns the pair of rows of each link.
func Pairs(list []links.Link) (pairs [][2]int) {
	for _, l := range list {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	return pairs
}

// RandomPair draws two different rows of n.
func RandomPair(rng *rand.Rand, n int) [2]int {
	i, j := rng.IntN(n), rng.IntN(n-1)
	if j >= i {
		j++
	}
	return [2]int{i, j}
}
