package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// idxFile returns an IDX file of the values cast to the type.
func idxFile(code byte, dims []int, values []float64) []byte {
	b := []byte{0, 0, code, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	for _, v := range values {
		switch code {
		case 0x08:
			b = append(b, byte(v))
		case 0x09:
			b = append(b, byte(int8(v)))
		case 0x0b:
			b = binary.BigEndian.AppendUint16(b, uint16(int16(v)))
		case 0x0c:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(v)))
		case 0x0d:
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case 0x0e:
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// idxValues generates values that the type represents exactly.
func idxValues(code byte) *rapid.Generator[float64] {
	whole := func(lo, hi int) *rapid.Generator[float64] {
		return rapid.Map(rapid.IntRange(lo, hi), func(v int) float64 { return float64(v) })
	}
	switch code {
	case 0x08:
		return whole(0, 255)
	case 0x09:
		return whole(-128, 127)
	case 0x0b:
		return whole(math.MinInt16, math.MaxInt16)
	case 0x0c:
		return whole(math.MinInt32, math.MaxInt32)
	case 0x0d:
		return rapid.Map(rapid.Float32().Filter(func(v float32) bool {
			return v-v == 0
		}), func(v float32) float64 { return float64(v) })
	}
	return rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
}

// Every type and number of dimensions is bit-identical after reading, from disk (known size), from
// a compressed file and from a stream.
func TestIDXRoundTrip(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		code := rapid.SampledFrom([]byte{0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e}).Draw(rt, "type")
		dims := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(rt, "dims")
		n := 1
		for _, d := range dims {
			n *= d
		}
		values := rapid.SliceOfN(idxValues(code), n, n).Draw(rt, "values")
		file := idxFile(code, dims, values)
		plain, packed := dir+"/images-idx3-ubyte", dir+"/a.idx.gz"
		overwrite(rt, plain, file)
		overwrite(rt, packed, gziptest.Zip(file))
		for _, read := range []func() (*Data, error){
			func() (*Data, error) { return Decode(bytes.NewReader(file), "-", "idx", ReadOptions{}) },
			func() (*Data, error) { return Read(plain, ReadOptions{}) },
			func() (*Data, error) { return Read(packed, ReadOptions{}) },
		} {
			d, err := read()
			x := dense(t, d, err)
			if x.N != dims[0] || x.D != n/dims[0] ||
				!slices.EqualFunc(x.Data, values, func(a, b float64) bool {
					return math.Float64bits(a) == math.Float64bits(b)
				}) {
				rt.Fatalf("%d x %d %v, want %v %v", x.N, x.D, x.Data, dims, values)
			}
		}
	})
}

func TestIDXErrors(t *testing.T) {
	good := idxFile(0x08, []int{2, 3}, []float64{1, 2, 3, 4, 5, 6})
	change := func(at int, to ...byte) []byte {
		b := slices.Clone(good)
		copy(b[at:], to)
		return b
	}
	for name, c := range map[string]struct {
		file []byte
		o    ReadOptions
		want string
	}{
		"empty":             {nil, ReadOptions{}, "empty"},
		"text":              {[]byte("a,b\n1,2\n"), ReadOptions{}, "not an IDX file"},
		"gzip":              {gziptest.Zip(good), ReadOptions{}, "ends in .gz"},
		"type":              {change(2, 0x0a), ReadOptions{}, "type of the values is 0x0a"},
		"no dimensions":     {change(3, 0), ReadOptions{}, "0 dimensions: want 1 to 4"},
		"five dimensions":   {change(3, 5), ReadOptions{}, "5 dimensions: want 1 to 4"},
		"zero rows":         {change(4, 0, 0, 0, 0), ReadOptions{}, "0 x 3"},
		"zero columns":      {change(8, 0, 0, 0, 0), ReadOptions{}, "2 x 0"},
		"cut in the header": {good[:7], ReadOptions{}, "header"},
		"cut in the values": {good[:len(good)-1], ReadOptions{}, "values"},
		"trailing byte":     {append(slices.Clone(good), 0), ReadOptions{}, "values"},
		"overflow": {append([]byte{0, 0, 0x0e, 4}, bytes.Repeat([]byte{0xff}, 16)...), ReadOptions{},
			"4294967295 x 4294967295 x 4294967295 x 4294967295 values: more than memory can hold"},
		"just overflow": {[]byte{0, 0, 8, 2, 0x80, 0, 0, 0, 0x40, 0, 0, 0}, ReadOptions{},
			"more than memory can hold"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(bytes.NewReader(c.file), "a.idx", "", c.o)
			wantData(t, err, "a.idx", place{0, -1, ""}, c.want)
			path := write(t, "a.idx", c.file) // of known size
			_, err = Read(path, c.o)
			wantData(t, err, path, place{0, -1, ""}, c.want)
		})
	}
	_, err := Decode(bytes.NewReader(idxFile(0x0e, []int{2, 2}, []float64{1, 2, math.Inf(1), 4})), "a.idx",
		"", ReadOptions{})
	wantData(t, err, "a.idx", place{0, 1, "0"}, "+Inf")
	var me *fault.MemoryError
	if _, err := Decode(bytes.NewReader(good), "a.idx", "", ReadOptions{MemoryLimit: 47}); !errors.As(err,
		&me) || me.Need != 48 {
		t.Errorf("error %v, want a MemoryError of 48 bytes", err)
	}
	if _, err := Decode(bytes.NewReader(good), "a.idx", "", ReadOptions{MemoryLimit: 48}); err != nil {
		t.Error(err)
	}
}

// Memory depends on the size of the file, whatever the header claims.
func TestIDXAllocatesWhatIsThere(t *testing.T) {
	file := idxFile(0x08, []int{1 << 16, 1 << 14}, make([]float64, 100))
	plain, packed := write(t, "a.idx", file), write(t, "a.idx.gz", gziptest.Zip(file))
	for _, f := range []func() error{
		func() error { _, err := Decode(bytes.NewReader(file), "a.idx", "", ReadOptions{}); return err },
		func() error { _, err := Read(plain, ReadOptions{}); return err },
		func() error { _, err := Read(packed, ReadOptions{}); return err },
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

// Labels in formats other than CSV.
func TestLabelsOfFormats(t *testing.T) {
	points := write(t, "x-idx3-ubyte", idxFile(0x08, []int{3, 2}, make([]float64, 6)))
	for name, content := range map[string][]byte{
		"y-idx1-ubyte":    idxFile(0x08, []int{3}, []float64{7, 0, 7}),
		"y-idx1-ubyte.gz": gziptest.Zip(idxFile(0x08, []int{3}, []float64{7, 0, 7})),
		"y.idx":           idxFile(0x0c, []int{3}, []float64{7, 0, 7}),
		"y.svm":           []byte("7 1:1\n+0\n7\n"),
		"y.txt":           []byte("label\n7\n0\n7\n"),
	} {
		d, err := Read(points, ReadOptions{Labels: write(t, name, content)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(d.Labels, []string{"7", "0", "7"}) {
			t.Errorf("%s: labels %q", name, d.Labels)
		}
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"two.idx":    {idxFile(0x08, []int{3, 1}, []float64{7, 0, 7}), "not a vector of whole numbers"},
		"double.idx": {idxFile(0x0e, []int{3}, []float64{7, 0, 7}), "not a vector of whole numbers"},
		"few.idx":    {idxFile(0x08, []int{2}, []float64{7, 0}), "2 labels: want 3"},
		"bad.svm":    {[]byte("1:1\n"), "want a label"},
		"a.npy":      {npyFile("<f8", false, "(3,)", []float64{1, 2, 3}), "NumPy"},
	} {
		path := write(t, name, c.content)
		_, err := Read(points, ReadOptions{Labels: path})
		var de *fault.DataError
		if !errors.As(err, &de) || de.File != path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
}

// FuzzDecodeIDX: any bytes give an input error, or exactly the values in the file.
func FuzzDecodeIDX(f *testing.F) {
	f.Add(idxFile(0x08, []int{2, 2}, []float64{1, 2, 3, 4}))
	f.Add(idxFile(0x0b, []int{1, 2, 1}, []float64{-1, 2}))
	f.Add(idxFile(0x0d, []int{2}, []float64{1, math.Inf(1)}))
	f.Add(idxFile(0x0e, []int{1, 1, 1, 1}, []float64{math.Pi}))
	f.Add([]byte{0, 0, 8, 4, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b), "f.idx", "", ReadOptions{})
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		x := dense(t, d, err)
		var dims []int
		for k := range int(b[3]) {
			dims = append(dims, int(binary.BigEndian.Uint32(b[4+4*k:])))
		}
		if x.N != dims[0] || !bytes.Equal(idxFile(b[2], dims, x.Data), b) {
			t.Fatalf("%d x %d %v for %x", x.N, x.D, x.Data, b)
		}
	})
}

func TestReadGram(t *testing.T) {
	square := write(t, "k.csv", []byte("id,0,1,label\nr,2,1,a\ns,1,3,b\n"))
	wide := write(t, "k2.csv", []byte("0,1\n2,1\n1,3\n0,1\n"))
	twoNew := write(t, "k3.csv", []byte("0,1\n2,1\n0,3\n"))
	two, three := write(t, "d2.csv", []byte("diagonal\n2\n3\n")),
		write(t, "d3.npy", npyFile("<f8", false, "(3,)", []float64{5, 6, 7}))
	other := write(t, "d.csv", []byte("diagonal\n5\n6\n"))
	cases := []struct {
		name, path, diagonal string
		wantDiagonal         []float64
		reference            []int
	}{
		{"square", square, "", []float64{2, 3}, []int{0, 1}},
		{"square with its own diagonal", square, two, []float64{2, 3}, []int{0, 1}},
		{"square of new objects", square, other, []float64{5, 6}, []int{-1, -1}},
		{"square, not symmetric", twoNew, two, []float64{2, 3}, []int{-1, -1}},
		{"rectangular", wide, three, []float64{5, 6, 7}, []int{-1, -1, -1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := Read(c.path, ReadOptions{Gram: true, GramDiagonal: c.diagonal})
			if err != nil {
				t.Fatal(err)
			}
			g, ok := d.Points.(*points.Gram)
			if !ok || !slices.Equal(g.Diagonal, c.wantDiagonal) || !slices.Equal(g.Reference, c.reference) ||
				g.M != 2 || d.Features != nil {
				t.Errorf("%T %+v, features %v, want diagonal %v, reference %v", d.Points, d.Points,
					d.Features, c.wantDiagonal, c.reference)
			}
		})
	}
	whole := place{0, -1, ""}
	_, err := Read(wide, ReadOptions{Gram: true})
	wantData(t, err, wide, whole, "3 rows and 2 columns: want a square one")
	_, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: two})
	wantData(t, err, two, whole, "2 values: want 3")
	_, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: square})
	wantData(t, err, square, whole, "2 numeric columns: want one")
	_, err = Read(twoNew, ReadOptions{Gram: true})
	wantData(t, err, twoNew, place{0, 1, "0"}, "symmetric")
	if _, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: "no.csv"}); !fault.IsInput(err) {
		t.Errorf("missing diagonal: error %v", err)
	}
}
