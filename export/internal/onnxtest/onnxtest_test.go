package onnxtest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// tensor returns numbers of one type by rows.
func tensor(of Type, dims []int, numbers ...float64) *Tensor {
	return &Tensor{Type: of, Dims: dims, Numbers: numbers}
}

// one evaluates one node.
func one(kind string, attributes map[string]any, in ...*Tensor) (*Tensor, error) {
	n := node{kind: kind, attributes: attributes}
	if kind == "LabelEncoder" {
		n.domain = "ai.onnx.ml"
	}
	m := &Model{operators: map[string]int64{"": 13, "ai.onnx.ml": 2}}
	return m.run(&call{node: n, in: in, used: map[string]bool{}})
}

var nan = math.NaN()

// TestOperators compares operators with what their specifications say, on small tensors.
func TestOperators(t *testing.T) {
	const f, d, n, b = Float32, Float64, Int64, Bool
	wide := tensor(d, []int{2, 3}, 1, 2, 3, 4, 5, 6)
	third := float64(float32(1) / 3)
	for _, c := range []struct {
		kind       string
		attributes map[string]any
		in         []*Tensor
		want       *Tensor
	}{
		{"Add", nil, []*Tensor{wide, tensor(d, []int{1, 3}, 10, 20, 30)},
			tensor(d, []int{2, 3}, 11, 22, 33, 14, 25, 36)},
		{"Sub", nil, []*Tensor{wide, tensor(d, []int{2, 1}, 1, 4)},
			tensor(d, []int{2, 3}, 0, 1, 2, 0, 1, 2)},
		{"Mul", nil, []*Tensor{tensor(d, []int{2, 1}, 2, 3), tensor(d, []int{2}, 5, 7)},
			tensor(d, []int{2, 2}, 10, 14, 15, 21)},
		{"Div", nil, []*Tensor{tensor(f, []int{1}, 1), tensor(f, []int{1}, 3)},
			tensor(f, []int{1}, third)},
		{"Pow", nil, []*Tensor{wide, tensor(d, []int{}, 2)},
			tensor(d, []int{2, 3}, 1, 4, 9, 16, 25, 36)},
		{"Round", nil, []*Tensor{tensor(d, []int{5}, .5, 1.5, 2.5, -.5, -2.6)},
			tensor(d, []int{5}, 0, 2, 2, 0, -3)},
		{"Max", nil, []*Tensor{tensor(d, []int{3}, 1, nan, 3), tensor(d, []int{1}, 2)},
			tensor(d, []int{3}, 2, nan, 3)},
		{"Min", nil, []*Tensor{tensor(n, []int{2}, 1, 3), tensor(n, []int{1}, 2)},
			tensor(n, []int{2}, 1, 2)},
		{"Exp", nil, []*Tensor{tensor(d, []int{2}, 0, 1)}, tensor(d, []int{2}, 1, math.E)},
		{"Sqrt", nil, []*Tensor{tensor(d, []int{2}, 4, -1)}, tensor(d, []int{2}, 2, nan)},
		{"Tanh", nil, []*Tensor{tensor(d, []int{2}, 0, 1e3)}, tensor(d, []int{2}, 0, 1)},
		{"Abs", nil, []*Tensor{tensor(n, []int{2}, -3, 3)}, tensor(n, []int{2}, 3, 3)},
		{"Greater", nil, []*Tensor{wide, tensor(d, []int{}, 4)},
			tensor(b, []int{2, 3}, 0, 0, 0, 0, 1, 1)},
		{"Less", nil, []*Tensor{wide, tensor(d, []int{}, 4)}, tensor(b, []int{2, 3}, 1, 1, 1, 0, 0, 0)},
		{"LessOrEqual", nil, []*Tensor{wide, tensor(d, []int{1}, nan)},
			tensor(b, []int{2, 3}, 0, 0, 0, 0, 0, 0)},
		{"Equal", nil, []*Tensor{tensor(n, []int{2, 1}, 0, 2), tensor(n, []int{1, 3}, 0, 1, 2)},
			tensor(b, []int{2, 3}, 1, 0, 0, 0, 0, 1)},
		{"IsNaN", nil, []*Tensor{tensor(f, []int{2}, nan, math.Inf(1))}, tensor(b, []int{2}, 1, 0)},
		{"Where", nil, []*Tensor{tensor(b, []int{2, 1}, 1, 0), tensor(d, []int{1, 2}, 1, 2),
			tensor(d, []int{1}, 9)}, tensor(d, []int{2, 2}, 1, 2, 9, 9)},
		{"Cast", map[string]any{"to": int64(f)}, []*Tensor{tensor(d, []int{2}, .1, 1e39)},
			tensor(f, []int{2}, float64(float32(.1)), math.Inf(1))},
		{"Cast", map[string]any{"to": int64(d)}, []*Tensor{tensor(b, []int{2}, 1, 0)},
			tensor(d, []int{2}, 1, 0)},
		{"Gemm", map[string]any{"alpha": -2., "transB": int64(1)}, []*Tensor{wide,
			tensor(d, []int{1, 3}, 1, 0, 2), tensor(d, []int{2, 1}, 1, 100)},
			tensor(d, []int{2, 1}, -13, 68)},
		{"MatMul", nil, []*Tensor{wide, tensor(d, []int{3, 1}, 1, 0, 2)},
			tensor(d, []int{2, 1}, 7, 16)},
		{"MatMul", nil, []*Tensor{tensor(f, []int{1, 2}, 1<<24, 1), tensor(f, []int{2, 1}, 1, 1)},
			tensor(f, []int{1, 1}, 1<<24)},
		{"ReduceMax", map[string]any{"axes": []int64{-1}}, []*Tensor{wide},
			tensor(d, []int{2, 1}, 3, 6)},
		{"ReduceSumSquare", map[string]any{"axes": []int64{0}, "keepdims": int64(0)}, []*Tensor{wide},
			tensor(d, []int{3}, 17, 29, 45)},
		{"Concat", map[string]any{"axis": int64(1)}, []*Tensor{wide, tensor(d, []int{2, 1}, 8, 9)},
			tensor(d, []int{2, 4}, 1, 2, 3, 8, 4, 5, 6, 9)},
		{"Gather", map[string]any{"axis": int64(1)}, []*Tensor{wide, tensor(n, []int{2}, 2, -3)},
			tensor(d, []int{2, 2}, 3, 1, 6, 4)},
		{"Gather", nil, []*Tensor{wide, tensor(n, []int{}, 1)}, tensor(d, []int{3}, 4, 5, 6)},
		{"NonZero", nil, []*Tensor{tensor(b, []int{2, 2}, 0, 1, 1, 1)},
			tensor(n, []int{2, 3}, 0, 1, 1, 1, 0, 1)},
		{"ScatterND", nil, []*Tensor{wide, tensor(n, []int{2, 2}, 0, 1, 1, 2),
			tensor(d, []int{2}, -2, -6)},
			tensor(d, []int{2, 3}, 1, -2, 3, 4, 5, -6)},
		{"Transpose", nil, []*Tensor{wide}, tensor(d, []int{3, 2}, 1, 4, 2, 5, 3, 6)},

		{"LabelEncoder", map[string]any{"keys_strings": []string{"a", "b"}, "values_int64s": []int64{5, 6}},
			[]*Tensor{{Type: Text, Dims: []int{3}, Texts: []string{"b", "A", "a"}}},
			tensor(n, []int{3}, 6, -1, 5)},
		{"LabelEncoder", map[string]any{"keys_strings": []string{"a"}, "values_floats": []float64{1},
			"default_float": nan}, []*Tensor{{Type: Text, Dims: []int{2}, Texts: []string{"a", ""}}},
			tensor(f, []int{2}, 1, nan)},
	} {
		got, err := one(c.kind, c.attributes, c.in...)
		if err != nil || got.Type != c.want.Type || !slices.Equal(got.Dims, c.want.Dims) ||
			!slices.EqualFunc(got.Numbers, c.want.Numbers, func(a, b float64) bool {
				return a == b || a != a && b != b
			}) {
			t.Errorf("%s of %v: %v, error %v: want %v", c.kind, c.in, got, err, c.want)
		}
	}
}

// TestRefused: what the specification does not allow, or the package does not know, is an error.
func TestRefused(t *testing.T) {
	d, f := tensor(Float64, []int{2, 3}, 1, 2, 3, 4, 5, 6), tensor(Float32, []int{3}, 1, 2, 3)
	n := tensor(Int64, []int{1}, 3)
	for want, try := range map[string]func() (*Tensor, error){
		"operator Relu":  func() (*Tensor, error) { return one("Relu", nil, d) },
		"types 11 and 1": func() (*Tensor, error) { return one("Add", nil, d, f) },
		"dimensions [2 3] and [2]": func() (*Tensor, error) {
			return one("Add", nil, d, tensor(Float64, []int{2}, 1, 2))
		},
		"type 7":   func() (*Tensor, error) { return one("Exp", nil, n) },
		"1 inputs": func() (*Tensor, error) { return one("Mul", nil, d) },
		"axis 3": func() (*Tensor, error) {
			return one("Gather", map[string]any{"axis": int64(1)}, d, n)
		},
		"attribute to is missing": func() (*Tensor, error) { return one("Cast", nil, d) },
		"attribute axes is missing": func() (*Tensor, error) {
			return one("ReduceMax", map[string]any{"axis": int64(1)}, d)
		},
		"attribute to is not known": func() (*Tensor, error) {
			return one("Add", map[string]any{"to": int64(1)}, d, d)
		},
		"attribute axis is float64": func() (*Tensor, error) {
			return one("Concat", map[string]any{"axis": 1.}, d, d)
		},
		"product of [2 3] and [2 3]": func() (*Tensor, error) { return one("MatMul", nil, d, d) },
		"a sum of [2 2]": func() (*Tensor, error) {
			return one("Gemm", map[string]any{"transB": int64(1)}, d, d,
				tensor(Float64, []int{3, 1, 1}, 1, 2, 3))
		},
	} {
		if got, err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v: want %s …", got, err, want)
		}
	}
	version := func(v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), v)
	}
	for want, file := range map[string][]byte{
		"IR version 6":  version(6),
		"with 0 graphs": version(7),
		"field 15":      protowire.AppendVarint(protowire.AppendTag(nil, 15, protowire.VarintType), 1),
		"field 7":       protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), 1),
		"unexpected":    version(7)[:1],
		`version 14 of operators ""`: append(version(7), 7<<3|2, 0, // an empty graph
			8<<3|2, 4, 1<<3|2, 0, 2<<3, 14),
	} {
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("% x: error %v: want %s …", file, err, want)
		}
	}
}
