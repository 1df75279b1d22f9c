package krca

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

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
				return fault.Data("", "chunklet %d of the update: row %d does not exist: want 0 to %d", c, row, n-1)
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
	return fmt.Sprintf("chunklets of the update share rows (the first is row %d): merged, %d times", row, merges)
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
		out := &points.CSR{N: x.N + len(rows), D: x.D, Start: x.Start[:x.N+1], Col: x.Col[:end], Val: x.Val[:end]}
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
