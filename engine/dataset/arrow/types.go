package arrow

import (
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// wholeNumbers describes values that may be too large for float64.
const wholeNumbers = "whole numbers"

// typed sets the type of the values, given its number in the format and its parameters.
func (c *column) typed(id int64, t table, unionNulls bool) {
	c.kind, c.what = unreadable, "values of another type"
	switch id {
	case 1:
		c.kind, c.storage, c.what = number, nothing, "nulls"
	case 2:
		c.set(number, wholeNumbers, t.int(0, 4, 0), wholeKind(t.int(1, 1, 0) != 0))
	case 3:
		c.storage = fixed
		if precision := t.int(0, 2, 0); precision >= 0 && precision <= 2 {
			c.set(number, "numbers", 16<<precision, dataset.Float)
		}
	case 4, 5, 19, 20, 23, 24:
		c.kind, c.what = text, "text"
		c.storage = map[int64]storage{4: texts, 5: texts, 19: largeTexts, 20: largeTexts, 23: views,
			24: views}[id]
	case 6:
		c.kind, c.storage, c.what, c.value.Kind = number, bits, "booleans", dataset.Boolean
	case 7:
		width, scale := t.int(2, 4, 128), t.int(1, 4, 0)
		c.storage, c.what = fixed, "decimals"
		if width >= 32 && width <= 256 && width&(width-1) == 0 && scale >= -400 && scale <= 400 {
			c.kind, c.size = decimal, width/8
			c.value = dataset.Value{Kind: dataset.Float, Bits: 64, Scale: int(scale)} // see column.bits
		}
	case 8:
		if t.int(0, 2, 1) == 0 {
			c.set(instant, "dates", 32, dataset.Date) // in days
		} else {
			c.setTime("dates", 64, dataset.Date, 1)
		}
	case 9:
		c.setTime("times", t.int(1, 4, 32), dataset.Clock, t.int(0, 2, 1))
	case 10:
		c.setTime("time stamps", 64, dataset.Instant, t.int(0, 2, 0))
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
		c.set(number, "durations", 64, dataset.Duration) // in their unit
	case 22:
		c.storage, c.what = nothing, "runs of equal values"
	case 25, 26:
		c.storage, c.what = bare3, "lists of views"
	default: // intervals, strings of a fixed number of bytes, maps
		c.storage = bare2
	}
}

// set sets a type of values of some bits, unless there are no values of so many.
func (c *column) set(k kind, what string, width int64, of dataset.ValueKind) {
	c.storage, c.what = fixed, what
	if width == 8 || width == 16 || width == 32 || width == 64 {
		c.kind, c.size, c.value = k, width/8, dataset.Value{Kind: of, Bits: int(width)}
	}
}

// wholeKind returns the kind of whole numbers.
func wholeKind(signed bool) dataset.ValueKind {
	if signed {
		return dataset.Signed
	}
	return dataset.Unsigned
}

// setTime sets a type of times in a unit, given its number in the format.
func (c *column) setTime(what string, width int64, of dataset.ValueKind, unit int64) {
	c.storage, c.what = fixed, what
	units := []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}
	if unit >= 0 && unit < int64(len(units)) && (width == 32 || width == 64) {
		c.set(instant, what, width, of)
		c.value.Unit = units[unit]
	}
}

// bits returns the bits of a value of a fixed size: those of its float64 for a decimal.
func (c *column) bits(b []byte) uint64 {
	if c.kind != decimal {
		return c.value.LittleEndian(b)
	}
	digits := slices.Clone(b)
	slices.Reverse(digits)
	return math.Float64bits(dataset.Decimal(digits, c.value.Scale))
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
			v.gaps = make([]bool, b.rows) // priced: by values, which counts a gap for every row
		}
		c.words.gaps = append(c.words.gaps, v.gaps...)
	}
	c.words.texts = append(c.words.texts, v.texts...)
	c.words.numbers = append(c.words.numbers, v.numbers...)
	return nil
}
