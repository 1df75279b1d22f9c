package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
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

// eachSuffix ends the metrics of which every cluster has its own.
const eachSuffix = "-each"

func mpckMetrics() []string {
	d, f := string(cluster.MetricDiagonal), string(cluster.MetricFull)
	return []string{d, f, d + eachSuffix, f + eachSuffix}
}

type clusterFlags struct {
	data      dataFlags
	links     linkFlags
	k         int
	algorithm string
	kernel    string
	scaling   scalingFlags
	metric    string
	weight    float64
	restarts  int
	seed      uint64
	streams   clusterStreamFlags
	out       string
}

// usesLinks says whether the algorithm does.
func (c *clusterFlags) usesLinks() bool {
	return c.algorithm == algConstrained || c.penalised()
}

// penalised says whether links may be broken at a price.
func (c *clusterFlags) penalised() bool { return c.algorithm == algPCK || c.algorithm == algMPCK }

func newCluster(a *app) *cobra.Command {
	var c clusterFlags
	cmd := &cobra.Command{
		Use:   "cluster [MODEL] -i DATA -n CLUSTERS -o LABELS",
		Short: "cluster points, with or without a learned metric",
		Long: `Cluster points and write the number of its cluster, 0 to CLUSTERS-1, for each row.

With MODEL the metric is the learned one, without it that of the raw points: the baseline
is one argument away. The algorithms (-a) are kmeans (k-means++ starts, the best of
--restarts), minibatch (mini-batch k-means, one pass over the rows), kernel (kernel k-means:
on the learned kernel, or on -k), constrained (k-means in which every link of -c holds; the
default when -c is given), pck (PCK-means: links of -c may be broken at a price) and mpck
(MPCK-means: as pck, and a metric is learned with the clusters).

Rows that memory does not hold: kmeans goes over a .csv, .npy or .parquet file once for every
iteration when the rows take more than a third of --memory-limit, or with --stream. It begins
with the clusters of a sample, and ends as k-means of all rows does. minibatch learns in one
pass, in which the order of the rows must not tell their clusters, and takes another one to
assign them. Learning by minibatch with --save-centers and without -o, and assigning to known
--centers, read the rows once: standard input will do.

When DATA carries labels, the summary scores the clusters against them.`,
		Example: `  mustlink cluster model.mlk -i data.csv -n 3 -o clusters.csv
  mustlink cluster -i data.csv -n 3 --standardize -o baseline.csv
  mustlink cluster model.mlk -i data.csv -n 3 -a constrained -c links.csv -o clusters.csv
  mustlink cluster -i huge.npy -n 100 --memory-limit 1GiB -o clusters.csv
  zcat rows.csv.gz | mustlink cluster -i - -n 100 -a minibatch --save-centers centers.npy
  zcat rows.csv.gz | mustlink cluster -i - --centers centers.npy -o clusters.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runCluster(cmd, args, &c) },
	}
	f := cmd.Flags()
	c.data.add(cmd)
	c.data.addLabels(cmd)
	f.IntVarP(&c.k, "clusters", "n", 0, "number of clusters")
	f.StringVarP(&c.algorithm, "algorithm", "a", "", "`"+strings.Join(algorithmNames(), "|")+"` (default kmeans; constrained with -c)")
	c.links.add(cmd)
	f.StringVarP(&c.kernel, "kernel", "k", "", "`KERNEL` of -a kernel without MODEL (default linear)")
	f.StringVar(&c.metric, "metric", mpckMetrics()[0], "`METRIC` of -a mpck: "+strings.Join(mpckMetrics(), ", ")+" (of every cluster its own)")
	f.Float64Var(&c.weight, "weight", 1, "price of a broken link of weight 1, for -a pck in units of the points' variance")
	c.scaling.add(f, "without MODEL: ", "to mean 0 and deviation 1")
	f.IntVar(&c.restarts, "restarts", cluster.DefaultRestarts, "starts, of which the best is kept")
	usage.SeedFlag(f, &c.seed)
	c.streams.add(cmd)
	f.StringVarP(&c.out, "output", "o", "", "the file of `LABELS` to write; - for standard output")
	usage.CompleteWith(cmd, "algorithm", algorithmNames()...)
	usage.CompleteWith(cmd, "metric", mpckMetrics()...)
	completeKernels(cmd)
	return cmd
}

// clusterReport is what `mustlink cluster` prints.
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
	Passes     int           `json:"passes,omitempty"` // over rows that were not held
	Scores     *score.Report `json:"scores,omitempty"`
	Output     string        `json:"output"`
	Centers    string        `json:"centers,omitempty"` // the file of --save-centers
	Warnings   []string      `json:"warnings"`
}

func (a *app) runCluster(cmd *cobra.Command, args []string, c *clusterFlags) error {
	if err := a.checkCluster(cmd, args, c); err != nil {
		return err
	}
	m, err := a.metric(cmd.Context(), args...)
	if err != nil {
		return err
	}
	work := m.holdCluster
	if c.streamed() {
		work = m.streamCluster
	}
	r, err := work(cmd.Context(), c)
	if err == errTooManyRows {
		a.Warnf("%s: there are too many rows to hold within the memory limit: k-means goes over the file instead", c.data.path)
		r, err = m.streamCluster(cmd.Context(), c)
	}
	if err != nil {
		return err
	}
	if !r.Converged {
		a.Warnf("clustering stopped at %s before it converged", session.Plural(r.Iterations, "iteration"))
	}
	r.Warnings = a.Warnings()
	return a.Summarize(c.out, r, r.text)
}

// holdCluster clusters rows that are held, and writes the clusters.
func (m *metric) holdCluster(ctx context.Context, c *clusterFlags) (*clusterReport, error) {
	flags := *m.flags(&c.data)
	if c.mayStream(m.app) {
		flags.share = heldTimes
	}
	d, err := m.readData(ctx, &flags)
	if c.mayStream(m.app) && m.tooManyRows(d, err) {
		return nil, errTooManyRows
	}
	if err != nil {
		return nil, err
	}
	if c.k > d.Points.Len() {
		return nil, usage.Errorf("-n, --clusters is %d: want at most %d, the number of rows of %s", c.k, d.Points.Len(), d.Name)
	}
	result, err := m.cluster(ctx, d, c)
	if err != nil {
		return nil, err
	}
	labels := make([]string, len(result.Labels))
	for i, l := range result.Labels {
		labels[i] = strconv.Itoa(l)
	}
	r := c.report(m, d, result, labels)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.saveCenters(ctx, c, result.Centers); err != nil || c.out == "" {
		return r, err
	}
	return r, dataset.WriteLabels(c.out, labels, d.IDs, m.WritingText())
}

// checkCluster finds every mistake that shows before data are read.
func (a *app) checkCluster(cmd *cobra.Command, args []string, c *clusterFlags) error {
	check := a.Check(cmd)
	check.Required(c.needed()...)
	c.check(check, len(args) > 0)
	check.Models(args)
	c.data.check(check)
	c.links.check(check)
	check.Input("--centers", c.streams.centers)
	if c.streams.saveCenters != "" {
		check.Matrix("--save-centers", c.streams.saveCenters, "")
	}
	check.Output("-o, --output", c.out)
	return check.Err
}

// needed returns the flags that must be given.
func (c *clusterFlags) needed() []string {
	list := []string{"input"}
	if c.streams.centers == "" {
		list = append(list, "clusters")
	}
	if c.streams.saveCenters == "" {
		list = append(list, "output")
	}
	return list
}

func (c *clusterFlags) check(check *session.Checks, model bool) {
	given := check.Cmd.Flags().Changed
	if c.algorithm == "" {
		c.algorithm = algKMeans
		if c.links.path != "" {
			c.algorithm = algConstrained
		}
	}
	check.OneOf("-a, --algorithm", c.algorithm, algorithmNames())
	check.OneOf("--metric", c.metric, mpckMetrics())
	if c.streams.centers == "" || given("clusters") {
		check.Least("-n, --clusters", c.k, 1)
	}
	check.Least("--restarts", c.restarts, 1)
	check.Refuse(c.usesLinks() && c.links.path == "", "-a %s needs links: want -c LINKS %s", c.algorithm, usage.HelpHint(check.Cmd))
	check.Refuse(!c.usesLinks() && c.links.path != "", "-c is given, but -a %s uses no links: want -a constrained, pck or mpck", c.algorithm)
	check.Refuse(given("metric") && c.algorithm != algMPCK, "--metric is for -a mpck, not %s", c.algorithm)
	check.Refuse(given("weight") && !c.penalised(), "--weight is for -a pck and mpck, not %s", c.algorithm)
	check.Refuse(!(c.weight > 0), "--weight is %v: want a number > 0", c.weight)
	check.Refuse(c.kernel != "" && (model || c.algorithm != algKernel), "-k is for -a kernel without MODEL: want no -k here")
	c.scaling.check(check, model, c.data.gram)
	c.checkStream(check, model)
	check.Do(func() error {
		_, err := c.spec()
		return usage.RenameParams(err, "kernel", "-k, --kernel")
	})
}

func (c *clusterFlags) spec() (kernel.Spec, error) {
	return kernel.Parse(session.NameOr(c.kernel, "linear"))
}

// penalties returns the parameters of pck and mpck.
func (c *clusterFlags) penalties(p cluster.Params) cluster.PenalizedParams {
	out := cluster.PenalizedParams{Params: p, Weight: c.weight, Metric: cluster.MetricNone}
	if c.algorithm == algMPCK {
		name, each := strings.CutSuffix(c.metric, eachSuffix)
		out.Metric, out.Each = cluster.Metric(name), each
	}
	return out
}

// partition is a result, with the number of broken links where they may be.
type partition struct {
	*cluster.Result
	broken *int
}

// cluster runs the algorithm on the learned metric, or on the raw points without a model.
func (m *metric) cluster(ctx context.Context, d *dataset.Data, c *clusterFlags) (*partition, error) {
	var set *links.Set
	if c.usesLinks() {
		var err error
		if set, err = m.readLinks(ctx, &c.links, d); err != nil {
			return nil, err
		}
	}
	table, err := c.scaling.apply(m.app, d)
	if err != nil {
		return nil, err
	}
	d = table.Data()
	bar := m.Progress()
	defer bar.Done()
	p := cluster.Params{K: c.k, Restarts: c.restarts, Seed: c.seed, Progress: bar.Report}
	if c.algorithm == algKernel {
		k, err := m.gram(ctx, d, c)
		if err != nil {
			return nil, err
		}
		r, err := cluster.Kernel(ctx, m.eng, k, p)
		return &partition{Result: r}, fault.InFile(err, d.Name)
	}
	x, err := m.coordinates(ctx, d)
	if err != nil {
		return nil, err
	}
	switch {
	case c.penalised():
		r, err := cluster.Penalized(ctx, m.eng, x, set, c.penalties(p))
		if err != nil {
			return nil, fault.InFile(err, d.Name)
		}
		return &partition{&r.Result, &r.Violated}, nil
	case set != nil:
		r, err := cluster.Constrained(ctx, m.eng, x, set, p)
		return &partition{Result: r}, fault.InFile(usage.RenameParams(err, "number of clusters", "-n, --clusters"), c.links.path)
	}
	r, err := cluster.KMeans(ctx, m.eng, x, p)
	return &partition{Result: r}, fault.InFile(err, d.Name)
}

// gram returns the learned kernel matrix of d, or that of -k without a model.
func (m *metric) gram(ctx context.Context, d *dataset.Data, c *clusterFlags) (k blas.Matrix, err error) {
	x, err := m.points(d)
	if err != nil {
		return k, err
	}
	if m.fitted != nil {
		k, err = m.fitted.Model.Gram(ctx, m.eng, x, nil)
	} else {
		k, err = c.rawGram(ctx, m.eng, x)
	}
	return k, fault.InFile(err, d.Name)
}

func (c *clusterFlags) rawGram(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	spec, err := c.spec()
	if err != nil {
		return blas.Matrix{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return blas.Matrix{}, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return blas.Matrix{}, err
	}
	return k.Gram(ctx, eng, x)
}

func (c *clusterFlags) report(m *metric, d *dataset.Data, result *partition, labels []string) *clusterReport {
	r := &clusterReport{
		Algorithm:  c.algorithm,
		Metric:     m.name(),
		N:          len(result.Labels),
		Clusters:   c.k,
		Sizes:      make([]int, c.k),
		Inertia:    result.Inertia,
		Broken:     result.broken,
		Iterations: result.Iterations,
		Converged:  result.Converged,
		Restart:    result.Restart,
		Output:     c.out,
		Centers:    c.streams.saveCenters,
	}
	for _, l := range result.Labels {
		r.Sizes[l]++
	}
	if d.Labels != nil {
		// Labels that cannot be scored, such as a single one, are no reason to fail.
		r.Scores, _ = score.All(score.Input{Truth: d.Labels, Predicted: labels})
	}
	return r
}

func (r *clusterReport) text(w io.Writer) {
	fmt.Fprintf(w, "algorithm\t%s on the %s metric\n", r.Algorithm, r.Metric)
	fmt.Fprintf(w, "sizes\t%s\n", session.Joined(r.Sizes, " "))
	fmt.Fprintf(w, "inertia\t%.6g%s\n", r.Inertia, r.way())
	if r.Broken != nil {
		fmt.Fprintf(w, "broken links\t%d\n", *r.Broken)
	}
	scoresLine(w, r.Scores)
	if r.Centers != "" {
		fmt.Fprintf(w, "centres\t%s\n", r.Centers)
	}
	if r.Output != "" {
		fmt.Fprintf(w, "clusters\t%s\n", r.Output)
	}
}

// way says how the inertia was reached.
func (r *clusterReport) way() string {
	switch {
	case r.Iterations == 0 && r.Passes == 0: // given centres
		return ""
	case r.Algorithm == algMiniBatch:
		return fmt.Sprintf(" after %s (%s)", counted(r.Iterations, "batch", "batches"), counted(r.Passes, "pass", "passes"))
	case r.Passes > 0:
		return fmt.Sprintf(" after %s (%s)", session.Plural(r.Iterations, "iteration"), counted(r.Passes, "pass", "passes"))
	}
	return fmt.Sprintf(" after %s (start %d)", session.Plural(r.Iterations, "iteration"), r.Restart)
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// scoresLine writes the scores against the labels of the data on one line.
func scoresLine(w io.Writer, r *score.Report) {
	if r == nil {
		return
	}
	var scores []string
	for _, f := range r.Figures() {
		scores = append(scores, fmt.Sprintf("%s %v", f.Name, session.Number(f.Value)))
	}
	fmt.Fprintf(w, "against the labels\t%s\n", strings.Join(scores, ", "))
}
