package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestEntities: generated people become entities that are mostly right, links and sources are kept,
// added records change no number, and contradictions of earlier entities are refused.
func TestEntities(t *testing.T) {
	dir := t.TempDir()
	commandtest.RunOK(t, dir, "demo people -q --records 1200 --seed 3 -o people.csv")
	text := clitest.Read(t, dir, "people.csv")
	person, src := commandtest.Column(t, text, "person"), commandtest.Column(t, text, "source")
	base := "entities -i people.csv --label person --block zip --block born --block soundex(last),first-letter(first) "
	commandtest.RunOK(t, dir, base+"--ask 400 --links-by row -o ask.csv")
	var answers strings.Builder
	answers.WriteString("i,j,link\n")
	for line := range strings.Lines(strings.TrimPrefix(clitest.Read(t, dir, "ask.csv"), "i,j\n")) {
		var i, j int
		if _, err := fmt.Sscanf(line, "%d,%d", &i, &j); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&answers, "%d,%d,%s\n", i, j,
			map[bool]string{true: "must", false: "cannot"}[person[i] == person[j]])
	}
	clitest.Write(t, dir, "answers.csv", answers.String())
	clitest.Write(t, dir, "decided.csv", "i,j,link\n0,1,cannot\n2,3,must\n")
	base += "-c answers.csv --links-by row --compare first,last,born,street,zip,city "
	o := commandtest.RunOK(t, dir, base+"--distinct source --doubtful doubtful.csv --doubts 7 -o first.csv --json")
	r := clitest.Parse(t, o.Stdout)
	if f := r["scores"].(map[string]any)["pairwise"].(map[string]any)["f"].(float64); f < 0.9 {
		t.Errorf("pairwise F %v", f)
	}
	entity := commandtest.Column(t, clitest.Read(t, dir, "first.csv"), "entity")
	seen := map[string]bool{}
	for i, e := range entity {
		if seen[e+src[i]] {
			t.Errorf("entity %s has source %s twice", e, src[i])
		}
		seen[e+src[i]] = true
	}
	doubts := commandtest.Column(t, clitest.Read(t, dir, "doubtful.csv"), "probability")
	if len(doubts) != 7 {
		t.Errorf("%d doubtful pairs, want 7", len(doubts))
	}

	lines := strings.SplitAfter(clitest.Read(t, dir, "first.csv"), "\n")
	clitest.Write(t, dir, "before.csv", strings.Join(lines[:1001], ""))
	commandtest.RunOK(t, dir, base+"--decided decided.csv --previous before.csv -o second.csv")
	after := commandtest.Column(t, clitest.Read(t, dir, "second.csv"), "entity")
	together := map[string]string{}
	for i, e := range entity[:1000] {
		if other, there := together[e]; there && other != after[i] {
			t.Errorf("entity %s became %s and %s", e, other, after[i])
		}
		together[e] = after[i]
	}
	if after[0] == after[1] || after[2] != after[3] {
		t.Error("decided links are not kept")
	}
	a := 0 // a record whose entity has another one, about which there is no answer
	for lastIndex(entity, entity[a]) == a ||
		strings.Contains(answers.String(), fmt.Sprintf("\n%d,%d,", a, lastIndex(entity, entity[a]))) {
		a++
	}
	clitest.Write(t, dir, "no.csv", fmt.Sprintf("i,j,link\n%d,%d,cannot\n", a, lastIndex(entity, entity[a])))
	clitest.Write(t, dir, "words.csv", "id,entity\nr0,first\n")
	for flags, want := range map[string]string{
		"--decided no.csv --previous first.csv": fmt.Sprintf("first.csv: entity %s has", entity[a]),
		"--previous words.csv":                  `words.csv, row 0, column "entity": the entity is "first"`,
		"--previous answers.csv":                "answers.csv",
	} {
		before := clitest.Names(t, dir)
		bad := commandtest.Run(t, dir, base+flags+" -o bad.csv")
		if !strings.Contains(bad.Stderr, want) {
			t.Errorf("%s: %s, want %s", flags, bad.Stderr, want)
		}
		commandtest.WantInputError(t, dir, bad, before)
	}
}

func lastIndex(list []string, x string) (last int) {
	for i, v := range list {
		if v == x {
			last = i
		}
	}
	return last
}

// TestEntitiesOfCalibration: a calibrated model needs no columns of texts, and one entity of all is
// refused.
func TestEntitiesOfCalibration(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("id,x,y,label\n")
	for i := range 60 {
		c := i / 3
		fmt.Fprintf(&text, "r%d,%d.%d,%d,c%d\n", i, 100*(c%5), i%3, 100*(c/5), c)
	}
	clitest.Write(t, dir, "data.csv", text.String())
	commandtest.RunOK(t, dir, "links make -i data.csv --must 50 --cannot 500 -o some.csv")
	commandtest.RunOK(t, dir, "calibrate -q -i data.csv --prepare none -c some.csv -o c.mlk")
	r := clitest.Parse(t, commandtest.RunOK(t, dir, "entities c.mlk -i data.csv -o e.csv --json").Stdout)
	if r["entities"] != 20. || r["exact"] != r["components"] {
		t.Errorf("result %v, want 20 entities", r)
	}
	head := strings.Join(strings.SplitAfter(text.String(), "\n")[:4], "")
	clitest.Write(t, dir, "three.csv", head)
	clitest.Write(t, dir, "all.csv", "i,j,link\nr0,r1,must\nr1,r2,must\n")
	before := clitest.Names(t, dir)
	bad := commandtest.Run(t, dir, "entities c.mlk -i three.csv -c all.csv --links-by id --neighbors 2 -o bad.csv")
	if !strings.Contains(bad.Stderr, "three.csv: all 3 records would be one entity") {
		t.Errorf("one entity of all: %s", bad.Stderr)
	}
	commandtest.WantInputError(t, dir, bad, before)
}
