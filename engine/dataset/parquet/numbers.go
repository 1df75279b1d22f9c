package parquet

import (
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go/format"
)

// number returns the number that bits are. Whole numbers without an exact float64 become infinite.
func (c *column) number(bits uint64) float64 {
	switch c.kind {
	case format.Double:
		return math.Float64frombits(bits)
	case format.Float:
		return float64(math.Float32frombits(uint32(bits)))
	case format.Int32:
		if !c.unsigned {
			return float64(int32(bits))
		}
		return float64(uint32(bits))
	case format.Int64:
		const exact = 1 << 53
		if c.unsigned && bits > exact || !c.unsigned && (int64(bits) > exact || int64(bits) < -exact) {
			return math.Inf(1)
		}
		return float64(int64(bits))
	case format.FixedLenByteArray:
		return half(uint16(bits))
	}
	return float64(bits) // of a boolean
}

// half returns the number that the bits of a float16 are.
func half(bits uint16) float64 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// text returns a number as CSV has it, "" for NaN.
func (c *column) text(bits uint64) string {
	switch {
	case c.kind == format.Boolean:
		return strconv.FormatBool(bits != 0)
	case c.kind == format.Int32 && c.unsigned:
		return strconv.FormatUint(uint64(uint32(bits)), 10)
	case c.kind == format.Int32:
		return strconv.Itoa(int(int32(bits)))
	case c.kind == format.Int64 && c.unsigned:
		return strconv.FormatUint(bits, 10)
	case c.kind == format.Int64:
		return strconv.FormatInt(int64(bits), 10)
	}
	if v := c.number(bits); v == v {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}
