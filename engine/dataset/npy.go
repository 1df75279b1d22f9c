package dataset

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

const (
	npyMagic = "\x93NUMPY"
	// npyMaxHeader is far above what a header of the supported types needs (NumPy writes
	// 118 bytes and refuses more than 10,000 by default).
	npyMaxHeader = 1 << 16
)

// npyHeader is the content of the header of a .npy file.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int64
	length  int64 // bytes before the values
}

// decodeNPY reads a .npy file. A vector of n values becomes n points of one feature.
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
func decodeNPY(src *source, o ReadOptions, rep *report) (*table, error) {
	r, err := newNPYRows(src, o, rep)
	if err != nil {
		return nil, err
	}
	t, err := r.next(max(1, r.rows))
	if err == nil {
		err = src.atEnd(r.rows * r.cols)
	}
	return t, err
}

// npyRows reads the rows of a .npy file, a block at a time.
type npyRows struct {
	src        *source
	o          ReadOptions
	rep        *report
	descr      string
	header     int64 // bytes before the values
	size       int   // bytes of a value
	columns    bool  // the array is stored column by column
	cols       int
	rows, done int
}

// newNPYRows reads the header.
func newNPYRows(src *source, o ReadOptions, rep *report) (*npyRows, error) {
	h, rows, cols, size, err := openNPY(src)
	return &npyRows{src: src, o: o, rep: rep, descr: h.descr, header: h.length, size: int(size),
		columns: h.fortran && rows > 1 && cols > 1, cols: int(cols), rows: int(rows)}, err
}

// openNPYRows is newNPYRows for an array that must be stored row by row.
func openNPYRows(src *source, o ReadOptions, rep *report) (rowReader, error) {
	r, err := newNPYRows(src, o, rep)
	if err == nil && r.columns {
		err = fault.Data(src.name,
			"the array is stored column by column: want rows in order (numpy.ascontiguousarray), as this "+
				"file is read row by row")
	}
	return r, err
}

func (r *npyRows) count() int { return r.rows }

func (r *npyRows) next(limit int) (*table, error) {
	t := &table{rows: min(limit, r.rows-r.done), cols: r.cols}
	if r.rows == 0 {
		return nil, fault.Data(r.src.name, "the array is 0 x %d: want at least one row and one column", r.cols)
	}
	if t.rows == 0 {
		if err := r.src.atEnd(r.rows * r.cols); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	if err := checkBytes(r.o, r.src.name, 8*int64(t.rows)*int64(t.cols)); err != nil {
		return nil, err
	}
	var err error
	t.data, err = r.src.values(r.done*r.cols, t.rows*t.cols, r.size,
		func(data []float64, buf []byte) ([]float64, error) {
			return appendValues(data, buf, r.descr)
		})
	if err != nil {
		return nil, err
	}
	if r.columns {
		t.data = transpose(t.data, t.cols, t.rows)
	}
	first := r.done
	r.done += t.rows
	if err := t.checkFinite(r.rep, first); err != nil {
		return nil, err
	}
	t.removeRows(r.rep.takeBad(), first)
	return t, nil
}

// skip seeks to a later row if the file allows it, and otherwise reads up to it.
func (r *npyRows) skip(n int) error {
	if n > r.rows-r.done {
		return io.EOF
	}
	r.done += n
	width := int64(r.cols) * int64(r.size)
	if r.src.file != nil {
		at := r.header + int64(r.done)*width
		r.src.r.Reset(io.NewSectionReader(r.src.file, at, r.src.size-at))
		return nil
	}
	if _, err := io.CopyN(io.Discard, r.src.r, int64(n)*width); err == io.EOF {
		return r.src.cutOff("its values")
	} else if err != nil {
		return r.src.readError(err)
	}
	return nil
}

// openNPY reads the header and compares it with the size of the file, if that is known.
func openNPY(src *source) (h npyHeader, rows, cols, size int64, err error) {
	if h, err = readNPYHeader(src); err != nil {
		return h, 0, 0, 0, err
	}
	if rows, cols, size, err = h.check(src.name); err != nil {
		return h, 0, 0, 0, err
	}
	if want := rows * cols * size; src.size >= 0 && src.size-h.length != want {
		err = fault.Data(src.name, "it has %d bytes of values: want %d for %d x %d of %s",
			src.size-h.length, want, rows, cols, h.descr)
	}
	return h, rows, cols, size, err
}

// checkFinite reports values that are NaN or infinite; row is the number of the table's first row
// in the file.
func (t *table) checkFinite(rep *report, row int) error {
	for i, v := range t.data {
		if v-v == 0 {
			continue
		}
		e := errorAt(rep.file, 0, row+i/t.cols, strconv.Itoa(i%t.cols), "the value is %v"+wantFinite, v)
		if err := rep.add(e, "fill in a number, or remove the row"); err != nil {
			return err
		}
	}
	return nil
}

// readNPYHeader reads magic, version and header.
func readNPYHeader(src *source) (h npyHeader, err error) {
	prefix := make([]byte, len(npyMagic)+2)
	if err := src.head(prefix, "a NumPy array"); err != nil {
		return h, err
	}
	if string(prefix[:len(npyMagic)]) != npyMagic {
		return h, fault.Data(src.name,
			"the content is not a NumPy array: want a file that begins with \\x93NUMPY")
	}
	major := prefix[len(npyMagic)]
	var size [4]byte
	switch major {
	case 1:
		err = src.full(size[:2], "its header")
	case 2, 3:
		err = src.full(size[:4], "its header")
	default:
		err = fault.Data(src.name, "the .npy version is %d: want 1 to 3", major)
	}
	if err != nil {
		return h, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > npyMaxHeader {
		return h, fault.Data(src.name, "its header claims %d bytes: want at most %d", n, npyMaxHeader)
	}
	text := make([]byte, n)
	if err := src.full(text, "its header"); err != nil {
		return h, err
	}
	if h, err = parseNPYHeader(string(text)); err != nil {
		return h, fault.Data(src.name, "its header: %w", err)
	}
	h.length = int64(len(prefix)) + 2 + int64(n)
	if major > 1 {
		h.length += 2
	}
	return h, nil
}

// check returns the size of the matrix and of one element.
func (h npyHeader) check(name string) (rows, cols, size int64, err error) {
	if size = int64(npyType(h.descr).Bits / 8); size == 0 {
		return 0, 0, 0, fault.Data(name,
			"the array's type is %s: want numbers or booleans of at most 8 bytes, such as from "+
				"a.astype('<f8')", quote(h.descr))
	}
	switch len(h.shape) {
	case 1:
		rows, cols = h.shape[0], 1
	case 2:
		rows, cols = h.shape[0], h.shape[1]
	default:
		return 0, 0, 0, fault.Data(name, "the array has %d dimensions: want 1 or 2", len(h.shape))
	}
	// The file must hold the bytes, so that int64 (and int on 32 bits) is the limit.
	if rows > 0 && cols > math.MaxInt/8/rows {
		return 0, 0, 0, fault.Data(name, "the array claims %d x %d values: more than memory can hold", rows,
			cols)
	}
	if cols == 0 {
		return 0, 0, 0, fault.Data(name, "the array is %d x %d: want at least one row and one column", rows,
			cols)
	}
	return rows, cols, size, nil
}

// npyType returns how values of a type of NumPy are stored, whatever the order of their bytes: for
// "<f4" as numbers of 32 bits. It is the zero value for a type that is not read.
func npyType(descr string) (v Value) {
	if len(descr) != 3 || !strings.Contains("<>|=", descr[:1]) {
		return v
	}
	if at := strings.Index("f8f4f2i8i4i2i1u8u4u2u1b1", descr[1:]); at < 0 || at%2 != 0 {
		return v
	}
	kinds := map[byte]ValueKind{'f': Float, 'i': Signed, 'u': Unsigned, 'b': Boolean}
	return Value{Kind: kinds[descr[1]], Bits: 8 * int(descr[2]-'0')}
}

// appendValues decodes values of the type descr.
func appendValues(data []float64, buf []byte, descr string) ([]float64, error) {
	v, highestFirst, n := npyType(descr), descr[0] == '>', len(data)
	data = v.append(data, buf, highestFirst)
	if v.Kind == Float {
		return data, nil
	}
	for i, x := range data[n:] {
		switch bits := v.bits(buf[i*v.Bits/8:], highestFirst); {
		case v.Kind == Boolean && bits > 1:
			return data[:n+i], fmt.Errorf("a boolean is %d: want 0 or 1", bits)
		case math.IsInf(x, 0):
			return data[:n+i], fmt.Errorf("%s has no exact float64: want at most 2^53 in size", v.Text(bits))
		}
	}
	return data, nil
}

// transpose returns the transpose of the rows x cols matrix a, in blocks that fit the
// cache.
func transpose(a []float64, rows, cols int) []float64 {
	const block = 32
	b := make([]float64, len(a))
	for i0 := 0; i0 < rows; i0 += block {
		for j0 := 0; j0 < cols; j0 += block {
			for i := i0; i < min(i0+block, rows); i++ {
				for j := j0; j < min(j0+block, cols); j++ {
					b[j*rows+i] = a[i*cols+j]
				}
			}
		}
	}
	return b
}

// parseNPYHeader reads the header's text, a Python dictionary with exactly three members:
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
func parseNPYHeader(text string) (npyHeader, error) {
	p := &literal{rest: text}
	var h npyHeader
	seen := make(map[string]bool)
	p.want("{")
	for p.err == nil && !p.has("}") {
		key := p.text()
		p.want(":")
		if seen[key] {
			p.fail("the key %s occurs twice: want it once", quote(key))
		}
		seen[key] = true
		switch key {
		case "descr":
			if p.peek("[") {
				p.fail("the array has named fields: want plain numbers")
			}
			h.descr = p.text()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("unknown key %s: want descr, fortran_order or shape", quote(key))
		}
		if !p.has(",") && !p.peek("}") {
			p.fail("the dictionary is malformed: want a comma or its end")
		}
	}
	if p.err == nil && strings.TrimSpace(p.rest) != "" {
		p.fail("there is text after the dictionary: want nothing")
	}
	if p.err == nil && len(seen) != 3 {
		p.fail("a key is missing: want the keys descr, fortran_order and shape")
	}
	return h, p.err
}

// literal parses the few kinds of Python literals that occur in a header. It stops at the first
// error.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
}

func (p *literal) peek(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	return strings.HasPrefix(p.rest, token)
}

func (p *literal) has(token string) bool {
	if !p.peek(token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *literal) want(token string) {
	if !p.has(token) {
		p.fail("the text is %s: want %q", quote(p.rest), token)
	}
}

func (p *literal) text() string {
	for _, q := range []string{"'", `"`} {
		if p.has(q) {
			value, rest, ok := strings.Cut(p.rest, q)
			if !ok || strings.ContainsAny(value, "\\\n") {
				p.fail("a string is not closed, or contains an escape: want plain text in quotes")
			}
			if p.err == nil {
				p.rest = rest
			}
			return value
		}
	}
	p.fail("the text is %s: want a string", quote(p.rest))
	return ""
}

func (p *literal) boolean() bool {
	if p.has("True") {
		return true
	}
	if !p.has("False") {
		p.fail("the text is %s: want True or False", quote(p.rest))
	}
	return false
}

func (p *literal) tuple() []int64 {
	shape := []int64{}
	p.want("(")
	for p.err == nil && !p.has(")") {
		p.peek("") // skips spaces
		end := 0
		for end < len(p.rest) && '0' <= p.rest[end] && p.rest[end] <= '9' {
			end++
		}
		v, err := strconv.ParseInt(p.rest[:end], 10, 64)
		if err != nil {
			p.fail("the text is %s: want a size", quote(p.rest))
			break
		}
		shape, p.rest = append(shape, v), p.rest[end:]
		if !p.has(",") && !p.peek(")") {
			p.fail("the shape is malformed: want a comma or its end")
		}
		if len(shape) > 32 { // NumPy's own limit
			p.fail("the array has more than 32 dimensions: want 1 or 2")
		}
	}
	return shape
}

// encodeNPY writes a matrix as float64, or float32 for one of single precision, in C order. If the
// number of rows is known only at the end, the header is overwritten then.
func encodeNPY(w *matrixWriter) error {
	known := w.rows >= 0
	at, patch := w.out.(io.WriterAt)
	if !known && !patch {
		return fault.Param("output path", w.path,
			"a regular file for .npy, or .csv: the number of rows is not known before the end")
	}
	descr := "<f8"
	if w.single {
		descr = "<f4"
	}
	out := bufio.NewWriterSize(w.out, bufferSize)
	if _, err := out.Write(npyPreamble(descr, w.rows, w.cols)); err != nil {
		return err
	}
	var buf []byte
	err := w.each(func(_ int, row []float64) error {
		buf = buf[:0]
		if w.single {
			for _, v := range row {
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(v)))
			}
		} else {
			for _, v := range row {
				buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
			}
		}
		_, err := out.Write(buf)
		return err
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil || known {
		return err
	}
	_, err = at.WriteAt(npyPreamble(descr, w.rows, w.cols), 0)
	return err
}

// npyPreamble returns a version 1 header, padded to a multiple of 64 bytes as NumPy does. Its
// length leaves room for any number of rows, -1 if it is not known yet.
func npyPreamble(descr string, rows, cols int) []byte {
	rows = max(0, rows)
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, cols)
	const maxDigits = 19 // of an int64
	room := maxDigits - len(strconv.Itoa(rows))
	pad := -(len(npyMagic)+4+len(dict)+room+1)&63 + room
	dict += strings.Repeat(" ", pad) + "\n"
	head := append([]byte(npyMagic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(dict)))
	return append(head, dict...)
}
