package dataset

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"time"
)

// Value is how the values of a column, or of an array, are stored: in some bits each, which mean a
// number or a text. The formats of columns, NumPy and IDX share it, so that the same value is the
// same number, and the same text in a mixed table, whatever file it comes from.
type Value struct {
	Kind  ValueKind
	Bits  int           // 8, 16, 32 or 64; the bits above these are not looked at
	Unit  time.Duration // of times; of dates 0 for days
	Scale int           // of decimals: the number is divided by 10^Scale
}

// ValueKind is what the bits of a [Value] mean.
type ValueKind uint8

// The kinds of values. Dates, clocks and instants have no number: they are whole numbers of days or
// of their unit, since 1970 or since midnight. A value of the zero kind is a whole number that is
// rounded where float64 does not have it.
const (
	Rounded ValueKind = iota
	Float
	Signed
	Unsigned
	Boolean
	Duration // a measurement, which may be rounded
	DecimalNumber
	Date
	Clock
	Instant
)

// exactWhole is the size up to which float64 has all whole numbers.
const exactWhole = 1 << 53

// Number returns the number with these bits. Whole numbers without an exact float64 become
// infinite.
func (v *Value) Number(bits uint64) float64 {
	switch v.Kind {
	case Float:
		switch v.Bits {
		case 64:
			return math.Float64frombits(bits)
		case 32:
			return float64(math.Float32frombits(uint32(bits)))
		}
		return half(uint16(bits))
	case Signed:
		if whole := v.signed(bits); whole <= exactWhole && whole >= -exactWhole {
			return float64(whole)
		}
		return math.Inf(1)
	case Unsigned:
		if whole := v.unsigned(bits); whole <= exactWhole {
			return float64(whole)
		}
		return math.Inf(1)
	case Duration:
		return float64(v.signed(bits))
	case DecimalNumber:
		return v.decimal(bits)
	}
	return float64(bits)
}

// Text returns the value with these bits as the text that CSV would have, "" for NaN. Times without
// a zone look like those of UTC.
func (v *Value) Text(bits uint64) string {
	switch v.Kind {
	case Signed, Duration:
		return strconv.FormatInt(v.signed(bits), 10)
	case Unsigned:
		return strconv.FormatUint(v.unsigned(bits), 10)
	case Boolean:
		return strconv.FormatBool(bits != 0)
	case Date:
		if v.Unit == 0 {
			return time.Unix(v.signed(bits)*24*3600, 0).UTC().Format(time.DateOnly)
		}
		return v.instant(bits).Format(time.DateOnly)
	case Clock:
		return v.instant(bits).Format("15:04:05.999999999")
	case Instant:
		return v.instant(bits).Format(time.RFC3339Nano)
	}
	if number := v.Number(bits); number == number {
		return strconv.FormatFloat(number, 'g', -1, 64)
	}
	return ""
}

// signed returns the bits as a whole number in two's complement, unsigned as one that is not
// negative.
func (v *Value) signed(bits uint64) int64    { return int64(bits<<(64-v.Bits)) >> (64 - v.Bits) }
func (v *Value) unsigned(bits uint64) uint64 { return bits << (64 - v.Bits) >> (64 - v.Bits) }

// instant returns a point in time in units since 1970.
func (v *Value) instant(bits uint64) time.Time {
	units, perSecond := v.signed(bits), int64(time.Second/v.Unit)
	return time.Unix(units/perSecond, units%perSecond*int64(v.Unit)).UTC()
}

func (v *Value) decimal(bits uint64) float64 {
	const power = 22 // the powers of ten up to this one are exact
	whole := v.signed(bits)
	if whole < exactWhole && whole > -exactWhole && v.Scale <= power {
		return float64(whole) / math.Pow10(v.Scale)
	}
	return scaledDigits(strconv.FormatInt(whole, 10), v.Scale)
}

// Decimal returns b, a whole number in two's complement with the highest byte first, divided by
// 10^scale, correctly rounded, or an infinity.
func Decimal(b []byte, scale int) float64 {
	whole := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return scaledDigits(whole.String(), scale)
}

// scaledDigits returns digits/10^scale, correctly rounded, or an infinity.
func scaledDigits(digits string, scale int) float64 {
	v, _ := strconv.ParseFloat(digits+"e"+strconv.Itoa(-scale), 64)
	return v
}

// half returns a floating-point number of 16 bits: its exponent and fraction, moved to where
// float32 has them, are the number divided by 2^112.
func half(bits uint16) float64 {
	v := math.Float32frombits(uint32(bits&0x7fff) << 13)
	size := float64(v) * 0x1p112
	if size >= 0x1p16 { // the largest exponent
		size = math.Inf(1)
		if bits&0x3ff != 0 {
			size = math.NaN()
		}
	}
	if bits>>15 != 0 {
		return -size
	}
	return size
}

// LittleEndian returns the bits of the value at the beginning of b, whose lowest byte is the first.
func (v *Value) LittleEndian(b []byte) uint64 {
	switch v.Bits {
	case 8:
		return uint64(b[0])
	case 16:
		return uint64(binary.LittleEndian.Uint16(b))
	case 32:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// bits is LittleEndian, or the same for values whose highest byte is the first.
func (v *Value) bits(b []byte, highestFirst bool) uint64 {
	if highestFirst {
		return bits.ReverseBytes64(v.LittleEndian(b)) >> (64 - v.Bits)
	}
	return v.LittleEndian(b)
}

// append appends the numbers of the values in buf, whose highest or lowest byte is the first.
func (v Value) append(data []float64, buf []byte, highestFirst bool) []float64 {
	n, size := len(data), v.Bits/8
	data = slices.Grow(data, len(buf)/size)[:n+len(buf)/size]
	out := data[n:]
	switch { // the usual cases have no choice for each value
	case v.Kind == Unsigned && size == 1:
		for i, b := range buf {
			out[i] = float64(b)
		}
	case v.Kind == Float && size == 8 && !highestFirst:
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
		}
	default:
		for i := range out {
			out[i] = v.Number(v.bits(buf[i*size:], highestFirst))
		}
	}
	return data
}
