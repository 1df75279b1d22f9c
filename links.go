package mustlink

import (
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Kinds of constraints that a metric is learned from. Package engine/links has more ways to make
// links.
type (
	// Links are must-links and cannot-links between the rows of a table. They are immutable.
	Links = links.Set
	// Link is one must-link or cannot-link, perhaps with a weight and a bound. Its fields are I, J,
	// Sign, Bound, Weight and Line.
	Link = links.Link
	// Triplet says that row I is nearer to row J than to row K. Its fields are I, J, K and Line.
	Triplet = links.Triplet
	// Quadruplet says that rows I and J are nearer to each other than rows K and L. Its fields are I,
	// J, K, L, Bound and Line.
	Quadruplet = links.Quadruplet
)

// NewLinks returns links between the given number of rows. Each pair is two different row numbers,
// counted from 0. A row that does not exist, a row linked to itself and a pair of both kinds are
// errors that name the pair.
func NewLinks(rows int, must, cannot [][2]int) (*Links, error) {
	list := make([]Link, 0, len(must)+len(cannot))
	for _, pair := range must {
		list = append(list, links.NewLink(pair[0], pair[1], links.Must))
	}
	for _, pair := range cannot {
		list = append(list, links.NewLink(pair[0], pair[1], links.Cannot))
	}
	return links.New(rows, list)
}

// SampleLinks draws must-links and cannot-links at random from the labels of the table. It
// leaves out rows without a label. A table without labels, and more links than the labels allow,
// are errors.
func (t *Table) SampleLinks(must, cannot int, seed uint64) (*Links, error) {
	if err := t.labeled("table"); err != nil {
		return nil, err
	}
	return links.SampleByCount(t.data.Labels, must, cannot, seed)
}

// AllLinks returns all links that the labels of the table imply: rows with the same label belong
// together, others do not.
func (t *Table) AllLinks() (*Links, error) {
	if err := t.labeled("table"); err != nil {
		return nil, err
	}
	return links.FromLabels(t.data.Labels)
}

// ReadLinks reads links between the rows of the table from a CSV file with the columns i, j, link
// (must or cannot) and optionally bound and weight, or with the columns i, chunklet. Rows are
// numbers, counted from 0, or ids if the table has some and the first names in the file are no
// numbers; [Table.ReadLinksByID] reads ids always. A bad line is a *fault.DataError with file and
// line.
func (t *Table) ReadLinks(path string) (*Links, error) { return t.readLinks(path, dataset.ByAuto) }

// ReadLinksByID is [Table.ReadLinks] for a file that refers to rows by their ids.
func (t *Table) ReadLinksByID(path string) (*Links, error) { return t.readLinks(path, dataset.ByID) }

func (t *Table) readLinks(path, by string) (*Links, error) {
	if err := t.check("table"); err != nil {
		return nil, err
	}
	if by == dataset.ByID && t.data.IDs == nil {
		return nil, fault.Data(t.data.Name, "the rows have no ids: want a column id, or links by row number")
	}
	return dataset.ReadLinks(dataset.Input{Name: path},
		dataset.LinkContext{N: t.Rows(), IDs: t.data.IDs, By: by})
}

// checkRows refuses links between another number of rows.
func checkRows(l *Links, n int) error {
	if l.N() == n {
		return nil
	}
	return fault.Shape("number of rows of the links", l.N(), "%d, the rows of the table", n)
}

// labeled refuses a table without labels.
func (t *Table) labeled(what string) error {
	if err := t.check(what); err != nil {
		return err
	}
	if t.data.Labels == nil {
		return fault.Data(t.data.Name,
			"the rows of the %s have no labels: want a column label, or WithLabels", what)
	}
	return t.data.NeedLabels("")
}
