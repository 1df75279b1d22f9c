package krca

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Additional tensors of an updated model. Its chunklet.points lists the points of all updates after
// those of the fit, in the order of arrival.
const (
	tensorColumns = "update.columns"   // [columns, 2]: a and b of the columns after the fit's
	tensorHistory = "update.history"   // [updates, 4]: the marks
	tensorPastEps = "update.eps"       // [updates]: eps before each update
	tensorCreated = "update.chunklets" // [chunklets]: the first points of the new chunklets
)

// growth is what a model remembers of its updates.
type growth struct {
	history []mark
	created []int   // first points of the chunklets after the fit's, in order of creation
	s       float64 // n eps, what updates hold fixed; 0 in a model that was not updated
}

// mark is the state before an update. Updates only append, so going back is cutting off.
type mark struct {
	points, columns int // counts of points in chunklets and of columns of F
	created         int // count of chunklets created by updates
	references      int // count of reference points of the embedding
	eps             float64
}

func (g growth) encode(f *model.File, basis helmert) {
	if len(g.history) == 0 {
		return
	}
	var pairs, marks []int64
	var eps []float64
	for _, c := range basis.columns[g.history[0].columns:] {
		pairs = append(pairs, int64(c.a), int64(c.b))
	}
	for _, m := range g.history {
		marks = append(marks, int64(m.points), int64(m.columns), int64(m.created), int64(m.references))
		eps = append(eps, m.eps)
	}
	f.SetInt64s(tensorColumns, pairs, len(pairs)/2, 2)
	f.SetInt64s(tensorHistory, marks, len(g.history), 4)
	f.SetFloat64s(tensorPastEps, eps)
	f.SetInt64s(tensorCreated, fitted.Int64s(g.created))
}

// decodeGrowth reads what growth.encode wrote and completes the basis. It must come after
// the chunklets of the fit.
func (m *Model) decodeGrowth(f *model.File, about extra) error {
	if about.S == 0 && !f.Has(tensorHistory) {
		return nil
	}
	if about.Form != FormCholesky {
		return fault.Data("", "tensor %s: a model in the %s form has updates: want none", tensorHistory,
			about.Form)
	}
	if !(about.S > 0) || math.IsInf(about.S, 0) {
		return fault.Data("", "header of the model: s is %g: want a finite number > 0", about.S)
	}
	g := growth{s: about.S}
	n := len(m.embed.chunklet)
	raw, err := f.Int64s(tensorColumns, -1, 2)
	if err != nil {
		return err
	}
	if g.created, err = fitted.ReadIndices(f, tensorCreated, n); err != nil {
		return err
	}
	if g.history, err = decodeHistory(f, n, m.metric.f.order()+len(raw)/2, len(g.created)); err != nil {
		return err
	}
	first := g.history[0]
	if base := m.metric.f; first.points != base.points() || first.columns != base.order() ||
		first.created != 0 {
		return fault.Data("",
			"tensor %s: the first update begins at %d points and %d columns: want %d and %d, where the fit "+
				"ended",
			tensorHistory, first.points, first.columns, base.points(), base.order())
	}
	if err := m.metric.f.grow(raw, g, n); err != nil {
		return err
	}
	m.growth = g
	return m.checkCoordinates()
}

// decodeHistory reads the marks, which must ascend up to the given totals.
func decodeHistory(f *model.File, n, columns, created int) ([]mark, error) {
	raw, err := f.Int64s(tensorHistory, -1, 4)
	if err != nil {
		return nil, err
	}
	eps, err := fitted.ReadFinite(f, tensorPastEps, len(raw)/4)
	if err != nil {
		return nil, err
	}
	if len(eps) == 0 {
		return nil, fault.Data("", "tensor %s is empty: want at least one update", tensorHistory)
	}
	out, next := make([]mark, len(eps)), [4]int64{int64(n), int64(columns), int64(created), math.MaxInt32}
	for i := len(eps) - 1; i >= 0; i-- {
		v := [4]int64(raw[4*i : 4*i+4])
		for j, at := range v {
			if at < 0 || at > next[j] {
				return nil, fault.Data("", "tensor %s: element (%d,%d) is %d: want 0 to %d", tensorHistory, i,
					j, at, next[j])
			}
		}
		if !(eps[i] > 0) {
			return nil, fault.Data("", "tensor %s: element %d is %g: want a number > 0", tensorPastEps, i,
				eps[i])
		}
		out[i], next = mark{int(v[0]), int(v[1]), int(v[2]), int(v[3]), eps[i]}, v
	}
	return out, nil
}

// grow appends the columns, given as pairs of names, of all updates to the basis of the
// fit. What belongs to an update may not name points of later ones.
func (f *helmert) grow(pairs []int64, g growth, n int) error {
	columns := columnsOf(f.start)
	fitted := len(columns)
	state := replay(n, columns, nil)
	for i := range g.history {
		limit, end, created := n, fitted+len(pairs)/2, len(g.created)
		if i+1 < len(g.history) {
			limit, end, created = g.history[i+1].points, g.history[i+1].columns, g.history[i+1].created
		}
		for _, p := range g.created[g.history[i].created:created] {
			if p < g.history[i].points || p >= limit {
				return fault.Data("", "tensor %s: point %d begins a chunklet of update %d: want %d to %d",
					tensorCreated, p, i, g.history[i].points, limit-1)
			}
		}
		for t := g.history[i].columns; t < end; t++ {
			a, b := pairs[2*(t-fitted)], pairs[2*(t-fitted)+1]
			if min(a, b) < 0 || max(a, b) >= int64(limit) || a == b || state.members[a] == nil ||
				state.members[b] == nil {
				return fault.Data("", "tensor %s: row %d joins points %d and %d: want names of two groups",
					tensorColumns, t-fitted, a, b)
			}
			columns = append(columns, state.join(int(a), int(b)))
		}
	}
	f.columns, f.count = columns, n
	return nil
}

// checkCoordinates demands that points lie in the order of their arrival, so that taking an
// update back is cutting off the end of the stored points.
func (m *Model) checkCoordinates() error {
	n, stored := len(m.embed.chunklet), m.embed.support.Len()
	fitted := m.growth.history[0].points
	for i, at := range m.embed.chunklet {
		if want := stored - (n - i); i >= fitted && at != want || i < fitted && at >= stored-(n-fitted) {
			return fault.Data("",
				"tensor %s: element %d is %d: want the points in the order of their arrival", tensorChunklet,
				i, at)
		}
	}
	return nil
}

// decodeReferences reads the reference points of the embedding. A header without their
// number means that all stored points are.
func (m *Model) decodeReferences(f *model.File, count int) error {
	e, n := m.embed, len(m.embed.chunklet)
	all := e.support.Len()
	if count != 0 {
		var err error
		if e.landmarks, err = fitted.ReadIndices(f, tensorRefs, all); err != nil {
			return err
		}
		if len(e.landmarks) != count {
			return fault.Data("", "tensor %s has %d values: want %d", tensorRefs, len(e.landmarks), count)
		}
	} else {
		e.landmarks = points.UpTo(all)
	}
	for i := 1; i < len(e.landmarks); i++ {
		if e.landmarks[i] <= e.landmarks[i-1] {
			return fault.Data("", "tensor %s: element %d is %d after %d: want ascending places", tensorRefs,
				i, e.landmarks[i], e.landmarks[i-1])
		}
	}
	for i, past := range m.growth.history {
		left := all - (n - past.points) // all points before the update
		if past.references > len(e.landmarks) || past.references == 0 ||
			e.landmarks[past.references-1] >= left {
			return fault.Data("",
				"tensor %s: update %d began with %d reference points: want 1 or more, each all by then",
				tensorHistory, i, past.references)
		}
	}
	return nil
}

// bytes returns the memory that the model holds.
func (m *Model) bytes() int64 {
	k, e := m.metric, m.embed
	values := len(k.factor.Data) + len(k.basis.Data) + len(k.values) + len(e.weights.Data) +
		len(e.directions.Data) + len(e.referenceC.Data) + len(e.offset) +
		len(e.chunklet) + len(e.reference) + len(e.landmarks) + 4*len(k.f.columns) + 5*len(m.growth.history)
	return 8*int64(values) + points.Bytes(e.support) + points.Bytes(k.anchors)
}

// border extends the factor, valid for the first r columns of F, to all of them.
func (u *Incremental) border(ctx context.Context, eng *engine.Engine, r int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f := helmert{start: u.f.start, columns: u.f.columns, count: len(u.positions)}
	b := len(f.columns) - r
	if b == 0 {
		return nil // chunklets of one point: only n grows
	}
	rows, err := u.contrasts(ctx, eng, f, r)
	if err != nil {
		return err
	}
	err = eng.Each(ctx, b, 16, func(i int) { f.apply(rows.Row(i)) })
	if err != nil {
		return err
	}
	left, corner := rows.View(0, b, 0, r), rows.View(0, b, r, r+b)
	err = checkFinite(ctx, eng, rows.View(0, b, 0, r+b), func(int) error {
		return fault.Data("",
			"a kernel value of a point in the update is not representable: want smaller values (scale the "+
				"data)")
	})
	if err != nil {
		return err
	}
	for i := range b {
		corner.Data[i*corner.Stride+i] += u.growth.s
	}
	solve(eng.Backend(), u.factor.View(0, r, 0, r), left)
	eng.Backend().Syrk(false, -1, left, 1, corner)
	if err := eng.Cholesky(ctx, corner); err != nil {
		var notDefinite *blas.NotPositiveDefiniteError
		if !errors.As(err, &notDefinite) {
			return err
		}
		return &fault.ParamError{Param: "eps", Value: u.eps,
			Want: "a larger number and a new fit, since sI + F'KF has no Cholesky factor after this update"}
	}
	if err := u.reserve(eng, r, r+b); err != nil {
		return err
	}
	for i := range b {
		to := u.factor.Row(r + i)
		copy(to, left.Row(i))
		copy(to[r:r+i+1], corner.Row(i))
	}
	return nil
}

// fewRows is the number of rows up to which a triangular solve is faster row by row.
const fewRows = 4

// solve overwrites b with b L'^-1. For few rows, as a stream of small chunklets has, most of
// the time of Trsm would go into packing L for a product; dot products read it once.
func solve(backend blas.Backend, l, b blas.Matrix) {
	if b.Rows > fewRows {
		backend.Trsm(false, true, l, b)
		return
	}
	dot := backend.Kernels().Dot
	for j := range l.Rows {
		row := l.Row(j)
		for i := range b.Rows {
			x := b.Row(i)
			x[j] = (x[j] - dot(row[:j], x)) / row[j]
		}
	}
}

// contrasts returns F_B'K, b x n, for the columns B of f from r on: the kernel values of the
// points of the chunklets that change, summed up along the trees.
func (u *Incremental) contrasts(ctx context.Context, eng *engine.Engine, f helmert,
	r int) (blas.Matrix, error) {
	touched := u.touched(r)
	n, b := f.count, len(f.columns)-r
	need := addBytes(engine.MatrixBytes(len(touched), n), engine.MatrixBytes(b, n))
	if err := eng.Check(fmt.Sprintf("update of chunklets of %d points", len(touched)), need,
		"update by fewer chunklets at a time"); err != nil {
		return blas.Matrix{}, err
	}
	k := eng.GetMatrix(len(touched), n)
	defer eng.PutMatrix(k)
	if err := u.kernel.CrossTo(ctx, eng, k, u.anchors.Select(touched), u.anchors); err != nil {
		return blas.Matrix{}, err
	}
	place := make(map[int]int, len(touched))
	for i, p := range touched {
		place[p] = i
	}
	out := blas.NewMatrix(b, n)
	for t, c := range f.columns {
		i, ok := place[c.a]
		if !ok {
			continue
		}
		sumA, sumB := k.Row(i), k.Row(place[c.b])
		if t >= r {
			qa, qb, norm := float64(c.qa), float64(c.qb), c.norm()
			for x, row := 0, out.Row(t-r); x < n; x++ {
				row[x] = (qb*sumA[x] - qa*sumB[x]) * norm
			}
		}
		for x, v := range sumB {
			sumA[x] += v
		}
	}
	return out, ctx.Err()
}

// reserve makes room for a factor of order r, of which the first `used` rows are valid. The
// order grows by a quarter at least, so that copying is amortised: O(r^2) in all for each
// order of magnitude, against O(r^2) for every row.
func (u *Incremental) reserve(eng *engine.Engine, used, r int) error {
	if r <= u.factor.Rows {
		return nil
	}
	order := max(r, u.factor.Rows+u.factor.Rows/4, 64)
	if err := eng.Check(fmt.Sprintf("factor of order %d", order),
		addBytes(engine.MatrixBytes(order, order), engine.MatrixBytes(used, used)), fewerLinks); err != nil {
		return err
	}
	larger := eng.NewMatrix(order, order)
	for i := range used {
		copy(larger.Row(i)[:i+1], u.factor.Row(i))
	}
	u.factor = larger
	return nil
}
