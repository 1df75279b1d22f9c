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

// TestEntitiesOfTwoFiles: records of two files are linked one to one, or one to many, and most of
// the true pairs across the files are found.
func TestEntitiesOfTwoFiles(t *testing.T) {
	dir := t.TempDir()
	commandtest.RunOK(t, dir, "demo people -q --records 1600 --seed 5 -o people.csv")
	lines := strings.SplitAfter(clitest.Read(t, dir, "people.csv"), "\n")
	files := []string{lines[0], lines[0]} // crm and shop; the shop has web, too, for one to many
	many := lines[0]
	of := map[string]string{} // person of an id
	for _, line := range lines[1 : len(lines)-1] {
		cells := strings.Split(strings.TrimSpace(line), ",")
		of[cells[0]] = cells[8]
		switch cells[7] {
		case "crm":
			files[0] += line
		case "shop":
			files[1] += line
			many += line
		default:
			many += line
		}
	}
	clitest.Write(t, dir, "crm.csv", files[0])
	clitest.Write(t, dir, "shop.csv", files[1])
	clitest.Write(t, dir, "many.csv", many)
	for two, oneTo := range map[string]string{"shop.csv": "one", "many.csv": "many"} {
		base := "entities -i crm.csv --two " + two + " --one-to " + oneTo +
			" --label person --block zip --block born --block soundex(last) --links-by id "
		commandtest.RunOK(t, dir, base+"--ask 500 -o ask.csv")
		text := "i,j,link\n"
		for _, line := range clitest.Lines(clitest.Read(t, dir, "ask.csv"))[1:] {
			i, j, _ := strings.Cut(line, ",")
			text += line + map[bool]string{true: ",must\n", false: ",cannot\n"}[of[i] == of[j]]
		}
		clitest.Write(t, dir, "answers.csv", text)
		base += "-c answers.csv --compare first,last,born,street,zip,city "
		commandtest.RunOK(t, dir, base+"-o e.csv")
		out := clitest.Read(t, dir, "e.csv")
		ids, entity, file := commandtest.Column(t, out, "id"), commandtest.Column(t, out, "entity"),
			commandtest.Column(t, out, "file")
		var found, right, all, largest int
		count := map[string]int{}
		for a := range ids {
			if count[entity[a]+file[a]]++; file[a] == "crm.csv" || oneTo == "one" {
				largest = max(largest, count[entity[a]+file[a]])
			}
			for b := range a {
				if file[a] == file[b] {
					continue
				}
				same, together := of[ids[a]] == of[ids[b]], entity[a] == entity[b]
				if together {
					found++
				}
				if same {
					all++
				}
				if same && together {
					right++
				}
			}
		}
		f := 2 * float64(right) / float64(found+all)
		t.Logf("%s: F %.3f of %d pairs across", two, f, all)
		records := strings.Count(files[0]+clitest.Read(t, dir, two), "\n") - 2
		if f < 0.9 || largest != 1 || len(ids) != records {
			t.Errorf("%s: pairwise F %v across files, up to %d records of a file in an entity", two, f, largest)
		}
	}
	first := strings.Split(strings.Split(files[1], "\n")[1], ",")[0]
	second := strings.Split(strings.Split(files[1], "\n")[2], ",")[0]
	anchor := strings.Split(strings.Split(files[0], "\n")[1], ",")[0]
	clitest.Write(t, dir, "both.csv",
		fmt.Sprintf("i,j,link\n%s,%s,must\n%[1]s,%[3]s,must\n", anchor, first, second))
	clitest.Write(t, dir, "other.csv", "id,name\nx,y\nz,w\n")
	clitest.Write(t, dir, "empty.csv", lines[0])
	clitest.Write(t, dir, "noids.csv", "first,last,born,street,zip,city,person\na,b,c,d,e,f,g\nh,b,c,d,e,f,g\n")
	base := "entities -i crm.csv --label person --block zip -c both.csv --compare last --decided both.csv --two "
	for two, want := range map[string]string{
		"crm.csv":                `crm.csv, row 0, column "id": the id is "` + anchor,
		"other.csv":              "other.csv",
		"empty.csv":              "empty.csv",
		"noids.csv":              "noids.csv: --two names records by id: want a column id",
		"shop.csv --one-to some": "--one-to",
	} {
		before := clitest.Names(t, dir)
		bad := commandtest.Run(t, dir, base+two+" -o bad.csv")
		if !strings.Contains(bad.Stderr, want) {
			t.Errorf("%s: %s, want %s", two, bad.Stderr, want)
		}
		commandtest.WantInputError(t, dir, bad, before)
	}
	// two records of one file for one
	bad := commandtest.Run(t, dir, "entities -i crm.csv --two many.csv --label person --block zip --block born "+
		"--block soundex(last) --links-by id -c answers.csv --decided both.csv --compare first,last,born -o bad.csv")
	if !strings.Contains(bad.Stderr, "which are of one file: want one record of it in an entity, or --one-to many") {
		t.Errorf("a contradiction of the files: %s", bad.Stderr)
	}
}
