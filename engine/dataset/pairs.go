package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// The ways to name rows in files of links and pairs.
const (
	ByRow = "row" // 0-based numbers
	ByID  = "id"
)

// LinkContext describes the rows that a file of links or pairs refers to.
type LinkContext struct {
	N   int      // number of rows
	IDs []string // the rows' ids when By is ByID
	By  string   // ByRow or ByID; "" is ByRow
	// MaxLine and MemoryLimit are as in ReadOptions.
	MaxLine     int
	MemoryLimit int64
	// MayBeEmpty accepts a file of links that has a header and no links yet.
	MayBeEmpty bool
}

// ReadLinks reads a file of links (columns i, j, link and perhaps bound and weight) or of chunklets
// (columns i and chunklet); the header decides which. A link is must, cannot, 1 or -1; an empty
// bound or weight is not given. The columns who and when, of links that people gave, are ignored.
// Lines before the header that begin with # are comments, here and in all files that refer to rows;
// "# label: churn" gives the set its [links.Set.Label].
//
// A row that does not exist, a pair of a row with itself, a pair with both signs (the error names
// both lines) and anything unreadable are a *fault.DataError.
func ReadLinks(path string, c LinkContext) (*links.Set, error) {
	return fromFile(path, c.firstOf)
}

// DecodeLinks is [ReadLinks] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodeLinks(r io.Reader, name string, gz bool, c LinkContext) (*links.Set, error) {
	return c.firstOf(newSource(name, r, -1, gz))
}

// firstOf is decodeLinks with the first problem as its error.
func (c LinkContext) firstOf(src *source) (*links.Set, error) {
	rep := &report{max: 1}
	return first(decodeLinks(src, c, rep))(rep)
}

func isGzip(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

func decodeLinks(src *source, c LinkContext, rep *report) (*links.Set, error) {
	set, err := linksOrChunklets(src, c, rep)
	if err != nil || src.label == "" {
		return set, err
	}
	return set.WithLabel(src.label), nil
}

func linksOrChunklets(src *source, c LinkContext, rep *report) (*links.Set, error) {
	r, find, err := c.begin(src, rep)
	if err != nil {
		return nil, err
	}
	if isChunklets(r) {
		return decodeChunklets(r, c, find)
	}
	r.findNumerals(false)
	p := linkParser{r: r, find: find, i: r.column("i"), j: r.column("j"), link: r.column("link"),
		bound: r.column("bound"), weight: r.column("weight")}
	known := 3
	for _, at := range []int{p.bound, p.weight, r.column("who"), r.column("when")} {
		if at >= 0 {
			known++
		}
	}
	if p.i < 0 || p.j < 0 || p.link < 0 || known != len(r.columns) {
		return nil, rep.fatal("correct the header",
			"the header is %s: want i,j,link[,bound][,weight] for links or i,chunklet for chunklets",
			r.header())
	}
	return p.decode(c)
}

// linkParser parses the lines of a links file, given the indices of its columns.
type linkParser struct {
	r                         *records
	find                      finder
	i, j, link, bound, weight int
	list                      []links.Link
}

func (p *linkParser) decode(c LinkContext) (*links.Set, error) {
	err := p.r.eachWithin(c.MemoryLimit, linkBytes, p.add)
	if p.r.row < 0 && len(p.r.rep.problems) > 0 { // no problem but that there are none
		if c.MayBeEmpty {
			p.r.rep.problems = nil
			return links.New(c.N, nil)
		}
		err := fault.Data(p.r.rep.file, "it has the header of links, and no link yet: want at least one")
		p.r.rep.problems = []Problem{{Err: err, Fix: "answer some questions of suggest or label first"}}
	}
	if err != nil {
		return nil, err
	}
	if len(p.r.rep.problems) == 0 {
		if set, err := links.New(c.N, p.list); err == nil {
			return set, nil
		}
	}
	return nil, p.validate(c)
}

// validate reports problems that concern two links, and sorts them in among the other problems.
func (p *linkParser) validate(c LinkContext) error {
	rep := p.r.rep
	err := error(errStop)
	for _, problem := range links.Validate(c.N, p.list) {
		de, ok := errors.AsType[*fault.DataError](problem)
		if !ok {
			return problem
		}
		if c.By == ByID { // the message names row numbers, but the file has ids
			for _, l := range p.list {
				if l.Line == de.Line {
					de.Err = fmt.Errorf("%w (ids %s and %s)", de.Err, quote(c.IDs[l.I]), quote(c.IDs[l.J]))
				}
			}
		}
		if err := rep.add(de, "correct or remove the line"); err != nil {
			break
		}
	}
	slices.SortStableFunc(rep.problems, func(a, b Problem) int { return cmp.Compare(a.Err.Line, b.Err.Line) })
	return err
}

// add parses one line of a links file.
func (p *linkParser) add(fields []string, line int) error {
	var err error
	l := links.NewLink(0, 0, links.Must)
	l.Line = line
	sound := true
	note := func(column int, what, fix string) {
		if what != "" && err == nil {
			sound = false
			err = p.r.problem(line, p.r.columns[column], fix, "%s", what)
		}
	}
	var what, fix string
	l.I, what, fix = p.find(fields[p.i])
	note(p.i, what, fix)
	l.J, what, fix = p.find(fields[p.j])
	note(p.j, what, fix)
	l.Sign, what = parseSign(fields[p.link])
	note(p.link, what, "write must or cannot")
	if p.bound >= 0 && strings.TrimSpace(fields[p.bound]) != "" {
		l.Bound, what = p.r.positive(fields[p.bound])
		note(p.bound, what, "give a squared distance > 0, or leave the cell empty")
	}
	if p.weight >= 0 && strings.TrimSpace(fields[p.weight]) != "" {
		l.Weight, what = p.r.positive(fields[p.weight])
		note(p.weight, what, "give a number > 0, or leave the cell empty")
	}
	if sound {
		p.list = append(p.list, l)
	}
	return err
}

func parseSign(s string) (sign links.Sign, what string) {
	switch strings.TrimSpace(s) {
	case "must", "1", "+1":
		return links.Must, ""
	case "cannot", "-1":
		return links.Cannot, ""
	}
	return 0, "the link is " + quote(s) + ": want must, cannot, 1 or -1"
}

func (r *records) positive(s string) (v float64, what string) {
	v, err := r.marks.float([]byte(strings.TrimSpace(s)))
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, "the value is " + quote(s) + ": want a finite number > 0"
	}
	return v, ""
}

func decodeChunklets(r *records, c LinkContext, find finder) (*links.Set, error) {
	list, err := eachChunklet(r, c, find)
	if err != nil {
		return nil, err
	}
	chunklets := make([][]int, len(list))
	for k, chunklet := range list {
		chunklets[k] = chunklet.Rows
	}
	return links.FromChunklets(c.N, chunklets)
}

// begin reads the header of a file of links or pairs.
func (c LinkContext) begin(src *source, rep *report) (*records, finder, error) {
	rep.file = src.name
	find, err := c.finder()
	if err != nil {
		return nil, nil, err
	}
	src.limit, src.comments = c.MemoryLimit, true
	r, err := openRecords(src, c.MaxLine, rep)
	if err != nil {
		return nil, nil, err
	}
	r.pairs = true
	return r, find, nil
}

// rowColumns returns the indices of the columns that name rows.
func (r *records) rowColumns(names []string) ([]int, error) {
	at := make([]int, len(names))
	for k, name := range names {
		if at[k] = r.column(name); at[k] < 0 {
			return nil, r.rep.fatal("correct the header", "the header is %s: want the columns %s", r.header(),
				strings.Join(names, ", "))
		}
	}
	return at, nil
}

// rowNamed returns the number of the row that a field names.
func (r *records) rowNamed(find finder, name string, column, line int) (int, error) {
	i, what, fix := find(name)
	if what != "" {
		return 0, r.problem(line, r.columns[column], fix, "%s", what)
	}
	return i, nil
}

// finder returns the number of the row with a name, or states the problem with the name and a fix.
type finder func(name string) (row int, what, fix string)

func (c LinkContext) finder() (finder, error) {
	switch c.By {
	case "", ByRow:
		return c.findNumber, nil
	case ByID:
		if c.IDs == nil {
			return nil, &fault.ParamError{Param: "naming of rows", Value: c.By,
				Want: "row, as the data has no column id"}
		}
		rows := make(map[string]int, len(c.IDs))
		for i, id := range c.IDs {
			rows[strings.TrimSpace(id)] = i // as the names in the file are
		}
		return func(name string) (int, string, string) { return c.findID(rows, name) }, nil
	}
	return nil, fault.Unknown("naming of rows", c.By, []string{ByRow, ByID})
}

func (c LinkContext) findNumber(name string) (int, string, string) {
	i, err := strconv.Atoi(strings.TrimSpace(name))
	switch {
	case c.N <= 0:
		return 0, "the data have no rows: want at least two to link", ""
	case err != nil && slices.Contains(c.IDs, name):
		return 0, quote(name) + " is an id: want a row number", "name rows by id"
	case err != nil:
		return 0, fmt.Sprintf("%s is not a row number: want 0 to %d", quote(name), c.N-1),
			"write the 0-based number of a data row"
	case i < 0 || i >= c.N:
		fix := "correct or remove the line"
		if i == c.N {
			fix = "row numbers begin with 0; subtract 1 if these begin with 1"
		}
		return 0, fmt.Sprintf("row %d does not exist: want 0 to %d", i, c.N-1), fix
	}
	return i, "", ""
}

func (c LinkContext) findID(rows map[string]int, name string) (int, string, string) {
	if i, ok := rows[name]; ok {
		return i, "", ""
	}
	// The search for a similar id compares all of them.
	if len(c.IDs) <= 10000 {
		if near := fault.Nearest(name, c.IDs); near != "" {
			return 0, fmt.Sprintf("there is no row with id %s: want an id of the data", quote(name)),
				"did you mean " + quote(near) + "?"
		}
	}
	return 0, fmt.Sprintf("there is no row with id %s: want an id of the data", quote(name)),
		"correct or remove the line"
}

// ReadPairs reads a file with the columns i and j. Other columns are ignored, so a file of links is
// accepted. Unlike a link, a pair may join a row with itself and may occur twice. Errors are
// *fault.DataError as for [ReadLinks].
func ReadPairs(path string, c LinkContext) ([][2]int, error) { return fromFile(path, c.pairs) }

// DecodePairs is [ReadPairs] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodePairs(r io.Reader, name string, gz bool, c LinkContext) ([][2]int, error) {
	return c.pairs(newSource(name, r, -1, gz))
}

func (c LinkContext) pairs(src *source) ([][2]int, error) {
	var pairs [][2]int
	err := decodeRows(src, c, []string{"i", "j"}, func(rows []int, _ int) {
		pairs = append(pairs, [2]int(rows))
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// decodeRows reads a file whose given columns name rows, and calls take with the rows of every
// line; it uses the slice again for the next line. Other columns are ignored.
func decodeRows(src *source, c LinkContext, columns []string, take func(rows []int, line int)) error {
	rep := &report{max: 1}
	r, find, err := c.begin(src, rep)
	var at []int
	if err == nil {
		at, err = r.rowColumns(columns)
	}
	if err != nil {
		return rep.outcome(err)
	}
	rows := make([]int, len(columns))
	err = r.eachWithin(c.MemoryLimit, 2*8*(len(columns)+1), func(fields []string, line int) error {
		for k, column := range at {
			var err error
			if rows[k], err = r.rowNamed(find, fields[column], column, line); err != nil {
				return err
			}
		}
		take(rows, line)
		return nil
	})
	return rep.outcome(err)
}

// PairStream reads a file of pairs a block at a time. It is not safe for concurrent use.
type PairStream struct {
	recordStream
	at   []int // indices of the columns i and j
	find finder
}

// OpenPairs begins to read a file of pairs, as [ReadPairs] does and with its errors.
func OpenPairs(path string, c LinkContext) (*PairStream, error) {
	return opened(path, isGzip(path), func(src *source) (*PairStream, error) { return newPairStream(src, c) })
}

// DecodePairStream is [OpenPairs] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodePairStream(r io.Reader, name string, gz bool, c LinkContext) (*PairStream, error) {
	return newPairStream(newSource(name, r, -1, gz), c)
}

func newPairStream(src *source, c LinkContext) (*PairStream, error) {
	s := &PairStream{recordStream: newRecordStream(src)}
	var err error
	if s.lines, s.find, err = c.begin(src, s.rep); err == nil {
		s.at, err = s.lines.rowColumns([]string{"i", "j"})
	}
	if err != nil {
		return nil, s.rep.outcome(err)
	}
	return s, nil
}

// Next returns the rows of the next pairs, 1 to limit of them. After the last one the error is
// io.EOF; every later call returns this error, or any other, again.
func (s *PairStream) Next(limit int) ([][2]int, error) {
	return nextRecords(&s.recordStream, limit, "pairs",
		func(fields []string, line int) (pair [2]int, err error) {
			for k, column := range s.at {
				if pair[k], err = s.lines.rowNamed(s.find, fields[column], column, line); err != nil {
					return pair, err
				}
			}
			return pair, nil
		})
}

// Names is like Next, but returns the names as they are written; rows with these names need not
// exist.
func (s *PairStream) Names(limit int) ([][2]string, error) {
	return nextRecords(&s.recordStream, limit, "pairs", func(fields []string, _ int) ([2]string, error) {
		return [2]string{strings.Clone(fields[s.at[0]]), strings.Clone(fields[s.at[1]])}, nil
	})
}
