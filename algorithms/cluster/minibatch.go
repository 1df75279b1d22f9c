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

// MiniBatch finds centers in one pass over the rows, or in p.Passes of them (Sculley 2010,
// "Web-scale k-means clustering", algorithm 1): batches of rows, one after the other in the order
// in which they come, are assigned to the centers, and then each row moves its center toward itself
// by 1/v of the way, v being the number of rows that the center has had. So the rows need not be
// there twice: a pipe will do. It begins with KMeans, of p.Restarts starts, on the first p.Sample
// rows, which count as rows that the centers have had; when these are all rows, that is the result.
//
// Rows that come in an order that tells their cluster, such as sorted ones, make bad centers:
// shuffle them, or use [KMeansStream]. Inertia is that of the rows of the last pass as they were
// met, before their batch moved the centers; Sizes is how often each center moved. The result does
// not depend on the sizes of blocks or the number of workers.
//
// Cost: 2ndK flops a pass. Memory: the sample twice, two batches, and 2 K d values. Errors: those
// of [KMeansStream]; MaxIter and Tol are those of the sample, and p.Start is not taken.
func MiniBatch(ctx context.Context, eng *engine.Engine, rows iter.Seq2[blas.Matrix, error], p StreamParams) (*StreamResult, error) {
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
	return &StreamResult{Assigner: m.Assigner, Rows: m.rows, Passes: m.passes, Sizes: m.counts, Inertia: m.inertia, Iterations: m.batches}, nil
}

// miniBatch is a run of MiniBatch.
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

// block takes rows into the head or into batches.
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
	m.p.Progress.Report(algorithms.Progress{Stage: "mini-batch k-means", Done: m.passes, Total: m.p.Passes, Objective: m.inertia, Elapsed: time.Since(m.began)})
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

// begin clusters the head, for the centers to begin with.
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

// learn assigns the rows of the batch, and moves the centers.
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
