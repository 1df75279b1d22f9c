package dataset

import (
	"io"

	"github.com/mustlink/mustlink/engine/fault"
)

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

// atEnd makes sure that nothing follows the n values. Reading to the end also checks gzip's checksum.
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
