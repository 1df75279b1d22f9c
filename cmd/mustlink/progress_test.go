package main

import (
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// shares is a bar that keeps the shares of the work that it shows.
type shares struct {
	list   []float64
	stages []string
}

func (s *shares) Show(now session.Shown) {
	s.list, s.stages = append(s.list, now.Share), append(s.stages, now.Stage)
}
func (s *shares) Clear() {}

// TestOneBar: a command has one bar, which never falls, and is full once, when all work is done;
// it has none with -q, with --json, and where standard error is no terminal.
func TestOneBar(t *testing.T) {
	device, err := os.OpenFile("/dev/zero", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that takes and forgets output: ", err)
	}
	defer device.Close()
	t.Chdir(commandtest.WithModel(t))
	clitest.Write(t, ".", "data.csv", clitest.Blobs(60, 3, true))
	clitest.Write(t, ".", "pairs.csv", "i,j\n0,1\n2,3\n")
	run := func(line string, stderr io.Writer) *shares {
		bar := &shares{}
		root := newRoot(&session.Session{Name: "mustlink", Stdin: strings.NewReader(""), Stdout: io.Discard,
			Stderr: stderr, Getenv: func(string) string { return "" },
			NewBar: func(io.Writer) session.Bar { return bar }})
		root.SetArgs(strings.Fields(line))
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return bar
	}
	const fit = "fit -i data.csv -o out.mlk --links-from-labels 40"
	for _, c := range []struct {
		line   string
		stages string // that it has, in this order
	}{
		{fit, "verdict"},
		{fit + " -m itml --folds 3", "projections verdict"},
		{fit + " -m krca --no-verdict --curve curve.json", "learning"},
		{fit + " -m krca --drop-suspicious 0.1", "label verdict"},
		{"select -i data.csv -o out.mlk --links-from-labels 40 --methods rca,krca", "fits"},
		{"embed model.mlk -i data.csv -o out.npy", "embedding"},
		{"cluster model.mlk -i data.csv -n 2 -o out.csv", "k-means"},
		{"cluster -i data.csv -n 2 -o out.csv --stream", "reading sample clusters"},
		{"neighbors model.mlk --train data.csv -i data.csv -k 2 -o out.csv --approximate recall=0.9",
			"index neighbors"},
		{"distance model.mlk -i data.csv --pairs pairs.csv -o out.csv", "gathering distances"},
		{"plot model.mlk -i data.csv --before --plane neighbors -o out.svg", "neighbor"},
	} {
		bar := run(c.line, device)
		full := slices.Index(bar.list, 1)
		if !slices.IsSorted(bar.list) || full < 1 || full != len(bar.list)-1 || bar.list[0] < 0 {
			t.Errorf("%s: shares %v", c.line, bar.list)
		}
		at := 0
		for _, want := range strings.Fields(c.stages) {
			for at < len(bar.stages) && !strings.HasPrefix(bar.stages[at], want) {
				at++
			}
		}
		if at == len(bar.stages) {
			t.Errorf("%s: stages %v: want %s", c.line, bar.stages, c.stages)
		}
	}
	// The verdict of three parts takes as long as two fits of all rows.
	bar := run(fit+" -m itml --folds 3", device)
	if at := slices.Index(bar.stages, "verdict"); at < 1 || math.Abs(bar.list[at]-1./3) > 1e-9 {
		t.Errorf("the verdict begins at %v of %v", at, bar.list)
	}
	for _, silent := range []*shares{run(fit+" -q", device), run(fit+" --json", device),
		run(fit, io.Discard)} {
		if len(silent.list) > 0 {
			t.Errorf("an unnecessary bar: %v", silent.list)
		}
	}
}
