package session

import (
	"io"
	"os"

	"github.com/mustlink/mustlink/engine/fault"
)

// ReadWithin reads all of in, up to the memory limit.
func (s *Session) ReadWithin(what string, in io.Reader) ([]byte, error) {
	limit := int64(s.MemoryLimit)
	if limit > 0 {
		in = io.LimitReader(in, limit+1)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if n := int64(len(b)); limit > 0 && n > limit {
		return nil, &fault.MemoryError{What: "reading " + what, Need: n, Limit: limit, Hint: "raise the limit if you trust the sender"}
	}
	return b, nil
}

// ReadPipe reads all of a file that is not regular, up to the memory limit.
func (s *Session) ReadPipe(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.ReadWithin(path, f)
}
