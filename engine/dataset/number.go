package dataset

import (
	"bytes"
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

var powersOfTen = [longest + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// Marks are those of thousands and decimals in the numbers of a column.
type Marks string

// The marks: 1,234.5 and 1.234,5.
const (
	US Marks = "us"
	EU Marks = "eu"
)

// Valid reports whether the marks are known, with or without a unit.
func (m Marks) Valid() bool {
	mark, unit := m.cut()
	return (mark == US || mark == EU) && len(unit) <= longestUnit
}

// longestUnit is the number of bytes that a unit may have.
const longestUnit = 12

// cut returns the marks, and the unit that a fit has found behind a space, "" for none.
func (m Marks) cut() (marks Marks, unit string) {
	text, unit, _ := strings.Cut(string(m), " ")
	return Marks(text), unit
}

// marksOf returns the marks with a decimal comma, or with a point.
func marksOf(comma bool) Marks {
	if comma {
		return EU
	}
	return US
}

// marks returns the marks with the unit, as a model keeps them.
func (n numerals) marks() Marks {
	return Marks(strings.TrimSpace(string(marksOf(n.comma)) + " " + n.unit))
}

// numerals is how a column writes its numbers. The zero value is that of strconv.
type numerals struct {
	comma   bool   // numbers have a decimal comma
	groups  bool   // digits may be in groups of three: 1,234,567
	dressed bool   // numbers may have the unit, a minus sign, and groups by narrow spaces
	unit    string // a currency symbol, % or letters such as kg, "" for none
	blank   string // a word that was read as missing, and is missing only among numbers
}

// standard reports whether a number as strconv writes it is one.
func (n *numerals) standard() bool { return !n.comma && n.unit != "%" }

// plain returns a number as strconv writes it. ok is false for a text with marks that do not belong
// there: a decimal point in a file of decimal commas might as well be that of a thousand.
func (n numerals) plain(s string) (plain string, ok bool) {
	point, group := ".", ","
	if n.comma {
		point, group = group, point
	}
	if n.dressed {
		var unit string
		if s, unit = undress(s, point); unit != n.unit && (unit != "" || n.unit == "%") {
			return s, false
		}
	}
	if n.groups && strings.Contains(s, group) {
		if s, ok = ungroup(s, point, group); !ok {
			return s, false
		}
	}
	if !n.comma {
		return s, true
	}
	return strings.Replace(s, ",", ".", 1), !strings.Contains(s, ".")
}

// ungroup removes the marks between groups of three digits before the point.
func ungroup(s, point, group string) (string, bool) {
	whole, _, _ := strings.Cut(s, point)
	groups := strings.Split(strings.TrimLeft(whole, "+-"), group)
	for k, g := range groups {
		if strings.Trim(g, "0123456789") != "" || len(g) > 3 || len(g) < 3 && k > 0 || g == "" {
			return s, false
		}
	}
	return strings.ReplaceAll(whole, group, "") + s[len(whole):], !strings.Contains(s[len(whole):], group)
}

// isNumber reports whether a text is a number, perhaps one that is infinite or out of range.
func (n numerals) isNumber(s string) bool {
	s, ok := n.plain(s)
	return ok && isNumber(s)
}

// parse is parseNumber for these numerals.
func (n numerals) parse(s string) (v float64, what, fix string) {
	plain, ok := n.plain(strings.TrimSpace(s))
	if ok {
		if v, what, fix = parseNumber(plain); v != 0 || what == "" {
			return v, what, fix
		}
	}
	if _, what, fix = parseNumber(s); what == "" {
		what, fix = "the number "+quote(s)+" has a decimal point, but others have a comma"+wantFinite,
			"write a decimal comma"
		if n.unit == "%" {
			what, fix = "the number "+quote(s)+" has no %, but others have one"+wantFinite,
				"write the cells of the column alike"
		}
	}
	return 0, what, fix
}

// isNumber reports whether a text is a number, perhaps one that is infinite or out of range.
func isNumber(s string) bool {
	v, err := ParseFloat(s)
	return err == nil && v == v || err == ErrRounded || errors.Is(err, strconv.ErrRange)
}

// wantFinite ends what states a problem.
const wantFinite = ": want a finite number"

// parseNumber parses a cell that the fast path refused. If it is not a finite number, what states
// the problem and fix what to do.
func parseNumber(s string) (v float64, what, fix string) {
	s = strings.TrimSpace(s)
	v, err := ParseFloat(s)
	switch {
	case err == ErrRounded:
		return v, "the value is " + s + ": " + err.Error(),
			"drop the column or make it a category if it has identifiers, or write measurements with an " +
				"exponent"
	case s == "":
		return 0, "the cell is empty" + wantFinite, "fill in a number, or remove the row"
	case err == nil && math.IsNaN(v):
		return 0, "the value is " + s + wantFinite, "fill in a number, or remove the row"
	case err == nil && math.IsInf(v, 0):
		return 0, "the value is " + s + wantFinite, "fill in a finite number, or remove the row"
	case errors.Is(err, strconv.ErrRange):
		return 0, "the value " + quote(s) + " is beyond the range of float64" + wantFinite,
			"rescale the column"
	case err != nil && IsMissing(s):
		return 0, "the value is missing (" + quote(s) + ")" + wantFinite,
			"fill in a number, or remove the row"
	case err != nil && strings.Count(s, ",") == 1:
		return 0, "the text " + quote(s) + " is not a number" + wantFinite,
			"write a decimal point, not a comma"
	case err != nil:
		return 0, "the text " + quote(s) + " is not a number" + wantFinite,
			"correct it, encode the categories as numbers, or call the column label or id if it holds " +
				"labels or ids"
	}
	return v, "", ""
}

// float is ParseFloat for these numerals. A number with a decimal comma is not much slower than one
// with a point.
func (n *numerals) float(field []byte) (float64, error) {
	if v, size := decimal(field); size == len(field) && size > 0 && n.standard() {
		return v, nil
	}
	var short [24]byte
	if n.comma && !n.dressed && len(field) <= len(short) && bytes.IndexByte(field, '.') < 0 {
		copied := short[:copy(short[:], field)]
		if i := bytes.IndexByte(copied, ','); i >= 0 {
			copied[i] = '.'
		}
		if v, size := decimal(copied); size == len(copied) && size > 0 {
			return v, nil
		}
	}
	plain, ok := n.plain(string(field))
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return ParseFloat(plain)
}
