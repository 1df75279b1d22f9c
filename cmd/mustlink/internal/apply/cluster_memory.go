package apply

import (
	"context"
	"strings"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
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
		return nil, usage.Errorf("-n, --clusters is %d: want at most %d, the number of rows of %s", c.k, d.Points.Len(), d.Name)
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
		return &partition{Result: r}, fault.InFile(usage.RenameParams(err, "number of clusters", "-n, --clusters"), c.links.Path)
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
