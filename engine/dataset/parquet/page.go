package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/fault"
)

// page is a page of values while it is read.
type page[T any] struct {
	left       int // values and nulls
	values     values[T]
	repetition *hybrid // nil if the column is not a list
	definition *hybrid // nil if no value can be missing
	held       int64
}

// oldDictionary is the number that old writers use for the encoding of a dictionary and of the
// indices into it.
const oldDictionary format.Encoding = 2

// pageHeader reads the header of the page at offset at, which is before end, and returns its
// length.
func (f *file) pageHeader(at, end int64) (h format.PageHeader, n int, err error) {
	const limit = 1 << 20 // bytes of a header, which usually has tens, and two values for statistics
	for size := int64(1 << 9); ; size *= 4 {
		b := make([]byte, min(size, end-at))
		if err := f.read(b, at); err != nil {
			return h, 0, err
		}
		h = format.PageHeader{}
		if n, err = decodeThrift(b, &h); err != errShort || size > limit || int64(len(b)) == end-at {
			return h, n, err
		}
	}
}

// dataHeader has the fields of the headers of both page versions.
type dataHeader struct {
	values     int
	encoding   format.Encoding
	levels     [2]format.Encoding // of repetition and definition, if present
	plain      int                // bytes of uncompressed levels; -1 for levels after their lengths, compressed with the values
	repetition int                // bytes of the repetition levels
	compressed bool
}

// dataHeaderOf returns the fields of the header of a page of values.
func dataHeaderOf(h *format.PageHeader) (d dataHeader, err error) {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		v := &h.DataPageHeader.V
		d = dataHeader{int(v.NumValues), v.Encoding, [2]format.Encoding{v.RepetitionLevelEncoding, v.DefinitionLevelEncoding}, -1, 0, true}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		r, l := v.RepetitionLevelsByteLength, v.DefinitionLevelsByteLength
		shorter := min(h.CompressedPageSize, h.UncompressedPageSize)
		if r < 0 || l < 0 || r > shorter || l > shorter-r {
			return d, errDamaged
		}
		d = dataHeader{int(v.NumValues), v.Encoding, [2]format.Encoding{format.RLE, format.RLE}, int(r + l), int(r), !v.IsCompressed.Valid || v.IsCompressed.V}
	default:
		return d, errDamaged
	}
	if d.values < 0 {
		return d, errDamaged
	}
	return d, nil
}

// body reads the bytes of a page after its header. The first plain bytes are not compressed;
// without a codec none are. The bytes count against the budget until the caller returns them.
func (f *file) body(h *format.PageHeader, at int64, codec format.CompressionCodec, plain int) ([]byte, error) {
	packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if codec == format.Uncompressed {
		size = packed
	}
	ratio, known := expansion[codec]
	switch {
	case codec != format.Uncompressed && !known:
		return nil, fault.Data("", "it is compressed with %s: want no compression, snappy, gzip, zstd or lz4_raw", codec)
	case known && size > int64(plain)+ratio*packed:
		return nil, errDamaged
	}
	if err := f.held.take(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if err := f.fill(b, h, at, codec, plain); err != nil {
		f.held.give(size)
		return nil, err
	}
	return b, nil
}

// fill fills b with the bytes of a page.
func (f *file) fill(b []byte, h *format.PageHeader, at int64, codec format.CompressionCodec, plain int) error {
	packed := b
	if codec != format.Uncompressed {
		n := int(h.CompressedPageSize)
		if cap(f.scratch) < n {
			f.scratch = nil // so that only one of the two is in memory
			f.scratch = make([]byte, n)
		}
		packed = f.scratch[:n]
	}
	if err := f.read(packed, at); err != nil {
		return err
	}
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(packed) {
		return fault.Data("", "the checksum of a page is %08x: want %08x, as in its header", crc32.ChecksumIEEE(packed), uint32(h.CRC))
	}
	if codec == format.Uncompressed {
		return nil
	}
	copy(b[:plain], packed)
	return f.codec.decompress(codec, b[plain:], packed[plain:])
}

// cut takes the levels, of values up to maximum, from the front of a page: n bytes, or for n < 0
// the number of bytes in the first four bytes.
func cut(b []byte, maximum, n int) (levels *hybrid, rest []byte, err error) {
	if n < 0 {
		if len(b) < 4 {
			return nil, nil, errShort
		}
		length := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(length) > uint64(len(b)) {
			return nil, nil, errShort
		}
		n = int(length)
	}
	return &hybrid{b: b[:n], width: bits.Len(uint(maximum))}, b[n:], nil
}

// split starts the body of a page of the column: its levels, and the bytes of its values.
func (p *page[T]) split(c *column, d dataHeader, b []byte) (rest []byte, err error) {
	for i, there := range []bool{c.list, c.levels > 0} {
		if there && d.levels[i] != format.RLE {
			return nil, unknownEncoding(d.levels[i])
		}
	}
	repetition, definition := -1, -1
	if d.plain >= 0 {
		repetition, definition = d.repetition, d.plain-d.repetition
	}
	if c.list || d.repetition > 0 {
		if p.repetition, b, err = cut(b, 1, repetition); err != nil {
			return nil, err
		}
	}
	if c.levels > 0 || definition > 0 {
		if p.definition, b, err = cut(b, c.levels, definition); err != nil {
			return nil, err
		}
	}
	if !c.list {
		p.repetition = nil
	}
	if c.levels == 0 {
		p.definition = nil
	}
	return b, nil
}

func unknownEncoding(e format.Encoding) error {
	return fault.Data("", "its pages have the encoding %s: want a known encoding for its type", e)
}
