package dataset

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// bufferSize is that of the buffers between file, decompressor and parser. Lines up to
// this length are parsed in place.
const bufferSize = 1 << 17

// source is an input as bytes: opened, and decompressed when it is gzip.
type source struct {
	name string
	r    *bufio.Reader
	size int64 // bytes that r will deliver, -1 when not known
	// packed is the number of compressed bytes behind r, -1 when not known or when r is
	// not compressed.
	packed int64
	// limit is that on the bytes of labels, 0 for none.
	limit  int64
	file   io.ReaderAt // the plain file behind r, nil for anything else
	copied int64       // bytes of a copy in memory that were taken off the limit
	opened *os.File    // nil for a reader that belongs to the caller
}

// open opens a regular file, pipe or device for reading.
func open(path string, gz bool) (*source, error) {
	if path == "-" {
		return nil, &fault.ParamError{Param: "path", Value: path, Want: "a file; streams are read with Decode"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fault.Data(path, "it is a folder: want a file")
	}
	if err != nil {
		f.Close()
		return nil, cannotRead(path, err)
	}
	size := int64(-1) // not known
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	s := newSource(path, f, size, gz)
	s.opened = f
	return s, nil
}

// Close closes the file that was opened.
func (s *source) Close() error {
	if s == nil || s.opened == nil {
		return nil
	}
	if err := s.opened.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", s.name, err)
	}
	return nil
}

// fromFile decodes a file of text, which may be compressed, whatever the rest of its extension
// says.
func fromFile[T any](path string, decode func(src *source) (T, error)) (value T, err error) {
	src, err := open(path, isGzip(path))
	if err != nil {
		return value, err
	}
	defer src.Close()
	return decode(src)
}

func cannotRead(path string, err error) error {
	switch {
	case fault.IsInput(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Data(path, "no such file: %w", fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fault.Data(path, "may not be read: %w", fs.ErrPermission)
	}
	return fault.Data(path, "cannot read: %w", err)
}

func newSource(name string, r io.Reader, size int64, gz bool) *source {
	if gz {
		return &source{name: name, r: bufio.NewReaderSize(&gzipReader{name: name, in: r}, bufferSize), size: -1, packed: size}
	}
	s := &source{name: name, r: bufio.NewReaderSize(r, bufferSize), size: size, packed: -1}
	if file, ok := r.(io.ReaderAt); ok && size >= 0 {
		s.file = file
	}
	return s
}

// readError wraps an error from reading the source, unless it explains itself.
func (s *source) readError(err error) error {
	if fault.IsInput(err) {
		return err
	}
	return fmt.Errorf("reading %s: %w", s.name, err)
}

// gzipReader decompresses and says in the user's words what is wrong with the input.
type gzipReader struct {
	name string
	in   io.Reader
	z    *gzip.Reader
}

func (g *gzipReader) Read(p []byte) (n int, err error) {
	if g.z == nil {
		in := bufio.NewReaderSize(g.in, bufferSize)
		const magic = "\x1f\x8b"
		switch head, err := in.Peek(len(magic)); {
		case err == io.EOF && len(head) == 0:
			return 0, fault.Data(g.name, "the file is empty: want gzip data")
		case !strings.HasPrefix(magic, string(head)): // gzip takes a short text for a short header
			return 0, g.explain(gzip.ErrHeader)
		}
		if g.z, err = gzip.NewReader(in); err != nil {
			return 0, g.explain(err)
		}
	}
	n, err = g.z.Read(p)
	return n, g.explain(err)
}

func (g *gzipReader) explain(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == nil || err == io.EOF && g.z != nil:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return fault.Data(g.name, "the gzip data end early, the file is cut off: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, gzip.ErrHeader) && g.z == nil:
		return fault.Data(g.name, "the content is not gzip, though the name ends in .gz: %w", err)
	case errors.Is(err, gzip.ErrHeader):
		return fault.Data(g.name, "something that is not gzip follows the gzip data: %w", err)
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fault.Data(g.name, "the gzip data are corrupted: %w", err)
	}
	return err
}

// sniff returns what the beginning of a file shows it to be when it is clearly not the
// text that was expected, with what to do about it; or "". format is that of the text.
func sniff(head []byte, format string) (what, mend string) {
	for _, k := range []struct{ magic, what, mend string }{
		{"\x1f\x8b", "gzip data", "name it ." + format + ".gz, or give the format " + format + ".gz"},
		{"\x93NUMPY", "a NumPy array", "name it .npy, or give the format npy"},
		{"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"},
		{"PAR1", "a Parquet file", "name it .parquet, or save it as " + strings.ToUpper(format)},
		{"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
		{"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.what, k.mend
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fmt.Sprintf("binary data (byte %d is 0)", i), "check that this is the right file"
	}
	return "", ""
}

// valueChunk is the number of binary values read at a time.
const valueChunk = 1 << 13

// full fills buf from the source; what says what is missing when it ends early.
func (s *source) full(buf []byte, what string) error {
	_, err := io.ReadFull(s.r, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return s.cutOff(what)
	}
	if err != nil {
		return s.readError(err)
	}
	return nil
}

func (s *source) cutOff(what string) error {
	return fault.Data(s.name, "it ends inside %s, the file is cut off: %w", what, io.ErrUnexpectedEOF)
}

// values reads n values of size bytes each and makes sure that nothing follows them.
// decode appends the values of a whole number of them.
func (s *source) values(n, size int, decode func(data []float64, buf []byte) ([]float64, error)) ([]float64, error) {
	data, err := s.nextValues(0, n, size, decode)
	if err == nil {
		err = s.atEnd(n)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// nextValues reads the n values after the first at.
func (s *source) nextValues(at, n, size int, decode func(data []float64, buf []byte) ([]float64, error)) ([]float64, error) {
	data := make([]float64, 0, s.room(n))
	buf := make([]byte, min(valueChunk, n)*size)
	for len(data) < n {
		part := buf[:min(valueChunk, n-len(data))*size]
		if err := s.full(part, "its values"); err != nil {
			return nil, err
		}
		var err error
		if data, err = decode(data, part); err != nil {
			return nil, fault.Data(s.name, "value %d: %w", at+len(data), err)
		}
	}
	return data, nil
}

// atEnd makes sure that nothing follows the n values. Reading to the end also checks gzip's
// checksum.
func (s *source) atEnd(n int) error {
	switch _, err := s.r.ReadByte(); err {
	case io.EOF:
		return nil
	case nil:
		return fault.Data(s.name, "more bytes follow the last value: want %d values", n)
	default:
		return s.readError(err)
	}
}

// room returns for how many of the n values that a header claims memory is set aside at
// once. All of them when the size of the file bears the claim out. Of a compressed file as
// many as 64 bytes for each of its bytes hold, so that images (8 bytes for each pixel, and
// 5 pixels in a compressed byte) fit without a second copy and a false claim costs little.
// Of a stream next to none. Beyond that the memory grows with what was really read.
func (s *source) room(n int) int {
	switch {
	case s.size >= 0:
		return n
	case s.packed >= 0:
		return int(min(int64(n), max(valueChunk, 8*s.packed)))
	}
	return min(n, valueChunk)
}
