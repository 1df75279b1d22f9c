package cluster

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// DefaultBatch is the default number of rows in a batch of [MiniBatch].
const DefaultBatch = 1024

// StreamParams are the parameters of [KMeansStream] and [MiniBatch]. Only K must be set.
type StreamParams struct {
	Params
	// Sample is the number of rows in memory for the first centers, at least K; 0 means 65,536. The
	// default is smaller if so many rows take more than 64 MiB, but at least 20 K. It is still
	// smaller, but at least K, if they take more than about a sixteenth of the engine's memory
	// limit.
	Sample int
	// Batch, for MiniBatch, is the number of rows that are assigned before the centers move; 0 means
	// DefaultBatch.
	Batch int
	// Passes, for MiniBatch, is the number of passes through the rows; 0 means 1.
	Passes int
}

// StreamResult holds the centers of a stream of rows.
type StreamResult struct {
	// Assigner assigns rows to the centers, as during the clustering.
	*Assigner
	Rows    int   // number of rows
	Passes  int   // how often the rows were gone through
	Sizes   []int // rows of each cluster
	Inertia float64
	// Iterations and Converged are those of Result; for MiniBatch the number of batches, and false.
	Iterations int
	Converged  bool
}

// KMeansStream is [KMeans] for data larger than memory. Every range over rows must yield all rows
// in the same order, in blocks of any sizes. A block may reuse the memory of the one before. The
// first error ends the range.
//
// With p.Start the result is bit-identical to that of KMeans from the same centers. Otherwise it
// starts from the centers that KMeans, with p.Restarts starts, finds for a uniform sample of the
// rows; if the sample has all rows, these are the result. With Tol 0 a converged result is a fixed
// point for all rows, like that of KMeans.
//
// It makes one pass for the sample, or for the mean of the rows without one; one for the first
// assignment; one for each iteration; and one more for each empty cluster to refill. Memory: the
// sample twice, a block twice, and 4 K d values.
//
// Errors: those of KMeans, with rows numbered from the first of all; those of rows;
// *fault.DataError if a later pass has other rows.
func KMeansStream(ctx context.Context, eng *engine.Engine, rows iter.Seq2[blas.Matrix, error], p StreamParams) (*StreamResult, error) {
	p, err := p.resolve(math.MaxInt, p.Start.Cols) // before the rows are read
	if err != nil {
		return nil, err
	}
	s := &survey{eng: eng, p: p, collect: p.Start.Rows == 0}
	if err := s.run(ctx, rows); err != nil {
		return nil, err
	}
	if p, err = p.resolve(s.rows, s.cols()); err != nil {
		return nil, err
	}
	if s.holdsAll() {
		return clusterSample(ctx, eng, s.held, p)
	}
	if p.Start.Rows == 0 {
		first, err := KMeans(ctx, eng, s.held, p.ofSample(0))
		if err != nil {
			return nil, err
		}
		p.Start = first.Centers
		s.held = blas.Matrix{}
	}
	if err := eng.Check("streaming k-means", 4*engine.MatrixBytes(p.K, s.cols()+1), "ask for fewer clusters"); err != nil {
		return nil, err
	}
	shift := s.middle.of(s.cols())
	l := &lloyd{eng: eng, p: p, rows: rows, n: s.rows, Assigner: newAssigner(moved(p.Start, shift), shift), began: time.Now(), passes: 1}
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	return l.result(), nil
}

// resolve is that of Params, for n rows of d values.
func (p StreamParams) resolve(n, d int) (StreamParams, error) {
	var err error
	if p.Params, err = p.Params.resolveStart(n, d); err != nil {
		return p, err
	}
	if p.Batch == 0 {
		p.Batch = DefaultBatch
	}
	if p.Passes == 0 {
		p.Passes = 1
	}
	switch {
	case p.Batch < 0:
		return p, &fault.ParamError{Param: "rows of a batch", Value: p.Batch, Want: fmt.Sprintf("a number >= 1 (0 for %d)", DefaultBatch)}
	case p.Passes < 0:
		return p, &fault.ParamError{Param: "passes", Value: p.Passes, Want: "a number >= 1 (0 for 1)"}
	}
	return p, nil
}

// sampleSize returns the number of rows of d values in the sample. It returns an error if they are
// fewer than the clusters.
func (p StreamParams) sampleSize(limit int64, d int) (int, error) {
	switch {
	case p.Sample == 0:
		const most, bytes, vectors = 1 << 16, 64 << 20, 40 // what clustering keeps for a row, about, but not its copies
		rows := max(20*p.K, min(most, bytes/8/max(1, d)))
		if limit > 0 {
			rows = min(rows, int(limit/16/8/int64(d+vectors)))
		}
		return max(p.K, rows), nil
	case p.Sample < max(1, p.K):
		return 0, &fault.ParamError{Param: "rows of the sample", Value: p.Sample, Want: fmt.Sprintf("at least the number of clusters, %d (0 for a default)", p.K)}
	}
	return p.Sample, nil
}

// ofSample returns the parameters for clustering the sample. Its progress is that of step done.
func (p StreamParams) ofSample(done int) Params {
	out := p.Params
	out.Progress = func(r algorithms.Progress) {
		p.Progress.Report(algorithms.Progress{Stage: "k-means of a sample", Done: done, Objective: r.Objective, Elapsed: r.Elapsed})
	}
	return out
}

// clusterSample is KMeans for a sample that has all rows.
func clusterSample(ctx context.Context, eng *engine.Engine, x blas.Matrix, p StreamParams) (*StreamResult, error) {
	best, restart, err := kmeans(ctx, eng, x, p.ofSample(0))
	if err != nil {
		return nil, err
	}
	r := best.result(restart)
	return &StreamResult{Assigner: newAssigner(best.centers, best.s.shift), Rows: x.Rows, Passes: 1, Sizes: sizesOf(best.labels, p.K),
		Inertia: r.Inertia, Iterations: r.Iterations, Converged: r.Converged}, nil
}

// eachBlock calls f with every block of rows.
func eachBlock(ctx context.Context, rows iter.Seq2[blas.Matrix, error], f func(x blas.Matrix) error) error {
	for x, err := range rows {
		if err == nil {
			err = contextError(ctx)
		}
		if err == nil {
			err = f(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
