package export

import (
	"bytes"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message of Protocol Buffers that grows field by field, in the order of their
// numbers. The numbers here are those of the schema of ONNX 1.12, https://github.com/onnx/onnx,
// file onnx/onnx.proto. Large fields are referred to, not copied.
type message struct {
	pieces [][]byte
	size   int
}

func (m *message) add(piece []byte) {
	m.pieces = append(m.pieces, piece)
	m.size += len(piece)
}

// encoded returns the message in one piece.
func (m *message) encoded() []byte { return bytes.Join(m.pieces, nil) }

func (m *message) integer(field protowire.Number, v int64) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), uint64(v)))
}

func (m *message) float(field protowire.Number, v float32) {
	m.add(protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type), math.Float32bits(v)))
}

// prefix begins a field of so many bytes.
func (m *message) prefix(field protowire.Number, size int) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(size)))
}

func (m *message) bytes(field protowire.Number, v []byte) {
	m.prefix(field, len(v))
	m.add(v)
}

func (m *message) text(field protowire.Number, v string) { m.bytes(field, []byte(v)) }

// message adds a message as a field of this one.
func (m *message) message(field protowire.Number, v *message) {
	m.prefix(field, v.size)
	m.pieces = append(m.pieces, v.pieces...)
	m.size += v.size
}

func (m *message) messages(field protowire.Number, list []*message) {
	for _, v := range list {
		m.message(field, v)
	}
}

// elementType is the type of the elements of a tensor.
type elementType int64

const (
	float32s elementType = 1
	int64s   elementType = 7
	texts    elementType = 8
	float64s elementType = 11
)

// newNode returns a NodeProto.
func newNode(kind, name, domain string, inputs []value, attributes []attribute) *message {
	n := &message{}
	for _, in := range inputs {
		n.text(1, string(in))
	}
	n.text(2, name) // the only output
	n.text(3, name)
	n.text(4, kind)
	for _, a := range attributes {
		n.message(5, a.message())
	}
	if domain != "" {
		n.text(7, domain)
	}
	return n
}

// message returns an AttributeProto.
func (a attribute) message() *message {
	const typeField = 20
	const float, integer, floats, integers, listOfTexts = 1, 2, 6, 7, 8 // types
	m := &message{}
	m.text(1, a.name)
	switch v := a.value.(type) {
	case float64:
		m.float(2, float32(v))
		m.integer(typeField, float)
	case int64:
		m.integer(3, v)
		m.integer(typeField, integer)
	case []float32:
		for _, x := range v {
			m.float(7, x)
		}
		m.integer(typeField, floats)
	case []int64:
		for _, x := range v {
			m.integer(8, x)
		}
		m.integer(typeField, integers)
	case []string:
		for _, x := range v {
			m.text(9, x)
		}
		m.integer(typeField, listOfTexts)
	default:
		panic("export: an attribute of another type")
	}
	return m
}

// newTensor returns a TensorProto of numbers, which raw has with the low byte first.
func newTensor(name string, of elementType, raw []byte, dims []int) *message {
	t := &message{}
	for _, d := range dims {
		t.integer(1, int64(d))
	}
	t.integer(2, int64(of))
	t.text(8, name)
	t.bytes(9, raw)
	return t
}

// newInfo returns a ValueInfoProto: an input or an output of any number of rows.
func newInfo(name string, of elementType, columns int, doc string) *message {
	rows, width, shape, tensor, kind, info := &message{}, &message{}, &message{}, &message{}, &message{}, &message{}
	rows.text(2, "rows")
	width.integer(1, int64(columns))
	shape.messages(1, []*message{rows, width})
	tensor.integer(1, int64(of))
	tensor.message(2, shape)
	kind.message(1, tensor)
	info.text(1, name)
	info.message(2, kind)
	info.text(3, doc)
	return info
}

// newOperators returns an OperatorSetIdProto.
func newOperators(domain string, version int64) *message {
	m := &message{}
	m.text(1, domain)
	m.integer(2, version)
	return m
}

// newEntry returns a StringStringEntryProto.
func newEntry(key, text string) *message {
	m := &message{}
	m.text(1, key)
	m.text(2, text)
	return m
}
