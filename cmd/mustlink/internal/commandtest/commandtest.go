// Package commandtest provides what the tests of the command share: the command itself, data and
// links.
package commandtest

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/clitest"
)

// mustlink is the command, built once with the tags of the test.
var mustlink clitest.Program

// Main builds the command from the folder source, runs the tests and returns their exit code.
func Main(m *testing.M, source string) int { return clitest.Main(m, "mustlink", source, &mustlink) }

// Command returns the command, to be run in dir.
func Command(dir string, args ...string) *exec.Cmd { return mustlink.Command(dir, args...) }

// Run runs the command in dir with a line of arguments, split at spaces.
func Run(t testing.TB, dir, line string) clitest.Outcome {
	t.Helper()
	return mustlink.Run(t, dir, line)
}

// RunOK is Run for commands that must succeed.
func RunOK(t testing.TB, dir, line string) clitest.Outcome {
	t.Helper()
	return mustlink.RunOK(t, dir, line)
}

// RunWith is RunOK with standard input.
func RunWith(t testing.TB, dir, stdin, line string) clitest.Outcome {
	t.Helper()
	return mustlink.RunWith(t, dir, stdin, line)
}

// WantInputError requires exit code 2, a one-line message that contains all the words, and only
// that: no stack trace, no output, no file other than those in before.
func WantInputError(t testing.TB, dir string, o clitest.Outcome, before []string, words ...string) {
	t.Helper()
	mustlink.CheckInputError(t, dir, o, before, words...)
}

// FewLinks are links between the first rows of [clitest.Blobs].
const FewLinks = "i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,1,cannot\n"

// Fit fits a model on the data of a [Workspace].
const Fit = "fit -m krca -i data.csv -c links.csv -o out.mlk"

// Workspace returns a folder with sound data (20 x 3) and links.
func Workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(20, 3, false))
	clitest.Write(t, dir, "links.csv", FewLinks)
	return dir
}

// WithModel returns a workspace with a model fitted on its data.
func WithModel(t *testing.T) string {
	t.Helper()
	dir := Workspace(t)
	fitOnce.Do(func() {
		RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o model.mlk")
		fitted = clitest.Read(t, dir, "model.mlk")
	})
	clitest.Write(t, dir, "model.mlk", fitted)
	return dir
}

// One model serves every [WithModel], because their data are the same.
var (
	fitOnce sync.Once
	fitted  string
)

// Lesson returns the flags for what a method learns from: a file of links, or for a method that
// learns from targets a file of alternating 0 and 1, which it writes for the given number of rows.
func Lesson(t *testing.T, dir string, m catalog.Method, links string, rows int) string {
	t.Helper()
	if !m.UsesTargets {
		return "-c " + links
	}
	clitest.Write(t, dir, "targets.csv", "target\n"+strings.Repeat("0\n1\n", rows/2))
	return "--targets targets.csv"
}

// WriteNPY writes n rows of d values in two clusters, 6 apart in the first column, without holding
// all of them in memory.
func WriteNPY(t *testing.T, path string, n, d int) {
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

// Pairs returns a CSV of random pairs of n rows: a header, and a line for each pair as format
// writes it.
func Pairs(header, format string, pairs, n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	var s strings.Builder
	s.WriteString(header + "\n")
	for range pairs {
		fmt.Fprintf(&s, format+"\n", rng.IntN(n), rng.IntN(n))
	}
	return s.String()
}

// WithoutWarnings removes the lines of warnings.
func WithoutWarnings(text string) string {
	var rest strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "mustlink: warning: ") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// WriteRings writes two rings and links between their points.
func WriteRings(t *testing.T, dir string) {
	t.Helper()
	var data, pairs strings.Builder
	data.WriteString("x,y,label\n")
	pairs.WriteString("i,j,link\n")
	const n = 60
	for i := range n {
		radius := 1 + 2*float64(i%2)
		angle := float64(i) * 0.7
		fmt.Fprintf(&data, "%g,%g,%c\n", radius*math.Cos(angle), radius*math.Sin(angle), 'a'+rune(i%2))
	}
	clitest.Write(t, dir, "rings.csv", data.String())
	for i := range n {
		for step := 1; step <= 2; step++ { // a point of the same ring, and one of the other
			if j := (i + 7*step) % n; j != i && i < j {
				fmt.Fprintf(&pairs, "%d,%d,%s\n", i, j,
					map[bool]string{true: "must", false: "cannot"}[i%2 == j%2])
			}
		}
	}
	clitest.Write(t, dir, "links.csv", pairs.String())
}

// Column returns the values of a column of an unquoted CSV.
func Column(t *testing.T, text, name string) []string {
	t.Helper()
	list := clitest.Lines(text)
	at := slices.Index(strings.Split(list[0], ","), name)
	if at < 0 {
		t.Fatalf("no column %q in %q", name, list[0])
	}
	var out []string
	for _, l := range list[1:] {
		out = append(out, strings.Split(l, ",")[at])
	}
	return out
}

// Number parses a 64-bit number.
func Number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Numbers returns the numeric cells of a CSV, without its header and, if ids is true, its first
// column.
func Numbers(t *testing.T, text string, ids bool) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, l := range clitest.Lines(text)[1:] {
		fields := strings.Split(l, ",")
		if ids {
			fields = fields[1:]
		}
		var row []float64
		for _, f := range fields {
			row = append(row, Number(t, f))
		}
		out = append(out, row)
	}
	return out
}
