package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// wrapped appends metadata to the body of a file.
func wrapped(body, footer []byte) []byte {
	b := append([]byte(magic), body...)
	b = append(b, footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), magic...)
}

func encoded(v any) []byte {
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		panic(err)
	}
	return b
}

// crafted returns a file that claims the given rows of one column x of doubles, in one chunk of
// these pages.
func crafted(codec format.CompressionCodec, rows int64, pages ...[]byte) []byte {
	body := bytes.Join(pages, nil)
	return wrapped(body, encoded(&format.FileMetaData{Version: 1, NumRows: rows,
		Schema: []format.SchemaElement{{Name: "rows", NumChildren: thrift.New(int32(1))},
			{Name: "x", Type: thrift.New(format.Double), RepetitionType: thrift.New(format.Required)}},
		RowGroups: []format.RowGroup{{NumRows: rows,
			Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: format.Double,
				Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{"x"}, Codec: codec,
				NumValues:           rows,
				TotalCompressedSize: int64(len(body)), DataPageOffset: int64(len(magic))}}}}}}))
}

// paged returns a page, with the sizes that its header claims.
func paged(kind format.PageType, values int32, e format.Encoding, claimed, packed int32, body []byte) []byte {
	h := format.PageHeader{Type: kind, UncompressedPageSize: claimed, CompressedPageSize: packed}
	if kind == format.DictionaryPage {
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: values, Encoding: e})
	} else {
		h.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: values, Encoding: e,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
	}
	return append(encoded(&h), body...)
}

// bombs returns small files that claim large contents.
func bombs(t *testing.T) map[string][]byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := z.EncodeAll(make([]byte, 1<<24), nil)
	const many = math.MaxInt32
	short := make([]byte, 16)
	one := paged(format.DictionaryPage, 1, format.Plain, 8, 8, short[:8])
	// field 2: a list of structures
	list := func(n uint64) []byte { return append(binary.AppendUvarint([]byte{0x29, 0xfc}, n), 0x19) }
	// nested structures
	deep := append(bytes.Repeat([]byte{0xfc}, 1<<20), bytes.Repeat([]byte{0}, 1<<20)...)
	lists := bytes.Repeat([]byte{0x19}, 1<<20)
	return map[string][]byte{
		"rows of a dictionary": crafted(format.Uncompressed, many, one,
			paged(format.DataPage, many, format.RLEDictionary, 1, 1, short[:1])),
		"rows that are not there": crafted(format.Uncompressed, 1<<40,
			paged(format.DataPage, many, format.Plain, 16, 16, short)),
		"a page of gigabytes, snappy": crafted(format.Snappy, 2,
			paged(format.DataPage, 2, format.Plain, many, 16, short)),
		"a page of gigabytes, gzip": crafted(format.Gzip, 2,
			paged(format.DataPage, 2, format.Plain, many, 16, short)),
		"a page of gigabytes, zstd": crafted(format.Zstd, 2,
			paged(format.DataPage, 2, format.Plain, many, 16, short)),
		"a page of gigabytes, brotli": crafted(format.Brotli, 2,
			paged(format.DataPage, 2, format.Plain, many, 16, short)),
		"more zeros than claimed": crafted(format.Zstd, 2,
			paged(format.DataPage, 2, format.Plain, 16, int32(len(zeros)), zeros)),
		"fewer zeros than claimed": crafted(format.Zstd, 2,
			paged(format.DataPage, 2, format.Plain, 1<<25, int32(len(zeros)), zeros)),
		"a page beyond the end": crafted(format.Uncompressed, 2,
			paged(format.DataPage, 2, format.Plain, 16, many, short)),
		"a negative page": crafted(format.Uncompressed, 2,
			paged(format.DataPage, 2, format.Plain, 16, -1, short)),
		"negative values": crafted(format.Uncompressed, 2,
			paged(format.DataPage, -2, format.Plain, 16, 16, short)),
		"more values than rows": crafted(format.Uncompressed, 2,
			paged(format.DataPage, 3, format.Plain, 24, 16, short)),
		"a large dictionary": crafted(format.Uncompressed, 2,
			paged(format.DictionaryPage, many, format.Plain, 16, 16, short)),
		"two dictionaries": crafted(format.Uncompressed, 2, one, one),
		"no dictionary": crafted(format.Uncompressed, 2,
			paged(format.DataPage, 2, format.RLEDictionary, 2, 2, []byte{1, 4})),
		"an index beyond a dictionary": crafted(format.Uncompressed, 2, one,
			paged(format.DataPage, 2, format.RLEDictionary, 3, 3, []byte{1, 4, 1})),
		"wide indices": crafted(format.Uncompressed, 2, one,
			paged(format.DataPage, 2, format.RLEDictionary, 3, 3, []byte{33, 4, 1})),
		"texts": crafted(format.Uncompressed, 2,
			paged(format.DataPage, 2, format.DeltaByteArray, 16, 16, short)),
		"pages of nothing": crafted(format.Uncompressed, 2,
			bytes.Repeat(paged(format.DataPage, 0, format.Plain, 0, 0, nil), 1000)),
		"a long footer":                append(append([]byte(magic), short...), "\xff\xff\xff\xffPAR1"...),
		"a long list":                  wrapped(nil, list(1<<31)),
		"a list of a billion billions": wrapped(nil, list(math.MaxUint64)),
		"deep structures":              wrapped(nil, deep),
		"deep lists":                   wrapped(nil, append([]byte{0x19}, lists...)),
		"empty row groups": wrapped(nil,
			append(binary.AppendUvarint([]byte{0x49, 0xfc}, 1<<21), make([]byte, 1<<21)...)),
		"nothing":    nil,
		"magic only": []byte("PAR1PAR1"),
		"encrypted":  []byte("PARE\x00\x00\x00\x00PARE"),
	}
}

// A file that claims more than it contains gives an input error, takes little memory and does not
// panic.
func TestBombs(t *testing.T) {
	const limit = 64 << 20
	for name, b := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			for _, memory := range []int64{limit, 0} {
				o := reading()
				o.MemoryLimit = memory
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := decode(b, o)
				runtime.ReadMemStats(&after)
				if !fault.IsInput(err) {
					t.Fatalf("error %v", err)
				}
				// Without a limit, memory depends on the real content of the pages and the footer,
				// which expand about a hundredfold.
				if got, bound := int64(after.TotalAlloc-before.TotalAlloc),
					4*int64(len(b))+limit; memory > 0 && got > bound {
					t.Errorf("%d bytes were allocated for a file of %d: %v", got, len(b), err)
				}
			}
			t.Log(errOf(decode(b, reading())))
		})
	}
}

func errOf(_ *dataset.Data, err error) error { return err }

// A small file of a billion equal rows can be read as a stream, whose blocks are small, and at once
// only if a limit allows it.
func TestRowsThatTakeNoBytes(t *testing.T) {
	const rows = 1 << 30
	b := crafted(format.Uncompressed, rows,
		paged(format.DictionaryPage, 1, format.Plain, 8, 8, make([]byte, 8)),
		paged(format.DataPage, rows, format.RLEDictionary, 1, 1, make([]byte, 1)))
	_, err := decode(b, reading())
	if e, ok := errors.AsType[*fault.MemoryError](err); !ok || e.Need != 8*rows {
		t.Errorf("as a whole: %v", err)
	}
	s, err := dataset.DecodeStream(bytes.NewReader(b), "data.parquet", "", reading())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if d, err := s.Next(1000); err != nil || d.Points.Len() != 1000 {
			t.Fatalf("in blocks: %v", err)
		}
	}
}

// sample returns a file with columns of many kinds, in pages of a few rows.
func sample(t fatal, options ...pq.WriterOption) []byte {
	t.Helper()
	m := made{names: []string{"a", "b", "id", "label", "v"}, group: 17,
		options: append(options, pq.PageBufferSize(64)),
		nodes: []pq.Node{pq.Encoded(pq.Optional(pq.Leaf(pq.DoubleType)), &pq.RLEDictionary),
			pq.Encoded(pq.Leaf(pq.Int64Type), &pq.DeltaBinaryPacked),
			pq.Encoded(pq.String(), &pq.DeltaByteArray), pq.Encoded(pq.String(), &pq.RLEDictionary),
			pq.List(pq.Leaf(pq.FloatType))}}
	for i := range 40 {
		m.rows = append(m.rows,
			pq.Row{pq.DoubleValue(float64(i%5)).Level(0, 1, 0), pq.Int64Value(int64(i*i)).Level(0, 0, 1),
				pq.ValueOf(fmt.Sprint("point ", i)).Level(0, 0, 2),
				pq.ValueOf(fmt.Sprint(i%2)).Level(0, 0, 3), pq.FloatValue(1).Level(0, 1, 4),
				pq.FloatValue(float32(i)).Level(1, 1, 4)})
	}
	return m.bytes(t)
}

// unsealed returns a file without the checksums of its pages, so that damage reaches the decoders.
func unsealed(t fatal, b []byte) []byte {
	t.Helper()
	f, err := openFile(bytes.NewReader(b), int64(len(b)), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(magic)
	for i := range f.meta.RowGroups {
		for j := range f.meta.RowGroups[i].Columns {
			m := &f.meta.RowGroups[i].Columns[j].MetaData
			at, start := chunkStart(m), int64(len(body))
			for end := at + m.TotalCompressedSize; at < end; {
				h, n, err := f.pageHeader(at, end)
				if err != nil {
					t.Fatal(err)
				}
				page := b[at+int64(n):][:h.CompressedPageSize]
				at += int64(n) + int64(len(page))
				h.CRC = 0
				body = append(append(body, encoded(&h)...), page...)
			}
			m.DictionaryPageOffset, m.DataPageOffset, m.TotalCompressedSize = 0, start, int64(len(body))-start
		}
	}
	return wrapped(body[len(magic):], encoded(&f.meta))
}

func samples(t fatal) [][]byte {
	var files [][]byte
	for _, codec := range []pq.WriterOption{pq.Compression(&pq.Uncompressed), pq.Compression(&pq.Snappy),
		pq.Compression(&pq.Gzip), pq.Compression(&pq.Zstd), pq.Compression(&pq.Brotli)} {
		for version := 1; version <= 2; version++ {
			files = append(files, unsealed(t, sample(t, codec, pq.DataPageVersion(version))))
		}
	}
	return files
}

// A file that is cut off anywhere gives an input error; a file with changed bytes gives an input
// error or is read.
func TestDamage(t *testing.T) {
	files, refused, read := samples(t), 0, 0
	look := func(t fatal, b []byte) error {
		o := reading()
		o.MemoryLimit = 16 << 20
		_, err := decode(b, o)
		if err != nil && !fault.IsInput(err) {
			t.Fatalf("error %v is not an input error", err)
		}
		return err
	}
	for _, b := range files {
		for n := 0; n < len(b); n += 11 {
			if look(t, b[:n]) == nil {
				t.Fatalf("%d of %d bytes are read", n, len(b))
			}
		}
	}
	propertytest.Check(t, func(rt *rapid.T) {
		b := bytes.Clone(rapid.SampledFrom(files).Draw(rt, "file"))
		for range 30 {
			at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
			was := b[at]
			b[at] = rapid.Byte().Draw(rt, "byte")
			if look(rt, b) != nil {
				refused++
			} else {
				read++
			}
			if rapid.IntRange(0, 3).Draw(rt, "repair") > 0 {
				b[at] = was
			}
		}
	})
	if many := racetest.Fewer(100); refused < many || read < many {
		t.Errorf("%d files are refused, %d read: want many of both", refused, read)
	}
}

// Files of this package have checksums: a changed bit of a value is always detected.
func TestChecksums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.parquet")
	values := make([]float64, 20)
	for i := range values {
		values[i] = float64(i) + 0.5
	}
	if err := dataset.WriteMatrix(path, 4, 5, values, 5, nil, writing()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for i, v := range values {
		at := bytes.Index(b, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		if at < 0 {
			t.Fatalf("value %d is not there", i)
		}
		for bit := range 64 {
			b[at+bit/8] ^= 1 << (bit % 8)
			if _, err := decode(b, reading()); err == nil || !fault.IsInput(err) {
				t.Fatalf("bit %d of value %d: %v", bit, i, err)
			}
			b[at+bit/8] ^= 1 << (bit % 8)
			tried++
		}
	}
	if tried != 64*len(values) {
		t.Errorf("%d bits", tried)
	}
}

// brokenDisk fails after the first bytes.
type brokenDisk struct {
	in    io.ReaderAt
	until int64
}

var errDisk = errors.New("the disk is broken")

func (d brokenDisk) ReadAt(b []byte, at int64) (int, error) {
	if at < d.until {
		return d.in.ReadAt(b, at)
	}
	return 0, errDisk
}

// A failure of the disk is not reported as an input error.
func TestBrokenDisk(t *testing.T) {
	b := sample(t)
	x := Format()
	read := 0
	for until := range int64(len(b)) {
		r, err := x.Open(brokenDisk{bytes.NewReader(b), until}, int64(len(b)), dataset.ReadOptions{},
			func(e *fault.DataError, _ string) error {
				return e
			})
		for err == nil {
			_, err = r.Next(7)
		}
		if err == io.EOF {
			read++
		} else if !errors.Is(err, errDisk) || fault.IsInput(err) {
			t.Fatalf("a disk that fails at byte %d: %v", until, err)
		}
	}
	if read == int(len(b)) {
		t.Error("no failure was detected")
	}
}

// FuzzRead: any bytes give the same data at once and in blocks, or an input error.
func FuzzRead(f *testing.F) {
	for i, b := range samples(f) {
		f.Add(b, byte(i))
	}
	f.Add(crafted(format.Uncompressed, 2,
		paged(format.DataPage, 2, format.ByteStreamSplit, 16, 16, make([]byte, 16))), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, limit byte) {
		o := reading()
		o.MemoryLimit = 1 << 22
		whole, err := decode(b, o)
		s, streamErr := dataset.DecodeStream(bytes.NewReader(b), "data.parquet", "", o)
		var data []float64
		for streamErr == nil {
			var part *dataset.Data
			if part, streamErr = s.Next(1 + int(limit)%50); streamErr == nil {
				data = append(data, rowData(part)...)
				if len(data) > 1<<20 {
					return // a long file of equal rows
				}
			}
		}
		for _, err := range []error{err, streamErr} {
			if err != nil && err != io.EOF && !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
		}
		if err != nil {
			return
		}
		if streamErr != io.EOF {
			t.Fatalf("it can be read at once; in blocks: %v", streamErr)
		}
		want := rowData(whole)
		if len(data) != len(want) {
			t.Fatalf("%d values in blocks, %d as a whole", len(data), len(want))
		}
		for i := range want {
			if math.Float64bits(data[i]) != math.Float64bits(want[i]) {
				t.Fatalf("value %d: %v in blocks, %v as a whole", i, data[i], want[i])
			}
		}
	})
}

// TestWalker: a structure with values of every type ends where it ends, and what is cut off is
// refused everywhere.
func TestWalker(t *testing.T) {
	full := bytes.Repeat([]byte{0xff}, 8)
	number := []byte{0xff, 1} // of two bytes
	b := slices.Concat([]byte{0x11, 0x12, 0x13, 0xff}, []byte{0x14}, number, []byte{0x15}, number,
		[]byte{0x16}, number, []byte{0x17}, full, []byte{0x18, 3}, full[:3], []byte{0x19, 0x25}, number,
		number, []byte{0x1a, 0x17}, full, []byte{0x1c, 0x17}, full, []byte{0}, []byte{0x07}, number, full,
		[]byte{0})
	w := walker{b: append(bytes.Clone(b), full...)}
	if err := w.structure(0); err != nil || w.at != len(b) {
		t.Errorf("it ends after %d bytes, error %v: want %d", w.at, err, len(b))
	}
	for n := range b {
		if err := (&walker{b: b[:n]}).structure(0); err == nil {
			t.Errorf("a structure cut off after %d of %d bytes passes", n, len(b))
		}
	}
}
