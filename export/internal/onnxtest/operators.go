package onnxtest

import (
	"math"
	"slices"
)

// operator is how one is evaluated.
type operator struct {
	domain      string
	least, most int // inputs
	run         func(c *call) *Tensor
}

// many is the number of inputs of an operator that takes any number of them.
const many = math.MaxInt

var operators = map[string]operator{
	"Abs":   {"", 1, 1, numeric(func(v []float64) float64 { return math.Abs(v[0]) })},
	"Add":   {"", 2, 2, numeric(func(v []float64) float64 { return v[0] + v[1] })},
	"Sub":   {"", 2, 2, numeric(func(v []float64) float64 { return v[0] - v[1] })},
	"Mul":   {"", 2, 2, numeric(func(v []float64) float64 { return v[0] * v[1] })},
	"Div":   {"", 2, 2, real(func(v []float64) float64 { return v[0] / v[1] })},
	"Exp":   {"", 1, 1, real(func(v []float64) float64 { return math.Exp(v[0]) })},
	"Pow":   {"", 2, 2, real(func(v []float64) float64 { return math.Pow(v[0], v[1]) })},
	"Round": {"", 1, 1, real(func(v []float64) float64 { return math.RoundToEven(v[0]) })},
	"Sqrt":  {"", 1, 1, real(func(v []float64) float64 { return math.Sqrt(v[0]) })},
	"Tanh":  {"", 1, 1, real(func(v []float64) float64 { return math.Tanh(v[0]) })},
	// the specification does not say what Max and Min make of NaN: its examples are by numpy, which
	// keeps it
	"Max": {"", 1, many, numeric(func(v []float64) float64 { return reduce(v, math.Max) })},
	"Min": {"", 1, many, numeric(func(v []float64) float64 { return reduce(v, math.Min) })},

	"Greater":     {"", 2, 2, compared(func(a, b float64) bool { return a > b }, Float32, Float64, Int64)},
	"Less":        {"", 2, 2, compared(func(a, b float64) bool { return a < b }, Float32, Float64, Int64)},
	"LessOrEqual": {"", 2, 2, compared(func(a, b float64) bool { return a <= b }, Float32, Float64, Int64)},
	"Equal": {"", 2, 2, compared(func(a, b float64) bool { return a == b }, Float32, Float64, Int64,
		Bool)},
	"IsNaN": {"", 1, 1, func(c *call) *Tensor {
		c.types(Float32, Float64)
		return elementwise(Bool, func(v []float64) float64 { return truth(math.IsNaN(v[0])) }, c.in...)
	}},
	"Where": {"", 3, 3, where},
	"Cast":  {"", 1, 1, cast},

	"Gemm":            {"", 2, 3, gemm},
	"MatMul":          {"", 2, 2, func(c *call) *Tensor { return multiply(c, false, false) }},
	"ReduceMax":       {"", 1, 1, reduced(math.Inf(-1), math.Max)},
	"ReduceSumSquare": {"", 1, 1, reduced(0, func(sum, v float64) float64 { return sum + v*v })},

	"Concat":    {"", 1, many, concat},
	"Gather":    {"", 2, 2, gather},
	"NonZero":   {"", 1, 1, nonZero},
	"ScatterND": {"", 3, 3, scatter},
	"Transpose": {"", 1, 1, transpose},

	"LabelEncoder": {"ai.onnx.ml", 1, 1, encode},
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func reduce(v []float64, by func(a, b float64) float64) float64 {
	out := v[0]
	for _, x := range v[1:] {
		out = by(out, x)
	}
	return out
}

// rounded returns a number as one of a type. A result of one operation in double precision, rounded
// to single precision, is that of single precision.
func (t Type) rounded(v float64) float64 {
	if t == Float32 {
		return float64(float32(v))
	}
	return v
}

// elementwise applies a function to elements of tensors, which are broadcast.
func elementwise(of Type, f func(v []float64) float64, in ...*Tensor) *Tensor {
	out := &Tensor{Type: of}
	for _, t := range in {
		out.Dims = broadcast(out.Dims, t.Dims)
	}
	out.Numbers = make([]float64, count(out.Dims))
	at, v := make([]func(int) int, len(in)), make([]float64, len(in))
	for k, t := range in {
		at[k] = t.within(out.Dims)
	}
	for i := range out.Numbers {
		for k, t := range in {
			v[k] = t.Numbers[at[k](i)]
		}
		out.Numbers[i] = of.rounded(f(v))
	}
	return out
}

// broadcast returns the dimensions of a result of tensors of these, by numpy's rule.
func broadcast(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for k, n := range b {
		switch to := &out[len(a)-len(b)+k]; {
		case *to == 1:
			*to = n
		case n != 1 && n != *to:
			refuse("dimensions %v and %v", a, b)
		}
	}
	return out
}

// within returns the place of an element of t for one of the broadcast dimensions.
func (t *Tensor) within(dims []int) func(int) int {
	if slices.Equal(t.Dims, dims) {
		return func(i int) int { return i }
	}
	if count(t.Dims) == 1 {
		return func(int) int { return 0 }
	}
	first := len(dims) - len(t.Dims)
	return func(i int) int {
		place, step := 0, 1
		for k := len(dims) - 1; k >= first; k-- {
			if n := t.Dims[k-first]; n > 1 {
				place += i % dims[k] * step
				step *= n
			}
			i /= dims[k]
		}
		return place
	}
}

// numeric is an operator of numbers of one type.
func numeric(f func(v []float64) float64) func(*call) *Tensor {
	return func(c *call) *Tensor {
		c.types(Float32, Float64, Int64)
		c.same(c.in...)
		return elementwise(c.in[0].Type, f, c.in...)
	}
}

// real is one of numbers that are not integers.
func real(f func(v []float64) float64) func(*call) *Tensor {
	return func(c *call) *Tensor {
		c.types(Float32, Float64)
		c.same(c.in...)
		return elementwise(c.in[0].Type, f, c.in...)
	}
}

func compared(f func(a, b float64) bool, types ...Type) func(*call) *Tensor {
	return func(c *call) *Tensor {
		c.types(types...)
		c.same(c.in...)
		return elementwise(Bool, func(v []float64) float64 { return truth(f(v[0], v[1])) }, c.in...)
	}
}

func where(c *call) *Tensor {
	if c.in[0].Type != Bool || c.in[1].Type == Text {
		refuse("a condition of type %d, values of type %d", c.in[0].Type, c.in[1].Type)
	}
	c.same(c.in[1:]...)
	return elementwise(c.in[1].Type, func(v []float64) float64 {
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	}, c.in...)
}

func cast(c *call) *Tensor {
	c.types(Float32, Float64, Int64, Bool)
	to := Type(must[int64](c, "to"))
	if !slices.Contains([]Type{Float32, Float64, Bool}, to) {
		refuse("type %d", to)
	}
	return elementwise(to, func(v []float64) float64 {
		if to == Bool {
			return truth(v[0] != 0)
		}
		return v[0]
	}, c.in...)
}

// multiply returns the product of two matrices, each transposed or not.
func multiply(c *call, left, right bool) *Tensor {
	c.types(Float32, Float64)
	c.same(c.in...)
	a, b := c.in[0], c.in[1]
	if len(a.Dims) != 2 || len(b.Dims) != 2 {
		refuse("dimensions %v and %v: want matrices", a.Dims, b.Dims)
	}
	if left {
		a = a.transposed()
	}
	if right {
		b = b.transposed()
	}
	if a.Dims[1] != b.Dims[0] {
		refuse("product of %v and %v", a.Dims, b.Dims)
	}
	out := &Tensor{Type: a.Type, Dims: []int{a.Dims[0], b.Dims[1]}}
	if a.Type == Float32 {
		out.Numbers = product[float32](a, b)
	} else {
		out.Numbers = product[float64](a, b)
	}
	return out
}

// product multiplies in a precision. The specification leaves the order of sums to the runtime:
// here, as in those in use, it is by blocks.
func product[T float32 | float64](a, b *Tensor) []float64 {
	const block = 16
	rows, inner, cols := a.Dims[0], a.Dims[1], b.Dims[1]
	out, right := make([]float64, rows*cols), make([]T, inner*cols)
	for i, v := range b.Numbers {
		right[i] = T(v)
	}
	sum, part := make([]T, cols), make([]T, cols)
	for i := range rows {
		clear(sum)
		for lo := 0; lo < inner; lo += block {
			clear(part)
			for k := lo; k < min(inner, lo+block); k++ {
				v := T(a.Numbers[i*inner+k])
				for j, w := range right[k*cols : (k+1)*cols] {
					part[j] += v * w
				}
			}
			for j, v := range part {
				sum[j] += v
			}
		}
		for j, v := range sum {
			out[i*cols+j] = float64(v)
		}
	}
	return out
}

// gemm returns alpha a b + beta c.
func gemm(c *call) *Tensor {
	out := multiply(c, of(c, "transA", int64(0)) != 0, of(c, "transB", int64(0)) != 0)
	if alpha := of(c, "alpha", 1.0); alpha != 1 {
		out = elementwise(out.Type, func(v []float64) float64 { return alpha * v[0] }, out)
	}
	beta := of(c, "beta", 1.0)
	if len(c.in) == 2 {
		return out
	}
	sum := elementwise(out.Type, func(v []float64) float64 { return v[0] + out.Type.rounded(beta*v[1]) },
		out, c.in[2])
	if !slices.Equal(sum.Dims, out.Dims) {
		refuse("a sum of %v and %v", out.Dims, c.in[2].Dims)
	}
	return sum
}

// reduced combines the elements along some dimensions.
func reduced(start float64, by func(a, b float64) float64) func(*call) *Tensor {
	return func(c *call) *Tensor {
		c.types(Float32, Float64, Int64)
		t := c.in[0]
		kept := slices.Clone(t.Dims)
		for _, k := range must[[]int64](c, "axes") {
			kept[axis(k, len(kept))] = 1
		}
		out := &Tensor{Type: t.Type, Dims: kept, Numbers: slices.Repeat([]float64{start}, count(kept))}
		at := out.within(t.Dims)
		for i, v := range t.Numbers {
			to := &out.Numbers[at(i)]
			*to = t.Type.rounded(by(*to, v))
		}
		if of(c, "keepdims", int64(1)) == 0 {
			out.Dims = []int{}
			for k, n := range t.Dims {
				if !slices.ContainsFunc(must[[]int64](c, "axes"), func(v int64) bool {
					return axis(v, len(t.Dims)) == k
				}) {
					out.Dims = append(out.Dims, n)
				}
			}
		}
		return out
	}
}

// concat joins tensors along a dimension.
func concat(c *call) *Tensor {
	c.same(c.in...)
	c.types(Float32, Float64, Int64, Bool)
	first := c.in[0].Dims
	k := axis(must[int64](c, "axis"), len(first))
	out := &Tensor{Type: c.in[0].Type, Dims: slices.Clone(first)}
	out.Dims[k] = 0
	for _, t := range c.in {
		like := slices.Clone(t.Dims)
		if len(like) == len(first) {
			like[k] = first[k]
		}
		if !slices.Equal(like, first) {
			refuse("dimensions %v after %v", t.Dims, first)
		}
		out.Dims[k] += t.Dims[k]
	}
	for i := range count(first[:k]) {
		for _, t := range c.in {
			size := count(t.Dims[k:])
			out.Numbers = append(out.Numbers, t.Numbers[i*size:(i+1)*size]...)
		}
	}
	return out
}

// gather chooses along a dimension by indices, whose dimensions it has there.
func gather(c *call) *Tensor {
	t, by := c.in[0], c.in[1]
	if by.Type != Int64 {
		refuse("indices of type %d", by.Type)
	}
	k := axis(of(c, "axis", int64(0)), len(t.Dims))
	out := &Tensor{Type: t.Type, Dims: slices.Concat(t.Dims[:k], by.Dims, t.Dims[k+1:])}
	size := count(t.Dims[k+1:])
	for i := range count(t.Dims[:k]) {
		for _, v := range by.Numbers {
			from := (i*t.Dims[k] + axis(int64(v), t.Dims[k])) * size
			if t.Type == Text {
				out.Texts = append(out.Texts, t.Texts[from:from+size]...)
			} else {
				out.Numbers = append(out.Numbers, t.Numbers[from:from+size]...)
			}
		}
	}
	return out
}

// nonZero returns the indices of the elements that are not 0: a row for each dimension.
func nonZero(c *call) *Tensor {
	c.types(Float32, Float64, Int64, Bool)
	t := c.in[0]
	var found []int
	for i, v := range t.Numbers {
		if v != 0 {
			found = append(found, i)
		}
	}
	out := &Tensor{Type: Int64, Dims: []int{len(t.Dims), len(found)}}
	for k, n := range t.Dims {
		for _, i := range found {
			out.Numbers = append(out.Numbers, float64(i/count(t.Dims[k+1:])%n))
		}
	}
	return out
}

// scatter replaces elements of a copy: each row of the indices is that of a slice.
func scatter(c *call) *Tensor {
	t, at, by := c.in[0], c.in[1], c.in[2]
	c.same(t, by)
	rank := len(at.Dims)
	if at.Type != Int64 || rank == 0 || t.Type == Text {
		refuse("indices of type %d and dimensions %v", at.Type, at.Dims)
	}
	depth := at.Dims[rank-1]
	if depth > len(t.Dims) || !slices.Equal(by.Dims, slices.Concat(at.Dims[:rank-1], t.Dims[depth:])) {
		refuse("%v at %v of %v", by.Dims, at.Dims, t.Dims)
	}
	out := &Tensor{Type: t.Type, Dims: t.Dims, Numbers: slices.Clone(t.Numbers)}
	size := count(t.Dims[depth:])
	for i := range count(at.Dims[:rank-1]) {
		place := 0
		for k := range depth {
			place = place*t.Dims[k] + axis(int64(at.Numbers[i*depth+k]), t.Dims[k])
		}
		copy(out.Numbers[place*size:(place+1)*size], by.Numbers[i*size:(i+1)*size])
	}
	return out
}

func transpose(c *call) *Tensor {
	c.types(Float32, Float64, Int64, Bool)
	if len(c.in[0].Dims) != 2 {
		refuse("dimensions %v: want a matrix", c.in[0].Dims)
	}
	return c.in[0].transposed()
}

// transposed returns the transpose of a matrix.
func (t *Tensor) transposed() *Tensor {
	rows, cols := t.Dims[0], t.Dims[1]
	out := &Tensor{Type: t.Type, Dims: []int{cols, rows}, Numbers: make([]float64, len(t.Numbers))}
	for i := range rows {
		for j := range cols {
			out.Numbers[j*rows+i] = t.Numbers[i*cols+j]
		}
	}
	return out
}

// encode maps texts to numbers.
func encode(c *call) *Tensor {
	c.types(Text)
	keys := must[[]string](c, "keys_strings")
	out := &Tensor{Type: Float32, Dims: c.in[0].Dims}
	var values []float64
	var otherwise float64
	if _, is := c.attributes["values_int64s"]; is {
		out.Type = Int64
		for _, v := range must[[]int64](c, "values_int64s") {
			values = append(values, float64(v))
		}
		otherwise = float64(of(c, "default_int64", int64(-1)))
	} else {
		values, otherwise = must[[]float64](c, "values_floats"), of(c, "default_float", math.Copysign(0, -1))
	}
	if len(keys) != len(values) {
		refuse("%d keys and %d values", len(keys), len(values))
	}
	codes := map[string]float64{}
	for k, key := range keys {
		if _, is := codes[key]; is {
			refuse("key %q is there twice", key)
		}
		codes[key] = values[k]
	}
	for _, text := range c.in[0].Texts {
		v, is := codes[text]
		if !is {
			v = otherwise
		}
		out.Numbers = append(out.Numbers, v)
	}
	return out
}
