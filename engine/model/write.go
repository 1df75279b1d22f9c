package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/internal/atomicfile"
)

const (
	maxHeader     = 16 << 20
	maxDims       = 8
	addressable   = 1 << 47 // bytes that a process can address on amd64 and arm64
	metadataName  = "__metadata__"
	keyHeader     = "mustlink"
	keyData       = "sha256"
	keyDescribing = "header_sha256"
	chunkElements = 8192 // values converted at a time
)

// WriteFile writes the file to path and replaces an older file completely or not at all. An output
// folder that is missing or read-only is a *fault.DataError.
func (f *File) WriteFile(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := f.WriteTo(w)
		return err
	})
}

// WriteTo writes the file to w and returns the number of bytes written. It reads the data twice,
// first for the checksum. A tensor whose shape does not fit its data, or a header of more than 16
// MiB, is an error before anything is written.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	entries, err := f.layout()
	if err != nil {
		return 0, err
	}
	hash := sha256.New()
	_, _ = f.writeData(hash, entries) // a hash takes everything
	header, err := f.encodeHeader(entries, hex.EncodeToString(hash.Sum(nil)))
	if err != nil {
		return 0, err
	}
	n, err := w.Write(header)
	if err != nil {
		return int64(n), err
	}
	m, err := f.writeData(w, entries)
	return int64(n) + m, err
}

// entry describes one tensor in the file: bytes [begin, end) of the data section.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	begin, end int64
}

// layout checks the tensors and assigns their offsets, in the order of the data section.
func (f *File) layout() ([]entry, error) {
	entries := make([]entry, 0, len(f.Tensors))
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		t := f.Tensors[name]
		n, err := elements(t.Shape)
		switch {
		case name == "" || name == metadataName || !utf8.ValidString(name):
			return nil, fmt.Errorf("model: tensor name %q: want UTF-8 text other than %q", name, metadataName)
		case t.DType() == "":
			return nil, fmt.Errorf("model: tensor %q: want exactly one of its slices set", name)
		case len(t.Shape) > maxDims:
			return nil, fmt.Errorf("model: tensor %q has %d dimensions: want at most %d", name, len(t.Shape),
				maxDims)
		case err != nil:
			return nil, fmt.Errorf("model: tensor %q: %w", name, err)
		case n != t.Len():
			return nil, fmt.Errorf("model: tensor %q has %d values, shape %s: want %d", name, t.Len(),
				shapeString(t.Shape), n)
		}
		entries = append(entries, entry{name: name, dtype: t.DType(), shape: t.Shape})
	}
	if len(entries) >= maxMembers { // the metadata is a member too
		return nil, fmt.Errorf("model: %d tensors: want fewer than %d", len(entries), maxMembers)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Compare(b.dtype.size(), a.dtype.size())
	})
	var at int64
	for i := range entries {
		e := &entries[i]
		e.begin, e.end = at, at+int64(f.Tensors[e.name].Len())*int64(e.dtype.size())
		at = e.end
	}
	return entries, nil
}

// encodeHeader returns the length prefix and the padded header.
func (f *File) encodeHeader(entries []entry, dataSum string) ([]byte, error) {
	h := f.Header
	if h.FormatVersion != 0 && h.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("model: cannot write format version %d: want %d", h.FormatVersion,
			FormatVersion)
	}
	h.FormatVersion = FormatVersion
	text, err := marshal(h)
	if err != nil {
		return nil, fmt.Errorf("model: header: %w", err)
	}
	if len(text) > maxHeader {
		return nil, headerTooLong(len(text))
	}
	meta := map[string]string{
		keyHeader:     string(text),
		keyData:       dataSum,
		keyDescribing: checksum(string(text), entries),
	}
	buf := bytes.NewBuffer(make([]byte, 8, 1024))
	if err := encodeMembers(buf, meta, entries); err != nil {
		return nil, err
	}
	for buf.Len()%8 != 0 {
		buf.WriteByte(' ')
	}
	length := buf.Len() - 8
	if length > maxHeader {
		return nil, headerTooLong(length)
	}
	binary.LittleEndian.PutUint64(buf.Bytes(), uint64(length))
	return buf.Bytes(), nil
}

func headerTooLong(length int) error {
	return fmt.Errorf("model: header needs %d bytes: want at most %d; put large values into tensors", length,
		maxHeader)
}

func encodeMembers(buf *bytes.Buffer, meta map[string]string, entries []entry) error {
	text, err := marshal(meta)
	if err != nil {
		return err
	}
	fmt.Fprintf(buf, "{%q:%s", metadataName, text)
	byName := slices.SortedFunc(slices.Values(entries), func(a, b entry) int {
		return cmp.Compare(a.name, b.name)
	})
	for _, e := range byName {
		name, err := marshal(e.name)
		if err != nil {
			return err
		}
		fmt.Fprintf(buf, `,%s:{"dtype":%q,"shape":[`, name, e.dtype)
		for i, s := range e.shape {
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.WriteString(strconv.Itoa(s))
		}
		fmt.Fprintf(buf, `],"data_offsets":[%d,%d]}`, e.begin, e.end)
	}
	buf.WriteByte('}')
	return nil
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// checksum covers what the checksum of the data section does not: the text of the header and the
// name, type, shape and offsets of each tensor. It depends on the content and not on the bytes, so
// that a program may write the same header in another order.
func checksum(text string, entries []entry) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%d %s\n", len(text), text)
	byName := slices.SortedFunc(slices.Values(entries), func(a, b entry) int {
		return cmp.Compare(a.name, b.name)
	})
	for _, e := range byName {
		fmt.Fprintf(hash, "%d %s %s %v %d %d\n", len(e.name), e.name, e.dtype, e.shape, e.begin, e.end)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// writeData writes the data section.
func (f *File) writeData(w io.Writer, entries []entry) (int64, error) {
	buf := make([]byte, 8*min(chunkElements, largest(entries)))
	var written int64
	for _, e := range entries {
		t := f.Tensors[e.name]
		for at := 0; at < t.Len(); at += chunkElements {
			n, err := w.Write(encode(buf, t, at, min(at+chunkElements, t.Len())))
			written += int64(n)
			if err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// encode puts elements [lo, hi) of t into buf and returns the part that it used.
func encode(buf []byte, t Tensor, lo, hi int) []byte {
	switch t.DType() {
	case F64:
		for i, v := range t.F64[lo:hi] {
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(v))
		}
		return buf[:8*(hi-lo)]
	case I64:
		for i, v := range t.I64[lo:hi] {
			binary.LittleEndian.PutUint64(buf[8*i:], uint64(v))
		}
		return buf[:8*(hi-lo)]
	case U8:
		return t.U8[lo:hi]
	}
	for i, v := range t.F32[lo:hi] {
		binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
	}
	return buf[:4*(hi-lo)]
}
