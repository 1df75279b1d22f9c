package filestest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestWithinTheMemoryLimit: every command that streams reads files twice as large as the limit,
// three times among all draws, with a heap below it.
func TestWithinTheMemoryLimit(t *testing.T) {
	const limit, d = 10 << 20, 8
	n := 331000
	if drawstest.All() {
		n = 500000
	}
	dir := t.TempDir()
	clitest.Write(t, dir, "train.csv", clitest.Blobs(60, d, false))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	commandtest.RunOK(t, dir, "fit -q -m rca -i train.csv -c links.csv -o model")
	commandtest.WriteNPY(t, filepath.Join(dir, "big.npy"), n, d)
	linesOf(t, dir, "pairs.csv", "i,j", n, func(i int) string {
		return strconv.Itoa(i%150) + "," + strconv.Itoa(i*7%150)
	})
	linesOf(t, dir, "labels.csv", "id,label", 2*n, func(i int) string {
		return "row" + strconv.Itoa(i) + "," + strconv.Itoa(i%3)
	})
	linesOf(t, dir, "big.csv", "a,b", 4*n, func(i int) string {
		return strconv.Itoa(9*(i%2)) + "." + strconv.Itoa(i%97) + ",0.5"
	})
	mixed := func(i int) string {
		return fmt.Sprintf("plan%d,%d-%02d-01,%s,%d", i%7, 2018+i%5, 1+i%12,
			[]string{"", strconv.Itoa(i * 13 % 977)}[min(1, i%9)], i%2*40+i%31)
	}
	linesOf(t, dir, "some.csv", "plan,since,pay,age", 60, mixed)
	linesOf(t, dir, "many.csv", "plan,since,pay,age", 2*n, mixed)
	commandtest.RunOK(t, dir, "fit -q -m rca -i some.csv -c links.csv -o prepares")
	for _, line := range []string{
		"embed prepares -i many.csv -o out.npy",
		"cluster prepares -i many.csv -n 2 -a minibatch -o out.csv",
		"cluster -i many.csv -n 2 --stream -o out.csv",
		"distance prepares -i many.csv --pairs pairs.csv -o out.npy",
		"embed model -i big.npy -o out.npy",
		"distance model -i big.npy --pairs pairs.csv -o out.npy",
		"classify model --train train.csv -i big.npy --neighbors 1 -o out.csv",
		"cluster -i big.npy -n 2 --stream -o out.csv",
		"cluster model -i big.npy -n 2 -a minibatch -o out.csv",
		"cluster -i big.csv -n 2 -o out.csv", // without --stream: the rows exceed the limit
		"score --truth labels.csv --predicted labels.csv",
	} {
		t.Run(line, func(t *testing.T) {
			cmd := commandtest.Command(dir,
				strings.Fields(line+" -q --json --memory-limit "+strconv.Itoa(limit))...)
			cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
			o := clitest.Finish(t, cmd)
			if o.Code != usage.ExitOK {
				t.Fatalf("code %d\n%s", o.Code, o.Stderr)
			}
			peak, collections := peakHeap(t, o.Stderr)
			if peak<<20 > limit || collections < 5 {
				t.Errorf("the heap was %d MiB after %d collections: the limit is %d", peak, collections,
					limit>>20)
			}
			t.Logf("heap at most %d MiB of %d, in %d collections", peak, limit>>20, collections)
		})
	}
}

// peakHeap returns the largest heap in MiB in the collector's trace, and the number of collections.
// It is the size at the end of a collection, before memory is returned to the system.
func peakHeap(t *testing.T, trace string) (peak, collections int) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^gc \d+ @.* (\d+)->(\d+)->(\d+) MB,`).FindAllStringSubmatch(
		trace, -1) {
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

// linesOf writes a file with a header and n lines.
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

// TestStreamsName: an error in the middle of a file names file, row and column, and leaves no
// output.
func TestStreamsName(t *testing.T) {
	dir := commandtest.WithModel(t)
	good := strings.Repeat("1,2,3\n", 3000)
	clitest.Write(t, dir, "broken.csv", "a,b,c\n"+good+"4,x,6\n"+good)
	clitest.Write(t, dir, "huge.csv", "a,b,c\n"+good+"1e300,0,1e300\n"+good)
	clitest.Write(t, dir, "centers.csv", "a,b,c\n0,0,0\n9,9,9\n")
	clitest.Write(t, dir, "plain.csv",
		strings.ReplaceAll(clitest.Read(t, dir, "data.csv"), "f0,f1,f2", "a,b,c"))
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"classify --train plain.csv -i broken.csv -o out.csv",
			[]string{"broken.csv", "line 3002", `column "b"`, `"x" is not a number`}},
		{"cluster -i broken.csv -n 2 --stream -o out.csv", []string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i broken.csv -n 2 -a minibatch -o out.csv --save-centers out.npy",
			[]string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i broken.csv --centers centers.csv -o out.csv",
			[]string{"broken.csv", "line 3002", `column "b"`}},
		{"cluster -i huge.csv --centers centers.csv -o out.csv",
			[]string{"huge.csv", "row 3000", "overflow"}},
		{"cluster -i huge.csv -n 2 --stream --prepare none -o out.csv", []string{"huge.csv", "overflow"}},
		{"cluster -i plain.csv -n 21 --stream -o out.csv",
			[]string{"plain.csv", "-n, --clusters is 21: want at most the number of points, 20"}},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line+" --memory-limit 4MiB"), before,
			c.words...)
	}
}
