package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
)

// mixedOf reads a text as a mixed table.
func mixedOf(t testing.TB, text string, o ReadOptions) (*points.Mixed, *Data) {
	t.Helper()
	o.Mixed = true
	d, err := decode(text, o)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := d.Points.(*points.Mixed)
	if !ok {
		t.Fatalf("points are %T, want *points.Mixed", d.Points)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p, d
}

// A customer's table goes in as it is.
func TestReadMixed(t *testing.T) {
	p, d := mixedOf(t, `id,day,country,plan,income,name,label
1,2024-01-05,PT,basic,1200.5,"Smith, John",a
2,2024-02-01,,pro,,"O""Hara",b
3,NA,PT,pro,-3e2, Lee,a
4,2024-01-05,n/a,?,null,Écija,b
`, ReadOptions{})
	nan := math.NaN()
	want := &points.Mixed{N: 4, Columns: []points.Column{
		{Name: "day", Codes: []int32{0, 1, -1, 0}, Levels: []string{"2024-01-05", "2024-02-01"}},
		{Name: "country", Codes: []int32{0, -1, 0, -1}, Levels: []string{"PT"}},
		{Name: "plan", Codes: []int32{0, 1, 1, -1}, Levels: []string{"basic", "pro"}},
		{Name: "income", Numbers: []float64{1200.5, nan, -300, nan}},
		{Name: "name", Codes: []int32{0, 1, 2, 3}, Levels: []string{"Smith, John", `O"Hara`, "Lee", "Écija"}},
	}}
	if diff := difftest.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, "") + strings.Join(d.IDs, ""); got != "abab1234" {
		t.Errorf("labels and ids %q", got)
	}
}

// White space around a cell never counts, in quotes or not.
func TestWhiteSpaceAroundCells(t *testing.T) {
	p, d := mixedOf(t, "id , c,x,label\n u1,a,1,p\nu2 ,a ,2, p\n u3 ,\" a\", 3 ,p \nu4,\"a \t\",\" "+
		"4\",\"p\"\n\"u5\n\",\u00a0a\u00a0,5,\" p\"\nu6,\" NA \",NA ,q\n", ReadOptions{})
	want := &points.Mixed{N: 6, Columns: []points.Column{
		{Name: "c", Codes: []int32{0, 0, 0, 0, 0, -1}, Levels: []string{"a"}},
		{Name: "x", Numbers: []float64{1, 2, 3, 4, 5, math.NaN()}},
	}}
	if diff := difftest.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, "") + strings.Join(d.IDs, ""); got != "pppppqu1u2u3u4u5u6" {
		t.Errorf("labels and ids %q", got)
	}
	for _, ids := range [][]string{d.IDs, {"u1", "u2 ", " u3", "u4", "u5", "u6"}} {
		set, err := ReadLinks(Input{Name: "l.csv", Stream: strings.NewReader("i,j,link\nu2, u3 , must \n")},
			LinkContext{N: 6, IDs: ids, By: ByID})
		if err != nil || set.Len() != 1 {
			t.Errorf("links of %q: %v, %v: want one", ids, set, err)
		}
	}
	if _, err := decode("id,x\nu1,1\nu1 ,2\n", ReadOptions{}); err == nil ||
		!strings.Contains(err.Error(), `id "u1" is already on line 2`) {
		t.Errorf("error %v of ids that differ by white space: want a refusal", err)
	}
}

// tableText returns a table of n rows and 20 columns as companies have them: 10 of numbers, one
// with gaps, 6 of categories, 2 of dates, one of booleans and one of almost different texts.
func tableText(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for j := range 20 {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "c%d", j)
	}
	b.WriteByte('\n')
	begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	levels := []int{3, 5, 8, 12, 20, 40}
	for i := range n {
		for j := range 10 {
			if j == 3 && rng.IntN(10) == 0 {
				b.WriteByte(',')
				continue
			}
			b.Write(strconv.AppendFloat(nil, rng.NormFloat64(), 'f', 5, 64))
			b.WriteByte(',')
		}
		for j, k := range levels {
			fmt.Fprintf(&b, "level%d_%d,", j, rng.IntN(k))
		}
		for range 2 {
			b.WriteString(begin.AddDate(0, 0, rng.IntN(1500)).Format("2006-01-02,"))
		}
		b.WriteString([]string{"true,", "false,"}[rng.IntN(2)])
		fmt.Fprintf(&b, "A-%07d\n", i*7919%(n+1))
	}
	return b.Bytes()
}

// BenchmarkDecodeMixed compares a table of 20 columns of several kinds with one of 20 numbers.
func BenchmarkDecodeMixed(b *testing.B) {
	const rows = 200_000
	for name, text := range map[string][]byte{"numbers": csvText(rows, 20), "kinds": tableText(rows)} {
		for _, mixed := range []bool{false, true} {
			if name == "kinds" && !mixed {
				continue
			}
			b.Run(fmt.Sprintf("%s,mixed=%v", name, mixed), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Decode(bytes.NewReader(text), "-", "csv",
						ReadOptions{Mixed: mixed}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(20*rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
			})
		}
	}
}

// csvText returns a data file of n rows and d features with about 8 characters a value,
// as measured data have, and a label.
func csvText(n, d int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for j := range d {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("label\n")
	for i := range n {
		for range d {
			b.Write(strconv.AppendFloat(nil, rng.NormFloat64(), 'f', 5, 64))
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "c%d\n", i%3)
	}
	return b.Bytes()
}

func BenchmarkDecodeCSV(b *testing.B) {
	for _, s := range [][2]int{{20000, 16}, {500, 1024}} {
		text := csvText(s[0], s[1])
		b.Run(fmt.Sprintf("n=%d,d=%d", s[0], s[1]), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(bytes.NewReader(text), "-", "csv", ReadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeNPY(b *testing.B) {
	var file bytes.Buffer
	data := make([]float64, 1<<20)
	if err := WriteMatrix("-", 1<<10, 1<<10, data, 1<<10, nil,
		WriteOptions{Format: "npy", Stdout: &file}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := Decode(bytes.NewReader(file.Bytes()), "-", "npy", ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteCSV(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	data := make([]float64, 1<<18)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	b.SetBytes(8 * int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteMatrix("-", 1<<10, 1<<8, data, 1<<8, nil,
			WriteOptions{Format: "csv", Stdout: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	d, err := Generate("blobs", GenerateOptions{N: 1 << 18})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(16 << 18)
	for b.Loop() {
		Fingerprint(d.Points)
	}
}
