package export

import (
	"encoding/binary"
	"fmt"
	"math"

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

func (g *graph) tensor(of elementType, raw []byte, dims []int) value {
	name := fmt.Sprintf("constant_%d", len(g.constants))
	g.constants = append(g.constants, newTensor(name, of, raw, dims))
	return value(name)
}
