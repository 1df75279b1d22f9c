package look

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/page"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type reportCommand struct {
	*session.Session
	page.Options
}

func newReport(s *session.Session) *cobra.Command {
	c := &reportCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "report [MODEL]... -i DATA [-c LINKS] -o FILE.html",
		Short: "write one HTML page about data, links and models",
		Long: `Write one HTML file about data, links and learned metrics. It requires no network and no other file. It
opens with the verdict of each model on held-out links, if its fit was judged, and what the method did.
Then it shows the points before and after learning (colored by label, cluster or feature; rows named under
the pointer, with their nearest neighbors on a click; links shown or hidden, satisfied or violated), scores
without and with each metric, ROC curves, the columns that the metric uses, the violated links as a table
to sort and filter, traces and spectra, parameters, warnings, and the command that reproduces the page.

"raw" is the distance of the prepared points without learning. Numbers on training rows, and on the links
that a model learned from, are called in-sample. --held-out names links that no fit used, for scores.

More than two dimensions are drawn by a neighbor embedding (t-SNE) of up to 1500 rows, which --seed draws:
near rows stay near, so that clusters are seen, but the axes and the distances of clusters have no meaning.
--plane components draws principal components.

A linear metric's importance of a column is exact: its share of the mean squared distance of two rows,
as if only one column differed. For others it is the loss of AUC of the links when the column is permuted.

Clusters are those of k-means with -n clusters (default: as many as there are labels), scores are means over
--seeds runs. All points are drawn; links are hidden at first.`,
		Example: `  mustlink report model.mlk -i data.csv -c links.csv -o report.html
  mustlink report krca.mlk itml.mlk -i data.csv -c links.csv -n 3 --title "two metrics" -o report.html
  mustlink report -i data.csv -c links.csv --standardize -o before.html`,
		Args: cobra.ArbitraryArgs,
		RunE: s.Checked(c.check, c.run),
	}
	f := cmd.Flags()
	c.Flags(cmd)
	pictures.PlaneFlag(f, &c.Plane)
	f.StringVar(&c.HeldOut, "held-out", "", "`LINKS` that no fit used: scores and importances are measured on them")
	f.IntVarP(&c.Clusters, "clusters", "n", 0, "number of clusters (default: as many as there are labels)")
	f.IntVar(&c.Seeds, "seeds", 5, "number of runs of k-means; scores are means over them")
	f.IntVar(&c.Suspicious, "suspicious", 0, "also list the `N` most suspicious links, as 'inspect' does")
	f.IntVar(&c.Features, "max-features", 64, "maximum number of features of the points on the page")
	usage.SeedFlag(f, &c.Seed)
	f.StringVar(&c.Title, "title", "", "`TEXT` of the title (default: the name of the data)")
	f.StringVarP(&c.Output, "output", "o", "", "the `FILE` to write, .html; - for standard output")
	return cmd
}

func (c *reportCommand) run(ctx context.Context, args []string) error {
	r, err := page.Write(ctx, c.Session, &c.Options, args)
	if err != nil {
		return err
	}
	return c.Summarize(c.Output, r, r.Text)
}

// check finds mistakes that do not require the data.
func (c *reportCommand) check(check *session.Checks, args []string) {
	c.Command = usage.Again(check.Cmd, args)
	check.Required("input", "output")
	check.AtLeast("--seeds", c.Seeds, 1)
	check.AtLeast("--suspicious", c.Suspicious, 0)
	check.Refuse(c.Suspicious > 0 && c.Links.Path == "", "--suspicious is given without links: want -c")
	check.AtLeast("--max-features", c.Features, 0)
	check.Refuse(c.Clusters < 0 || c.Clusters == 1, "-n, --clusters is %d: want a number >= 2", c.Clusters)
	check.Ending("-o, --output", c.Output, "html")
	check.Refuse(len(args) == 0 && c.Data.Gram, "--gram is given without MODEL: a Gram matrix has no coordinates; fit a model and pass it")
	pictures.CheckPlane(check, c.Plane)
	check.Input("--held-out", c.HeldOut)
	c.Preparing.Check(check, len(args) > 0, &c.Data)
	check.Models(args)
	c.Data.Check(check)
	c.Links.Check(check)
	check.Output("-o, --output", c.Output)
}
