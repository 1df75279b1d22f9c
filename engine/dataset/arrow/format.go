package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// magic begins and ends a file; oldMagic begins one of Feather version 1.
const (
	magic    = "ARROW1"
	oldMagic = "FEA1"
)

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in
// .arrow, .feather or .ipc, and the name arrow.
func Format() dataset.Extension {
	return dataset.Extension{Name: "arrow", Endings: []string{".arrow", ".feather", ".ipc"}, Open: open, Write: write}
}

// checkMagic reports what is no Arrow file.
func checkMagic(in io.ReaderAt, size int64) error {
	head, tail := make([]byte, 8), make([]byte, len(magic))
	if size < int64(len(head)+len(tail)) {
		return fault.Data("", "it has %d bytes: want an Arrow file", size)
	}
	if _, err := in.ReadAt(head, 0); err != nil {
		return err
	}
	if _, err := in.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte(oldMagic)):
		return fault.Data("", "it is a Feather file of version 1: want version 2, as pandas writes by default")
	case bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return fault.Data("", "it is an Arrow stream: want an Arrow file, which can be read from any place")
	case !bytes.HasPrefix(head, []byte(magic)):
		return fault.Data("", "its content is no Arrow file: want one that begins with %s", magic)
	case string(tail) != magic:
		return fault.Data("", "the Arrow file is cut off: want one that ends with %s", magic)
	}
	return nil
}

// guard runs work of a library on bytes that may be damaged, which it reports by panics too.
func guard(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = damaged(fmt.Errorf("%v", cause))
			if e, ok := cause.(*fault.MemoryError); ok {
				err = e
			}
		}
	}()
	return damaged(work())
}

// damaged makes an error of input of an error of the library.
func damaged(err error) error {
	if memory, ok := errors.AsType[*fault.MemoryError](err); ok {
		return memory
	}
	if err == nil || err == io.EOF || fault.IsInput(err) {
		return err
	}
	return fault.Data("", "the Arrow file is damaged: %w", err)
}
