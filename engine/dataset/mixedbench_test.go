package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

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
					if _, err := Decode(bytes.NewReader(text), "-", "csv", ReadOptions{Mixed: mixed}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(20*rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
			})
		}
	}
}
