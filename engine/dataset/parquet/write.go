package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
)

const pageBytes = 1 << 20 // approximate bytes of a page

// writer writes a file.
type writer struct {
	out  io.Writer
	at   int64 // bytes written
	meta format.FileMetaData
}

// write writes a matrix; see [dataset.Extension].
func write(out io.Writer, columns []string, next func() (dataset.Rows, error)) error {
	w := &writer{out: out}
	if err := w.raw([]byte(magic)); err != nil {
		return err
	}
	if err := dataset.Collect(columns, math.MaxInt, next, w.schema, w.flush); err != nil {
		return err
	}
	return w.close()
}

// schema writes the columns to the schema.
func (w *writer) schema(columns []dataset.WrittenColumn) error {
	w.meta.Schema = []format.SchemaElement{{Name: "rows", NumChildren: thrift.New(int32(len(columns)))}}
	for _, c := range columns {
		e := format.SchemaElement{Name: c.Name, Type: thrift.New(format.Double),
			RepetitionType: thrift.New(format.Required)}
		if c.Texts != nil {
			e.Type = thrift.New(format.ByteArray)
			e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.UTF8), &format.StringType{}
		}
		w.meta.Schema = append(w.meta.Schema, e)
	}
	return nil
}

// flush writes n rows as a row group.
func (w *writer) flush(columns []dataset.WrittenColumn, n int) error {
	g := format.RowGroup{NumRows: int64(n), FileOffset: w.at,
		Ordinal: int16(min(len(w.meta.RowGroups), math.MaxInt16))}
	for k := range columns {
		of := &columns[k]
		value := func(b []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(of.Number(i)))
		}
		if of.Texts != nil {
			value = func(b []byte, i int) []byte {
				return append(binary.LittleEndian.AppendUint32(b, uint32(len(of.Texts[i]))), of.Texts[i]...)
			}
		}
		c, err := w.chunk(&w.meta.Schema[k+1], n, value)
		if err != nil {
			return err
		}
		g.Columns = append(g.Columns, c)
		g.TotalByteSize += c.MetaData.TotalUncompressedSize
	}
	g.TotalCompressedSize = g.TotalByteSize
	w.meta.RowGroups = append(w.meta.RowGroups, g)
	w.meta.NumRows += g.NumRows
	return nil
}

// chunk writes a column of n rows; value appends the value of row i.
func (w *writer) chunk(e *format.SchemaElement, n int,
	value func(b []byte, i int) []byte) (format.ColumnChunk, error) {
	start := w.at
	page := make([]byte, 0, min(pageBytes+64, 9*n))
	for i := 0; i < n; {
		first := i
		page = page[:0]
		for ; i < n && len(page) < pageBytes; i++ {
			page = value(page, i)
		}
		if err := w.page(page, i-first); err != nil {
			return format.ColumnChunk{}, err
		}
	}
	size := w.at - start
	return format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type: e.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{e.Name},
		Codec:     format.Uncompressed,
		NumValues: int64(n), TotalUncompressedSize: size, TotalCompressedSize: size, DataPageOffset: start,
	}}, nil
}

// page writes a page of n plain values.
func (w *writer) page(b []byte, n int) error {
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(b)), CompressedPageSize: int32(len(b)),
		CRC: int32(crc32.ChecksumIEEE(b)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
	})
	if err == nil {
		err = w.raw(head)
	}
	if err == nil {
		err = w.raw(b)
	}
	return err
}

// close writes the footer.
func (w *writer) close() error {
	w.meta.Version, w.meta.CreatedBy = 1, "mustlink"
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, &w.meta)
	if err != nil {
		return err
	}
	return w.raw(append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), magic...))
}

func (w *writer) raw(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}
