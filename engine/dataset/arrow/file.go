package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// The fields of the tables of the format, as File.fbs and Message.fbs of Apache Arrow number them.
const (
	footerVersion      = 0
	footerSchema       = 1
	footerDictionaries = 2
	footerBatches      = 3

	messageType       = 1
	messageHeader     = 2
	dictionaryBatch   = 2 // types of messages
	recordBatch       = 3
	batchLength       = 0
	batchNodes        = 1
	batchBuffers      = 2
	batchCompression  = 3
	batchViews        = 4
	compressionCodec  = 0
	compressionMethod = 1
	dictionaryID      = 0
	dictionaryData    = 1
	dictionaryIsDelta = 2

	blockBytes, nodeBytes, bufferBytes = 24, 16, 16
)

// file is an open Arrow file.
type file struct {
	dataset.File
	codec        decompressor
	columns      []*column // those of the schema; the fields of a struct are columns too
	nodes        int64     // of a record batch
	dictionaries []block
	batches      []block
	rows         []int // of each batch
}

// block is the place of a message with its body.
type block struct{ at, meta, body int64 }

// open reads the footer, and the number of rows of every batch.
func (f *file) open() error {
	b, err := f.Footer("an Arrow", magic, headBytes, otherFile)
	if err != nil {
		return err
	}
	footer := &flat{b: b}
	root := footer.follow(0)
	if err := f.readSchema(root.table(footerSchema), root.int(footerVersion, 2, 0)); err != nil {
		return err
	}
	left := f.Size // of the blocks, which do not overlap
	if f.dictionaries, err = f.blocks(root.vector(footerDictionaries, blockBytes), &left); err == nil {
		f.batches, err = f.blocks(root.vector(footerBatches, blockBytes), &left)
	}
	switch {
	case err != nil:
		return err
	case footer.bad:
		return fault.Data("", "its footer is damaged: want that of an Arrow file")
	}
	return f.count()
}

// blocks reads the positions of messages. It subtracts their bytes from those that are left.
func (f *file) blocks(v vector, left *int64) ([]block, error) {
	const each = 24 + 8 // and the number of rows
	if err := f.Held.Take(v.n * each); err != nil {
		return nil, err
	}
	list := make([]block, v.n)
	for i := range list {
		b := block{v.int(int64(i), 0, 8), v.int(int64(i), 8, 4), v.int(int64(i), 16, 8)}
		if b.at < 0 || b.meta < 0 || b.body < 0 || b.at > f.Size || b.body > f.Size ||
			b.meta+b.body > f.Size-b.at {
			return nil, fault.Data("", "block %d is beyond the end, the file is cut off or damaged: %w", i,
				io.ErrUnexpectedEOF)
		}
		if *left -= b.meta + b.body; *left < 0 {
			return nil, damaged("block %d is part of other ones", i)
		}
		list[i] = b
	}
	return list, nil
}

// count reads the number of rows of every batch.
func (f *file) count() error {
	total := 0
	f.rows = make([]int, len(f.batches))
	for i := range f.batches {
		b, err := f.batch(f.batches[i], recordBatch, i)
		if err != nil {
			return err
		}
		if b.rows > int64(math.MaxInt/8-total) {
			return fault.Data("", "batch %d claims %d rows: more than memory can hold", i, b.rows)
		}
		f.rows[i] = int(b.rows)
		total += f.rows[i]
		b.close()
	}
	return nil
}

// batch is a record batch: its metadata, and the columns that were decompressed.
type batch struct {
	f              *file
	block          block
	at             int // number of the batch in the file
	rows           int64
	id             int64 // of the dictionary that it has values of
	more           bool  // it continues that dictionary
	meta           *flat
	nodes, buffers vector
	shift          []int64 // further buffers of columns of views: of the first k ones
	codec          int64   // none, lz4 or zstd
	whole          map[int64][]byte
	held           int64 // bytes until the batch is closed
	borrowed       int64 // bytes until giveBack
}

// none is the codec of a batch that is not compressed.
const none = -1

// batch reads the metadata of a batch of some type.
func (f *file) batch(at block, kind int64, number int) (*batch, error) {
	b := &batch{f: f, block: at, at: number, codec: none, whole: make(map[int64][]byte)}
	message, err := b.message(kind)
	if err != nil {
		return nil, err
	}
	data := message
	if kind == dictionaryBatch {
		data = message.table(dictionaryData)
		b.id, b.more = message.int(dictionaryID, 8, 0), message.int(dictionaryIsDelta, 1, 0) != 0
	}
	b.rows = data.int(batchLength, 8, 0)
	b.nodes, b.buffers = data.vector(batchNodes, nodeBytes), data.vector(batchBuffers, bufferBytes)
	if c := data.table(batchCompression); c.f != nil {
		b.codec = c.int(compressionCodec, 1, 0)
		if b.codec < 0 || b.codec > zstdCodec || c.int(compressionMethod, 1, 0) != 0 {
			return nil, fault.Data("", "batch %d has an unknown compression: want lz4, zstd or none", number)
		}
	}
	views := data.vector(batchViews, 8)
	before := int64(0)
	for i := range views.n {
		b.shift = append(b.shift, before)
		n := views.int(i, 0, 8)
		if n < 0 || n > b.buffers.n-before {
			return nil, damaged("batch %d claims %d buffers of texts", number, n)
		}
		before += n
	}
	b.shift = append(b.shift, before)
	if b.rows < 0 || b.meta.bad || kind == recordBatch && b.nodes.n != f.nodes {
		return nil, damaged("the metadata of batch %d are not those of the schema", number)
	}
	return b, nil
}

// message reads the header of the message.
func (b *batch) message(kind int64) (table, error) {
	const length = 4
	raw, err := b.f.Bytes(b.block.at, b.block.meta)
	if err != nil {
		return table{}, err
	}
	b.held += 2 * b.block.meta // with shift
	if err := b.f.Held.Take(b.block.meta); err != nil {
		return table{}, err
	}
	if len(raw) > len(marker) && string(raw[:len(marker)]) == marker {
		raw = raw[len(marker):]
	}
	if len(raw) < length {
		return table{}, damaged("batch %d has no metadata", b.at)
	}
	b.meta = &flat{b: raw[length:]}
	root := b.meta.follow(0)
	if got := root.int(messageType, 1, 0); got != kind {
		return table{}, damaged("block %d is a message of type %d: want %d", b.at, got, kind)
	}
	return root.table(messageHeader), nil
}

// close gives the memory of the batch back.
func (b *batch) close() {
	b.giveBack()
	b.f.Held.Give(b.held)
	b.held = 0
}

// giveBack gives the memory back that reading values took.
func (b *batch) giveBack() {
	b.f.Held.Give(b.borrowed)
	b.borrowed = 0
}

// borrow reserves n times size bytes until giveBack.
func (b *batch) borrow(n, size int64) error {
	if n > b.f.Held.Limit/size { // also where the product is no int64
		n, size = b.f.Held.Limit/size+1, 1
	}
	if err := b.f.Held.Take(n * size); err != nil {
		return err
	}
	b.borrowed += n * size
	return nil
}

// part returns bytes [lo, hi) of the k-th buffer of a column.
func (b *batch) part(c *column, k, lo, hi int64) ([]byte, error) {
	at, offset, length, err := b.buffer(c, k)
	if err != nil || lo == hi {
		return nil, err
	}
	if b.codec != none && length > 0 {
		whole, err := b.decompressed(at, offset, length)
		if err == nil && (lo < 0 || lo > hi || hi > int64(len(whole))) {
			err = b.short(c)
		}
		if err != nil {
			return nil, err
		}
		return whole[lo:hi], nil
	}
	if lo < 0 || lo > hi || hi > length {
		return nil, b.short(c)
	}
	if err := b.borrow(hi-lo, 1); err != nil {
		return nil, err
	}
	out := make([]byte, hi-lo)
	return out, b.f.Fill(out, b.block.at+b.block.meta+offset+lo)
}

func (b *batch) short(c *column) error {
	return damaged("batch %d has fewer bytes of column %s than values need", b.at, c.name)
}

// buffer returns the number and the place of the k-th buffer of a column.
func (b *batch) buffer(c *column, k int64) (at, offset, length int64, err error) {
	if c.views >= int64(len(b.shift)) {
		return 0, 0, 0, damaged("batch %d says of too few columns how many buffers their texts have", b.at)
	}
	if at = c.buffer + b.shift[c.views] + k; at >= b.buffers.n {
		return 0, 0, 0, damaged("batch %d has %d buffers: too few for the schema", b.at, b.buffers.n)
	}
	offset, length = b.buffers.int(at, 0, 8), b.buffers.int(at, 8, 8)
	if offset < 0 || length < 0 || offset > b.block.body || length > b.block.body-offset {
		err = damaged("batch %d has a buffer outside its bytes", b.at)
	}
	return at, offset, length, err
}

// The codecs, as the format numbers them.
const (
	lz4Codec  = 0
	zstdCodec = 1
)

// expansion bounds the number of bytes that one compressed byte can expand to, by codec.
var expansion = [...]int64{lz4Codec: 256, zstdCodec: 1 << 16}

// decompressed returns the bytes of a compressed buffer. The batch keeps them.
func (b *batch) decompressed(at, offset, length int64) ([]byte, error) {
	const prefix = 8 // the decompressed length, or -1 for bytes that are not compressed
	if whole, ok := b.whole[at]; ok {
		return whole, nil
	}
	if length < prefix {
		return nil, damaged("batch %d has a compressed buffer of %d bytes", b.at, length)
	}
	source, err := b.f.Bytes(b.block.at+b.block.meta+offset, length)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(source))
	source = source[prefix:]
	if n == -1 {
		b.held += length
		b.whole[at] = source
		return source, nil
	}
	defer b.f.Held.Give(length)
	if n < 0 || n/expansion[b.codec] > length {
		return nil, damaged("batch %d has %d compressed bytes that claim to be %d", b.at, length, n)
	}
	if err := b.f.Held.Take(n); err != nil {
		return nil, err
	}
	b.held += n
	whole := make([]byte, n)
	if err := b.f.codec.decompress(b.codec, whole, source); err != nil {
		return nil, damaged("the compressed values of batch %d: %w", b.at, err)
	}
	b.whole[at] = whole
	return whole, nil
}

// decompressor decompresses buffers.
type decompressor struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

// decompress fills dst with the decompressed src. A library may panic on damaged bytes; that is an
// error too.
func (d *decompressor) decompress(codec int64, dst, src []byte) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	if codec == zstdCodec {
		return d.fromZstd(dst, src)
	}
	if d.lz4 == nil {
		d.lz4 = lz4.NewReader(nil)
	}
	d.lz4.Reset(bytes.NewReader(src))
	if n, err := io.ReadFull(d.lz4, dst); err != nil {
		return fmt.Errorf("%w after %d of %d bytes", err, n, len(dst))
	}
	if n, err := d.lz4.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("more than %d bytes (%v)", len(dst), err)
	}
	return nil
}

func (d *decompressor) fromZstd(dst, src []byte) (err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(dataset.DefaultBudget))
		if err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = fmt.Errorf("%d bytes: want %d", len(out), len(dst))
	}
	return err
}
