package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/failtest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample returns a file with each type, odd lengths, an empty tensor, a single number, special
// values, and text that JSON has to escape.
func sample() *File {
	f := &File{Header: Header{
		Method:         "krca",
		Params:         json.RawMessage(`{"eps":0.001,"name":"a<b>&\"c\""}`),
		Kernel:         "rbf:sigma=1.5",
		Features:       []string{"length", "Breite in µm", `quote "q"`},
		LibraryVersion: "0.1.0",
		Fingerprint:    strings.Repeat("0f", 32),
		Build:          "native, generic",
		Status:         json.RawMessage(`{"converged":true}`),
		Extra:          map[string]json.RawMessage{"note": json.RawMessage(`[1,2.50,"x"]`)},
	}}
	f.SetFloat64s("scaling.mean", []float64{0.1, -2.5e300, 5e-324})
	f.SetFloat64s("basis", []float64{1, 2, 3, math.Copysign(0, -1), math.Inf(1), math.Pi}, 2, 3)
	f.SetFloat32s("short", []float32{1.5, -2, 3e38})
	f.SetFloat32s("another", []float32{0.25}, 1, 1)
	f.SetInt64s("rows", []int64{0, -1, math.MaxInt64, math.MinInt64})
	f.SetInt64s("none", nil, 0, 3)
	f.Tensors["number"] = Tensor{Shape: []int{}, F64: []float64{42}}
	return f
}

func minimal() *File { return &File{Header: Header{Method: "none"}} }

func encodeFile(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := f.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatalf("WriteTo reports %d bytes and wrote %d", n, b.Len())
	}
	return b.Bytes()
}

func read(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestGolden(t *testing.T) {
	for name, f := range map[string]*File{"v1-sample": sample(), "v1-minimal": minimal()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".safetensors")
			if *update {
				if err := f.WriteFile(path); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encodeFile(t, f), golden) {
				t.Error("the bytes written differ from the golden file: a change of the format needs a new " +
					"version")
			}
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f.Header.FormatVersion = 1
			if f.Tensors == nil {
				f.Tensors = map[string]Tensor{}
			}
			if d := difftest.Diff(f, got); d != "" {
				t.Errorf("content: %s", d)
			}
			if !bytes.Equal(encodeFile(t, got), golden) {
				t.Error("reading and writing changed the bytes")
			}
		})
	}
}

// The layout is valid for other readers of safetensors, checked with separate code.
func TestLayout(t *testing.T) {
	b := encodeFile(t, sample())
	h := int64(binary.LittleEndian.Uint64(b))
	if h%8 != 0 || b[8] != '{' {
		t.Fatalf("header of %d bytes begins with %q: want a multiple of 8 and {", h, b[8])
	}
	var entries map[string]struct {
		Dtype        string   `json:"dtype"`
		Shape        []int    `json:"shape"`
		Offsets      [2]int64 `json:"data_offsets"`
		MetadataOnly string   `json:"mustlink"`
	}
	if err := json.Unmarshal(b[8:8+h], &entries); err != nil {
		t.Fatal(err)
	}
	delete(entries, metadataName)
	if len(entries) != 7 {
		t.Fatalf("%d tensors, want 7", len(entries))
	}
	covered := int64(0)
	for name, e := range entries {
		size := int64(8)
		if e.Dtype == "F32" {
			size = 4
		}
		n := int64(1)
		for _, s := range e.Shape {
			n *= int64(s)
		}
		if e.Offsets[1]-e.Offsets[0] != n*size || e.Offsets[0]%size != 0 {
			t.Errorf("%s: offsets %v do not fit %v of %s", name, e.Offsets, e.Shape, e.Dtype)
		}
		covered += n * size
	}
	if got := int64(len(b)) - 8 - h; got != covered {
		t.Errorf("data section has %d bytes, the tensors %d", got, covered)
	}
	at := 8 + h + entries["basis"].Offsets[0] + 5*8
	if got := math.Float64frombits(binary.LittleEndian.Uint64(b[at:])); got != math.Pi {
		t.Errorf("last element of basis is %v, want pi", got)
	}
}

// For any content, write, read, write gives equal content and equal bytes.
func TestRoundTrip(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		f := minimal()
		f.Header.FormatVersion = 1
		f.Header.Method = rapid.String().Draw(rt, "method")
		f.Header.Features = rapid.SliceOfN(rapid.String(), 1, 3).Draw(rt, "features")
		f.Tensors = map[string]Tensor{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 5, -1), 0, 5, rapid.ID[string]).Draw(rt,
			"names") {
			shape := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 3).Draw(rt, "shape")
			n, _ := elements(shape)
			switch rapid.IntRange(0, 3).Draw(rt, "type") {
			case 0:
				f.SetFloat64s(name, rapid.SliceOfN(rapid.Float64(), n, n).Draw(rt, "f64"), shape...)
			case 1:
				f.SetFloat32s(name, rapid.SliceOfN(rapid.Float32(), n, n).Draw(rt, "f32"), shape...)
			case 2:
				f.SetInt64s(name, rapid.SliceOfN(rapid.Int64(), n, n).Draw(rt, "i64"), shape...)
			case 3:
				f.SetBytes(name, rapid.SliceOfN(rapid.Byte(), n, n).Draw(rt, "u8"), shape...)
			}
		}
		var b, again bytes.Buffer
		if _, err := f.WriteTo(&b); err != nil {
			rt.Fatal(err)
		}
		got, err := read(b.Bytes())
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(f, got) {
			rt.Fatal(difftest.Diff(f, got))
		}
		if _, err := got.WriteTo(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			rt.Fatalf("second writing differs (%v)", err)
		}
	})
}

func TestEveryTruncationIsAnError(t *testing.T) {
	b := encodeFile(t, sample())
	for n := range b {
		_, err := read(b[:n])
		if !fault.IsInput(err) {
			t.Fatalf("first %d of %d bytes: error %v, want an input error", n, len(b), err)
		}
		if n > 8 && !errors.Is(err, ErrTruncated) {
			t.Fatalf("first %d of %d bytes: error %v, want ErrTruncated", n, len(b), err)
		}
	}
	if _, err := read(append(b, 0)); !errors.Is(err, ErrCorrupted) {
		t.Errorf("one byte too many: error %v, want ErrCorrupted", err)
	}
}

// Every flipped bit that changes the content must be detected. Three bits of each byte are tried,
// including the one that turns upper case into lower case. (A changed name of the header's own
// checksum is accepted, as unknown keys are.)
func TestEveryFlippedBitIsFound(t *testing.T) {
	want, b := sample(), encodeFile(t, sample())
	want.Header.FormatVersion = 1
	for i := range b {
		for _, bit := range []int{0, 5, i % 8} {
			b[i] ^= 1 << bit
			got, err := read(b)
			b[i] ^= 1 << bit
			if err != nil && !fault.IsInput(err) {
				t.Fatalf("byte %d, bit %d: error %v is not an input error", i, bit, err)
			}
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("byte %d, bit %d: not detected\n%s", i, bit, difftest.Diff(want, got))
			}
		}
	}
}

// pack returns a file of the given header text and data, without checksums.
func pack(header string, data ...byte) []byte {
	for len(header)%8 != 0 {
		header += " "
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// ours is like pack, with the metadata of a model file.
func ours(tensors string, data ...byte) []byte {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // sha256 of nothing
	return pack(fmt.Sprintf(`{"__metadata__":{"mustlink":"{\"format_version\":1}","sha256":"%s"}%s}`, empty,
		tensors), data...)
}

// manyMembers returns JSON with more members than allowed.
func manyMembers() string {
	var b strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&b, `"t%d":{},`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestHostileFiles(t *testing.T) {
	eight := make([]byte, 8)
	tensor := func(name, dtype, shape, offsets string) string {
		return fmt.Sprintf(`,%q:{"dtype":%q,"shape":%s,"data_offsets":%s}`, name, dtype, shape, offsets)
	}
	cases := []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"empty", nil, ErrForeign, "0 bytes"},
		{"text", []byte("x,y,label\n1,2,a\n"), ErrForeign, "safetensors"},
		{"zeros", make([]byte, 64), ErrForeign, "safetensors"},
		{"header of 2^63 bytes", append(binary.LittleEndian.AppendUint64(nil, 1<<63), '{'), ErrForeign,
			"at most"},
		{"header of 1 GiB", append(binary.LittleEndian.AppendUint64(nil, 1<<30), '{'), ErrForeign, "at most"},
		{"header longer than the file", append(binary.LittleEndian.AppendUint64(nil, 4096), '{'),
			ErrTruncated, "4096"},
		{"foreign safetensors",
			pack(`{"__metadata__":{"format":"pt"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`,
				eight...), ErrForeign, "mustlink"},
		{"no metadata", pack(`{}`), ErrForeign, "mustlink"},
		{"not JSON", pack(`{"__metadata__"`), ErrCorrupted, "header"},
		{"text after the object", pack(`{} x`), ErrCorrupted, "spaces"},
		{"newer version", pack(`{"__metadata__":{"mustlink":"{\"format_version\":7}"},"w":{"dtype":"Q4"}}`),
			ErrVersion, "version 7: want version 1"},
		{"version 0", pack(`{"__metadata__":{"mustlink":"{}"}}`), ErrCorrupted, "version is 0"},
		{"version of a wrong type", pack(`{"__metadata__":{"mustlink":"{\"format_version\":\"1\"}"}}`),
			ErrCorrupted, "mustlink"},
		{"metadata that is no text", pack(`{"__metadata__":{"mustlink":7}}`), ErrCorrupted, "text"},
		{"empty but valid", ours(""), nil, ""},
		{"many members", pack("{" + manyMembers() + "}"), ErrCorrupted, "more than 16384 members"},
		{"duplicate name", ours(tensor("a", "F64", "[0]", "[0,0]") + tensor("a", "F64", "[0]", "[0,0]")),
			ErrCorrupted, "twice"},
		{"duplicate member", ours(`,"a":{"dtype":"F64","dtype":"I64","shape":[0],"data_offsets":[0,0]}`),
			ErrCorrupted, "twice"},
		{"unknown member", ours(`,"a":{"dtype":"F64","shape":[0],"data_offsets":[0,0],"x":1}`), ErrCorrupted,
			"unknown"},
		{"missing member", ours(`,"a":{"dtype":"F64","data_offsets":[0,0]}`), ErrCorrupted, "want dtype"},
		{"unknown type", ours(tensor("a", "BF16", "[4]", "[0,8]"), eight...), ErrCorrupted, "BF16"},
		{"gap", ours(tensor("a", "F64", "[0]", "[8,8]"), eight...), ErrCorrupted, "gap"},
		{"overlap", ours(tensor("a", "F64", "[1]", "[0,8]")+tensor("b", "I64", "[1]", "[0,8]"), eight...),
			ErrCorrupted, "overlap"},
		{"bytes after the end", ours("", eight...), ErrCorrupted, "follow"},
		{"too short", ours(tensor("a", "F64", "[2]", "[0,16]"), eight...), ErrTruncated, "16 bytes"},
		{"offsets against the shape", ours(tensor("a", "F64", "[2]", "[0,8]"), eight...), ErrCorrupted,
			"do not fit"},
		{"negative size", ours(tensor("a", "F64", "[-1]", "[0,8]"), eight...), ErrCorrupted, "negative"},
		{"product overflows to 0", ours(tensor("a", "F64", "[4294967296,4294967296]", "[0,0]")), ErrCorrupted,
			"too large"},
		{"bytes overflow to 0", ours(tensor("a", "F64", "[2305843009213693952]", "[0,0]")), ErrCorrupted,
			"do not fit"},
		{"huge with a zero", ours(tensor("a", "F64", "[9223372036854775807,9223372036854775807,0]", "[0,0]")),
			ErrCorrupted, "too large"},
		{"offsets backwards", ours(tensor("a", "F64", "[1]", "[8,0]"), eight...), ErrCorrupted, "offsets"},
		{"negative offsets", ours(tensor("a", "F64", "[1]", "[-8,0]"), eight...), ErrCorrupted, "offsets"},
		{"too many dimensions", ours(tensor("a", "F64", "[1,1,1,1,1,1,1,1,1]", "[0,8]"), eight...),
			ErrCorrupted, "dimensions"},
		{"not aligned", ours(tensor("a", "F32", "[1]", "[0,4]")+tensor("b", "F64", "[1]", "[4,12]"),
			make([]byte, 12)...), ErrCorrupted, "multiple of 8"},
		{"wrong checksum", ours(tensor("a", "F64", "[1]", "[0,8]"), eight...), ErrCorrupted, "checksum"},
		{"a number with a fraction", ours(tensor("a", "F64", "[0.5]", "[0,0]")), ErrCorrupted, `tensor "a"`},
		{"deep nesting", pack(`{"a":` + strings.Repeat("[", 100000)), ErrCorrupted, "header"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.file)
			if c.want == nil {
				if err != nil {
					t.Fatalf("error %v, want none", err)
				}
				return
			}
			if !errors.Is(err, c.want) || !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want an input error wrapping %q with %q", err, c.want, c.text)
			}
		})
	}
}

// Memory for a claimed tensor size must not be allocated before the file is known to contain the
// tensor.
func TestNoAllocationBeyondTheFile(t *testing.T) {
	b := ours(`,"a":{"dtype":"F64","shape":[1000000000],"data_offsets":[0,8000000000]}`, make([]byte, 80)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(b)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTruncated) {
		t.Errorf("error %v, want ErrTruncated", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", used, len(b))
	}
}

// A header may be as long as the limit.
func TestLongestHeader(t *testing.T) {
	header := ours("")[8:]
	for over, want := range map[int]error{0: nil, 8: ErrForeign} {
		b := pack(string(header) + strings.Repeat(" ", maxHeader+over-len(header)))
		if _, err := read(b); !errors.Is(err, want) {
			t.Errorf("a header of %d bytes: error %v, want %v", len(b)-8, err, want)
		}
	}
}

// Writing takes little memory besides the tensors, and reading that of the tensors and little more.
func TestMemoryOfTensors(t *testing.T) {
	const n, little = 200000, 200 << 10
	f := minimal()
	f.SetFloat64s("a", make([]float64, n))
	allocated := func(work func()) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	b := encodeFile(t, f)
	if used := allocated(func() { _, _ = f.WriteTo(io.Discard) }); used > little {
		t.Errorf("writing takes %d bytes", used)
	}
	if used := allocated(func() { _, _ = read(b) }); used > 8*n+little {
		t.Errorf("reading %d bytes takes %d", 8*n, used)
	}
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut")
	b := encodeFile(t, sample())
	if err := os.WriteFile(cut, b[:len(b)-3], 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "absent"): fs.ErrNotExist,
		dir:                          nil,
		cut:                          ErrTruncated,
	} {
		_, err := ReadFile(path)
		var de *fault.DataError
		if !errors.As(err, &de) || de.File != path || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error %v, want a DataError with that file wrapping %v", path, err, want)
		}
	}
	absent := filepath.Join(dir, "no", "model")
	if err := sample().WriteFile(absent); !errors.Is(err, fs.ErrNotExist) || !fault.IsInput(err) {
		t.Errorf("writing into a missing folder: error %v", err)
	}
}

func TestWriteRefusesWhatCannotBeRead(t *testing.T) {
	cases := map[string]func(f *File){
		"shape against data": func(f *File) { f.SetFloat64s("a", []float64{1, 2}, 3) },
		"negative shape":     func(f *File) { f.SetFloat64s("a", nil, -1) },
		"no data":            func(f *File) { f.Tensors = map[string]Tensor{"a": {Shape: []int{0}}} },
		"two slices": func(f *File) {
			f.Tensors = map[string]Tensor{"a": {Shape: []int{0}, F64: []float64{}, I64: []int64{}}}
		},
		"empty name":           func(f *File) { f.SetFloat64s("", nil) },
		"name of metadata":     func(f *File) { f.SetFloat64s(metadataName, nil) },
		"name that is no text": func(f *File) { f.SetFloat64s("\xff", nil) },
		"nine dimensions":      func(f *File) { f.SetFloat64s("a", []float64{1}, 1, 1, 1, 1, 1, 1, 1, 1, 1) },
		"other version":        func(f *File) { f.Header.FormatVersion = 2 },
		"bad JSON":             func(f *File) { f.Header.Params = json.RawMessage("{") },
		"too many tensors": func(f *File) {
			for i := range maxMembers {
				f.SetBytes(strconv.Itoa(i), nil)
			}
		},
		"header too long": func(f *File) { f.Header.Kernel = strings.Repeat("x", maxHeader) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			f := minimal()
			change(f)
			var b bytes.Buffer
			if _, err := f.WriteTo(&b); err == nil {
				t.Error("no error")
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written before the error", b.Len())
			}
		})
	}
}

func TestGetters(t *testing.T) {
	f := sample()
	if v, err := f.Float64s("basis", 2, -1); err != nil || len(v) != 6 {
		t.Errorf("basis: %d values, %v", len(v), err)
	}
	if v, err := f.Float64s("number", []int{}...); err == nil {
		t.Errorf("a single number passed as a vector: %v", v)
	}
	if v, err := f.Int64s("rows"); err != nil || v[1] != -1 {
		t.Errorf("rows: %v, %v", v, err)
	}
	if v, err := f.Float32s("short", 3); err != nil || v[0] != 1.5 {
		t.Errorf("short: %v, %v", v, err)
	}
	if d, err := f.Dims("basis", 2); err != nil || !reflect.DeepEqual(d, []int{2, 3}) {
		t.Errorf("Dims: %v, %v", d, err)
	}
	if !f.Has("basis") || f.Has("absent") {
		t.Error("Has is wrong")
	}
	_, e1 := f.Float64s("absent")
	_, e2 := f.Float64s("rows")
	_, e3 := f.Float64s("basis", 3, 2)
	_, e4 := f.Float64s("basis")
	_, e5 := f.Dims("basis", 1)
	_, e6 := f.Dims("absent", 1)
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if !fault.IsInput(err) {
			t.Errorf("case %d: error %v, want an input error", i+1, err)
		}
	}
}

// A file that can be read can be written to the same content.
func FuzzRead(f *testing.F) {
	f.Add(encodeFile(f, sample()))
	f.Add(encodeFile(f, minimal()))
	f.Add(ours(`,"a":{"dtype":"F64","shape":[1000000000],"data_offsets":[0,8000000000]}`))
	f.Add(pack(`{"__metadata__":{"format":"pt"}}`))
	f.Add([]byte("label\na\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		again, err := read(encodeFile(t, got))
		if err != nil {
			t.Fatal(err)
		}
		// NaN is not equal to itself, so compare the written bytes instead.
		if !bytes.Equal(encodeFile(t, got), encodeFile(t, again)) {
			t.Fatal("the content changed by writing and reading")
		}
	})
}

// TestNarrowed: a file of single precision survives writing and reading, is about half as large,
// and returns its numbers in double precision with rounding errors only; other tensors are
// unchanged.
func TestNarrowed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 5000)
	for i := range values {
		values[i] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(60)-30))
	}
	f := minimal()
	f.SetFloat64s("values", values, 100, 50)
	f.SetInt64s("rows", []int64{math.MaxInt64})
	f.SetFloat32s("short", []float32{1.5})
	narrow, err := f.Narrowed()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.Float32s("values", 100, 50); err != nil {
		t.Error(err)
	}
	whole, half := encodeFile(t, f), encodeFile(t, narrow)
	if ratio := float64(len(half)) / float64(len(whole)); ratio > 0.52 {
		t.Errorf("%.2f of the bytes: want half", ratio)
	}
	back, err := Read(bytes.NewReader(half), int64(len(half)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Float64s("values", 100, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if math.Abs(got[i]-v) > 0x1p-24*math.Abs(v) {
			t.Errorf("element %d is %v: want %v", i, got[i], v)
		}
	}
	if rows, err := back.Int64s("rows", 1); err != nil || rows[0] != math.MaxInt64 {
		t.Errorf("rows are %v, %v: want those of the file", rows, err)
	}
	if f.Header.Precision != "" || f.Tensors["values"].F64 == nil {
		t.Error("the file itself was changed")
	}
	if _, err := back.Float64s("values", 50, -1); !fault.IsInput(err) {
		t.Errorf("another shape: %v", err)
	}
	back.Header.Precision = ""
	if again, err := back.Float64s("values", -1, -1); err != nil || !slices.Equal(again, got) {
		t.Errorf("a tensor of single precision in a file of double precision: %v", err)
	}
	f.SetFloat64s("large", []float64{0, -1e39})
	if _, err := f.Narrowed(); !fault.IsInput(err) {
		t.Errorf("a number beyond float32: %v", err)
	}
}

// TestShrink: a large tensor of numbers of single precision takes half the bytes, and has the same
// bits when it is read; one with a single other number stays as it is.
func TestShrink(t *testing.T) {
	f, short := minimal(), make([]float64, shrunk)
	for i := range short {
		short[i] = float64(float32(i) / 7)
	}
	short[1], short[2], short[3] = math.Copysign(0, -1), math.MaxFloat32, math.SmallestNonzeroFloat32
	for k, other := range []float64{1. / 3, math.NaN()} {
		long := slices.Clone(short)
		long[7] = other
		f.SetFloat64s(fmt.Sprint(k), long)
	}
	f.SetFloat64s("short", short, shrunk/8, 8)
	f.Shrink()
	for k := range 2 {
		if f.Tensors[fmt.Sprint(k)].F64 == nil {
			t.Errorf("tensor %d has become single precision", k)
		}
	}
	if f.Tensors["short"].F32 == nil {
		t.Error("the tensor of short numbers takes 8 bytes a number")
	}
	got, err := f.Float64s("short", -1, 8)
	if err != nil || !slices.EqualFunc(got, short, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b)
	}) {
		t.Errorf("short numbers have changed (%v)", err)
	}
}

// TestDescriptionIsRequired: a file of version 1 may lack the checksum of its header, as the first
// ones did; not one that lists its tensors, nor one of a later version.
func TestDescriptionIsRequired(t *testing.T) {
	without := map[string]string{keyHeader: "{}"}
	for _, c := range []struct {
		header Header
		may    bool
	}{
		{Header{FormatVersion: 1}, true},
		{Header{FormatVersion: 1, Tensors: []string{"x"}}, false},
		{Header{FormatVersion: 2}, false},
	} {
		if err := checkDescription(c.header, without, nil); (err == nil) != c.may {
			t.Errorf("version %d, tensors %q: error %v", c.header.FormatVersion, c.header.Tensors, err)
		}
		with := map[string]string{keyHeader: "{}", keyDescribing: checksum("{}", nil)}
		if err := checkDescription(c.header, with, nil); err != nil {
			t.Errorf("version %d with its checksum: %v", c.header.FormatVersion, err)
		}
	}
}

// FuzzHeader is [FuzzRead] with valid checksums: the input is the text of the header, the
// descriptions of the tensors, and the data, in a valid container. Reading takes memory in
// proportion to the file, whatever it claims, and the result can be written to the same content.
func FuzzHeader(f *testing.F) {
	f.Add(`{"format_version":1,"method":"krca"}`, `"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}`,
		make([]byte, 8))
	f.Add(`{"format_version":1,"params":{"eps":1},"features":["x"],"extra":{"krca":[1,2]}}`,
		`"a":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},"b":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"c":{"dtype":"U8","shape":[0,3],"data_offsets":[16,16]}`, make([]byte, 16))
	f.Add(`{"format_version":1}`, `"a":{"dtype":"F64","shape":[1000000000],"data_offsets":[0,8000000000]}`,
		[]byte{})
	f.Add(`{"format_version":1}`, `"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}`,
		[]byte{})
	f.Add(`{"format_version":2}`, "", []byte{})
	f.Add(`{"format_version":1,"status":null,"params":[[[[]]]]}`,
		`"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}`, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, text, tensors string, data []byte) {
		meta, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		header := fmt.Sprintf(`{"__metadata__":{"mustlink":%s,"sha256":"%s"}`, meta,
			hex.EncodeToString(sum[:]))
		if tensors != "" {
			header += "," + tensors
		}
		b := pack(header+"}", data...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := read(b)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20+200*uint64(len(b)) {
			t.Fatalf("%d bytes allocated for a file of %d", used, len(b))
		}
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		for name, tensor := range got.Tensors {
			if n, err := elements(tensor.Shape); err != nil || n != tensor.Len() || tensor.DType() == "" {
				t.Fatalf("tensor %q of shape %v has %d values of type %q", name, tensor.Shape, tensor.Len(),
					tensor.DType())
			}
		}
		written := encodeFile(t, got)
		again, err := read(written)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, encodeFile(t, again)) {
			t.Fatal("the content changed by writing and reading")
		}
	})
}

// TestFailingFile: the error of a writer and of a file comes through, at each of their calls.
func TestFailingFile(t *testing.T) {
	failtest.Writes(t, "write", func(w io.Writer) error {
		_, err := sample().WriteTo(w)
		return err
	})
	var b bytes.Buffer
	if _, err := sample().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	failtest.ReadsAt(t, "read", bytes.NewReader(b.Bytes()), func(r io.ReaderAt) error {
		_, err := Read(r, int64(b.Len()))
		return err
	})
}

// TestElements: the number of elements is the product of the sizes, all of which must be valid,
// also those behind a zero.
func TestElements(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int // or -1 for an error
	}{{nil, 1}, {[]int{3}, 3}, {[]int{2, 0, 5}, 0}, {[]int{2, 3, 5}, 30}, {[]int{0, -1}, -1},
		{[]int{-2, 4}, -1},
		{[]int{math.MaxInt, 1}, math.MaxInt},
		{[]int{math.MaxInt/2 + 1, 2}, -1}, {[]int{0, 1 << 40, 1 << 40}, -1}} {
		if n, err := elements(c.shape); n != max(c.want, 0) || (err != nil) != (c.want < 0) {
			t.Errorf("%v: %d elements, error %v", c.shape, n, err)
		}
	}
}
