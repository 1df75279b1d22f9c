package arrow

import (
	"github.com/mustlink/mustlink/engine/fault"
)

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
	raw, err := b.f.bytes(b.block.at, b.block.meta)
	if err != nil {
		return table{}, err
	}
	b.held += 2 * b.block.meta // with shift
	if err := b.f.held.take(b.block.meta); err != nil {
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
	b.f.held.give(b.held)
	b.held = 0
}

// giveBack gives the memory back that reading values took.
func (b *batch) giveBack() {
	b.f.held.give(b.borrowed)
	b.borrowed = 0
}

// borrow reserves n times size bytes until giveBack.
func (b *batch) borrow(n, size int64) error {
	if n > b.f.held.limit/size { // also where the product is no int64
		n, size = b.f.held.limit/size+1, 1
	}
	if err := b.f.held.take(n * size); err != nil {
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
	return out, b.f.read(out, b.block.at+b.block.meta+offset+lo)
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
