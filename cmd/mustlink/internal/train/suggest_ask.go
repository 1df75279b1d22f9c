package train

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/label"
)

// asker is an interactive query session.
type asker struct {
	questions *activelearning.Session
	file      *linkAppender
	in        *bufio.Scanner
	out       io.Writer
	shown     *sideBySide
	name      func(row int) string
	row       func(name string) (int, bool)
	most      int // maximum number of answers, 0 for all

	answered, skipped int
}

// askReport is the result of `mustlink suggest --interactive`.
type askReport struct {
	Answered int      `json:"answered"`
	Skipped  int      `json:"skipped"`
	Links    int      `json:"links"`
	Classes  int      `json:"classes"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r *askReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %d skipped; it now contains %s; classes found: %d\n", r.Output,
		fault.Count(r.Answered, "answer"), r.Skipped, fault.Count(r.Links, "link"), r.Classes)
}

// ask asks queries until none is left, the input ends, or there are enough answers.
func (c *suggestCommand) ask(ctx context.Context, d *dataset.Data,
	questions *activelearning.Session) (err error) {
	q := &asker{questions: questions, in: bufio.NewScanner(c.Stdin), out: c.Stdout, shown: newSideBySide(d),
		most: c.count}
	if c.JSON || c.Quiet {
		q.out = c.Stderr
	}
	q.nameRows(c.links.Names(d), d.Points.Len())
	if q.file, err = openAppender(c.links.Path, q.name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.file.file.Close()) }()
	if err := q.run(ctx); err != nil {
		return err
	}
	r := &askReport{q.answered, q.skipped, len(questions.Links()), questions.Classes(), c.links.Path,
		c.Warnings()}
	return c.Summarize(c.links.Path, r, r.text)
}

// nameRows sets the names of rows: ids, or numbers when ids is nil.
func (q *asker) nameRows(ids []string, n int) {
	if ids == nil {
		q.name = strconv.Itoa
		q.row = func(name string) (int, bool) {
			i, err := strconv.Atoi(name)
			return i, err == nil && i >= 0 && i < n
		}
		return
	}
	q.name = func(i int) string { return ids[i] }
	q.row = func(name string) (int, bool) {
		i := slices.Index(ids, name)
		return i, i >= 0
	}
}

func (q *asker) run(ctx context.Context) error {
	for q.most == 0 || q.answered < q.most {
		pair, ok := q.questions.Next()
		if !ok {
			fmt.Fprintln(q.out, "No query is left.")
			return nil
		}
		q.shown.write(q.out, pair.I, pair.J, q.name)
		if more, err := q.settle(ctx, pair); err != nil || !more {
			return err
		}
	}
	return nil
}

const howToAnswer = "y, n, s (skip) or q (quit), or two rows and y or n"

// settle repeats a query until the answer can be used; it returns false at the end of the session.
func (q *asker) settle(ctx context.Context, pair activelearning.Pair) (more bool, err error) {
	for {
		fmt.Fprintf(q.out, "Do %s and %s belong together? [y/n/s/q] ", q.name(pair.I), q.name(pair.J))
		text, ok, err := q.read(ctx)
		if err != nil || !ok {
			fmt.Fprintln(q.out)
			return false, err
		}
		words := strings.Fields(text)
		if len(words) == 1 {
			switch strings.ToLower(words[0]) {
			case "q", "quit":
				return false, nil
			case "s", "skip":
				q.questions.Skip(pair.I, pair.J)
				q.skipped++
				return true, nil
			}
			words = []string{q.name(pair.I), q.name(pair.J), words[0]}
		}
		link, problem := q.link(words)
		if problem == "" {
			if problem, err = q.answer(link); err != nil || problem == "" {
				return err == nil, err
			}
		}
		fmt.Fprintln(q.out, problem)
	}
}

// read returns the next line, or false at the end of the input.
func (q *asker) read(ctx context.Context) (line string, ok bool, err error) {
	ok, err = session.Await(ctx, func() (bool, error) { return q.in.Scan(), nil })
	if err != nil || ok {
		return q.in.Text(), ok, err
	}
	if err := q.in.Err(); err != nil {
		return "", false, fault.Data("standard input", "%w", err)
	}
	return "", false, nil
}

// link parses two rows and an answer; problem describes what is wrong with them.
func (q *asker) link(words []string) (l links.Link, problem string) {
	if len(words) != 3 {
		return l, "Want " + howToAnswer + "."
	}
	i, okI := q.row(words[0])
	j, okJ := q.row(words[1])
	if !okI || !okJ || i == j {
		return l, fmt.Sprintf("%s and %s are not two rows: want %s.", words[0], words[1], howToAnswer)
	}
	switch strings.ToLower(words[2]) {
	case "y", "yes":
		return links.NewLink(i, j, links.Must), ""
	case "n", "no":
		return links.NewLink(i, j, links.Cannot), ""
	}
	return l, fmt.Sprintf("%q is not an answer: want %s.", words[2], howToAnswer)
}

// answer keeps a link and the links that the session concludes from it; problem names the links
// that contradict it.
func (q *asker) answer(l links.Link) (problem string, err error) {
	if sign, known := q.questions.Known(l.I, l.J); known && sign == l.Sign {
		return "That is known already.", nil
	}
	before := len(q.questions.Links())
	l.Line = q.file.lines + 1
	err = q.questions.Answer(l)
	if c, ok := errors.AsType[*activelearning.ContradictionError](err); ok {
		return "This contradicts what is known: " + q.path(c) + ".", nil
	}
	if err != nil {
		return "", err
	}
	if err := q.file.add(q.questions.Links()[before:]); err != nil {
		return "", err
	}
	q.answered++
	return "", nil
}

// path writes the chain of links that contradicts another link.
func (q *asker) path(c *activelearning.ContradictionError) string {
	parts := make([]string, len(c.Path))
	at := c.Link.I
	for k, l := range c.Path {
		next := l.I + l.J - at
		word := "belong together"
		if l.Sign == links.Cannot {
			word = "do not belong together"
		}
		parts[k] = fmt.Sprintf("%s and %s %s", q.name(at), q.name(next), word)
		if l.Line > 0 {
			parts[k] += fmt.Sprintf(" (line %d)", l.Line)
		}
		at = next
	}
	return strings.Join(parts, ", ")
}

// linkAppender adds links to a file. Each call writes whole lines at once and returns when they are
// on disk.
type linkAppender struct {
	file    *os.File
	columns []string
	lines   int // of the file so far
	name    func(row int) string
}

// openAppender opens a file of links, or creates one with a header.
func openAppender(path string, name func(int) string) (*linkAppender, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fault.Data(path, "it cannot be appended to: %w", err)
	}
	l := &linkAppender{file: f, columns: []string{"i", "j", "link"}, name: name}
	if err := l.begin(path); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// begin reads the header of the file, or writes one, and completes an unfinished last line.
func (l *linkAppender) begin(path string) error {
	text, err := io.ReadAll(l.file)
	if err != nil {
		return fault.Data(path, "%w", err)
	}
	if len(text) == 0 {
		return l.write([][]string{l.columns})
	}
	_, body := dataset.CutComments(text)
	if l.columns, err = csv.NewReader(bytes.NewReader(body)).Read(); err != nil {
		return fault.Data(path,
			"its header cannot be read: want a .csv that is not compressed, with the columns i, j, link: %w",
			err)
	}
	for _, c := range []string{"i", "j", "link"} {
		if !slices.Contains(l.columns, c) {
			return fault.Data(path,
				"answers are links: want the columns i, j, link, and a file that is not compressed")
		}
	}
	l.lines = bytes.Count(text, []byte("\n"))
	if text[len(text)-1] == '\n' {
		return nil
	}
	l.lines++
	if _, err := l.file.Write([]byte("\n")); err != nil {
		return err
	}
	return l.file.Sync()
}

// add appends links.
func (l *linkAppender) add(list []links.Link) error {
	rows := make([][]string, len(list))
	for k, link := range list {
		rows[k] = make([]string, len(l.columns))
		for at, column := range l.columns {
			switch column {
			case "i":
				rows[k][at] = l.name(link.I)
			case "j":
				rows[k][at] = l.name(link.J)
			case "link":
				rows[k][at] = link.Sign.String()
			}
		}
	}
	return l.write(rows)
}

func (l *linkAppender) write(rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	if _, err := l.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("the answer cannot be written: %w", err)
	}
	l.lines += len(rows)
	return l.file.Sync()
}

// sideBySide shows two rows of data for a person to compare.
type sideBySide struct {
	data    *dataset.Data
	columns []label.Column
}

// shownLetters is the number of letters of a cell that are shown.
const shownLetters = 200

func newSideBySide(d *dataset.Data) *sideBySide {
	return &sideBySide{data: d, columns: label.ColumnsOf(d)}
}

// write shows rows i and j.
func (s *sideBySide) write(w io.Writer, i, j int, name func(int) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\t%s\t%s\tdifference\t\n", name(i), name(j))
	if s.data.IDs != nil && s.data.IDs[i] != name(i) {
		fmt.Fprintf(t, "id\t%s\t%s\t\t\n", s.data.IDs[i], s.data.IDs[j])
	}
	all := s.columns
	if x, ok := s.data.Points.(*points.CSR); ok {
		all = s.sparse(x, i, j)
	}
	columns, left := label.Differing(all, i, j)
	for _, c := range columns {
		difference := ""
		if c.Number != nil {
			if d := c.Number(j) - c.Number(i); !math.IsNaN(d) {
				difference = fmt.Sprintf("%+.6g", d)
			}
		} else if c.Text(i) != c.Text(j) {
			difference = "other text"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", visible(c.Name), visible(c.Text(i)), visible(c.Text(j)),
			difference)
	}
	t.Flush() // an error of the terminal shows when the answer is read
	if left > 0 {
		fmt.Fprintf(w, "and %s with smaller differences\n", fault.Count(left, "feature"))
	}
}

// sparse returns the features that occur in row i or j: there may be two billion.
func (s *sideBySide) sparse(x *points.CSR, i, j int) (columns []label.Column) {
	both, numbers := x.Select([]int{i, j}).(*points.CSR).Compact()
	a, b := make([]float64, both.D), make([]float64, both.D)
	for row, to := range [][]float64{a, b} {
		columns, values := both.Row(row)
		for k, column := range columns {
			to[column] = values[k]
		}
	}
	for k, column := range numbers {
		name := strconv.Itoa(int(column))
		if int(column) < len(s.data.Features) {
			name = s.data.Features[column]
		}
		at := func(row int) float64 {
			if row == i {
				return a[k]
			}
			return b[k]
		}
		columns = append(columns, label.Column{Name: name, Number: at, Text: func(row int) string {
			return fmt.Sprintf("%.6g", at(row))
		}})
	}
	return columns
}

// visible returns the beginning of a cell as a terminal can show it.
func visible(text string) string {
	switch {
	case text == "":
		return "(missing)"
	case len(text) > shownLetters:
		text = strings.ToValidUTF8(text[:shownLetters], "") + "..."
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return text
}
