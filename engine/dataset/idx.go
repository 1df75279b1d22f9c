package dataset

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// maxIDXDims is the largest number of dimensions: a set of images with channels has four.
const maxIDXDims = 4

// idxType is one of the types of values in an IDX file.
type idxType struct {
	code byte
	name string
	Value
}

func idxTypes() []idxType {
	return []idxType{{0x08, "ubyte", Value{Kind: Unsigned, Bits: 8}},
		{0x09, "byte", Value{Kind: Signed, Bits: 8}}, {0x0b, "short", Value{Kind: Signed, Bits: 16}},
		{0x0c, "int", Value{Kind: Signed, Bits: 32}}, {0x0d, "float", Value{Kind: Float, Bits: 32}},
		{0x0e, "double", Value{Kind: Float, Bits: 64}}}
}

// idxHeader is the header of an IDX file.
type idxHeader struct {
	idxType
	dims []int64
}

// bytes returns the length of the header.
func (h idxHeader) bytes() int64 { return 4 + 4*int64(len(h.dims)) }

// shape writes the dimensions: "60000 x 28 x 28".
func (h idxHeader) shape() string {
	var parts []string
	for _, d := range h.dims {
		parts = append(parts, strconv.FormatInt(d, 10))
	}
	return strings.Join(parts, " x ")
}

// decodeIDX reads an IDX file, the format of MNIST: the first dimension counts the rows, the others
// become one row of features. A vector of n values becomes n points of one feature.
//
// The header is two zero bytes, the type, the number of dimensions, and each dimension in four
// bytes; all numbers are big-endian.
func decodeIDX(src *source, o ReadOptions, rep *report) (*table, error) {
	h, err := readIDXHeader(src)
	if err != nil {
		return nil, err
	}
	rows, cols, err := h.check(src.name)
	if err != nil {
		return nil, err
	}
	n := rows * cols
	if err := checkBytes(o, src.name, 8*n); err != nil {
		return nil, err
	}
	if got, want := src.size-h.bytes(), n*int64(h.Bits/8); src.size >= 0 && got != want {
		return nil, fault.Data(src.name, "it has %d bytes of values: want %d for %s of %s", got, want,
			h.shape(), h.name)
	}
	t := &table{rows: int(rows), cols: int(cols)}
	t.data, err = src.values(0, int(n), h.Bits/8, func(data []float64, buf []byte) ([]float64, error) {
		return h.append(data, buf, true), nil
	})
	if err == nil {
		err = src.atEnd(int(n))
	}
	if err != nil || h.Kind != Float {
		return t, err
	}
	return t, t.checkFinite(rep, 0)
}

// labelsIDX returns the numbers of a vector as labels.
func labelsIDX(src *source, _ ReadOptions, rep *report) (rows LabelRows, err error) {
	head, err := src.r.Peek(4)
	if err == nil && (head[3] != 1 || head[2] >= 0x0d) && head[0] == 0 && head[1] == 0 {
		return rows, fault.Data(src.name,
			"it is not a vector of whole numbers: want an IDX file of one dimension (idx1) with the labels")
	}
	t, err := decodeIDX(src, ReadOptions{MemoryLimit: src.limit}, rep)
	if err != nil {
		return rows, err
	}
	list := labelNames(0)
	for _, v := range t.data {
		list.push(strconv.FormatInt(int64(v), 10), 0)
	}
	return LabelRows{Labels: list.values}, nil
}

func readIDXHeader(src *source) (h idxHeader, err error) {
	var magic [4]byte
	if err := src.head(magic[:], "an IDX file"); err != nil {
		return h, err
	}
	known := slices.IndexFunc(idxTypes(), func(t idxType) bool { return t.code == magic[2] })
	dims := int(magic[3])
	switch {
	case magic[0] == 0x1f && magic[1] == 0x8b:
		return h, fault.Data(src.name,
			"the content is gzip data: want an IDX file, or a name that ends in .gz")
	case magic[0] != 0 || magic[1] != 0:
		return h, fault.Data(src.name,
			"the content is not an IDX file, it begins with % x: want two zero bytes", magic[:2])
	case known < 0:
		return h, fault.Data(src.name,
			"the type of the values is %#02x: want 0x08 (ubyte), 0x09 (byte), 0x0b (short), 0x0c (int), "+
				"0x0d (float) or 0x0e (double)", magic[2])
	case dims < 1 || dims > maxIDXDims:
		return h, fault.Data(src.name, "the file has %d dimensions: want 1 to %d", dims, maxIDXDims)
	}
	h = idxHeader{idxTypes()[known], make([]int64, dims)}
	var size [4]byte
	for k := range h.dims {
		if err := src.full(size[:], "its header"); err != nil {
			return h, err
		}
		h.dims[k] = int64(binary.BigEndian.Uint32(size[:]))
	}
	return h, nil
}

// check returns the size of the matrix.
func (h idxHeader) check(name string) (rows, cols int64, err error) {
	values := int64(1)
	for _, d := range h.dims {
		switch {
		case d == 0:
			return 0, 0, fault.Data(name, "the file is %s: want at least one value in every dimension",
				h.shape())
		case values > math.MaxInt/8/d:
			return 0, 0, fault.Data(name, "the file claims %s values: more than memory can hold", h.shape())
		}
		values *= d
	}
	return h.dims[0], values / h.dims[0], nil
}

// gramPoints turns a table of inner products into points.
func gramPoints(t *table, name string, o ReadOptions) (points.Points, error) {
	var diagonal []float64
	var reference []int
	if o.GramDiagonal != "" {
		var err error
		if diagonal, err = readColumn(o.GramDiagonal, o); err != nil {
			return nil, err
		}
		if len(diagonal) != t.rows {
			return nil, fault.Data(o.GramDiagonal, "it has %s: want %d, one for each row of %s",
				fault.Count(len(diagonal), "value"), t.rows, name)
		}
		if !isTraining(t, diagonal) {
			reference = slices.Repeat([]int{-1}, t.rows)
		}
	} else if t.rows != t.cols {
		return nil, fault.Data(name,
			"the Gram matrix has %d rows and %d columns: want a square one, or a file with its diagonal",
			t.rows, t.cols)
	}
	g, err := points.NewGram(t.rows, t.cols, t.data, diagonal, reference)
	if de, is := errors.AsType[*fault.DataError](err); is && de.Column == "diagonal" && o.GramDiagonal != "" {
		return nil, &fault.DataError{File: o.GramDiagonal, Row: de.Row, Err: de.Err}
	}
	if err != nil {
		return nil, fault.InFile(err, name)
	}
	return g, nil
}

// isTraining reports whether a square matrix is a training matrix given with its own diagonal, not
// one of as many new objects as training objects: it is symmetric and has that diagonal, both to
// 1e-10 of the largest value, as points.NewGram requires of a square matrix.
func isTraining(t *table, diagonal []float64) bool {
	if t.rows != t.cols {
		return false
	}
	var largest float64
	for _, v := range t.data {
		largest = max(largest, math.Abs(v))
	}
	n, tol := t.rows, 1e-10*largest
	for i := range n {
		if math.Abs(t.data[i*n+i]-diagonal[i]) > tol {
			return false
		}
		for j := range i {
			if math.Abs(t.data[i*n+j]-t.data[j*n+i]) > tol {
				return false
			}
		}
	}
	return true
}

// readColumn reads a data file of one column.
func readColumn(path string, o ReadOptions) ([]float64, error) {
	d, err := Read(path, ReadOptions{MaxLine: o.MaxLine, MemoryLimit: o.MemoryLimit})
	if err != nil {
		return nil, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return nil, fault.Data(path, "it is %s: want one column of numbers with the diagonal",
			KindOf(d.Points))
	}
	if x.D != 1 {
		return nil, fault.Data(path, "it has %s: want one column with the diagonal",
			fault.Count(x.D, "numeric column"))
	}
	return x.Data, nil
}
