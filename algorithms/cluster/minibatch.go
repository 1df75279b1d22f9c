package cluster

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// MiniBatch finds centers in one pass through the rows, or in p.Passes passes (Sculley 2010,
// "Web-scale k-means clustering", algorithm 1). It assigns one batch of rows after the other to the
// centers. Then each row moves its center toward itself by 1/v of the distance, where v is the
// number of rows of the center so far. One pass is enough, so that the rows may come from a pipe.
// It starts with the centers of KMeans, with p.Restarts starts, on the first p.Sample rows, which
// count as rows of the centers; if these are all rows, they are the result.
//
// Rows whose order depends on their cluster, such as sorted ones, give bad centers: shuffle them,
// or use [KMeansStream]. Inertia is the sum over the rows of the last pass at the time of their
// assignment, before their batch moved the centers. Sizes is the number of moves of each center.
// The result does not depend on the sizes of blocks or the number of workers.
//
// Cost: 2ndK flops per pass. Memory: the sample twice, two batches, and 2 K d values. Errors: those
// of [KMeansStream]; MaxIter and Tol apply to the sample, and p.Start is invalid.
func MiniBatch(ctx context.Context, eng *engine.Engine, rows iter.Seq2[blas.Matrix, error],
	p StreamParams) (*StreamResult, error) {
	if _, err := p.Params.resolve(math.MaxInt); err != nil { // it knows no Start
		return nil, err
	}
	p, err := p.resolve(math.MaxInt, 0)
	if err != nil {
		return nil, err
	}
	m := &miniBatch{eng: eng, p: p, began: time.Now()}
	for m.passes < m.p.Passes {
		if err := m.pass(ctx, rows); err != nil {
			return nil, err
		}
		if m.Assigner == nil { // the first rows are all
			if _, err := m.p.resolve(m.head.Rows, m.head.Cols); err != nil {
				return nil, err
			}
			return clusterSample(ctx, eng, m.head, m.p)
		}
	}
	return &StreamResult{Assigner: m.Assigner, Rows: m.rows, Passes: m.passes, Sizes: m.counts,
		Inertia: m.inertia, Iterations: m.batches}, nil
}

// miniBatch is the state of a call of MiniBatch.
type miniBatch struct {
	*Assigner // nil before the first rows are clustered
	eng       *engine.Engine
	p         StreamParams
	began     time.Time

	head   blas.Matrix // the first rows
	sample int         // how many they are to be
	batch  blas.Matrix // rows that wait for others, less shift; Rows of them
	counts []int       // rows that each center has had

	labels    []int
	distances []float64

	passes, rows, batches int     // rows are those of the pass under way
	inertia               float64 // of the pass under way
}

func (m *miniBatch) pass(ctx context.Context, rows iter.Seq2[blas.Matrix, error]) error {
	before := m.rows
	m.rows, m.inertia = 0, 0
	if err := eachBlock(ctx, rows, func(x blas.Matrix) error { return m.block(ctx, x) }); err != nil {
		return err
	}
	m.passes++
	switch {
	case m.rows == 0:
		return errNoRows()
	case m.passes > 1 && m.rows != before:
		return errOtherRows(m.rows, before)
	case m.Assigner == nil:
		return nil
	}
	return m.learn(ctx)
}

// block adds rows to the head or to batches.
func (m *miniBatch) block(ctx context.Context, x blas.Matrix) error {
	if m.rows == 0 && m.passes == 0 {
		var err error
		if m.sample, err = m.p.sampleSize(m.eng.MemoryLimit(), x.Cols); err != nil {
			return err
		}
		m.head = blas.Matrix{Cols: x.Cols, Stride: max(1, x.Cols)}
	}
	if x.Cols != m.cols() {
		return columnsError(x.Cols, m.cols())
	}
	if err := checkFiniteFrom(x, m.rows); err != nil {
		return err
	}
	m.p.Progress.Report(algorithms.Progress{Stage: "mini-batch k-means", Done: m.passes, Total: m.p.Passes,
		Objective: m.inertia, Elapsed: time.Since(m.began)})
	at := 0
	if m.Assigner == nil {
		at = min(x.Rows, m.sample-m.head.Rows)
		if err := m.collect(x.View(0, at, 0, x.Cols)); err != nil {
			return err
		}
		if at < x.Rows { // more than the head holds
			if err := m.begin(ctx); err != nil {
				return err
			}
		}
	}
	for at < x.Rows {
		n := min(x.Rows-at, m.p.Batch-m.batch.Rows)
		m.batch.Rows += n
		move(m.batch.View(m.batch.Rows-n, m.batch.Rows, 0, x.Cols), x.View(at, at+n, 0, x.Cols), m.shift)
		at, m.rows = at+n, m.rows+n
		if m.batch.Rows == m.p.Batch {
			if err := m.learn(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *miniBatch) cols() int {
	if m.Assigner == nil {
		return m.head.Cols
	}
	return m.centers.Cols
}

// collect adds rows to the head.
func (m *miniBatch) collect(x blas.Matrix) error {
	if err := checkSample(m.eng, m.head.Rows+x.Rows, x.Cols, m.p.Params); err != nil {
		return err
	}
	for i := range x.Rows {
		m.head.Data = append(m.head.Data, x.Row(i)...)
	}
	m.head.Rows += x.Rows
	m.rows += x.Rows
	return nil
}

// begin clusters the head to obtain the first centers.
func (m *miniBatch) begin(ctx context.Context) error {
	best, _, err := kmeans(ctx, m.eng, m.head, m.p.ofSample(0))
	if err != nil {
		return err
	}
	m.Assigner = newAssigner(best.centers, best.s.shift)
	m.counts = sizesOf(best.labels, m.p.K)
	m.inertia = best.last()
	m.batch = blas.NewMatrix(m.p.Batch, m.head.Cols)
	m.batch.Rows, m.head = 0, blas.Matrix{}
	m.labels, m.distances = make([]int, m.p.Batch), make([]float64, m.p.Batch)
	return nil
}

// learn assigns the rows of the batch and moves the centers.
func (m *miniBatch) learn(ctx context.Context) error {
	n := m.batch.Rows
	if n == 0 {
		return nil
	}
	labels, distances := m.labels[:n], m.distances[:n]
	if err := m.assign(ctx, m.eng, m.batch, labels, distances); err != nil {
		return err
	}
	if err := checkDistances(m.batch, distances, m.rows-n); err != nil {
		return err
	}
	for i, c := range labels {
		m.inertia += distances[i]
		m.counts[c]++
		center, rate := m.centers.Row(c), 1/float64(m.counts[c])
		for j, v := range m.batch.Row(i) {
			center[j] += float64((v - center[j]) * rate)
		}
	}
	m.prepare()
	m.batches++
	m.batch.Rows = 0
	return nil
}
