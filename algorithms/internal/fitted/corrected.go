package fitted

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Correction is the change of a kernel k by learning, for any two points: the learned kernel is
//
//	Scale k(x, y) - c(x)' Change c(y),   c(x) = Turn' k(l, x)
//
// where l are Rows of the stored points of an expansion.
type Correction struct {
	Scale  float64
	Rows   []int       // nil for all stored points
	Turn   blas.Matrix // |l| x q, upper triangular if there are Rows
	Change blas.Matrix // q x q, exactly symmetric
}

// corrected is an expansion whose Gram matrix and distances are those of the learned kernel itself.
// Its coordinates are a projection on some directions.
type corrected struct {
	*expansion
	by      Correction
	anchors points.Points // l
}

// Corrected returns the expansion m with the Gram matrices and distances of a learned kernel. It
// keeps the matrices of c. A Gram matrix of n rows costs their kernel values with each other and
// with the points l, 2 q^2 flops for each row and 2 q for each element; distances cost 4 q^2 flops
// for each row and 2 q for each pair.
func Corrected(m *Map, c Correction) *Map {
	e := m.expansion()
	anchors := e.support
	if c.Rows != nil {
		anchors = SelectPoints(anchors, c.Rows)
	}
	return &Map{&corrected{e, c, anchors}, m.method}
}

// Project changes m, which no model may share yet: its Gram matrices and distances become those of
// its coordinates.
func (m *Map) Project() {
	if c, is := m.form.(*corrected); is {
		m.form = c.expansion
	}
}

// Projected reports whether Embed is a projection of what Gram and Distances compute.
func (m *Map) Projected() bool {
	_, is := m.form.(*corrected)
	return is
}

// width is the number of coordinates c.
func (c *corrected) width() int { return c.by.Change.Rows }

// changes writes the coordinates c(x) of points.
func (c *corrected) changes(ctx context.Context, eng *engine.Engine, to blas.Matrix, x points.Points) error {
	return c.kernel.MultiplyTo(ctx, eng, to, x, c.anchors, c.by.Turn)
}

// correctedRows is the number of rows of a Gram matrix that are computed at a time.
const correctedRows = 512

// gram returns the learned kernel between points that passed check. A nil y means x.
func (c *corrected) gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if y == nil {
		return c.symmetric(ctx, eng, x)
	}
	k, right := eng.UnclearedMatrix(x.Len(), y.Len()), eng.GetMatrix(y.Len(), c.width())
	defer eng.PutMatrix(right)
	if err := c.changes(ctx, eng, right, y); err != nil {
		return k, err
	}
	for lo := 0; lo < x.Len(); lo += correctedRows {
		hi := min(lo+correctedRows, x.Len())
		part, to := points.Slice(x, lo, hi), k.View(lo, hi, 0, k.Cols)
		if err := c.kernel.CrossTo(ctx, eng, to, part, y); err != nil {
			return k, fault.InRows(err, lo)
		}
		left := eng.GetMatrix(hi-lo, c.width())
		err := c.changes(ctx, eng, left, part)
		if err == nil {
			err = c.correct(ctx, eng, to, left, right)
		}
		eng.PutMatrix(left)
		if err != nil {
			return k, fault.InRows(err, lo)
		}
	}
	return k, nil
}

// symmetric is gram of points with themselves.
func (c *corrected) symmetric(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	k, all := eng.UnclearedMatrix(x.Len(), x.Len()), eng.GetMatrix(x.Len(), c.width())
	defer eng.PutMatrix(all)
	if err := c.changes(ctx, eng, all, x); err != nil {
		return k, err
	}
	if err := c.kernel.GramTo(ctx, eng, k, x); err != nil {
		return k, err
	}
	for lo := 0; lo < x.Len(); lo += correctedRows {
		hi := min(lo+correctedRows, x.Len())
		left := all.View(lo, hi, 0, all.Cols)
		if err := c.correct(ctx, eng, k.View(lo, hi, 0, hi), left, all.View(0, hi, 0, all.Cols)); err != nil {
			return k, err
		}
	}
	eng.Mirror(k)
	return k, nil
}

// correct turns values of k between rows with the coordinates left and right into learned ones.
func (c *corrected) correct(ctx context.Context, eng *engine.Engine, k, left, right blas.Matrix) error {
	half := eng.GetMatrix(left.Rows, c.width())
	defer eng.PutMatrix(half)
	eng.Backend().Gemm(false, false, 1, left, c.by.Change, 0, half)
	eng.Backend().Gemm(false, true, -1, half, right, c.by.Scale, k)
	return ctx.Err()
}

// distances returns the squared learned distances of pairs of rows of x, whose distinct rows are
// few enough for the memory.
func (c *corrected) distances(
	ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
) ([]float64, error) {
	out, err := c.kernel.Squared().Pairs(ctx, eng, x, pairs)
	if err != nil {
		return nil, err
	}
	at, half := eng.GetMatrix(x.Len(), c.width()), eng.GetMatrix(x.Len(), c.width())
	defer eng.PutMatrix(at)
	defer eng.PutMatrix(half)
	if err := c.changes(ctx, eng, at, x); err != nil {
		return nil, err
	}
	eng.Backend().Gemm(false, false, 1, at, c.by.Change, 0, half)
	return out, eng.Each(ctx, len(pairs), 1024, func(p int) {
		i, j := pairs[p][0], pairs[p][1]
		x, y, change := at.Row(i), at.Row(j), 0.0
		for r, v := range half.Row(i) {
			change += (x[r] - y[r]) * (v - half.At(j, r))
		}
		out[p] = max(0, c.by.Scale*out[p]-change)
	})
}

// checkedGram is gram for points that are not checked yet.
func (c *corrected) checkedGram(
	ctx context.Context, eng *engine.Engine, method string, x, y points.Points,
) (blas.Matrix, error) {
	rows, cols := x.Len(), x.Len()
	if y != nil {
		if err := c.check(method, y); err != nil {
			return blas.Matrix{}, err
		}
		cols = y.Len()
	}
	need := engine.MatrixBytes(rows, cols) + engine.MatrixBytes(cols+2*min(rows, correctedRows), c.width())
	what := fmt.Sprintf("learned kernel matrix %d x %d", rows, cols)
	if err := eng.Check(what, need, "take fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	k, err := c.gram(ctx, eng, x, y)
	if err == nil {
		err = eng.For(ctx, rows, correctedRows, func(lo, hi int) error {
			return finite(lo, hi, k.Row, notKernel)
		})
	}
	return k, input.Failed(ctx, method+":", err)
}

const notKernel = "of the learned kernel are not representable: want smaller values (standardize the data)"

// groupRows is the largest number of distinct rows whose distances are computed at a time.
const groupRows = 4096

// checkedDistances is distances for points and pairs that are not checked yet, in groups of pairs.
func (c *corrected) checkedDistances(
	ctx context.Context, eng *engine.Engine, method string, x points.Points, pairs [][2]int,
) ([]float64, error) {
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return nil, err
	}
	most := min(2*len(pairs), x.Len(), groupRows)
	what, need := fmt.Sprintf("learned distances of %d points", most), 2*engine.MatrixBytes(most, c.width())
	if err := eng.Check(what, need, "ask for fewer pairs at a time"); err != nil {
		return nil, err
	}
	out := make([]float64, 0, len(pairs))
	for len(out) < len(pairs) {
		first := len(out)
		hi, place := input.Group(pairs, first, groupRows)
		rows, local := make([]int, len(place)), make([][2]int, hi-first)
		for row, at := range place {
			rows[at] = row
		}
		for p, pair := range pairs[first:hi] {
			local[p] = [2]int{place[pair[0]], place[pair[1]]}
		}
		d, err := c.distances(ctx, eng, x.Select(rows), local)
		if err != nil {
			return nil, input.Failed(ctx, method+":", fault.InSelection(err, rows))
		}
		out = append(out, d...)
	}
	for p, pair := range pairs {
		if out[p]-out[p] != 0 {
			return nil, notFinite(p, pair, out[p])
		}
	}
	return out, nil
}

// notFinite is the error of a distance that is not representable.
func notFinite(p int, pair [2]int, v float64) error {
	return fault.Row(p, "the learned distance of points %d and %d is %v: want smaller values "+
		"(standardize the data)", pair[0], pair[1], v)
}

// Suffixes of the tensors of a correction, and its members of the header.
const (
	tensorChange  = ".change"      // [q(q+1)/2]: the lower triangle by rows
	tensorTurn    = ".change.turn" // [|l|, q], or [q(q+1)/2]: the lower triangle of its transpose
	tensorChanged = ".change.rows" // [q]: l among the stored points, absent for all
)

type aboutCorrected struct {
	MapHeader
	Scale float64 `json:"kernel_scale,omitempty"`
}

func (c *corrected) encode(f *model.File, method string) any {
	SetTriangle(f, method+tensorChange, c.by.Change)
	if c.by.Rows == nil {
		SetMatrix(f, method+tensorTurn, c.by.Turn)
	} else {
		f.SetInt64s(method+tensorChanged, Int64s(c.by.Rows))
		turned := blas.NewMatrix(c.width(), c.width())
		c.by.Turn.TransposeTo(turned)
		SetTriangle(f, method+tensorTurn, turned)
	}
	return aboutCorrected{c.expansion.encode(f, method).(MapHeader), c.by.Scale}
}

// readCorrection returns the expansion m of a file with the correction that the file has, or m.
func readCorrection(m *Map, f *model.File) (*Map, error) {
	if !f.Has(m.method + tensorChange) {
		return m, nil
	}
	var about aboutCorrected
	if err := ReadExtra(f, m.method, &about); err != nil {
		return nil, err
	}
	if !(about.Scale > 0) || math.IsInf(about.Scale, 0) {
		return nil, InHeader(fault.Data("", "kernel_scale is %g: want a finite number > 0", about.Scale))
	}
	c := Correction{Scale: about.Scale}
	err := c.readTurn(f, m)
	if err != nil {
		return nil, err
	}
	if c.Change, err = ReadTriangle(f, m.method+tensorChange, c.Turn.Cols); err != nil {
		return nil, err
	}
	c.Change.Mirror()
	return Corrected(m, c), nil
}

// readTurn reads Rows and Turn of the correction of m.
func (c *Correction) readTurn(f *model.File, m *Map) (err error) {
	if !f.Has(m.method + tensorChanged) {
		data, err := ReadFinite(f, m.method+tensorTurn, m.Support(), -1)
		if err == nil && len(data) == 0 {
			err = EmptyTensor(m.method + tensorTurn)
		}
		if err == nil {
			c.Turn = blas.MatrixOf(m.Support(), len(data)/m.Support(), data)
		}
		return err
	}
	if c.Rows, err = ReadIndices(f, m.method+tensorChanged, m.Support()); err != nil {
		return err
	}
	if len(c.Rows) == 0 {
		return EmptyTensor(m.method + tensorChanged)
	}
	turned, err := ReadTriangle(f, m.method+tensorTurn, len(c.Rows))
	if err == nil {
		c.Turn = blas.NewMatrix(turned.Rows, turned.Rows)
		turned.TransposeTo(c.Turn)
	}
	return err
}

// SetTriangle stores the lower triangle of a square matrix by rows.
func SetTriangle(f *model.File, name string, m blas.Matrix) {
	out := make([]float64, 0, m.Rows*(m.Rows+1)/2)
	for i := range m.Rows {
		out = append(out, m.Row(i)[:i+1]...)
	}
	f.SetFloat64s(name, out)
}

// ReadTriangle reads what [SetTriangle] stored, of order n, with zeros above the diagonal.
func ReadTriangle(f *model.File, name string, n int) (blas.Matrix, error) {
	data, err := ReadFinite(f, name, n*(n+1)/2)
	if err != nil {
		return blas.Matrix{}, err
	}
	m := blas.NewMatrix(n, n)
	for i := range n {
		copy(m.Row(i), data[:i+1])
		data = data[i+1:]
	}
	return m, nil
}
