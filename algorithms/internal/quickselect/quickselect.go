// Package quickselect finds the smallest of numbers of rows.
package quickselect

import (
	"cmp"
	"math/bits"
	"slices"
)

// Key is a number of a row.
type Key struct {
	Value float64
	Row   int32
}

func (k Key) less(l Key) bool { return k.Value < l.Value || k.Value == l.Value && k.Row < l.Row }

// Compare orders keys by their numbers, and equal ones by rows.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Value, l.Value), cmp.Compare(k.Row, l.Row))
}

// First reorders keys, which differ, so that the first count are the smallest: quickselect
// with the median of three as pivot, and a sort if that takes many rounds.
func First(keys []Key, count int) {
	for rounds := 4 * bits.Len(uint(len(keys))); len(keys) > 1; rounds-- {
		if rounds == 0 {
			slices.SortFunc(keys, Key.Compare)
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
func middle(a, b, c Key) Key {
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
