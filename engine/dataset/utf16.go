package dataset

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

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
		return 0, fault.Data(u.name, "byte %d is half a UTF-16 character without its other half: want UTF-16 text", u.at-2)
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
		return 0, fault.Data(u.name, "the UTF-16 text ends inside a character, the file is cut off: %w", io.ErrUnexpectedEOF)
	}
	u.at += 2
	if u.big {
		a, b = b, a
	}
	return rune(a) | rune(b)<<8, err
}
