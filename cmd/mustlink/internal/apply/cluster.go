package apply

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// The clustering algorithms of -a.
const (
	algKMeans      = "kmeans"
	algMiniBatch   = "minibatch"
	algKernel      = "kernel"
	algConstrained = "constrained"
	algPCK         = "pck"
	algMPCK        = "mpck"
)

func algorithmNames() []string {
	return []string{algKMeans, algMiniBatch, algKernel, algConstrained, algPCK, algMPCK}
}

// eachSuffix ends the names of metrics that each cluster has one of.
const eachSuffix = "-each"

func mpckMetrics() []string {
	d, f := string(cluster.MetricDiagonal), string(cluster.MetricFull)
	return []string{d, f, d + eachSuffix, f + eachSuffix}
}

type clusterCommand struct {
	*session.Session
	m         *metric.Metric
	data      source.Data
	links     source.Links
	k         int
	algorithm string
	kernel    string
	preparing source.Preparing
	metric    string // of mpck
	weight    float64
	restarts  int
	seed      uint64
	stream    bool   // read the rows repeatedly instead of keeping them
	passes    int    // of minibatch
	centers   string // the file to read them from
	saveTo    string // the file to write centers to
	grouping
	out string
}

// usesLinks reports whether the algorithm uses links.
func (c *clusterCommand) usesLinks() bool {
	return c.algorithm == algConstrained || c.penalized()
}

// penalized reports whether the algorithm may violate links at a price.
func (c *clusterCommand) penalized() bool { return c.algorithm == algPCK || c.algorithm == algMPCK }

func newCluster(s *session.Session) *cobra.Command {
	c := &clusterCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "cluster [MODEL] -i DATA [-n CLUSTERS] -o LABELS",
		Short: "cluster points, with or without a learned metric",
		Long: `Cluster points and write the cluster of each row, a number from 0 to CLUSTERS-1.

With MODEL the metric is the learned one, without it that of the raw points (the baseline).
Without -n the nearest rows merge into groups of any size, such as the records of one customer. It
ends where the mean distance of two groups, or what --linkage says, is above --distance, or that of
--precision, or, with neither, where a calibrated MODEL gives two rows a probability of 1/2 to belong
together. With -n and --linkage it ends at so many groups: Ward's linkage, whose heights grow with
the groups, is best used so. --min-size K finds groups by density, without a distance; other rows
have the label -1. Links of -c are kept exactly, and so are the columns of --distinct, of which a
group has a value once, and of --distinct-within, whose values in a group are not nearer than a
width; the summary says which merges they forbade. A column of photo numbers is for --distinct, one
of times for --distinct-within. Of more than 2000 rows, groups merge along --neighbors of each row,
which --approximate finds faster.

The algorithms (-a) for -n are:

  kmeans       k-means with k-means++ starts, the best of --restarts; the default without -c
  minibatch    mini-batch k-means, which reads the rows once to learn
  kernel       kernel k-means on the learned kernel, or on -k
  constrained  k-means that satisfies every link of -c; the default with -c
  pck          PCK-means: links of -c may be violated at a price
  mpck         MPCK-means: as pck, and learns a metric with the clusters

Rows need not fit in memory. If they take more than a third of --memory-limit, or with --stream,
kmeans reads a ` + session.Endings(" or ") + ` file once for every iteration. It starts from the clusters
of a sample and converges like k-means of all rows. minibatch learns in one pass, for which the
rows must be in random order, and assigns the rows to clusters in another. Standard input is
allowed where rows are read once: minibatch with --save-centers and without -o, and assigning rows
to known --centers.

If DATA has labels, the summary scores the clusters against them.`,
		Example: `  mustlink cluster model.mlk -i data.csv -n 3 -o clusters.csv
  mustlink cluster -i data.csv -n 3 --standardize -o baseline.csv
  mustlink cluster model.mlk -i data.csv -n 3 -a constrained -c links.csv -o clusters.csv
  mustlink cluster calibrated.mlk -i data.csv --distinct source -o groups.csv
  mustlink cluster model.mlk -i faces.csv --min-size 4 --distinct-within taken=30s -o people.csv
  mustlink cluster model.mlk -i data.csv -n 77 --linkage ward -c links.csv -o groups.csv
  mustlink cluster -i huge.npy -n 100 --memory-limit 1GiB -o clusters.csv
  zcat rows.csv.gz | mustlink cluster -i - -n 100 -a minibatch --save-centers centers.npy
  zcat rows.csv.gz | mustlink cluster -i - --centers centers.npy -o clusters.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	f.Int(&c.k, "clusters,n", 0, "number of clusters; without it, rows that are near are groups",
		usage.Range(">= 1"))
	c.grouping.flags(f)
	f.String(&c.algorithm, "algorithm,a", "",
		"`"+strings.Join(algorithmNames(), "|")+"` (default kmeans; constrained with -c)",
		usage.OneOf(algorithmNames()...))
	c.links.Flags(cmd)
	f.String(&c.kernel, "kernel,k", "", "`KERNEL` of -a kernel without MODEL (default linear)")
	f.String(&c.metric, "metric", mpckMetrics()[0],
		"`METRIC` of -a mpck: "+strings.Join(mpckMetrics(), ", ")+" (one for each cluster)",
		usage.OneOf(mpckMetrics()...))
	f.Float(&c.weight, "weight", 1,
		"price of a violated link of weight 1; for -a pck in units of the points' variance", usage.Range("> 0"))
	c.preparing.Flags(cmd, "without MODEL: ")
	f.Int(&c.restarts, "restarts", cluster.DefaultRestarts, "number of starts; the best result is kept",
		usage.Range(fmt.Sprintf(">= 1, <= %d", cluster.MaxRestarts),
			fmt.Sprintf("1 to %d", cluster.MaxRestarts)))
	f.Seed(&c.seed)
	f.Bool(&c.stream, "stream", false,
		"for -a kmeans: read the rows several times instead of keeping them in memory; the default if they "+
			"take more than a third of --memory-limit")
	f.Int(&c.passes, "passes", 1, "how many times -a minibatch reads the rows to learn", usage.Range(">= 1"))
	f.String(&c.centers, "centers", "",
		"`FILE` of centers, one in each row (.csv, .npy): assign rows to the nearest center, without learning")
	f.String(&c.saveTo, "save-centers", "", "`FILE` to write the centers to (.csv, .npy), for --centers")
	f.String(&c.out, "output,o", "", "the file of `LABELS` to write; - for standard output")
	topics.CompleteKernels(cmd)
	return cmd
}

func (c *clusterCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	if c.m = m; c.grouped {
		return c.group(ctx, args)
	}
	work := c.clusterInMemory
	if c.streamed() {
		work = c.clusterStreamed
	}
	r, err := work(ctx)
	if err == errTooManyRows {
		c.Warnf("%s: the rows exceed the memory limit: k-means reads the file once for every iteration "+
			"instead", c.data.Path)
		r, err = c.clusterStreamed(ctx)
	}
	if err != nil {
		return err
	}
	if !r.Converged {
		c.Warnf("clustering stopped at %s before it converged", fault.Count(r.Iterations, "iteration"))
	}
	if c.centers == "" { // given centers may well be far from all rows
		for _, notice := range cluster.Notices(r.Sizes) {
			c.Warnf("%s", notice)
		}
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

func (c *clusterCommand) spec() (kernel.Spec, error) {
	return kernel.Parse(session.NameOr(c.kernel, "linear"))
}

// clusterReport is the result of `mustlink cluster`.
type clusterReport struct {
	Algorithm  string        `json:"algorithm"`
	Metric     string        `json:"metric"` // the model's method, or "raw"
	N          int           `json:"n"`
	Clusters   int           `json:"clusters"`
	Sizes      []int         `json:"sizes"`
	Inertia    float64       `json:"inertia"`
	Broken     *int          `json:"broken_links,omitempty"`
	Iterations int           `json:"iterations"`
	Converged  bool          `json:"converged"`
	Restart    int           `json:"restart"`
	Passes     int           `json:"passes,omitempty"` // over streamed rows
	Scores     *score.Report `json:"scores,omitempty"`
	Output     string        `json:"output"`
	Centers    string        `json:"centers,omitempty"` // the file of --save-centers
	Warnings   []string      `json:"warnings"`
}

func (r *clusterReport) text(w io.Writer) {
	fmt.Fprintf(w, "algorithm\t%s on the %s metric\n", r.Algorithm, r.Metric)
	fmt.Fprintf(w, "sizes\t%s\n", session.Joined(r.Sizes, " "))
	fmt.Fprintf(w, "inertia\t%.6g%s\n", r.Inertia, r.iterationsText())
	if r.Broken != nil {
		fmt.Fprintf(w, "violated links\t%d\n", *r.Broken)
	}
	scoresLine(w, r.Scores)
	if r.Centers != "" {
		fmt.Fprintf(w, "centers\t%s\n", r.Centers)
	}
	if r.Output != "" {
		fmt.Fprintf(w, "clusters\t%s\n", r.Output)
	}
}

// iterationsText describes the iterations that led to the inertia.
func (r *clusterReport) iterationsText() string {
	switch {
	case r.Iterations == 0 && r.Passes == 0: // given centers
		return ""
	case r.Algorithm == algMiniBatch:
		return fmt.Sprintf(" after %s (%s)", fault.Count(r.Iterations, "batch"),
			fault.Count(r.Passes, "pass"))
	case r.Passes > 0:
		return fmt.Sprintf(" after %s (%s)", fault.Count(r.Iterations, "iteration"),
			fault.Count(r.Passes, "pass"))
	}
	return fmt.Sprintf(" after %s (start %d)", fault.Count(r.Iterations, "iteration"), r.Restart)
}

// scoresLine writes the scores against the labels of the data on one line.
func scoresLine(w io.Writer, r *score.Report) {
	if r == nil {
		return
	}
	var scores []string
	for _, f := range r.Scores() {
		scores = append(scores, fmt.Sprintf("%s %v", f.Name, session.Number(f.Value)))
	}
	of := ""
	if r.Unlabeled > 0 {
		of = " of " + fault.Count(r.N, "row")
	}
	fmt.Fprintf(w, "against the labels%s\t%s\n", of, strings.Join(scores, ", "))
}

// check finds mistakes that do not require the data.
func (c *clusterCommand) check(check *session.Checks, args []string) {
	_, notNumber := strconv.Atoi(c.kernel)
	check.Refuse(c.k == 0 && notNumber == nil, "-k is the kernel: want -n %s for %s clusters", c.kernel, c.kernel)
	check.Required("input")
	if c.saveTo == "" {
		check.Required("output")
	}
	c.checkFlags(check, len(args) > 0)
	check.Models(args)
	c.data.Check(check)
	c.data.LabelOptional = len(args) > 0
	c.links.Check(check)
	check.Input("--centers", c.centers)
	if c.saveTo != "" {
		check.Matrix("--save-centers", c.saveTo, "")
	}
	check.Output("-o, --output", c.out)
}

// checkFlags refuses flags that exclude each other.
func (c *clusterCommand) checkFlags(check *session.Checks, model bool) {
	given := check.Cmd.Flags().Changed
	if c.grouped = c.centers == "" && (!given("clusters") || c.linkage != ""); c.grouped {
		c.checkGroups(check, model)
		return
	}
	for _, name := range ofGroups {
		check.Refuse(given(name), "--%s is for groups, not -a %s: want --linkage with it, or no -n %s", name,
			session.NameOr(c.algorithm, algKMeans), usage.HelpHint(check.Cmd))
	}
	if c.algorithm == "" {
		c.algorithm = algKMeans
		if c.links.Path != "" {
			c.algorithm = algConstrained
		}
	}
	check.Refuse(c.usesLinks() && c.links.Path == "", "-a %s is given without links: want -c LINKS %s",
		c.algorithm, usage.HelpHint(check.Cmd))
	check.Refuse(!c.usesLinks() && c.links.Path != "",
		"-c is given, but -a %s uses no links: want -a constrained, pck or mpck", c.algorithm)
	check.Refuse(given("metric") && c.algorithm != algMPCK, "--metric is for -a mpck, not %s", c.algorithm)
	check.Refuse(given("weight") && !c.penalized(), "--weight is for -a pck and mpck, not %s", c.algorithm)
	check.Refuse(c.kernel != "" && (model || c.algorithm != algKernel),
		"-k is for -a kernel without MODEL: want no -k")
	if c.centers != "" || c.saveTo != "" || !source.CanReadTwice(c.data.Path) {
		c.preparing.TakeAsRead()
	}
	c.preparing.Check(check, model, &c.data)
	c.checkStream(check, model)
	check.Do(func() error {
		_, err := c.spec()
		return usage.RenameParams(err, "kernel", "-k, --kernel")
	})
}

// checkStream refuses flags that exclude each other, and work that a pipe does not allow.
func (c *clusterCommand) checkStream(check *session.Checks, model bool) {
	given := check.Cmd.Flags().Changed
	for _, name := range []string{"algorithm", "links", "restarts", "seed", "stream", "passes",
		"save-centers"} {
		check.Refuse(c.centers != "" && given(name),
			"--%s is given with --centers: want one of them, --centers learns nothing", name)
	}
	check.Refuse(given("passes") && c.algorithm != algMiniBatch, "--passes is for -a minibatch, not %s",
		c.algorithm)
	check.Refuse(c.stream && c.algorithm != algKMeans, "--stream is for -a kmeans, not %s", c.algorithm)
	check.Refuse(c.saveTo != "" && (c.algorithm == algKernel || c.penalized()),
		"--save-centers is given, but the clusters of -a %s are not those of the nearest centers: want -a "+
			"kmeans, minibatch or constrained", c.algorithm)
	asked := c.preparing.Asked()
	check.Refuse(asked != "" && (c.centers != "" || c.saveTo != ""),
		"%s is given with a file of centers, which does not contain the preparation: want a MODEL, which does", asked)
	check.Refuse(c.preparing.Weighs() && c.streamed(),
		"--tfidf is given, but the terms of streamed rows are not counted: want a MODEL, which has their "+
			"weights")
	check.Refuse(c.data.Gram && c.streamed() && !model,
		"--gram is given without MODEL: want -a kernel, a Gram matrix has no coordinates")
	c.checkPasses(check)
}

// checkPasses refuses to read rows several times that can be read only once.
func (c *clusterCommand) checkPasses(check *session.Checks) {
	if source.CanReadTwice(c.data.Path) || c.centers != "" {
		return
	}
	from := c.data.Path + " is not a regular file and"
	if c.data.Path == session.Stream {
		from = "standard input"
	}
	check.Refuse(c.stream,
		"--stream reads the rows several times, but %s can be read only once: want a file, or -a minibatch "+
			"--save-centers FILE", from)
	check.Refuse(c.passes > 1, "--passes is %d, but %s can be read only once: want 1, or a file", c.passes,
		from)
	check.Refuse(c.algorithm == algMiniBatch && c.out != "",
		"-a minibatch learns in one pass and assigns in another, but %s can be read only once: want a "+
			"file, or --save-centers FILE without -o, then --centers FILE", from)
}
