// Package model (engine room: may change) reads and writes the model file: a container of named
// tensors with a header that describes them.
//
// # Layout
//
// The file is a safetensors file: NumPy users can open it, and opening a hostile file can neither
// run code nor exhaust memory:
//
//	bytes 0-7      h, the length of the header, little-endian uint64, at most 16 MiB
//	bytes 8-8+h    the header, a JSON object padded with spaces to a multiple of 8
//	the rest       the data section: the tensors' values, little-endian, without gaps
//
// The JSON object has one member per tensor, {"dtype":"F64","shape":[3,2], "data_offsets":[0,48]}
// with offsets from the start of the data section, and the member "__metadata__", a map of strings
// with these keys:
//
//	mustlink        the [Header] as JSON
//	sha256          checksum of the data section, in hexadecimal
//	header_sha256   checksum of the header's own content, see checksum (early files lack it)
//
// The 8-byte types (F64, I64) come first in the data section, then F32, then U8, each by name.
// Every tensor is then aligned to its element size without padding, which safetensors forbids. The
// bytes depend only on the content, so reading a file and writing it again gives the same file.
//
// # Versions
//
// [FormatVersion] is the version that this package writes and the newest that it reads. Unknown
// members of the header are ignored.
package model
