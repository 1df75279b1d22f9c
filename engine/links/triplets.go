package links

import "fmt"

// Triplet is a relative comparison: row I should be nearer to row J than to row K. The three
// 0-based rows are different.
type Triplet struct {
	I, J, K int
	Line    int // 1-based line of its file, 0 if none
}

// CheckTriplets returns nil if all triplets have three different rows below n, and otherwise a
// *fault.DataError for the first that does not, with its Line (the reader of the file adds File).
func CheckTriplets(n int, list []Triplet) error {
	return checkAll(n, list, "triplet", func(t Triplet) int { return t.Line })
}

// checkAll returns the error of the first comparison of rows that has one.
func checkAll[T interface {
	check(n int) (column string, err error)
}](n int, list []T, what string, line func(T) int) error {
	for at, t := range list {
		if column, err := t.check(n); err != nil {
			return lineError(line(t), what, at, column, err)
		}
	}
	return nil
}

// check returns the problem and its column.
func (t Triplet) check(n int) (column string, err error) {
	rows, names := [3]int{t.I, t.J, t.K}, [3]string{"i", "j", "k"}
	for a, i := range rows {
		if i < 0 || i >= n {
			return names[a], fmt.Errorf("row %d does not exist: want %s", i, rowRange(n))
		}
		for b, j := range rows[:a] {
			if i == j {
				return names[a], fmt.Errorf("row %d is %s and %s of a triplet: want three different rows", i,
					names[b], names[a])
			}
		}
	}
	return "", nil
}

// TripletsAmong returns the triplets of the given rows alone, renumbered so that rows[r] becomes r.
func TripletsAmong(list []Triplet, rows []int) []Triplet {
	return among(list, rows, func(t *Triplet) []*int { return []*int{&t.I, &t.J, &t.K} })
}

// among returns the comparisons of some rows, which of points to, with their new numbers.
func among[T any](list []T, rows []int, of func(t *T) []*int) (kept []T) {
	number := make(map[int]int, len(rows))
	for r, i := range rows {
		number[i] = r
	}
next:
	for _, t := range list {
		for _, row := range of(&t) {
			r, is := number[*row]
			if !is {
				continue next
			}
			*row = r
		}
		kept = append(kept, t)
	}
	return kept
}

// Quadruplet is a relative comparison: rows I and J should be nearer to each other than rows K and
// L. Rows are 0-based; I differs from J and K from L. The triplet (i, j, k) is the quadruplet (i,
// j, i, k).
type Quadruplet struct {
	I, J, K, L int
	Line       int // 1-based line of its file, 0 if none
}

// Quadruplet returns the triplet as a quadruplet.
func (t Triplet) Quadruplet() Quadruplet {
	return Quadruplet{I: t.I, J: t.J, K: t.I, L: t.K, Line: t.Line}
}

// CheckQuadruplets returns nil if every quadruplet compares two different pairs of rows below n.
// Otherwise the error is a *fault.DataError for the first that does not, with its Line (the reader
// of the file adds File).
func CheckQuadruplets(n int, list []Quadruplet) error {
	return checkAll(n, list, "quadruplet", func(q Quadruplet) int { return q.Line })
}

// check returns the problem and its column.
func (q Quadruplet) check(n int) (column string, err error) {
	for at, i := range []int{q.I, q.J, q.K, q.L} {
		if i < 0 || i >= n {
			return "ijkl"[at : at+1], fmt.Errorf("row %d does not exist: want %s", i, rowRange(n))
		}
	}
	switch {
	case q.I == q.J:
		return "j", fmt.Errorf("row %d is i and j of a quadruplet: want two different rows", q.I)
	case q.K == q.L:
		return "l", fmt.Errorf("row %d is k and l of a quadruplet: want two different rows", q.K)
	case q.I == q.K && q.J == q.L || q.I == q.L && q.J == q.K:
		return "l", fmt.Errorf("rows %d and %d are both pairs of a quadruplet: want two different pairs", q.I,
			q.J)
	}
	return "", nil
}

// QuadrupletsAmong is [TripletsAmong] for quadruplets.
func QuadrupletsAmong(list []Quadruplet, rows []int) []Quadruplet {
	return among(list, rows, func(q *Quadruplet) []*int { return []*int{&q.I, &q.J, &q.K, &q.L} })
}
