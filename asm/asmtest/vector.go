package asmtest

import (
	"math"
	"testing"
)

// guardBits is a signaling NaN: arithmetic makes it a quiet one, so that even adding to a
// guard changes its bits, which adding to a quiet NaN would not.
const guardBits = 0x7ff4_dead_0000_beef

// fence is the number of guards on each side: a multiple of every register's length, so
// that the offset decides how a vector is aligned.
const fence = 16

// Vector is a vector between guards. A kernel that reads a guard computes NaN; one that
// writes a guard fails [Vector.Check].
type Vector struct {
	Data []float64 // its capacity ends with it
	slab []float64
}

// NewVector returns a vector of n elements, offset elements after an aligned address, each set by
// fill.
func NewVector(n, offset int, fill func() float64) *Vector {
	v := &Vector{slab: make([]float64, fence+offset+n+fence)}
	for i := range v.slab {
		v.slab[i] = math.Float64frombits(guardBits)
	}
	v.Data = v.slab[fence+offset : fence+offset+n : fence+offset+n]
	for i := range v.Data {
		v.Data[i] = fill()
	}
	return v
}

// Check fails the test if a guard was written.
func (v *Vector) Check(t *testing.T, what string) {
	t.Helper()
	start := len(v.slab) - fence - len(v.Data)
	for i, g := range v.slab {
		if inside := i >= start && i < start+len(v.Data); !inside && math.Float64bits(g) != guardBits {
			t.Fatalf("%s: the guard at %d, with the data at 0 to %d, was written with %v", what, i-start,
				len(v.Data), g)
		}
	}
}
