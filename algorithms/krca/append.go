package krca

import "github.com/mustlink/mustlink/engine/points"

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
