package arrow_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/failtest"
	"github.com/mustlink/mustlink/internal/gziptest"
)

var extensions = []dataset.Extension{arrow.Format(), parquet.Format()}

// written returns what a writer of a format writes.
func written(t *testing.T, write func(o dataset.WriteOptions) error, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(dataset.WriteOptions{Format: format, Stdout: &b, Extensions: extensions}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// matrix writes some rows.
func matrix(o dataset.WriteOptions) error {
	return dataset.WriteMatrix("-", 5, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2, nil, o)
}

// TestFailingReaders: the error of a reader comes through from every format, whole and as a stream.
func TestFailingReaders(t *testing.T) {
	texts := map[string]string{
		"csv":   "a,b,label\n1,2,x\n3,4,y\n5,6,x\n",
		"tsv":   "a\tb\tlabel\n1\t2\tx\n3\t4\ty\n",
		"jsonl": "{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n",
		"svm":   "1 1:2 3:4\n-1 2:5\n",
		"idx":   "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03abcdef",
		"fasta": ">a\nACGT\nAC\n>b\nGGT\n",
	}
	for _, format := range dataset.Formats(extensions...) {
		for _, ending := range []string{"", ".gz"} {
			name, content := format+ending, []byte(texts[format])
			switch {
			case len(content) == 0:
				content = written(t, matrix, name)
			case ending != "":
				content = gziptest.Zip(content)
			}
			o := dataset.ReadOptions{Extensions: extensions}
			failtest.Reads(t, name, content, func(r io.Reader) error {
				_, err := dataset.Decode(r, "-", name, o)
				return err
			})
			if slices.Contains([]string{"svm", "idx", "fasta"}, format) { // which have no streams
				continue
			}
			failtest.Reads(t, name+" stream", content, func(r io.Reader) error {
				s, err := dataset.DecodeStream(r, "-", name, o)
				for err == nil {
					_, err = s.Next(2)
				}
				if err == io.EOF {
					err = nil
				}
				return err
			})
		}
	}
	c := dataset.LinkContext{N: 4}
	for name, f := range map[string]struct {
		content string
		read    func(r io.Reader) error
	}{
		"links": {"i,j,link\n0,1,must\n2,3,cannot\n", func(r io.Reader) error {
			_, err := dataset.ReadLinks(dataset.Input{Name: "-", Stream: r}, c)
			return err
		}},
		"pairs": {"i,j\n0,1\n2,3\n", func(r io.Reader) error {
			_, err := dataset.ReadPairs(dataset.Input{Name: "-", Stream: r}, c)
			return err
		}},
		"triplets": {"i,j,k\n0,1,2\n2,3,1\n", func(r io.Reader) error {
			_, err := dataset.ReadTriplets(dataset.Input{Name: "-", Stream: r}, c)
			return err
		}},
		"quadruplets": {"i,j,k,l\n0,1,2,3\n2,3,1,0\n", func(r io.Reader) error {
			_, err := dataset.ReadQuadruplets(dataset.Input{Name: "-", Stream: r}, c)
			return err
		}},
		"chunklets": {"i,chunklet\n0,a\n1,a\n2,b\n", func(r io.Reader) error {
			_, err := dataset.ReadChunklets(dataset.Input{Name: "-", Stream: r}, c)
			return err
		}},
		"labels": {"id,label\na,x\nb,y\n", func(r io.Reader) error {
			_, err := dataset.ReadLabels(dataset.Input{Name: "-", Stream: r}, dataset.ReadOptions{})
			return err
		}},
	} {
		failtest.Reads(t, name, []byte(f.content), f.read)
	}
}

// TestFailingWriters: the error of a writer comes through from every format, and so does that of a
// source of rows, which leaves an older file as it was.
func TestFailingWriters(t *testing.T) {
	set, err := links.New(4, []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]func(o dataset.WriteOptions) error{
		"labels": func(o dataset.WriteOptions) error {
			return dataset.WriteLabels("-", []string{"x", "y"}, nil, o)
		},
		"links": func(o dataset.WriteOptions) error { return dataset.WriteLinks("-", set, nil, o) },
		"pairs": func(o dataset.WriteOptions) error {
			return dataset.WritePairs("-", [][2]int{{0, 1}, {2, 3}}, nil, o)
		},
	}
	try := func(name, format string, write func(dataset.WriteOptions) error) {
		failtest.Writes(t, name+" "+format, func(w io.Writer) error {
			return write(dataset.WriteOptions{Format: format, Stdout: w, Extensions: extensions})
		})
	}
	for _, ending := range []string{"", ".gz"} {
		for name, write := range tables {
			try(name, "csv"+ending, write)
		}
		for _, format := range dataset.OutputFormats(extensions...) {
			try("matrix", format+ending, matrix)
			for k := range 4 {
				path := filepath.Join(t.TempDir(), "x."+format+ending)
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				calls := 0
				err := dataset.WriteRows(path, 4, 1, func() (dataset.Rows, error) {
					if calls++; calls > k {
						return dataset.Rows{}, failtest.Err
					}
					return dataset.Rows{Data: []float64{1}}, nil
				}, dataset.WriteOptions{Extensions: extensions})
				content, read := os.ReadFile(path)
				if !errors.Is(err, failtest.Err) || read != nil || string(content) != "old" {
					t.Errorf("%s whose source fails after %d rows: error %v, file %q, %v", path, k, err, content, read)
				}
				if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
					t.Errorf("%s: %d files are left, %v", path, len(left), err)
				}
			}
		}
	}
}
