package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"
)

// fixedTexts reads strings of a fixed number of bytes.
type fixedTexts struct {
	b    []byte
	size int
}

func (p *fixedTexts) read(dst []string) error {
	if len(p.b)/p.size < len(dst) {
		return errShort
	}
	for i := range dst {
		dst[i], p.b = string(p.b[:p.size]), p.b[p.size:]
	}
	return nil
}

// formedTexts reads strings of bytes as the texts that CSV would have.
type formedTexts struct {
	texts values[string]
	form  func(b string) string
}

func (t *formedTexts) read(dst []string) error {
	err := t.texts.read(dst)
	for i, b := range dst {
		if err == nil {
			dst[i] = t.form(b)
		}
	}
	return err
}

// form returns what makes a text of a value.
func (c *column) form() func(b string) string {
	if c.mixed == uuids {
		return func(b string) string { return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]) }
	}
	return func(b string) string {
		const of1970 = 2440588 // the Julian day that begins at noon of 1970-01-01
		nanos, day := int64(binary.LittleEndian.Uint64([]byte(b[:8]))), int64(binary.LittleEndian.Uint32([]byte(b[8:])))
		return time.Unix((day-of1970)*24*3600, nanos).UTC().Format(time.RFC3339Nano)
	}
}

// decimalTexts reads decimals that are stored as strings of bytes, as the bits of their float64.
type decimalTexts struct {
	texts  values[string]
	scale  int
	buffer [64]string
}

func (d *decimalTexts) read(dst []uint64) error {
	for len(dst) > 0 {
		part := d.buffer[:min(len(dst), len(d.buffer))]
		if err := d.texts.read(part); err != nil {
			return err
		}
		for i, s := range part {
			dst[i] = math.Float64bits(decimalOf([]byte(s), d.scale))
		}
		dst = dst[len(part):]
	}
	return nil
}

// decimalOf returns a decimal in two's complement, the highest byte first.
func decimalOf(b []byte, scale int) float64 {
	whole := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return scaled(whole.String(), scale)
}

// scaled returns digits/10^scale, correctly rounded, or an infinity.
func scaled(digits string, scale int) float64 {
	v, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(scale), 64)
	return v
}

// decimal returns the decimal with these bits.
func (c *column) decimal(bits uint64) float64 {
	whole := int64(bits)
	switch c.kind {
	case format.Int32:
		whole = int64(int32(bits))
	case format.Int64:
	default: // decimalTexts has converted it
		return math.Float64frombits(bits)
	}
	const exact, power = 1 << 53, 22 // numbers and powers of ten that float64 has exactly
	if whole < exact && whole > -exact && c.scale <= power {
		return float64(whole) / math.Pow10(c.scale)
	}
	return scaled(strconv.FormatInt(whole, 10), c.scale)
}

// instant returns a point in time in units since 1970. Times without a zone look like those of UTC.
func instant(units int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	whole, rest := units/perSecond, units%perSecond
	return time.Unix(whole, rest*int64(unit)).UTC()
}

// clock is the form of a time of day.
const clock = "15:04:05.999999999"

// readTexts returns the columns of text of the next n rows: one for each feature, nil for numbers.
func (r *reader) readTexts(n int) ([][]string, error) {
	if len(r.words) == 0 {
		return nil, nil
	}
	texts := make([][]string, len(r.names))
	for k, t := range r.words {
		var err error
		if texts[r.wordsAt[k]], err = t.read(n); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// nameAll sets the names of the features, among which are columns of text.
func (r *reader) nameAll(features []*column) {
	r.names = featureNames(features)
	r.numbers = r.names
	if len(r.words) == 0 {
		return
	}
	r.numbers = featureNames(slices.DeleteFunc(slices.Clone(features), (*column).inWords))
	at := 0
	for _, c := range features {
		if c.asText {
			r.wordsAt = append(r.wordsAt, at)
		}
		at += c.width
	}
}

func (c *column) inWords() bool { return c.asText }
