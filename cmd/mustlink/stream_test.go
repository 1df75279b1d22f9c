package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/bytesize"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// inProcess returns an app that reads nothing from standard input and is silent.
func inProcess() *app {
	return &app{&session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Quiet: true}}
}

// TestDistancesAreThoseHeld: distances of points that pass in blocks have the bits of those of points that are held, for rows named
// in any way and blocks of any size.
func TestDistancesAreThoseHeld(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "data.csv", blobs(300, 3, true))
	write(t, dir, "links.csv", "i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,1,cannot\n2,9,cannot\n")
	rng := rand.New(rand.NewPCG(1, 1))
	numbers, ids := "i,j\n", "j,i,link\n"
	for range 400 {
		i, j := rng.IntN(300), rng.IntN(300)
		numbers += fmt.Sprintf(" %d,%+d\n", i, j)
		ids += fmt.Sprintf("p%d,p%d,must\n", j, i)
	}
	write(t, dir, "row.csv", numbers)
	write(t, dir, "id.csv", ids)
	for _, method := range []string{"krca", "rca", "kbeta", "npkl", "itml"} {
		runOK(t, dir, "fit -q -m "+method+" -i data.csv -c links.csv -o "+method)
		for _, by := range []string{dataset.ByRow, dataset.ByID} {
			var want string
			for _, limit := range []bytesize.Size{0, 1 << 20, 200 << 10} { // the blocks are smaller the smaller it is
				a := inProcess()
				a.Workers, a.BLASThreads = 1+int(limit>>20), 2
				fl := &distanceFlags{data: dataFlags{path: filepath.Join(dir, "data.csv")}, pairs: linkFlags{path: filepath.Join(dir, by+".csv"), by: by}, out: filepath.Join(dir, "out.csv")}
				m, err := a.metric(context.Background(), filepath.Join(dir, method))
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					if n, err := m.holdDistances(context.Background(), fl); err != nil || n != 400 {
						t.Fatal(n, err)
					}
					want = read(t, dir, "out.csv")
				}
				a.MemoryLimit = limit
				if n, err := m.streamDistances(context.Background(), fl); err != nil || n != 400 {
					t.Fatal(n, err)
				}
				if got := read(t, dir, "out.csv"); got != want {
					t.Errorf("%s by %s: distances of blocks differ from those of the whole", method, by)
				}
			}
		}
	}
	content, pairs := read(t, dir, "data.csv"), read(t, dir, "id.csv")
	want := runOK(t, dir, "distance krca -i data.csv --pairs id.csv --links-by id -o -").stdout
	if got := runWith(t, dir, content, "distance krca -i - --pairs id.csv --links-by id -o -").stdout; got != want {
		t.Error("points of a pipe have other distances")
	}
	if got := runWith(t, dir, pairs, "distance krca -i data.csv --pairs - --links-by id -o -").stdout; got != want {
		t.Error("pairs of a pipe have other distances")
	}
	write(t, dir, "twice.csv", strings.Replace(content, "\np7,", "\np9,", 1))
	write(t, dir, "few.csv", "i,j\np9,p1\n")
	before := names(t, dir)
	wantInputError(t, dir, run(t, dir, "distance krca -i twice.csv --pairs few.csv --links-by id -o new.csv"), before, "twice.csv", "row 9", `column "id"`, `the id is "p9"`)
}

// TestClassifiedInBlocks: rows that come a block at a time have the labels of all at once, to the byte, with scores.
func TestClassifiedInBlocks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "train.csv", blobs(60, 3, false))
	write(t, dir, "data.csv", blobs(12000, 3, true))
	write(t, dir, "links.csv", fewLinks)
	runOK(t, dir, "fit -q -m krca -i train.csv -c links.csv -o model")
	for _, with := range []string{"", "model ", "--standardize "} {
		line := "classify " + with + "--train train.csv -i data.csv --json -o "
		want, labels := runOK(t, dir, line+"a.csv"), read(t, dir, "a.csv")
		if n := strings.Count(labels, "\n"); n != 12001 || !strings.Contains(want.stdout, `"accuracy": `) {
			t.Errorf("%s: %d lines, %s", with, n, want.stdout)
		}
		for _, more := range []string{" --memory-limit 4MiB", " --workers 3"} {
			got := runOK(t, dir, line+"b.csv"+more)
			if read(t, dir, "b.csv") != labels || strings.Replace(got.stdout, "b.csv", "a.csv", 1) != want.stdout {
				t.Errorf("%s%s: other labels or scores\n%s%s", with, more, want.stdout, got.stdout)
			}
		}
		piped := runWith(t, dir, read(t, dir, "data.csv"), strings.Replace(line, "-i data.csv", "-i -", 1)+"c.csv")
		if read(t, dir, "c.csv") != labels || strings.Replace(piped.stdout, "c.csv", "a.csv", 1) != want.stdout {
			t.Errorf("%s: a pipe has other labels or scores", with)
		}
	}
}

// scoresOf returns what score says of two files of labels.
func scoresOf(t *testing.T, dir, truth, predicted string) string {
	t.Helper()
	return runOK(t, dir, "score --json --truth "+truth+" --predicted "+predicted).stdout
}

// TestClusteredInBlocks: rows that pass several times fall into the clusters of rows that are held: with a sample that holds all
// to the byte, with a smaller one, which the limit asks for, up to the clusters' names.
func TestClusteredInBlocks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "data.csv", blobs(4000, 3, true))
	write(t, dir, "small.csv", blobs(60, 3, false))
	write(t, dir, "links.csv", fewLinks)
	runOK(t, dir, "fit -q -m krca -i small.csv -c links.csv -o model")
	for _, with := range []string{"", "model "} {
		line := "cluster -q " + with + "-i data.csv -n 2 "
		runOK(t, dir, line+"-o held.csv --save-centers held.npy")
		runOK(t, dir, line+"-o all.csv --stream --save-centers all.npy")
		if read(t, dir, "held.csv") != read(t, dir, "all.csv") || read(t, dir, "held.npy") != read(t, dir, "all.npy") {
			t.Errorf("%s: rows that pass have other clusters than rows that are held", with)
		}
		for i, more := range []string{"--memory-limit 400KiB --stream", "--memory-limit 400KiB --workers 3", "--memory-limit 400KiB -a minibatch"} {
			out := fmt.Sprint("some", i, ".csv")
			runOK(t, dir, line+"--save-centers some.csv -o "+out+" "+more)
			if got := scoresOf(t, dir, "held.csv", out); !strings.Contains(got, `"adjusted_rand": 1,`) {
				t.Errorf("%s%s: %s", with, more, got)
			}
			runOK(t, dir, "cluster -q "+with+"-i data.csv --centers some.csv -o again.csv")
			if read(t, dir, "again.csv") != read(t, dir, out) {
				t.Errorf("%s%s: rows are assigned to other centres than those that were written", with, more)
			}
		}
		if read(t, dir, "some0.csv") != read(t, dir, "some1.csv") {
			t.Errorf("%s: the clusters depend on the number of workers", with)
		}
		content := read(t, dir, "data.csv")
		runWith(t, dir, content, "cluster -q "+with+"-i - -n 2 -a minibatch --memory-limit 400KiB --save-centers piped.csv")
		if read(t, dir, "piped.csv") != read(t, dir, "some.csv") {
			t.Errorf("%s: a pipe has other centres than a file", with)
		}
		runWith(t, dir, content, "cluster -q "+with+"-i - --centers some.csv -o piped.csv")
		if read(t, dir, "piped.csv") != read(t, dir, "some2.csv") {
			t.Errorf("%s: a pipe has other clusters than a file", with)
		}
	}
}

// npyOf writes n rows of d values around two places, 6 apart in the first column, without holding them.
func npyOf(t *testing.T, path string, n, d int) {
	t.Helper()
	rng, at := rand.New(rand.NewPCG(5, 5)), 0
	block := make([]float64, 1000*d)
	next := func() (dataset.Rows, error) {
		if at == n {
			return dataset.Rows{}, io.EOF
		}
		rows := min(1000, n-at)
		for i := range block[:rows*d] {
			block[i] = rng.NormFloat64()
			if i%d == 0 {
				block[i] += 6 * float64((at+i/d)%2)
			}
		}
		at += rows
		return dataset.Rows{Data: block[:rows*d]}, nil
	}
	if err := dataset.WriteRows(path, n, d, next, dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestWithinTheMemoryLimit: files three times the limit pass every command that streams, and the heap is below it.
func TestWithinTheMemoryLimit(t *testing.T) {
	const limit, n, d = 16 << 20, 800000, 8
	dir := t.TempDir()
	write(t, dir, "train.csv", blobs(60, d, false))
	write(t, dir, "links.csv", fewLinks)
	runOK(t, dir, "fit -q -m rca -i train.csv -c links.csv -o model")
	npyOf(t, filepath.Join(dir, "big.npy"), n, d)
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
			cmd := command(dir, strings.Fields(line+" -q --json --memory-limit "+strconv.Itoa(limit))...)
			cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
			o := finish(t, cmd)
			if o.code != usage.ExitOK {
				t.Fatalf("code %d\n%s", o.code, o.stderr)
			}
			peak, collections := peakHeap(t, o.stderr)
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
	dir := withModel(t)
	good := strings.Repeat("1,2,3\n", 3000)
	write(t, dir, "broken.csv", "a,b,c\n"+good+"4,x,6\n"+good)
	write(t, dir, "huge.csv", "a,b,c\n"+good+"1e300,0,1e300\n"+good)
	write(t, dir, "centers.csv", "a,b,c\n0,0,0\n9,9,9\n")
	write(t, dir, "plain.csv", strings.ReplaceAll(read(t, dir, "data.csv"), "f0,f1,f2", "a,b,c"))
	before := names(t, dir)
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
		wantInputError(t, dir, run(t, dir, c.line+" --memory-limit 4MiB"), before, c.words...)
	}
}
