package parquet

import "encoding/binary"

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
	if size > large || parts == 0 || parts > size || size%parts != 0 || size/parts%8 != 0 || head[2] > uint64(limit) {
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

// read fills dst.
func (d *delta) read(dst []uint64) error { return fill(dst, d.next) }

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
