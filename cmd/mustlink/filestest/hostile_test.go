package filestest

import (
	"bufio"
	little "encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/gziptest"
)

// memoryBound is the memory that no command may exceed for a hostile file: a process requires some
// 30 MiB, and the tests set limits of 16 MiB of values, and 256 MiB for models.
const memoryBound = 512 << 20

// wantRefused requires an input error of the command, in bounded memory.
func wantRefused(t *testing.T, dir, line string, stdin io.Reader, words ...string) {
	t.Helper()
	before := clitest.Names(t, dir)
	forgetPeak()
	cmd := commandtest.Command(dir, strings.Fields(line)...)
	cmd.Stdin = stdin
	commandtest.WantInputError(t, dir, clitest.Finish(t, cmd), before, words...)
	if peak, ok := peakMemory(cmd.ProcessState); ok {
		if peak > memoryBound {
			t.Errorf("peak memory %d MiB: want at most %d MiB", peak>>20, memoryBound>>20)
		}
		t.Logf("peak memory %d MiB", peak>>20)
	}
}

// filled is a model file with a header of the maximum size, 16 MiB: first, then as many copies of
// part as fit, with # replaced by their number, then last.
type filled struct{ first, part, last string }

// write writes the file in small pieces: memory that this process once used counts in the peak of
// the processes that it starts.
func (f filled) write(t *testing.T, path string) {
	t.Helper()
	const size = 16 << 20
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	_, _ = w.Write(little.LittleEndian.AppendUint64(nil, size))
	rest := size - len(f.last)
	put := func(text string) {
		n, _ := w.WriteString(text)
		rest -= n
	}
	put(f.first)
	if before, after, numbered := strings.Cut(f.part, "#"); numbered {
		for i := 0; ; i++ {
			number := strconv.Itoa(i)
			if len(before)+len(number)+len(after) > rest {
				break
			}
			put(before)
			put(number)
			put(after)
		}
	} else if f.part != "" {
		pieces := 1<<12/len(f.part) + 1
		for piece := strings.Repeat(f.part, pieces); len(piece) <= rest; {
			put(piece)
		}
		put(strings.Repeat(f.part, rest/len(f.part)))
	}
	_, _ = w.WriteString(f.last)
	for blank := strings.Repeat(" ", 1<<12); rest > 0; {
		put(blank[:min(rest, len(blank))])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestHostileModels: full headers of the maximum size, and sizes of missing data.
func TestHostileModels(t *testing.T) {
	const none = `"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}` // of no data
	const metadata = `{"__metadata__":{"mustlink":"{\"format_version\":1,\"method\":\"`
	const sound = metadata + `krca\"}",` + none
	const empty = `"dtype":"U8","shape":[0],"data_offsets":[0,0]}`
	const huge = sound + `,"x":{"dtype":"F64","shape":[137438953472],"data_offsets":[0,1099511627776]}`
	for _, c := range []struct {
		name  string
		file  filled
		hole  int64 // length of the data section, a hole
		words []string
	}{
		{"deep arrays", filled{`{"a":`, "[", ""}, 0, []string{"corrupted", "header"}},
		{"deep objects", filled{`{"__metadata__":{"mustlink":`, `{"a":`, ""}, 0,
			[]string{"corrupted", "header"}},
		{"deep status", filled{metadata + `krca\",\"status\":`, "[", `"}}`}, 0,
			[]string{"corrupted", "mustlink"}},
		{"many tensors", filled{sound, `,"t#":{` + empty, "}"}, 0, []string{"corrupted", "members"}},
		{"many dimensions", filled{sound + `,"t":{"dtype":"U8","shape":[0`, ",1", `],"data_offsets":[0,0]}}`},
			0, []string{"corrupted", "dimensions"}},
		{"many names", filled{metadata + `krca\",\"features\":[\"x\"`, `,\"\"`, `]}",` + none + "}"}, 0,
			[]string{"header of the model"}},
		{"many keys", filled{metadata + `krca\"}"`, `,"k#":""`, "," + none + "}"}, 0,
			[]string{"corrupted", "members"}},
		{"long name", filled{metadata, "krca", `\"}",` + none + "}"}, 0,
			[]string{"method is", "bytes", "krca"}},
		{"one tensor many times", filled{sound, `,"t":{` + empty, "}"}, 0, []string{"corrupted", "twice"}},
		{"no data for 1 TiB", filled{huge, "", "}"}, 0, []string{"early", "1099511627776"}},
		{"a hole of 1 TiB", filled{huge, "", "}"}, 1 << 40, []string{"1.0 TiB", "limit 256.0 MiB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := commandtest.Workspace(t)
			path := filepath.Join(dir, "bad.mlk")
			c.file.write(t, path)
			if c.hole > 0 {
				if err := os.Truncate(path, 8+16<<20+c.hole); err != nil {
					t.Skip("this file system takes no file of that size: ", err)
				}
			}
			wantRefused(t, dir, "embed bad.mlk -i data.csv -o out.csv --memory-limit 256MiB", nil,
				append(c.words, "bad.mlk")...)
		})
	}
}

// bomb writes a file of gzip data that decompress to head and then to copies of part, 4 GiB in all.
// A gzip file may be a sequence of gzip files: one of 1 MiB is compressed once and written again
// and again.
func bomb(t *testing.T, path, head, part string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	block := gziptest.Zip(strings.Repeat(part, 1<<20/len(part)+1))
	if _, err := file.Write(gziptest.Zip(head)); err != nil {
		t.Fatal(err)
	}
	for range 4096 {
		if _, err := file.Write(block); err != nil {
			t.Fatal(err)
		}
	}
}

// endless reads head and then copies of part without an end.
type endless struct{ head, part string }

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if e.head == "" {
			e.head = strings.Repeat(e.part, 1<<16/len(e.part)+1)
		}
		k := copy(p[n:], e.head)
		e.head, n = e.head[k:], n+k
	}
	return n, nil
}

const (
	npyStart = "\x93NUMPY\x01\x00\x45\x00{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 1)}    "
	idxStart = "\x00\x00\x08\x01\x7f\xff\xff\xff"
)

// TestEndlessInput: files that decompress to 4 GiB, and streams without an end, stop at the memory
// limit, at the limit of a line, or where they become longer than the data that they belong to.
func TestEndlessInput(t *testing.T) {
	const limit = "limit 16.0 MiB"
	fitOn := func(data string) string { return "fit -m krca -i " + data + " -c links.csv -o out.mlk" }
	for row, c := range []struct {
		name, line, head, part string
		words                  []string
	}{
		{"data.csv", fitOn("FILE"), "a,b\n", "0,0\n", []string{limit}},
		{"line.csv", fitOn("FILE"), "a,b\n", "0000", []string{"line 2", "longer than the limit"}},
		{"header.csv", fitOn("FILE"), "a", ",b", []string{"line 1", "longer than the limit"}},
		{"quote.csv", fitOn("FILE"), "a,b\n0,\"", "0\n", []string{"line 2", "quoted field"}},
		{"blank.csv", fitOn("FILE") + " --labels FILE", "a,label\n1,x\n", "1,x\n", []string{limit}},
		{"data.svm", fitOn("FILE"), "", "1 1:1\n", []string{limit}},
		{"row.svm", fitOn("FILE"), "1", " 1:1", []string{"line 1", "longer than the limit"}},
		{"data.fasta", fitOn("FILE"), ">a\n", "ACDEFGHIKL\n", []string{limit}},
		{"data.npy", fitOn("FILE"), npyStart, "\x00\x00\x00\x00\x00\x00\x00\x00", []string{limit}},
		{"data.idx", fitOn("FILE"), idxStart, "\x01\x02\x03\x04", []string{limit}},
		{"links.csv", "fit -m krca -i data.csv -c FILE -o out.mlk", "i,j,link\n", "0,2,must\n",
			[]string{limit}},
		{"chunklets.csv", "fit -m krca -i data.csv -c FILE -o out.mlk", "i,chunklet\n", "0,a\n1,a\n",
			[]string{limit}},
		{"more.csv", "update model.mlk -i data.csv -c FILE -o out.mlk", "i,chunklet\n", "0,a\n1,a\n",
			[]string{limit}},
		{"triplets.csv", "fit -m gml -i data.csv --triplets FILE -o out.mlk", "i,j,k\n", "0,2,1\n",
			[]string{limit}},
		{"quadruplets.csv", "fit -m lsml -i data.csv --quadruplets FILE -o out.mlk", "i,j,k,l\n", "0,2,1,3\n",
			[]string{limit}},
		{"targets.csv", "fit -m mlkr -i data.csv --targets FILE -o out.mlk", "target\n", "1\n",
			[]string{limit}},
		{"pairs.csv", "distance model.mlk -i data.csv --pairs FILE -o out.csv", "i,j\n", "0,2\n",
			[]string{limit}},
		{"labels.csv", "score --truth FILE --predicted data.csv", "label\n", "x\n",
			[]string{"data.csv: it has 20 labels: want", "or more"}},
	} {
		streams := c.name != "blank.csv" // labels of data cannot come from standard input
		files := c.name != "pairs.csv"   // pairs of a file are not kept in memory: their number is not limited
		for column, packed := range []bool{true, false} {
			if streams && files && !drawstest.Turn(row, column, 2) {
				continue
			}
			name, file := "stream of "+c.name, "-"
			if packed {
				name, file = c.name+".gz", c.name+".gz"
			}
			t.Run(name, func(t *testing.T) {
				dir := commandtest.WithModel(t)
				line := strings.ReplaceAll(c.line, "FILE", file) + " --memory-limit 16MiB"
				var stdin io.Reader
				switch {
				case packed && !files || !packed && !streams:
					return
				case packed:
					bomb(t, filepath.Join(dir, file), c.head, c.part)
				default:
					stdin = &endless{c.head, c.part}
					if strings.Contains(line, "-i -") {
						line += " --format " + strings.TrimPrefix(filepath.Ext(c.name), ".")
					}
				}
				wantRefused(t, dir, line, stdin, c.words...)
			})
		}
	}
	t.Run("stream of a model", func(t *testing.T) {
		dir := commandtest.WithModel(t)
		for _, head := range []string{"", string(little.LittleEndian.AppendUint64(nil, 8)) + "{}      ",
			clitest.Read(t, dir, "model.mlk")} {
			wantRefused(t, dir, "embed - -i data.csv -o out.csv --memory-limit 16MiB", &endless{head, "\x00"},
				"standard input", limit)
		}
	})
}

// TestWideSparseFile: a small file that names feature 2,147,483,647 takes no memory for the
// features before it: every command on it ends well, or refuses what its rows would take as dense
// ones.
func TestWideSparseFile(t *testing.T) {
	const limit = 100_000_000
	dir := commandtest.Workspace(t)
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "%d 1:%d.%d 2:%d", i%2+1, i%2, i, i%3)
		if i == 3 {
			text.WriteString(" 2147483647:1")
		}
		text.WriteString("\n")
	}
	clitest.Write(t, dir, "wide.svm", text.String())
	clitest.Write(t, dir, "few.csv",
		"i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,4,must\n2,6,must\n1,5,must\n3,7,must\n"+
			"0,1,cannot\n2,5,cannot\n4,7,cannot\n6,3,cannot\n0,5,cannot\n2,1,cannot\n4,3,cannot\n6,7,cannot\n")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n3,4\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -i wide.svm -c few.csv -o wide.mlk --memory-limit 100MB")
	lines := []string{
		"embed wide.mlk -i wide.svm -o out.csv", "gram wide.mlk -i wide.svm -o out.npy",
		"distance wide.mlk -i wide.svm --pairs pairs.csv -o out.csv",
		"fit -m krca -i wide.svm -c few.csv --tfidf -o terms.mlk", "embed terms.mlk -i wide.svm -o out.csv",
		"update wide.mlk -i wide.svm -c few.csv -o updated.mlk",
		"select -i wide.svm -c few.csv --methods krca,itml --folds 2 -o out.mlk",
		"cluster -i wide.svm -n 2 -o out.csv", "cluster wide.mlk -i wide.svm -n 2 -o out.csv",
		"cluster -a kernel -k rbf:sigma=median -i wide.svm -n 2 -o out.csv",
		"cluster -a constrained -c few.csv -i wide.svm -n 2 -o out.csv",
		"classify --train wide.svm -i wide.svm -o out.csv",
		"classify wide.mlk --train wide.svm -i wide.svm -o out.csv",
		"plot -i wide.svm -o out.svg", "plot wide.mlk -i wide.svm -o out.svg",
		"report -i wide.svm -c few.csv -o out.html", "report wide.mlk -i wide.svm -c few.csv -o out.html",
		"suggest -i wide.svm -n 2 -o out.csv", "suggest wide.mlk -i wide.svm -n 2 -o out.csv",
		"check -i wide.svm", "inspect wide.mlk",
		"fit -m krca -i wide.svm -c few.csv --drop-suspicious 0.1 -o out.mlk",
	}
	for _, m := range catalog.Methods() {
		line := "fit -m " + m.Name + " -i wide.svm --links-from-labels 6 -o out.mlk"
		if m.Name == "mlkr" {
			line += " --targets labels"
		}
		lines = append(lines, line)
	}
	for _, rule := range []string{"mean", "median", "knn10", "msq", "lle"} {
		lines = append(lines, "fit -m kpca -k rbf:sigma="+rule+" -i wide.svm -c few.csv -o out.mlk")
	}
	passed, largest := 0, int64(0)
	for _, line := range lines {
		forgetPeak()
		cmd := commandtest.Command(dir, append(strings.Fields(line), "-q", "--memory-limit", "100MB")...)
		o := clitest.Finish(t, cmd)
		switch {
		case o.Code == 0:
			passed++
		case o.Code != 2 || !strings.Contains(o.Stderr, "as a dense matrix needs 192.0 GiB, limit 95.4 MiB"):
			t.Errorf("%s: code %d, %s", line, o.Code, o.Stderr)
		}
		peak, _ := peakMemory(cmd.ProcessState)
		if largest = max(largest, peak); peak > 2*limit {
			t.Errorf("%s: peak memory %d MiB, twice the limit is %d", line, peak>>20, 2*limit>>20)
		}
	}
	t.Logf("%d commands, %d passed, the others were refused: at most %d MiB", len(lines), passed, largest>>20)
}
