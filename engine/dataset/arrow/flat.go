package arrow

import "encoding/binary"

// flat is a flatbuffer, the form of the metadata. Every place is compared with the bytes. The first
// one that is wrong sets bad; from then on everything that is read is zero.
type flat struct {
	b   []byte
	bad bool
}

// uint returns the number of size bytes at a place.
func (f *flat) uint(at, size int64) uint64 {
	if f.bad || at < 0 || at > int64(len(f.b))-size {
		f.bad = true
		return 0
	}
	switch b := f.b[at:]; size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}

// int is uint for a signed number.
func (f *flat) int(at, size int64) int64 {
	free := 64 - 8*size
	return int64(f.uint(at, size)<<free) >> free
}

// follow returns the table to which the offset at a place points.
func (f *flat) follow(at int64) table { return table{f, at + int64(f.uint(at, 4))} }

// table is a table of a flatbuffer. The zero table has no fields.
type table struct {
	f  *flat
	at int64
}

// field returns the place of the k-th field, 0 for one that is not there.
func (t table) field(k int64) int64 {
	if t.f == nil {
		return 0
	}
	fields := t.at - t.f.int(t.at, 4)
	if 4+2*k+2 > int64(t.f.uint(fields, 2)) {
		return 0
	}
	if offset := int64(t.f.uint(fields+4+2*k, 2)); offset != 0 {
		return t.at + offset
	}
	return 0
}

// int returns a number of size bytes, or the preset.
func (t table) int(k, size, preset int64) int64 {
	if at := t.field(k); at != 0 {
		return t.f.int(at, size)
	}
	return preset
}

// table returns a field that is a table.
func (t table) table(k int64) table {
	if at := t.field(k); at != 0 {
		return t.f.follow(at)
	}
	return table{}
}

// text returns a field that is a text.
func (t table) text(k int64) string {
	if v := t.vector(k, 1); v.n > 0 {
		return string(v.f.b[v.at : v.at+v.n])
	}
	return ""
}

// vector returns a field that is a list of elements of some size.
func (t table) vector(k, size int64) vector {
	at := t.field(k)
	if at == 0 {
		return vector{}
	}
	at += int64(t.f.uint(at, 4))
	n := int64(t.f.uint(at, 4))
	if at+4 > int64(len(t.f.b))-n*size { // both are below 2^36
		t.f.bad = true
	}
	if t.f.bad {
		return vector{}
	}
	return vector{t.f, at + 4, n, size}
}

// vector is a list of n elements.
type vector struct {
	f           *flat
	at, n, size int64
}

// int returns the number of size bytes that is some bytes into the i-th element.
func (v vector) int(i, into, size int64) int64 { return v.f.int(v.at+i*v.size+into, size) }

// table returns the i-th element of a list of tables.
func (v vector) table(i int64) table { return v.f.follow(v.at + i*v.size) }
