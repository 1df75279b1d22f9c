package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
	"github.com/mustlink/mustlink/internal/clitest"
)

// calibrated returns a folder with data of 80 rows with ids, and a model calibrated on links
// between other rows of the same kind.
func calibrated(t *testing.T) string {
	dir := t.TempDir()
	data := clitest.Lines(clitest.Blobs(160, 4, true))
	clitest.Write(t, dir, "data.csv", strings.Join(data[:81], "\n")+"\n")
	clitest.Write(t, dir, "other.csv", data[0]+"\n"+strings.Join(data[81:], "\n")+"\n")
	harness.RunOK(t, dir, "links make -i data.csv --pairs 40 -o links.csv")
	harness.RunOK(t, dir, "links make -i other.csv --pairs 40 -o held.csv")
	harness.RunOK(t, dir, "fit -q -m rca -i data.csv -c links.csv -o model.mlk")
	harness.RunOK(t, dir, "calibrate -q model.mlk -i other.csv -c held.csv -o calibrated.mlk")
	return dir
}

// TestPairs compares the pairs with the distances of all pairs of rows, and the threshold and the
// probabilities with what the calibration says, in any number of workers.
func TestPairs(t *testing.T) {
	dir := calibrated(t)
	for _, flag := range []string{"--threshold 2", "--precision .9", "--recall .8", "--recall .8 --share 0.4"} {
		report := clitest.Parse(t, harness.RunOK(t, dir, "pairs calibrated.mlk -i data.csv "+flag+" --workers 1 -o pairs.csv --json").Stdout)
		text := clitest.Read(t, dir, "pairs.csv")
		threshold := report["threshold"].(float64)
		var all strings.Builder
		all.WriteString("i,j\n")
		for i := range 80 {
			for j := range i {
				fmt.Fprintf(&all, "%d,%d\n", j, i)
			}
		}
		clitest.Write(t, dir, "all.csv", all.String())
		harness.RunOK(t, dir, "distance -q model.mlk -i data.csv --pairs all.csv -o distances.csv")
		apart := harness.Column(t, clitest.Read(t, dir, "distances.csv"), "distance")
		want := map[string]float64{}
		for k, pair := range clitest.Lines(all.String())[1:] {
			if d := harness.Number(t, apart[k]); d <= threshold {
				want[pair] = d
			}
		}
		i, j := harness.Column(t, text, "i"), harness.Column(t, text, "j")
		distance, probability := harness.Column(t, text, "distance"), harness.Column(t, text, "probability")
		if len(i) != len(want) || len(want) == 0 || report["pairs"].(float64) != float64(len(want)) {
			t.Fatalf("%s: %d pairs within %v, want %d", flag, len(i), threshold, len(want))
		}
		before, certain := 0.0, 1.0
		for k := range i {
			d, p := harness.Number(t, distance[k]), harness.Number(t, probability[k])
			if w, ok := want[i[k]+","+j[k]]; !ok || !(math.Abs(w-d) <= 1e-9) {
				t.Fatalf("%s: rows %s and %s are at %v: want %v, %v", flag, i[k], j[k], d, w, ok)
			}
			if d < before || p > certain || p < 0 {
				t.Fatalf("%s: pair %d is at %v with probability %v, after %v with %v", flag, k, d, p, before, certain)
			}
			before, certain = d, p
		}
		harness.RunOK(t, dir, "pairs -q calibrated.mlk -i data.csv "+flag+" --workers 3 -o again.csv")
		if clitest.Read(t, dir, "again.csv") != text {
			t.Errorf("%s: other pairs with 3 workers", flag)
		}
	}
}

// TestPairsOfFewNeighbors: fewer pairs with --neighbors, named by ids, without a calibration.
func TestPairsOfFewNeighbors(t *testing.T) {
	dir := calibrated(t)
	harness.RunOK(t, dir, "pairs -q model.mlk -i data.csv --threshold 3 -o all.csv")
	harness.RunOK(t, dir, "pairs -q model.mlk -i data.csv --threshold 3 --neighbors 2 --links-by id -o few.csv")
	all, few := clitest.Lines(clitest.Read(t, dir, "all.csv")), clitest.Lines(clitest.Read(t, dir, "few.csv"))
	if few[0] != "i,j,distance" || !strings.HasPrefix(few[1], "p") || len(few) >= len(all) || len(few) < 80/2 || len(few) > 1+80*2 {
		t.Errorf("%d of %d pairs, the first %q", len(few), len(all), few[:2])
	}
}

// TestCalibrate: inspect shows the calibration, and update drops it with a warning. Links between
// the training rows cause a warning, and so does a share that the pairs contradict.
func TestCalibrate(t *testing.T) {
	dir := calibrated(t)
	shown := clitest.Parse(t, harness.RunOK(t, dir, "inspect calibrated.mlk --json").Stdout)
	if c := shown["calibration"].(map[string]any); c["must_links"] != 40.0 || c["cannot_links"] != 40.0 || c["share"] != 0.5 {
		t.Errorf("inspect shows %v", c)
	}
	if text := harness.RunOK(t, dir, "inspect calibrated.mlk").Stdout; !strings.Contains(text, "40 must-links, 40 cannot-links") {
		t.Errorf("inspect prints %q", text)
	}
	o := harness.RunOK(t, dir, "calibrate model.mlk -i data.csv -c links.csv --share 0.1 -o sure.mlk")
	if !strings.Contains(o.Stderr, "training rows") {
		t.Errorf("no warning about training rows: %q", o.Stderr)
	}
	clitest.Write(t, dir, "apart.csv", "f0,f1,f2,f3\n0,0,0,0\n1e5,0,0,0\n2e5,0,0,0\n3e5,0,0,0\n")
	o = harness.RunOK(t, dir, "pairs calibrated.mlk -i apart.csv --recall .9 -o pairs.csv")
	if !strings.Contains(o.Stderr, "want --share") {
		t.Errorf("no warning about the share: %q", o.Stderr)
	}
	harness.RunOK(t, dir, "fit -q -m itml -i data.csv -c links.csv -o itml.mlk")
	harness.RunOK(t, dir, "calibrate -q itml.mlk -i other.csv -c held.csv -o itml-c.mlk")
	harness.RunOK(t, dir, "links make -i data.csv --pairs 5 --seed 8 -o more.csv")
	o = harness.RunOK(t, dir, "update itml-c.mlk -i data.csv -c more.csv -o updated.mlk")
	if !strings.Contains(o.Stderr, "calibration is dropped") {
		t.Errorf("no warning about the calibration: %q", o.Stderr)
	}
	if shown := clitest.Parse(t, harness.RunOK(t, dir, "inspect updated.mlk --json").Stdout); shown["calibration"] != nil {
		t.Errorf("the updated model has the calibration %v", shown["calibration"])
	}
}
