// Package gziptest compresses the content of files, for tests.
package gziptest

import (
	"bytes"
	"compress/gzip"
)

// Zip returns content as a gzip file.
func Zip[T []byte | string](content T) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(content)) // a buffer never fails
	_ = z.Close()
	return b.Bytes()
}
