package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestDistancesOfPipes: points and pairs of a pipe have the distances of files.
func TestDistancesOfPipes(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 3, true))
	clitest.Write(t, dir, "links.csv", harness.FewLinks)
	clitest.Write(t, dir, "id.csv", harness.Pairs("j,i,link", "p%[2]d,p%[1]d,must", 400, 300))
	harness.RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o krca")
	content, pairs := clitest.Read(t, dir, "data.csv"), clitest.Read(t, dir, "id.csv")
	want := harness.RunOK(t, dir, "distance krca -i data.csv --pairs id.csv --links-by id -o -").Stdout
	if got := harness.RunWith(t, dir, content, "distance krca -i - --pairs id.csv --links-by id -o -").Stdout; got != want {
		t.Error("points of a pipe have other distances")
	}
	if got := harness.RunWith(t, dir, pairs, "distance krca -i data.csv --pairs - --links-by id -o -").Stdout; got != want {
		t.Error("pairs of a pipe have other distances")
	}
	clitest.Write(t, dir, "twice.csv", strings.Replace(content, "\np7,", "\np9,", 1))
	clitest.Write(t, dir, "few.csv", "i,j\np9,p1\n")
	before := clitest.Names(t, dir)
	harness.WantInputError(t, dir, harness.Run(t, dir, "distance krca -i twice.csv --pairs few.csv --links-by id -o new.csv"), before, "twice.csv", "row 9", `column "id"`, `the id is "p9"`)
}

// TestClassifiedInBlocks: rows that come a block at a time have the labels of all at once, to the byte, with scores.
func TestClassifiedInBlocks(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "train.csv", clitest.Blobs(60, 3, false))
	clitest.Write(t, dir, "data.csv", clitest.Blobs(12000, 3, true))
	clitest.Write(t, dir, "links.csv", harness.FewLinks)
	harness.RunOK(t, dir, "fit -q -m krca -i train.csv -c links.csv -o model")
	for _, with := range []string{"", "model ", "--standardize "} {
		line := "classify " + with + "--train train.csv -i data.csv --json -o "
		want, labels := harness.RunOK(t, dir, line+"a.csv"), clitest.Read(t, dir, "a.csv")
		if n := strings.Count(labels, "\n"); n != 12001 || !strings.Contains(want.Stdout, `"accuracy": `) {
			t.Errorf("%s: %d lines, %s", with, n, want.Stdout)
		}
		for _, more := range []string{" --memory-limit 4MiB", " --workers 3"} {
			got := harness.RunOK(t, dir, line+"b.csv"+more)
			if clitest.Read(t, dir, "b.csv") != labels || strings.Replace(got.Stdout, "b.csv", "a.csv", 1) != want.Stdout {
				t.Errorf("%s%s: other labels or scores\n%s%s", with, more, want.Stdout, got.Stdout)
			}
		}
		piped := harness.RunWith(t, dir, clitest.Read(t, dir, "data.csv"), strings.Replace(line, "-i data.csv", "-i -", 1)+"c.csv")
		if clitest.Read(t, dir, "c.csv") != labels || strings.Replace(piped.Stdout, "c.csv", "a.csv", 1) != want.Stdout {
			t.Errorf("%s: a pipe has other labels or scores", with)
		}
	}
}

// scoresOf returns what score says of two files of labels.
func scoresOf(t *testing.T, dir, truth, predicted string) string {
	t.Helper()
	return harness.RunOK(t, dir, "score --json --truth "+truth+" --predicted "+predicted).Stdout
}

// TestClusteredInBlocks: rows that pass several times fall into the clusters of rows that are held: with a sample that holds all
// to the byte, with a smaller one, which the limit asks for, up to the clusters' names.
func TestClusteredInBlocks(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(4000, 3, true))
	clitest.Write(t, dir, "small.csv", clitest.Blobs(60, 3, false))
	clitest.Write(t, dir, "links.csv", harness.FewLinks)
	harness.RunOK(t, dir, "fit -q -m krca -i small.csv -c links.csv -o model")
	for _, with := range []string{"", "model "} {
		line := "cluster -q " + with + "-i data.csv -n 2 "
		harness.RunOK(t, dir, line+"-o held.csv --save-centers held.npy")
		harness.RunOK(t, dir, line+"-o all.csv --stream --save-centers all.npy")
		if clitest.Read(t, dir, "held.csv") != clitest.Read(t, dir, "all.csv") || clitest.Read(t, dir, "held.npy") != clitest.Read(t, dir, "all.npy") {
			t.Errorf("%s: rows that pass have other clusters than rows that are held", with)
		}
		for i, more := range []string{"--memory-limit 400KiB --stream", "--memory-limit 400KiB --workers 3", "--memory-limit 400KiB -a minibatch"} {
			out := fmt.Sprint("some", i, ".csv")
			harness.RunOK(t, dir, line+"--save-centers some.csv -o "+out+" "+more)
			if got := scoresOf(t, dir, "held.csv", out); !strings.Contains(got, `"adjusted_rand": 1,`) {
				t.Errorf("%s%s: %s", with, more, got)
			}
			harness.RunOK(t, dir, "cluster -q "+with+"-i data.csv --centers some.csv -o again.csv")
			if clitest.Read(t, dir, "again.csv") != clitest.Read(t, dir, out) {
				t.Errorf("%s%s: rows are assigned to other centres than those that were written", with, more)
			}
		}
		if clitest.Read(t, dir, "some0.csv") != clitest.Read(t, dir, "some1.csv") {
			t.Errorf("%s: the clusters depend on the number of workers", with)
		}
		content := clitest.Read(t, dir, "data.csv")
		harness.RunWith(t, dir, content, "cluster -q "+with+"-i - -n 2 -a minibatch --memory-limit 400KiB --save-centers piped.csv")
		if clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "some.csv") {
			t.Errorf("%s: a pipe has other centres than a file", with)
		}
		harness.RunWith(t, dir, content, "cluster -q "+with+"-i - --centers some.csv -o piped.csv")
		if clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "some2.csv") {
			t.Errorf("%s: a pipe has other clusters than a file", with)
		}
	}
}

// TestWithinTheMemoryLimit: files three times the limit pass every command that streams, and the heap is below it.
func TestWithinTheMemoryLimit(t *testing.T) {
	const limit, n, d = 16 << 20, 800000, 8
	dir := t.TempDir()
	clitest.Write(t, dir, "train.csv", clitest.Blobs(60, d, false))
	clitest.Write(t, dir, "links.csv", harness.FewLinks)
	harness.RunOK(t, dir, "fit -q -m rca -i train.csv -c links.csv -o model")
	harness.WriteNPY(t, filepath.Join(dir, "big.npy"), n, d)
	linesOf(t, dir, "pairs.csv", "i,j", n, func(i int) string { return strconv.Itoa(i%150) + "," + strconv.Itoa(i*7%150) })
	linesOf(t, dir, "labels.csv", "id,label", 2*n, func(i int) string { return "row" + strconv.Itoa(i) + "," + strconv.Itoa(i%3) })
	linesOf(t, dir, "big.csv", "a,b", 4*n, func(i int) string { return strconv.Itoa(9*(i%2)) + "." + strconv.Itoa(i%97) + ",0.5" })
	for _, line := range []string{
		"embed model -i big.npy -o out.npy",
		"distance model -i big.npy --pairs pairs.csv -o out.npy",
		"classify model --train train.csv -i big.npy --neighbors 1 -o out.csv",
		"cluster -i big.npy -n 2 --stream -o out.csv",
		"cluster model -i big.npy -n 2 -a minibatch -o out.csv",
		"cluster -i big.csv -n 2 -o out.csv", // of itself: the rows turn out to be too many
		"score --truth labels.csv --predicted labels.csv",
	} {
		t.Run(line, func(t *testing.T) {
			cmd := harness.Command(dir, strings.Fields(line+" -q --json --memory-limit "+strconv.Itoa(limit))...)
			cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
			o := clitest.Finish(t, cmd)
			if o.Code != usage.ExitOK {
				t.Fatalf("code %d\n%s", o.Code, o.Stderr)
			}
			peak, collections := peakHeap(t, o.Stderr)
			if peak<<20 > limit || collections < 5 {
				t.Errorf("the heap was %d MiB after %d collections: the limit is %d", peak, collections, limit>>20)
			}
			t.Logf("heap at most %d MiB of %d, in %d collections", peak, limit>>20, collections)
		})
	}
}

// peakHeap returns the largest heap in MiB that the collector's trace shows at its end, before anything is given back, and the number of collections.
func peakHeap(t *testing.T, trace string) (peak, collections int) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^gc \d+ @.* (\d+)->(\d+)->(\d+) MB,`).FindAllStringSubmatch(trace, -1) {
		for _, text := range m[1:] {
			v, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			peak = max(peak, v)
		}
		collections++
	}
	return peak, collections
}

// linesOf writes a file of a header and n lines.
func linesOf(t *testing.T, dir, name, header string, n int, line func(i int) string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, header)
	for i := range n {
		fmt.Fprintln(w, line(i))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStreamsName: what is wrong in the middle of a file is named by file, row and column, and nothing is left behind.
func TestStreamsName(t *testing.T) {
	dir := harness.WithModel(t)
	good := strings.Repeat("1,2,3\n", 3000)
	clitest.Write(t, dir, "broken.csv", "a,b,c\n"+good+"4,x,6\n"+good)
	clitest.Write(t, dir, "huge.csv", "a,b,c\n"+good+"1e300,0,1e300\n"+good)
	clitest.Write(t, dir, "centers.csv", "a,b,c\n0,0,0\n9,9,9\n")
	clitest.Write(t, dir, "plain.csv", strings.ReplaceAll(clitest.Read(t, dir, "data.csv"), "f0,f1,f2", "a,b,c"))
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"classify --train plain.csv -i broken.csv -o out.csv", []string{"broken.csv", "line 3002", `column "b"`, `"x" is no number`}},
		{"cluster -i broken.csv -n 2 --stream -o out.csv", []string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i broken.csv -n 2 -a minibatch -o out.csv --save-centers out.npy", []string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i broken.csv --centers centers.csv -o out.csv", []string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i huge.csv --centers centers.csv -o out.csv", []string{"huge.csv", "row 3000", "overflow"}},
		{"cluster -i huge.csv -n 2 --stream -o out.csv", []string{"huge.csv", "overflow"}},
		{"cluster -i plain.csv -n 21 --stream -o out.csv", []string{"plain.csv", "-n, --clusters is 21: want at most the number of points, 20"}},
	} {
		harness.WantInputError(t, dir, harness.Run(t, dir, c.line+" --memory-limit 4MiB"), before, c.words...)
	}
}
