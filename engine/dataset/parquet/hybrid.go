package parquet

import "encoding/binary"

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
