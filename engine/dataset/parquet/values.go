package parquet

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
)

// values reads the values of a page in order.
type values[T any] interface {
	// read fills dst. The error is errShort if the page has too few, or errDamaged.
	read(dst []T) error
}

// fill fills dst with the results of next.
func fill[T any](dst []T, next func() (T, error)) (err error) {
	for i := range dst {
		if dst[i], err = next(); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns a reader for a page of at most n numbers, as their bits, little-endian, in the
// lower bytes.
func (c *column) numbers(encoding format.Encoding, b []byte, n int) (values[uint64], error) {
	if c.mixed == decimals && (c.kind == format.ByteArray || c.kind == format.FixedLenByteArray) {
		texts, err := c.strings(encoding, b, n)
		return &converted[string, uint64]{from: texts, of: func(digits string) uint64 {
			return math.Float64bits(dataset.Decimal([]byte(digits), c.value.Scale))
		}}, err
	}
	switch {
	case encoding == format.Plain && c.kind == format.Boolean:
		return &booleans{b: b}, nil
	case encoding == format.Plain:
		return &plain{b, c.value.Bits / 8}, nil
	case encoding == format.RLE && c.kind == format.Boolean:
		if len(b) < 4 {
			return nil, errShort
		}
		runs := &hybrid{b: b[4:], width: 1} // after their length
		return &converted[uint32, uint64]{from: runs, of: func(v uint32) uint64 { return uint64(v) }}, nil
	case encoding == format.DeltaBinaryPacked && (c.kind == format.Int32 || c.kind == format.Int64):
		return newDelta(b, n)
	case encoding == format.ByteStreamSplit && c.kind != format.Boolean:
		return &split{b: b, size: c.value.Bits / 8}, nil
	}
	return nil, unknownEncoding(encoding)
}

// texts returns a reader for a page of at most n texts, or of numbers as texts.
func (c *column) texts(encoding format.Encoding, b []byte, n int) (values[string], error) {
	if c.bytesAsText() {
		texts, err := c.strings(encoding, b, n)
		return &converted[string, string]{from: texts, of: c.form()}, err
	}
	if c.kind != format.ByteArray {
		numbers, err := c.numbers(encoding, b, n)
		return &converted[uint64, string]{from: numbers, of: c.value.Text}, err
	}
	return c.strings(encoding, b, n)
}

// strings returns a reader for a page of at most n strings of bytes.
func (c *column) strings(encoding format.Encoding, b []byte, n int) (values[string], error) {
	switch encoding {
	case format.Plain:
		if c.kind == format.FixedLenByteArray || c.kind == format.Int96 {
			return &fixedTexts{b, c.length}, nil
		}
		return &plainTexts{b}, nil
	case format.DeltaLengthByteArray:
		return newDeltaTexts(b, n)
	case format.DeltaByteArray:
		return newFrontTexts(b, n)
	}
	return nil, unknownEncoding(encoding)
}

// plain reads numbers of a fixed number of bytes.
type plain struct {
	b    []byte
	size int
}

func (p *plain) read(dst []uint64) error {
	if len(p.b)/p.size < len(dst) {
		return errShort
	}
	b := p.b[:len(dst)*p.size]
	p.b = p.b[len(b):]
	switch p.size {
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

// booleans reads bits, the lowest bit of a byte first.
type booleans struct {
	b  []byte
	at int
}

func (p *booleans) read(dst []uint64) error {
	if len(p.b)*8-p.at < len(dst) {
		return errShort
	}
	for i := range dst {
		dst[i] = uint64(p.b[p.at/8]>>(p.at%8)) & 1
		p.at++
	}
	return nil
}

// converted reads the values of another reader, as of makes them.
type converted[A, B any] struct {
	from   values[A]
	of     func(v A) B
	buffer [64]A
}

func (c *converted[A, B]) read(dst []B) error {
	for len(dst) > 0 {
		part := c.buffer[:min(len(dst), len(c.buffer))]
		if err := c.from.read(part); err != nil {
			return err
		}
		for i, v := range part {
			dst[i] = c.of(v)
		}
		dst = dst[len(part):]
	}
	return nil
}

// split reads numbers stored as streams: all first bytes, then all second bytes, and so on.
type split struct {
	b        []byte
	size, at int
}

func (s *split) read(dst []uint64) error {
	n := len(s.b) / s.size
	if n-s.at < len(dst) {
		return errShort
	}
	for i := range dst {
		dst[i] = 0
		for k := range s.size {
			dst[i] |= uint64(s.b[k*n+s.at]) << (8 * k)
		}
		s.at++
	}
	return nil
}

// indexed reads values as indices into a dictionary.
type indexed[T any] struct {
	coordinates hybrid
	dictionary  []T
	buffer      [512]uint32
}

func newIndexed[T any](dictionary []T, b []byte) (values[T], error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] > 32 {
		return nil, errDamaged
	}
	x := &indexed[T]{coordinates: hybrid{b: b[1:], width: int(b[0])}, dictionary: dictionary}
	if b[0] == 0 { // all values are the first of the dictionary: the page may have no further bytes
		x.coordinates.left = math.MaxInt
	}
	return x, nil
}

func (x *indexed[T]) read(dst []T) error {
	for len(dst) > 0 {
		positions := x.buffer[:min(len(dst), len(x.buffer))]
		if err := x.coordinates.read(positions); err != nil {
			return err
		}
		for i, at := range positions {
			if int64(at) >= int64(len(x.dictionary)) {
				return errDamaged
			}
			dst[i] = x.dictionary[at]
		}
		dst = dst[len(positions):]
	}
	return nil
}

// plainTexts reads texts, each after its length.
type plainTexts struct{ b []byte }

func (p *plainTexts) read(dst []string) error { return fill(dst, p.next) }

func (p *plainTexts) next() (text string, err error) {
	if len(p.b) < 4 {
		return "", errShort
	}
	n := binary.LittleEndian.Uint32(p.b)
	if uint64(n) > uint64(len(p.b)-4) {
		return "", errShort
	}
	text, p.b = string(p.b[4:4+n]), p.b[4+n:]
	return text, nil
}

// deltaTexts reads texts after the list of all their lengths.
type deltaTexts struct {
	lengths *delta
	b       []byte
}

func newDeltaTexts(b []byte, n int) (*deltaTexts, error) {
	lengths, err := newDelta(b, n)
	if err != nil {
		return nil, err
	}
	all := *lengths
	if b, err = all.skip(); err != nil {
		return nil, err
	}
	return &deltaTexts{lengths, b}, nil
}

func (d *deltaTexts) read(dst []string) error { return fill(dst, d.next) }

func (d *deltaTexts) next() (text string, err error) {
	n, err := d.lengths.next()
	if err != nil {
		return "", err
	}
	if n > uint64(len(d.b)) {
		return "", errShort
	}
	text, d.b = string(d.b[:n]), d.b[n:]
	return text, nil
}

// frontTexts reads texts that share a prefix with the previous text.
type frontTexts struct {
	shared *delta
	rest   *deltaTexts
	last   string
}

func newFrontTexts(b []byte, n int) (*frontTexts, error) {
	shared, err := newDelta(b, n)
	if err != nil {
		return nil, err
	}
	all := *shared
	if b, err = all.skip(); err != nil {
		return nil, err
	}
	rest, err := newDeltaTexts(b, n)
	return &frontTexts{shared: shared, rest: rest}, err
}

func (f *frontTexts) read(dst []string) error { return fill(dst, f.next) }

func (f *frontTexts) next() (string, error) {
	n, err := f.shared.next()
	if err != nil {
		return "", err
	}
	const limit = 1 << 20 // bytes of a text, which may take almost no bytes in the page
	if n > uint64(len(f.last)) || n > limit {
		return "", errDamaged
	}
	rest, err := f.rest.next()
	if err != nil {
		return "", err
	}
	f.last = f.last[:n] + rest
	return f.last, nil
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
