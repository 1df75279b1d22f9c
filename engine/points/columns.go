package points

import "slices"

// Compact returns the same vectors over the features that occur in them alone, in the same order,
// and the numbers of these features, ascending. Features count as occurring if a value is stored,
// even 0. Rows and values are shared. Time and memory do not grow with the number of features:
// O(values log values), and O(values) where a quarter of the features may occur.
func (p *CSR) Compact() (compact *CSR, columns []int32) {
	if columns = p.occurring(); len(columns) == p.D {
		return p, columns
	}
	out := *p
	out.D, out.Col = len(columns), make([]int32, len(p.Col))
	position := positions(columns, p.D, len(p.Col))
	for k, c := range p.Col {
		out.Col[k] = int32(position(c))
	}
	return &out, columns
}

// Restrict returns the values of the given features, ascending, numbered by their positions in
// columns. Values of other features are left out. Cost: that of [CSR.Compact].
func (p *CSR) Restrict(columns []int32) *CSR {
	out := &CSR{N: p.N, D: len(columns), Start: make([]int, 1, p.N+1)}
	position := positions(columns, p.D, len(p.Col))
	for i := range p.N {
		col, val := p.Row(i)
		for k, c := range col {
			if j := position(c); j >= 0 {
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, val[k])
			}
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// tabled reports whether a table of d features costs no more than so many values do.
func tabled(d, values int) bool { return d/4 <= values }

// occurring returns the features that occur, ascending.
func (p *CSR) occurring() []int32 {
	if !tabled(p.D, len(p.Col)) {
		columns := append(make([]int32, 0, len(p.Col)), p.Col...)
		slices.Sort(columns)
		return slices.Clip(slices.Compact(columns))
	}
	occurs, count := make([]bool, p.D), 0
	for _, c := range p.Col {
		if !occurs[c] {
			occurs[c] = true
			count++
		}
	}
	columns := make([]int32, 0, count)
	for c, yes := range occurs {
		if yes {
			columns = append(columns, int32(c))
		}
	}
	return columns
}

// positions returns a function that finds the position of a feature, out of d, in columns, -1 for
// none, so many times.
func positions(columns []int32, d, times int) func(c int32) int {
	if !tabled(d, times) {
		return func(c int32) int {
			j, found := slices.BinarySearch(columns, c)
			if !found {
				return -1
			}
			return j
		}
	}
	table := make([]int32, d)
	for j, c := range columns {
		table[c] = int32(j) + 1
	}
	return func(c int32) int { return int(table[c]) - 1 }
}
