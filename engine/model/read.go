package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/internal/atomicfile"
)

// ReadFile reads the model file at path. See [Read] for its errors; a path that cannot be
// opened is a *fault.DataError too.
func ReadFile(path string) (*File, error) { return ReadFileWithin(path, 0) }

// ReadFileWithin is [ReadFile] with a limit on the size of the file, which is about the memory of
// its values: a larger file is refused before it is read, with a *fault.DataError that wraps a
// *fault.MemoryError. 0 means no limit. A sparse file can be larger than the disk.
func ReadFileWithin(path string, limit int64) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, atomicfile.CannotRead(path, err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, fault.Data(path, "it is a folder, a pipe or a device: want a model file")
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, atomicfile.CannotRead(path, err)
	}
	defer in.Close()
	if limit > 0 && info.Size() > limit {
		return nil, fault.Data(path, "%w",
			&fault.MemoryError{What: "reading the model", Need: info.Size(), Limit: limit,
				Hint: "raise the limit if you trust the file"})
	}
	f, err := Read(in, info.Size())
	if de, ok := errors.AsType[*fault.DataError](err); ok {
		de.File = path
		return nil, de
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// Read reads a model file of size bytes. Everything is validated before memory is
// allocated, and it never allocates more than a small multiple of size.
//
// Errors are *fault.DataError that wrap [ErrForeign], [ErrTruncated], [ErrCorrupted] or
// [ErrVersion], or the reader's own error.
func Read(r io.ReaderAt, size int64) (*File, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	meta, raw, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if f.Header, err = decodeMetadata(meta); err != nil {
		return nil, err
	}
	entries, err := placeTensors(raw, size-8-int64(len(header)))
	if err != nil {
		return nil, err
	}
	if err := checkDescription(f.Header, meta, entries); err != nil {
		return nil, err
	}
	section := io.NewSectionReader(r, 8+int64(len(header)), size-8-int64(len(header)))
	if f.Tensors, err = readTensors(section, entries, meta[keyData]); err != nil {
		return nil, err
	}
	return f, nil
}

// lastUndescribed is the last format version of which a file may lack the checksum of its header. A
// file that lists its tensors was written after the first that had it.
const lastUndescribed = 1

// checkDescription compares the checksum of the header.
func checkDescription(h Header, meta map[string]string, entries []entry) error {
	switch sum, ok := meta[keyDescribing]; {
	case !ok && h.FormatVersion <= lastUndescribed && h.Tensors == nil:
		return nil
	case !ok:
		return bad(ErrCorrupted, "it has no checksum of its header: want the metadata key %q", keyDescribing)
	case sum != checksum(meta[keyHeader], entries):
		return bad(ErrCorrupted, "the checksum of its header does not match")
	}
	return nil
}

// bad returns the error for a whole file.
func bad(kind error, format string, args ...any) error {
	return fault.Data("", "%w: %s", kind, fmt.Sprintf(format, args...))
}

// readHeader returns the bytes of the JSON header.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < 8 {
		return nil, bad(ErrForeign, "it has %d bytes: want a safetensors file", size)
	}
	if size > addressable {
		return nil, bad(ErrCorrupted, "it has %d bytes, more than memory can hold: want a smaller file", size)
	}
	var prefix [9]byte // length and the first byte of the header
	if err := readAt(r, prefix[:min(9, size)], 0); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(prefix[:8])
	switch {
	case size == 8 || prefix[8] != '{':
		return nil, bad(ErrForeign, "it has no header in JSON: want a safetensors file")
	case length > maxHeader:
		return nil, bad(ErrForeign, "its header claims %d bytes: want at most %d", length, maxHeader)
	case int64(length) > size-8:
		return nil, bad(ErrTruncated, "its header needs %d bytes, but the file has %d", length, size-8)
	case length%8 != 0:
		return nil, bad(ErrForeign, "the length of its header is %d: want a multiple of 8", length)
	}
	header := make([]byte, length)
	if err := readAt(r, header, 8); err != nil {
		return nil, err
	}
	if !utf8.Valid(header) {
		return nil, bad(ErrCorrupted, "its header is not UTF-8: want UTF-8 text")
	}
	return header, nil
}

func readAt(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if err == io.EOF {
		return bad(ErrTruncated, "it became shorter during reading: want a file that does not change")
	}
	return err
}

// maxMembers is the maximum number of members of an object in the header: models have about ten
// tensors, and a file with millions of names must not take long to read.
const maxMembers = 1 << 14

// object calls f for every member of the JSON object text, and fails on a duplicate name:
// encoding/json would silently use the last one.
func object(text []byte, f func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("the text is not a JSON object: want one")
	}
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string) // inside an object the decoder returns only strings here
		if seen[name] {
			return fmt.Errorf("%q occurs twice: want it once", name)
		}
		if seen[name] = true; len(seen) > maxMembers {
			return fmt.Errorf("it has more than %d members: want fewer", maxMembers)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return err
	}
	if rest := bytes.TrimLeft(text[dec.InputOffset():], " "); len(rest) > 0 {
		return errors.New("there is text after the object: want only spaces")
	}
	return nil
}

// parseHeader splits the header into the metadata and the descriptions of the tensors.
func parseHeader(header []byte) (meta map[string]string, raw map[string]json.RawMessage, err error) {
	raw = make(map[string]json.RawMessage)
	err = object(header, func(name string, value json.RawMessage) error {
		if name != metadataName {
			raw[name] = value
			return nil
		}
		meta = make(map[string]string)
		return object(value, func(key string, value json.RawMessage) error {
			var s *string
			if err := json.Unmarshal(value, &s); err != nil || s == nil {
				return fmt.Errorf("%s: key %q has no text: want text", metadataName, key)
			}
			meta[key] = *s
			return nil
		})
	})
	if err != nil {
		return nil, nil, bad(ErrCorrupted, "its header: %v", err)
	}
	return meta, raw, nil
}

// decodeMetadata decodes the [Header]. It checks the version first, as a newer file may differ in
// everything else.
func decodeMetadata(meta map[string]string) (Header, error) {
	var h Header
	text, ok := meta[keyHeader]
	if !ok {
		return h, bad(ErrForeign, "it is a safetensors file without the metadata key %q: want a model file",
			keyHeader)
	}
	var v struct {
		FormatVersion int `json:"format_version"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return h, bad(ErrCorrupted, "metadata key %q: %v", keyHeader, err)
	}
	switch {
	case v.FormatVersion > FormatVersion:
		return h, bad(ErrVersion, "it has version %d: want version %d; use a newer mustlink",
			v.FormatVersion, FormatVersion)
	case v.FormatVersion < 1:
		return h, bad(ErrCorrupted, "its format version is %d: want 1 to %d", v.FormatVersion, FormatVersion)
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return h, bad(ErrCorrupted, "metadata key %q: %v", keyHeader, err)
	}
	return h, nil
}

// placeTensors checks that the tensors fill the data section of the given length without gap or
// overlap, and returns them in the order of their offsets.
func placeTensors(raw map[string]json.RawMessage, length int64) ([]entry, error) {
	entries := make([]entry, 0, len(raw))
	for name, text := range raw {
		e, err := parseTensor(name, text)
		if err != nil {
			return nil, bad(ErrCorrupted, "tensor %q: %v", name, err)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	var at int64
	for _, e := range entries {
		switch {
		case e.begin != at:
			return nil, bad(ErrCorrupted, "tensor %q begins at %d: want %d, without gap or overlap", e.name,
				e.begin, at)
		case e.begin%int64(e.dtype.size()) != 0:
			return nil, bad(ErrCorrupted, "tensor %q begins at %d: want a multiple of %d", e.name, e.begin,
				e.dtype.size())
		}
		at = e.end
	}
	switch {
	case at > length:
		return nil, bad(ErrTruncated, "its tensors need %d bytes, but the file has %d", at, length)
	case at < length:
		return nil, bad(ErrCorrupted, "%d bytes follow the last tensor: want none", length-at)
	}
	return entries, nil
}

func parseTensor(name string, text json.RawMessage) (entry, error) {
	e := entry{name: name}
	if name == "" {
		return e, errors.New("the name is empty: want a name")
	}
	var offsets []int64
	members := 0
	err := object(text, func(key string, value json.RawMessage) error {
		members++
		switch key {
		case "dtype":
			return json.Unmarshal(value, &e.dtype)
		case "shape":
			return json.Unmarshal(value, &e.shape)
		case "data_offsets":
			return json.Unmarshal(value, &offsets)
		}
		return fmt.Errorf("unknown member %q: want dtype, shape or data_offsets", key)
	})
	if err != nil {
		return e, err
	}
	n, err := elements(e.shape)
	size := e.dtype.size()
	switch {
	case members != 3 || e.shape == nil:
		return e, errors.New("a member is missing: want dtype, shape and data_offsets")
	case size == 0:
		return e, fmt.Errorf("type %q: want F64, F32, I64 or U8", e.dtype)
	case len(e.shape) > maxDims:
		return e, fmt.Errorf("%d dimensions: want at most %d", len(e.shape), maxDims)
	case err != nil:
		return e, err
	case len(offsets) != 2 || offsets[0] < 0 || offsets[1] < offsets[0]:
		return e, fmt.Errorf("offsets %v: want a begin >= 0 and an end after it", offsets)
	case n > math.MaxInt/size || offsets[1]-offsets[0] != int64(n)*int64(size):
		return e, fmt.Errorf("offsets %v do not fit shape %s of %s", offsets, shapeString(e.shape), e.dtype)
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, nil
}

// readTensors reads the data section, whose length placeTensors has checked.
func readTensors(r io.Reader, entries []entry, sum string) (map[string]Tensor, error) {
	tensors := make(map[string]Tensor, len(entries))
	hash := sha256.New()
	buf := make([]byte, 8*min(chunkElements, largest(entries)))
	for _, e := range entries {
		n := int((e.end - e.begin) / int64(e.dtype.size()))
		t := newTensor(e, n)
		for at := 0; at < n; at += chunkElements {
			hi := min(at+chunkElements, n)
			part := buf[:(hi-at)*e.dtype.size()]
			if _, err := io.ReadFull(r, part); err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil, bad(ErrTruncated,
					"it became shorter during reading: want a file that does not change")
			} else if err != nil {
				return nil, err
			}
			hash.Write(part)
			decode(t, part, at)
		}
		tensors[e.name] = t
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return nil, bad(ErrCorrupted, "the checksum of its data does not match")
	}
	return tensors, nil
}

// largest returns the number of elements of the largest tensor.
func largest(entries []entry) int {
	n := 0
	for _, e := range entries {
		n = max(n, int((e.end-e.begin)/int64(e.dtype.size())))
	}
	return n
}

func newTensor(e entry, n int) Tensor {
	t := Tensor{Shape: e.shape}
	switch e.dtype {
	case F64:
		t.F64 = make([]float64, n)
	case F32:
		t.F32 = make([]float32, n)
	case I64:
		t.I64 = make([]int64, n)
	case U8:
		t.U8 = make([]byte, n)
	}
	return t
}

// decode is the inverse of encode: it fills t from element lo on.
func decode(t Tensor, buf []byte, lo int) {
	switch {
	case t.F64 != nil:
		for i := range len(buf) / 8 {
			t.F64[lo+i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
		}
	case t.I64 != nil:
		for i := range len(buf) / 8 {
			t.I64[lo+i] = int64(binary.LittleEndian.Uint64(buf[8*i:]))
		}
	case t.U8 != nil:
		copy(t.U8[lo:], buf)
	default:
		for i := range len(buf) / 4 {
			t.F32[lo+i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		}
	}
}
