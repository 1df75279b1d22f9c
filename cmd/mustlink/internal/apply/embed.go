package apply

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type embedCommand struct {
	*session.Session
	data      source.Data
	precision source.Precision
	out       string
}

func newEmbed(s *session.Session) *cobra.Command {
	e := &embedCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "embed MODEL -i DATA -o OUT",
		SuggestFor: []string{"transform", "apply", "project", "encode"},
		Short:      "map points to the coordinates of a model, for tools that use Euclidean distances",
		Long: `Map points, training rows or new ones, to coordinates: one row for each point, one column for each
dimension of the model. The extension of OUT selects its format (` + session.Endings(", ") + `, each
also .gz); all but .npy keep the column id.

Euclidean distance between coordinates is the learned distance. For krca, and for gml and itml with a
kernel, it is an approximation in so many directions: the summary says which share of the learned
squared distance they hold, over pairs of a sample of the rows. More directions (fit -p dims=0 for
all) hold more. mustlink distance and gram compute the learned metric itself.

Points of ` + session.Endings(" and ") + ` are read, embedded and written block by block, also from a pipe:
their number is bounded by the disk, not by memory. There are two exceptions. From .csv to .npy.gz,
or to .npy on standard output, all points are read first, because .npy begins with their number. A
.parquet or .arrow from a pipe is read first, because its index is at its end.

With --precision single, points are rounded to 24 bits and embedded in single precision, in about
half the time; .npy then takes half the bytes. Coordinates are sums, and have errors of about 1e-6
of the largest terms of these sums. The summary reports the error relative to the coordinates,
measured on the first rows. Single precision requires dense vectors and a model that is a sum of
kernel values or a linear map: krca in the Cholesky form, kbeta with extension=nystrom, gml (except
with the spectral prior), lleratio, itml, kpca, and all linear methods.`,
		Example: `  mustlink embed model.mlk -i new.csv -o embedded.npy
  mustlink embed model.mlk -i new.csv -o - | head -3`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: metric.Checked(s, e.check, e.run),
	}
	e.data.Flags(cmd)
	e.precision.Flag(usage.FlagsOf(cmd), "the computation")
	usage.FlagsOf(cmd).String(&e.out, "output,o", "",
		"the file `OUT` to write, n x dim; - for standard output")
	usage.FlagsOf(cmd).Required("input", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (e *embedCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	e.data.Check(check)
	e.data.LabelOptional = true
	check.Matrix("-o, --output", e.out, e.data.Format)
}

func (e *embedCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	writing := e.Writing(e.out, e.data.Format)
	writing.Single = e.precision == source.Single
	src, err := m.Flags(&e.data).Open(ctx, e.Session, dataset.CountsFirst(e.out, writing))
	if err != nil {
		return err
	}
	rows := m.Rows(metric.Once(src), "embedding")
	half, sample := &singleEmbedding{m, -1}, newShareSample(m)
	rows.Place = func(ctx context.Context, part *dataset.Data) (y blas.Matrix, err error) {
		x, err := m.Prepared(part)
		if err != nil {
			return y, err
		}
		sample.add(x)
		if writing.Single {
			y, err = half.embed(ctx, x)
		} else {
			y, err = m.Record().Model.Embed(ctx, m.Eng, x)
		}
		return y, fault.InFile(err, part.Name)
	}
	dim := m.Dim()
	n, err := metric.WriteCoordinates(ctx, e.out, rows, src.Rows, dim, writing)
	if err != nil {
		return err
	}
	if half.singleError > maxSingleError {
		e.Warnf("coordinates in single precision have an error of %.1g of the largest one, in the first "+
			"rows: want --precision double, as the terms of this model cancel", half.singleError)
	}
	r := embedReport{matrixReport: matrixReport{Method: m.Name(), Rows: n, Cols: dim, Output: e.out,
		Warnings: e.Warnings()}}
	if r.Share, err = sample.share(ctx, m); err != nil {
		return err
	}
	if writing.Single {
		r.Precision, r.Off = string(source.Single), &half.singleError
	}
	return e.Summarize(e.out, r, r.text)
}

// maxSingleError is the error of single precision, relative to the largest coordinate, above which
// there is a warning.
const maxSingleError = 1e-3

// embedReport is the result of `mustlink embed`.
type embedReport struct {
	matrixReport
	Precision string   `json:"precision,omitempty"` // single, or ""
	Off       *float64 `json:"single_error,omitempty"`
	Share     *float64 `json:"embedded_share,omitempty"` // of the learned squared distance, nil for all of it
}

func (r embedReport) text(w io.Writer) {
	r.matrixReport.text(w)
	if r.Share != nil {
		fmt.Fprintf(w, "the coordinates hold %.4g of the learned squared distance, in a sample of the rows\n",
			*r.Share)
	}
	if r.Off != nil {
		fmt.Fprintf(w, "single precision, error %.1g of the largest coordinate in the first rows\n", *r.Off)
	}
}

// singleEmbedding embeds with a model in single precision, and compares the first rows with double
// precision.
type singleEmbedding struct {
	*metric.Metric
	// singleError is the largest difference from double precision in the first rows, relative to
	// the largest coordinate; negative before the first row.
	singleError float64
}

// probedRows is the number of rows that are also embedded in double precision.
const probedRows = 64

// embed embeds dense vectors and returns the coordinates in double precision, exactly.
func (s *singleEmbedding) embed(ctx context.Context, x points.Points) (blas.Matrix, error) {
	y, err := embedSingle(ctx, s.Eng, s.Record().Model, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	out := s.Eng.NewMatrix(y.Rows, y.Cols)
	for i := range y.Rows {
		row := out.Row(i)
		for c, v := range y.Row(i) {
			row[c] = float64(v)
		}
	}
	if s.singleError < 0 {
		err = s.probe(ctx, x, out)
	}
	return out, err
}

// probe compares the first coordinates with those of double precision.
func (s *singleEmbedding) probe(ctx context.Context, x points.Points, y blas.Matrix) error {
	exact, err := s.Record().Model.Embed(ctx, s.Eng, points.Slice(x, 0, min(probedRows, x.Len())))
	if err != nil {
		return err
	}
	largest, singleError := 0.0, 0.0
	for i := range exact.Rows {
		row := y.Row(i)
		for c, v := range exact.Row(i) {
			largest, singleError = max(largest, math.Abs(v)), max(singleError, math.Abs(row[c]-v))
		}
	}
	s.singleError = 0
	if singleError > 0 {
		s.singleError = singleError / largest
	}
	return nil
}

func embedSingle(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	x points.Points) (blas.Matrix32, error) {
	with, is := m.(algorithms.SingleEmbedder)
	dense, vectors := x.(*points.Dense)
	refused := &fault.ParamError{Param: "--precision", Value: string(source.Single)}
	switch {
	case !is:
		refused.Want = "double for a model of method " + m.Method()
		return blas.Matrix32{}, refused
	case !vectors:
		refused.Want = "double for other points than dense vectors"
		return blas.Matrix32{}, refused
	}
	narrow, err := points.Narrow(dense)
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("in single precision: %w", err)
	}
	y, err := with.EmbedSingle(ctx, eng, narrow)
	return y, usage.RenameParams(err, "precision", "--precision")
}

// shareSample draws rows in which the share of the learned distance that an embedding holds is
// measured. It draws from all rows of a table, whatever the size of its blocks, and from the first
// block of other points.
type shareSample struct {
	rng  *rand.Rand
	seen int
	rows points.Points // nil for none
}

// newShareSample returns a sample for the model of m, and nil for a model whose embedding is exact.
func newShareSample(m *metric.Metric) *shareSample {
	if p, is := m.Record().Model.(algorithms.Projection); !is || !p.Projected() {
		return nil
	}
	return &shareSample{rng: rand.New(rand.NewPCG(0, 0x656d626564))}
}

// add draws from a block of prepared rows: it keeps each of the rows so far with the same
// probability.
func (s *shareSample) add(block points.Points) {
	x, is := block.(*points.Dense)
	switch {
	case s == nil || !is && s.rows != nil:
		return
	case !is:
		s.rows = block
		return
	case s.rows == nil:
		s.rows = &points.Dense{D: x.D}
	}
	kept := s.rows.(*points.Dense)
	for i := range x.N {
		s.seen++
		if kept.N < catalog.ShareRows {
			kept.N, kept.Data = kept.N+1, append(kept.Data, x.Row(i)...)
		} else if at := s.rng.IntN(s.seen); at < kept.N {
			copy(kept.Row(at), x.Row(i))
		}
	}
}

// share returns the share in the rows of the sample, nil if it is unknown or the embedding is
// exact.
func (s *shareSample) share(ctx context.Context, m *metric.Metric) (*float64, error) {
	if s == nil || s.rows == nil {
		return nil, nil
	}
	share, err := m.Record().Share(ctx, m.Eng, s.rows)
	if err != nil || share == 0 || share > 1-1e-9 {
		return nil, err
	}
	return &share, nil
}
