package maps

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Member is a model made of a map, as all models of this library are.
type Member interface{ Parent() *Map }

// Parent returns the map itself. Models inherit it.
func (m *Map) Parent() *Map { return m }

// turned is the map y = sum_k A_k f_k(x) over the coordinates f_k of its members.
type turned struct {
	members []*Map
	axes    blas.Matrix // one row for each coordinate of each member: A_1', A_2', …
}

// Turned returns the map y = sum_k A_k f_k(x) over the coordinates f_k of the members; axes holds
// the matrices A_1', A_2', … one below the other. Members take the same kind of points. A point
// costs what it costs all members, and 2 Dim flops for each of their coordinates.
func Turned(method string, members []*Map, axes blas.Matrix) *Map {
	return &Map{turned{members, axes}, method}
}

func (t turned) Dim() int              { return t.axes.Cols }
func (t turned) InputDim() int         { return t.members[0].InputDim() }
func (t turned) Alphabet() string      { return t.members[0].Alphabet() }
func (t turned) Kernel() kernel.Kernel { return t.members[0].Kernel() }

func (t turned) check(method string, x points.Points) error {
	for _, m := range t.members {
		if err := m.check(method, x); err != nil {
			return err
		}
	}
	return nil
}

// turnedBytes bounds the memory of the coordinates of a block of rows.
const turnedBytes = 64 << 20

// embed adds the parts of the members to a block of rows, in their order.
func (t turned) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	widest := 0
	for _, m := range t.members {
		widest = max(widest, m.Dim())
	}
	rows := max(1, min(x.Len(), turnedBytes/8/widest))
	memory := eng.GetMatrix(rows, widest)
	defer eng.PutMatrix(memory)
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		part, to := points.Slice(x, lo, hi), y.View(lo, hi, 0, y.Cols)
		first, kept := 0, 0.0 // kept: the factor of what is in the block
		for _, m := range t.members {
			d := m.Dim()
			own := blas.MatrixOf(hi-lo, d, memory.Data[:(hi-lo)*d])
			if err := m.embed(ctx, eng, part, own); err != nil {
				return fault.InRows(err, lo)
			}
			eng.Backend().Gemm(false, false, 1, own, t.axes.View(first, first+d, 0, y.Cols), kept, to)
			first, kept = first+d, 1
		}
	}
	return ctx.Err()
}

func (t turned) single(_ context.Context, _ *engine.Engine, method string, _ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for a model of method " + method + ", which is made of others"}
}

// tensorAxes is the suffix of the tensor that holds the axes.
const tensorAxes = ".axes"

func (t turned) encode(f *model.File, method string) any {
	stored.SetMatrix(f, method+tensorAxes, t.axes)
	return nil
}

// ReadTurned returns the map of these members whose axes are in the file.
func ReadTurned(method string, f *model.File, members []*Map) (*Map, error) {
	total := 0
	for k, m := range members {
		if k > 0 && (m.InputDim() != members[0].InputDim() || m.Alphabet() != members[0].Alphabet()) {
			return nil, stored.InHeader(fault.Data("", "member %d takes other points than member 0: want the same kind and number of features", k))
		}
		total += m.Dim()
	}
	data, err := stored.Finite(f, method+tensorAxes, total, -1)
	if err != nil {
		return nil, err
	}
	if total == 0 || len(data) == 0 {
		return nil, stored.Empty(method + tensorAxes)
	}
	d := len(data) / total
	return Turned(method, members, blas.MatrixOf(total, d, data)), nil
}
