package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

const (
	magic       = "PAR1"
	magicSecret = "PARE"
)

// file is an open Parquet file.
type file struct {
	dataset.File
	meta    metadata
	codec   decompressor
	scratch []byte           // compressed page
	columns *dataset.Columns // once the schema is read
}

// metadata are the parts of the footer that are read, as format.FileMetaData has them. Others, such
// as pairs of keys and values, may be as any program writes them.
type metadata struct {
	Schema    thrift.Slice[format.SchemaElement] `thrift:"2,required"`
	NumRows   int64                              `thrift:"3,required"`
	RowGroups thrift.Slice[rowGroup]             `thrift:"4,required"`
}

type rowGroup struct {
	Columns thrift.Slice[columnChunk] `thrift:"1,required"`
	NumRows int64                     `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string        `thrift:"1,optional"`
	MetaData chunkMetadata `thrift:"3,optional"`
}

type chunkMetadata struct {
	Codec                format.CompressionCodec `thrift:"4,required"`
	NumValues            int64                   `thrift:"5,required"`
	TotalCompressedSize  int64                   `thrift:"7,required"`
	DataPageOffset       int64                   `thrift:"9,required"`
	DictionaryPageOffset int64                   `thrift:"11,optional"`
}

// openFile reads the footer and compares it with the file.
func openFile(in io.ReaderAt, size int64, o dataset.ReadOptions) (*file, error) {
	f := &file{File: dataset.File{In: in, Size: size, Held: dataset.NewBudget(o.MemoryLimit,
		"a block of rows with its pages and dictionaries",
		"write the file with smaller pages or fewer columns, or raise the limit")}}
	footer, err := f.Footer("a Parquet", magic, int64(len(magic)), func(begin, end string) error {
		if begin == magicSecret || end == magicSecret {
			return fault.Data("", "it is encrypted: want a plain Parquet file")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.Held.Give(int64(len(footer))) // it counts with what is decoded from here on
	w := walker{b: footer}
	if err := w.structure(0); err != nil {
		return nil, fault.Data("", "its footer is damaged: %w", err)
	}
	// A member of a list, such as the metadata of one column of a row group, takes at most a
	// kilobyte.
	const member = 1 << 10
	if err := f.Held.Take(int64(len(footer)) + member*w.items); err != nil {
		return nil, err
	}
	if _, err := decodeThrift(footer, &f.meta); err != nil {
		return nil, fault.Data("", "its footer is damaged: %w", err)
	}
	return f, nil
}

// check compares the row groups with the schema, given its number of leaves, and with the size of
// the file. It returns the number of rows.
func (f *file) check(leaves int) (rows int, err error) {
	for i := range f.meta.RowGroups {
		g := &f.meta.RowGroups[i]
		if len(g.Columns) != leaves {
			return 0, fault.Data("", "row group %d has %d columns: want %d, as in the schema", i,
				len(g.Columns), leaves)
		}
		if g.NumRows < 0 || g.NumRows > math.MaxInt/8-int64(rows) {
			return 0, fault.Data("", "row group %d claims %d rows: want a number >= 0", i, g.NumRows)
		}
		rows += int(g.NumRows)
		for j := range g.Columns {
			if err := f.checkChunk(&g.Columns[j]); err != nil {
				return 0, fault.Data("", "row group %d, column %d: %w", i, j, err)
			}
		}
	}
	if f.meta.NumRows != int64(rows) {
		return 0, fault.Data("", "it claims %d rows: want %d, the rows of its row groups", f.meta.NumRows,
			rows)
	}
	return rows, nil
}

var errOtherFile = errors.New("the values are in another file: want one file")

func (f *file) checkChunk(c *columnChunk) error {
	start, m := chunkStart(&c.MetaData), &c.MetaData
	switch {
	case c.FilePath != "":
		return errOtherFile
	case m.NumValues < 0 || m.TotalCompressedSize < 0 || start < int64(len(magic)) && m.NumValues > 0:
		return errDamaged
	case start > f.Size || m.TotalCompressedSize > f.Size-start:
		return fault.Data("", "its bytes are beyond the end, the file is cut off or damaged: %w",
			io.ErrUnexpectedEOF)
	}
	return nil
}

// chunkStart returns the offset at which a column of a row group begins: that of its dictionary, if
// it has one.
func chunkStart(m *chunkMetadata) int64 {
	if at := m.DictionaryPageOffset; at > 0 && at < m.DataPageOffset {
		return at
	}
	return m.DataPageOffset
}

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
