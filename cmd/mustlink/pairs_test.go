package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// calibrated returns a folder with data of 80 rows with ids, and a model calibrated on links
// between other rows of the same kind.
func calibrated(t *testing.T) string {
	dir := t.TempDir()
	data := clitest.Lines(clitest.Blobs(160, 4, true))
	clitest.Write(t, dir, "data.csv", strings.Join(data[:81], "\n")+"\n")
	clitest.Write(t, dir, "other.csv", data[0]+"\n"+strings.Join(data[81:], "\n")+"\n")
	commandtest.RunOK(t, dir, "links make -i data.csv --pairs 40 -o links.csv")
	commandtest.RunOK(t, dir, "links make -i other.csv --pairs 40 -o held.csv")
	commandtest.RunOK(t, dir, "fit -q -m rca -i data.csv -c links.csv -o model.mlk")
	commandtest.RunOK(t, dir, "calibrate -q model.mlk -i other.csv -c held.csv -o calibrated.mlk")
	return dir
}

// TestPairs compares the pairs with the distances of all pairs of rows, and the threshold and the
// probabilities with what the calibration says, in any number of workers.
func TestPairs(t *testing.T) {
	dir := calibrated(t)
	for _, flag := range []string{"--threshold 2", "--precision .7", "--recall .8",
		"--recall .8 --share 0.4"} {
		report := clitest.Parse(t,
			commandtest.RunOK(t, dir,
				"pairs calibrated.mlk -i data.csv "+flag+" --workers 1 -o pairs.csv --json").Stdout)
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
		commandtest.RunOK(t, dir, "distance -q model.mlk -i data.csv --pairs all.csv -o distances.csv")
		apart := commandtest.Column(t, clitest.Read(t, dir, "distances.csv"), "distance")
		want := map[string]float64{}
		for k, pair := range clitest.Lines(all.String())[1:] {
			if d := commandtest.Number(t, apart[k]); d <= threshold {
				want[pair] = d
			}
		}
		i, j := commandtest.Column(t, text, "i"), commandtest.Column(t, text, "j")
		distance, probability := commandtest.Column(t, text, "distance"),
			commandtest.Column(t, text, "probability")
		if len(i) != len(want) || len(want) == 0 || report["pairs"].(float64) != float64(len(want)) {
			t.Fatalf("%s: %d pairs within %v, want %d", flag, len(i), threshold, len(want))
		}
		before, certain := 0.0, 1.0
		for k := range i {
			d, p := commandtest.Number(t, distance[k]), commandtest.Number(t, probability[k])
			if w, ok := want[i[k]+","+j[k]]; !ok || !(math.Abs(w-d) <= 1e-9) {
				t.Fatalf("%s: rows %s and %s are at %v: want %v, %v", flag, i[k], j[k], d, w, ok)
			}
			if d < before || p > certain || p < 0 {
				t.Fatalf("%s: pair %d is at %v with probability %v, after %v with %v", flag, k, d, p, before,
					certain)
			}
			before, certain = d, p
		}
		commandtest.RunOK(t, dir, "pairs -q calibrated.mlk -i data.csv "+flag+" --workers 3 -o again.csv")
		if clitest.Read(t, dir, "again.csv") != text {
			t.Errorf("%s: other pairs with 3 workers", flag)
		}
	}
}

// TestPairsOfFewNeighbors: fewer pairs with --neighbors, named by ids, without a calibration.
func TestPairsOfFewNeighbors(t *testing.T) {
	dir := calibrated(t)
	commandtest.RunOK(t, dir, "pairs -q model.mlk -i data.csv --threshold 3 -o all.csv")
	commandtest.RunOK(t, dir,
		"pairs -q model.mlk -i data.csv --threshold 3 --neighbors 2 --links-by id -o few.csv")
	all, few := clitest.Lines(clitest.Read(t, dir, "all.csv")), clitest.Lines(clitest.Read(t, dir, "few.csv"))
	if few[0] != "i,j,distance" || !strings.HasPrefix(few[1], "p") || len(few) >= len(all) ||
		len(few) < 80/2 || len(few) > 1+80*2 {
		t.Errorf("%d of %d pairs, the first %q", len(few), len(all), few[:2])
	}
}

// TestCalibrate: inspect shows the calibration, and update drops it with a warning. Links between
// the training rows cause a warning, and so does a share that the pairs contradict.
func TestCalibrate(t *testing.T) {
	dir := calibrated(t)
	shown := clitest.Parse(t, commandtest.RunOK(t, dir, "inspect calibrated.mlk --json").Stdout)
	if c := shown["calibration"].(map[string]any); c["must_links"] != 40.0 || c["cannot_links"] != 40.0 ||
		c["share"] != 0.5 {
		t.Errorf("inspect shows %v", c)
	}
	if text := commandtest.RunOK(t, dir, "inspect calibrated.mlk").Stdout; !strings.Contains(text,
		"40 must-links, 40 cannot-links") {
		t.Errorf("inspect prints %q", text)
	}
	o := commandtest.RunOK(t, dir, "calibrate model.mlk -i data.csv -c links.csv --share 0.1 -o sure.mlk")
	if !strings.Contains(o.Stderr, "training rows") {
		t.Errorf("no warning about training rows: %q", o.Stderr)
	}
	for share, words := range map[string][2]string{
		"":             {"give --share, the", "matches, the share among these links"},
		" --share 0.4": {"", "a share of 0.4 of pairs matches\n"}} {
		o := commandtest.RunOK(t, dir, "calibrate model.mlk -i other.csv -c held.csv -o c.mlk"+share)
		if !strings.Contains(o.Stderr, words[0]) || words[0] == "" && o.Stderr != "" ||
			!strings.Contains(o.Stdout, words[1]) {
			t.Errorf("share %q: %q, %q", share, o.Stderr, o.Stdout)
		}
	}
	clitest.Write(t, dir, "apart.csv", "f0,f1,f2,f3\n0,0,0,0\n1e5,0,0,0\n2e5,0,0,0\n3e5,0,0,0\n")
	o = commandtest.RunOK(t, dir, "pairs calibrated.mlk -i apart.csv --recall .9 -o pairs.csv")
	if !strings.Contains(o.Stderr, "want --share") {
		t.Errorf("no warning about the share: %q", o.Stderr)
	}
	commandtest.RunOK(t, dir, "fit -q -m itml -i data.csv -c links.csv -o itml.mlk")
	commandtest.RunOK(t, dir, "calibrate -q itml.mlk -i other.csv -c held.csv -o itml-c.mlk")
	commandtest.RunOK(t, dir, "links make -i data.csv --pairs 5 --seed 8 -o more.csv")
	o = commandtest.RunOK(t, dir, "update itml-c.mlk -i data.csv -c more.csv -o updated.mlk")
	if !strings.Contains(o.Stderr, "calibration is dropped") {
		t.Errorf("no warning about the calibration: %q", o.Stderr)
	}
	if shown := clitest.Parse(t,
		commandtest.RunOK(t, dir, "inspect updated.mlk --json").Stdout); shown["calibration"] != nil {
		t.Errorf("the updated model has the calibration %v", shown["calibration"])
	}
}

// TestPrecisionThatFails: a precision is refused that links do not support, or that the number of
// pairs makes impossible, with what would support it; without --precision the same is a warning,
// and the probabilities are lowered.
func TestPrecisionThatFails(t *testing.T) {
	dir := calibrated(t)
	o := commandtest.Run(t, dir, "pairs calibrated.mlk -i data.csv --precision .99 -o out.csv")
	if o.Code != 2 || !strings.Contains(o.Stderr, "--precision is 0.99: want at most 0.") ||
		!strings.Contains(o.Stderr, "suggest --near") {
		t.Errorf("code %d, %q", o.Code, o.Stderr)
	}
	commandtest.RunOK(t, dir, "calibrate -q model.mlk -i other.csv -c held.csv --share .9 -o often.mlk")
	commandtest.RunOK(t, dir, "calibrate -q model.mlk -i other.csv -c held.csv --share .01 -o seldom.mlk")
	for model, want := range map[string]string{"often.mlk": "the share is at most 0.",
		"seldom.mlk": "matching pairs are as near"} {
		o := commandtest.RunOK(t, dir, "pairs "+model+" -i data.csv --recall 1 -o out.csv --json")
		if !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: %q", model, o.Stderr)
		}
		report := clitest.Parse(t, o.Stdout)
		high := report["calibrated"].(map[string]any)["precision"].(map[string]any)["high"].(float64)
		mean, p := 0.0, commandtest.Column(t, clitest.Read(t, dir, "out.csv"), "probability")
		for _, v := range p {
			mean += commandtest.Number(t, v) / float64(len(p))
		}
		if !(mean <= high+1e-9) || high == 1 && model == "seldom.mlk" {
			t.Errorf("%s: the mean probability is %v, the precision at most %v", model, mean, high)
		}
	}
	// The number of pairs contradicts the share .9: with the largest that is left, the nearer pairs
	// have the precision .9 and no pairs .95.
	o = commandtest.RunOK(t, dir, "pairs often.mlk -i data.csv --precision .9 -o out.csv")
	labels := commandtest.Column(t, clitest.Read(t, dir, "data.csv"), "label")
	matching, pairs := 0, clitest.Lines(clitest.Read(t, dir, "out.csv"))[1:]
	for _, line := range pairs {
		var i, j int
		fmt.Sscanf(line, "%d,%d", &i, &j)
		if labels[i] == labels[j] {
			matching++
		}
	}
	if !strings.Contains(o.Stderr, "the share is at most 0.") || float64(matching) < .9*float64(len(pairs)) {
		t.Errorf("%d of %d pairs match, %q", matching, len(pairs), o.Stderr)
	}
	o = commandtest.Run(t, dir, "pairs often.mlk -i data.csv --precision .95 -o out.csv")
	if o.Code != 2 || !strings.Contains(o.Stderr, "--precision is 0.95: want at most 0.9") ||
		!strings.Contains(o.Stderr, "calibrate --near") {
		t.Errorf("code %d, %q", o.Code, o.Stderr)
	}
}

// TestWithoutModel: prepared rows are calibrated and searched as by a model of method raw.
func TestWithoutModel(t *testing.T) {
	dir := calibrated(t)
	commandtest.RunOK(t, dir, "fit -q -m raw --standardize -i other.csv -o raw.mlk")
	commandtest.RunOK(t, dir, "calibrate -q raw.mlk -i other.csv -c held.csv -o a.mlk")
	commandtest.RunOK(t, dir, "calibrate -q --standardize -i other.csv -c held.csv -o b.mlk")
	for _, model := range []string{"a", "b"} {
		commandtest.RunOK(t, dir, "pairs -q "+model+".mlk -i other.csv --recall .8 -o "+model+".csv")
	}
	if a, b := clitest.Read(t, dir, "a.csv"), clitest.Read(t, dir, "b.csv"); a != b ||
		len(clitest.Lines(a)) < 20 {
		t.Error("other pairs without a model")
	}
	commandtest.RunOK(t, dir, "pairs -q raw.mlk -i other.csv --threshold 1.5 -o a.csv")
	commandtest.RunOK(t, dir, "pairs -q --standardize -i other.csv --threshold 1.5 -o b.csv")
	if clitest.Read(t, dir, "a.csv") != clitest.Read(t, dir, "b.csv") {
		t.Error("other pairs of raw rows without a model")
	}
}

// TestSuggestNear: the pairs to ask are some of those up to the distance, without those of links.
// A calibration on their answers is one of near pairs.
func TestSuggestNear(t *testing.T) {
	dir := calibrated(t)
	commandtest.RunOK(t, dir, "pairs -q model.mlk -i other.csv --threshold 4 -o all.csv")
	commandtest.RunOK(t, dir, "suggest -q model.mlk -i other.csv -c held.csv --near 4 -n 60 -o ask.csv")
	near, asked := map[string]bool{}, clitest.Lines(clitest.Read(t, dir, "ask.csv"))[1:]
	for _, line := range clitest.Lines(clitest.Read(t, dir, "all.csv")) {
		near[strings.Join(strings.Split(line, ",")[:2], ",")] = true
	}
	known := clitest.Read(t, dir, "held.csv")
	labels := commandtest.Column(t, clitest.Read(t, dir, "other.csv"), "label")
	answers := "i,j,link\n"
	for _, pair := range asked {
		if !near[pair] || strings.Contains(known, "\n"+pair+",") {
			t.Errorf("pair %s is asked", pair)
		}
		var i, j int
		fmt.Sscanf(pair, "%d,%d", &i, &j)
		answers += pair + map[bool]string{true: ",must\n", false: ",cannot\n"}[labels[i] == labels[j]]
	}
	if len(asked) != 60 {
		t.Errorf("%d pairs are asked", len(asked))
	}
	clitest.Write(t, dir, "answers.csv", answers)
	o := commandtest.Run(t, dir, "calibrate model.mlk -i other.csv -c answers.csv --near -o near.mlk")
	if strings.Contains(answers, ",cannot") != (o.Code == 0) || o.Code == 0 && !strings.Contains(o.Stdout,
		"of near pairs matches") {
		t.Errorf("code %d, %q %q", o.Code, o.Stdout, o.Stderr)
	}
}
