// Package onnxtest evaluates the ONNX graphs that package export writes, for its tests.
//
// It follows the specification of ONNX, https://github.com/onnx/onnx/blob/main/docs, for operators
// of opset 13 and of ONNX-ML 2, and shares no code with the writer. It is strict: a field of a
// message, an operator, an attribute or a type that it does not know is an error, and so is what
// the specification leaves to the runtime.
package onnxtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Type is that of the elements of a tensor, by its number in ONNX.
type Type int64

// The types that graphs use.
const (
	Float32 Type = 1
	Int64   Type = 7
	Text    Type = 8
	Bool    Type = 9
	Float64 Type = 11
)

// Tensor is a tensor by rows. Numbers holds its elements unless they are texts: those of 32 bits as
// they are, integers up to 2^53, and 0 or 1 for booleans.
type Tensor struct {
	Type    Type
	Dims    []int
	Numbers []float64
	Texts   []string
}

// Info is an input or an output. A dimension of any length is -1.
type Info struct {
	Name string
	Type Type
	Dims []int
}

// Model is a graph with what its file says about it.
type Model struct {
	Inputs, Outputs []Info
	Metadata        map[string]string
	nodes           []node
	constants       map[string]*Tensor
	operators       map[string]int64 // versions by domain
}

type node struct {
	kind, domain    string
	inputs, outputs []string
	attributes      map[string]any // float64, int64, []float64, []int64 or []string
}

// Read parses a ModelProto of IR version 7. Its numbers of fields are those of ONNX 1.12.
func Read(file []byte) (*Model, error) {
	m := &Model{Metadata: map[string]string{}, constants: map[string]*Tensor{},
		operators: map[string]int64{}}
	var version, graphs int64
	err := parse(file, fields{
		1: integer(&version), 2: ignored, 3: ignored, 4: ignored, 5: integer(new(int64)), 6: ignored,
		7: message(func(b []byte) error { graphs++; return m.readGraph(b) }),
		8: message(func(b []byte) error {
			domain, version := "", int64(0)
			err := parse(b, fields{1: text(&domain), 2: integer(&version)})
			m.operators[domain] = version
			return err
		}),
		14: message(func(b []byte) error {
			key, value := "", ""
			err := parse(b, fields{1: text(&key), 2: text(&value)})
			m.Metadata[key] = value
			return err
		}),
	})
	switch {
	case err != nil:
		return nil, err
	case version != 7 || graphs != 1:
		return nil, fmt.Errorf("IR version %d with %d graphs: want version 7 and one graph", version, graphs)
	}
	for domain, version := range m.operators {
		if want := (map[string]int64{"": 13, "ai.onnx.ml": 2}[domain]); version != want {
			return nil, fmt.Errorf("version %d of operators %q: want %d", version, domain, want)
		}
	}
	return m, nil
}

func (m *Model) readGraph(b []byte) error {
	info := func(list *[]Info) field {
		return message(func(b []byte) error {
			one, err := readInfo(b)
			*list = append(*list, one)
			return err
		})
	}
	return parse(b, fields{
		1: message(func(b []byte) error {
			n, err := readNode(b)
			m.nodes = append(m.nodes, n)
			return err
		}),
		2: ignored, 10: ignored, 11: info(&m.Inputs), 12: info(&m.Outputs),
		5: message(func(b []byte) error {
			name, t, err := readTensor(b)
			if m.constants[name] != nil {
				return fmt.Errorf("constant %s is there twice", name)
			}
			m.constants[name] = t
			return err
		}),
	})
}

func readNode(b []byte) (n node, err error) {
	n.attributes = map[string]any{}
	return n, parse(b, fields{
		1: texts(&n.inputs), 2: texts(&n.outputs), 3: ignored, 4: text(&n.kind), 7: text(&n.domain),
		5: message(func(b []byte) error {
			name, value, err := readAttribute(b)
			if n.attributes[name] != nil {
				return fmt.Errorf("attribute %s is there twice", name)
			}
			n.attributes[name] = value
			return err
		}),
	})
}

func readAttribute(b []byte) (name string, value any, err error) {
	var kind, whole int64
	var single []float64
	var floats []float64
	var integers []int64
	var list []string
	if err = parse(b, fields{1: text(&name), 20: integer(&kind), 2: float(&single), 3: integer(&whole),
		7: float(&floats), 8: integersOf(&integers), 9: texts(&list)}); err != nil {
		return "", nil, err
	}
	switch {
	case kind == 1 && len(single) == 1:
		return name, single[0], nil
	case kind == 2:
		return name, whole, nil
	case kind == 6:
		return name, floats, nil
	case kind == 7:
		return name, integers, nil
	case kind == 8:
		return name, list, nil
	}
	return "", nil, fmt.Errorf("attribute %s of type %d", name, kind)
}

func readTensor(b []byte) (name string, t *Tensor, err error) {
	t = &Tensor{Dims: []int{}}
	var dims []int64
	var kind int64
	var raw []byte
	if err = parse(b, fields{1: integersOf(&dims), 2: integer(&kind), 8: text(&name),
		9: message(func(b []byte) error { raw = b; return nil })}); err != nil {
		return "", nil, err
	}
	t.Type = Type(kind)
	for _, d := range dims {
		t.Dims = append(t.Dims, int(d))
	}
	size := 8
	if t.Type == Float32 {
		size = 4
	}
	if len(raw) != size*count(t.Dims) {
		return "", nil, fmt.Errorf("constant %s has %d bytes: want %d of dimensions %v", name, len(raw),
			size*count(t.Dims), t.Dims)
	}
	for ; len(raw) > 0; raw = raw[size:] {
		switch t.Type {
		case Float32:
			t.Numbers = append(t.Numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		case Float64:
			t.Numbers = append(t.Numbers, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		case Int64:
			t.Numbers = append(t.Numbers, float64(int64(binary.LittleEndian.Uint64(raw))))
		default:
			return "", nil, fmt.Errorf("constant %s of type %d", name, t.Type)
		}
	}
	return name, t, nil
}

func readInfo(b []byte) (out Info, err error) {
	var kind int64
	dim := message(func(b []byte) error {
		length, name := int64(-1), ""
		err := parse(b, fields{1: integer(&length), 2: text(&name)})
		if (length < 0) != (name != "") {
			return fmt.Errorf("dimension %d with the name %q", length, name)
		}
		out.Dims = append(out.Dims, int(length))
		return err
	})
	within := func(f fields) field { return message(func(b []byte) error { return parse(b, f) }) }
	err = parse(b, fields{1: text(&out.Name), 3: ignored,
		2: within(fields{1: within(fields{1: integer(&kind), 2: within(fields{1: dim})})})})
	out.Type = Type(kind)
	return out, err
}

// fields has what reads a field, by its number.
type fields map[protowire.Number]field

// field reads one value: whole is that of an integer or of a float's bits, content that of bytes.
type field struct {
	kind protowire.Type
	read func(whole uint64, content []byte) error
}

var ignored = message(func([]byte) error { return nil })

func message(read func([]byte) error) field {
	return field{protowire.BytesType, func(_ uint64, content []byte) error { return read(content) }}
}

func text(to *string) field {
	return message(func(b []byte) error { *to = string(b); return nil })
}

func texts(to *[]string) field {
	return message(func(b []byte) error { *to = append(*to, string(b)); return nil })
}

func integer(to *int64) field {
	return field{protowire.VarintType, func(v uint64, _ []byte) error { *to = int64(v); return nil }}
}

func integersOf(to *[]int64) field {
	return field{protowire.VarintType, func(v uint64, _ []byte) error {
		*to = append(*to, int64(v))
		return nil
	}}
}

func float(to *[]float64) field {
	return field{protowire.Fixed32Type, func(v uint64, _ []byte) error {
		*to = append(*to, float64(math.Float32frombits(uint32(v))))
		return nil
	}}
}

// parse reads the fields of a message, which must be among those known.
func parse(b []byte, known fields) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		f, is := known[number]
		if !is || f.kind != kind {
			return fmt.Errorf("field %d of wire type %d is not known", number, kind)
		}
		b = b[n:]
		var whole uint64
		var content []byte
		switch kind {
		case protowire.VarintType:
			whole, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(b)
			whole = uint64(bits)
		default:
			content, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := f.read(whole, content); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Run evaluates the graph: inputs and outputs are tensors by their names.
func (m *Model) Run(inputs map[string]*Tensor) (map[string]*Tensor, error) {
	values := map[string]*Tensor{}
	for name, t := range m.constants {
		values[name] = t
	}
	for _, in := range m.Inputs {
		if err := in.check(inputs[in.Name]); err != nil {
			return nil, err
		}
		values[in.Name] = inputs[in.Name]
	}
	if len(inputs) != len(m.Inputs) {
		return nil, fmt.Errorf("%d inputs: want %d", len(inputs), len(m.Inputs))
	}
	for _, n := range m.nodes {
		if len(n.outputs) != 1 || values[n.outputs[0]] != nil {
			return nil, fmt.Errorf("%s: outputs %v: want a new one", n.kind, n.outputs)
		}
		c := call{node: n, used: map[string]bool{}}
		for _, name := range n.inputs {
			if values[name] == nil {
				return nil, fmt.Errorf("%s: input %s is not there yet", n.outputs[0], name)
			}
			c.in = append(c.in, values[name])
		}
		out, err := m.run(&c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.outputs[0], err)
		}
		values[n.outputs[0]] = out
	}
	out := map[string]*Tensor{}
	for _, o := range m.Outputs {
		if err := o.check(values[o.Name]); err != nil {
			return nil, err
		}
		out[o.Name] = values[o.Name]
	}
	return out, nil
}

// check compares a tensor with what is said about it.
func (i Info) check(t *Tensor) error {
	fits := t != nil && t.Type == i.Type && len(t.Dims) == len(i.Dims)
	for k := 0; fits && k < len(i.Dims); k++ {
		fits = i.Dims[k] < 0 || i.Dims[k] == t.Dims[k]
	}
	switch {
	case t == nil:
		return fmt.Errorf("%s is missing", i.Name)
	case !fits:
		return fmt.Errorf("%s has type %d and dimensions %v: want type %d and %v", i.Name, t.Type, t.Dims,
			i.Type, i.Dims)
	}
	return nil
}

// call is a node with the tensors that go in. Operators look at their attributes by the methods
// of call, which note them.
type call struct {
	node
	in   []*Tensor
	used map[string]bool
}

// run evaluates one node.
func (m *Model) run(c *call) (out *Tensor, err error) {
	o, is := operators[c.kind]
	switch {
	case !is || o.domain != c.domain:
		return nil, fmt.Errorf("operator %s of %q is not known", c.kind, c.domain)
	case m.operators[c.domain] == 0:
		return nil, fmt.Errorf("the graph does not name the operators %q", c.domain)
	case len(c.in) < o.least || len(c.in) > o.most:
		return nil, fmt.Errorf("%d inputs: want %d to %d", len(c.in), o.least, o.most)
	}
	defer func() {
		if v := recover(); v != nil {
			fault, is := v.(refused)
			if !is {
				panic(v)
			}
			out, err = nil, fault
		}
	}()
	out = o.run(c)
	for name := range c.attributes {
		if !c.used[name] {
			return nil, fmt.Errorf("attribute %s is not known", name)
		}
	}
	return out, nil
}

// refused is an error of an operator, by a panic that run catches.
type refused struct{ error }

func refuse(format string, a ...any) { panic(refused{fmt.Errorf(format, a...)}) }

// of returns an attribute of type T, or the default.
func of[T any](c *call, name string, otherwise T) T {
	c.used[name] = true
	v, is := c.attributes[name]
	if !is {
		return otherwise
	}
	as, is := v.(T)
	if !is {
		refuse("attribute %s is %T: want %T", name, v, otherwise)
	}
	return as
}

// must returns an attribute that has no default.
func must[T any](c *call, name string) T {
	var zero T
	if _, is := c.attributes[name]; !is {
		refuse("attribute %s is missing", name)
	}
	return of(c, name, zero)
}

// types refuses inputs of other types than these.
func (c *call) types(list ...Type) {
	for _, t := range c.in {
		if !slices.Contains(list, t.Type) {
			refuse("type %d: want one of %v", t.Type, list)
		}
	}
}

// same refuses inputs of different types.
func (c *call) same(in ...*Tensor) {
	for _, t := range in {
		if t.Type != in[0].Type {
			refuse("types %d and %d: want the same", in[0].Type, t.Type)
		}
	}
}

// axis returns a dimension's number, which may be counted from the end.
func axis(v int64, rank int) int {
	if v < 0 {
		v += int64(rank)
	}
	if v < 0 || v >= int64(rank) {
		refuse("axis %d of %d dimensions", v, rank)
	}
	return int(v)
}
