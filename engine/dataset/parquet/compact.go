package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"github.com/mustlink/mustlink/engine/fault"
)

var (
	errShort   = errors.New("the data end early")
	errDamaged = errors.New("the data are damaged")
)

// Types of values in Thrift's compact protocol.
const (
	typeStop = iota
	typeTrue
	typeFalse
	typeByte
	typeInt16
	typeInt32
	typeInt64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
)

// maxDepth is the limit on the depth of nested structures. Metadata need 7.
const maxDepth = 32

// walker checks a structure of Thrift's compact protocol without storing it. The decoder trusts
// every length and any depth, so it gets only structures that passed this check.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
type walker struct {
	b     []byte
	at    int
	items int64 // members of lists
}

// structure checks a structure.
func (w *walker) structure(depth int) error {
	for {
		head, err := w.byte()
		if err != nil {
			return err
		}
		kind := head & 15
		if kind == typeStop {
			return nil
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind == typeTrue || kind == typeFalse {
			continue // the type is the value
		}
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
}

// value checks a value that is not part of the head of a field.
func (w *walker) value(kind byte, depth int) error {
	if depth++; depth > maxDepth {
		return errDamaged
	}
	switch kind {
	case typeTrue, typeFalse, typeByte:
		return w.skip(1)
	case typeInt16, typeInt32, typeInt64:
		_, err := w.varint()
		return err
	case typeDouble:
		return w.skip(8)
	case typeBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case typeList, typeSet:
		return w.list(depth)
	case typeStruct:
		return w.structure(depth)
	}
	return errDamaged // metadata have no maps
}

func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.b)-w.at) { // a member has at least one byte
		return errShort
	}
	w.items += int64(n)
	for range n {
		if err := w.value(head&15, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at == len(w.b) {
		return 0, errShort
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	if n == 0 {
		return 0, errShort
	}
	if n < 0 {
		return 0, errDamaged
	}
	w.at += n
	return v, nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// decodeThrift decodes the structure at the beginning of b into v and returns its length. The error
// is errShort if b may be too short, and errDamaged if it is not a valid structure.
func decodeThrift(b []byte, v any) (int, error) {
	w := walker{b: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	err := guarded(func() error { return thrift.Unmarshal(&thrift.CompactProtocol{}, b[:w.at], v) })
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return w.at, nil
}

// guarded calls f of another library and turns a panic into an error, since the input may be
// anything.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errDamaged, r)
		}
	}()
	return f()
}

// budget counts the memory in use in addition to the values.
type budget struct{ used, limit int64 }

// defaultBudget is the limit if the caller has none: a file of a few bytes may claim a page of
// gigabytes.
const defaultBudget = 4 << 30

// take reserves n bytes.
func (b *budget) take(n int64) error {
	if n > b.limit-b.used {
		return &fault.MemoryError{What: "a block of rows with its pages and dictionaries", Need: b.used + n, Limit: b.limit,
			Hint: "write the file with smaller pages or fewer columns, or raise the limit"}
	}
	b.used += n
	return nil
}

func (b *budget) give(n int64) { b.used -= n }
