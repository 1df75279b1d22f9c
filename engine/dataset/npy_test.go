package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// npyHead makes magic, version and header of a .npy file.
func npyHead(major byte, dict string) []byte {
	b := append([]byte(npyMagic), major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	return append(b, dict...)
}

// npyFile makes a version 1 file of the values, in the given order, cast to descr.
func npyFile(descr string, fortran bool, shape string, values []float64) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	return append(npyHead(1,
		fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)),
		npyValues(descr, values)...)
}

func npyValues(descr string, values []float64) []byte {
	var b []byte
	for _, v := range values {
		at := len(b)
		switch descr[1:] {
		case "f8":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case "f4":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "f2":
			b = binary.LittleEndian.AppendUint16(b, halfBits(v))
		case "i8", "u8":
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		case "i4", "u4":
			b = binary.LittleEndian.AppendUint32(b, uint32(int64(v)))
		case "i2", "u2":
			b = binary.LittleEndian.AppendUint16(b, uint16(int64(v)))
		default:
			b = append(b, byte(int64(v)))
		}
		if descr[0] == '>' {
			slices.Reverse(b[at:])
		}
	}
	return b
}

// halfBits returns the float16 with a value, found among all.
func halfBits(v float64) uint16 {
	for bits := range 1 << 16 {
		exponent, fraction := bits>>10&31, float64(bits&1023)
		size := math.Ldexp(1024+fraction, exponent-25)
		if exponent == 0 {
			size = math.Ldexp(fraction, -24)
		}
		if exponent < 31 && (bits < 1<<15 && size == v || bits >= 1<<15 && -size == v) {
			return uint16(bits)
		}
	}
	panic("no float16")
}

// Every type that has the values gives them, in both orders of bytes, whole and in blocks.
func TestNPYTypes(t *testing.T) {
	for _, c := range []struct {
		kinds  string
		values []float64
	}{
		{"f8 f4 f2", []float64{0, 1, -2, 0.5, 65504, 0x1p-24}},
		{"i8 i4 i2 i1", []float64{0, 1, -1, 127, -128, 5}},
		{"u8 u4 u2 u1", []float64{0, 1, 2, 127, 128, 255}},
		{"i8 i4 i2", []float64{0, 32767, -32768, 3, 4, 5}},
		{"u8 u4", []float64{0, 1<<32 - 1, 1 << 31, 3, 4, 5}},
		{"i8 u8", []float64{0, 1 << 53, 2, 3, 4, 5}},
		{"b1", []float64{0, 1, 1, 0, 1, 0}},
	} {
		for kind := range strings.FieldsSeq(c.kinds) {
			for _, order := range []string{"<", ">", "|", "="} {
				file := npyFile(order+kind, false, "(2, 3)", c.values)
				d, err := decodeBytes(file, "a.npy", ReadOptions{})
				if x := dense(t, d, err); !slices.Equal(x.Data, c.values) {
					t.Errorf("%s%s: %v, want %v", order, kind, x.Data, c.values)
				}
				s, err := OpenStream(write(t, "a.npy", file), ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var got []float64
				for {
					d, err := s.Next(1)
					if err == io.EOF {
						break
					}
					got = append(got, dense(t, d, err).Data...)
				}
				if s.Close(); !slices.Equal(got, c.values) {
					t.Errorf("%s%s in blocks: %v, want %v", order, kind, got, c.values)
				}
			}
		}
	}
	for _, c := range []struct {
		descr string
		value []byte
		want  string
	}{
		{"|b1", []byte{2}, "a boolean is 2: want 0 or 1"},
		{">u8", []byte{0, 32, 0, 0, 0, 0, 0, 1},
			"9007199254740993 has no exact float64: want at most 2^53 in size"},
		{"<f2", []byte{0, 0x7c}, "the value is +Inf: want a finite number"},
		{"|O", nil, `the array's type is "|O": want numbers or booleans of at most 8 bytes`},
		{"<f16", nil, `the array's type is "<f16"`},
		{"<M8", nil, `the array's type is "<M8"`},
	} {
		file := append(npyHead(1,
			fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", c.descr)), c.value...)
		if _, err := decodeBytes(file, "a.npy", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.descr, err, c.want)
		}
	}
}

func decodeBytes(b []byte, name string, o ReadOptions) (*Data, error) {
	return Decode(bytes.NewReader(b), name, "", o)
}

// Every type, order and version gives the same matrix, from disk (known size) and from a stream
// (unknown size).
func TestReadNPY(t *testing.T) {
	want := []float64{1, -2, 3, 4, 5, -60000}
	columns := []float64{1, 4, -2, 5, 3, -60000} // the same 2 x 3 matrix by columns
	for _, descr := range []string{"<f8", "<f4", "<i4", "<i8"} {
		for _, fortran := range []bool{false, true} {
			for major := byte(1); major <= 3; major++ {
				t.Run(fmt.Sprintf("%s,fortran=%v,version=%d", descr, fortran, major), func(t *testing.T) {
					values, order := want, "False"
					if fortran {
						values, order = columns, "True"
					}
					file := npyHead(major,
						fmt.Sprintf("{ \"descr\":'%s','fortran_order': %s, 'shape':(2,3)}   \n", descr,
							order))
					file = append(file, npyValues(descr, values)...)
					d, err := decodeBytes(file, "a.npy", ReadOptions{})
					x := dense(t, d, err)
					if x.N != 2 || x.D != 3 || !slices.Equal(x.Data, want) {
						t.Errorf("%d x %d %v, want 2 x 3 %v", x.N, x.D, x.Data, want)
					}
					d, err = Read(write(t, "a.npy", file), ReadOptions{})
					if y := dense(t, d, err); !slices.Equal(y.Data, want) {
						t.Errorf("from disk %v", y.Data)
					}
				})
			}
		}
	}
	d, err := decodeBytes(npyFile("<f8", true, "(3,)", want[:3]), "a.npy", ReadOptions{})
	if x := dense(t, d, err); x.N != 3 || x.D != 1 || !slices.Equal(x.Data, want[:3]) {
		t.Errorf("vector: %d x %d %v", x.N, x.D, x.Data)
	}
}

func TestTranspose(t *testing.T) {
	for _, s := range [][2]int{{1, 5}, {31, 33}, {64, 32}, {70, 100}} {
		a := make([]float64, s[0]*s[1])
		for i := range a {
			a[i] = float64(i)
		}
		b := transpose(a, s[0], s[1])
		for i := range s[0] {
			for j := range s[1] {
				if b[j*s[0]+i] != a[i*s[1]+j] {
					t.Fatalf("%d x %d: element %d,%d is wrong", s[0], s[1], i, j)
				}
			}
		}
	}
}

// The header is what NumPy 1.24 writes for np.save(f, np.zeros((3, 4))).
func TestWriteNPYAsNumPyDoes(t *testing.T) {
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }" +
		strings.Repeat(" ", 58) + "\n"
	var b bytes.Buffer
	if err := WriteMatrix("-", 3, 4, make([]float64, 12), 4, nil,
		WriteOptions{Format: "npy", Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	if got := b.String()[:b.Len()-96]; got != want {
		t.Errorf("header %q, want %q", got, want)
	}
	for n := range 64 { // the padding for every length of the dictionary
		b.Reset()
		if err := WriteMatrix("-", 0, int(math.Pow10(n%18)), nil, int(math.Pow10(n%18)), nil,
			WriteOptions{Format: "npy", Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		if b.Len()%64 != 0 || b.Bytes()[b.Len()-1] != '\n' {
			t.Fatalf("header of %d bytes", b.Len())
		}
	}
}

func TestBadNPY(t *testing.T) {
	good := npyFile("<f8", false, "(2, 2)", []float64{1, 2, 3, 4})
	dict := func(s string) []byte { return append(npyHead(1, s), good[len(good)-32:]...) }
	shape := func(s string) []byte {
		return dict("{'descr': '<f8', 'fortran_order': False, 'shape': " + s + ", }")
	}
	none := place{0, -1, ""}
	cases := []struct {
		name string
		file []byte
		at   place
		text string
	}{
		{"empty file", nil, none, "empty"},
		{"CSV text", []byte("x,y,label\n1,2,a\n"), none, "not a NumPy array"},
		{"version 4", npyHead(4, ""), none, "version is 4"},
		{"header of 4 GiB", []byte(npyMagic + "\x02\x00\xff\xff\xff\xff"), none, "claims 4294967295 bytes"},
		{"too few values", good[:len(good)-1], none, "cut off"},
		{"too many values", append(slices.Clone(good), 0), none, "follow the last value"},
		{"complex", dict("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }"), none,
			`"<c8": want numbers`},
		{"objects", dict("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }"), none, `"|O"`},
		{"fields", dict("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 2), }"), none,
			"named fields"},
		{"no dimension", shape("()"), none, "0 dimensions: want 1 or 2"},
		{"three dimensions", shape("(2, 2, 1)"), none, "3 dimensions"},
		{"no rows", shape("(0, 2)"), none, "0 x 2: want at least one row"},
		{"negative", shape("(-2, 2)"), none, "want a size"},
		{"overflow to 4", shape("(4611686018427387905, 4)"), none, "more than memory can hold"},
		{"beyond int64", shape("(99999999999999999999, 2)"), none, "want a size"},
		{"no tuple", shape("2"), none, `want "("`},
		{"open tuple", dict("{'descr': '<f8', 'shape': (2, 2"), none, "a comma or its end"},
		{"33 dimensions", shape("(" + strings.Repeat("1,", 33) + ")"), none, "32"},
		{"missing key", dict("{'descr': '<f8', 'shape': (2, 2), }"), none, "want the keys"},
		{"key twice", dict("{'descr': '<f8', 'descr': '<f8', 'shape': (2, 2), }"), none, "twice"},
		{"unknown key", dict("{'descr': '<f8', 'x': (2, 2), }"), none, `"x"`},
		{"text behind", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), } x"), none,
			"after the dictionary"},
		{"no boolean", dict("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 2), }"), none,
			"True or False"},
		{"call", dict("{'descr': __import__('os'), }"), none, "want a string"},
		{"open string", dict("{'descr"), none, "not closed"},
		{"nothing", dict(""), none, "want"},
		{"NaN", npyFile("<f8", false, "(2, 2)", []float64{1, 2, math.NaN(), 4}), place{0, 1, "0"}, "NaN"},
		{"Inf in float32", npyFile("<f4", true, "(2, 2)", []float64{1, 2, math.Inf(-1), 4}), place{0, 0, "1"},
			"-Inf"},
		{"int64 without a float64", npyFile("<i8", false, "(2,)", []float64{1, 1 << 54}), none, "2^53"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeBytes(c.file, "a.npy", ReadOptions{})
			wantData(t, err, "a.npy", c.at, c.text)
			path := write(t, "a.npy", c.file)
			if _, err = Read(path, ReadOptions{}); !fault.IsInput(err) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("from disk: error %v", err)
			}
		})
	}
	for n := range good {
		if _, err := decodeBytes(good[:n], "a.npy", ReadOptions{}); !fault.IsInput(err) {
			t.Fatalf("first %d of %d bytes: error %v", n, len(good), err)
		}
	}
}

// Memory depends on the size of the file, whatever the header claims.
func TestNPYAllocatesWhatIsThere(t *testing.T) {
	file := npyFile("<f8", false, "(1000000, 1000)", make([]float64, 100))
	path := write(t, "a.npy", file)
	for _, f := range []func() error{
		func() error { _, err := decodeBytes(file, "a.npy", ReadOptions{}); return err },
		func() error { _, err := Read(path, ReadOptions{}); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := f()
		runtime.ReadMemStats(&after)
		if !fault.IsInput(err) {
			t.Errorf("error %v, want an input error", err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%d bytes allocated for a file of %d", used, len(file))
		}
	}
}

// Any finite matrix is bit-identical after writing and reading in each format.
func TestMatrixRoundTrip(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.IntRange(1, 8).Draw(rt, "rows"), rapid.IntRange(1, 5).Draw(rt, "cols")
		stride := cols + rapid.IntRange(0, 3).Draw(rt, "padding")
		finite := rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
		data := rapid.SliceOfN(finite, rows*stride, rows*stride).Draw(rt, "data")
		var ids []string
		if rapid.Bool().Draw(rt, "ids") {
			text := rapid.StringN(1, 6, -1).Filter(func(s string) bool {
				return !strings.ContainsAny(s, "\r\x00") && s == strings.TrimSpace(s)
			})
			ids = rapid.SliceOfNDistinct(text, rows, rows, rapid.ID[string]).Draw(rt, "id")
		}
		for _, format := range []string{"csv", "npy", "csv.gz", "npy.gz"} {
			var b bytes.Buffer
			if err := WriteMatrix("-", rows, cols, data, stride, ids,
				WriteOptions{Format: format, Stdout: &b}); err != nil {
				rt.Fatal(err)
			}
			d, err := Decode(&b, "-", format, ReadOptions{})
			if err != nil {
				rt.Fatal(err)
			}
			x := d.Points.(*points.Dense)
			for i := range rows {
				for j := range cols {
					if math.Float64bits(x.Row(i)[j]) != math.Float64bits(data[i*stride+j]) {
						rt.Fatalf("%s: element %d,%d is %v, want %v", format, i, j, x.Row(i)[j],
							data[i*stride+j])
					}
				}
			}
			if strings.HasPrefix(format, "csv") && !slices.Equal(d.IDs, ids) {
				rt.Fatalf("%s: ids %q, want %q", format, d.IDs, ids)
			}
		}
	})
}

func FuzzNPY(f *testing.F) {
	f.Add(npyFile("<f8", false, "(2, 2)", []float64{1, 2, 3, 4}))
	f.Add(npyFile("<i4", true, "(2, 2)", []float64{1, 2, 3, 4}))
	f.Add(npyFile("<f4", false, "(1000000, 1000)", []float64{1}))
	f.Add(npyHead(2, "{'descr': [('a', '<f8')]}"))
	f.Add([]byte("x,y\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b), "f.npy", "", ReadOptions{})
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		roundTrip(t, d, "npy")
	})
}
