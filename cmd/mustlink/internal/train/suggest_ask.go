package train

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
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
	file      *label.Answers
	in        *bufio.Scanner
	out       io.Writer
	shown     *sideBySide
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
	questions *activelearning.Session) error {
	file, err := label.OpenAnswers(c.links.Path, d.Points.Len(), c.links.Names(d), int64(c.MemoryLimit))
	if err != nil {
		return err
	}
	q := &asker{questions: questions, file: file, in: bufio.NewScanner(c.Stdin), out: c.Stdout,
		shown: &sideBySide{d, label.ColumnsOf(d)}, most: c.count}
	if c.JSON || c.Quiet {
		q.out = c.Stderr
	}
	if err := q.run(ctx); err != nil {
		return err
	}
	r := &askReport{q.answered, q.skipped, len(questions.Links()), questions.Classes(), c.links.Path,
		c.Warnings()}
	return c.Summarize(c.links.Path, r, r.text)
}

func (q *asker) run(ctx context.Context) error {
	for q.most == 0 || q.answered < q.most {
		pair, ok := q.questions.Next()
		if !ok {
			fmt.Fprintln(q.out, "No query is left.")
			return nil
		}
		q.shown.write(q.out, pair.I, pair.J, q.file.Name)
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
		fmt.Fprintf(q.out, "Do %s and %s belong together? [y/n/s/q] ", q.file.Name(pair.I),
			q.file.Name(pair.J))
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
			words = []string{q.file.Name(pair.I), q.file.Name(pair.J), words[0]}
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
	i, okI := q.file.Row(words[0])
	j, okJ := q.file.Row(words[1])
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
	l.Line = q.file.Line()
	err = q.questions.Answer(l)
	if c, ok := errors.AsType[*activelearning.ContradictionError](err); ok {
		return "This contradicts what is known: " + q.path(c) + ".", nil
	}
	if err != nil {
		return "", err
	}
	if err := q.file.Add(q.questions.Links()[before:]); err != nil {
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
		parts[k] = fmt.Sprintf("%s and %s %s", q.file.Name(at), q.file.Name(next), word)
		if l.Line > 0 {
			parts[k] += fmt.Sprintf(" (line %d)", l.Line)
		}
		at = next
	}
	return strings.Join(parts, ", ")
}

// sideBySide shows two rows of data for a person to compare.
type sideBySide struct {
	data    *dataset.Data
	columns []label.Column
}

// shownLetters is the number of letters of a cell that are shown.
const shownLetters = 200

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
