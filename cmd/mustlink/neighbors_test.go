package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/clitest"
)

// searched returns a folder with training rows, new rows and a model.
func searched(t *testing.T) string {
	dir := t.TempDir()
	data := clitest.Lines(clitest.Blobs(400, 4, true))
	clitest.Write(t, dir, "train.csv", strings.Join(data[:301], "\n")+"\n")
	clitest.Write(t, dir, "new.csv", data[0]+"\n"+strings.Join(data[301:401], "\n")+"\n")
	commandtest.RunOK(t, dir, "links make -i train.csv --pairs 40 -o links.csv")
	commandtest.RunOK(t, dir, "fit -q -m rca -i train.csv -c links.csv -o model.mlk")
	return dir
}

// TestNeighbors compares the table with all distances between embedded rows, in any number of
// workers, and in all formats.
func TestNeighbors(t *testing.T) {
	const k = 4
	dir := searched(t)
	report := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"neighbors model.mlk --train train.csv -i new.csv -k 4 --workers 1 --links-by row "+
				"-o found.csv --json").Stdout)
	if report["n"] != 100.0 || report["train_rows"] != 300.0 || report["neighbors"] != 4.0 ||
		report["approximate"] != nil {
		t.Errorf("report %v", report)
	}
	text := clitest.Read(t, dir, "found.csv")
	table := commandtest.Numbers(t, text, false)
	if !strings.HasPrefix(text, "row,rank,neighbor,distance\n") || len(table) != 100*k {
		t.Fatalf("%d rows, want %d", len(table), 100*k)
	}
	train := commandtest.Numbers(t, commandtest.RunOK(t, dir, "embed -q model.mlk -i train.csv -o -").Stdout,
		true)
	fresh := commandtest.Numbers(t, commandtest.RunOK(t, dir, "embed -q model.mlk -i new.csv -o -").Stdout,
		true)
	for i, x := range fresh {
		var all []float64
		for _, y := range train {
			all = append(all, distance(x, y))
		}
		sorted := slices.Sorted(slices.Values(all))
		for r, row := range table[i*k : (i+1)*k] {
			if row[0] != float64(i) || row[1] != float64(r+1) || !(math.Abs(row[3]-sorted[r]) <= 1e-9) ||
				!(math.Abs(row[3]-all[int(row[2])]) <= 1e-9) {
				t.Fatalf("row %d, rank %d is %v: want distance %v", i, r+1, row, sorted[r])
			}
		}
	}
	commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train train.csv -i new.csv -k 4 --workers 3 --links-by row -o again.csv")
	if clitest.Read(t, dir, "again.csv") != text {
		t.Error("other neighbors with 3 workers")
	}
	for _, name := range []string{"found.npy", "found.parquet", "found.arrow"} {
		commandtest.RunOK(t, dir, "neighbors -q model.mlk --train train.csv -i new.csv -k 4 --links-by row -o "+name)
		if n := commandtest.RunOK(t, dir, "check --json -i "+name).Stdout; !strings.Contains(n, "400") {
			t.Errorf("%s: %s", name, n)
		}
	}
}

func distance(x, y []float64) float64 {
	sum := 0.0
	for c, v := range x {
		sum += (v - y[c]) * (v - y[c])
	}
	return math.Sqrt(sum)
}

// TestNeighborsByID: with ids the table is the same, but for the names of the rows.
func TestNeighborsByID(t *testing.T) {
	dir := searched(t)
	numbers := commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train train.csv -i new.csv -k 2 --links-by row -o -").Stdout
	names := commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train train.csv -i new.csv -k 2 -o -").Stdout
	train, fresh := commandtest.Column(t, clitest.Read(t, dir, "train.csv"), "id"),
		commandtest.Column(t, clitest.Read(t, dir, "new.csv"), "id")
	var want strings.Builder
	for at, line := range clitest.Lines(numbers) {
		f := strings.Split(line, ",")
		if at > 0 {
			i, _ := strconv.Atoi(f[0])
			j, _ := strconv.Atoi(f[2])
			f[0], f[2] = fresh[i], train[j]
		}
		want.WriteString(strings.Join(f, ",") + "\n")
	}
	if names != want.String() {
		t.Errorf("names are\n%.200s\nwant\n%.200s", names, want.String())
	}
}

// TestNeighborsByIndex: recall 1 is exact, an index that is read gives the result of the one that
// was built, for any number of workers, and the summary says what was probed.
func TestNeighborsByIndex(t *testing.T) {
	dir := searched(t)
	line := "neighbors -q model.mlk --train train.csv -i new.csv -k 3 --links-by row -o %s --approximate recall=%s " +
		"--index train.index --json --workers %d"
	run := func(out, recall string, workers int) map[string]any {
		r := clitest.Parse(t, commandtest.RunOK(t, dir, fmt.Sprintf(line, out, recall, workers)).Stdout)
		return r["approximate"].(map[string]any)
	}
	built := run("built.csv", ".9", 1)
	index := clitest.Read(t, dir, "train.index")
	read := run("read.csv", "0.9", 3)
	if built["built"] != true || read["built"] != false || read["probes"] != built["probes"] ||
		read["recall"] != built["recall"] || read["wanted"] != 0.9 {
		t.Errorf("built: %v, read: %v", built, read)
	}
	if clitest.Read(t, dir, "built.csv") != clitest.Read(t, dir, "read.csv") ||
		clitest.Read(t, dir, "train.index") != index {
		t.Error("an index that is read gives other neighbors")
	}
	commandtest.RunOK(t, dir, "neighbors -q model.mlk --train train.csv -i new.csv -k 3 --links-by row -o exact.csv")
	if whole := run("whole.csv", "1", 2); whole["probes"] != whole["cells"] || whole["recall"] != 1.0 {
		t.Errorf("recall 1: %v", whole)
	}
	if clitest.Read(t, dir, "whole.csv") != clitest.Read(t, dir, "exact.csv") {
		t.Error("with recall 1 the neighbors are not exact")
	}
	commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train train.csv -i new.csv -k 3 -o other.csv --approximate recall=.9 "+
			"--index other.index --workers 3")
	if clitest.Read(t, dir, "other.index") != index {
		t.Error("the index depends on the number of workers")
	}
	commandtest.RunOK(t, dir, "links make -q -i new.csv --pairs 40 --links-by row -o held.csv")
	commandtest.RunOK(t, dir, "calibrate -q model.mlk -i new.csv -c held.csv -o calibrated.mlk")
	commandtest.RunOK(t, dir,
		"neighbors -q calibrated.mlk --train train.csv -i new.csv -k 3 -o out.csv --approximate recall=.9 "+
			"--index train.index")
	text := commandtest.RunOK(t, dir,
		"neighbors model.mlk --train train.csv -i new.csv -k 3 -o out.csv --approximate recall=.9 --index "+
			"train.index").Stdout
	if !strings.Contains(text, "train.index (read)") || !strings.Contains(text, "(wanted 0.9), by") {
		t.Errorf("the summary is %q", text)
	}
}

// TestIndexOfOthers: an index of another model, of other rows or for other neighbors is refused,
// and so is a damaged one, with a line that names it.
func TestIndexOfOthers(t *testing.T) {
	dir := searched(t)
	commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train train.csv -i new.csv -k 3 -o out.csv --approximate recall=.9 "+
			"--index train.index")
	commandtest.RunOK(t, dir, "fit -q -m rca -i train.csv -c links.csv -p dims=2 -o two.mlk")
	text := clitest.Read(t, dir, "train.index")
	clitest.Write(t, dir, "changed.index", text[:len(text)-1]+string(text[len(text)-1]^1))
	clitest.Write(t, dir, "short.index", text[:len(text)/2])
	before := clitest.Names(t, dir)
	for line, want := range map[string]string{
		"two.mlk --train train.csv -k 3 --index train.index": "the index of another model than two.mlk",
		"model.mlk --train new.csv -k 3 --index train.index": "the index of other rows than those of " +
			"new.csv",
		"model.mlk --train train.csv -k 4 --index train.index":   "an index for 3 neighbors",
		"model.mlk --train train.csv -k 3 --index changed.index": "not a usable index",
		"model.mlk --train train.csv -k 3 --index short.index":   "not a usable index",
		"model.mlk --train train.csv -k 3 --index two.mlk":       "want an index",
	} {
		file := line[strings.LastIndex(line, " ")+1:]
		o := commandtest.Run(t, dir, "neighbors -i new.csv -o found.csv --approximate recall=.9 "+line)
		commandtest.WantInputError(t, dir, o, before, file, want)
	}
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "embed train.index -i new.csv -o found.csv"),
		before, "train.index", "nearest-neighbor index")
}

// TestNeighborsOfNoDimensions: a model without dimensions is refused, as it is read.
func TestNeighborsOfNoDimensions(t *testing.T) {
	dir := searched(t)
	f, err := model.ReadFile(dir + "/model.mlk")
	if err != nil {
		t.Fatal(err)
	}
	for name, tensor := range f.Tensors {
		if len(tensor.Shape) == 2 && tensor.F64 != nil {
			f.SetFloat64s(name, nil, 0, tensor.Shape[1])
		}
	}
	if err := f.WriteFile(dir + "/none.mlk"); err != nil {
		t.Fatal(err)
	}
	o := commandtest.Run(t, dir, "neighbors none.mlk --train train.csv -i new.csv -o found.csv")
	commandtest.WantInputError(t, dir, o, clitest.Names(t, dir), "none.mlk", "to 0 values: want at least one")
}
