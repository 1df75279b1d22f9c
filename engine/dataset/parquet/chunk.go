package parquet

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
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
		if err := f.Fill(b, at); err != nil {
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
	values   int
	encoding format.Encoding
	levels   [2]format.Encoding // of repetition and definition, if present
	// bytes of uncompressed levels; -1 for levels after their lengths, compressed with the values
	plain      int
	repetition int // bytes of the repetition levels
	compressed bool
}

// dataHeaderOf returns the fields of the header of a page of values.
func dataHeaderOf(h *format.PageHeader) (d dataHeader, err error) {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		v := &h.DataPageHeader.V
		d = dataHeader{int(v.NumValues), v.Encoding,
			[2]format.Encoding{v.RepetitionLevelEncoding, v.DefinitionLevelEncoding}, -1, 0, true}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		r, l := v.RepetitionLevelsByteLength, v.DefinitionLevelsByteLength
		shorter := min(h.CompressedPageSize, h.UncompressedPageSize)
		if r < 0 || l < 0 || r > shorter || l > shorter-r {
			return d, errDamaged
		}
		d = dataHeader{int(v.NumValues), v.Encoding, [2]format.Encoding{format.RLE, format.RLE}, int(r + l),
			int(r), !v.IsCompressed.Valid || v.IsCompressed.V}
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
func (f *file) body(h *format.PageHeader, at int64, codec format.CompressionCodec,
	plain int) ([]byte, error) {
	packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if codec == format.Uncompressed {
		size = packed
	}
	ratio, known := expansion[codec]
	switch {
	case codec != format.Uncompressed && !known:
		return nil, fault.Data("",
			"it is compressed with %s: want no compression, snappy, gzip, zstd, brotli or lz4_raw", codec)
	case known && size > int64(plain)+ratio*packed:
		return nil, errDamaged
	}
	if err := f.Held.Take(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if err := f.fill(b, h, at, codec, plain); err != nil {
		f.Held.Give(size)
		return nil, err
	}
	return b, nil
}

// fill fills b with the bytes of a page.
func (f *file) fill(b []byte, h *format.PageHeader, at int64, codec format.CompressionCodec,
	plain int) error {
	packed := b
	if codec != format.Uncompressed {
		n := int(h.CompressedPageSize)
		if cap(f.scratch) < n {
			f.scratch = nil // so that only one of the two is in memory
			f.scratch = make([]byte, n)
		}
		packed = f.scratch[:n]
	}
	if err := f.Fill(packed, at); err != nil {
		return err
	}
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(packed) {
		return fault.Data("", "the checksum of a page is %08x: want %08x, as in its header",
			crc32.ChecksumIEEE(packed), uint32(h.CRC))
	}
	if codec == format.Uncompressed {
		return nil
	}
	if codec == format.Brotli {
		if err := f.Held.Take(brotliWindow); err != nil {
			return err
		}
		defer f.Held.Give(brotliWindow)
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

// chunks reads the values of a column, row group by row group: numbers as their bits, or texts.
type chunks[T any] struct {
	f     *file
	c     *column
	begin func(e format.Encoding, b []byte, n int) (values[T], error)

	group   int // the next row group
	meta    *chunkMetadata
	at, end int64 // the next page, and the end of the chunk
	unread  int64 // values of the chunk in later pages
	want    int64 // values of the row group that were not requested yet

	dictionary []T
	heldByDict int64
	page       page[T]

	row, place int // of the next value: its row in the file and its index in the list
}

// read fills dst with the values of the next rows. It calls missing for every null, for which dst
// gets the zero value.
func (r *chunks[T]) read(dst []T, missing func(row, place int) error) error {
	for len(dst) > 0 {
		if err := r.ready(); err != nil {
			return r.explain(err)
		}
		n := int(min(int64(len(dst)), int64(r.page.left), r.want))
		k, err := r.present(n)
		if err == nil {
			err = r.page.values(dst[:k])
		}
		if err != nil {
			return r.explain(err)
		}
		r.pass(k)
		if k < n {
			var none T
			dst[k] = none
			if err := missing(r.row, r.place); err != nil {
				return err
			}
			r.pass(1)
			k++
		}
		dst = dst[k:]
		r.page.left, r.want = r.page.left-k, r.want-int64(k)
		switch { // finished pages and groups are released now, not at the next read of the column
		case r.page.left == 0 && r.unread == 0:
			r.release()
		case r.page.left == 0:
			r.closePage()
		}
	}
	return nil
}

// skip skips n rows: whole row groups where it can, other values by reading them into scratch.
func (r *chunks[T]) skip(n int, scratch []T) error {
	ignore := func(int, int) error { return nil }
	for left := int64(n) * int64(r.c.width); left > 0; {
		if r.want == 0 {
			if err := r.atEnd(); err != nil {
				return r.explain(err)
			}
			if r.group < len(r.f.meta.RowGroups) {
				if rows := r.f.meta.RowGroups[r.group].NumRows; rows*int64(r.c.width) <= left {
					r.group, r.row, left = r.group+1, r.row+int(rows), left-rows*int64(r.c.width)
					continue
				}
			}
		}
		part := scratch[:min(int64(len(scratch)), left)]
		if r.want > 0 { // so that the next row group can be skipped
			part = part[:min(int64(len(part)), r.want)]
		}
		if err := r.read(part, ignore); err != nil {
			return err
		}
		left -= int64(len(part))
	}
	return nil
}

// pass counts values.
func (r *chunks[T]) pass(n int) {
	at := r.place + n
	r.row, r.place = r.row+at/r.c.width, at%r.c.width
}

// present reads the levels of up to n values that exist and, if there are fewer than n, of the null
// after them. It returns the number k of existing values.
func (r *chunks[T]) present(n int) (k int, err error) {
	if r.page.repetition == nil {
		if r.page.definition == nil {
			return n, nil
		}
		return r.page.definition.equal(uint32(r.c.levels), n)
	}
	for k < n {
		repeated, err := r.page.repetition.next()
		if err != nil {
			return k, err
		}
		at := r.place + k
		if (repeated > 0) != (at%r.c.width > 0) {
			row := r.row + at/r.c.width
			if repeated > 0 {
				row-- // the value belongs to the previous row's list
			}
			return k, r.otherLength(row)
		}
		level, err := r.page.definition.next() // a list may be empty, so these levels always exist
		if err != nil {
			return k, err
		}
		if level != uint32(r.c.levels) {
			return k, nil
		}
		k++
	}
	return k, nil
}

func (r *chunks[T]) otherLength(row int) error {
	return dataset.OtherLength(r.c.name, row, r.c.width)
}

// ready reads pages until one has values.
func (r *chunks[T]) ready() error {
	for r.want == 0 {
		if err := r.atEnd(); err != nil {
			return err
		}
		if err := r.nextGroup(); err != nil {
			return err
		}
	}
	for r.page.left == 0 {
		if err := r.nextPage(); err != nil {
			return err
		}
	}
	return nil
}

// atEnd checks that no values are left of a row group after its last row.
func (r *chunks[T]) atEnd() error {
	if r.unread > 0 || r.page.left > 0 {
		return r.otherLength(r.row - 1)
	}
	return nil
}

// nextGroup starts the next row group.
func (r *chunks[T]) nextGroup() error {
	r.release()
	if r.group == len(r.f.meta.RowGroups) {
		return errShort
	}
	g := &r.f.meta.RowGroups[r.group]
	r.meta, r.group = &g.Columns[r.c.at].MetaData, r.group+1
	r.at = chunkStart(r.meta)
	r.end, r.unread = r.at+r.meta.TotalCompressedSize, r.meta.NumValues
	if g.NumRows > 0 && int64(r.c.width) > (1<<62)/g.NumRows {
		return errDamaged
	}
	r.want = g.NumRows * int64(r.c.width)
	if !r.c.list && r.want != r.unread {
		return fault.Data("",
			"row group %d claims %d rows, but the column has %d values: want one for each row", r.group-1,
			g.NumRows, r.unread)
	}
	return nil
}

// release returns the memory of a row group to the budget.
func (r *chunks[T]) release() {
	r.closePage()
	r.f.Held.Give(r.heldByDict)
	r.dictionary, r.heldByDict = nil, 0
}

func (r *chunks[T]) closePage() {
	r.f.Held.Give(r.page.held)
	r.page = page[T]{}
}

// nextPage reads a page.
func (r *chunks[T]) nextPage() error {
	r.closePage()
	switch {
	case r.unread == 0 && r.c.list:
		return r.otherLength(r.row)
	case r.unread == 0:
		return errShort
	}
	h, n, err := r.f.pageHeader(r.at, r.end)
	if err != nil {
		return err
	}
	at := r.at + int64(n)
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || int64(h.CompressedPageSize) > r.end-at {
		return errDamaged
	}
	r.at = at + int64(h.CompressedPageSize)
	switch h.Type {
	case format.DictionaryPage:
		return r.readDictionary(&h, at)
	case format.DataPage, format.DataPageV2:
		return r.readPage(&h, at)
	}
	return nil // an index, say
}

// readDictionary reads the dictionary of the chunk.
func (r *chunks[T]) readDictionary(h *format.PageHeader, at int64) error {
	d := &h.DictionaryPageHeader
	if !d.Valid || d.V.NumValues < 0 || r.dictionary != nil || d.V.Encoding != format.Plain &&
		d.V.Encoding != oldDictionary {
		return errDamaged
	}
	b, err := r.f.body(h, at, r.meta.Codec, 0)
	if err != nil {
		return err
	}
	defer r.f.Held.Give(int64(len(b)))
	n := int(d.V.NumValues)
	if n > 8*len(b) {
		return errShort
	}
	const entry = 16 // bytes of a text in addition to its letters
	held := int64(entry*n + len(b))
	if err := r.f.Held.Take(held); err != nil {
		return err
	}
	r.heldByDict, r.dictionary = held, make([]T, n)
	v, err := r.begin(format.Plain, b, n)
	if err != nil {
		return err
	}
	return v(r.dictionary)
}

// readPage starts a page of values.
func (r *chunks[T]) readPage(h *format.PageHeader, at int64) error {
	d, err := dataHeaderOf(h)
	if err != nil {
		return err
	}
	if int64(d.values) > r.unread {
		return errDamaged
	}
	codec := r.meta.Codec
	if !d.compressed {
		codec = format.Uncompressed
	}
	b, err := r.f.body(h, at, codec, max(0, d.plain))
	if err != nil {
		return err
	}
	r.page.held, r.unread = int64(len(b)), r.unread-int64(d.values)
	if b, err = r.page.split(r.c, d, b); err != nil {
		return err
	}
	if d.encoding != oldDictionary && d.encoding != format.RLEDictionary {
		r.page.values, err = r.begin(d.encoding, b, d.values)
	} else if r.dictionary == nil {
		err = errDamaged
	} else if len(b) > 0 { // a page of nulls may have no indices
		r.page.values, err = indexed(r.dictionary, b)
	} else {
		r.page.values = each(func() (none T, err error) { return none, errShort })
	}
	if err == nil {
		r.page.left = d.values
	}
	return err
}

// explain adds the column and row group to an error.
func (r *chunks[T]) explain(err error) error {
	if de, ok := errors.AsType[*fault.DataError](err); ok && de.Column == "" {
		de.Column = r.c.name
		return de
	}
	if _, disk := errors.AsType[*dataset.DiskError](err); disk || fault.IsInput(err) {
		return err
	}
	return fault.Cell(-1, r.c.name, "row group %d: %w", r.group-1, err)
}

// firstLength returns the number of values of the first row.
func (r *chunks[T]) firstLength() (int, error) {
	defer r.release()
	if err := r.nextGroup(); err != nil {
		return 0, r.explain(err)
	}
	n := 0
	for {
		for r.page.left == 0 {
			if r.unread == 0 && n > 0 {
				return n, nil
			}
			if err := r.nextPage(); err != nil {
				return 0, r.explain(err)
			}
		}
		repeated, err := r.page.repetition.next()
		if err != nil {
			return 0, r.explain(err)
		}
		if repeated == 0 && n > 0 {
			return n, nil
		}
		n++
		r.page.left--
	}
}
