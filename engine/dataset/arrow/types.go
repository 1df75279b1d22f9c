package arrow

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// value reads one value of a fixed size. A column of numbers has both functions.
type value struct {
	number func(b []byte) float64 // infinite for a whole number that float64 does not have exactly
	text   func(b []byte) string
}

// wholeNumbers describes values that may be too large for float64.
const wholeNumbers = "whole numbers"

// typed sets the type of the values, given its number in the format and its parameters.
func (c *column) typed(id int64, t table, unionNulls bool) {
	c.kind, c.what = unreadable, "values of another type"
	switch id {
	case 1:
		c.kind, c.storage, c.what = number, nothing, "nulls"
	case 2:
		width, signed := t.int(0, 4, 0), t.int(1, 1, 0) != 0
		c.set(number, wholeNumbers, width, whole(width, signed))
	case 3:
		c.float(t.int(0, 2, 0))
	case 4, 5, 19, 20, 23, 24:
		c.kind, c.what = text, "text"
		c.storage = map[int64]storage{4: texts, 5: texts, 19: largeTexts, 20: largeTexts, 23: views,
			24: views}[id]
	case 6:
		c.kind, c.storage, c.what = number, bits, "booleans"
	case 7:
		width, scale := t.int(2, 4, 128), t.int(1, 4, 0)
		c.set(decimal, "decimals", width, decimals(width, scale))
	case 8:
		days := t.int(0, 2, 1) == 0
		c.set(instant, "dates", map[bool]int64{true: 32, false: 64}[days], dates(days))
	case 9:
		width := t.int(1, 4, 32)
		c.set(instant, "times", width, clocks(width, unitOf(t.int(0, 2, 1))))
	case 10:
		c.set(instant, "time stamps", 64, instants(unitOf(t.int(0, 2, 0))))
	case 12, 21:
		c.storage, c.what = map[int64]storage{12: lists, 21: largeLists}[id],
			"lists of other values than numbers"
	case 13:
		c.storage, c.what = structs, "structs"
	case 14:
		c.storage, c.what = bare1, "unions"
		if t.int(0, 2, 0) != 0 { // the children have lengths of their own
			c.storage = bare2
		}
		if unionNulls {
			c.storage++
		}
	case 16:
		c.storage, c.size, c.what = fixedLists, t.int(0, 4, 0), "lists of other values than numbers"
	case 18:
		c.set(number, "durations", 64, durations())
	case 22:
		c.storage, c.what = nothing, "runs of equal values"
	case 25, 26:
		c.storage, c.what = bare3, "lists of views"
	default: // intervals, strings of a fixed number of bytes, maps
		c.storage = bare2
	}
}

// set sets a type of fixed size, unless its number of bits has no values.
func (c *column) set(k kind, what string, width int64, v value) {
	c.storage, c.what = fixed, what
	if v.text != nil {
		c.kind, c.size, c.value = k, width/8, v
	}
}

// whole returns the values of whole numbers.
func whole(width int64, signed bool) value {
	const exact = 1 << 53
	size := width / 8
	switch {
	case width != 8 && width != 16 && width != 32 && width != 64:
		return value{}
	case signed:
		return value{
			func(b []byte) float64 {
				if v := little(b, size); v <= exact && v >= -exact {
					return float64(v)
				}
				return math.Inf(1)
			},
			func(b []byte) string { return strconv.FormatInt(little(b, size), 10) },
		}
	}
	mask := ^uint64(0) >> (64 - width)
	return value{
		func(b []byte) float64 {
			if v := uint64(little(b, size)) & mask; v <= exact {
				return float64(v)
			}
			return math.Inf(1)
		},
		func(b []byte) string { return strconv.FormatUint(uint64(little(b, size))&mask, 10) },
	}
}

// durations returns the values of durations, whole numbers of their unit. They are measurements, so
// those beyond 2^53, 104 days in nanoseconds, are rounded.
func durations() value {
	return value{func(b []byte) float64 { return float64(little(b, 8)) }, whole(64, true).text}
}

// little returns a signed number, the lowest byte first.
func little(b []byte, size int64) int64 {
	switch size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// float sets a type of floating-point numbers: of 16, 32 or 64 bits.
func (c *column) float(precision int64) {
	var read func(b []byte) float64
	switch precision {
	case 0:
		read = func(b []byte) float64 { return dataset.Half(binary.LittleEndian.Uint16(b)) }
	case 1:
		read = func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case 2:
		read = func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	default:
		c.storage = fixed
		return
	}
	c.set(number, "numbers", 16<<precision, value{read, func(b []byte) string {
		return dataset.NumberText(read(b))
	}})
}

// decimals returns the values of decimals, correctly rounded.
func decimals(width, scale int64) value {
	if width < 32 || width > 256 || width&(width-1) != 0 || scale < -400 || scale > 400 {
		return value{}
	}
	number := func(b []byte) float64 {
		digits := slices.Clone(b)
		slices.Reverse(digits)
		return dataset.Decimal(digits, int(scale))
	}
	return value{number, func(b []byte) string { return dataset.NumberText(number(b)) }}
}

// dates returns the values of dates, in days or milliseconds since 1970.
func dates(days bool) value {
	return value{text: func(b []byte) string {
		if days {
			return dataset.DateText(little(b, 4))
		}
		return time.UnixMilli(little(b, 8)).UTC().Format(time.DateOnly)
	}}
}

// unitOf returns a unit of time by its number in the format, 0 for none.
func unitOf(id int64) time.Duration {
	units := []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}
	if id < 0 || id >= int64(len(units)) {
		return 0
	}
	return units[id]
}

// clocks returns the values of times of a day.
func clocks(width int64, unit time.Duration) value {
	if unit == 0 || width != 32 && width != 64 {
		return value{}
	}
	return value{text: func(b []byte) string { return dataset.ClockText(little(b, width/8), unit) }}
}

// instants returns the values of points in time. Those without a zone look like those of UTC.
func instants(unit time.Duration) value {
	if unit == 0 {
		return value{}
	}
	return value{text: func(b []byte) string { return dataset.InstantText(little(b, 8), unit) }}
}

// readDictionaries reads the dictionaries of the columns that are used.
func (r *reader) readDictionaries() error {
	need := make(map[int64][]*column)
	for _, c := range r.used() {
		if c.dictionary != nil {
			need[c.id] = append(need[c.id], c)
		}
	}
	if len(need) == 0 {
		return nil
	}
	seen := make(map[int64]bool)
	for i, at := range r.f.dictionaries {
		b, err := r.f.batch(at, dictionaryBatch, i)
		if err != nil {
			return err
		}
		for _, c := range need[b.id] {
			if seen[b.id] && !b.more {
				return fault.Data("", "the dictionary of column %s changes: want one, as the format demands",
					c.name)
			}
			if err := c.learn(b); err != nil {
				return err
			}
		}
		seen[b.id] = true
		b.close()
	}
	return nil
}

// learn appends the values of a batch to those of the dictionary.
func (c *column) learn(b *batch) error {
	v, err := b.values(c.dictionary, 0, b.rows)
	if err != nil {
		return err
	}
	b.borrowed = 0 // the values stay
	if v.gaps != nil || c.words.gaps != nil {
		before := max(len(c.words.texts), len(c.words.numbers))
		if c.words.gaps == nil {
			c.words.gaps = make([]bool, before)
		}
		if v.gaps == nil {
			v.gaps = make([]bool, b.rows)
		}
		c.words.gaps = append(c.words.gaps, v.gaps...)
	}
	c.words.texts = append(c.words.texts, v.texts...)
	c.words.numbers = append(c.words.numbers, v.numbers...)
	return nil
}
