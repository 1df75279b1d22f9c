package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
)

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
	if err := WriteMatrix("-", 1<<10, 1<<10, data, 1<<10, nil, WriteOptions{Format: "npy", Stdout: &file}); err != nil {
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
		if err := WriteMatrix("-", 1<<10, 1<<8, data, 1<<8, nil, WriteOptions{Format: "csv", Stdout: io.Discard}); err != nil {
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
