package parquet

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
)

// values fills dst with the next values of a page. The error is errShort if the page has too few,
// or errDamaged.
type values[T any] func(dst []T) error

// each returns the values that next returns one by one.
func each[T any](next func() (T, error)) values[T] {
	return func(dst []T) (err error) {
		for i := range dst {
			if dst[i], err = next(); err != nil {
				return err
			}
		}
		return nil
	}
}

// numbers returns the values of a page of at most n numbers, as their bits, little-endian, in the
// lower bytes.
func (c *column) numbers(encoding format.Encoding, b []byte, n int) (values[uint64], error) {
	if c.mixed == decimals && (c.kind == format.ByteArray || c.kind == format.FixedLenByteArray) {
		texts, err := c.strings(encoding, b, n)
		return converted(texts, func(digits string) uint64 {
			return math.Float64bits(dataset.Decimal([]byte(digits), c.value.Scale))
		}), err
	}
	switch {
	case encoding == format.Plain && c.kind == format.Boolean:
		return booleans(b), nil
	case encoding == format.Plain:
		return plain(b, c.value.Bits/8), nil
	case encoding == format.RLE && c.kind == format.Boolean:
		if len(b) < 4 {
			return nil, errShort
		}
		runs := &hybrid{b: b[4:], width: 1} // after their length
		return converted(runs.read, func(v uint32) uint64 { return uint64(v) }), nil
	case encoding == format.DeltaBinaryPacked && (c.kind == format.Int32 || c.kind == format.Int64):
		d, err := newDelta(b, n)
		if err != nil {
			return nil, err
		}
		return each(d.next), nil
	case encoding == format.ByteStreamSplit && c.kind != format.Boolean:
		return split(b, c.value.Bits/8), nil
	}
	return nil, unknownEncoding(encoding)
}

// texts returns the values of a page of at most n texts, or of numbers as texts.
func (c *column) texts(encoding format.Encoding, b []byte, n int) (values[string], error) {
	if c.bytesAsText() {
		texts, err := c.strings(encoding, b, n)
		return converted(texts, c.form()), err
	}
	if c.kind != format.ByteArray {
		numbers, err := c.numbers(encoding, b, n)
		return converted(numbers, c.value.Text), err
	}
	return c.strings(encoding, b, n)
}

// strings returns the values of a page of at most n strings of bytes.
func (c *column) strings(encoding format.Encoding, b []byte, n int) (values[string], error) {
	switch encoding {
	case format.Plain:
		if c.kind == format.FixedLenByteArray || c.kind == format.Int96 {
			return fixedTexts(b, c.length), nil
		}
		return plainTexts(b), nil
	case format.DeltaLengthByteArray:
		next, err := deltaTexts(b, n)
		return each(next), err
	case format.DeltaByteArray:
		next, err := frontTexts(b, n)
		return each(next), err
	}
	return nil, unknownEncoding(encoding)
}

// plain returns numbers of a fixed number of bytes.
func plain(rest []byte, size int) values[uint64] {
	return func(dst []uint64) error {
		if len(rest)/size < len(dst) {
			return errShort
		}
		b := rest[:len(dst)*size]
		rest = rest[len(b):]
		switch size {
		case 8:
			for i := range dst {
				dst[i] = binary.LittleEndian.Uint64(b[8*i:])
			}
		case 4:
			for i := range dst {
				dst[i] = uint64(binary.LittleEndian.Uint32(b[4*i:]))
			}
		default:
			for i := range dst {
				dst[i] = uint64(binary.LittleEndian.Uint16(b[2*i:]))
			}
		}
		return nil
	}
}

// booleans returns bits, the lowest bit of a byte first.
func booleans(b []byte) values[uint64] {
	at := 0
	return each(func() (v uint64, err error) {
		if at == 8*len(b) {
			return 0, errShort
		}
		v = uint64(b[at/8]>>(at%8)) & 1
		at++
		return v, nil
	})
}

// converted returns other values, as of makes them.
func converted[A, B any](from values[A], of func(v A) B) values[B] {
	var buffer [64]A
	return func(dst []B) error {
		for len(dst) > 0 {
			part := buffer[:min(len(dst), len(buffer))]
			if err := from(part); err != nil {
				return err
			}
			for i, v := range part {
				dst[i] = of(v)
			}
			dst = dst[len(part):]
		}
		return nil
	}
}

// split returns numbers stored as streams: all first bytes, then all second bytes, and so on.
func split(b []byte, size int) values[uint64] {
	n, at := len(b)/size, 0
	return each(func() (v uint64, err error) {
		if at == n {
			return 0, errShort
		}
		for k := range size {
			v |= uint64(b[k*n+at]) << (8 * k)
		}
		at++
		return v, nil
	})
}

// indexed returns values as indices into a dictionary.
func indexed[T any](dictionary []T, b []byte) (values[T], error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] > 32 {
		return nil, errDamaged
	}
	indices := hybrid{b: b[1:], width: int(b[0])}
	if b[0] == 0 { // all values are the first of the dictionary: the page may have no further bytes
		indices.left = math.MaxInt
	}
	var buffer [512]uint32
	return func(dst []T) error {
		for len(dst) > 0 {
			positions := buffer[:min(len(dst), len(buffer))]
			if err := indices.read(positions); err != nil {
				return err
			}
			for i, at := range positions {
				if int64(at) >= int64(len(dictionary)) {
					return errDamaged
				}
				dst[i] = dictionary[at]
			}
			dst = dst[len(positions):]
		}
		return nil
	}, nil
}

// plainTexts returns texts, each after its length.
func plainTexts(b []byte) values[string] {
	return each(func() (text string, err error) {
		if len(b) < 4 {
			return "", errShort
		}
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return "", errShort
		}
		text, b = string(b[4:4+n]), b[4+n:]
		return text, nil
	})
}

// fixedTexts returns strings of a fixed number of bytes.
func fixedTexts(b []byte, size int) values[string] {
	return each(func() (text string, err error) {
		if len(b) < size {
			return "", errShort
		}
		text, b = string(b[:size]), b[size:]
		return text, nil
	})
}

// deltaTexts returns texts after the list of all their lengths, one by one.
func deltaTexts(b []byte, n int) (next func() (string, error), err error) {
	lengths, err := newDelta(b, n)
	if err != nil {
		return nil, err
	}
	all := *lengths
	if b, err = all.skip(); err != nil {
		return nil, err
	}
	return func() (text string, err error) {
		n, err := lengths.next()
		if err != nil {
			return "", err
		}
		if n > uint64(len(b)) {
			return "", errShort
		}
		text, b = string(b[:n]), b[n:]
		return text, nil
	}, nil
}

// frontTexts returns texts that share a prefix with the previous text, one by one.
func frontTexts(b []byte, n int) (next func() (string, error), err error) {
	shared, err := newDelta(b, n)
	if err != nil {
		return nil, err
	}
	all := *shared
	if b, err = all.skip(); err != nil {
		return nil, err
	}
	rest, err := deltaTexts(b, n)
	last := ""
	return func() (string, error) {
		n, err := shared.next()
		if err != nil {
			return "", err
		}
		const limit = 1 << 20 // bytes of a text, which may take almost no bytes in the page
		if n > uint64(len(last)) || n > limit {
			return "", errDamaged
		}
		more, err := rest()
		if err != nil {
			return "", err
		}
		last = last[:n] + more
		return last, nil
	}, err
}

// textColumn reads ids, labels or a feature of text.
type textColumn struct {
	*chunks[string]
	kind dataset.Text
}

func (r *reader) textsOf(c *column, kind dataset.Text) *textColumn {
	return &textColumn{&chunks[string]{f: r.f, c: c, begin: c.texts}, kind}
}

// read returns the texts of the next n rows, nil for no column.
func (t *textColumn) read(n int) ([]string, error) {
	if t == nil {
		return nil, nil
	}
	const entry = 16 // bytes of a text in addition to its letters
	held := int64(n) * entry
	if err := t.f.Held.Take(held); err != nil {
		return nil, err
	}
	defer func() { t.f.Held.Give(held) }() // from here on the caller owns them
	out := make([]string, n)
	row := t.row
	for i := 0; i < n; {
		part := out[i:min(n, i+64)]
		if err := t.chunks.read(part, func(int, int) error { return nil }); err != nil {
			return nil, err
		}
		for k, s := range part {
			s = strings.TrimSpace(s)
			part[k] = s
			held += int64(len(s))
			if err := t.f.Held.Take(int64(len(s))); err != nil {
				held -= int64(len(s))
				return nil, err
			}
			if err := t.f.columns.CheckText(t.c.name, t.kind, s, row+i); err != nil {
				return nil, err
			}
			i++
		}
	}
	return out, nil
}

// skip skips n rows.
func (t *textColumn) skip(n int) error {
	if t == nil {
		return nil
	}
	return t.chunks.skip(n, make([]string, min(64, n)))
}
