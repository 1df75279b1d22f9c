package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

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
		s.p.Progress.Report(algorithms.Progress{Stage: "sample of all rows", Done: s.rows, Elapsed: time.Since(began)})
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
	return eng.Check(what, 2*engine.MatrixBytes(rows, d)+clusterBytes(eng, rows, d, p), "use a smaller sample, or fewer clusters")
}

func errNoRows() error {
	return &fault.ShapeError{What: "number of rows", Got: 0, Want: "at least 1"}
}

// errOtherRows is the error of a pass with other rows than the one before.
func errOtherRows(got, want int) error {
	return &fault.DataError{Row: -1, Err: fmt.Errorf("a later pass has %d rows, not %d: %w", got, want, errors.New("want the same rows every time"))}
}

// contextError returns the error of the context in the form of the other methods.
func contextError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cluster: streaming k-means: %w", err)
	}
	return nil
}
