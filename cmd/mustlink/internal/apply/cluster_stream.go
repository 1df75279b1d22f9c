package apply

import (
	"context"
	"errors"
	"strconv"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// streamed reports whether the rows are streamed instead of kept in memory.
func (c *clusterCommand) streamed() bool {
	return c.stream || c.centers != "" || c.algorithm == algMiniBatch
}

// mayStream reports whether the algorithm can switch to streaming if the rows exceed the memory
// limit.
func (c *clusterCommand) mayStream() bool {
	return c.algorithm == algKMeans && !c.preparing.Weighs() && source.CanReadTwice(c.data.Path) && c.data.InBlocks(c.Session)
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
	return c.MemoryLimit > 0 && engine.MatrixBytes(d.Points.Len(), copiesInMemory*width+vectors) > int64(c.MemoryLimit)
}

// clusterStreamed clusters streamed rows, or assigns them to given centers.
func (c *clusterCommand) clusterStreamed(ctx context.Context) (*clusterReport, error) {
	if err := prepareStreamed(ctx, c.m, &c.data, &c.preparing, c.seed); err != nil {
		return nil, err
	}
	open, err := c.m.Flags(&c.data).Reopen(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	rows := c.m.Rows(open, "")
	r := &clusterReport{Algorithm: c.algorithm, Metric: c.m.Name(), Output: c.out, Centers: c.saveTo}
	assigner, err := c.findCenters(ctx, rows, r)
	if err != nil {
		return nil, err
	}
	if c.out != "" {
		if err := c.assign(ctx, rows, assigner, r); err != nil {
			return nil, err
		}
	}
	return r, c.saveCenters(ctx, assigner.Centers())
}

// findCenters reads the centers, or learns them.
func (c *clusterCommand) findCenters(ctx context.Context, rows *mustlink.Rows, r *clusterReport) (*cluster.Assigner, error) {
	if c.centers != "" {
		assigner, err := c.readCenters(ctx)
		r.Algorithm, r.Converged = "centers", true
		return assigner, err
	}
	bar := c.Progress()
	defer bar.Done()
	p := cluster.StreamParams{Params: cluster.Params{K: c.k, Restarts: c.restarts, Seed: c.seed, Progress: bar.Report}, Passes: c.passes}
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
		return nil, usage.Errorf("-n, --clusters is %d: want none with --centers, or %d, the number of rows of %s", c.k, x.Rows, d.Name)
	}
	c.k = x.Rows
	assigner, err := cluster.NewAssigner(x)
	return assigner, fault.InFile(err, d.Name)
}

// assign writes the cluster of every row, and counts rows and inertia.
func (c *clusterCommand) assign(ctx context.Context, rows *mustlink.Rows, to *cluster.Assigner, r *clusterReport) (err error) {
	r.N, r.Clusters, r.Sizes, r.Inertia = 0, c.k, make([]int, c.k), 0
	r.Scores, err = writeLabels(ctx, c.m, rows, c.out, false, func(ctx context.Context, block mustlink.Block) ([]string,
		error) {
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
