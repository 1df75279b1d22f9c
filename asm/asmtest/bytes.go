package asmtest

import (
	"math"
	"math/rand/v2"
)

// Bytes turns a fuzzer's input into choices: every input is some case, and similar inputs are
// similar cases. After its end there are zeros.
type Bytes struct{ rest []byte }

// NewBytes returns the choices of input.
func NewBytes(input []byte) *Bytes { return &Bytes{input} }

// Next returns the next byte.
func (b *Bytes) Next() byte {
	if len(b.rest) == 0 {
		return 0
	}
	v := b.rest[0]
	b.rest = b.rest[1:]
	return v
}

// Below returns a number from 0 to n-1, for n from 1 to 65536.
func (b *Bytes) Below(n int) int {
	v := int(b.Next())
	if n > 256 {
		v = v<<8 | int(b.Next())
	}
	return v % n
}

// Coin returns true or false.
func (b *Bytes) Coin() bool { return b.Next()&1 == 1 }

// Bits returns 64 bits.
func (b *Bytes) Bits() (v uint64) {
	for range 8 {
		v = v<<8 | uint64(b.Next())
	}
	return v
}

// special are numbers with special rules in arithmetic, after ordinary ones.
// the ordinary ones
var special = []float64{0, 1, -1, math.Copysign(0, -1), 2, 0.5, -0x1p-30, 0x1p30, 1 + 0x1p-52,
	5e-324, -5e-324, 0x1p-1022, 1e-308, 1e-160, 1e160, -1e308, math.MaxFloat64, -math.MaxFloat64,
	710, -746, -708.4, math.Inf(1), math.Inf(-1), math.NaN()}

const tame = 9

// Special returns a number of any kind: one of the special ones, or any 64 bits.
func (b *Bytes) Special() float64 {
	if k := b.Below(len(special) + 4); k < len(special) {
		return special[k]
	}
	return math.Float64frombits(b.Bits())
}

// Tame returns an ordinary number: products of a few of them do not overflow.
func (b *Bytes) Tame() float64 { return special[b.Below(tame)] }

// Tames returns n finite numbers, none larger than 2^110, of one of several kinds: rounded at
// random, whole, mostly zeros, of very different sizes, or all equal except a few.
func (b *Bytes) Tames(n int) []float64 {
	manner := b.Below(6)
	rng := rand.New(rand.NewPCG(uint64(b.Next()), uint64(b.Next())))
	draw := rng.NormFloat64
	switch manner {
	case 1:
		draw = func() float64 { return float64(rng.IntN(7) - 3) }
	case 2:
		draw = func() float64 { return rng.NormFloat64() * float64(max(0, rng.IntN(4)-2)) }
	case 3:
		draw = func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100) }
	case 4:
		draw = func() float64 { return 1 + 1e-9*rng.NormFloat64() }
	case 5:
		draw = func() float64 { return 1e6 + rng.Float64() }
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = draw()
	}
	for range b.replaced(n) {
		out[b.Below(n)] = b.Tame()
	}
	return out
}

// Values returns n numbers like [Bytes.Tames], or over the whole range of float64, some of them
// special.
func (b *Bytes) Values(n int) []float64 {
	out := b.Tames(n)
	if b.Below(4) == 0 {
		for i, v := range out {
			out[i] = math.Ldexp(v, i*37%2100-1075)
		}
	}
	for range b.replaced(n) {
		out[b.Below(n)] = b.Special()
	}
	return out
}

// replaced returns how many of n numbers are replaced by special ones.
func (b *Bytes) replaced(n int) int {
	if n == 0 {
		return 0
	}
	return b.Below(5)
}

// Fill returns a fill function for [NewVector] that returns the values in order.
func Fill(values []float64) func() float64 {
	at := -1
	return func() float64 { at++; return values[at] }
}
