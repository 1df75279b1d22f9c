package krca

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Incremental is a learned kernel that grows by chunklets, without being fitted again.
//
// What stays fixed is s = n eps (the paper's redefined epsilon); eps = s/n shrinks as the
// number n of points in chunklets grows. After any sequence of updates the learned kernel
// is that of [learner.Learner.Fit] with fixed_s = s on the chunklets there are now, up to rounding.
//
// Each update borders the Cholesky factor of (1b) by one row for every new vector of F:
//
//	R_BA = F_B'K F_A,   L_BA = R_BA L_A'^-1,   L_B L_B' = sI + F_B'K F_B - L_BA L_BA'
//
// With r rows before and b new ones that is O(r^2 b) flops, and O(n d) for the kernel values
// of each point in a chunklet that is new, extended or merged. Gram and Distances serve
// between updates; the embedding, an eigendecomposition, is computed by Model only.
//
// An update that fails or is canceled changes nothing. The formula is (1b) throughout:
// unlike Fit, an update does not look for cancellation. An Incremental shares no memory with
// the model that it came from and is not safe for concurrent use.
type Incremental struct {
	params    Params
	kernel    kernel.Kernel
	eps       float64
	store     points.Points // all stored points: the model's support, then new ones
	positions []int         // of each point in a chunklet (an anchor), its place in store
	refs      []int         // positions of the reference points of the embedding, ascending
	anchors   points.Points // the points in chunklets: store at places
	f         helmert
	factor    blas.Matrix // L in its leading rows and columns; the rest is room to grow
	groups    groups
	growth    growth
	notices   []string
}

// unquoted is a value that a message shows without quotes.
type unquoted string

// CheckUpdate implements [algorithms.UpdateChecker]. Two kinds of models are refused with a
// *fault.ParamError: those in the spectral form, since (1c) has no factor to border (fit with
// form=cholesky), and those of other points than vectors and sequences: of a precomputed Gram
// matrix a model does not keep the rows.
func (m *Model) CheckUpdate() error {
	if m.metric.spectral() {
		return fault.Param("form of the model to update", string(FormSpectral),
			"cholesky (fit with form=cholesky)")
	}
	if !growable(m.embed.support) {
		kind := fmt.Sprintf("one of %T", m.embed.support)
		if _, ok := m.embed.support.(*points.Gram); ok {
			kind = "one of a precomputed Gram matrix, whose rows it does not keep"
		}
		return fault.Param("model to update", unquoted(kind),
			"one of vectors or sequences, or a fit on all points")
	}
	return nil
}

// Incremental returns the model's learned kernel for updates. Errors are those of
// [Model.CheckUpdate].
func (m *Model) Incremental() (*Incremental, error) {
	if err := m.CheckUpdate(); err != nil {
		return nil, err
	}
	k, n := m.metric, m.metric.f.points()
	u := &Incremental{
		params:    m.Params(),
		kernel:    k.kernel,
		eps:       k.eps,
		store:     m.embed.support.Select(points.UpTo(m.embed.support.Len())),
		positions: slices.Clone(m.embed.chunklet),
		refs:      slices.Clone(m.embed.landmarks),
		anchors:   k.anchors.Select(points.UpTo(n)),
		f:         helmert{start: k.f.start, columns: slices.Clone(k.f.columns), count: n},
		factor:    k.factor.Clone(),
		growth:    growth{slices.Clone(m.growth.history), slices.Clone(m.growth.created), m.growth.s},
	}
	if u.growth.s == 0 {
		u.growth.s = float64(n) * k.eps
	}
	if u.f.columns == nil {
		u.f.columns = columnsOf(u.f.start)
	}
	u.groups = replay(n, u.f.columns, u.created())
	return u, nil
}

// created returns the first points of all chunklets, in order of creation.
func (u *Incremental) created() []int {
	start := u.f.start
	return append(slices.Clone(start[:len(start)-1]), u.growth.created...)
}

// Chunklets returns the number of chunklets that were created, including merged ones. The numbers
// of chunklets are below it.
func (u *Incremental) Chunklets() int { return len(u.groups.created) }

// Points returns n, the number of points in chunklets.
func (u *Incremental) Points() int { return len(u.positions) }

// Updates returns the number of updates that DropLast can drop.
func (u *Incremental) Updates() int { return len(u.growth.history) }

// Eps returns the regularization in units of the kernel, s/n.
func (u *Incremental) Eps() float64 { return u.eps }

// Notices returns remarks on the updates so far, such as merged chunklets.
func (u *Incremental) Notices() []string { return slices.Clone(u.notices) }

// Add adds new chunklets of rows of x, in one update. Lists that share a row are merged,
// with a notice. A list of one row is a chunklet of one point, which counts in n.
// Errors are those of [Incremental.Update]. O(n^2) for each new point, n those in chunklets so far.
func (u *Incremental) Add(ctx context.Context, eng *engine.Engine, x points.Points,
	chunklets ...[]int) error {
	list := make([]algorithms.Chunklet, len(chunklets))
	for i, rows := range chunklets {
		list[i] = algorithms.Chunklet{ID: algorithms.NewChunklet, Rows: rows}
	}
	return u.Update(ctx, eng, x, list)
}

// Extend adds rows of x to the chunklet of that number.
// Errors and cost are those of [Incremental.Update].
func (u *Incremental) Extend(ctx context.Context, eng *engine.Engine, x points.Points, id int,
	rows ...int) error {
	return u.Update(ctx, eng, x, []algorithms.Chunklet{{ID: id, Rows: rows}})
}

// Update adds new chunklets and extends existing ones. Every different row of x that is
// named becomes one new point; a row named by two chunklets merges them, with a notice.
//
// Errors: points that the model does not take, as for Model.Embed; a row or a chunklet
// that does not exist, an empty chunklet, or no chunklet (*fault.DataError); the memory
// limit; ctx.Err(), wrapped.
func (u *Incremental) Update(ctx context.Context, eng *engine.Engine, x points.Points,
	chunklets []algorithms.Chunklet) error {
	if err := fitted.CheckPoints(x, u.current().embed.support); err != nil {
		return err
	}
	if !growable(x) {
		return fault.Data("", "got points of type %T: want vectors", x)
	}
	if err := u.validate(x.Len(), chunklets); err != nil {
		return err
	}
	if err := validRows(x, chunklets); err != nil {
		return err
	}
	return u.change(ctx, eng, func() { u.plan(x, chunklets) })
}

// validRows returns an error for the first value out of range in the rows of chunklets. It does not
// check other rows, so that an update in a stream does not take time for all rows.
func validRows(x points.Points, chunklets []algorithms.Chunklet) error {
	var rows []int
	for _, c := range chunklets {
		rows = append(rows, c.Rows...)
	}
	err := input.Points(x.Select(rows))
	if d, ok := errors.AsType[*fault.DataError](err); ok && d.Row >= 0 {
		moved := *d
		moved.Row = rows[d.Row]
		return &moved
	}
	return err
}

// Merge makes one chunklet of two, as one update. It adds no points.
// A chunklet that does not exist, or twice the same, is a *fault.DataError. O(n^2).
func (u *Incremental) Merge(ctx context.Context, eng *engine.Engine, first, second int) error {
	for _, id := range []int{first, second} {
		if err := u.checkID(id); err != nil {
			return err
		}
	}
	a, b := u.name(first), u.name(second)
	if a == b {
		return fault.Data("", "chunklets %d and %d are one already: want two chunklets", first, second)
	}
	return u.change(ctx, eng, func() { u.join(min(a, b), max(a, b)) })
}

// change calls plan to append points and columns, and borders the factor by the new columns. If
// that fails, it restores the state before.
func (u *Incremental) change(ctx context.Context, eng *engine.Engine, plan func()) error {
	now, said := u.mark(), len(u.notices)
	plan()
	if err := u.border(ctx, eng, now.columns); err != nil {
		u.restore(now)
		u.notices = u.notices[:said]
		return input.Failed(ctx, Method+":", err)
	}
	u.f.count = len(u.positions)
	u.eps = u.growth.s / float64(u.f.count)
	u.growth.history = append(u.growth.history, now)
	return nil
}

func (u *Incremental) mark() mark {
	return mark{len(u.positions), len(u.f.columns), len(u.growth.created), len(u.refs), u.eps}
}

// restore returns to a mark. The factor beyond its columns is not read.
func (u *Incremental) restore(m mark) {
	left := u.store.Len() - (len(u.positions) - m.points)
	u.store, u.anchors = firstPoints(u.store, left), firstPoints(u.anchors, m.points)
	u.positions, u.refs = u.positions[:m.points], u.refs[:m.references]
	u.f.columns, u.f.count = u.f.columns[:m.columns], m.points
	u.growth.created = u.growth.created[:m.created]
	u.eps = m.eps
	u.groups = replay(m.points, u.f.columns, u.created())
}

// DropLast drops the latest count updates, which may include updates before the model was saved.
// The learned kernel is then bit-identical to the earlier one. Truncating the factor takes O(1),
// rebuilding the lists of points O(n). A count that is not from 1 to the number of updates is a
// *fault.ParamError.
func (u *Incremental) DropLast(count int) error {
	have := len(u.growth.history)
	switch {
	case have == 0:
		return fault.Param("number of updates to drop", count, "none, since the model has no updates")
	case count < 1 || count > have:
		return fault.Param("number of updates to drop", count, "1 to %d, the number of updates", have)
	}
	u.restore(u.growth.history[have-count])
	u.growth.history = u.growth.history[:have-count]
	return nil
}

// basis returns F. Without updates it is that of the fit, so that the model is bit-identical to
// that of the fit.
func (u *Incremental) basis() helmert {
	if len(u.growth.history) == 0 {
		return helmert{start: u.f.start}
	}
	return u.f
}

// metric returns the current learned kernel. It shares memory with u and is valid until the next
// update.
func (u *Incremental) metric() *metric {
	r := len(u.f.columns)
	return &metric{kernel: u.kernel, anchors: u.anchors, f: u.basis(), eps: u.eps,
		factor: u.factor.View(0, r, 0, r)}
}

// current returns a model without an embedding, which is valid until the next update.
func (u *Incremental) current() *Model {
	return &Model{metric: u.metric(), embed: &embedding{support: u.store}}
}

// Gram evaluates the learned kernel as [Model.Gram] does, with the same cost and errors.
func (u *Incremental) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return u.current().Gram(ctx, eng, x, y)
}

// Distances returns squared learned distances as [Model.Distances] does, with the same cost and
// errors.
func (u *Incremental) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return u.current().Distances(ctx, eng, x, pairs)
}

// name returns the point that names the chunklet of that number.
func (u *Incremental) name(id int) int { return u.groups.name[u.groups.created[id]] }

func (u *Incremental) checkID(id int) error {
	if id < 0 || id >= u.Chunklets() {
		return fault.Data("", "chunklet %d does not exist in the model: want 0 to %d", id, u.Chunklets()-1)
	}
	return nil
}

func (u *Incremental) validate(n int, chunklets []algorithms.Chunklet) error {
	if len(chunklets) == 0 {
		return fault.Data("", "the update has no chunklets: want at least one")
	}
	for c, chunklet := range chunklets {
		if chunklet.ID != algorithms.NewChunklet {
			if err := u.checkID(chunklet.ID); err != nil {
				return err
			}
		}
		if len(chunklet.Rows) == 0 {
			return fault.Data("", "chunklet %d of the update is empty: want at least one row", c)
		}
		for _, row := range chunklet.Rows {
			if row < 0 || row >= n {
				return fault.Data("", "chunklet %d of the update: row %d does not exist: want 0 to %d", c,
					row, n-1)
			}
		}
	}
	return nil
}

// plan appends the points and columns of an update.
func (u *Incremental) plan(x points.Points, chunklets []algorithms.Chunklet) {
	of := map[int]int{} // the point that each row of x became
	var rows []int
	merges, shared := 0, -1
	for _, chunklet := range chunklets {
		name := -1
		if chunklet.ID != algorithms.NewChunklet {
			name = u.name(chunklet.ID)
		}
		first := -1
		for _, row := range chunklet.Rows {
			p, seen := of[row]
			if !seen {
				p = u.groups.add()
				of[row], rows = p, append(rows, row)
			}
			if first < 0 {
				first = p
			}
			group := u.groups.name[p]
			if seen && group != name {
				merges++
				if shared < 0 {
					shared = row
				}
			}
			switch {
			case name < 0:
				name = group
			case name != group:
				a, b := min(name, group), max(name, group) // the older names the union
				u.join(a, b)
				name = a
			}
		}
		if chunklet.ID == algorithms.NewChunklet {
			u.growth.created = append(u.growth.created, first)
			u.groups.created = append(u.groups.created, first)
		}
	}
	u.append(x, rows)
	if merges > 0 {
		u.notices = append(u.notices, mergeNotice(merges, shared))
	}
}

func mergeNotice(merges, row int) string {
	if merges == 1 {
		return fmt.Sprintf("two chunklets of the update share row %d: merged", row)
	}
	return fmt.Sprintf("chunklets of the update share rows (the first is row %d): merged, %d times", row,
		merges)
}

func (u *Incremental) join(a, b int) {
	u.f.columns = append(u.f.columns, u.groups.join(a, b))
}

// append stores rows of x as points in chunklets. They become reference points of the
// embedding too, while those are fewer than landmarks allows.
func (u *Incremental) append(x points.Points, rows []int) {
	limit := u.params.Landmarks
	if limit == 0 {
		limit = maxLandmarks
	}
	at := u.store.Len()
	u.store, u.anchors = appendPoints(u.store, x, rows), appendPoints(u.anchors, x, rows)
	for i := range rows {
		u.positions = append(u.positions, at+i)
		if len(u.refs) < limit {
			u.refs = append(u.refs, at+i)
		}
	}
}

// touched returns the points of all chunklets that a column from r on merges.
func (u *Incremental) touched(r int) []int {
	var out []int
	done := map[int]bool{}
	for _, c := range u.f.columns[r:] {
		if name := u.groups.name[c.a]; !done[name] {
			done[name] = true
			out = append(out, u.groups.members[name]...)
		}
	}
	slices.Sort(out)
	return out
}

// growable reports whether appendPoints takes points like x.
func growable(x points.Points) bool {
	switch x.(type) {
	case *points.Dense, *points.CSR, *points.Sequences:
		return true
	}
	return false
}

// appendPoints returns x followed by the given rows of y, in the storage of x: dense,
// sparse or sequences. The memory of x is reused where it has room, as by append.
func appendPoints(x, y points.Points, rows []int) points.Points {
	switch x := x.(type) {
	case *points.Dense:
		out := &points.Dense{N: x.N + len(rows), D: x.D, Data: x.Data[:x.N*x.D]}
		for _, i := range rows {
			out.Data = appendDense(out.Data, y, i)
		}
		return out
	case *points.CSR:
		end := x.Start[x.N]
		out := &points.CSR{N: x.N + len(rows), D: x.D, Start: x.Start[:x.N+1], Col: x.Col[:end],
			Val: x.Val[:end]}
		for _, i := range rows {
			appendSparse(out, y, i)
		}
		return out
	case *points.Sequences:
		out := firstPoints(x, x.Len()).(*points.Sequences)
		for _, i := range rows {
			out.Letters = append(out.Letters, y.(*points.Sequences).Row(i)...)
			out.Start = append(out.Start, len(out.Letters))
		}
		return out
	}
	panic("krca: points that cannot grow") // Incremental lets none through
}

func appendDense(data []float64, y points.Points, i int) []float64 {
	switch y := y.(type) {
	case *points.Dense:
		return append(data, y.Row(i)...)
	case *points.CSR:
		at := len(data)
		data = append(data, make([]float64, y.D)...)
		col, val := y.Row(i)
		for k, c := range col {
			data[at+int(c)] = val[k]
		}
	}
	return data
}

func appendSparse(x *points.CSR, y points.Points, i int) {
	switch y := y.(type) {
	case *points.CSR:
		col, val := y.Row(i)
		x.Col, x.Val = append(x.Col, col...), append(x.Val, val...)
	case *points.Dense:
		for j, v := range y.Row(i) {
			if v != 0 {
				x.Col, x.Val = append(x.Col, int32(j)), append(x.Val, v)
			}
		}
	}
	x.Start = append(x.Start, len(x.Col))
}

// firstPoints returns the first n points of x, sharing memory.
func firstPoints(x points.Points, n int) points.Points {
	switch x := x.(type) {
	case *points.Dense:
		return &points.Dense{N: n, D: x.D, Data: x.Data[:n*x.D]}
	case *points.CSR:
		end := x.Start[n]
		return &points.CSR{N: n, D: x.D, Start: x.Start[:n+1], Col: x.Col[:end], Val: x.Val[:end]}
	case *points.Sequences:
		return &points.Sequences{Alphabet: x.Alphabet, Start: x.Start[:n+1], Letters: x.Letters[:x.Start[n]]}
	}
	panic("krca: points that cannot grow")
}
