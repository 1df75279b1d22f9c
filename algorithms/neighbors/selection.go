package neighbors

import (
	"cmp"
	"math/bits"
	"slices"
)

// key is a number of a row.
type key struct {
	value float64
	row   int32
}

func (k key) less(l key) bool { return k.value < l.value || k.value == l.value && k.row < l.row }

func (k key) compare(l key) int {
	return cmp.Or(cmp.Compare(k.value, l.value), cmp.Compare(k.row, l.row))
}

// selectFirst reorders keys, which differ, so that the first count are the smallest: quickselect
// with the median of three as pivot, and a sort if that takes many rounds.
func selectFirst(keys []key, count int) {
	for rounds := 4 * bits.Len(uint(len(keys))); len(keys) > 1; rounds-- {
		if rounds == 0 {
			slices.SortFunc(keys, key.compare)
			return
		}
		pivot := middle(keys[0], keys[len(keys)/2], keys[len(keys)-1])
		i, j := 0, len(keys)-1
		for i <= j {
			for keys[i].less(pivot) {
				i++
			}
			for pivot.less(keys[j]) {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch { // keys up to j are at most the pivot, and those from i on at least
		case count <= j:
			keys = keys[:j+1]
		case count > i:
			keys, count = keys[i:], count-i
		default:
			return
		}
	}
}

// middle returns the median of three keys.
func middle(a, b, c key) key {
	if b.less(a) {
		a, b = b, a
	}
	if c.less(b) {
		b = c
		if b.less(a) {
			b = a
		}
	}
	return b
}
