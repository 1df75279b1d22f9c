package look

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/page"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type inspectCommand struct {
	*session.Session
	data  source.Data
	links source.Links
	max   int
	all   bool
	// number of suspicious links to list; seed is for their scores
	suspicious int
	seed       uint64
}

func newInspect(s *session.Session) *cobra.Command {
	i := &inspectCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "inspect MODEL [-i DATA -c LINKS]",
		Short: "show what is in a model, and which links it violates",
		Long: `Show the content of a model file: method, parameters, kernel, features and statistics of the method;
with --all every tensor with its shape and size, too.

With DATA and LINKS it also measures the links in the learned metric and lists the violated
ones, worst first: must-links longer than the median of random pairs of rows, and cannot-links
shorter than the median of the must-links (without must-links: than 5 % of random pairs).
Either the model did not learn such a link, or the link is mislabeled. A cannot-link between
rows that must-links join is listed with the path of must-links.

A model satisfies most of its training links, including mislabeled ones. --suspicious N finds
mislabeled links with fits that leave them out: every link is scored by metrics of several methods
(` + strings.Join(labelnoise.Metrics(), ", ") + `)
learned from other links, on the points as the model takes them. The N links that are most likely
mislabeled are listed; a score is the logarithm of the odds.`,
		Example: `  mustlink inspect model.mlk
  mustlink inspect model.mlk -i data.csv -c links.csv
  mustlink inspect model.mlk -i data.csv -c links.csv --suspicious 20 --json`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: s.Checked(i.check, i.run),
	}
	i.data.Flags(cmd)
	i.links.Flags(cmd)
	usage.FlagsOf(cmd).Int(&i.max, "max", 20, "list at most this many violated links; --json lists all",
		usage.Range(">= 1"))
	usage.FlagsOf(cmd).Bool(&i.all, "all", false, "list every column and tensor; --json always does")
	usage.FlagsOf(cmd).Int(&i.suspicious, "suspicious", 0,
		"list the `N` most suspicious links, scored by fits without them", usage.Range(">= 0"))
	usage.FlagsOf(cmd).Seed(&i.seed)
	return cmd
}

// inspectReport is the result of `mustlink inspect`.
type inspectReport struct {
	Model          string                 `json:"model"`
	Bytes          int64                  `json:"bytes"` // of the tensors
	FormatVersion  int                    `json:"format_version"`
	Method         string                 `json:"method"`
	Params         json.RawMessage        `json:"params,omitempty"`
	Kernel         string                 `json:"kernel,omitempty"`
	Features       []string               `json:"features,omitempty"`
	Scaling        string                 `json:"scaling"`
	Prepared       []string               `json:"prepared,omitempty"`
	Dim            int                    `json:"dim"`
	Status         statusReport           `json:"status"`
	Notices        []string               `json:"notices,omitempty"`
	Verdict        *mustlink.Verdict      `json:"verdict,omitempty"`
	LibraryVersion string                 `json:"library_version"`
	Build          string                 `json:"build"`
	Fingerprint    string                 `json:"fingerprint,omitempty"`
	Figures        []algorithms.Statistic `json:"figures"`
	Tensors        []tensorReport         `json:"tensors"`
	Calibration    *calibration.Summary   `json:"calibration,omitempty"`
	Links          *metric.LinkFit        `json:"links,omitempty"`
	Warnings       []string               `json:"warnings"`
	max            int
	all            bool
}

type statusReport struct {
	Converged  bool    `json:"converged"`
	Iterations int     `json:"iterations"`
	Message    string  `json:"message,omitempty"`
	Seconds    float64 `json:"seconds"`
}

type tensorReport struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"`
}

func (i *inspectCommand) run(ctx context.Context, args []string) error {
	r, fitted, err := i.model(ctx, args[0])
	if err != nil {
		return err
	}
	r.max, r.all = i.max, i.all
	if i.data.Path != "" {
		if r.Links, err = i.measure(ctx, fitted); err != nil {
			return err
		}
	}
	r.Warnings = i.Warnings()
	return i.Print(r, r.text)
}

func (i *inspectCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	check.Refuse(i.suspicious > 0 && i.links.Path == "",
		"--suspicious is given without links: want -i and -c")
	check.Refuse((i.data.Path == "") != (i.links.Path == ""),
		"only one of -i and -c is given: want both, or neither")
	if i.data.Path != "" {
		i.data.Check(check)
		i.links.Check(check)
	}
}

func (i *inspectCommand) model(ctx context.Context, path string) (*inspectReport, *catalog.Fitted, error) {
	file, fitted, err := metric.Load(ctx, i.Session, path)
	if err != nil {
		return nil, nil, err
	}
	h, about := file.Header, mustlink.NewModel(fitted, nil).Describe()
	r := &inspectReport{
		Model:         path,
		FormatVersion: h.FormatVersion,
		Method:        h.Method,
		Params:        h.Params,
		Kernel:        h.Kernel,
		Features:      h.Features,
		Scaling:       about.Preparation,
		Prepared:      about.Prepared,
		Dim:           about.Dim,
		Status: statusReport{about.Converged, about.Iterations, about.Message,
			about.Elapsed.Seconds()},
		Notices:        about.Notices,
		Verdict:        fitted.Verdict,
		LibraryVersion: h.LibraryVersion,
		Build:          h.Build,
		Fingerprint:    h.Fingerprint,
		Figures:        append([]algorithms.Statistic{}, about.Statistics...),
		Tensors:        tensors(file),
		Calibration:    fitted.Calibration.Summary(),
	}
	for _, t := range r.Tensors {
		r.Bytes += t.Bytes
	}
	return r, fitted, nil
}

func tensors(file *model.File) []tensorReport {
	var list []tensorReport
	for _, name := range slices.Sorted(maps.Keys(file.Tensors)) {
		t := file.Tensors[name]
		size := int64(8)
		if t.DType() == model.F32 {
			size = 4
		}
		list = append(list, tensorReport{name, string(t.DType()), append([]int{}, t.Shape...),
			size * int64(t.Len())})
	}
	return list
}

// measure measures the links in the learned metric.
func (i *inspectCommand) measure(ctx context.Context, fitted *catalog.Fitted) (*metric.LinkFit, error) {
	m, err := metric.Open(ctx, i.Session)
	if err != nil {
		return nil, err
	}
	d, err := i.data.For(fitted).ReadAtLeastTwo(ctx, i.Session)
	if err != nil {
		return nil, err
	}
	x, err := fitted.Prepare(d)
	if err != nil {
		return nil, err
	}
	set, err := i.links.Read(ctx, i.Session, d)
	if err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, fault.Data(i.links.Path, "it has no links: want at least one")
	}
	fit, err := metric.MeasureLinks(ctx, m.Eng, fitted.Model, x, set)
	if err != nil {
		return nil, err
	}
	fit.TrainingData = fitted.Trained(d)
	if i.suspicious == 0 {
		return fit, nil
	}
	ranked, err := m.RankLinks(ctx, d, x, set, i.links.Path, i.seed)
	if err != nil {
		return nil, err
	}
	fit.Suspicious = metric.FirstLinks(ranked, d, i.suspicious)
	return fit, nil
}

func (r *inspectReport) text(w io.Writer) {
	fmt.Fprintf(w, "model\t%s (%s of tensors, format version %d)\n", r.Model, fault.FormatBytes(r.Bytes),
		r.FormatVersion)
	fmt.Fprintf(w, "method\t%s\n", r.Method)
	if len(r.Params) > 0 {
		fmt.Fprintf(w, "parameters\t%s\n", metric.Params(r.Method, r.Params, r.Figures))
	}
	if len(r.Features) > 0 {
		fmt.Fprintf(w, "features\t%d: %s\n", len(r.Features), firstFew(r.Features, 8))
	}
	fmt.Fprintf(w, "scaling\t%s\n", r.Scaling)
	const screen = 20
	for k, line := range r.Prepared {
		if k == screen && !r.all {
			fmt.Fprintf(w, "columns\t%d more, which --all lists\n", len(r.Prepared)-screen)
			break
		}
		fmt.Fprintf(w, "column\t%s\n", line)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%v\n", f.Name, f.Value)
	}
	fmt.Fprintf(w, "status\t%s\n", metric.Status(r.Status.Converged, 0, r.Status.Message))
	for _, notice := range r.Notices {
		fmt.Fprintf(w, "notice\t%s\n", notice)
	}
	fmt.Fprintf(w, "made by\tmustlink %s, %s\n", r.LibraryVersion, r.Build)
	if r.Fingerprint != "" {
		fmt.Fprintf(w, "data\tsha256 %s\n", r.Fingerprint)
	}
	listed := r.Tensors
	if !r.all {
		fmt.Fprintf(w, "tensors\t%d, which --all lists\n", len(r.Tensors))
		listed = nil
	}
	for _, t := range listed {
		shape := session.NameOr(session.Joined(t.Shape, " x "), "single number")
		fmt.Fprintf(w, "tensor\t%s %s %s, %s\n", t.Name, t.Type, shape, fault.FormatBytes(t.Bytes))
	}
	if r.Calibration != nil {
		metric.WriteCalibration(w, r.Calibration)
	}
	metric.WriteVerdict(w, r.Verdict)
	if r.Links != nil {
		r.Links.Text(w, r.max)
	}
}

func firstFew(list []string, n int) string {
	var few []string
	for _, name := range list[:min(len(list), n)] {
		few = append(few, session.Clip(name, session.LongName))
	}
	if len(list) > n {
		few = append(few, "…")
	}
	return strings.Join(few, ", ")
}

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
	f := usage.FlagsOf(cmd)
	c.Flags(cmd)
	pictures.PlaneFlag(f, &c.Plane)
	f.String(&c.HeldOut, "held-out", "",
		"`LINKS` that no fit used: scores and importances are measured on them")
	f.Int(&c.Clusters, "clusters,n", 0, "number of clusters (default: as many as there are labels)",
		usage.Range(">= 2"))
	f.Int(&c.Seeds, "seeds", 5, "number of runs of k-means; scores are means over them", usage.Range(">= 1"))
	f.Int(&c.Suspicious, "suspicious", 0, "also list the `N` most suspicious links, as 'inspect' does",
		usage.Range(">= 0"))
	f.Int(&c.Features, "max-features", 64, "maximum number of features of the points on the page",
		usage.Range(">= 0"))
	f.Seed(&c.Seed)
	f.String(&c.Title, "title", "", "`TEXT` of the title (default: the name of the data)")
	f.String(&c.Output, "output,o", "", "the `FILE` to write, .html; - for standard output")
	f.Required("input", "output")
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
	check.Refuse(c.Suspicious > 0 && c.Links.Path == "", "--suspicious is given without links: want -c")
	check.Ending("-o, --output", c.Output, "html")
	check.Refuse(len(args) == 0 && c.Data.Gram,
		"--gram is given without MODEL: a Gram matrix has no coordinates; fit a model and pass it")
	check.Input("--held-out", c.HeldOut)
	c.Preparing.Check(check, len(args) > 0, &c.Data)
	check.Models(args)
	c.Data.Check(check)
	c.Links.Check(check)
	check.Output("-o, --output", c.Output)
}
