package main

import (
	bin "encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// proteins returns n records of two classes, "h" and "s", with letters from different halves of the
// alphabet; odd rows are of class s. The label is the header's second word.
func proteins(n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	halves := []string{"ACDEFGHIKL", "LMNPQRSTVWY"}
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, ">p%d %s\n", i, []string{"h", "s"}[i%2])
		for range 2 {
			for range 20 {
				half := halves[i%2]
				s.WriteByte(half[rng.IntN(len(half))])
			}
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// sparseRows returns n svmlight rows of two classes in 10 features; only row 0 has the last
// feature, and odd rows have other features than even ones.
func sparseRows(n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), 8))
	var s strings.Builder
	for i := range n {
		s.WriteString([]string{"+1", "-1"}[i%2])
		for j := range 9 {
			if j%2 == i%2 && rng.IntN(3) > 0 || rng.IntN(6) == 0 {
				fmt.Fprintf(&s, " %d:%d", j+1, 1+rng.IntN(3))
			}
		}
		if i == 0 {
			s.WriteString(" 10:1")
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// idx returns an IDX file of unsigned bytes.
func idx(dims []int, values []byte) string {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = bin.BigEndian.AppendUint32(b, uint32(d))
	}
	return string(append(b, values...))
}

// TestSequences runs every command on sequences.
func TestSequences(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "train.fasta", proteins(24))
	clitest.Write(t, dir, "test.fa.gz", proteins(10))
	commandtest.RunOK(t, dir,
		"links make -i train.fasta --labels-from-header --pairs 20 --links-by id -o links.csv")
	if text := clitest.Read(t, dir, "links.csv"); !strings.Contains(text, "p1") {
		t.Errorf("links without the names of records: %s", text)
	}
	for _, kernel := range []string{"spectrum:k=2", "rbf:sigma=1@spectrum:k=2"} {
		o := commandtest.RunOK(t, dir,
			"fit -m krca -i train.fasta -c links.csv --links-by id -k "+kernel+" -o model.mlk")
		if !strings.Contains(o.Stdout, "24 sequences of 40 to 40 letters") ||
			!strings.Contains(o.Stdout, kernel) {
			t.Errorf("summary of the fit: %s", o.Stdout)
		}
		commandtest.RunOK(t, dir, "embed model.mlk -i test.fa.gz -o embedded.csv")
		if head := clitest.Lines(clitest.Read(t, dir, "embedded.csv")); len(head) != 11 ||
			!strings.HasPrefix(head[1], "p0,") {
			t.Errorf("embedding: %d lines, %s", len(head), head[1])
		}
		commandtest.RunOK(t, dir, "gram model.mlk -i test.fa.gz -j train.fasta -o gram.csv")
		clitest.Write(t, dir, "pairs.csv", "i,j\np0,p2\np0,p1\n")
		commandtest.RunOK(t, dir,
			"distance model.mlk -i test.fa.gz --pairs pairs.csv --links-by id -o distances.csv")
		if d := columnOf(t, clitest.Read(t, dir, "distances.csv")); !(d[0] < d[1]) {
			t.Errorf("%s: distances %v: want that within the class to be smaller", kernel, d)
		}
		for _, line := range []string{
			"cluster model.mlk -i test.fa.gz -n 2 --labels-from-header --json -o out.csv",
			"classify model.mlk --train train.fasta -i test.fa.gz --labels-from-header --json -o out.csv",
		} {
			v := clitest.Parse(t, commandtest.RunOK(t, dir, line).Stdout)
			if scores := v["scores"].(map[string]any); !(scores["rand"].(float64) > 0.9) {
				t.Errorf("%s: %v", line, scores)
			}
		}
		commandtest.RunOK(t, dir, "inspect model.mlk -i train.fasta -c links.csv --links-by id")
		clitest.Write(t, dir, "more.csv", "i,chunklet\n0,a\n2,a\n1,b\n3,b\n")
		commandtest.RunOK(t, dir, "update model.mlk -i test.fa.gz -c more.csv -o larger.mlk")
	}
	v := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"cluster -i test.fa.gz -n 2 -a kernel -k spectrum:k=1 --labels-from-header --json -o out.csv").Stdout)
	if scores := v["scores"].(map[string]any); !(scores["rand"].(float64) > 0.9) {
		t.Errorf("kernel k-means on sequences: %v", scores)
	}
	if o := commandtest.RunOK(t, dir,
		"check -i train.fasta --labels-from-header -c links.csv --links-by id"); !strings.Contains(o.Stdout,
		"24 sequences of 40 to 40 letters, labels of 2 classes, ids") {
		t.Errorf("check: %s", o.Stdout)
	}
	commandtest.RunWith(t, dir, proteins(4), "embed model.mlk -i - --format fasta -o -")
	clitest.Write(t, dir, "truth.csv", "label\nh\ns\n")
	clitest.Write(t, dir, "two.fasta", proteins(2))
	commandtest.RunOK(t, dir, "score --truth two.fasta --predicted truth.csv")
}

// TestLettersOutside: letters outside the alphabet give one warning with their number and
// the first record, and an error with --strict.
func TestLettersOutside(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(proteins(6), "\n", "\nXXB", 1) // below the first header
	clitest.Write(t, dir, "data.fasta", strings.Replace(text, ">p3 s\n", ">p3 s\nx", 1))
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,2,must\n")
	const line = "fit -m krca -i data.fasta -c links.csv -k spectrum:k=2 -o out.mlk"
	o := commandtest.RunOK(t, dir, line)
	for _, w := range []string{"data.fasta",
		"4 letters outside the alphabet ACDEFGHIKLMNPQRSTVWY (XB) in 2 records", `record "p0" on line 2`} {
		if strings.Count(o.Stderr, w) != 1 {
			t.Errorf("warning without %q: %s", w, o.Stderr)
		}
	}
	if o = commandtest.Run(t, dir, line+" --strict"); o.Code != usage.ExitInput ||
		!strings.Contains(o.Stderr, "warning with --strict") {
		t.Errorf("--strict: exit code %d, %s", o.Code, o.Stderr)
	}
	if o = commandtest.RunOK(t, dir, "check -i data.fasta"); !strings.Contains(o.Stderr,
		"4 letters outside") || !strings.Contains(o.Stdout, "no errors, 1 warning") {
		t.Errorf("check: %s%s", o.Stdout, o.Stderr)
	}
}

// TestSparse runs every command on sparse rows. The last feature does not occur in the rows that
// the model is applied to.
func TestSparse(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "train.svm", sparseRows(24))
	clitest.Write(t, dir, "test.svm.gz", strings.Replace(sparseRows(10), " 10:1", "", 1))
	commandtest.RunOK(t, dir, "links make -i train.svm --pairs 20 -o links.csv")
	commandtest.RunOK(t, dir, "fit -m krca -i train.svm -c links.csv -k rbf:sigma=median -o model.mlk")
	o := commandtest.RunOK(t, dir, "embed model.mlk -i test.svm.gz -o embedded.npy")
	if o.Stderr != "" {
		t.Errorf("warnings: %s", o.Stderr)
	}
	commandtest.RunOK(t, dir, "gram model.mlk -i test.svm.gz -j train.svm -o gram.csv")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n")
	commandtest.RunOK(t, dir, "distance model.mlk -i test.svm.gz --pairs pairs.csv -o distances.csv")
	commandtest.RunOK(t, dir, "cluster -i test.svm.gz -n 2 -o raw.csv")
	commandtest.RunOK(t, dir, "classify --train train.svm -i test.svm.gz -o raw.csv")
	v := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"classify model.mlk --train train.svm -i test.svm.gz --json -o out.csv").Stdout)
	if scores := v["scores"].(map[string]any); !(scores["accuracy"].(float64) >= 0.8) {
		t.Errorf("classification: %v", scores)
	}
	commandtest.RunOK(t, dir, "cluster model.mlk -i test.svm.gz -n 2 -o out.csv")
	commandtest.RunOK(t, dir, "inspect model.mlk -i train.svm -c links.csv")
	clitest.Write(t, dir, "more.csv", "i,chunklet\n0,a\n2,a\n")
	commandtest.RunOK(t, dir, "update model.mlk -i test.svm.gz -c more.csv -o larger.mlk")
	commandtest.RunOK(t, dir, "score --truth test.svm.gz --predicted out.csv")
	commandtest.RunWith(t, dir, sparseRows(4), "embed model.mlk -i - --format svm -o -")
	o = commandtest.RunOK(t, dir, "check -i train.svm --features 12")
	if !strings.Contains(o.Stdout, "24 x 12, sparse") ||
		!strings.Contains(o.Stderr, "2 of 12 features never occur") {
		t.Errorf("check: %s%s", o.Stdout, o.Stderr)
	}
}

// TestImages: IDX images with the labels in a separate file.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	var pixels, labels []byte
	for i := range 12 {
		pixels = append(pixels, byte(200*(i%2)), byte(i), byte(3*i%7), byte(20+i%3))
		labels = append(labels, byte(5+i%2))
	}
	clitest.Write(t, dir, "x-idx3-ubyte.gz", idx([]int{12, 2, 2}, pixels))
	clitest.Write(t, dir, "y-idx1-ubyte", idx([]int{12}, labels))
	commandtest.RunOK(t, dir, "links make -i x-idx3-ubyte.gz --labels y-idx1-ubyte --pairs 10 -o links.csv")
	commandtest.RunOK(t, dir, "fit -m rca -i x-idx3-ubyte.gz -c links.csv --standardize -o model.mlk")
	v := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"cluster model.mlk -i x-idx3-ubyte.gz --labels y-idx1-ubyte -n 2 --json -o out.csv").Stdout)
	if scores := v["scores"].(map[string]any); scores["rand"].(float64) != 1 {
		t.Errorf("clustering: %v", scores)
	}
	if v = clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"score --truth y-idx1-ubyte --predicted out.csv --json").Stdout); v["rand"].(float64) != 1 {
		t.Errorf("score: %v", v)
	}
}

// TestBadSequences: sequences that cannot be used, or not in this way.
func TestBadSequences(t *testing.T) {
	const line = "fit -m krca -i data.fasta -c links.csv -k spectrum:k=3 -o out.mlk"
	const rest = ">y\nACDEF\n>z\nACDEG\n"
	for _, c := range []struct {
		name, content, line string
		words               []string
	}{
		{"empty file", "", line, []string{"data.fasta", "empty"}},
		{"blank file", "\n\n", line, []string{"data.fasta", "blank", ">NAME"}},
		{"no header", "ACDEF\n" + rest, line, []string{"data.fasta", "line 1", "header", ">"}},
		{"no sequence", ">x\n" + rest, line, []string{"data.fasta", "line 1", "row 0", `"x"`, "no sequence"}},
		{"duplicate names", rest + ">y\nACD\n", line,
			[]string{"data.fasta", "line 5", "row 2", `"y"`, "line 1"}},
		{"all letters outside", rest + ">x\nXXXX\n", line,
			[]string{"data.fasta", "line 5", "row 2", `"x"`, "no letter of the alphabet"}},
		{"shorter than k", rest + ">x\nAC\n", line, []string{"data.fasta", "row 2", "3"}},
		{"too short around a gap", rest + ">x\nACXDE\n", line, []string{"data.fasta", "row 2", "3"}},
		{"the wrong alphabet", ">x\nWWW\n" + rest, line + " --alphabet dna",
			[]string{"data.fasta", "line 1", `"x"`, "ACGT"}},
		{"no such alphabet", rest, line + " --alphabet A-C", []string{"--alphabet", "A-C", "dna"}},
		{"no second word", rest, "links make -i data.fasta --labels-from-header --pairs 1 -o out.csv",
			[]string{"data.fasta", "label of each of its 2 rows is empty"}},
		{"labels not asked for", rest, "links make -i data.fasta --pairs 1 -o out.csv",
			[]string{"data.fasta", "--labels-from-header"}},
		{"one sequence", ">x\nACDEF\n", line, []string{"data.fasta", "at least 2"}},
		{"a kernel for vectors", rest, "fit -m krca -i data.fasta -c links.csv -k rbf:sigma=1 -o out.mlk",
			[]string{"data.fasta", "spectrum"}},
		{"standardized", rest, line + " --standardize", []string{"data.fasta", "--standardize", "sequences"}},
		{"as a Gram matrix", rest, line + " --gram", []string{"data.fasta", "Gram matrix"}},
		{"k-means without a model", rest, "cluster -i data.fasta -n 2 -o out.csv",
			[]string{"data.fasta", "no coordinates", "model", "-a kernel"}},
		{"kernel k-means without a kernel", rest, "cluster -i data.fasta -a kernel -n 2 -o out.csv",
			[]string{"data.fasta", "spectrum"}},
		{"neighbors without a model", strings.ReplaceAll(rest, "\nA", " h\nA"),
			"classify --train data.fasta -i data.fasta --labels-from-header --neighbors 1 -o out.csv",
			[]string{"data.fasta", "no coordinates", "model"}},
		{"standardized clusters", rest, "cluster -i data.fasta -n 2 --standardize -o out.csv",
			[]string{"data.fasta", "--standardize", "sequences"}},
		{"both kinds of labels", rest,
			"cluster -i data.fasta -n 2 --labels links.csv --labels-from-header -o out.csv",
			[]string{"--labels", "--labels-from-header", "together"}},
		{"features", rest, line + " --features 3", []string{"--features", ".svm", "data.fasta"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			clitest.Write(t, dir, "data.fasta", c.content)
			clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
			before, o := clitest.Names(t, dir), commandtest.Run(t, dir, c.line)
			// a letter outside the alphabet is worth a warning of its own
			if c.name == "too short around a gap" {
				warning, rest, _ := strings.Cut(o.Stderr, "\n")
				if !strings.Contains(warning, `1 letter outside the alphabet`) {
					t.Errorf("warning %q", warning)
				}
				o.Stderr = rest
			}
			commandtest.WantInputError(t, dir, o, before, c.words...)
		})
	}
}

// TestTFIDF: a model read from its file weights the terms of new texts as it did those of its fit.
func TestTFIDF(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "%d 1:%d %d:3 %d:1\n", i%2, 1+i%3, 2+i%2, 4+i%5)
	}
	clitest.Write(t, dir, "data.svm", text.String())
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,2,must\n1,3,must\n0,1,cannot\n4,5,cannot\n")
	commandtest.RunOK(t, dir, "fit -m krca -k linear -i data.svm -c links.csv --tfidf -o model.mlk")
	o := commandtest.RunOK(t, dir, "inspect model.mlk")
	if !strings.Contains(o.Stdout, "tfidf") {
		t.Errorf("inspect does not say how features are scaled:\n%s", o.Stdout)
	}
	// A text with twice the counts is the same text.
	clitest.Write(t, dir, "one.svm", "0 1:2 2:3 4:1\n0 1:4 2:6 4:2\n")
	commandtest.RunOK(t, dir, "embed model.mlk -i one.svm --features 8 -o out.csv")
	lines := strings.Split(strings.TrimSpace(clitest.Read(t, dir, "out.csv")), "\n")
	first, second := strings.Split(lines[1], ","), strings.Split(lines[2], ",")
	for j := range first {
		a, errA := strconv.ParseFloat(first[j], 64)
		b, errB := strconv.ParseFloat(second[j], 64)
		if errA != nil || errB != nil || math.Abs(a-b) > 1e-12*(1+math.Abs(a)) {
			t.Errorf("column %d is %s and %s of a text and its double", j, first[j], second[j])
		}
	}
}

// TestLinearMethodsOfOtherPoints: what is linear in features learns from sparse rows, sequences and
// a Gram matrix too, in kernel principal coordinates. inspect shows the kernel, and the coordinates
// of a row are the same when it comes alone.
func TestLinearMethodsOfOtherPoints(t *testing.T) {
	dir := t.TempDir()
	var sparse, sequences, gram strings.Builder
	gram.WriteString("0,1,2,3,4,5,6,7,8,9,10,11\n")
	for i := range 12 {
		fmt.Fprintf(&sparse, "%d %d:1 %d:%d 900000:%d\n", i%2, 1+i%3, 100+i%5, 1+i, 2+i%2)
		letters := "ACGGTCATTGAC"[i%4:8+i%4] + strings.Repeat("CT", 1+i%3)
		fmt.Fprintf(&sequences, ">s%d\n%s\n", i, letters+[]string{"AAAG", "TTGC"}[i%2])
		for j := range 12 {
			fmt.Fprintf(&gram, "%s%g", []string{"", ","}[min(j, 1)], math.Exp(-0.1*float64((i-j)*(i-j))))
		}
		gram.WriteString("\n")
	}
	clitest.Write(t, dir, "data.svm", sparse.String())
	clitest.Write(t, dir, "data.fasta", sequences.String())
	clitest.Write(t, dir, "data.csv", gram.String())
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,2,must\n1,3,must\n4,6,must\n0,1,cannot\n4,5,cannot\n")
	for _, method := range []string{"rca", "lmnn", "forest"} {
		for _, c := range []struct{ input, kernel, first string }{
			{"data.svm --features 900000", "linear", strings.SplitAfter(sparse.String(), "\n")[0]},
			{"data.fasta --alphabet dna", "spectrum:k=3", strings.SplitAfter(sequences.String(), ">s1\n")[0]},
			{"data.csv --gram", "linear", ""},
		} {
			commandtest.RunOK(t, dir,
				fmt.Sprintf("fit -q -m %s -i %s -c links.csv -o model.mlk", method, c.input))
			if o := commandtest.RunOK(t, dir, "inspect model.mlk"); !regexp.MustCompile(`(?m)^kernel +` +
				c.kernel + `$`).MatchString(o.Stdout) {
				t.Errorf("%s of %s: inspect does not say kernel %s:\n%s", method, c.input, c.kernel, o.Stdout)
			}
			commandtest.RunOK(t, dir, "embed -q model.mlk -i "+c.input+" -o all.csv")
			commandtest.RunOK(t, dir, "cluster -q model.mlk -n 2 -i "+c.input+" -o clusters.csv")
			if c.first == "" {
				continue
			}
			name, rest, _ := strings.Cut(c.input, " ")
			clitest.Write(t, dir, "one-"+name, strings.TrimSuffix(c.first, ">s1\n"))
			commandtest.RunOK(t, dir, "embed -q model.mlk -i one-"+name+" "+rest+" -o one.csv")
			all, one := clitest.Lines(clitest.Read(t, dir, "all.csv")),
				clitest.Lines(clitest.Read(t, dir, "one.csv"))
			if !near(t, all[1], one[1]) {
				t.Errorf("%s of %s: the first row is at %s, alone at %s", method, c.input, all[1], one[1])
			}
		}
	}
}

// near reports whether two lines of coordinates agree to rounding: products in OpenBLAS depend on
// the number of rows in their last bits.
func near(t *testing.T, a, b string) bool {
	t.Helper()
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	if len(x) != len(y) {
		return false
	}
	largest, apart := 0.0, 0.0
	for k := range x {
		v, err1 := strconv.ParseFloat(x[k], 64)
		w, err2 := strconv.ParseFloat(y[k], 64)
		if err1 != nil || err2 != nil { // an id
			if x[k] != y[k] {
				return false
			}
			continue
		}
		largest, apart = max(largest, math.Abs(v)), max(apart, math.Abs(v-w))
	}
	return apart <= 1e-12*largest
}

// TestBadSparse: svmlight files that cannot be used, or not in this way.
func TestBadSparse(t *testing.T) {
	const line = "fit -m krca -i data.svm -c links.csv -o out.mlk"
	for _, c := range []struct {
		name, content, line string
		words               []string
	}{
		{"feature 0", "1 1:1\n1 0:1\n", line,
			[]string{"data.svm", "line 2", "row 1", "feature number 0", "from 1"}},
		{"beyond --features", "1 1:1\n1 5:1\n", line + " --features 4",
			[]string{"data.svm", "line 2", "feature 5", "1 to 4"}},
		{"not ascending", "1 1:1\n1 3:1 2:1\n", line,
			[]string{"data.svm", "line 2", "feature 2", "ascending"}},
		{"NaN", "1 1:1\n1 3:nan\n", line, []string{"data.svm", "line 2", "feature 3", "finite"}},
		{"no labels", "1:1\n2:1\n", line, []string{"data.svm", "line 1", "label"}},
		{"standardized", "1 1:1\n1 3:2\n", line + " --standardize",
			[]string{"data.svm", "--standardize", "sparse"}},
		{"negative counts", "1 1:1\n1 3:-2\n", line + " --tfidf",
			[]string{"data.svm", "row 1", "-2", "count"}},
		{"negative --features", "1 1:1\n", line + " --features -4", []string{"--features", "-4"}},
		{"an alphabet", "1 1:1\n", line + " --alphabet dna", []string{"--alphabet", ".fasta", "data.svm"}},
		{"labels from headers", "1 1:1\n", line + " --labels-from-header",
			[]string{"--labels-from-header", ".fasta", "data.svm"}},
		{"memory", strings.Repeat("1 1:1 2:1 3:1\n", 100), line + " --memory-limit 2KiB",
			[]string{"data.svm", "limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			clitest.Write(t, dir, "data.svm", c.content)
			clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line), clitest.Names(t, dir),
				c.words...)
		})
	}
}

// TestBadImages: IDX files that cannot be used.
func TestBadImages(t *testing.T) {
	good := idx([]int{2, 2, 1}, []byte{1, 2, 3, 4})
	const line = "fit -m krca -i x-idx3-ubyte -c links.csv -o out.mlk"
	for _, c := range []struct {
		name, content, line string
		words               []string
	}{
		{"empty", "", line, []string{"x-idx3-ubyte", "empty"}},
		{"text", "a,b\n1,2\n", line, []string{"x-idx3-ubyte", "not an IDX file"}},
		{"cut off", good[:len(good)-1], line, []string{"x-idx3-ubyte", "3 bytes", "4"}},
		{"trailing bytes", good + "x", line, []string{"x-idx3-ubyte", "5 bytes", "4"}},
		{"too large", idx([]int{1 << 31, 1 << 31, 1 << 31}, nil), line, []string{"x-idx3-ubyte", "memory"}},
		{"memory", good, line + " --memory-limit 31B", []string{"x-idx3-ubyte", "limit"}},
		{"labels of images", good, "links make -i x-idx3-ubyte --labels x-idx3-ubyte --pairs 1 -o out.csv",
			[]string{"x-idx3-ubyte", "vector"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			clitest.Write(t, dir, "x-idx3-ubyte", c.content)
			clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line), clitest.Names(t, dir),
				c.words...)
		})
	}
}

// TestKindsOfPoints: a model accepts the kind of points that it was fitted on.
func TestKindsOfPoints(t *testing.T) {
	dir := commandtest.Workspace(t)
	clitest.Write(t, dir, "seq.fasta", proteins(8))
	clitest.Write(t, dir, "seq2.fasta", strings.NewReplacer("L", "A", "M", "C").Replace(proteins(8)))
	// As many features as the protein alphabet has letters: the number is not enough to recognize
	// the kind.
	clitest.Write(t, dir, "twenty.csv", clitest.Blobs(8, 20, false))
	clitest.Write(t, dir, "narrow.csv", clitest.Blobs(8, 2, false))
	clitest.Write(t, dir, "rows.svm", "1 1:1\n2 4:1\n")
	clitest.Write(t, dir, "pairs.csv", "i,j,link\n0,1,must\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -i seq.fasta -c links.csv -k spectrum:k=2 -o seq.mlk")
	commandtest.RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o vec.mlk")
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"embed seq.mlk -i twenty.csv -o out.csv", []string{"twenty.csv", "sequences"}},
		{"gram seq.mlk -i seq.fasta -j twenty.csv -o out.csv", []string{"twenty.csv", "sequences"}},
		{"update seq.mlk -i twenty.csv -c pairs.csv -o out.mlk", []string{"twenty.csv", "sequences"}},
		{"cluster seq.mlk -i twenty.csv -n 2 -o out.csv", []string{"twenty.csv", "sequences"}},
		{"classify seq.mlk --train twenty.csv -i seq.fasta --neighbors 1 -o out.csv",
			[]string{"twenty.csv", "sequences"}},
		{"embed vec.mlk -i seq.fasta -o out.csv", []string{"seq.fasta"}},
		{"update vec.mlk -i seq.fasta -c pairs.csv -o out.mlk", []string{"seq.fasta"}},
		{"update vec.mlk -i narrow.csv -c pairs.csv -o out.mlk", []string{"narrow.csv", `"f2"`}},
		{"update vec.mlk -i rows.svm -c pairs.csv -o out.mlk",
			[]string{"rows.svm", "line 2", "feature 4", "1 to 3"}},
		{"update seq.mlk -i seq.fasta -c pairs.csv -k spectrum:k=3 -o out.mlk",
			[]string{"spectrum:k=2", "cannot change"}},
		{"update seq.mlk --drop-last 2 -o out.mlk", []string{"seq.mlk", "--drop-last is 2"}},
		{"embed seq.mlk -i seq2.fasta --alphabet ACDEFGHIKLMNPQRSTVWYX -o out.csv",
			[]string{"seq2.fasta", "alphabet"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line), before, c.words...)
		})
	}
}

// TestBadGramShape: matrices whose shape or definiteness is wrong.
func TestBadGramShape(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "gram.csv", "0,1,2\n1,0.1,0\n0.1,1,0\n0,0,1\n")
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -i gram.csv --gram -c links.csv -p eps=0.1 -o model.mlk")
	// Its eigenvalues are -1, 1 and 3.
	clitest.Write(t, dir, "indefinite.csv", "0,1,2\n1,2,0\n2,1,0\n0,0,1\n")
	clitest.Write(t, dir, "narrow.csv", "0,1\n1,0\n0,1\n1,1\n")
	clitest.Write(t, dir, "one.csv", "k\n1\n")
	clitest.Write(t, dir, "ones.csv", "k\n1\n1\n2\n")
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"fit -m krca -i indefinite.csv --gram -c links.csv -p eps=0.1 -o out.mlk",
			[]string{"indefinite.csv", "eigenvalue", "-1"}},
		{"fit -m krca -i narrow.csv --gram -c links.csv -p eps=0.1 -o out.mlk",
			[]string{"narrow.csv", "square"}},
		{"embed model.mlk -i narrow.csv --gram -o out.csv", []string{"narrow.csv", "square", "diagonal"}},
		{"embed model.mlk -i narrow.csv --gram --gram-diagonal one.csv -o out.csv",
			[]string{"one.csv", "1 value", "3"}},
		{"embed model.mlk -i narrow.csv --gram --gram-diagonal ones.csv -o out.csv",
			[]string{"narrow.csv", "2", "3"}},
		{"embed model.mlk -i gram.csv -o out.csv", []string{"gram.csv", "Gram"}},
		{"update model.mlk -i gram.csv --gram -c links.csv -o out.mlk", []string{"model.mlk", "Gram"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line), before, c.words...)
		})
	}
}

// TestCheckFormats: check lists all problems of a file, not only the first.
func TestCheckFormats(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "a.fasta", ">a\nXX\n>b\n>a\nACD\n")
	clitest.Write(t, dir, "a.svm", "1 0:1\n1 2:x 1:1\n2:1\n")
	for file, want := range map[string][]string{
		"a.fasta": {"line 1", "line 3", "line 4"},
		"a.svm":   {"line 1", "line 2", "line 2", "line 3"},
	} {
		o := commandtest.Run(t, dir, "check -i "+file)
		if got := clitest.Lines(o.Stdout); o.Code != usage.ExitInput || len(got) != len(want) {
			t.Errorf("%s: exit code %d, %q", file, o.Code, got)
			continue
		}
		for i, l := range clitest.Lines(o.Stdout) {
			if !strings.Contains(l, file) || !strings.Contains(l, want[i]) || !strings.HasSuffix(l, ")") {
				t.Errorf("%s: problem %d is %q, want %s and a suggested fix", file, i, l, want[i])
			}
		}
	}
}

// TestAdult applies a model of sparse rows to real rows in which the last feature does not
// occur.
func TestAdult(t *testing.T) {
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	dir := t.TempDir()
	o := commandtest.RunOK(t, dir, "check -i "+folder+"/adult.svm.gz --features 123")
	if !strings.Contains(o.Stdout, "16281 x 123, sparse") ||
		!strings.Contains(o.Stderr, "1 of 123 features never occur") {
		t.Errorf("check: %s%s", o.Stdout, o.Stderr)
	}
	commandtest.RunOK(t, dir,
		"links make -i "+folder+"/adult-train.svm.gz --must 100 --cannot 100 -o links.csv")
}
