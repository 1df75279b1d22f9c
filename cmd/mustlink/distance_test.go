package main

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestRawDistances: without a model, distances are the Euclidean ones of the rows, as they are or
// prepared, bit-identical from a pipe and from a file in blocks of any size. A very small limit
// prepares by a sample of the rows.
func TestRawDistances(t *testing.T) {
	dir := t.TempDir()
	text := clitest.Blobs(300, 3, true)
	clitest.Write(t, dir, "data.csv", text)
	clitest.Write(t, dir, "pairs.csv", commandtest.Pairs("i,j", " %d,%+d", 400, 300))
	var rows [][]float64
	for _, line := range clitest.Lines(text)[1:] {
		var row []float64
		for _, cell := range strings.Split(line, ",")[1:4] {
			row = append(row, commandtest.Number(t, cell))
		}
		rows = append(rows, row)
	}
	for _, flag := range []string{"--prepare=none", "--standardize"} {
		scale := []float64{1, 1, 1}
		if flag == "--standardize" {
			scale = spreads(rows)
		}
		var before string
		limits := []string{"", " --memory-limit 1MiB --workers 1"}
		if scale[0] == 1 {
			limits = append(limits, " --memory-limit 200KiB")
		}
		for _, limit := range limits {
			commandtest.RunOK(t, dir, "distance -q -i data.csv --pairs pairs.csv -o out.csv "+flag+limit)
			got := clitest.Read(t, dir, "out.csv")
			if before != "" && got != before {
				t.Fatalf("%s%s: other distances", flag, limit)
			}
			before = got
		}
		commandtest.RunWith(t, dir, text, "distance -q -i - --format csv --pairs pairs.csv -o out.csv "+flag)
		if got := clitest.Read(t, dir, "out.csv"); got != before {
			t.Fatalf("%s: other distances from a pipe", flag)
		}
		pairs := clitest.Lines(clitest.Read(t, dir, "pairs.csv"))[1:]
		for p, cell := range commandtest.Column(t, before, "distance") {
			i, j, _ := strings.Cut(pairs[p], ",")
			sum := 0.0
			for c, v := range rows[int(commandtest.Number(t, strings.TrimSpace(i)))] {
				d := (v - rows[int(commandtest.Number(t, j))][c]) / scale[c]
				sum += d * d
			}
			if got := commandtest.Number(t, cell); !(math.Abs(got-math.Sqrt(sum)) <= 1e-9*(1+got)) {
				t.Fatalf("%s: pair %s is %v apart, want %v", flag, pairs[p], got, math.Sqrt(sum))
			}
		}
	}
}

// spreads returns the standard deviation of each column.
func spreads(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for c := range out {
		mean, squares := 0.0, 0.0
		for _, row := range rows {
			mean += row[c] / float64(len(rows))
		}
		for _, row := range rows {
			squares += (row[c] - mean) * (row[c] - mean) / float64(len(rows))
		}
		out[c] = math.Sqrt(squares)
	}
	return out
}

// TestEmbeddedShare: embed says which share of the learned distance its coordinates hold, the same
// for blocks of any size and any number of workers, and nothing where they hold all of it. inspect
// says it of the training rows.
func TestEmbeddedShare(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(600, 3, true))
	commandtest.RunOK(t, dir,
		"fit -q -m krca -p dims=2 -i data.csv --links-from-labels 60 --no-verdict -o krca.mlk")
	commandtest.RunOK(t, dir, "fit -q -m itml -i data.csv --links-from-labels 60 --no-verdict -o itml.mlk")
	var before any
	for _, flags := range []string{"", " --workers 1 --memory-limit 2MiB", " --precision single"} {
		o := commandtest.RunOK(t, dir, "embed krca.mlk -i data.csv --json -o out.csv"+flags)
		share := clitest.Parse(t, o.Stdout)["embedded_share"]
		if v, is := share.(float64); !is || !(v > 0 && v < 1) || before != nil && share != before {
			t.Errorf("embed%s: share %v, before %v", flags, share, before)
		}
		before = share
	}
	for line, says := range map[string]bool{
		"embed krca.mlk -i data.csv -o out.csv": true, "inspect krca.mlk": true,
		"embed itml.mlk -i data.csv -o out.csv": false, "inspect itml.mlk": false,
	} {
		o := commandtest.RunOK(t, dir, line)
		if strings.Contains(o.Stdout, "of the learned squared distance") != says {
			t.Errorf("%s: %s", line, o.Stdout)
		}
	}
}
