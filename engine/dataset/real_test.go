package dataset

import (
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// realData returns the path of a file of the real data sets.
func realData(t testing.TB, name string) string {
	dir := os.Getenv("MUSTLINK_DATA")
	if dir == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	return filepath.Join(dir, name)
}

// realFile is a file of the benchmark data, with the counts of its description.
type realFile struct {
	file    string
	options ReadOptions
	n, d    int
	classes int
	counts  map[string]int // of some or all classes
}

func realFiles() []realFile {
	return []realFile{
		{"iris.csv", ReadOptions{}, 150, 4, 3,
			map[string]int{"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}},
		{"ionosphere.csv", ReadOptions{}, 351, 34, 2, map[string]int{"b": 126, "g": 225}},
		{"letter.csv.gz", ReadOptions{}, 20000, 16, 26, nil},
		{"yaleb-2.csv.gz", ReadOptions{}, 128, 1024, 2, map[string]int{"1": 64, "2": 64}},
		{"text-baseball-hockey.svm.gz", ReadOptions{}, 1993, 4862, 2, map[string]int{"1": 994, "2": 999}},
		{"text-pc-mac.svm.gz", ReadOptions{}, 1943, 3289, 2, map[string]int{"1": 982, "2": 961}},
		{"text-religion-atheism.svm.gz", ReadOptions{}, 1427, 4322, 2, map[string]int{"1": 779, "2": 648}},
		{"adult.svm.gz", ReadOptions{}, 16281, 122, 2, map[string]int{"-1": 12435, "1": 3846}},
		{"adult.svm.gz", ReadOptions{Features: 123}, 16281, 123, 2, map[string]int{"-1": 12435, "1": 3846}},
		{"adult-train.svm.gz", ReadOptions{}, 32561, 123, 2, map[string]int{"-1": 24720, "1": 7841}},
		{"scop40.fasta.gz", ReadOptions{HeaderLabels: true}, 11206, 20, 1960,
			map[string]int{"c.37.1": 252, "c.2.1": 221, "a.4.5": 193}},
		{"mnist-t10k-images-idx3-ubyte.gz", ReadOptions{Labels: "mnist-t10k-labels-idx1-ubyte.gz"}, 10000,
			784, 10,
			map[string]int{"0": 980, "1": 1135, "2": 1032, "3": 1010, "4": 982, "5": 892, "6": 958, "7": 1028,
				"8": 974, "9": 1009}},
	}
}

// The files of the benchmark data have the shapes and classes of their descriptions.
func TestRealFiles(t *testing.T) {
	for _, c := range realFiles() {
		o := c.options
		if o.Labels != "" {
			o.Labels = realData(t, o.Labels)
		}
		d, err := Read(realData(t, c.file), o)
		if err != nil {
			t.Error(err)
			continue
		}
		classes := make(map[string]int)
		for _, l := range d.Labels {
			classes[l]++
		}
		if d.Points.Len() != c.n || d.Points.Dim() != c.d || len(classes) != c.classes ||
			len(d.Labels) != c.n {
			t.Errorf("%s: %d x %d, %d labels of %d classes, want %d x %d, %d", c.file, d.Points.Len(),
				d.Points.Dim(), len(d.Labels), len(classes), c.n, c.d, c.classes)
		}
		for label, want := range c.counts {
			if classes[label] != want {
				t.Errorf("%s: class %s has %d rows, want %d", c.file, label, classes[label], want)
			}
		}
	}
}

// BenchmarkReadReal compares reading with decompression alone; it counts the decompressed bytes.
func BenchmarkReadReal(b *testing.B) {
	for _, name := range []string{"mnist-train-images-idx3-ubyte.gz", "adult-train.svm.gz",
		"text-baseball-hockey.svm.gz", "scop40.fasta.gz", "usps.csv.gz"} {
		path := realData(b, name)
		size := unpack(b, path)
		b.Run("unpack/"+name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				unpack(b, path)
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(path, ReadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// unpack returns the number of decompressed bytes of a file.
func unpack(b testing.TB, path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err := cmp.Or(err, z.Close()); err != nil {
		b.Fatal(err)
	}
	return n
}
