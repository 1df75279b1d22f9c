package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// ReadLinks reads links (columns i, j, link and perhaps bound and weight) or chunklets (columns i
// and chunklet); the header decides which. A link is must, cannot, 1 or -1; an empty
// bound or weight is not given. The columns who and when, of links that people gave, are ignored.
// Lines before the header that begin with # are comments, here and in all files that refer to rows;
// "# label: churn" gives the set its [links.Set.Label].
//
// A row that does not exist, a pair of a row with itself, a pair with both signs (the error names
// both lines) and anything unreadable are a *fault.DataError.
func ReadLinks(in Input, c LinkContext) (*links.Set, error) { return readInput(in, c.links) }

func (c LinkContext) links(src *source, rep *report) (*links.Set, error) {
	set, err := c.linksOrChunklets(src, rep)
	if err != nil || src.label == "" {
		return set, err
	}
	return set.WithLabel(src.label), nil
}

func (c LinkContext) linksOrChunklets(src *source, rep *report) (*links.Set, error) {
	if _, err := src.r.Peek(1); err == io.EOF && c.MayBeEmpty {
		return links.New(c.N, nil)
	}
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

// isChunklets reports whether the header is that of a chunklets file.
func isChunklets(r *records) bool {
	return len(r.columns) == 2 && r.column("i") >= 0 && r.column("chunklet") >= 0
}

// Chunklet is a named group of rows of a chunklets file.
type Chunklet struct {
	Name string
	Rows []int // in the order of the file
	Line int   // 1-based line of the first row
}

// ReadChunklets reads chunklets (columns i and chunklet) with their names, in the order of their
// first lines. A row may be in several chunklets. Errors are *fault.DataError as for [ReadLinks].
func ReadChunklets(in Input, c LinkContext) ([]Chunklet, error) { return readInput(in, c.chunklets) }

func (c LinkContext) chunklets(src *source, rep *report) ([]Chunklet, error) {
	r, find, err := c.begin(src, rep)
	if err != nil {
		return nil, err
	}
	if !isChunklets(r) {
		return nil, rep.fatal("correct the header", "the header is %s: want i,chunklet", r.header())
	}
	return eachChunklet(r, c, find)
}

// eachChunklet parses the lines of a chunklets file.
func eachChunklet(r *records, c LinkContext, find finder) ([]Chunklet, error) {
	at, name := r.column("i"), r.column("chunklet")
	number := make(map[string]int)
	var list []Chunklet
	err := r.eachWithin(c.MemoryLimit, linkBytes, func(fields []string, line int) error {
		i, err := r.rowNamed(find, fields[at], at, line)
		if err != nil {
			return err
		}
		key := fields[name]
		if key == "" {
			return r.problem(line, "chunklet", "write the name of the chunklet, or remove the line",
				"the cell is empty: want the chunklet's name")
		}
		k, ok := number[key]
		if !ok {
			k, key = len(list), strings.Clone(key)
			number[key] = k
			list = append(list, Chunklet{Name: key, Line: line})
		}
		list[k].Rows = append(list[k].Rows, i)
		return nil
	})
	if err == nil && len(r.rep.problems) > 0 {
		err = errStop
	}
	return list, err
}
