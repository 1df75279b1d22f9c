package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzNumber: the fast path for decimals is bit-identical to the standard library.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1.5", "-0", "0.1234567890123456", "9007199254740993", ".", "-.5", "5.", "1e5",
		"+1", "0x1p3", "1_0", "Inf", "-", "00.10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseFloat(s)
		want, wantErr := standard(s)
		if (err == nil) != (wantErr == nil) || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q is %v, error %v: want %v, error %v", s, got, err, want, wantErr)
		}
	})
}

// FuzzLabels: any bytes in any format give labels, or an input error. Only CSV and FASTA have rows
// without a label, which are empty texts. Labels of CSV survive writing and reading with their ids,
// and writing again gives the same bytes.
func FuzzLabels(f *testing.F) {
	fuzzSeeds(f, "label\na\nb\n", "id,label\nr1,a\n\"r,2\",\"b\"\"c\"\n", "x,label,y\n1,\"a\nb\",2\n",
		"label\n\n", "id\na\n", "\ufefflabel\r\na\r\n",
		"1 1:2 3:4\n-1 2:5\n", ">p1 a.1.1\nMKV\n>p2 b.2\nAA\n", "\x00\x00\x08\x01\x00\x00\x00\x02\x07\x01",
		"label\n\"\"\na\n", "id,label\np,\nq,a\n", ">p\nA\n>q a\nA\n")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range formats(nil) {
			if format.labels == nil {
				continue
			}
			of := func(src *source, rep *report) (LabelRows, error) {
				return format.labels(src, ReadOptions{MaxLine: 1 << 16}, rep)
			}
			rows, err := readInput(Input{Name: "f", Stream: bytes.NewReader(b)}, of)
			labels, ids := rows.Labels, rows.IDs
			if err != nil {
				if !fault.IsInput(err) {
					t.Fatalf("%s: error %v is not an input error", format.name, err)
				}
				continue
			}
			gaps := format.name == "csv" || format.name == "tsv" || format.name == "fasta"
			if len(labels) == 0 || !gaps && slices.Contains(labels, "") ||
				ids != nil && len(ids) != len(labels) {
				t.Fatalf("%s: labels %q, ids %q", format.name, labels, ids)
			}
			if format.name != "csv" {
				continue
			}
			text := labelsText(t, labels, ids)
			again, err := ReadLabels(Input{Name: "f", Stream: bytes.NewReader(text)},
				ReadOptions{MaxLine: 1 << 20})
			if err != nil || !slices.Equal(again.Labels, labels) || !slices.Equal(again.IDs, ids) {
				t.Fatalf("labels %q of %q are %q of %q after writing and reading, error %v", labels, ids,
					again.Labels, again.IDs, err)
			}
			if !bytes.Equal(text, labelsText(t, again.Labels, again.IDs)) {
				t.Fatal("writing again gives other bytes")
			}
		}
	})
}

func written(t *testing.T, write func(WriteOptions) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(WriteOptions{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func labelsText(t *testing.T, labels, ids []string) []byte {
	t.Helper()
	return written(t, func(o WriteOptions) error { return WriteLabels("-", labels, ids, o) })
}

// FuzzChunklets: any bytes give chunklets of existing rows, each with its own name, or an input
// error. Their links are those that ReadLinks gives for the same file, and survive writing.
func FuzzChunklets(f *testing.F) {
	fuzzSeeds(f, "i,chunklet\n0,a\n1,a\n2,b\n", "chunklet,i\n\"a,b\",0\na,0\n",
		"i,chunklet\na,x\n\"d,e\",x\n7,y\n", "i,chunklet\n5,a\n", "i,chunklet\n0, \n", "i,chunklet\n")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range []LinkContext{fiveRows, byID(fiveRows)} {
			c.MaxLine = 1 << 16
			list, err := ReadChunklets(Input{Name: "f", Stream: bytes.NewReader(b)}, c)
			if err != nil {
				if !fault.IsInput(err) {
					t.Fatalf("error %v is not an input error", err)
				}
				continue
			}
			var rows [][]int
			seen, line := map[string]bool{}, 0
			for _, k := range list {
				if k.Name == "" || seen[k.Name] || len(k.Rows) == 0 || k.Line <= line {
					t.Fatalf("chunklets %+v", list)
				}
				seen[k.Name], line, rows = true, k.Line, append(rows, k.Rows)
			}
			want, err := links.FromChunklets(c.N, rows)
			if err != nil {
				t.Fatal(err)
			}
			sameChunklets(t, b, c, want)
			out := written(t, func(o WriteOptions) error { return writeChunklets(want, nil, o) })
			if len(want.Chunklets()) > 0 {
				sameChunklets(t, out, fiveRows, want)
			}
		}
	})
}

func sameChunklets(t *testing.T, b []byte, c LinkContext, want *links.Set) {
	t.Helper()
	set, err := ReadLinks(Input{Name: "f", Stream: bytes.NewReader(b)}, c)
	if err != nil || fmt.Sprint(set.Chunklets()) != fmt.Sprint(want.Chunklets()) {
		t.Fatalf("links of the chunklets: %v, error %v: want %v", set, err, want.Chunklets())
	}
}

// FuzzGram: any two files give a valid Gram matrix with its diagonal, the same after writing and
// reading, or an input error.
func FuzzGram(f *testing.F) {
	for _, s := range [][2]string{{"a,b\n2,1\n1,2\n", ""}, {"a,b\n2,1\n1,2\n", "d\n2\n2\n"},
		{"a,b\n2,1\n", "d\n3\n"}, {"a\n-1\n", ""}, {"a,b\n2,1\n1.5,2\n", ""}, {"a,b\n2,1\n", ""},
		{"a\n1\n", "d\n-1\n"},
		{"a,b\n1e308,1e308\n1e308,1e308\n", "d\n1e308\n1e308\n"}} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	diagonal := filepath.Join(f.TempDir(), "diagonal.csv")
	f.Fuzz(func(t *testing.T, matrix, d []byte) {
		o := ReadOptions{Gram: true, MaxLine: 1 << 16}
		if len(d) > 0 {
			overwrite(t, diagonal, d)
			o.GramDiagonal = diagonal
		}
		got, err := Decode(bytes.NewReader(matrix), "f.csv", "", o)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		x, ok := got.Points.(*points.Gram)
		if !ok {
			t.Fatalf("points are %T", got.Points)
		}
		if err := x.Validate(); err != nil {
			t.Fatalf("the matrix that was read is not valid: %v", err)
		}
		out := written(t, func(w WriteOptions) error {
			w.Format = "npy"
			return WriteMatrix("-", x.N, x.M, x.Data, max(1, x.M), nil, w)
		})
		o.Format = "npy"
		again, err := Decode(bytes.NewReader(out), "f.npy", "", o)
		if err != nil || Fingerprint(again.Points) != Fingerprint(got.Points) {
			t.Fatalf("the matrix changed by writing and reading: error %v", err)
		}
	})
}

// FuzzStream: a file that can be read at once gives bit-identical rows in blocks of any size,
// unless it is an array by columns; any other bytes are an input error for both readers.
func FuzzStream(f *testing.F) {
	for k, text := range []string{"id,x,label\nr1,1,a\n\"r,2\",2,b\n", "x\n1\n\n2", "x,y\n1,NaN\n",
		"x\n1\nq\n", "x,y\n"} {
		f.Add([]byte(text), byte(k))
	}
	f.Add(npyFile("<f8", false, "(3,2)", []float64{1, 2, 3, 4, 5, 6}), byte(2))
	f.Add(npyFile("<f8", true, "(2,2)", []float64{1, 2, 3, 4}), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, limit byte) {
		for _, format := range []string{"csv", "npy"} {
			o := ReadOptions{MaxLine: 1 << 16, MemoryLimit: 1 << 24}
			whole, err := Decode(bytes.NewReader(b), "f", format, o)
			x, labels, ids, streamErr := streamed(b, format, 1+int(limit)%9, o)
			for _, err := range []error{err, streamErr} {
				if err != nil && !fault.IsInput(err) {
					t.Fatalf("%s: error %v is not an input error", format, err)
				}
			}
			if err != nil || streamErr != nil && format == "npy" && bytes.Contains(b, []byte("True")) {
				continue
			}
			if streamErr != nil {
				t.Fatalf("%s can be read at once; in blocks: %v", format, streamErr)
			}
			if Fingerprint(x) != Fingerprint(whole.Points) || !slices.Equal(labels, whole.Labels) ||
				!slices.Equal(ids, whole.IDs) {
				t.Fatalf("%s: %v, %q, %q in blocks, %v, %q, %q as a whole", format, x, labels, ids,
					whole.Points, whole.Labels, whole.IDs)
			}
		}
	})
}

// streamed reads all blocks.
func streamed(b []byte, format string, limit int,
	o ReadOptions) (x *points.Dense, labels, ids []string, err error) {
	s, err := DecodeStream(bytes.NewReader(b), "f", format, o)
	if err != nil {
		return nil, nil, nil, err
	}
	for {
		d, err := s.Next(limit)
		if err == io.EOF {
			return x, labels, ids, nil
		}
		if err != nil {
			return nil, nil, nil, err
		}
		part := d.Points.(*points.Dense)
		if x == nil {
			x = &points.Dense{D: part.D}
		}
		x.N, x.Data = x.N+part.N, append(x.Data, part.Data...)
		labels, ids = append(labels, d.Labels...), append(ids, d.IDs...)
	}
}
