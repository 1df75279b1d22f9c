package apply

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/usage"
)

// clusterInMemory clusters rows in memory, and writes the clusters.
func (c *clusterCommand) clusterInMemory(ctx context.Context) (*clusterReport, error) {
	flags := *c.m.Flags(&c.data)
	if c.mayStream() {
		flags.Share = copiesInMemory
	}
	d, err := flags.Read(ctx, c.Session)
	if c.mayStream() && c.tooManyRows(d, err) {
		return nil, errTooManyRows
	}
	if err != nil {
		return nil, err
	}
	if c.k > d.Points.Len() {
		return nil, usage.Errorf("-n, --clusters is %d: want at most %d, the number of rows of %s", c.k,
			d.Points.Len(), d.Name)
	}
	result, err := c.cluster(ctx, d)
	if err != nil {
		return nil, err
	}
	labels := numbers(result.Labels)
	r := c.report(d, result, labels)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.saveCenters(ctx, result.Centers); err != nil || c.out == "" {
		return r, err
	}
	return r, dataset.WriteLabels(c.out, labels, d.IDs, c.WritingText())
}

// penalties returns the parameters of pck and mpck.
func (c *clusterCommand) penalties(p cluster.Params) cluster.PenalizedParams {
	out := cluster.PenalizedParams{Params: p, Weight: c.weight, Metric: cluster.MetricNone}
	if c.algorithm == algMPCK {
		name, each := strings.CutSuffix(c.metric, eachSuffix)
		out.Metric, out.Each = cluster.MetricKind(name), each
	}
	return out
}

// partition is a result, with the number of violated links if the algorithm may violate some.
type partition struct {
	*cluster.Result
	broken *int
}

// cluster runs the algorithm on the learned metric, or on the raw points without a model.
func (c *clusterCommand) cluster(ctx context.Context, d *dataset.Data) (*partition, error) {
	var set *links.Set
	if c.usesLinks() {
		var err error
		if set, err = c.links.Read(ctx, c.Session, d); err != nil {
			return nil, err
		}
	}
	table, err := c.preparing.Apply(ctx, c.Session, d)
	if err != nil {
		return nil, err
	}
	if set != nil && !c.m.Learned() {
		if _, err := c.links.Leaks(c.Session, d, table, set); err != nil {
			return nil, err
		}
	}
	d = table.Data()
	bar := c.Progress()
	defer bar.Done()
	p := cluster.Params{K: c.k, Restarts: c.restarts, Seed: c.seed, Progress: bar.Report}
	if c.algorithm == algKernel {
		k, err := c.gram(ctx, d)
		if err != nil {
			return nil, err
		}
		r, err := cluster.Kernel(ctx, c.m.Eng, k, p)
		return &partition{Result: r}, fault.InFile(err, d.Name)
	}
	x, err := c.m.Coordinates(ctx, d)
	if err != nil {
		return nil, err
	}
	switch {
	case c.penalized():
		r, err := cluster.Penalized(ctx, c.m.Eng, x, set, c.penalties(p))
		if err != nil {
			return nil, fault.InFile(err, d.Name)
		}
		return &partition{&r.Result, &r.Violated}, nil
	case set != nil:
		r, err := cluster.Constrained(ctx, c.m.Eng, x, set, p)
		return &partition{Result: r},
			fault.InFile(usage.RenameParams(err, "number of clusters", "-n, --clusters"), c.links.Path)
	}
	r, err := cluster.KMeans(ctx, c.m.Eng, x, p)
	return &partition{Result: r}, fault.InFile(err, d.Name)
}

// gram returns the learned kernel matrix of d, or that of -k without a model.
func (c *clusterCommand) gram(ctx context.Context, d *dataset.Data) (k blas.Matrix, err error) {
	x, err := c.m.Prepared(d)
	if err != nil {
		return k, err
	}
	if c.m.Learned() {
		k, err = c.m.Record().Model.Gram(ctx, c.m.Eng, x, nil)
	} else {
		k, err = c.rawGram(ctx, x)
	}
	return k, fault.InFile(err, d.Name)
}

// rawGram returns the matrix of -k.
func (c *clusterCommand) rawGram(ctx context.Context, x points.Points) (blas.Matrix, error) {
	spec, err := c.spec()
	if err != nil {
		return blas.Matrix{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, c.m.Eng, spec, x); err != nil {
		return blas.Matrix{}, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return blas.Matrix{}, err
	}
	if k, err = k.Around(ctx, c.m.Eng, x); err != nil {
		return blas.Matrix{}, err
	}
	m, err := k.Gram(ctx, c.m.Eng, x)
	if err == nil && !k.Definite() {
		err = k.CheckMatrix(ctx, c.m.Eng, m)
	}
	return m, err
}

// report describes the clusters of rows in memory.
func (c *clusterCommand) report(d *dataset.Data, result *partition, labels []string) *clusterReport {
	r := &clusterReport{
		Algorithm:  c.algorithm,
		Metric:     c.m.Name(),
		N:          len(result.Labels),
		Clusters:   c.k,
		Sizes:      make([]int, c.k),
		Inertia:    result.Inertia,
		Broken:     result.broken,
		Iterations: result.Iterations,
		Converged:  result.Converged,
		Restart:    result.Restart,
		Output:     c.out,
		Centers:    c.saveTo,
	}
	for _, l := range result.Labels {
		r.Sizes[l]++
	}
	if d.Labels != nil {
		// Labels that cannot be scored, such as a single one, do not make the command fail.
		if r.Scores, _ = score.All(score.Input{Truth: d.Labels, Predicted: labels}); r.Scores != nil {
			r.Scores.OfClusters()
		}
	}
	return r
}

// streamed reports whether the rows are streamed instead of kept in memory.
func (c *clusterCommand) streamed() bool {
	return c.stream || c.centers != "" || c.algorithm == algMiniBatch
}

// mayStream reports whether the algorithm can switch to streaming if the rows exceed the memory
// limit.
func (c *clusterCommand) mayStream() bool {
	return c.algorithm == algKMeans && !c.preparing.Weighs() && source.CanReadTwice(c.data.Path) &&
		c.data.InBlocks(c.Session)
}

// errTooManyRows makes k-means read the file repeatedly instead of keeping its rows.
var errTooManyRows = errors.New("too many rows")

// copiesInMemory is about how many copies of the rows k-means keeps in memory: the rows that were
// read, a copy, and garbage that is not collected yet.
const copiesInMemory = 3

// tooManyRows reports whether the rows exceed the memory limit; err is the error of reading them,
// or nil. The answer must not depend on the number of workers, because results do not.
func (c *clusterCommand) tooManyRows(d *dataset.Data, err error) bool {
	if err != nil {
		_, beyond := errors.AsType[*fault.MemoryError](err)
		return beyond
	}
	width := d.Points.Dim()
	if c.m.Learned() {
		width = max(width, c.m.Record().Model.Dim())
	}
	const vectors = 60 // numbers that the starts keep for each row
	return c.MemoryLimit > 0 &&
		engine.MatrixBytes(d.Points.Len(), copiesInMemory*width+vectors) > int64(c.MemoryLimit)
}

// clusterStreamed clusters streamed rows, or assigns them to given centers.
func (c *clusterCommand) clusterStreamed(ctx context.Context) (*clusterReport, error) {
	bar := c.Progress()
	defer bar.Done()
	bar.Part(0.1)
	if err := prepareStreamed(ctx, c.m, &c.data, &c.preparing, c.seed); err != nil {
		return nil, err
	}
	open, err := c.m.Flags(&c.data).Reopen(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	rows := c.m.Rows(open, "")
	r := &clusterReport{Algorithm: c.algorithm, Metric: c.m.Name(), Output: c.out, Centers: c.saveTo}
	bar.Part(0.9)
	assigner, err := c.findCenters(ctx, rows, r)
	if err != nil {
		return nil, err
	}
	bar.Part(1)
	rows.Stage = "clusters"
	if c.out != "" {
		if err := c.assign(ctx, rows, assigner, r); err != nil {
			return nil, err
		}
	}
	return r, c.saveCenters(ctx, assigner.Centers())
}

// findCenters reads the centers, or learns them.
func (c *clusterCommand) findCenters(ctx context.Context, rows *mustlink.Rows,
	r *clusterReport) (*cluster.Assigner, error) {
	if c.centers != "" {
		assigner, err := c.readCenters(ctx)
		r.Algorithm, r.Converged = "centers", true
		return assigner, err
	}
	bar := c.Progress()
	defer bar.Done()
	p := cluster.StreamParams{Params: cluster.Params{K: c.k, Restarts: c.restarts, Seed: c.seed,
		Progress: bar.Stages(0.1, 0.1, 1)}, Passes: c.passes}
	learn := cluster.KMeansStream
	if c.algorithm == algMiniBatch {
		learn = cluster.MiniBatch
	}
	found, err := learn(ctx, c.m.Eng, rows.All(ctx), p)
	if err != nil {
		return nil, fault.InFile(usage.RenameParams(err, "number of clusters", "-n, --clusters"), c.data.Path)
	}
	r.N, r.Clusters, r.Sizes, r.Inertia, r.Passes = found.Rows, c.k, found.Sizes, found.Inertia, found.Passes
	r.Iterations, r.Converged = found.Iterations, found.Converged || c.algorithm == algMiniBatch
	return found.Assigner, nil
}

// readCenters reads the file of --centers.
func (c *clusterCommand) readCenters(ctx context.Context) (*cluster.Assigner, error) {
	d, err := (&source.Data{Path: c.centers}).Read(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	x, err := metric.Raw(ctx, c.m.Eng, d.Name, d.Points)
	if err != nil {
		return nil, err
	}
	if c.k != 0 && c.k != x.Rows {
		return nil, usage.Errorf(
			"-n, --clusters is %d: want none with --centers, or %d, the number of rows of %s", c.k, x.Rows,
			d.Name)
	}
	c.k = x.Rows
	assigner, err := cluster.NewAssigner(x)
	return assigner, fault.InFile(err, d.Name)
}

// assign writes the cluster of every row, and counts rows and inertia.
func (c *clusterCommand) assign(ctx context.Context, rows *mustlink.Rows, to *cluster.Assigner,
	r *clusterReport) (err error) {
	r.N, r.Clusters, r.Sizes, r.Inertia = 0, c.k, make([]int, c.k), 0
	r.Scores, err = writeLabels(ctx, c.m, rows, c.out, false,
		func(ctx context.Context, block mustlink.Block) ([]string, error) {
			labels, distances := make([]int, block.Coordinates.Rows), make([]float64, block.Coordinates.Rows)
			if err := to.Assign(ctx, c.m.Eng, block.Coordinates, labels, distances); err != nil {
				return nil, err
			}
			for i, k := range labels {
				r.Sizes[k]++
				r.Inertia += distances[i]
			}
			r.N += len(labels)
			return numbers(labels), nil
		})
	if r.Scores != nil {
		r.Scores.OfClusters()
	}
	return err
}

// numbers returns the numbers of clusters as labels.
func numbers(clusters []int) []string {
	out := make([]string, len(clusters))
	for i, k := range clusters {
		out[i] = strconv.Itoa(k)
	}
	return out
}

// saveCenters writes the file of --save-centers.
func (c *clusterCommand) saveCenters(ctx context.Context, centers blas.Matrix) error {
	if c.saveTo == "" {
		return nil
	}
	return c.WriteMatrix(ctx, c.saveTo, "", centers, nil)
}

// sampleRows is the number of rows that the preparation of streamed rows is fitted to: their
// medians are within 1.1 % of the ranks of all rows, see prepare.Sample.
const sampleRows = 1 << 16

// prepareStreamed finds how m prepares streamed rows without a model: it reads them once, and fits
// the preparation to a sample of them.
func prepareStreamed(ctx context.Context, m *metric.Metric, data *source.Data, preparing *source.Preparing,
	seed uint64) error {
	if m.Learned() || preparing.AsRead() {
		return nil
	}
	open, err := data.Reopen(ctx, m.Session)
	if err != nil {
		return err
	}
	sample, err := sampled(ctx, m, open, seed)
	if err != nil {
		return err
	}
	d, rows := sample.Data()
	table, err := preparing.Apply(ctx, m.Session, d)
	if err != nil {
		return fault.InSelection(err, rows)
	}
	m.Preparing(d.Features, table.Transform())
	if len(rows) < sample.Rows() {
		m.Warnf("%s: the preparation is fitted to a sample of %d of the %d rows", data.Path, len(rows),
			sample.Rows())
	}
	return nil
}

// sampleSize returns the number of rows of a sample that takes no more than an eighth of the memory
// limit.
func sampleSize(limit int64, columns int) int {
	const copies, word = 6, 8 // the sample keeps up to two rows for one, and the fit works on copies
	if limit == 0 {
		return sampleRows
	}
	return int(min(max(1, limit/8/(copies*word*int64(max(1, columns)))), sampleRows))
}

// sampled reads all rows and keeps a sample of them.
func sampled(ctx context.Context, m *metric.Metric, open source.Opener, seed uint64) (sample *prepare.Sample,
	err error) {
	rows := m.Rows(open, "reading columns")
	rows.Place = func(_ context.Context, part *dataset.Data) (blas.Matrix, error) {
		if sample == nil { // the first row has the width
			sample = prepare.NewSample(sampleSize(int64(m.MemoryLimit), part.Points.Dim()), seed)
		}
		return blas.Matrix{Rows: part.Points.Len()}, sample.Add(part)
	}
	for _, err := range rows.All(ctx) {
		if err != nil {
			return nil, err
		}
	}
	return sample, nil
}
