package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
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
	// Batch, for MiniBatch, is the number of rows that are assigned before the centers move; 0
	// means DefaultBatch.
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
func KMeansStream(ctx context.Context, eng *engine.Engine, rows iter.Seq2[blas.Matrix, error],
	p StreamParams) (*StreamResult, error) {
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
	if err := eng.Check("streaming k-means", 4*engine.MatrixBytes(p.K, s.cols()+1),
		"ask for fewer clusters"); err != nil {
		return nil, err
	}
	shift := s.middle.of(s.cols())
	l := &lloyd{eng: eng, p: p, rows: rows, n: s.rows, Assigner: newAssigner(moved(p.Start, shift), shift),
		began: time.Now(), passes: 1}
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
		return p, fault.Param("rows of a batch", p.Batch, "a number >= 1 (0 for %d)", DefaultBatch)
	case p.Passes < 0:
		return p, fault.Param("passes", p.Passes, "a number >= 1 (0 for 1)")
	}
	return p, nil
}

// sampleSize returns the number of rows of d values in the sample. It returns an error if they are
// fewer than the clusters.
func (p StreamParams) sampleSize(limit int64, d int) (int, error) {
	switch {
	case p.Sample == 0:
		// what clustering keeps for a row, about, but not its copies
		const most, bytes, vectors = 1 << 16, 64 << 20, 40
		rows := max(20*p.K, min(most, bytes/8/max(1, d)))
		if limit > 0 {
			rows = min(rows, int(limit/16/8/int64(d+vectors)))
		}
		return max(p.K, rows), nil
	case p.Sample < max(1, p.K):
		return 0, fault.Param("rows of the sample", p.Sample,
			"at least the number of clusters, %d (0 for a default)", p.K)
	}
	return p.Sample, nil
}

// ofSample returns the parameters for clustering the sample. Its progress is that of step done.
func (p StreamParams) ofSample(done int) Params {
	out := p.Params
	out.Progress = func(r algorithms.Progress) {
		p.Progress.Report(algorithms.Progress{Stage: "k-means of a sample", Done: done,
			Objective: r.Objective, Elapsed: r.Elapsed})
	}
	return out
}

// clusterSample is KMeans for a sample that has all rows.
func clusterSample(ctx context.Context, eng *engine.Engine, x blas.Matrix,
	p StreamParams) (*StreamResult, error) {
	best, restart, err := kmeans(ctx, eng, x, p.ofSample(0))
	if err != nil {
		return nil, err
	}
	r := best.result(restart)
	return &StreamResult{Assigner: newAssigner(best.centers, best.s.shift), Rows: x.Rows, Passes: 1,
		Sizes:   sizesOf(best.labels, p.K),
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

// sampleStream is the stream of the random numbers of the sample. Those of starts are numbered from
// 0.
const sampleStream = 1 << 63

// survey is the first pass: it counts and checks rows, computes their mean, and draws a uniform
// sample of them (reservoir sampling; Vitter 1985, algorithm R).
type survey struct {
	eng     *engine.Engine
	p       StreamParams
	collect bool

	rows   int
	middle runningMean
	held   blas.Matrix
	most   int // rows of a full sample
	rng    *rand.Rand
}

func (s *survey) cols() int { return len(s.middle.mean) }

func (s *survey) holdsAll() bool { return s.collect && s.rows == s.held.Rows }

func (s *survey) run(ctx context.Context, rows iter.Seq2[blas.Matrix, error]) error {
	began := time.Now()
	s.rng = rand.New(rand.NewPCG(s.p.Seed, sampleStream))
	err := eachBlock(ctx, rows, func(x blas.Matrix) error {
		if err := s.add(x); err != nil {
			return err
		}
		s.p.Progress.Report(algorithms.Progress{Stage: "sample of all rows", Done: s.rows,
			Elapsed: time.Since(began)})
		return nil
	})
	if err != nil {
		return err
	}
	if s.rows == 0 {
		return errNoRows()
	}
	return contextError(ctx)
}

func (s *survey) add(x blas.Matrix) error {
	if s.rows == 0 {
		if err := s.begin(x.Cols); err != nil {
			return err
		}
	}
	if x.Cols != s.cols() {
		return columnsError(x.Cols, s.cols())
	}
	if err := checkFiniteFrom(x, s.rows); err != nil {
		return err
	}
	if held := min(s.most, s.held.Rows+x.Rows); held > s.held.Rows {
		if err := checkSample(s.eng, held, x.Cols, s.p.Params); err != nil {
			return err
		}
	}
	for i := range x.Rows {
		s.middle.add(x.Row(i))
		if s.collect {
			s.offer(x.Row(i))
		}
		s.rows++
	}
	return nil
}

// begin allocates memory for rows of d values.
func (s *survey) begin(d int) error {
	s.middle.of(d)
	if !s.collect {
		return nil
	}
	var err error
	if s.most, err = s.p.sampleSize(s.eng.MemoryLimit(), d); err != nil {
		return err
	}
	s.held = blas.Matrix{Cols: d, Stride: max(1, d)}
	return nil
}

// offer adds a row to the sample with the probability of reservoir sampling.
func (s *survey) offer(row []float64) {
	if s.held.Rows < s.most {
		s.held.Data = append(s.held.Data, row...)
		s.held.Rows++
		return
	}
	if place := s.rng.IntN(s.rows + 1); place < s.most {
		copy(s.held.Row(place), row)
	}
}

// checkSample checks the memory for a sample of rows of d values: the rows, their copy, and their
// clustering.
func checkSample(eng *engine.Engine, rows, d int, p Params) error {
	what := fmt.Sprintf("k-means of a sample of %d x %d values", rows, d)
	return eng.Check(what, 2*engine.MatrixBytes(rows, d)+clusterBytes(eng, rows, d, p),
		"use a smaller sample, or fewer clusters")
}

func errNoRows() error {
	return fault.Shape("number of rows", 0, "at least 1")
}

// errOtherRows is the error of a pass with other rows than the one before.
func errOtherRows(got, want int) error {
	return fault.Data("",
		"a later pass has %d rows, not %d: %w", got, want, errors.New("want the same rows every time"))
}

// contextError returns the error of the context in the form of the other methods.
func contextError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cluster: streaming k-means: %w", err)
	}
	return nil
}

// sample is what Lloyd's iteration works on: weighted rows, moved so that their mean is
// near the origin. Moving a row by a fixed vector rounds each coordinate by at most u times
// its new size, and it keeps the expanded form of the distances accurate.
type sample struct {
	x      blas.Matrix // m x d
	weight weights     // length m, > 0
	norm   []float64   // squared norms of the rows
	shift  []float64   // what was subtracted from every row
}

// newSample validates x (n x d) and returns its rows with weight 1. Cost: three passes
// through x and one copy of it.
func newSample(eng *engine.Engine, x blas.Matrix) (*sample, error) {
	if err := checkFinite(x); err != nil {
		return nil, err
	}
	s := &sample{x: eng.NewMatrix(x.Rows, x.Cols), shift: middleOf(x)}
	move(s.x, x, s.shift)
	return s, s.setNorms()
}

// checkWeights reports weights that n rows cannot have.
func checkWeights(weights []float64, n int) error {
	if weights != nil && len(weights) != n {
		return fault.Shape("number of weights", len(weights), "%d, one a row", n)
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fault.Row(i, "weight is %v: want a finite number > 0", w)
		}
	}
	return nil
}

// runningMean is the mean of rows whose number is not known before the last one. It need not be
// exact.
type runningMean struct {
	rows float64
	mean []float64
}

func (m *runningMean) add(row []float64) {
	m.rows++
	mean := m.of(len(row))
	for j, v := range row {
		mean[j] += (v - mean[j]) / m.rows
	}
}

// of returns the mean, of d columns; 0 without rows.
func (m *runningMean) of(d int) []float64 {
	if m.mean == nil {
		m.mean = make([]float64, d)
	}
	return m.mean
}

// middleOf returns the running mean of all rows.
func middleOf(x blas.Matrix) []float64 {
	var m runningMean
	for i := range x.Rows {
		m.add(x.Row(i))
	}
	return m.of(x.Cols)
}

// move writes the rows of x less shift into dst.
func move(dst, x blas.Matrix, shift []float64) {
	for i := range x.Rows {
		row := dst.Row(i)
		for j, v := range x.Row(i) {
			row[j] = v - shift[j]
		}
	}
}

// moved returns a copy of x less shift.
func moved(x blas.Matrix, shift []float64) blas.Matrix {
	out := blas.NewMatrix(x.Rows, x.Cols)
	move(out, x, shift)
	return out
}

// movedBack returns x with shift added to its rows again.
func movedBack(x blas.Matrix, shift []float64) blas.Matrix {
	out := x.Clone()
	for i := range out.Rows {
		row := out.Row(i)
		for j, v := range shift {
			row[j] += v
		}
	}
	return out
}

// setNorms writes the squared norms of the rows of x into dst.
func setNorms(dst []float64, x blas.Matrix) {
	zero := make([]float64, x.Cols)
	for i := range dst {
		dst[i] = points.SquaredDistance(x.Row(i), zero)
	}
}

// columnMeans returns the mean of every column. Dividing before adding keeps the sum of
// huge values finite; the result need not be the exact mean.
func columnMeans(x blas.Matrix) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v / float64(x.Rows)
		}
	}
	return mean
}

func (s *sample) setNorms() error {
	s.norm = make([]float64, s.x.Rows)
	setNorms(s.norm, s.x)
	var e extent
	for i, norm := range s.norm {
		e.add(s.x.Row(i), norm, s.weight.of(i))
	}
	return e.check()
}

// extent is how far rows reach.
type extent struct {
	total, largest float64 // sum and maximum of their squared norms
	widest         float64 // the largest absolute value
}

func (e *extent) add(row []float64, norm, weight float64) {
	e.total += weight * norm
	e.largest = max(e.largest, norm)
	for _, v := range row {
		e.widest = max(e.widest, math.Abs(v))
	}
}

// check reports rows whose squares leave the range of float64.
func (e *extent) check() error {
	// Every distance is at most four times the largest norm: with a finite total nothing
	// overflows later.
	if math.IsNaN(e.total) || e.total > math.MaxFloat64/16 {
		return &fault.DataError{Row: -1, Err: errTooLarge()}
	}
	if e.widest > 0 && e.largest < vanishing {
		return errVanish(e.widest)
	}
	return nil
}

func errTooLarge() error {
	return errors.New("values are too large, their squares overflow: want smaller ones (scale the data)")
}

// vanishing bounds squared distances that have lost digits to the lower end of float64's range,
// with some room.
const vanishing = 0x1p-900

// errVanish says that points differ by too little.
func errVanish(widest float64) error {
	return fault.Data("", "values differ by %g at most, the squares of which vanish: want larger "+
		"differences (scale the data)", widest)
}

func (s *sample) rows() int { return s.x.Rows }

// weights are those of rows; nil when all are 1.
type weights []float64

func (w weights) of(i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// loop runs f over the fixed blocks of [0, n), in parallel or on this goroutine. The
// blocks are the same either way.
func loop(ctx context.Context, eng *engine.Engine, parallel bool, n, block int,
	f func(lo, hi int) error) error {
	if parallel {
		return eng.For(ctx, n, block, f)
	}
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(lo, min(n, lo+block)); err != nil {
			return err
		}
	}
	return nil
}
