// Package a has allocations of all kinds, of sizes that are bounded or not.
package a

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
)

// MemoryError is the error of a limit.
type MemoryError struct{ Need int }

func (*MemoryError) Error() string { return "memory" }

const most = 1 << 20

type header struct {
	Rows int
	Cols uint8
}

func take(n int) error {
	if n > most {
		return &MemoryError{n}
	}
	return nil
}

func checkAll(n int) error { return take(2 * n) }

func direct(b []byte) []byte { return make([]byte, binary.LittleEndian.Uint32(b)) } // want "size of the allocation"

func parsed(s string) ([]int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 { // no upper bound
		return nil, err
	}
	return make([]int, 0, 2*n+1), nil // want "size of the allocation"
}

func compared(s string) []int {
	n, _ := strconv.Atoi(s)
	if n > most {
		return nil
	}
	return make([]int, n)
}

func comparedTooLate(s string) []int {
	n, _ := strconv.Atoi(s)
	list := make([]int, n) // want "size of the allocation"
	if n > most {
		return nil
	}
	return list
}

func comparedElsewhere(s string, other bool) []int {
	n, _ := strconv.Atoi(s)
	if other {
		if n > most {
			return nil
		}
	}
	return slices.Grow([]int{}, n) // want "size of the allocation"
}

func inside(s string, b []byte) []int {
	if n, _ := strconv.Atoi(s); n <= len(b) {
		return make([]int, n)
	}
	return nil
}

func cases(s string) []int {
	n, _ := strconv.Atoi(s)
	switch {
	case n < 0, n > most:
		return nil
	default:
		return make([]int, n)
	}
}

func priced(s string) ([]int, error) {
	n, _ := strconv.Atoi(s)
	size := 8 * n
	if err := take(size); err != nil {
		return nil, err
	}
	return make([]int, n), nil
}

func pricedByHelper(s string) ([]int, error) {
	n, _ := strconv.Atoi(s)
	if err := checkAll(n); err != nil {
		return nil, err
	}
	return make([]int, n), nil
}

func clamped(s string) []int {
	n, _ := strconv.Atoi(s)
	return make([]int, min(n, most))
}

func notClamped(s string) []int {
	n, _ := strconv.Atoi(s)
	return make([]int, max(n, 7)) // want "size of the allocation"
}

func excused(s string) []int {
	n, _ := strconv.Atoi(s)
	return make([]int, n) // priced: the example says so
}

func field(text []byte) ([]int, error) {
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, err
	}
	_ = make([]int, h.Cols)         // 255 at most
	return make([]int, h.Rows), nil // want "size of the allocation"
}

func argument(s string) []int {
	n, _ := strconv.Atoi(s)
	return allocate(n)
}

func allocate(n int) []int { return make([]int, n) } // want "size of the allocation"

func boundedArgument(s string) []int {
	n, _ := strconv.Atoi(s)
	if n > most {
		return nil
	}
	return allocateBounded(n)
}

func allocateBounded(n int) []int { return make([]int, n) }

func result(b []byte) map[int]bool { return make(map[int]bool, number(b)) } // want "size of the allocation"

func number(b []byte) int { return int(binary.BigEndian.Uint64(b)) }

func length(list []int) []int { return make([]int, len(list)) }
