package links

import (
	"fmt"
)

// Triplet says that row I belongs nearer to row J than to row K, three different 0-based rows.
type Triplet struct {
	I, J, K int
	Line    int // 1-based line of the file it came from, 0 if none
}

// CheckTriplets returns nil if all triplets are of three different rows below n, and otherwise a *fault.DataError for the
// first that is not, with its Line (File is left to the reader of the file).
func CheckTriplets(n int, list []Triplet) error {
	for at, t := range list {
		if column, err := t.check(n); err != nil {
			return lineError(t.Line, "triplet", at, column, err)
		}
	}
	return nil
}

// check returns what is wrong, and in which column.
func (t Triplet) check(n int) (column string, err error) {
	rows, names := [3]int{t.I, t.J, t.K}, [3]string{"i", "j", "k"}
	for a, i := range rows {
		if i < 0 || i >= n {
			return names[a], fmt.Errorf("row %d does not exist: want %s", i, rowRange(n))
		}
		for b, j := range rows[:a] {
			if i == j {
				return names[a], fmt.Errorf("row %d is %s and %s of a triplet: want three different rows", i, names[b], names[a])
			}
		}
	}
	return "", nil
}
