package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// noiseWithLabel writes a table of noise with a column churn.
func noiseWithLabel(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	s.WriteString("a,b,c,churn\n")
	for range 200 {
		fmt.Fprintf(&s, "%.4f,%.4f,%.4f,%s\n", rng.Float64(), rng.Float64(), rng.Float64(), []string{"no",
			"yes"}[rng.IntN(2)])
	}
	clitest.Write(t, dir, "t.csv", s.String())
}

// TestLabelAmongFeatures: a label that is left among the features is refused if the links tell that
// they were made from it, and otherwise named once, before the verdict.
func TestLabelAmongFeatures(t *testing.T) {
	dir := t.TempDir()
	noiseWithLabel(t, dir)
	commandtest.RunOK(t, dir, "links make -q -i t.csv --label churn --pairs 60 -o l.csv")
	if text := clitest.Read(t, dir, "l.csv"); !strings.HasPrefix(text, "# label: churn\ni,j,link\n") {
		t.Errorf("the links are %.60q", text)
	}
	before := clitest.Names(t, dir)
	for _, line := range []string{"fit -i t.csv -c l.csv -o m.mlk", "select -i t.csv -c l.csv -o m.mlk",
		"check -i t.csv -c l.csv"} {
		o := commandtest.Run(t, dir, line)
		if o.Code != 2 || !strings.Contains(o.Stdout+o.Stderr,
			`column "churn", which is now a feature: want --label churn or --drop churn`) {
			t.Errorf("%s: exit code %d\n%s%s", line, o.Code, o.Stdout, o.Stderr)
		}
	}
	if after := clitest.Names(t, dir); len(after) != len(before) {
		t.Errorf("files %q, were %q", after, before)
	}
	const fit = "fit -m itml -i t.csv -o m.mlk "
	for _, flags := range []string{"--label churn", "--drop churn", "--type churn=drop"} {
		for _, file := range []string{"l.csv", "closed.csv"} {
			if flags == "--label churn" {
				commandtest.RunOK(t, dir, "links close -q -n 200 -c l.csv -o closed.csv")
			}
			if o := commandtest.RunOK(t, dir, fit+flags+" --no-verdict -c "+file); strings.Contains(o.Stderr,
				"is it the label") {
				t.Errorf("%s: %s", flags, o.Stderr)
			}
		}
	}
	clitest.Write(t, dir, "plain.csv", strings.TrimPrefix(clitest.Read(t, dir, "l.csv"), "# label: churn\n"))
	const warning = `t.csv: column "churn" agrees on all must-links and differs on all cannot-links: is it the label? --label churn leaves it out of the features, or --drop churn`
	for _, line := range []string{fit + "-c plain.csv", "check -i t.csv -c plain.csv"} {
		if o := commandtest.RunOK(t, dir, line); strings.Count(o.Stderr, "is it the label") != 1 ||
			!strings.Contains(o.Stderr, warning) {
			t.Errorf("%s: %s", line, o.Stderr)
		}
	}
	if o := commandtest.Run(t, dir, fit+"--strict -c plain.csv"); o.Code != 2 {
		t.Errorf("with --strict: exit code %d", o.Code)
	}
	if o := commandtest.RunOK(t, dir, "inspect m.mlk"); !strings.Contains(o.Stdout, "is it the label?") {
		t.Errorf("the model does not keep the notice:\n%s", o.Stdout)
	}
}

// TestLinksMakeNamesCopiesOfTheLabel: a copy of the label under another name is a warning.
func TestLinksMakeNamesCopiesOfTheLabel(t *testing.T) {
	dir := t.TempDir()
	noiseWithLabel(t, dir)
	lines := clitest.Lines(clitest.Read(t, dir, "t.csv"))
	for k, line := range lines {
		lines[k] = line + "," + map[bool]string{true: "7", false: "5"}[strings.HasSuffix(line, "yes")]
		if k == 0 {
			lines[k] = line + ",left"
		}
	}
	clitest.Write(t, dir, "t.csv", strings.Join(lines, "\n")+"\n")
	o := commandtest.RunOK(t, dir, "links make -i t.csv --label churn --pairs 60 -o l.csv")
	if !strings.Contains(o.Stderr,
		`column "left" agrees on all must-links and differs on all cannot-links: is it the label? --drop left leaves it out of the features`) {
		t.Errorf("%s", o.Stderr)
	}
}

// TestTrainingRowsWithOtherColumns: a report, inspect and calibrate know the training rows in a
// table with more columns, in another order, and say how many columns the model takes.
func TestTrainingRowsWithOtherColumns(t *testing.T) {
	dir := t.TempDir()
	noiseWithLabel(t, dir)
	commandtest.RunOK(t, dir, "links make -q -i t.csv --label churn --pairs 60 -o l.csv")
	commandtest.RunOK(t, dir, "fit -q -m itml --no-verdict -i t.csv --drop churn,b -c l.csv -o m.mlk")
	var turned, others strings.Builder
	for k, line := range clitest.Lines(clitest.Read(t, dir, "t.csv")) {
		f := strings.Split(line, ",")
		fmt.Fprintf(&turned, "%s,%s,%s,%s\n", f[3], f[2], f[1], f[0])
		if k == 2 {
			f[0] = "0.5"
		}
		fmt.Fprintln(&others, strings.Join(f, ","))
	}
	clitest.Write(t, dir, "turned.csv", turned.String())
	clitest.Write(t, dir, "others.csv", others.String())
	for file, trained := range map[string]bool{"t.csv": true, "turned.csv": true, "others.csv": false} {
		if o := commandtest.RunOK(t, dir, "inspect m.mlk -c l.csv -i "+file); strings.Contains(o.Stdout,
			"on data that differ from those of the fit") == trained {
			t.Errorf("%s: inspect says\n%s", file, o.Stdout)
		}
		if o := commandtest.RunOK(t, dir,
			"calibrate m.mlk -c l.csv -o c.mlk -i "+file); strings.Contains(o.Stderr,
			"these are the training rows of m.mlk") != trained {
			t.Errorf("%s: calibrate says %s", file, o.Stderr)
		}
		commandtest.RunOK(t, dir, "report -q m.mlk -c l.csv -o r.html -i "+file)
		page := clitest.Read(t, dir, "r.html")
		if strings.Contains(page, "in-sample") != trained || !strings.Contains(page, "200 x 2 points") ||
			strings.Contains(page, "200 x 4") {
			t.Errorf("%s: the report says in-sample: %v", file, strings.Contains(page, "in-sample"))
		}
	}
}
