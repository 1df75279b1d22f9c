package hugepages

import (
	"runtime"
	"testing"
)

// TestFloats: memory has the requested length, can be written to both ends, and keeps its values
// while it is used; small memory is zero.
func TestFloats(t *testing.T) {
	for _, n := range []int{0, 1, Large - 1, Large, Large + 1, 3*Large + 7} {
		v := Floats(n)
		if len(v) != n {
			t.Fatalf("%d values: want %d", len(v), n)
		}
		for i := range v {
			if n < Large && v[i] != 0 {
				t.Fatalf("n=%d: value %d is %v: want 0", n, i, v[i])
			}
			v[i] = float64(i)
		}
		runtime.GC()
		other := Floats(n)
		for i := range other {
			other[i] = -1
		}
		for i, x := range v {
			if x != float64(i) {
				t.Fatalf("n=%d: value %d became %v", n, i, x)
			}
		}
	}
}
