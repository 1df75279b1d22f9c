package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// expansion bounds the number of bytes that one compressed byte can expand to.
var expansion = map[format.CompressionCodec]int64{format.Snappy: 64, format.Gzip: 1100, format.Zstd: 1 << 16,
	format.Lz4Raw: 256, format.Brotli: 1 << 22}

// brotliWindow is the largest buffer, in bytes, that a page of brotli can ask of its decoder.
const brotliWindow = 1 << 24

// decompressor decompresses pages.
type decompressor struct{ zstd *zstd.Decoder }

// decompress fills dst with the decompressed src. It allocates nothing for the length that src
// claims.
func (d *decompressor) decompress(codec format.CompressionCodec, dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return guarded(func() error {
		switch codec {
		case format.Snappy:
			return fromSnappy(dst, src)
		case format.Gzip:
			z, err := gzip.NewReader(bytes.NewReader(src))
			if err != nil {
				return err
			}
			return inFull(z, dst)
		case format.Brotli:
			return inFull(brotli.NewReader(bytes.NewReader(src)), dst)
		case format.Lz4Raw:
			n, err := lz4.UncompressBlock(src, dst)
			if err == nil && n != len(dst) {
				err = wrongLength(n, len(dst))
			}
			return err
		default:
			return d.fromZstd(dst, src)
		}
	})
}

func fromSnappy(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		err = wrongLength(n, len(dst))
	}
	if err == nil {
		_, err = snappy.Decode(dst, src)
	}
	return err
}

// inFull reads dst from a stream that must end there.
func inFull(z io.Reader, dst []byte) error {
	if n, err := io.ReadFull(z, dst); err != nil {
		return fmt.Errorf("%w after %d of %d bytes", err, n, len(dst))
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("%w: more than %d bytes (%v)", errDamaged, len(dst), err)
	}
	return nil
}

func (d *decompressor) fromZstd(dst, src []byte) (err error) {
	if d.zstd == nil {
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(dataset.DefaultBudget)); err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = wrongLength(len(out), len(dst))
	}
	return err
}

func wrongLength(got, want int) error {
	return fmt.Errorf("%w: a page has %d bytes: want %d", errDamaged, got, want)
}

// hybrid reads small whole numbers (levels, or indices of a dictionary) that are encoded as runs of
// one value and as bit-packed groups.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/
type hybrid struct {
	b      []byte
	width  int // bits of a value, at most 32
	left   int // remaining values of the run
	packed bool
	value  uint32 // of a run of one value
	bit    int    // where the next packed value begins in b
}

// begin reads the header of the next run.
func (h *hybrid) begin() error {
	if h.packed { // after the last group
		h.b, h.bit, h.packed = h.b[min(len(h.b), (h.bit+7)/8):], 0, false
	}
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errShort
	}
	h.b = h.b[n:]
	if head&1 == 0 {
		bytes := (h.width + 7) / 8
		if len(h.b) < bytes {
			return errShort
		}
		var word [4]byte
		copy(word[:], h.b[:bytes])
		h.value, h.b, h.left = binary.LittleEndian.Uint32(word[:]), h.b[bytes:], int(min(head>>1, 1<<30))
		return nil
	}
	// A group has eight values; some writers omit unused bytes of the last one.
	h.packed, h.bit, h.left = true, 0, int(min(head>>1, 1<<27))*8
	if h.width > 0 {
		h.left = min(h.left, len(h.b)*8/h.width)
	}
	if h.left == 0 {
		return errShort
	}
	return nil
}

// unpack returns the next packed value.
func (h *hybrid) unpack() uint32 {
	v := bitsAt(h.b, h.bit) & (1<<h.width - 1)
	h.bit += h.width
	return uint32(v)
}

// bitsAt returns at least 57 bits of b, beginning with bit at; bits beyond the end are 0.
func bitsAt(b []byte, at int) uint64 {
	b = b[at/8:]
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) >> (at % 8)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:]) >> (at % 8)
}

// ready starts runs until one has a value.
func (h *hybrid) ready() error {
	for h.left == 0 {
		if err := h.begin(); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next value.
func (h *hybrid) next() (uint32, error) {
	if err := h.ready(); err != nil {
		return 0, err
	}
	h.left--
	if h.packed {
		return h.unpack(), nil
	}
	return h.value, nil
}

// read fills dst.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		if err := h.ready(); err != nil {
			return err
		}
		run := dst[:min(len(dst), h.left)]
		for i := range run {
			if h.packed {
				run[i] = h.unpack()
			} else {
				run[i] = h.value
			}
		}
		dst, h.left = dst[len(run):], h.left-len(run)
	}
	return nil
}

// equal reads up to n values that equal want and, if there are fewer than n, the value after them.
// It returns the number k of equal values.
func (h *hybrid) equal(want uint32, n int) (k int, err error) {
	for k < n {
		if err := h.ready(); err != nil {
			return k, err
		}
		if !h.packed && h.value == want {
			run := min(h.left, n-k)
			k, h.left = k+run, h.left-run
			continue
		}
		h.left--
		if !h.packed || h.unpack() != want {
			return k, nil
		}
		k++
	}
	return k, nil
}

// delta reads whole numbers encoded as differences, in blocks of a minimum difference and
// bit-packed remainders.
//
// https://github.com/apache/parquet-format/blob/master/Encodings.md (DELTA_BINARY_PACKED)
type delta struct {
	b       []byte
	size    int // of a block, which has parts miniblocks
	parts   int
	total   int    // remaining values
	value   uint64 // the next one
	minimum uint64 // minimum difference in the block
	widths  []byte // of the block's remaining miniblocks
	width   int
	left    int // remaining values of the miniblock
	bit     int // where the next remainder begins in b
}

// newDelta reads the head. There must not be more than limit values.
func newDelta(b []byte, limit int) (*delta, error) {
	d := &delta{b: b}
	var head [3]uint64
	for i := range head {
		v, err := d.uvarint()
		if err != nil {
			return nil, err
		}
		head[i] = v
	}
	first, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	const large = 1 << 20 // of a block: writers use 128 and 256
	size, parts := head[0], head[1]
	if size > large || parts == 0 || parts > size || size%parts != 0 || size/parts%8 != 0 ||
		head[2] > uint64(limit) {
		return nil, errDamaged
	}
	d.size, d.parts, d.total, d.value = int(size), int(parts), int(head[2]), unzigzag(first)
	return d, nil
}

func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

func (d *delta) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, errShort
	}
	d.b = d.b[n:]
	return v, nil
}

// next returns the next value.
func (d *delta) next() (uint64, error) {
	if d.total == 0 {
		return 0, errShort
	}
	v := d.value
	d.total--
	if d.total == 0 {
		return v, nil
	}
	if d.left == 0 {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	rest := bitsAt(d.b, d.bit)
	if d.width > 57 { // may need nine bytes
		rest = rest&(1<<32-1) | bitsAt(d.b, d.bit+32)<<32
	}
	d.value += d.minimum + rest&(1<<d.width-1)
	d.bit, d.left = d.bit+d.width, d.left-1
	return v, nil
}

// miniblock starts the next miniblock.
func (d *delta) miniblock() error {
	d.b, d.bit = d.b[d.bit/8:], 0
	if len(d.widths) == 0 {
		minimum, err := d.uvarint()
		if err != nil {
			return err
		}
		if len(d.b) < d.parts {
			return errShort
		}
		d.minimum, d.widths, d.b = unzigzag(minimum), d.b[:d.parts], d.b[d.parts:]
	}
	d.width, d.widths, d.left = int(d.widths[0]), d.widths[1:], d.size/d.parts
	if d.width > 64 {
		return errDamaged
	}
	if len(d.b)*8 < d.width*d.left {
		return errShort
	}
	return nil
}

// skip skips the remaining values and returns the bytes after them.
func (d *delta) skip() ([]byte, error) {
	for d.total > 0 {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	return d.b[(d.bit+d.left*d.width)/8:], nil
}
