package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzParameters: any kernel and any parameters of any method are a learner of that method, or an
// error of the input. Parameters are lines of name=value; a value that begins with @ names a file
// of the bytes that come last.
func FuzzParameters(f *testing.F) {
	methods := catalog.Methods()
	for k, m := range methods {
		var lines []string
		for _, p := range m.Parameters {
			lines = append(lines, p.Name+"="+p.Default)
		}
		f.Add(byte(k), m.DefaultKernel, strings.Join(lines, "\n"), []byte("1\n2\n"))
		values := []string{"0", "-1", "1e400", "NaN", "@file", "", "18446744073709551616", "p101", "eps:0"}
		for i, p := range m.Parameters {
			f.Add(byte(k), "", p.Name+"="+values[(i+k)%len(values)], []byte("a,b\n1,0.5\n0.5,1\n"))
		}
	}
	file := filepath.Join(f.TempDir(), "file.csv")
	f.Fuzz(func(t *testing.T, number byte, kernel, text string, content []byte) {
		m := methods[int(number)%len(methods)]
		c := catalog.Config{Kernel: kernel, Params: map[string]string{}}
		for line := range strings.SplitSeq(text, "\n") {
			name, value, ok := strings.Cut(line, "=")
			if !ok {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(value), "@") {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
				value = "@" + file
			}
			c.Params[name] = value
		}
		learner, err := m.New(c)
		switch {
		case err != nil && !fault.IsInput(err):
			t.Errorf("%s, kernel %q, %q: error %v is not of the input", m.Name, kernel, c.Params, err)
		case err == nil && (learner == nil || learner.Method() != m.Name):
			t.Errorf("%s, kernel %q, %q: learner %v", m.Name, kernel, c.Params, learner)
		}
	})
}

// FuzzTensors is [FuzzLoad] behind the checksums: a sound file of a model of every method, with
// tensors that are changed, exchanged, resized or missing and numbers in its header that are
// others, is an error of the input, or a model that can be used.
func FuzzTensors(f *testing.F) {
	var files [][]byte
	for k, m := range catalogtest.Methods() {
		files = append(files, fileOf(f, m))
		for op := range 8 {
			f.Add([]byte{byte(k), 0, byte(op), byte(3 * op), byte(op), 2, 1, byte(k)})
		}
	}
	eng, err := engine.New(engine.Options{Workers: 1, MemoryLimit: 1 << 28})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		b := asmtest.NewBytes(input)
		data := files[b.Below(len(files))]
		file, err := model.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + b.Below(3) {
			change(b, file)
		}
		fitted, err := catalog.Decode(file)
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("error %v is not of the input", err)
			}
			return
		}
		usable(t, eng, b, fitted.Model)
	})
}

// change does one thing to a file that leaves it a sound container.
func change(b *asmtest.Bytes, file *model.File) {
	op := b.Below(8)
	names := slices.Sorted(maps.Keys(file.Tensors))
	if len(names) == 0 {
		return
	}
	name := names[b.Below(len(names))]
	tensor := file.Tensors[name]
	switch at := b.Below(max(1, min(tensor.Len(), 1<<16))); op {
	case 0, 1: // an element
		switch {
		case tensor.Len() == 0:
		case tensor.F64 != nil:
			tensor.F64[at] = b.Special()
		case tensor.I64 != nil:
			tensor.I64[at] = []int64{0, -1, 1, int64(at), math.MaxInt64, math.MinInt64, 1 << 32, 30,
				12}[b.Below(9)]
		case tensor.U8 != nil:
			tensor.U8[at] = b.Next()
		}
	case 2: // a size
		resize(b, &tensor)
		file.Tensors[name] = tensor
	case 3:
		delete(file.Tensors, name)
	case 4:
		file.Tensors[names[b.Below(len(names))]] = tensor
	case 5: // a type
		file.SetInt64s(name, make([]int64, tensor.Len()), tensor.Shape...)
	case 6: // a number of the header
		for _, text := range []*json.RawMessage{&file.Header.Params, &file.Header.Status} {
			if b.Coin() {
				*text = otherNumber(b, *text)
			}
		}
		for key, text := range file.Header.Extra {
			file.Header.Extra[key] = otherNumber(b, text)
		}
	case 7:
		switch methods := catalog.Methods(); b.Below(3) {
		case 0:
			file.Header.Method = methods[b.Below(len(methods))].Name
		case 1:
			file.Header.Kernel = []string{"", "linear", "rbf:sigma=1e-150", "poly:degree=100", "cosine",
				"spectrum:k=3", "rbf:mean", "rbf:sigma=1@cosine"}[b.Below(8)]
		case 2:
			for i := range tensor.F64 {
				tensor.F64[i] *= []float64{0, -1, 1e-300, 1e300}[op%4]
			}
		}
	}
}

// resize gives one dimension of a tensor another length, and the values that fit.
func resize(b *asmtest.Bytes, t *model.Tensor) {
	t.Shape = slices.Clone(t.Shape)
	if len(t.Shape) == 0 {
		return
	}
	d := b.Below(len(t.Shape))
	t.Shape[d] = max(0, t.Shape[d]+[]int{1, -1, 2, -1 << 20}[b.Below(4)])
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	if t.F64 != nil {
		t.F64 = sized(t.F64, n)
	}
	if t.F32 != nil {
		t.F32 = sized(t.F32, n)
	}
	if t.I64 != nil {
		t.I64 = sized(t.I64, n)
	}
	if t.U8 != nil {
		t.U8 = sized(t.U8, n)
	}
}

func sized[T any](v []T, n int) []T {
	out := make([]T, n)
	copy(out, v)
	return out
}

// otherNumber replaces one of the numbers in a JSON text.
func otherNumber(b *asmtest.Bytes, text json.RawMessage) json.RawMessage {
	digit := func(c byte) bool { return c >= '0' && c <= '9' || c == '-' || c == '.' }
	var starts []int
	for i := range text {
		if digit(text[i]) && (i == 0 || !digit(text[i-1])) {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		return text
	}
	lo := starts[b.Below(len(starts))]
	hi := lo
	for hi < len(text) && digit(text[hi]) {
		hi++
	}
	other := []string{"0", "-1", "1", "2", "7", "30", "1e300", "-1e300", "1e-320", "2147483647",
		"9223372036854775807", "1.5", "null", `"x"`, "[]", "{}"}[b.Below(16)]
	out := slices.Concat(text[:lo], []byte(other), text[hi:])
	if !json.Valid(out) {
		return text
	}
	return out
}

// usable: whatever a model does with two points is a result or an error of the input.
func usable(t *testing.T, eng *engine.Engine, b *asmtest.Bytes, m algorithms.Model) {
	t.Helper()
	in, ok := m.(algorithms.Inputs)
	if !ok || in.InputDim() < 1 || in.InputDim() > 1000 {
		return
	}
	x := &points.Dense{N: 2, D: in.InputDim(), Data: b.Tames(2 * in.InputDim())}
	ctx := context.Background()
	y, err := m.Embed(ctx, eng, x)
	if err == nil && (y.Rows != 2 || y.Cols != m.Dim()) {
		t.Errorf("%s: %d x %d places in %d dimensions", m.Method(), y.Rows, y.Cols, m.Dim())
	}
	if i := slices.IndexFunc(y.Data, func(v float64) bool { return v-v != 0 }); err == nil && i >= 0 {
		t.Errorf("%s: element %d of the places is %v", m.Method(), i, y.Data[i])
	}
	_, err2 := m.Gram(ctx, eng, x, nil)
	_, err3 := m.Distances(ctx, eng, x, [][2]int{{0, 1}, {1, 1}})
	for _, err := range []error{err, err2, err3} {
		if err != nil && !fault.IsInput(err) {
			t.Errorf("%s: error %v is not of the input", m.Method(), err)
		}
	}
}
