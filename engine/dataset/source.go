package dataset

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/internal/atomicfile"
)

// bufferSize is the size of the buffers between file, decompressor and parser. Lines up to this
// length are parsed in place.
const bufferSize = 1 << 17

// source is an opened input as bytes, decompressed if it is gzip.
type source struct {
	name string
	r    *bufio.Reader
	size int64 // bytes that r will return, -1 if unknown
	hint int64 // the same, or what gzip data claim, for memory to be reserved once
	// packed is the number of compressed bytes of r, -1 if it is unknown or r is not compressed.
	packed int64
	// limit is the limit on the bytes of labels, 0 for none.
	limit int64
	tabs  bool // it is TSV, so a tab in the header of CSV text separates names
	// headless: CSV text has no header. named: it has one, whatever that looks like.
	headless, named bool
	// translated: CSV text was made of lines of records, so its header is none of them.
	translated bool
	file       io.ReaderAt // the regular uncompressed file of r, nil for anything else
	copied     int64       // bytes of a copy in memory, which count against the limit
	opened     *os.File    // nil for a reader of the caller
	folder     bool        // CSV text lists the pictures of a folder

	comments bool   // lines before the header that begin with # are none of the content
	label    string // the column of labels that a comment names
}

// open opens a regular file, pipe or device for reading.
func open(path string, gz bool) (*source, error) {
	if path == "-" {
		return nil, fault.Param("path", path, "a file; streams are read with Decode")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, atomicfile.CannotRead(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		f.Close()
		return openFolder(path)
	}
	if err != nil {
		f.Close()
		return nil, atomicfile.CannotRead(path, err)
	}
	size := int64(-1) // unknown
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

// Input is a file of text, or a stream of such text.
type Input struct {
	Name   string    // the path of the file, or what messages call the stream
	Stream io.Reader // is read instead of the file, unless it is nil
	Gzip   bool      // the stream is compressed; a file is if its name ends in .gz
}

// open opens the file or the stream.
func (in Input) open() (*source, error) {
	if in.Stream != nil {
		return newSource(in.Name, in.Stream, -1, in.Gzip), nil
	}
	return open(in.Name, in.Gzip || isGzip(in.Name))
}

// readInput decodes a file or a stream. Its error is the first problem.
func readInput[T any](in Input, decode func(src *source, rep *report) (T, error)) (value T, err error) {
	rep := &report{max: 1}
	decoded, err := decodeInput(in, rep, decode)
	if err = rep.outcome(err); err != nil {
		return value, err
	}
	return decoded, nil
}

// decodeInput is readInput with the problems in rep.
func decodeInput[T any](in Input, rep *report, decode func(src *source, rep *report) (T, error)) (T, error) {
	return openInput(in, func(src *source) (T, error) {
		defer src.Close()
		rep.file = src.name
		return decode(src, rep)
	})
}

// openInput begins to read a file, which stays open unless begin returns an error, or a stream.
func openInput[T any](in Input, begin func(src *source) (T, error)) (value T, err error) {
	src, err := in.open()
	if err != nil {
		return value, err
	}
	if value, err = begin(src); err != nil {
		src.Close()
	}
	return value, err
}

func newSource(name string, r io.Reader, size int64, gz bool) *source {
	base, _ := cutGzip(name)
	s := &source{name: name, size: size, hint: size, packed: -1, tabs: strings.HasSuffix(base, "."+tsvName)}
	if gz {
		s.size, s.packed, s.hint = -1, size, unpackedSize(r, size)
		s.r = bufio.NewReaderSize(&steady{in: &gzipReader{name: name, in: r}}, bufferSize)
		return s
	}
	s.r = bufio.NewReaderSize(&steady{in: r}, bufferSize)
	if file, ok := r.(io.ReaderAt); ok && size >= 0 {
		s.file = file
	}
	return s
}

// unpackedSize returns the size that a gzip file of the given size claims for its content in its
// last four bytes (RFC 1952), or -1. A claim beyond what texts of numbers compress to is not one.
func unpackedSize(r io.Reader, size int64) int64 {
	const compression = 12
	var last [4]byte
	file, ok := r.(io.ReaderAt)
	if !ok || size < int64(len(last)) {
		return -1
	}
	if _, err := file.ReadAt(last[:], size-int64(len(last))); err != nil {
		return -1
	}
	if claim := int64(binary.LittleEndian.Uint32(last[:])); claim <= compression*size {
		return claim
	}
	return -1
}

// steady returns an error of its reader again and again: a buffer whose bytes are looked at forgets
// it.
type steady struct {
	in  io.Reader
	err error
}

func (s *steady) Read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	n, s.err = s.in.Read(p)
	return n, s.err
}

// readError wraps an error from reading the source, unless it names the source itself.
func (s *source) readError(err error) error {
	if fault.IsInput(err) {
		return err
	}
	return fmt.Errorf("reading %s: %w", s.name, err)
}

// gzipReader decompresses its input and explains errors in terms of the user's file.
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
		case !strings.HasPrefix(magic, string(head)): // gzip would report a short text as a short header
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
		return fault.Data(g.name, "the gzip data end early, the file is cut off: want a complete file: %w",
			io.ErrUnexpectedEOF)
	case errors.Is(err, gzip.ErrHeader) && g.z == nil:
		return fault.Data(g.name, "the content is not gzip, though the name ends in .gz: %w", err)
	case errors.Is(err, gzip.ErrHeader):
		return fault.Data(g.name, "other data follow the gzip data: want only gzip: %w", err)
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fault.Data(g.name, "the gzip data are corrupted: %w", err)
	}
	return err
}

// sniff recognizes files that are clearly not the expected text by their first bytes: it returns
// what the file is, "" for text, and what to do about it. format is the expected format.
func sniff(head []byte, format string) (what, fix string) {
	for _, k := range []struct{ magic, what, fix string }{
		{"\x1f\x8b", "gzip data", "name it ." + format + ".gz, or give the format " + format + ".gz"},
		{"\x93NUMPY", "a NumPy array", "name it .npy, or give the format npy"},
		{"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"},
		{"ARROW1", "an Arrow file", "name it .arrow, or save it as " + strings.ToUpper(format)},
		{"PAR1", "a Parquet file", "name it .parquet, or save it as " + strings.ToUpper(format)},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.what, k.fix
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fmt.Sprintf("binary data (byte %d is 0)", i), "check that this is the right file"
	}
	return "", ""
}

// valueChunk is the number of binary values read at a time.
const valueChunk = 1 << 13

// full fills buf from the source; what names the part of the file for the error of an early end.
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

// head fills buf with the first bytes of a file that must not be empty; want is what it must be.
func (s *source) head(buf []byte, want string) error {
	if head, err := s.r.Peek(1); err == io.EOF && len(head) == 0 {
		return fault.Data(s.name, "the file is empty: want %s", want)
	}
	return s.full(buf, "its header")
}

func (s *source) cutOff(what string) error {
	return fault.Data(s.name, "it ends inside %s, the file is cut off: %w", what, io.ErrUnexpectedEOF)
}

// values reads n values of size bytes each; at is the number of values before them. decode appends
// the values in buf, a whole number of them.
func (s *source) values(at, n, size int,
	decode func(data []float64, buf []byte) ([]float64, error)) ([]float64, error) {
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

// atEnd checks that nothing follows the n values. Reading to the end also verifies the checksum of
// gzip.
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

// room returns how many of the n values that a header claims get memory at once: all of them if the
// size of the file is known and so has confirmed the claim; for a compressed file as many as fit in
// 64 bytes for each compressed byte, so that images (8 bytes for each pixel, and 5 pixels in a
// compressed byte) need no second copy and a false claim costs little; for a stream only one chunk.
// Beyond that, memory grows with the values that were read.
func (s *source) room(n int) int {
	switch {
	case s.size >= 0:
		return n
	case s.packed >= 0:
		return int(min(int64(n), max(valueChunk, 8*s.packed)))
	}
	return min(n, valueChunk)
}

// asUTF8 makes a source of UTF-16 text, which begins with a byte order mark, one of UTF-8.
func (s *source) asUTF8() {
	head, _ := s.r.Peek(2)
	big := bytes.Equal(head, []byte("\xfe\xff"))
	if big || bytes.Equal(head, []byte("\xff\xfe")) {
		s.r = bufio.NewReaderSize(&utf16Reader{in: s.r, name: s.name, big: big}, bufferSize)
	}
}

// utf16Reader converts UTF-16 to UTF-8. Unlike the usual converters it does not replace what is
// damaged.
type utf16Reader struct {
	in   *bufio.Reader
	name string
	big  bool
	at   int64  // bytes read
	rest []byte // of a character that the last read had no room for
}

func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.rest) == 0 {
			if n > 0 && u.in.Buffered() == 0 {
				break // do not wait for more than there is
			}
			c, err := u.next()
			if err != nil {
				return n, err
			}
			u.rest = utf8.AppendRune(u.rest[:0], c)
		}
		k := copy(p[n:], u.rest)
		n, u.rest = n+k, u.rest[k:]
	}
	return n, nil
}

// next returns the next character.
func (u *utf16Reader) next() (rune, error) {
	c, err := u.unit()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	low, err := u.unit()
	if err != nil && err != io.EOF {
		return 0, err
	}
	if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
		return 0, fault.Data(u.name,
			"byte %d is half a UTF-16 character without its other half: want UTF-16 text", u.at-2)
	}
	return c, nil
}

// unit returns the next 16 bits.
func (u *utf16Reader) unit() (rune, error) {
	a, err := u.in.ReadByte()
	if err != nil {
		return 0, err
	}
	b, err := u.in.ReadByte()
	if err == io.EOF {
		return 0, fault.Data(u.name, "the UTF-16 text ends inside a character, the file is cut off: %w",
			io.ErrUnexpectedEOF)
	}
	u.at += 2
	if u.big {
		a, b = b, a
	}
	return rune(a) | rune(b)<<8, err
}

// labelComment begins the comment with the column that links were made from.
const labelComment = "# label: "

// CommentLabel returns the column of labels that a line of comment before the header of a file of
// links names, "" for another line: "churn" for "# label: churn".
func CommentLabel(line string) string {
	name, is := strings.CutPrefix(strings.TrimSpace(line), labelComment)
	if !is {
		return ""
	}
	if name = strings.TrimSpace(name); strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// commentOf returns the line that CommentLabel reads, "" for no column.
func commentOf(column string) string {
	if column == "" {
		return ""
	}
	line := labelComment + column
	if CommentLabel(line) != column || strings.ContainsAny(column, "\r\n\x00") {
		line = labelComment + strconv.Quote(column)
	}
	return line + "\n"
}

// CutComments divides the text of a file that refers to rows where its header begins: behind a byte
// order mark and the lines of comment.
func CutComments(text []byte) (head, body []byte) {
	body = bytes.TrimPrefix(text, []byte(byteOrderMark))
	for bytes.HasPrefix(body, []byte("#")) {
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	return text[:len(text)-len(body)], body
}

// readComments reads the lines before the header that begin with #, which are comments. It notes
// the column of labels that one of them names.
func (r *lineReader) readComments() error {
	for {
		head, err := r.src.r.Peek(len(byteOrderMark) + 1)
		if err != nil && err != io.EOF {
			return r.src.readError(err)
		}
		if !bytes.HasPrefix(bytes.TrimPrefix(head, []byte(byteOrderMark)), []byte("#")) {
			return nil
		}
		text, err := r.readLine()
		if err != nil {
			return err
		}
		if name := CommentLabel(string(text)); name != "" {
			r.src.label = name
		}
	}
}

func isGzip(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }
