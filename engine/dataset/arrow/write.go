package arrow

import (
	"encoding/binary"
	"io"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/mustlink/mustlink/engine/dataset"
)

// textBytes are the approximate bytes of texts of a record batch: offsets have 32 bits.
const textBytes = 1 << 30

// writer writes a file.
type writer struct {
	out    io.Writer
	at     int64                   // bytes written
	fields []dataset.WrittenColumn // without values
	body   body
	blocks []block
}

// write writes a matrix; see [dataset.Extension].
func write(out io.Writer, columns []string, next func() (dataset.Rows, error)) error {
	w := &writer{out: out}
	if err := dataset.Collect(columns, textBytes, next, w.begin, w.flush); err != nil {
		return err
	}
	return w.close()
}

// begin writes the magic and the schema.
func (w *writer) begin(fields []dataset.WrittenColumn) error {
	w.fields = fields
	if err := w.raw([]byte(magic + "\x00\x00")); err != nil {
		return err
	}
	b := flatbuffers.NewBuilder(0)
	_, err := w.message(finishMessage(b, schemaHeader, schemaOf(b, fields), 0))
	return err
}

// flush writes n rows as a record batch.
func (w *writer) flush(columns []dataset.WrittenColumn, n int) error {
	w.body.b, w.body.buffers = w.body.b[:0], w.body.buffers[:0]
	for k := range columns {
		w.body.none()
		if c := &columns[k]; c.Texts != nil {
			w.body.texts(c.Texts)
		} else {
			w.body.numbers(c, n)
		}
	}
	place, err := w.message(batchMessage(n, len(columns), w.body))
	if err == nil {
		err = w.raw(w.body.b)
	}
	place.body = int64(len(w.body.b))
	w.blocks = append(w.blocks, place)
	return err
}

// close writes the end of the messages and the footer.
func (w *writer) close() error {
	if err := w.raw([]byte(marker + "\x00\x00\x00\x00")); err != nil {
		return err
	}
	footer := footerOf(w.fields, w.blocks)
	if err := w.raw(footer); err != nil {
		return err
	}
	return w.raw(append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...))
}

// message writes metadata, and returns their place.
func (w *writer) message(b []byte) (block, error) {
	const head = len(marker) + 4
	padded := (len(b) + 7) / 8 * 8
	place := block{at: w.at, meta: int64(head + padded)}
	raw := binary.LittleEndian.AppendUint32([]byte(marker), uint32(padded))
	raw = append(append(raw, b...), make([]byte, padded-len(b))...)
	return place, w.raw(raw)
}

func (w *writer) raw(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// body is the bytes of a record batch, and its buffers: offsets and lengths.
type body struct {
	b       []byte
	buffers [][2]int64
}

// buffer makes what append adds to the bytes a buffer.
func (y *body) buffer(add func(b []byte) []byte) {
	const alignment = 64 // as the format recommends
	start := len(y.b)
	y.b = add(y.b)
	y.buffers = append(y.buffers, [2]int64{int64(start), int64(len(y.b) - start)})
	y.b = append(y.b, make([]byte, (alignment-len(y.b)%alignment)%alignment)...)
}

// none adds the buffer of the nulls of a column that has none.
func (y *body) none() { y.buffers = append(y.buffers, [2]int64{int64(len(y.b)), 0}) }

// numbers adds a column of n numbers.
func (y *body) numbers(c *dataset.WrittenColumn, n int) {
	y.buffer(func(b []byte) []byte {
		for i := range n {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Number(i)))
		}
		return b
	})
}

// texts adds a column of texts.
func (y *body) texts(list []string) {
	y.buffer(func(b []byte) []byte {
		end := 0
		b = binary.LittleEndian.AppendUint32(b, 0)
		for _, s := range list {
			end += len(s)
			b = binary.LittleEndian.AppendUint32(b, uint32(end))
		}
		return b
	})
	y.buffer(func(b []byte) []byte {
		for _, s := range list {
			b = append(b, s...)
		}
		return b
	})
}
