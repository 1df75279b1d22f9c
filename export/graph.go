package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/formula"
)

// value is the name of a tensor in a graph.
type value string

// graph is an ONNX graph that grows node by node.
type graph struct {
	single    bool                  // numbers have 32 bits, else 64
	outside   Precision             // of the input and the output
	x         value                 // the columns of numbers
	done      map[formula.Map]value // coordinates that are there already
	nodes     []*message
	constants []*message
	beyond    bool // a number is beyond single precision
	learning  bool // a node is of the operators ai.onnx.ml
}

// attribute is one of a node: an int64, a float64, or a list of integers, float32s or texts.
type attribute struct {
	name  string
	value any
}

// op adds a node with one result.
func (g *graph) op(kind string, inputs []value, attributes ...attribute) value {
	name := value(fmt.Sprintf("%s_%d", kind, len(g.nodes)))
	domain := ""
	if kind == "LabelEncoder" {
		domain, g.learning = learningDomain, true
	}
	g.nodes = append(g.nodes, newNode(kind, string(name), domain, inputs, attributes))
	return name
}

// learningDomain has the operators of ONNX-ML.
const learningDomain = "ai.onnx.ml"

// add, sub, mul and so on are nodes of two operands, which are broadcast.
func (g *graph) add(a, b value) value { return g.op("Add", []value{a, b}) }
func (g *graph) sub(a, b value) value { return g.op("Sub", []value{a, b}) }
func (g *graph) mul(a, b value) value { return g.op("Mul", []value{a, b}) }

// where is a node that chooses a where the condition holds, else b.
func (g *graph) where(condition, a, b value) value {
	return g.op("Where", []value{condition, a, b})
}

// transposedProduct returns alpha a b' + c, without c if it is "".
func (g *graph) transposedProduct(alpha float64, a, b, c value) value {
	inputs := []value{a, b}
	if c != "" {
		inputs = append(inputs, c)
	}
	return g.op("Gemm", inputs, attribute{"alpha", alpha}, attribute{"transB", int64(1)})
}

// sideBySide joins matrices of the same rows.
func (g *graph) sideBySide(parts []value) value {
	if len(parts) == 1 {
		return parts[0]
	}
	return g.op("Concat", parts, attribute{"axis", int64(1)})
}

// choose gathers columns of a matrix.
func (g *graph) choose(a value, at []int) value {
	return g.op("Gather", []value{a, g.integers(at, len(at))}, attribute{"axis", int64(1)})
}

// squares returns the sums of the squares of the rows, n x 1.
func (g *graph) squares(a value) value {
	return g.op("ReduceSumSquare", []value{a}, attribute{"axes", []int64{1}}, attribute{"keepdims", int64(1)})
}

// numbers returns the type of numbers.
func (g *graph) numbers() elementType { return numbersOf(g.single) }

func numbersOf(single bool) elementType {
	if single {
		return float32s
	}
	return float64s
}

// number converts a tensor to numbers.
func (g *graph) number(a value) value {
	return g.op("Cast", []value{a}, attribute{"to", int64(g.numbers())})
}

// constant adds a tensor of numbers.
func (g *graph) constant(data []float64, dims ...int) value {
	raw := make([]byte, 0, len(data)*g.size())
	for _, v := range data {
		if g.single {
			narrow := float32(v)
			g.beyond = g.beyond || narrow-narrow != 0 && v-v == 0
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(narrow))
		} else {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	}
	return g.tensor(g.numbers(), raw, dims)
}

// size returns the bytes of a number.
func (g *graph) size() int {
	if g.single {
		return 4
	}
	return 8
}

// scalar adds a number.
func (g *graph) scalar(v float64) value { return g.constant([]float64{v}) }

// row adds a tensor of one row.
func (g *graph) row(data []float64) value { return g.constant(data, 1, len(data)) }

// matrix adds a matrix.
func (g *graph) matrix(m blas.Matrix) value {
	if m.Stride != m.Cols {
		m = m.Clone()
	}
	return g.constant(m.Data[:m.Rows*m.Cols], m.Rows, m.Cols)
}

// integers adds a tensor of integers.
func (g *graph) integers(list []int, dims ...int) value {
	raw := make([]byte, 0, 8*len(list))
	for _, v := range list {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
	}
	return g.tensor(int64s, raw, dims)
}

// integer adds an integer without dimensions: gathering by it leaves one out.
func (g *graph) integer(v int) value { return g.integers([]int{v}) }

// tensor adds a TensorProto of numbers, which raw has with the low byte first.
func (g *graph) tensor(of elementType, raw []byte, dims []int) value {
	t, name := &message{}, fmt.Sprintf("constant_%d", len(g.constants))
	for _, d := range dims {
		t.integer(1, int64(d))
	}
	t.integer(2, int64(of))
	t.text(8, name)
	t.bytes(9, raw)
	g.constants = append(g.constants, t)
	return value(name)
}

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
	m.add(protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type),
		math.Float32bits(v)))
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

// newInfo returns a ValueInfoProto: an input or an output of any number of rows.
func newInfo(name string, of elementType, columns int, doc string) *message {
	rows, width, shape, tensor, kind, info := &message{}, &message{}, &message{}, &message{}, &message{},
		&message{}
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
