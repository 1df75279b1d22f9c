package arrow

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

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
	in           io.ReaderAt
	size         int64
	held         budget
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
	if err := f.checkMagic(); err != nil {
		return err
	}
	footer, err := f.footer()
	if err != nil {
		return err
	}
	root := footer.follow(0)
	if err := f.readSchema(root.table(footerSchema), root.int(footerVersion, 2, 0)); err != nil {
		return err
	}
	left := f.size // of the blocks, which do not overlap
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

// footer returns the metadata at the end.
func (f *file) footer() (*flat, error) {
	var length [4]byte
	if err := f.read(length[:], f.size-tailBytes); err != nil {
		return nil, err
	}
	n, most := int64(binary.LittleEndian.Uint32(length[:])), f.size-headBytes-tailBytes
	if n > most {
		return nil, fault.Data("", "its footer claims %d bytes: want at most %d", n, most)
	}
	b, err := f.bytes(f.size-tailBytes-n, n)
	return &flat{b: b}, err
}

// blocks reads the positions of messages. It subtracts their bytes from those that are left.
func (f *file) blocks(v vector, left *int64) ([]block, error) {
	const each = 24 + 8 // and the number of rows
	if err := f.held.take(v.n * each); err != nil {
		return nil, err
	}
	list := make([]block, v.n)
	for i := range list {
		b := block{v.int(int64(i), 0, 8), v.int(int64(i), 8, 4), v.int(int64(i), 16, 8)}
		if b.at < 0 || b.meta < 0 || b.body < 0 || b.at > f.size || b.body > f.size || b.meta+b.body > f.size-b.at {
			return nil, fault.Data("", "block %d is beyond the end, the file is cut off or damaged: %w", i, io.ErrUnexpectedEOF)
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

// bytes returns bytes of the file, in memory that the caller gives back.
func (f *file) bytes(at, n int64) ([]byte, error) {
	if err := f.held.take(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.read(b, at)
}

// read fills b with the bytes at offset at of the file.
func (f *file) read(b []byte, at int64) error {
	n, err := f.in.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fault.Data("", "it ends at byte %d, the file is cut off: %w", at+int64(n), io.ErrUnexpectedEOF)
	}
	return err // a failure of the disk
}
