package train

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// The values of --search.
const (
	shortSearch = "short" // the defaults of each method
	longSearch  = "long"  // the grids of `mustlink select`
)

// searching is the flag of fit that searches among methods before it fits.
type searching struct {
	how string // "" for no search
}

func (c *searching) flag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.how, "search", "", "choose by held-out links among several methods (short), or also kernels and parameters as 'mustlink select' does (long)")
	f.Lookup("search").NoOptDefVal = shortSearch
	usage.CompleteWith(cmd, "search", shortSearch, longSearch)
}

// options returns the search among the methods of the names, or among the usual ones.
func (c *searching) options(seed uint64, names []string) (o selection.Options, err error) {
	o = selection.DefaultOptions()
	o.Seed = seed
	switch c.how {
	case shortSearch:
		if len(names) == 0 {
			names = selection.Methods()
		}
		o.Candidates, err = selection.Grid(names, nil)
	case longSearch:
		o.Candidates, err = selection.Defaults(names)
	default:
		err = fault.Unknown("--search", c.how, []string{shortSearch, longSearch})
	}
	o.Incumbent = selection.FirstChoice(o.Candidates)
	return o, err
}

// searchReport is the result of a search before a fit.
type searchReport struct {
	*selection.Result
	how string
}

// search selects a candidate by held-out links.
func (t *training) search(ctx context.Context, eng *engine.Engine, table *mustlink.Table, set *links.Set, o selection.Options) (*selection.Result, error) {
	bar := t.Progress()
	defer bar.Done()
	o.Progress, o.Files = bar.Report, &t.files
	return selection.Select(ctx, eng, table.Data().Points, set, o)
}

// text writes the result on a line, and what a longer search would take.
func (r *searchReport) text(w io.Writer) {
	const most = 3
	fmt.Fprintf(w, "search\t%s, %s in %s;", session.Plural(len(r.Trials), "candidate"), session.Plural(r.Fits, "fit"), session.ShortTime(r.Seconds))
	for k, t := range r.Trials {
		if k < most && t.Error == "" {
			fmt.Fprintf(w, " %s %.3f,", t.Candidate, t.Mean)
		}
	}
	if r.Raw != nil {
		fmt.Fprintf(w, " raw %.3f", r.Raw.Mean)
	}
	if r.Best.Method == selection.Raw {
		fmt.Fprintf(w, "; none is clearly better than raw")
	}
	if r.how == shortSearch {
		all, err := selection.Defaults(nil)
		if err == nil {
			fmt.Fprintf(w, "; --search=long tries %d", len(all))
		}
	}
	fmt.Fprintln(w)
}
