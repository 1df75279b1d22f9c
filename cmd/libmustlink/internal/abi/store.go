package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
)

// Buffer is the caller's memory for output of unknown length.
type Buffer struct {
	Data     unsafe.Pointer
	Capacity int64
	Size     *int64
}

// check returns an error for an impossible buffer.
func (b *Buffer) check() error {
	switch {
	case b.Size == nil:
		return argument("the output for the size is NULL: want a pointer")
	case b.Capacity < 0:
		return argument("the capacity of the buffer is %d: want a number >= 0", b.Capacity)
	case b.Data == nil && b.Capacity > 0:
		return argument("the buffer is NULL and its capacity is %d: want a pointer, or a capacity of 0",
			b.Capacity)
	}
	return nil
}

// done stores the size, and returns an error when the buffer was too small.
func (b *Buffer) done(size int64) error {
	*b.Size = size
	if size > b.Capacity {
		return &Error{TooSmall, fmt.Sprintf("the buffer holds %d bytes: want %d", b.Capacity, size)}
	}
	return nil
}

// WriteJSON stores v as JSON text with a zero byte at the end.
func (b *Buffer) WriteJSON(v any) error {
	if err := b.check(); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := b.done(int64(len(text)) + 1); err != nil {
		return err
	}
	copy(list[byte](b.Data, b.Capacity), append(text, 0))
	return nil
}

// countingWriter is a writer into memory that counts bytes beyond its end without writing them.
type countingWriter struct {
	to   []byte
	size int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.size < int64(len(w.to)) {
		copy(w.to[w.size:], p)
	}
	w.size += int64(len(p))
	return len(p), nil
}

// SaveBytes stores the bytes of a model file.
func (b *Buffer) SaveBytes(m *mustlink.Model) error {
	if err := b.check(); err != nil {
		return err
	}
	w := countingWriter{to: list[byte](b.Data, b.Capacity)}
	if _, err := m.WriteTo(&w); err != nil {
		return err
	}
	return b.done(w.size)
}

// Load implements mustlink_load.
func Load(e *engine.Engine, path string) (*mustlink.Model, error) {
	return mustlink.Load(path, mustlink.Engine(e))
}

// LoadBytes implements mustlink_load_bytes.
func LoadBytes(e *engine.Engine, data unsafe.Pointer, size int64) (*mustlink.Model, error) {
	if size < 0 || size > 0 && data == nil {
		return nil, argument(
			"the bytes of the model are NULL or their number is %d: want a pointer and a number >= 0", size)
	}
	return mustlink.LoadFrom(bytes.NewReader(list[byte](data, size)), size, mustlink.Engine(e))
}
