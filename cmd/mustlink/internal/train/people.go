package train

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type peopleCommand struct {
	*session.Session
	records int
	seed    uint64
	out     string
}

func newPeople(s *session.Session) *cobra.Command {
	p := &peopleCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "people -o DATA",
		Short: "generate records of people, some of them several times, to try 'mustlink entities' on",
		Long: `Write a CSV of records of people from three sources, with typing errors, initials, former addresses,
gaps, and relatives at one address. The column person is the truth: a person has one to three records, at most
one a source.`,
		Example: "  mustlink demo people --records 10000 -o people.csv",
		Args:    usage.Positional(0, 0, ""),
		RunE: s.Checked(func(check *session.Checks, _ []string) { check.Output("-o, --output", p.out) },
			p.run),
	}
	f := usage.FlagsOf(cmd)
	f.Int(&p.records, "records", 10000, "number of records", usage.Range(">= 2, <= 10000000"))
	f.Seed(&p.seed)
	f.String(&p.out, "output,o", "", "the file of `DATA` to write; - for standard output")
	f.Required("output")
	return cmd
}

// peopleReport is the result of `mustlink demo people`.
type peopleReport struct {
	Records int    `json:"records"`
	People  int    `json:"people"`
	Output  string `json:"output"`
}

func (r peopleReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s of %d people\n", r.Output, session.Plural(r.Records, "record"), r.People)
}

func (p *peopleCommand) run(ctx context.Context, _ []string) error {
	eng, err := p.Engine()
	if err != nil {
		return err
	}
	const recordBytes = 640 // its texts, and the columns made of them
	if err := eng.Check("a table of "+session.Plural(p.records, "record"), recordBytes*int64(p.records),
		"use fewer --records"); err != nil {
		return err
	}
	d, err := dataset.People(p.records, p.seed)
	if err != nil {
		return err
	}
	columns := d.Points.(*points.Mixed).Columns
	row := make([]string, len(columns)+2)
	err = dataset.WriteTable(p.out, slices.Concat([]string{"id"}, d.Features, []string{"person"}),
		func(yield func([]string, error) bool) {
			for i, id := range d.IDs {
				row[0], row[len(row)-1] = id, d.Labels[i]
				for c := range columns {
					row[c+1] = ""
					if code := columns[c].Codes[i]; code >= 0 {
						row[c+1] = columns[c].Levels[code]
					}
				}
				if !yield(row, ctx.Err()) {
					return
				}
			}
		}, p.WritingText())
	if err != nil {
		return err
	}
	people := slices.Clone(d.Labels)
	slices.Sort(people)
	r := peopleReport{p.records, len(slices.Compact(people)), p.out}
	return p.Summarize(p.out, r, r.text)
}
