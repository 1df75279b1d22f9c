package apply

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/usage"
)

// singleEmbedding embeds with a model in single precision, and sees how near to double precision that is.
type singleEmbedding struct {
	*metric.Metric
	// off is the largest difference from double precision among the first rows, relative to the largest coordinate; below 0 before
	// there were any.
	off float64
}

// singleProbe is the number of rows that are embedded in double precision too.
const singleProbe = 64

// embed embeds dense vectors and returns the coordinates in double precision, exactly.
func (s *singleEmbedding) embed(ctx context.Context, part *dataset.Data) (blas.Matrix, error) {
	x, err := s.Points(part)
	if err != nil {
		return blas.Matrix{}, err
	}
	y, err := embedSingle(ctx, s.Eng, s.Fitted.Model, x)
	if err != nil {
		return blas.Matrix{}, fault.InFile(err, part.Name)
	}
	out := s.Eng.NewMatrix(y.Rows, y.Cols)
	for i := range y.Rows {
		row := out.Row(i)
		for c, v := range y.Row(i) {
			row[c] = float64(v)
		}
	}
	if s.off < 0 {
		err = s.probe(ctx, x, out)
	}
	return out, fault.InFile(err, part.Name)
}

// probe compares the first coordinates with those of double precision.
func (s *singleEmbedding) probe(ctx context.Context, x points.Points, y blas.Matrix) error {
	exact, err := s.Fitted.Model.Embed(ctx, s.Eng, points.Slice(x, 0, min(singleProbe, x.Len())))
	if err != nil {
		return err
	}
	largest, off := 0.0, 0.0
	for i := range exact.Rows {
		row := y.Row(i)
		for c, v := range exact.Row(i) {
			largest, off = max(largest, math.Abs(v)), max(off, math.Abs(row[c]-v))
		}
	}
	s.off = 0
	if off > 0 {
		s.off = off / largest
	}
	return nil
}

func embedSingle(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (blas.Matrix32, error) {
	with, ok := m.(algorithms.SingleEmbedder)
	if !ok {
		return blas.Matrix32{}, &fault.ParamError{Param: "--precision", Value: string(source.Single), Want: "double for a model of method " + m.Method()}
	}
	dense, ok := x.(*points.Dense)
	if !ok {
		return blas.Matrix32{}, &fault.ParamError{Param: "--precision", Value: string(source.Single), Want: "double for other points than dense vectors"}
	}
	narrow, err := points.Narrow(dense)
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("in single precision: %w", err)
	}
	y, err := with.EmbedSingle(ctx, eng, narrow)
	return y, usage.RenameParams(err, "precision", "--precision")
}
