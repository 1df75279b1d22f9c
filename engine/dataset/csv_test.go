package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestReadCSV(t *testing.T) {
	want := &Data{Features: []string{"width", "height"}, IDs: []string{"r1", "r2"},
		Labels: []string{"a,b", "c"}, Name: "data.csv"}
	values := []float64{1.5, -2, 0.1, 3e-5}
	cases := map[string]string{
		"plain":                  "id,width,height,label\nr1,1.5,-2,\"a,b\"\nr2,.1,3e-5,c\n",
		"no last line end":       "id,width,height,label\nr1,1.5,-2,\"a,b\"\nr2,.1,3e-5,c",
		"CRLF":                   "id,width,height,label\r\nr1,1.5,-2,\"a,b\"\r\nr2,.1,3e-5,c\r\n",
		"byte order mark":        "\ufeffid,width,height,label\nr1,1.5,-2,\"a,b\"\nr2,.1,3e-5,c\n",
		"quoted":                 "\"id\",\"width\",\"height\",\"label\"\n\"r1\",\"1.5\",\"-2\",\"a,b\"\nr2,\".1\",3e-5,\"c\"\n",
		"other order":            "label,width,id,height\n\"a,b\",1.5,r1,-2\nc,.1,r2,3e-5\n",
		"spaces":                 "id, width,  height, label\nr1, 1.5 ,\t-2, \"a,b\"\nr2 , .1,3e-5 ,c\n",
		"blank lines at the end": "id,width,height,label\nr1,1.5,-2,\"a,b\"\nr2,.1,3e-5,c\n\n\r\n\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			text = strings.Replace(text, "r2 ,", "r2,", 1)
			d, err := decode(text, ReadOptions{})
			x := dense(t, d, err)
			if x.N != 2 || x.D != 2 || !slices.Equal(x.Data, values) {
				t.Errorf("points %d x %d %v, want %v", x.N, x.D, x.Data, values)
			}
			d.Points = nil
			if diff := difftest.Diff(want, d); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
	d, err := decode("x,label\n1,\n", ReadOptions{IgnoreLabels: true})
	if x := dense(t, d, err); d.Labels != nil || x.D != 1 {
		t.Errorf("IgnoreLabels: labels %v, %d features", d.Labels, x.D)
	}
}

func TestBadCSV(t *testing.T) {
	none := place{0, -1, ""}
	cases := []struct {
		name, text string
		at         place
		want       string
	}{
		{"empty file", "", none, "the file is empty: want a header and data rows"},
		{"only a byte order mark", "\ufeff", none, "blank"},
		{"only blank lines", "\n\n", none, "blank"},
		{"header only", "x,y\n", none, "no"},
		{"header only without line end", "x,y", none, "but no rows"},
		{"ragged: too few", "x,y,label\n1,2,a\n3,a\n", place{3, 1, ""}, "2 fields: want 3"},
		{"ragged: too many", "x,y\n1,2\n3,4,5\n", place{3, 1, ""}, "3 fields: want 2"},
		{"ragged: trailing comma", "x,y\n1,2,\n", place{2, 0, ""}, "3 fields: want 2"},
		{"text", "x,y\n1,2\n3,oops\n", place{3, 1, "y"}, `"oops" is not a number: want a finite number`},
		{"text in a quoted column name", "\"a b\",y\nq,2\n", place{2, 0, "a b"}, `"q"`},
		{"NaN", "x,y\nNaN,2\n", place{2, 0, "x"}, "NaN"},
		{"Inf", "x,y\n1,-inf\n", place{2, 0, "y"}, "-inf"},
		{"beyond float64", "x,y\n1,1e999\n", place{2, 0, "y"}, "range"},
		{"whole number without a float64", "x,y\n9007199254740992,1\n9007199254740993,1\n", place{3, 1, "x"},
			"9007199254740993: the whole number has no exact float64: want at most 2^53"},
		{"negative whole number without a float64", "x,y\n1,-18446744073709551615\n", place{2, 0, "y"},
			"2^53"},
		{"empty cell", "x,y\n1,\n", place{2, 0, "y"}, "empty"},
		{"blank cell", "x,y\n1,  \n", place{2, 0, "y"}, "empty"},
		{"question mark", "x,y\n?,1\n", place{2, 0, "x"}, "missing"},
		{"decimal comma", "x,y\n\"1,5\",1\n", place{2, 0, "x"}, "not a number"},
		{"empty id", "id,x\n,1\n", place{2, 0, "id"}, "empty"},
		{"duplicate ids", "id,x\nr,1\ns,2\nr,3\n", place{4, 2, "id"}, `"r" is already on line 2`},
		{"duplicate columns", "x,y,x\n1,2,3\n", place{1, -1, "x"}, "columns 1 and 3"},
		{"two label columns", "x,label,label\n1,a,b\n", place{1, -1, "label"}, "columns 2 and 3"},
		{"nameless column", "x,\n1,2\n", place{1, -1, "1"}, "empty"},
		// one that numbers the rows is left out
		{"nameless first column", ",x\n7,2\n", place{1, -1, "0"}, "empty"},
		{"nameless first column that stops counting", ",x\n1,2\n2,2\n4,2\n", place{4, -1, "0"},
			"3, the number of the row"},
		{"no header", "5.1,3.5\n1,2\n", place{1, -1, ""}, "want a header"},
		// fitting ones are read
		{"semicolons that do not fit", "x;y\n1;2\n1;2;3\n", place{3, 1, ""}, "3 fields: want 2"},
		{"no features", "id,label\nr,a\n", none, "no feature columns"},
		{"blank line inside", "x\n1\n\n2\n", place{3, 1, ""}, "blank"},
		{"NUL in the beginning", "x,y\n1,\x002\n", none, "binary data (byte 6 is 0)"},
		{"NUL later", "x,y\n" + strings.Repeat("1,2\n", 200) + "1,\x00\n", place{202, 200, ""},
			"byte 2 of the line is 0"},
		{"not UTF-8", "x,label\n1,caf\xe9\n", place{2, 0, ""}, "byte 5"},
		{"not UTF-8 in the header", "x\xff,y\n1,2\n", place{1, -1, ""}, "UTF-8"},
		// whole text is read
		{"half of a UTF-16 character", "\xff\xfex\x00\n\x001\x00\x00\xd8", none,
			"byte 8 is half a UTF-16 character"},
		{"UTF-16 that is cut off", "\xff\xfex\x00\n\x001", none, "ends inside a character"},
		{"gzip", "\x1f\x8b\x08\x00\x00", none, "gzip"},
		{"npy", "\x93NUMPY\x01\x00", none, "NumPy"},
		{"spreadsheet", "PK\x03\x04....", none, "spreadsheet"},
		{"Parquet", "PAR1....", none, "Parquet"},
		{"Arrow", "ARROW1..", none, "an Arrow file"},
		{"old Mac line ends", "x,y\r1,2\r3,4\r", place{1, -1, ""}, "carriage return"},
		{"carriage return inside", "x,y\n1,2\n3\r,4\n", place{3, 1, ""}, "carriage return"},
		{"quote in the middle", "x,label\n1,a\"b\n", place{2, 0, ""}, "field 2 has a quote in its middle"},
		{"text behind a quote", "x,label\n1,\"a\"b\n", place{2, 0, ""},
			"field 2 has text behind its closing quote"},
		{"open quote", "x,label\n1,\"a\n2,b\n", place{2, 0, ""}, "not closed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.text, ReadOptions{})
			wantData(t, err, "data.csv", c.at, c.want)
			// The same errors come from a compressed file on disk.
			if c.name == "empty file" {
				c.want = "empty: want"
			}
			path := write(t, "data.csv.gz", gziptest.Zip(c.text))
			_, err = Read(path, ReadOptions{})
			wantData(t, err, path, c.at, c.want)
		})
	}
}

// The row number counts quoted line ends as part of their row, the line number does not.
func TestPlaceAfterQuotedLineEnds(t *testing.T) {
	_, err := decode("x,label\n1,\"a\nb\nc\"\n2,c\noops,d\n", ReadOptions{})
	wantData(t, err, "data.csv", place{6, 2, "x"}, "oops")
	d, err := decode("x,label\n1,\"a\r\nb\nc\"\n", ReadOptions{})
	if dense(t, d, err); d.Labels[0] != "a\nb\nc" {
		t.Errorf("label %q", d.Labels[0])
	}
}

func TestOnePoint(t *testing.T) {
	d, err := decode("x,y\n1,2\n", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.AtLeast(1); err != nil {
		t.Error(err)
	}
	wantData(t, d.AtLeast(2), "data.csv", place{0, -1, ""}, "1 data row: want at least 2")
}

func TestPathErrors(t *testing.T) {
	dir := t.TempDir()
	absent := filepath.Join(dir, "absent.csv")
	folder := filepath.Join(dir, "folder.csv")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	none := place{0, -1, ""}
	_, err := Read(absent, ReadOptions{})
	wantData(t, err, absent, none, "no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not wrap fs.ErrNotExist", err)
	}
	_, err = Read(folder, ReadOptions{})
	wantData(t, err, folder, none, "folder")
	for _, path := range []string{"x.xyz", "x", "x.gz", "csv", "-"} {
		var pe *fault.ParamError
		if _, err := Read(path, ReadOptions{}); !errors.As(err, &pe) {
			t.Errorf("%q: error %v, want a *fault.ParamError", path, err)
		}
	}
	_, err = Read(absent, ReadOptions{Format: "cvs"})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), `did you mean "csv"?`) {
		t.Errorf("misspelled format: error %v", err)
	}
	odd := write(t, "data.txt", []byte("x\n1\n"))
	if _, err := Read(odd, ReadOptions{Format: "csv"}); err != nil {
		t.Errorf("odd extension with a format: %v", err)
	}
	odd = write(t, "data.txt", gziptest.Zip("x\n1\n"))
	if _, err := Read(odd, ReadOptions{Format: "CSV.GZ"}); err != nil {
		t.Errorf("compressed by format: %v", err)
	}
}

// A failure of the disk is not an input error.
func TestReadFailure(t *testing.T) {
	broken := errors.New("broken disk")
	r := io.MultiReader(strings.NewReader("x\n1\n"), iotest.ErrReader(broken))
	for _, format := range []string{"csv", "npy", "csv.gz", "npy.gz"} {
		if format != "csv" {
			r = iotest.ErrReader(broken)
		}
		_, err := Decode(r, "-", format, ReadOptions{})
		if !errors.Is(err, broken) || fault.IsInput(err) {
			t.Errorf("%s: error %v, want %v and no input error", format, err, broken)
		}
	}
}

// endless is a reader without an end that counts the bytes read.
type endless struct {
	head string
	fill byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for i := n; i < len(p); i++ {
		p[i] = e.fill
	}
	e.read += len(p)
	return len(p), nil
}

// An endless line must be refused at the limit, not kept in memory.
func TestLineLimit(t *testing.T) {
	const limit = 1 << 20
	cases := []struct {
		name, head string
		fill       byte
		line       int
		text       string
	}{
		{"header", "", 'x', 1, "line is longer than the limit of 1.0 MiB"},
		{"row", "x,y\n1,2\n", '7', 3, "line is longer"},
		{"quoted lines", "x,label\n1,\"", '\n', 2, "quoted field is longer"},
		{"one quoted line", "x,label\n1,\"", 'a', 2, "line is longer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := &endless{head: c.head, fill: c.fill}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Decode(src, "-", "csv", ReadOptions{MaxLine: limit})
			runtime.ReadMemStats(&after)
			row := -1
			if c.line > 1 {
				row = c.line - 2
			}
			wantData(t, err, "-", place{c.line, row, ""}, c.text)
			if src.read > limit+2*bufferSize {
				t.Errorf("%d bytes read before the error, limit %d", src.read, limit)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*limit {
				t.Errorf("%d bytes allocated, limit of a line %d", used, limit)
			}
		})
	}
	// A line of exactly the limit passes, with either line end; one byte more does not.
	for _, end := range []string{"\n", "\r\n", ""} {
		for _, n := range []int{10, bufferSize - 1, bufferSize, bufferSize + 1, 3 * bufferSize} {
			text := "x\n0." + strings.Repeat("0", n-2) + end
			if _, err := decode(text, ReadOptions{MaxLine: n}); err != nil {
				t.Errorf("line of %d bytes with end %q and that limit: %v", n, end, err)
			}
			if _, err := decode(text, ReadOptions{MaxLine: n - 1}); !fault.IsInput(err) {
				t.Errorf("line of %d bytes with end %q and one less: error %v", n, end, err)
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	text := string(csvText(100, 10)) // 8000 bytes of values, and 16 for each label
	if _, err := decode(text, ReadOptions{MemoryLimit: 9600}); err != nil {
		t.Errorf("limit of exactly the need: %v", err)
	}
	var me *fault.MemoryError
	if _, err := decode(text, ReadOptions{MemoryLimit: 9599}); !errors.As(err, &me) {
		t.Errorf("error %v, want a *fault.MemoryError", err)
	}
}

// The memory for all rows is reserved once, whatever the length of the first row, and also for a
// compressed file, whose trailer has the size of its content. A trailer that cannot be right is not
// believed.
func TestReservesOnce(t *testing.T) {
	const rows, cols = 40000, 4
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range rows - 1 {
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", 10000+rng.IntN(90000), rng.IntN(10), rng.IntN(1000), rng.IntN(100))
	}
	long := "0." + strings.Repeat("1", 30) + ","
	short := []byte("a,b,c,d\n1,2,3,4\n" + b.String())
	tall := []byte("a,b,c,d\n" + long + long + long + "1\n" + b.String())
	var records bytes.Buffer // of JSON, which is longer than the values
	for line := range strings.Lines(string(short[len("a,b,c,d\n"):])) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		fmt.Fprintf(&records, `{"%[5]s a":%[1]s,"%[5]s b":%[2]s,"%[5]s c":%[3]s,"%[5]s d":%[4]s}`+"\n", cells[0],
			cells[1], cells[2], cells[3], strings.Repeat("long ", 20))
	}
	lying := gziptest.Zip(short)
	copy(lying[len(lying)-4:], "\xff\xff\xff\xff")
	for _, c := range []struct {
		name    string
		content []byte
		wrong   string
		most    uint64 // bytes to allocate
	}{
		{"short.csv", short, "", 8*rows*cols + 1<<19},
		{"long.csv", tall, "", 8*rows*cols + 1<<19},
		{"short.csv.gz", gziptest.Zip(short), "", 8*rows*cols + 1<<19},
		{"lying.csv.gz", lying, "checksum", 16 * 8 * rows * cols},
		{"long-names.jsonl", records.Bytes(), "", 1 << 40}, // the decoder of JSON makes much garbage
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Read(path, ReadOptions{})
		runtime.ReadMemStats(&after)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: error %v, want one about the %s", c.name, err, c.wrong)
			}
		case err != nil || d.Points.Len() != rows:
			t.Fatalf("%s: %v, error %v", c.name, d, err)
		default:
			if x := d.Points.(*points.Dense).Data; cap(x) > len(x)*4/3 {
				t.Errorf("%s: memory for %d values, of which there are %d", c.name, cap(x), len(x))
			}
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > c.most {
			t.Errorf("%s: %d bytes allocated for values of %d bytes: want %d", c.name, used, 8*rows*cols, c.most)
		}
	}
}

// Small files that unpack to large ones are refused at the memory limit.
func TestGzipBomb(t *testing.T) {
	bomb := gziptest.Zip(append([]byte("x\n"), bytes.Repeat([]byte("1\n"), 1<<20)...))
	if len(bomb) > 1<<14 {
		t.Fatalf("the gzip bomb has %d bytes: want a smaller one", len(bomb))
	}
	var me *fault.MemoryError
	if _, err := Decode(bytes.NewReader(bomb), "-", "csv.gz",
		ReadOptions{MemoryLimit: 1 << 16}); !errors.As(err, &me) {
		t.Errorf("error %v, want a *fault.MemoryError", err)
	}
}

func TestGzip(t *testing.T) {
	whole := gziptest.Zip(csvText(20, 3))
	for n := range whole {
		_, err := Decode(bytes.NewReader(whole[:n]), "d.csv.gz", "", ReadOptions{})
		var de *fault.DataError
		if !errors.As(err, &de) || de.File != "d.csv.gz" {
			t.Fatalf("first %d of %d bytes: error %v, want a DataError", n, len(whole), err)
		}
		if n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("first %d of %d bytes: error %v does not wrap io.ErrUnexpectedEOF", n, len(whole), err)
		}
	}
	var npy bytes.Buffer
	if err := WriteMatrix("-", 2, 2, []float64{1, 2, 3, 4}, 2, nil,
		WriteOptions{Format: "npy.gz", Stdout: &npy}); err != nil {
		t.Fatal(err)
	}
	for n := range npy.Len() {
		if _, err := Decode(bytes.NewReader(npy.Bytes()[:n]), "d.npy.gz", "",
			ReadOptions{}); !fault.IsInput(err) {
			t.Fatalf("first %d of %d bytes: error %v, want an input error", n, npy.Len(), err)
		}
	}
	last := len(whole) - 8
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		text   string
	}{
		"not gzip": {func([]byte) []byte { return []byte("x\n1\n") }, "not gzip, though the name"},
		"checksum": {func(b []byte) []byte { b[last] ^= 1; return b }, "corrupted"},
		"bytes behind": {func(b []byte) []byte {
			return append(b, "tail of text"...)
		}, "follow the gzip data"},
		"bad deflate":   {func(b []byte) []byte { b[10] = 0xff; return b }, "corrupted"},
		"empty":         {func([]byte) []byte { return nil }, "the file is empty"},
		"empty content": {func([]byte) []byte { return gziptest.Zip("") }, "the file is empty"},
	} {
		_, err := Decode(bytes.NewReader(c.change(slices.Clone(whole))), "d.csv.gz", "", ReadOptions{})
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %q", name, err, c.text)
		}
	}
	if d, err := Decode(bytes.NewReader(append(gziptest.Zip("x\n1\n"), gziptest.Zip("2\n")...)),
		"d.csv.gz", "", ReadOptions{}); err != nil || d.Points.Len() != 2 {
		t.Errorf("two gzip members: %v", err)
	}
}

// standard is strconv.ParseFloat for texts that are numbers in files of data. A whole number that
// float64 does not have is none of them.
func standard(s string) (float64, error) {
	if strings.ContainsAny(s, "_xX") { // 1_000 and 0x1p3 are numbers in source code alone
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	if whole, is := new(big.Int).SetString(s, 10); is && err == nil {
		if exact, _ := new(big.Float).SetFloat64(v).Int(nil); exact.Cmp(whole) != 0 {
			return v, ErrRounded
		}
	}
	return v, err
}

// ParseFloat is bit-identical to strconv.ParseFloat for any text, but for what only source code
// has.
func TestParseFloat(t *testing.T) {
	same := func(s string) {
		t.Helper()
		got, gotErr := ParseFloat(s)
		want, wantErr := standard(s)
		if math.Float64bits(got) != math.Float64bits(want) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%q: %v (%v), want %v (%v)", s, got, gotErr, want, wantErr)
		}
	}
	for _, s := range []string{"", "-", ".", "-.", "--1", "1.", ".5", "-.5", "-0", "0", "-0.0", "1..2",
		"1.2.3", "+1", "1e5", " 1",
		"999999999999999", "9999999999999999", "99999999999999999", ".999999999999999", ".9999999999999999",
		"9007199254740993", "9007199254740992", "-9007199254740993", "+009007199254740995",
		"18014398509481984", "18446744073709551615",
		"18446744073709551616", "100000000000000000000000", "1000000000000000000000000", "9007199254740993.0",
		"9007199254740993e0", "900719925474099.3", "0.000000000000001", "123456789012345.", "0x1p-2",
		"NaN", "inf", "1_0"} {
		same(s)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		v := math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30)
		same(strconv.FormatFloat(v, "feg"[rng.IntN(3)], rng.IntN(22), 64))
	}
	// Halfway between two numbers, where the even one is right, and next to it by the smallest
	// difference of 19 digits.
	for k := range uint64(1000) {
		whole := 1<<52 + k*0x9e3779b97f4 // below 2^53: one more half is halfway
		for _, fraction := range []string{".5", ".499", ".501", ".500"} {
			same(strconv.FormatUint(whole, 10) + fraction)
		}
		for _, fraction := range []string{".25", ".250", ".7500", ".7499", ".7501"} {
			same(strconv.FormatUint(whole/2, 10) + fraction)
		}
		for _, last := range []uint64{0, 1, 2, 3} {
			same(strconv.FormatUint(whole*2+last, 10) + ".00"[:min(int(k%4), 3)])
		}
	}
	propertytest.Check(t, func(rt *rapid.T) {
		same(rapid.StringMatching(`-?[0-9]{0,20}\.?[0-9]{0,22}`).Draw(rt, "s"))
	})
}

// sameAsStandard compares csvReader with encoding/csv on text without the things that only
// csvReader refuses: blank lines, carriage returns, NUL and bytes that are not UTF-8.
func sameAsStandard(t testing.TB, text string) {
	if strings.ContainsAny(text, "\r\x00") || strings.Contains(text, "\ufeff") ||
		strings.ToValidUTF8(text, "") != text {
		return
	}
	if what, _ := sniff([]byte(text[:min(len(text), 512)]), "csv"); what != "" || text == "" {
		return
	}
	ours, err := newCSVReader(newSource("t", strings.NewReader(text), -1, false), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	tabs := ours.delimiter == '\t' // which encoding/csv takes as spaces to trim
	if tabs && strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) && r != '\t' && r != '\n'
	}) {
		return
	}
	want, wantErr := func() ([][]string, error) {
		std := csv.NewReader(strings.NewReader(text))
		std.Comma, std.FieldsPerRecord, std.TrimLeadingSpace = rune(ours.delimiter), -1, !tabs
		return std.ReadAll()
	}()
	var got [][]string
	for {
		fields, _, err := ours.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if strings.Contains(err.Error(), "blank") {
				return
			}
			if wantErr == nil {
				t.Fatalf("%q: error %v, encoding/csv has none", text, err)
			}
			return
		}
		got = append(got, slices.Clone(fields))
	}
	if wantErr != nil {
		t.Fatalf("%q: no error, encoding/csv: %v", text, wantErr)
	}
	for _, record := range want { // which has white space behind fields, and in quotes
		for k, field := range record {
			record[k] = strings.TrimSpace(field)
		}
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("%q: records %q, encoding/csv %q", text, got, want)
	}
}

func TestSameRecordsAsStandardReader(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		sameAsStandard(t, rapid.StringOfN(rapid.SampledFrom([]rune("a1,,\"\"\n \té;;|")), 1, 40, -1).Draw(rt,
			"text"))
	})
}

func TestCheckFindsAll(t *testing.T) {
	path := write(t, "data.csv", []byte("id,x,y,label\n"+
		"a,1,2,u\n"+
		"b,oops,NaN,u\n"+ // line 3
		"a,1,2,\n"+ // no label is no problem
		"c,1,2\n"+
		"\n"+
		"d,1,caf\xe9,v\n"+ // line 7
		"e,1,,v\n"+
		"f,1,2,v\n"))
	want := []place{{3, 1, "x"}, {3, 1, "y"}, {4, 2, "id"}, {5, 3, ""}, {6, 4, ""},
		{7, 5, ""}, {8, 6, "y"}}
	problems, err := Check(path, ReadOptions{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []place
	for _, p := range problems {
		got = append(got, place{p.Err.Line, p.Err.Row, p.Err.Column})
		if p.Err.File != path || p.Fix == "" || !strings.Contains(p.String(), p.Fix) {
			t.Errorf("problem without file or fix: %+v", p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems at %+v, want %+v", got, want)
	}
	for n := 1; n <= len(want); n++ {
		if problems, err := Check(path, ReadOptions{}, n); err != nil || len(problems) != n {
			t.Errorf("with a limit of %d: %d problems, %v", n, len(problems), err)
		}
	}
	_, err = Read(path, ReadOptions{})
	wantData(t, err, path, want[0], "oops")
}

func TestCheck(t *testing.T) {
	good := write(t, "good.csv", []byte("x,label\n1,a\n2,b\n"))
	if problems, err := Check(good, ReadOptions{}, 0); err != nil || len(problems) > 0 {
		t.Errorf("sound file: %v, %v", problems, err)
	}
	short := write(t, "labels.csv", []byte("label\na\n"))
	for name, c := range map[string]struct {
		path string
		o    ReadOptions
		text string
	}{
		"one point":        {write(t, "one.csv", []byte("x\n1\n")), ReadOptions{}, "at least 2"},
		"missing file":     {filepath.Join(t.TempDir(), "no.csv"), ReadOptions{}, "no such file"},
		"labels too short": {good, ReadOptions{Labels: short}, "1 label: want 2"},
		"truncated gzip":   {write(t, "cut.csv.gz", gziptest.Zip("x\n1\n")[:20]), ReadOptions{}, "cut off"},
		"header only":      {write(t, "h.csv", []byte("x\n")), ReadOptions{}, "but no rows"},
		"npy with NaN": {write(t, "n.npy", npyFile("<f8", false, "(2,)", []float64{math.NaN(), 1})),
			ReadOptions{}, "NaN"},
		"not symmetric": {write(t, "g.csv", []byte("a,b\n1,2\n3,1\n")), ReadOptions{Gram: true},
			"symmetric"},
	} {
		problems, err := Check(c.path, c.o, 0)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), c.text) {
			t.Errorf("%s: %v, %v, want one problem with %q", name, problems, err, c.text)
		}
	}
	if _, err := Check("x.xyz", ReadOptions{}, 0); err == nil {
		t.Error("unknown format: no error")
	}
	many := write(t, "n2.npy",
		npyFile("<f8", false, "(3, 2)", []float64{math.NaN(), 1, 2, math.Inf(1), 3, math.NaN()}))
	if problems, err := Check(many, ReadOptions{}, 2); err != nil || len(problems) != 2 ||
		problems[1].Err.Row != 1 || problems[1].Err.Column != "1" {
		t.Errorf("npy: %v, %v", problems, err)
	}
}

func fuzzSeeds(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
}

// FuzzCSV: any bytes give an input error, or data that survive writing and reading.
func FuzzCSV(f *testing.F) {
	fuzzSeeds(f, "x,y,label\n1,2,a\n3,4,b\n", "id,x\nr1,1\n\"r,2\",\"2\"\n", "\ufeffx\r\n1\r\n", "x\n1\n\n2",
		"x,label\n1,\"a\nb\"\n",
		"a\"b\n", "\"", "x,y\n1,NaN\n", "x\n\x00", "x\n1e400", "label\na", "0,1\n1,2", ",1\n1,2")
	f.Fuzz(func(t *testing.T, b []byte) {
		sameAsStandard(t, string(b))
		d, err := Decode(bytes.NewReader(b), "f.csv", "", ReadOptions{MaxLine: 1 << 16})
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		roundTrip(t, d, "csv")
	})
}

// roundTrip writes data and reads them again: the result must be bit-identical.
func roundTrip(t testing.TB, d *Data, format string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteData("-", d, WriteOptions{Format: format, Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b, d.Name, format, ReadOptions{})
	if err != nil {
		t.Fatalf("reading what was written: %v\n%q", err, fmt.Sprint(d))
	}
	if Fingerprint(d.Points) != Fingerprint(got.Points) {
		t.Fatalf("points changed: %v, want %v", got.Points, d.Points)
	}
	want := *d
	want.Points, got.Points, want.Warnings = nil, nil, nil                  // remarks are on the file
	got.Warnings = slices.DeleteFunc(got.Warnings, func(text string) bool { // of names that are numbers
		return strings.HasPrefix(text, "the header looks like a row")
	})
	if len(got.Warnings) == 0 {
		got.Warnings = nil
	}
	if strings.HasPrefix(format, "npy") {
		want.Features, want.IDs, want.Labels = nil, nil, nil
	}
	if diff := difftest.Diff(&want, got); diff != "" {
		t.Fatalf("%s", diff)
	}
}

// FuzzGzip: bytes that claim to be compressed, in both formats.
func FuzzGzip(f *testing.F) {
	f.Add(gziptest.Zip("x\n1\n"))
	f.Add(gziptest.Zip(npyFile("<f8", false, "(1,)", []float64{1}))[:40])
	f.Add([]byte("x\n1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range []string{"csv.gz", "npy.gz"} {
			_, err := Decode(bytes.NewReader(b), "f", format,
				ReadOptions{MemoryLimit: 1 << 24, MaxLine: 1 << 16})
			if err != nil && !fault.IsInput(err) {
				t.Fatalf("%s: error %v is not an input error", format, err)
			}
		}
	})
}

// TestNumbersOfSourceCode: cells that only a compiler reads as numbers are refused by their place.
func TestNumbersOfSourceCode(t *testing.T) {
	for _, cell := range []string{"1_000", "0x1p3", "0X1P3", "1_0.5"} {
		for name, text := range map[string]string{"t.csv": "a,b\n1,2\n3," + cell + "\n",
			"t.svm": "1 1:2\n2 2:" + cell + "\n"} {
			_, err := Decode(strings.NewReader(text), name, "", ReadOptions{})
			if de, ok := errors.AsType[*fault.DataError](err); !ok || de.Line == 0 ||
				!strings.Contains(err.Error(), cell) {
				t.Errorf("%s with %s: error %v, want one with line and text", name, cell, err)
			}
		}
	}
}

// TestWideRecords: the columns of a header are priced before they are kept, and fields beyond the
// header are counted without being kept, quoted or not.
func TestWideRecords(t *testing.T) {
	const width = 10_000
	header := "c0"
	for i := range width - 1 {
		header += ",c" + strconv.Itoa(i+1)
	}
	_, err := decodeText(header+"\n", "x.csv", ReadOptions{MemoryLimit: width * columnBytes / 2})
	if me, is := errors.AsType[*fault.MemoryError](err); !is || me.Need != width*columnBytes {
		t.Errorf("a header of %d columns: error %v, want one of memory", width, err)
	}
	row := strings.Repeat("1,", width-1) + "1\n"
	if _, err := decodeText(header+"\n"+row, "x.csv",
		ReadOptions{MemoryLimit: width * columnBytes}); err != nil {
		t.Error(err)
	}
	for _, more := range []string{"1", `"1"`} {
		text := "a,b\n1,2\n3,4" + strings.Repeat(","+more, width) + "\n"
		if _, err = decodeText(text, "x.csv", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), "it has 10002 fields: want 2") {
			t.Errorf("a long record: error %v", err)
		}
		r, err := newCSVReader(newSource("x.csv", strings.NewReader(text), -1, false), 0)
		if err != nil {
			t.Fatal(err)
		}
		r.width = 2
		for range 3 {
			if _, _, err := r.next(); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.fields) != 2 || r.surplus != width {
			t.Errorf("a record of %d fields: %d are kept, %d are counted", width+2, len(r.fields), r.surplus)
		}
	}
}

// cell returns a number in one of the forms that files have.
func cell(t *rapid.T, rng *rand.Rand) string {
	v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20))
	switch rapid.IntRange(0, 5).Draw(t, "way") {
	case 0:
		return strconv.Itoa(rng.IntN(2000) - 1000)
	case 1:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case 2:
		return strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(17), 64)
	case 3:
		return strconv.FormatFloat(v, 'e', rng.IntN(20), 64)
	case 4:
		return []string{"-0", "0.", ".5", "-.25", "+1", "00012", "1e3", "9007199254740993.0",
			"0.1234567890123456"}[rng.IntN(9)]
	}
	return strconv.FormatFloat(rng.NormFloat64(), 'f', 5, 64)
}

// Quotes around fields and spaces in front of them prevent the fast path: the values are
// bit-identical.
func TestPlainRecordsAreRecords(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		columns := []string{"x", "y", "id", "z", "label"}[:rapid.IntRange(1, 5).Draw(t, "columns")]
		rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		var plain, long strings.Builder
		for _, text := range []*strings.Builder{&plain, &long} {
			fmt.Fprintln(text, strings.Join(columns, ","))
		}
		for i := range rapid.IntRange(1, 30).Draw(t, "rows") {
			fields := make([]string, len(columns))
			for c, name := range columns {
				switch name {
				case "id":
					fields[c] = fmt.Sprint("p", i)
				case "label":
					fields[c] = []string{"a", "bé", "c d"}[rng.IntN(3)]
				default:
					fields[c] = cell(t, rng)
				}
			}
			fmt.Fprintln(&plain, strings.Join(fields, ","))
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&long, "\"%s\"\n", strings.Join(fields, `","`))
			} else {
				fmt.Fprintf(&long, " %s\n", strings.Join(fields, ", "))
			}
		}
		want, err := Decode(strings.NewReader(long.String()), "-", "csv", ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, long.String())
		}
		got, err := Decode(strings.NewReader(plain.String()), "-", "csv", ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, plain.String())
		}
		if diff := difftest.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", diff, plain.String())
		}
	})
}

// Records that are not plain are reported with the right row and line after any plain records.
func TestPlainRecordsThenProblems(t *testing.T) {
	for text, words := range map[string][]string{
		"id,x\na,1\nb,2\na,3\n":            {"line 4", "row 2", "id"},
		"x,id\n1,a\n2,\n":                  {"line 3", "row 1", "empty"},
		"x,y\n1,2\n3\n":                    {"line 3", "row 1", "1 field"},
		"x,y\n1,2\n3,4,5\n":                {"line 3", "row 1", "3 fields"},
		"x,y\n1,2\n\n3,4\n":                {"line 3", "blank"},
		"x,y\n1,2\n3,inf\n":                {"line 3", "row 1", `"y"`},
		"x,y\n1,2\n3,4 \n5,6\n7,8e999\n":   {"line 5", "row 3", "range"},
		"x,y\n1,2\n3,4\r5\n":               {"line 3", "carriage"},
		"x,y\n1,2\n" + "3,\"4\n5\"\n6,x\n": {"row 1"},
	} {
		_, err := Decode(strings.NewReader(text), "-", "csv", ReadOptions{})
		if err == nil {
			t.Errorf("%q: no error", text)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: no %q in: %v", text, w, err)
			}
		}
	}
}

// A byte order mark is removed at the beginning of a record, but not inside a field of several
// lines.
func TestMarkInsideAField(t *testing.T) {
	d, err := Decode(strings.NewReader("\ufeffid,x\n\ufeff\"a\n\ufeffb\",1\n"), "-", "csv", ReadOptions{})
	if err != nil || d.IDs[0] != "a\n\ufeffb" {
		t.Fatalf("%+v, %v", d, err)
	}
}

// A file of links keeps the column that they were made from, whatever its name is.
func TestLinksKeepTheirLabel(t *testing.T) {
	set, err := links.New(3, []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	propertytest.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-c ",#:;\n\t\\]{0,5}`), rapid.String()).
			Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }).Draw(t, "name")
		for _, file := range []string{"l.csv", "l.csv.gz"} {
			path := filepath.Join(dir, file)
			if err := WriteLinks(path, set.WithLabel(name), nil, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			c := LinkContext{N: 3}
			back, err := ReadLinks(Input{Name: path}, c)
			if err != nil {
				t.Fatal(err)
			}
			if must, cannot := back.Count(); back.Label() != name || must != 1 || cannot != 1 {
				t.Fatalf("%d must, %d cannot, label %q: want 1, 1 and %q", must, cannot, back.Label(), name)
			}
			if pairs, err := ReadPairs(Input{Name: path}, c); err != nil || len(pairs) != 2 {
				t.Fatalf("pairs %v, %v", pairs, err)
			}
			stream, err := OpenPairs(Input{Name: path}, c)
			if err != nil {
				t.Fatal(err)
			}
			if pairs, err := stream.Next(9); err != nil || len(pairs) != 2 {
				t.Fatalf("pairs %v, %v of a stream", pairs, err)
			}
			stream.Close()
		}
	})
}

// Every file that refers to rows may begin with comments, and lines are counted with them. Below
// the header a line with # is data.
func TestCommentsBeforeTheHeader(t *testing.T) {
	const comment = "\ufeff# of \"a; b\"\r\n#\n"
	c := LinkContext{N: 4, IDs: []string{"#0", "#1", "#2", "#3"}, By: ByID}
	in := func(text string) *bytes.Reader { return bytes.NewReader([]byte(comment + text)) }
	set, err := ReadLinks(Input{Name: "l.csv", Stream: in("i;j;link\n#0;#1;must\n")}, c)
	if err != nil || set.Len() != 1 || set.Label() != "" || set.Must()[0].Line != 4 {
		t.Errorf("links %v, %v", set, err)
	}
	if list, err := ReadChunklets(Input{Name: "c.csv", Stream: in("i,chunklet\n#0,a\n")}, c); err != nil ||
		len(list) != 1 {
		t.Errorf("chunklets %v, %v", list, err)
	}
	if list, err := ReadTriplets(Input{Name: "t.csv", Stream: in("i,j,k\n#0,#1,#3\n")},
		c); err != nil || len(list) != 1 {
		t.Errorf("triplets %v, %v", list, err)
	}
	if list, err := ReadQuadruplets(Input{Name: "q.csv", Stream: in("i,j,k,l\n#0,#1,#2,#3\n")},
		c); err != nil ||
		len(list) != 1 {
		t.Errorf("quadruplets %v, %v", list, err)
	}
	_, err = ReadLinks(Input{Name: "l.csv", Stream: in("i,j,link\n#0,#9,must\n")}, c)
	if wrong, is := errors.AsType[*fault.DataError](err); !is || wrong.Line != 4 {
		t.Errorf("error %v: want one of line 4", err)
	}
	for _, text := range []string{"# only a comment", "# one\n\n# two\ni,j,link\n#0,#1,must\n"} {
		if _, err := ReadLinks(Input{Name: "l.csv", Stream: strings.NewReader(text)},
			c); !fault.IsInput(err) {
			t.Errorf("%q: error %v, want one of the input", text, err)
		}
	}
}

// TestUTF16InPieces reads characters of one to four bytes into buffers that end inside them, and a
// file with lines longer than the buffers of the readers.
func TestUTF16InPieces(t *testing.T) {
	const text = "aé€😀,b\n"
	wide := []byte{}
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for size := 1; size <= 9; size++ {
		r := &utf16Reader{in: bufio.NewReader(bytes.NewReader(wide)), name: "x.csv"}
		var got []byte
		p := make([]byte, size)
		for {
			n, err := r.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		if string(got) != text {
			t.Errorf("pieces of %d bytes make %q, want %q", size, got, text)
		}
	}
	for shift := range 4 { // of where the buffer ends
		file := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune("a\n" + strings.Repeat("1\n", shift) + "0." +
			strings.Repeat("0", 3*bufferSize) + "1\n")) {
			file = append(file, byte(u), byte(u>>8))
		}
		if d, err := decodeText(string(file), "x.csv", ReadOptions{}); err != nil ||
			d.Points.Len() != shift+1 {
			t.Errorf("long lines of UTF-16, %d before: error %v", shift, err)
		}
	}
}

// wrongRows are bad lines of a CSV file with the columns id, a, b, label.
var wrongRows = []string{"p%d,1,oops,x", "p%d,1,x", "p%d,NaN,2,x", ",1,%d,x", "p\xff%d,1,2,x", `p%d,1,2,x"y`,
	"p%d,,Inf,x", ""}

// A stream that skips bad rows returns the others and reports each bad row once.
func TestBadRowsOfCSV(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		var text strings.Builder
		text.WriteString("id,a,b,label\n")
		var right, wrong []int
		for i := range n {
			kind := rapid.IntRange(-3*len(wrongRows), len(wrongRows)-1).Draw(rt, "kind")
			if kind >= 0 && wrongRows[kind] == "" &&
				(i == n-1 || len(wrong) > 0 && wrong[len(wrong)-1] == i-1) {
				kind = 0 // consecutive blank lines are one bad row, and none at the end
			}
			if kind < 0 {
				fmt.Fprintf(&text, "p%d,%d,0.5,x\n", i, i)
				right = append(right, i)
				continue
			}
			wrong = append(wrong, i)
			if wrongRows[kind] != "" {
				fmt.Fprintf(&text, wrongRows[kind], i)
			}
			text.WriteString("\n")
		}
		path := filepath.Join(dir, "data.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			rt.Fatal(err)
		}
		checkBadRows(rt, path, right, wrong, nil)
	})
}

// checkBadRows reads a file whose first column is the row number.
func checkBadRows(rt *rapid.T, path string, right, wrong []int, extensions []Extension) {
	rt.Helper()
	var passed, kept []int
	s, err := OpenStream(path, ReadOptions{Extensions: extensions, BadRow: func(e *fault.DataError) {
		if e.File != path || e.Err == nil {
			rt.Fatalf("skipped with %v", e)
		}
		passed = append(passed, e.Row)
	}})
	if err != nil {
		rt.Fatal(err)
	}
	defer s.Close()
	for {
		d, err := s.Next(rapid.IntRange(1, 9).Draw(rt, "limit"))
		if err == io.EOF {
			break
		}
		if err != nil {
			rt.Fatal(err)
		}
		x := d.Points.(*points.Dense)
		if x.N == 0 || len(x.Data) != x.N*x.D || d.IDs != nil && len(d.IDs) != x.N || d.Labels != nil &&
			len(d.Labels) != x.N {
			rt.Fatalf("a block of %d rows has %d values, %d ids, %d labels", x.N, len(x.Data), len(d.IDs),
				len(d.Labels))
		}
		for i := range x.N {
			row := int(x.Data[i*x.D])
			kept = append(kept, row)
			if d.IDs != nil && d.IDs[i] != fmt.Sprint("p", row) {
				rt.Fatalf("row %d has the id %s", row, d.IDs[i])
			}
		}
	}
	slices.Sort(passed) // within a block of columns the order is that of columns
	if !slices.Equal(kept, right) || !slices.Equal(passed, wrong) {
		rt.Fatalf("kept %v and skipped %v: want %v and %v", kept, passed, right, wrong)
	}
	if s.Done() != len(right) {
		rt.Fatalf("done %d of %d", s.Done(), len(right))
	}
}

func TestBadRowsOfNPY(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 30).Draw(rt, "n"), rapid.IntRange(2, 4).Draw(rt, "d")
		data := make([]float64, n*d)
		var right, wrong []int
		for i := range n {
			data[i*d] = float64(i)
			if rapid.IntRange(0, 3).Draw(rt, "wrong") > 0 {
				right = append(right, i)
				continue
			}
			wrong = append(wrong, i)
			for range 2 { // in one place or two
				data[i*d+1+rapid.IntRange(0, d-2).Draw(rt, "at")] = []float64{math.NaN(), math.Inf(1)}[i%2]
			}
		}
		path := filepath.Join(dir, "data.npy")
		text := npyPreamble("<f8", n, d)
		for _, v := range data {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			rt.Fatal(err)
		}
		checkBadRows(rt, path, right, wrong, nil)
	})
}

// A problem of the file as a whole is still an error.
func TestBadRowsAndBadFile(t *testing.T) {
	for name, text := range map[string]string{
		"header": "a,a\n1,2\n", "a quote is open": "a,id\n1,x\n2,\"y\n", "binary": "a,b\n1,2\n\x00\n",
		"no features": "id,label\nx,y\n",
	} {
		passed := 0
		o := ReadOptions{BadRow: func(*fault.DataError) { passed++ }}
		s, err := DecodeStream(strings.NewReader(text), name, "csv", o)
		for err == nil {
			_, err = s.Next(1)
		}
		if !fault.IsInput(err) || passed > 0 {
			t.Errorf("%s: %v, after %d skipped rows", name, err, passed)
		}
	}
}

// After any sequence of skips and reads, the next rows are those of the whole file.
func TestSkip(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		path := filepath.Join(dir,
			"data."+rapid.SampledFrom([]string{"csv", "npy", "csv.gz", "npy.gz"}).Draw(rt, "format"))
		if err := WriteData(path, &Data{Points: x}, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		checkSkip(rt, path, x.Data, ReadOptions{})
	})
}

// checkSkip reads and skips rows of a file of three columns at random.
func checkSkip(rt *rapid.T, path string, want []float64, o ReadOptions) {
	s, err := OpenStream(path, o)
	if err != nil {
		rt.Fatal(err)
	}
	defer s.Close()
	n := len(want) / 3
	for at := 0; at < n; {
		k := rapid.IntRange(0, n-at).Draw(rt, "skip")
		if err := s.Skip(k); err != nil {
			rt.Fatal(err)
		}
		if at += k; at == n {
			break
		}
		d, err := s.Next(rapid.IntRange(1, n-at).Draw(rt, "read"))
		if err != nil {
			rt.Fatal(err)
		}
		got := d.Points.(*points.Dense).Data
		if !slices.Equal(got, want[3*at:3*at+len(got)]) {
			rt.Fatalf("rows from %d on differ", at)
		}
		at += d.Points.Len()
		if s.Done() != at {
			rt.Fatalf("done %d: want %d", s.Done(), at)
		}
	}
	if err := s.Skip(1); err != io.EOF {
		rt.Fatalf("skipping after the end: %v", err)
	}
	if _, err := s.Next(1); err != io.EOF {
		rt.Fatalf("reading after the end: %v", err)
	}
}
