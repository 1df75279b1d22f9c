package arrow

import (
	"encoding/binary"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The places of fields in the tables of the format (File.fbs and Message.fbs of Apache Arrow), and
// the size of a block in a footer.
const (
	footerBatches = 3
	messageHeader = 2
	batchLength   = 0
	blockBytes    = 24
)

// batchRows returns the number of rows of every record batch. It reads their metadata alone, for
// which the library has no function.
func batchRows(in io.ReaderAt, size int64) ([]int, error) {
	const end = 4 + int64(len(magic)) // the length of the footer, and the magic
	length, err := uint32At(in, size-end)
	if err != nil {
		return nil, err
	}
	footer, err := bytesAt(in, size-end-int64(length), int64(length), size)
	if err != nil {
		return nil, err
	}
	root := rootOf(footer)
	at := flatbuffers.UOffsetT(root.Offset(fieldOffset(footerBatches)))
	if at == 0 {
		return nil, nil
	}
	start, count := root.Vector(at), root.VectorLen(at)
	if int64(count)*blockBytes > int64(len(footer)) {
		return nil, fmt.Errorf("its footer claims %d batches", count)
	}
	rows := make([]int, count)
	for k := range rows {
		block := start + flatbuffers.UOffsetT(k*blockBytes)
		if rows[k], err = rowsOf(in, root.GetInt64(block), int64(root.GetInt32(block+8)), size); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// rowsOf returns the number of rows of the batch whose metadata are at some place.
func rowsOf(in io.ReaderAt, at, length, size int64) (int, error) {
	b, err := bytesAt(in, at, length, size)
	if err != nil {
		return 0, err
	}
	skip := 4 // the length, before which newer files have a mark
	if binary.LittleEndian.Uint32(b) == 0xffffffff {
		skip = 8
	}
	message := rootOf(b[skip:])
	var batch flatbuffers.Table
	message.Union(&batch, flatbuffers.UOffsetT(message.Offset(fieldOffset(messageHeader))))
	n := int64(0)
	if at := batch.Offset(fieldOffset(batchLength)); at != 0 {
		n = batch.GetInt64(batch.Pos + flatbuffers.UOffsetT(at))
	}
	const most = 1 << 40 // so that sums stay whole numbers
	if n < 0 || n > most {
		return 0, fmt.Errorf("a batch claims %d rows", n)
	}
	return int(n), nil
}

// fieldOffset returns the offset of a field in the table of fields.
func fieldOffset(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

func rootOf(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

func uint32At(in io.ReaderAt, at int64) (uint32, error) {
	var b [4]byte
	_, err := in.ReadAt(b[:], at)
	return binary.LittleEndian.Uint32(b[:]), err
}

// bytesAt returns some bytes of a file of the given size.
func bytesAt(in io.ReaderAt, at, length, size int64) ([]byte, error) {
	const least = 8
	if at < 0 || length < least || at > size-length {
		return nil, fmt.Errorf("it claims %d bytes at %d of %d", length, at, size)
	}
	b := make([]byte, length)
	_, err := in.ReadAt(b, at)
	return b, err
}
