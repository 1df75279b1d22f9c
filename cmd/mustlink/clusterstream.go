package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// clusterStreamFlags are the flags for rows that are not held.
type clusterStreamFlags struct {
	stream      bool
	passes      int
	centers     string
	saveCenters string
}

func (c *clusterStreamFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.stream, "stream", false, "for -a kmeans: go over the rows several times instead of holding them, as is done of itself when they take more than a third of --memory-limit")
	f.IntVar(&c.passes, "passes", 1, "how often -a minibatch goes over the rows to learn")
	f.StringVar(&c.centers, "centers", "", "`FILE` of centres, one a row (.csv, .npy): assign to the nearest of these and learn nothing")
	f.StringVar(&c.saveCenters, "save-centers", "", "`FILE` to write the centres to (.csv, .npy), for --centers")
}

// streamed says whether the rows are not held.
func (c *clusterFlags) streamed() bool {
	return c.streams.stream || c.streams.centers != "" || c.algorithm == algMiniBatch
}

// checkStream reports flags that do not go together, and what cannot be done with a pipe.
func (c *clusterFlags) checkStream(check *session.Checks, model bool) {
	s, given := &c.streams, check.Cmd.Flags().Changed
	for _, name := range []string{"algorithm", "links", "restarts", "seed", "stream", "passes", "save-centers"} {
		check.Refuse(s.centers != "" && given(name), "--%s is given with --centers, which learns nothing: want one of the two", name)
	}
	check.Refuse(given("passes") && c.algorithm != algMiniBatch, "--passes is for -a minibatch, not %s", c.algorithm)
	check.Least("--passes", s.passes, 1)
	check.Refuse(s.stream && c.algorithm != algKMeans, "--stream is for -a kmeans, not %s", c.algorithm)
	check.Refuse(s.saveCenters != "" && (c.algorithm == algKernel || c.penalised()),
		"--save-centers is given, but -a %s does not assign to centres alone: want -a kmeans, minibatch or constrained", c.algorithm)
	check.Refuse(c.scaling.any() && (s.centers != "" || s.saveCenters != ""),
		"%s is given with centres: these would be of scaled columns, which other rows do not have: want a MODEL that scales", c.scaling.name())
	check.Refuse(c.scaling.any() && c.streamed(), "%s is given, but rows that are not held are not scaled: want a MODEL that scales, or scaled data", c.scaling.name())
	check.Refuse(c.data.gram && c.streamed() && !model, "--gram is given without MODEL: a Gram matrix has no coordinates, want -a kernel")
	c.checkPasses(check)
}

// checkPasses reports rows that would be read more often than they can be.
func (c *clusterFlags) checkPasses(check *session.Checks) {
	if readTwice(c.data.path) || c.streams.centers != "" {
		return
	}
	from := c.data.path + " is no regular file and"
	if c.data.path == session.Stream {
		from = "standard input"
	}
	check.Refuse(c.streams.stream, "--stream goes over the rows several times, but %s can be read only once: want a file, or -a minibatch --save-centers FILE", from)
	check.Refuse(c.streams.passes > 1, "--passes is %d, but %s can be read only once: want 1, or a file", c.streams.passes, from)
	check.Refuse(c.algorithm == algMiniBatch && c.out != "",
		"-a minibatch learns in one pass and assigns in another, but %s can be read only once: want a file, or --save-centers FILE without -o, then --centers FILE", from)
}

// mayStream says whether the algorithm can go on without holding rows that turn out to be too many.
func (c *clusterFlags) mayStream(a *app) bool {
	return c.algorithm == algKMeans && !c.scaling.any() && readTwice(c.data.path) && inBlocks(c.data.path, c.data.options(a))
}

// errTooManyRows says that k-means should go over the file instead of holding its rows.
var errTooManyRows = errors.New("too many rows")

// heldTimes is how often k-means holds rows, about: what was read, a copy, and what the collector has not seen.
const heldTimes = 3

// tooManyRows says so of rows that were read, with an error or without. It must not depend on the number of workers, on which
// results do not depend either.
func (m *metric) tooManyRows(d *dataset.Data, err error) bool {
	if err != nil {
		_, beyond := errors.AsType[*fault.MemoryError](err)
		return beyond
	}
	width := d.Points.Dim()
	if m.fitted != nil {
		width = max(width, m.fitted.Model.Dim())
	}
	const vectors = 60 // numbers that the starts keep for a row
	return m.MemoryLimit > 0 && engine.MatrixBytes(d.Points.Len(), heldTimes*width+vectors) > int64(m.MemoryLimit)
}

// streamCluster clusters rows that are not held, or assigns them to given centres.
func (m *metric) streamCluster(ctx context.Context, c *clusterFlags) (*clusterReport, error) {
	open, err := m.reopening(ctx, m.flags(&c.data))
	if err != nil {
		return nil, err
	}
	rows := &locator{metric: m, open: open}
	r := &clusterReport{Algorithm: c.algorithm, Metric: m.name(), Output: c.out, Centers: c.streams.saveCenters}
	assigner, err := rows.findCenters(ctx, c, r)
	if err != nil {
		return nil, err
	}
	if c.out != "" {
		if err := rows.assign(ctx, assigner, c, r); err != nil {
			return nil, err
		}
	}
	return r, m.saveCenters(ctx, c, assigner.Centers())
}

// findCenters reads the centres, or learns them.
func (l *locator) findCenters(ctx context.Context, c *clusterFlags, r *clusterReport) (*cluster.Assigner, error) {
	if c.streams.centers != "" {
		assigner, err := l.readCenters(ctx, c)
		r.Algorithm, r.Converged = "centers", true
		return assigner, err
	}
	bar := l.Progress()
	defer bar.Done()
	p := cluster.StreamParams{Params: cluster.Params{K: c.k, Restarts: c.restarts, Seed: c.seed, Progress: bar.Report}, Passes: c.streams.passes}
	learn := cluster.KMeansStream
	if c.algorithm == algMiniBatch {
		learn = cluster.MiniBatch
	}
	found, err := learn(ctx, l.eng, l.places(ctx), p)
	if err != nil {
		return nil, fault.InFile(usage.RenameParams(err, "number of clusters", "-n, --clusters"), c.data.path)
	}
	r.N, r.Clusters, r.Sizes, r.Inertia, r.Passes = found.Rows, c.k, found.Sizes, found.Inertia, found.Passes
	r.Iterations, r.Converged = found.Iterations, found.Converged || c.algorithm == algMiniBatch
	return found.Assigner, nil
}

// readCenters reads the file of --centers.
func (l *locator) readCenters(ctx context.Context, c *clusterFlags) (*cluster.Assigner, error) {
	d, err := l.readData(ctx, &dataFlags{path: c.streams.centers})
	if err != nil {
		return nil, err
	}
	x, err := rawMatrix(l.eng, d.Name, d.Points)
	if err != nil {
		return nil, err
	}
	if c.k != 0 && c.k != x.Rows {
		return nil, usage.Errorf("-n, --clusters is %d: want none with --centers, or %d, the number of rows of %s", c.k, x.Rows, d.Name)
	}
	c.k = x.Rows
	assigner, err := cluster.NewAssigner(x)
	return assigner, fault.InFile(err, d.Name)
}

// assign writes the cluster of every row, and counts rows and inertia.
func (l *locator) assign(ctx context.Context, to *cluster.Assigner, c *clusterFlags, r *clusterReport) error {
	r.N, r.Clusters, r.Sizes, r.Inertia = 0, c.k, make([]int, c.k), 0
	truth := &truth{metric: l.metric}
	err := l.writeLabels(ctx, c.out, func(ctx context.Context, block located) ([]string, error) {
		labels, distances := make([]int, block.at.Rows), make([]float64, block.at.Rows)
		if err := to.Assign(ctx, l.eng, block.at, labels, distances); err != nil {
			return nil, err
		}
		out := make([]string, len(labels))
		for i, k := range labels {
			out[i] = strconv.Itoa(k)
			r.Sizes[k]++
			r.Inertia += distances[i]
		}
		r.N += len(out)
		return out, truth.add(block.Labels, out)
	})
	r.Scores = truth.report()
	return err
}

// saveCenters writes the file of --save-centers.
func (a *app) saveCenters(ctx context.Context, c *clusterFlags, centers blas.Matrix) error {
	if c.streams.saveCenters == "" {
		return nil
	}
	return a.WriteMatrix(ctx, c.streams.saveCenters, "", centers, nil)
}

// truth compares labels with those that the data carry, block by block.
type truth struct {
	*metric
	table score.Table
	none  bool // nothing to compare with, or too much of it
}

// entryBytes is about what one entry of a table of labels takes.
const entryBytes = 150

// add compares the labels of a block; nil for data without labels.
func (t *truth) add(labels, predicted []string) error {
	if t.none = t.none || labels == nil; t.none {
		return nil
	}
	if err := t.table.Add(labels, predicted); err != nil {
		return err
	}
	if err := checkEntries(t.eng, &t.table); err != nil {
		t.Warnf("the rows are not compared with their labels: %v", err)
		t.table, t.none = score.Table{}, true
	}
	return nil
}

// checkEntries reports a table of labels that is too large.
func checkEntries(eng *engine.Engine, t *score.Table) error {
	what := fmt.Sprintf("counts of %d labels and pairs of labels", t.Entries())
	return eng.Check(what, int64(t.Entries())*entryBytes, "want fewer labels")
}

// report returns the scores; nil for none. Labels that cannot be scored, such as a single one, are no reason to fail.
func (t *truth) report() *score.Report {
	if t.none {
		return nil
	}
	r, err := t.table.Report()
	if err != nil {
		return nil
	}
	return r
}
