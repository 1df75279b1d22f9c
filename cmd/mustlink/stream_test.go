package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestDistancesOfPipes: points and pairs from a pipe have the same distances as from files.
func TestDistancesOfPipes(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 3, true))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	clitest.Write(t, dir, "id.csv", commandtest.Pairs("j,i,link", "p%[2]d,p%[1]d,must", 400, 300))
	commandtest.RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o krca")
	content, pairs := clitest.Read(t, dir, "data.csv"), clitest.Read(t, dir, "id.csv")
	want := commandtest.RunOK(t, dir, "distance krca -i data.csv --pairs id.csv --links-by id -o -").Stdout
	if got := commandtest.RunWith(t, dir, content,
		"distance krca -i - --pairs id.csv --links-by id -o -").Stdout; got != want {
		t.Error("points of a pipe have other distances")
	}
	if got := commandtest.RunWith(t, dir, pairs,
		"distance krca -i data.csv --pairs - --links-by id -o -").Stdout; got != want {
		t.Error("pairs of a pipe have other distances")
	}
	clitest.Write(t, dir, "twice.csv", strings.Replace(content, "\np7,", "\np9,", 1))
	clitest.Write(t, dir, "few.csv", "i,j\np9,p1\n")
	before := clitest.Names(t, dir)
	commandtest.WantInputError(t, dir,
		commandtest.Run(t, dir, "distance krca -i twice.csv --pairs few.csv --links-by id -o new.csv"),
		before, "twice.csv", "row 9", `column "id"`, `the id "p9"`)
}

// TestClassifiedInBlocks: rows read block by block have byte-identical labels to all rows at once,
// and scores.
func TestClassifiedInBlocks(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "train.csv", clitest.Blobs(60, 3, false))
	clitest.Write(t, dir, "data.csv", clitest.Blobs(12000, 3, true))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	commandtest.RunOK(t, dir, "fit -q -m krca -i train.csv -c links.csv -o model")
	for _, with := range []string{"", "model ", "--standardize "} {
		line := "classify " + with + "--train train.csv -i data.csv --json -o "
		want, labels := commandtest.RunOK(t, dir, line+"a.csv"), clitest.Read(t, dir, "a.csv")
		if n := strings.Count(labels, "\n"); n != 12001 || !strings.Contains(want.Stdout, `"accuracy": `) {
			t.Errorf("%s: %d lines, %s", with, n, want.Stdout)
		}
		for _, more := range []string{" --memory-limit 4MiB", " --workers 3"} {
			got := commandtest.RunOK(t, dir, line+"b.csv"+more)
			if clitest.Read(t, dir, "b.csv") != labels ||
				strings.Replace(got.Stdout, "b.csv", "a.csv", 1) != want.Stdout {
				t.Errorf("%s%s: other labels or scores\n%s%s", with, more, want.Stdout, got.Stdout)
			}
		}
		piped := commandtest.RunWith(t, dir, clitest.Read(t, dir, "data.csv"),
			strings.Replace(line, "-i data.csv", "-i -", 1)+"c.csv")
		if clitest.Read(t, dir, "c.csv") != labels ||
			strings.Replace(piped.Stdout, "c.csv", "a.csv", 1) != want.Stdout {
			t.Errorf("%s: a pipe has other labels or scores", with)
		}
	}
}

// scoresOf returns the output of score for two files of labels.
func scoresOf(t *testing.T, dir, truth, predicted string) string {
	t.Helper()
	return commandtest.RunOK(t, dir, "score --json --truth "+truth+" --predicted "+predicted).Stdout
}

// TestClusteredInBlocks: streamed rows have the same clusters as rows in memory: byte-identical
// with a sample of all rows; with a smaller sample, required by the limit, up to the numbering of
// the clusters.
func TestClusteredInBlocks(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(4000, 3, true))
	clitest.Write(t, dir, "small.csv", clitest.Blobs(60, 3, false))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	commandtest.RunOK(t, dir, "fit -q -m krca -i small.csv -c links.csv -o model")
	for _, with := range []string{"", "model "} {
		line := "cluster -q " + with + "-i data.csv -n 2 "
		commandtest.RunOK(t, dir, line+"-o held.csv --save-centers held.npy")
		commandtest.RunOK(t, dir, line+"-o all.csv --stream --save-centers all.npy")
		if clitest.Read(t, dir, "held.csv") != clitest.Read(t, dir, "all.csv") ||
			clitest.Read(t, dir, "held.npy") != clitest.Read(t, dir, "all.npy") {
			t.Errorf("%s: streamed rows have different clusters than rows in memory", with)
		}
		for i, more := range []string{"--memory-limit 400KiB --stream", "--memory-limit 400KiB --workers 3",
			"--memory-limit 400KiB -a minibatch"} {
			out := fmt.Sprint("some", i, ".csv")
			commandtest.RunOK(t, dir, line+"--save-centers some.csv -o "+out+" "+more)
			if got := scoresOf(t, dir, "held.csv", out); !strings.Contains(got, `"adjusted_rand": 1,`) {
				t.Errorf("%s%s: %s", with, more, got)
			}
			commandtest.RunOK(t, dir, "cluster -q "+with+"-i data.csv --centers some.csv -o again.csv")
			if clitest.Read(t, dir, "again.csv") != clitest.Read(t, dir, out) {
				t.Errorf("%s%s: rows are assigned to other centers than those that were written", with, more)
			}
		}
		if clitest.Read(t, dir, "some0.csv") != clitest.Read(t, dir, "some1.csv") {
			t.Errorf("%s: the clusters depend on the number of workers", with)
		}
		content := clitest.Read(t, dir, "data.csv")
		commandtest.RunWith(t, dir, content,
			"cluster -q "+with+"-i - -n 2 -a minibatch --memory-limit 400KiB --save-centers piped.csv")
		if clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "some.csv") {
			t.Errorf("%s: a pipe has other centers than a file", with)
		}
		commandtest.RunWith(t, dir, content, "cluster -q "+with+"-i - --centers some.csv -o piped.csv")
		if clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "some2.csv") {
			t.Errorf("%s: a pipe has other clusters than a file", with)
		}
	}
}
