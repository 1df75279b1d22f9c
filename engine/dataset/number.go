package dataset

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// longest is the number of decimal digits that always fit in 64 bits, and the largest power of ten
// that does.
const longest = 19

// decimal parses a plain decimal at the beginning of text: up to 19 digits with or without a point,
// no exponent. Most numbers in files have this form. The value is bit-identical to that of
// strconv.ParseFloat. size is the number of bytes, -1 if the text does not begin with such a
// number, or with a whole number from 2^53 on.
func decimal(text []byte) (v float64, size int) {
	at := 0
	if len(text) > 0 && text[0] == '-' {
		at = 1
	}
	begin, after := at, 0
	var mantissa uint64
	for ; at < len(text); at++ {
		c := text[at] - '0'
		if c > 9 {
			break
		}
		mantissa = 10*mantissa + uint64(c)
	}
	digits := at - begin
	if at < len(text) && text[at] == '.' {
		at++
		point := at
		for at+8 <= len(text) {
			eight, ok := eightDigits(binary.LittleEndian.Uint64(text[at:]))
			if !ok {
				break
			}
			mantissa = 1e8*mantissa + eight
			at += 8
		}
		for ; at < len(text); at++ {
			c := text[at] - '0'
			if c > 9 {
				break
			}
			mantissa = 10*mantissa + uint64(c)
		}
		after = at - point
		digits += after
	}
	if digits < 1 || digits > longest && (digits > longest+1 || text[begin] != '0') || after > longest {
		return 0, -1
	}
	if v = scaled(mantissa, after); after == 0 && v >= exactWhole {
		return 0, -1 // ParseFloat decides
	}
	if begin > 0 {
		v = -v // keeps the sign of -0
	}
	return v, at
}

// eightDigits returns the value of eight characters, the first one in the lowest byte, if all of
// them are digits. It joins neighbors to words of two, then four, then eight digits.
func eightDigits(text uint64) (uint64, bool) {
	const high, low, six = 0xf0f0f0f0f0f0f0f0, 0x0f0f0f0f0f0f0f0f, 0x0606060606060606
	if text&high != 0x3030303030303030 || (text+six)&high != 0x3030303030303030 {
		return 0, false
	}
	text &= low
	text = (text * (10<<8 + 1) >> 8) & 0x00ff00ff00ff00ff
	text = (text * (100<<16 + 1) >> 16) & 0x0000ffff0000ffff
	return text * (10000<<32 + 1) >> 32, true
}

// scaled returns mantissa/10^after, correctly rounded; after is at most 19. If both are exact in
// float64, only the division rounds (Clinger 1990). Otherwise it is an integer division to at least
// 63 bits, whose last bit records whether there is a remainder.
func scaled(mantissa uint64, after int) float64 {
	power := powersOfTen[after]
	if mantissa < 1<<53 && power < 1e16 {
		return float64(int64(mantissa)) / float64(int64(power)) // as int64: one instruction each
	}
	if after == 0 {
		return float64(mantissa)
	}
	up, upPower := bits.LeadingZeros64(mantissa), bits.LeadingZeros64(power)
	mantissa <<= up
	q, rest := bits.Div64(mantissa>>1, mantissa<<63, power<<upPower)
	if rest != 0 {
		q |= 1
	}
	exponent := upPower - up - 63
	return float64(q) * math.Float64frombits(uint64(1023+exponent)<<52)
}

// Half returns a floating-point number of 16 bits: its exponent and fraction, moved to where
// float32 has them, are the number divided by 2^112.
func Half(bits uint16) float64 {
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

// exactWhole is the size up to which float64 has all whole numbers.
const exactWhole = 1 << 53

// ErrRounded is the error of a whole number that float64 does not have.
var ErrRounded = errors.New("the whole number has no exact float64: want at most 2^53 in size")

// ParseFloat is strconv.ParseFloat without what only source code has: digits with underscores, and
// hexadecimal numbers. It returns [ErrRounded] for a whole number, written without a point or an
// exponent, that float64 does not have: this is an identifier, which rounding confuses with others.
func ParseFloat(s string) (float64, error) {
	if v, size := decimal([]byte(s)); size == len(s) && size > 0 {
		return v, nil
	}
	if strings.ContainsAny(s, "_xX") {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.Abs(v) >= exactWhole && rounded(s, v) {
		return v, ErrRounded
	}
	return v, err
}

// rounded reports whether s is a whole number in digits alone, but not v.
func rounded(s string, v float64) bool {
	digits := strings.TrimLeft(strings.TrimLeft(s, "+-"), "0")
	return strings.Trim(digits, "0123456789") == "" && digits != strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
}

var powersOfTen = [longest + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
