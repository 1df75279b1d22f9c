package dataset

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzStream: a file that can be read at once gives bit-identical rows in blocks of any size,
// unless it is an array by columns; any other bytes are an input error for both readers.
func FuzzStream(f *testing.F) {
	for k, text := range []string{"id,x,label\nr1,1,a\n\"r,2\",2,b\n", "x\n1\n\n2", "x,y\n1,NaN\n", "x\n1\nq\n", "x,y\n"} {
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
			if Fingerprint(x) != Fingerprint(whole.Points) || !slices.Equal(labels, whole.Labels) || !slices.Equal(ids, whole.IDs) {
				t.Fatalf("%s: %v, %q, %q in blocks, %v, %q, %q as a whole", format, x, labels, ids, whole.Points, whole.Labels, whole.IDs)
			}
		}
	})
}

// streamed reads all blocks.
func streamed(b []byte, format string, limit int, o ReadOptions) (x *points.Dense, labels, ids []string, err error) {
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
