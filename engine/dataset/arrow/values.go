package arrow

import (
	"math"
	"slices"
	"strings"
)

// cells are values of a column: numbers, or texts. A null is NaN, or "".
type cells struct {
	numbers []float64
	texts   []string
	gaps    []bool // which are null, nil for none
	odd     []int  // lists of another length than the first one, whose items are null here
}

// null reports whether the i-th value is null.
func (c cells) null(i int) bool { return c.gaps != nil && c.gaps[i] }

// values reads the values [lo, hi) of a column: for a list, those of its items. Their memory counts
// until giveBack.
func (b *batch) values(c *column, lo, hi int64) (out cells, err error) {
	const each = 8 + 16 + 1
	if hi > math.MaxInt64/64 || c.node >= b.nodes.n || b.nodes.int(c.node, 0, 8) < hi {
		return out, damaged("batch %d has fewer values of column %s than rows", b.at, c.name)
	}
	if c.item != nil {
		return b.list(c, lo, hi)
	}
	if err := b.borrow(hi-lo, each); err != nil {
		return out, err
	}
	if out.gaps, err = b.gaps(c, lo, hi); err != nil {
		return out, err
	}
	switch {
	case c.dictionary != nil:
		err = b.encoded(&out, c, lo, hi)
	case c.storage == nothing:
		err = b.fill(&out, c, hi-lo, func(int, *cells) error { return nil })
		out.gaps = slices.Repeat([]bool{true}, int(hi-lo))
	case c.storage == bits:
		err = b.bits(&out, c, lo, hi)
	case c.storage == fixed:
		err = b.fixed(&out, c, lo, hi)
	case c.storage == views:
		err = b.views(&out, c, lo, hi)
	default:
		err = b.words(&out, c, lo, hi)
	}
	return out, err
}

// gaps reports which values are null, themselves or as parts of structs, nil for none.
func (b *batch) gaps(c *column, lo, hi int64) ([]bool, error) {
	if c.storage == nothing {
		return nil, nil
	}
	var gaps []bool
	for _, of := range append(c.above[:len(c.above):len(c.above)], c) {
		_, _, length, err := b.buffer(of, 0)
		if err != nil {
			return nil, err
		}
		if of.node >= b.nodes.n {
			return nil, damaged("batch %d has fewer columns than the schema", b.at)
		}
		if length == 0 || b.nodes.int(of.node, 8, 8) == 0 {
			continue
		}
		valid, err := b.part(of, 0, lo/8, (hi+7)/8)
		if err != nil {
			return nil, err
		}
		if gaps == nil {
			gaps = make([]bool, hi-lo)
		}
		for i := range gaps {
			gaps[i] = gaps[i] || !bit(valid, int(lo%8)+i)
		}
	}
	return gaps, nil
}

func bit(b []byte, i int) bool { return b[i/8]>>(i%8)&1 != 0 }

// fill makes n values, as numbers or as texts: put is called for those that are not null.
func (b *batch) fill(out *cells, c *column, n int64, put func(i int, out *cells) error) error {
	if c.asText {
		out.texts = make([]string, n)
	} else {
		out.numbers = make([]float64, n)
	}
	for i := range int(n) {
		if c.storage != nothing && !out.null(i) {
			if err := put(i, out); err != nil {
				return err
			}
		} else if !c.asText {
			out.numbers[i] = math.NaN()
		}
	}
	return nil
}

// put sets the i-th value to the one with these bits.
func (out *cells) put(i int, c *column, bits uint64) {
	if c.asText {
		out.texts[i] = c.value.Text(bits)
	} else {
		out.numbers[i] = c.value.Number(bits)
	}
}

func (b *batch) bits(out *cells, c *column, lo, hi int64) error {
	data, err := b.part(c, 1, lo/8, (hi+7)/8)
	if err != nil {
		return err
	}
	return b.fill(out, c, hi-lo, func(i int, out *cells) error {
		at := int(lo%8) + i
		out.put(i, c, uint64(data[at/8]>>(at%8)&1))
		return nil
	})
}

func (b *batch) fixed(out *cells, c *column, lo, hi int64) error {
	size := int(c.size)
	data, err := b.part(c, 1, lo*c.size, hi*c.size)
	if err != nil {
		return err
	}
	return b.fill(out, c, hi-lo, func(i int, out *cells) error {
		out.put(i, c, c.bits(data[i*size:(i+1)*size]))
		return nil
	})
}

// encoded reads values of a dictionary.
func (b *batch) encoded(out *cells, c *column, lo, hi int64) error {
	size := int(c.size)
	data, err := b.part(c, 1, lo*c.size, hi*c.size)
	if err != nil {
		return err
	}
	n := max(len(c.words.texts), len(c.words.numbers))
	return b.fill(out, c, hi-lo, func(i int, out *cells) error {
		v := c.value.Number(c.value.LittleEndian(data[i*size:]))
		switch {
		case v < 0 || v >= float64(n):
			return damaged("batch %d has value %g of a dictionary of %d values", b.at, v, n)
		case c.asText:
			out.texts[i] = c.words.texts[int(v)]
		default:
			out.numbers[i] = c.words.numbers[int(v)]
		}
		if c.words.null(int(v)) {
			if out.gaps == nil {
				out.gaps = make([]bool, hi-lo)
			}
			out.gaps[i] = true
		}
		return nil
	})
}

// offsets returns the offsets of the values [lo, hi) of a column of texts or lists, hi-lo+1 numbers
// that do not fall.
func (b *batch) offsets(c *column, lo, hi int64) ([]int64, error) {
	size := int64(4)
	if c.storage == largeTexts || c.storage == largeLists {
		size = 8
	}
	data, err := b.part(c, 1, lo*size, (hi+1)*size)
	if err == nil {
		err = b.borrow(hi-lo+1, 8)
	}
	if err != nil {
		return nil, err
	}
	out, offsets := make([]int64, hi-lo+1), flat{b: data}
	for i := range out {
		if out[i] = offsets.int(int64(i)*size, size); out[i] < 0 || i > 0 && out[i] < out[i-1] {
			return nil, damaged("batch %d has values of column %s that end before they begin", b.at, c.name)
		}
	}
	return out, nil
}

// words reads texts.
func (b *batch) words(out *cells, c *column, lo, hi int64) error {
	offsets, err := b.offsets(c, lo, hi)
	if err != nil {
		return err
	}
	first, last := offsets[0], offsets[hi-lo]
	data, err := b.part(c, 2, first, last)
	if err == nil {
		err = b.borrow(last-first, 1)
	}
	if err != nil {
		return err
	}
	letters := string(data)
	return b.fill(out, c, hi-lo, func(i int, out *cells) error {
		out.texts[i] = strings.TrimSpace(letters[offsets[i]-first : offsets[i+1]-first])
		return nil
	})
}

// views reads texts of which each is in place if it is short, or else in some buffer.
func (b *batch) views(out *cells, c *column, lo, hi int64) error {
	const size, short = 16, 12
	data, err := b.part(c, 1, lo*size, hi*size)
	if err != nil {
		return err
	}
	return b.fill(out, c, hi-lo, func(i int, out *cells) error {
		view := data[i*size : (i+1)*size]
		field := flat{b: view}
		n := field.int(0, 4)
		if n <= short {
			if n < 0 {
				return b.short(c)
			}
			out.texts[i] = strings.TrimSpace(string(view[4 : 4+n]))
			return b.borrow(n, 1)
		}
		buffer, at := field.int(8, 4), field.int(12, 4)
		if buffer < 0 || buffer >= b.further(c) {
			return b.short(c)
		}
		letters, err := b.part(c, 2+buffer, at, at+n)
		if err != nil {
			return err
		}
		out.texts[i] = strings.TrimSpace(string(letters))
		return b.borrow(n, 1)
	})
}

// further returns the number of buffers that a column of views has in addition.
func (b *batch) further(c *column) int64 {
	if c.views+1 >= int64(len(b.shift)) {
		return 0
	}
	return b.shift[c.views+1] - b.shift[c.views]
}

// list reads the items of lists of equal length.
func (b *batch) list(c *column, lo, hi int64) (cells, error) {
	width := int64(c.width)
	gaps, err := b.gaps(c, lo, hi)
	if err != nil {
		return cells{}, err
	}
	if c.storage == fixedLists {
		if lo > math.MaxInt64/width || hi > math.MaxInt64/width {
			return cells{}, b.short(c)
		}
		out, err := b.values(c.item, lo*width, hi*width)
		for i, gap := range gaps {
			if gap && err == nil {
				out.erase(i, c.width)
			}
		}
		return out, err
	}
	offsets, err := b.offsets(c, lo, hi)
	if err != nil {
		return cells{}, err
	}
	return b.ragged(c, offsets, gaps)
}

// ragged reads the items of lists that begin and end at some offsets. Those of nulls are null.
func (b *batch) ragged(c *column, offsets []int64, gaps []bool) (out cells, err error) {
	const each = 8 + 1
	n, width := len(offsets)-1, int64(c.width)
	items, err := b.values(c.item, offsets[0], offsets[n])
	if err == nil {
		err = b.borrow(int64(n), each*width)
	}
	if err != nil {
		return out, err
	}
	// priced: by borrow, unless there was an error
	out.numbers, out.gaps = make([]float64, n*c.width), make([]bool, n*c.width)
	for i := range n {
		first, end := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		switch isNull := gaps != nil && gaps[i]; {
		case isNull, end-first != width:
			out.erase(i, c.width)
			if !isNull {
				out.odd = append(out.odd, i)
			}
		default:
			copy(out.numbers[i*c.width:], items.numbers[first:end])
			if items.gaps != nil {
				copy(out.gaps[i*c.width:], items.gaps[first:end])
			}
		}
	}
	return out, nil
}

// erase makes the items of the i-th list null.
func (c *cells) erase(i, width int) {
	if c.gaps == nil {
		c.gaps = make([]bool, len(c.numbers))
	}
	for j := i * width; j < (i+1)*width; j++ {
		c.numbers[j], c.gaps[j] = math.NaN(), true
	}
}
