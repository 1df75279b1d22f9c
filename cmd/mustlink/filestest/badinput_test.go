package filestest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	container "github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestBadData: files of points that cannot be used.
func TestBadData(t *testing.T) {
	const header = "a,b,label\n"
	for _, c := range []struct {
		name, content string
		words         []string
	}{
		{"empty file", "", []string{"data.csv", "empty"}},
		{"header only", header, []string{"data.csv", "row"}},
		{"ragged row", header + "1,2,x\n1,2\n3,4,y\n",
			[]string{"data.csv", "line 3", "row 1", "2 fields", "3"}},
		{"text in a numeric column", header + "1,2,x\n1,two,y\n",
			[]string{"data.csv", "line 3", "row 1", `column "b"`, `"two"`, "number"}},
		{"NaN", header + "1,NaN,x\n1,2,y\n", []string{"data.csv", "line 2", "row 0", `column "b"`, "finite"}},
		{"infinity", header + "1,2,x\ninf,2,y\n",
			[]string{"data.csv", "line 3", "row 1", `column "a"`, "finite"}},
		{"empty cell", header + "1,2,x\n,2,y\n",
			[]string{"data.csv", "line 3", "row 1", `column "a"`, "empty"}},
		{"one point", header + "1,2,x\n", []string{"data.csv", "1 data row", "at least 2"}},
		{"duplicate ids", "id,a\np,1\nq,2\np,3\n",
			[]string{"data.csv", "line 4", "row 2", `column "id"`, `"p"`, "line 2"}},
		{"binary garbage", "\x00\x01\x02\xff\xfe\x89garbage\x00\x00", []string{"data.csv", "CSV"}},
		{"gzip under a wrong name", "\x1f\x8b\x08\x00\x00\x00\x00\x00", []string{"data.csv", "gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			clitest.Write(t, dir, "data.csv", c.content)
			clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
			before := clitest.Names(t, dir)
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, commandtest.Fit+" --prepare none"),
				before, c.words...)
		})
	}
}

// TestBadFiles: paths that are not files, and files whose content does not match their names.
func TestBadFiles(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		before := clitest.Names(t, dir)
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i nosuch.csv -c links.csv -o out.mlk"), before,
			"nosuch.csv", "no such file")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i data.csv -c nosuch.csv -o out.mlk"), before, "nosuch.csv",
			"no such file")
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "embed nosuch.mlk -i data.csv -o out.csv"),
			before, "nosuch.mlk", "no such file")
	})
	t.Run("a folder", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		if err := os.Mkdir(filepath.Join(dir, "folder.csv"), 0o755); err != nil {
			t.Fatal(err)
		}
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i folder.csv -c links.csv -o out.mlk"),
			clitest.Names(t, dir), "folder.csv")
	})
	t.Run("unknown extension", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "data.xls", "")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i data.xls -c links.csv -o out.mlk"), clitest.Names(t, dir),
			"data.xls", "csv", "npy", "--format")
	})
	t.Run("unknown format", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i - --format cvs -c links.csv -o out.mlk"),
			clitest.Names(t, dir), "--format", "cvs", "csv", "npy")
	})
	t.Run("gz that ends early", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "data.csv.gz", clitest.Blobs(200, 5, false))
		whole := clitest.Read(t, dir, "data.csv.gz")
		for _, size := range []int{5, len(whole) / 2, len(whole) - 4} {
			if err := os.WriteFile(filepath.Join(dir, "data.csv.gz"), []byte(whole[:size]),
				0o644); err != nil {
				t.Fatal(err)
			}
			commandtest.WantInputError(t, dir,
				commandtest.Run(t, dir, "fit -m krca -i data.csv.gz -c links.csv -o out.mlk"),
				clitest.Names(t, dir), "data.csv.gz")
		}
	})
	t.Run("npy garbage", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "data.npy", "\x93NUMPY\x01\x00\xff\xffgarbage")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m krca -i data.npy -c links.csv -o out.mlk"), clitest.Names(t, dir),
			"data.npy")
	})
}

// TestBadLinks: links that contradict the data or each other.
func TestBadLinks(t *testing.T) {
	const header = "i,j,link\n"
	for _, c := range []struct {
		name, content string
		words         []string
	}{
		{"empty file", "", []string{"links.csv", "empty"}},
		{"pair out of range", header + "0,1,must\n3,20,must\n",
			[]string{"links.csv", "line 3", "20", "0 to 19"}},
		{"negative row", header + "-1,3,must\n", []string{"links.csv", "line 2", "-1"}},
		{"self-pair", header + "0,1,must\n4,4,cannot\n", []string{"links.csv", "line 3", "4"}},
		{"both signs", header + "0,2,must\n1,3,must\n2,0,cannot\n",
			[]string{"links.csv", "line 4", "line 2"}},
		{"unknown link", header + "0,2,most\n", []string{"links.csv", "line 2", `"most"`, "must", "cannot"}},
		{"no number", header + "0,two,must\n", []string{"links.csv", "line 2", `"two"`}},
		{"wrong header", "a,b\n0,1\n", []string{"links.csv", "i,j,link"}},
		{"chunklet out of range", "i,chunklet\n0,a\n99,a\n", []string{"links.csv", "line 3", "99"}},
		{"no must-links", header + "0,1,cannot\n", []string{"links.csv", "must-link", "krca"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := commandtest.Workspace(t)
			clitest.Write(t, dir, "links.csv", c.content)
			before := clitest.Names(t, dir)
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, commandtest.Fit), before, c.words...)
		})
	}
	t.Run("unknown id", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "data.csv", clitest.Blobs(20, 3, true))
		clitest.Write(t, dir, "links.csv", header+"p1,q7,must\n")
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, commandtest.Fit+" --links-by id"),
			clitest.Names(t, dir), "links.csv", "line 2", `"q7"`)
	})
	t.Run("triplet of a row twice", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "triplets.csv", "i,j,k\n0,1,2\n3,4,3\n")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m gml -i data.csv --triplets triplets.csv -o out.mlk"),
			clitest.Names(t, dir), "triplets.csv", "line 3", "row 3")
	})
	t.Run("quadruplet of one pair", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		clitest.Write(t, dir, "quadruplets.csv", "l,k,j,i\n0,1,2,3\n3,4,3,4\n")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "fit -m lsml -i data.csv --quadruplets quadruplets.csv -o out.mlk"),
			clitest.Names(t, dir), "quadruplets.csv", "line 3", "two different pairs")
	})
	t.Run("ids asked for, none there", func(t *testing.T) {
		dir := commandtest.Workspace(t)
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, commandtest.Fit+" --links-by id"),
			clitest.Names(t, dir), "data.csv", "column id")
	})
}

// TestBadUsage: wrong command lines, with the words that the message must contain. Each runs in a
// folder with data, links and a model.
func TestBadUsage(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "labels.csv", "label\nx\ny\n")
	clitest.Write(t, dir, "gram.npy", "")
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"fti", []string{"fti", "fit"}},
		{"links mak", []string{"mak", "make"}},
		{"fit extra", []string{"extra"}},
		{"embed", []string{"MODEL"}},
		{"embed model.mlk model.mlk -i data.csv -o out.csv", []string{"model.mlk", "MODEL"}},
		{commandtest.Fit + " --standardiz", []string{`"--standardiz"; did you mean "--standardize"?`}},
		{commandtest.Fit + " -z", []string{"-z"}},
		{commandtest.Fit + " --seed", []string{"--seed"}},
		{commandtest.Fit + " --seed=-1", []string{"--seed", "-1"}},
		{commandtest.Fit + " --workers two", []string{"--workers", "two", "whole number"}},
		{commandtest.Fit + " --workers -2", []string{"--workers", "-2", ">= 0"}},
		{commandtest.Fit + " --memory-limit lots", []string{"--memory-limit", "lots", "8GiB"}},
		{commandtest.Fit + " --memory-limit 1KB", []string{"limit"}},
		{"fit -i data.csv -c links.csv -p dims=2 -o out.mlk", []string{"-p", "-m METHOD"}},
		{"fit -m krca -c links.csv -o out.mlk", []string{"-i"}},
		{"fit -m krca -i data.csv -c links.csv", []string{"-o"}},
		{"fit -m krca -i data.csv -o out.mlk", []string{"-c", "--links-from-labels"}},
		{commandtest.Fit + " --triplets links.csv", []string{"--triplets", "krca", "-m gml"}},
		{commandtest.Fit + " --quadruplets links.csv", []string{"--quadruplets", "krca", "want -m lsml"}},
		{commandtest.Fit + " --links-from-labels 3", []string{"--links", "--links-from-labels"}},
		{"fit -m krca -i data.csv --links-from-labels 0 -o out.mlk", []string{"--links-from-labels", "0"}},
		{"fit -m krca -i data.csv --links-from-labels 100000 -o out.mlk",
			[]string{"--links-from-labels", "100000"}},
		{"fit -m krac -i data.csv -c links.csv -o out.mlk", []string{"-m", "method", "krac", "krca"}},
		{commandtest.Fit + " -k rbf:sigma=0", []string{"sigma", "> 0"}},
		{commandtest.Fit + " -k rbf:sigma=-1.5", []string{"sigma", "-1.5", "> 0"}},
		{commandtest.Fit + " -k rfb:sigma=1", []string{"-k", "kernel", "rfb", "rbf"}},
		{commandtest.Fit + " -k rbf:sigma=medain", []string{"medain", "median"}},
		{commandtest.Fit + " -k spectrum:k=3", []string{"spectrum"}},
		{commandtest.Fit + " -p eps=0", []string{"-p eps", "> 0"}},
		{commandtest.Fit + " -p eps_rel=-1e-3", []string{"eps_rel", "-1e-3", "> 0"}},
		{commandtest.Fit + " -p eps_rel=1e-3 -p eps=1", []string{"eps_rel", "eps", "together"}},
		{commandtest.Fit + " -p eps_rle=1e-3", []string{"eps_rle", "eps_rel"}},
		{commandtest.Fit + " -p dims=many", []string{"dims", "many"}},
		{commandtest.Fit + " -p dims", []string{"-p", "name=value"}},
		{commandtest.Fit + " -p dims=3 -p dims=4", []string{"dims", "twice"}},
		{commandtest.Fit + " --links-by name", []string{"--links-by", "name", "row", "id"}},
		{commandtest.Fit + " --gram-diagonal labels.csv", []string{"--gram"}},
		{commandtest.Fit + " --gram --tfidf", []string{"--tfidf", "--gram"}},
		{commandtest.Fit + " --tfidf --standardize", []string{"--tfidf", "--standardize"}},
		{commandtest.Fit + " --gram --standardize", []string{"--standardize", "--gram"}},
		{"fit -m krca -i - -c - -o out.mlk", []string{"standard input"}},
		{"fit -m krca -i data.csv -c links.csv -o data.csv", []string{"-o", "data.csv", "another"}},
		{"fit -m krca -i data.csv -c links.csv -o ./links.csv", []string{"-o", "links.csv", "another"}},
		{"embed model.mlk -i data.csv -o model.mlk", []string{"-o", "model.mlk"}},
		{"embed model.mlk -i data.csv -o out.txt", []string{"-o", "out.txt", ".csv", ".npy"}},
		{"gram model.mlk -i data.csv -o out.npz", []string{"-o", "out.npz", ".npy"}},
		{"distance model.mlk -i data.csv -o out.csv", []string{"--pairs"}},
		{"cluster -i data.csv -n 21 -o out.csv", []string{"-n", "21", "20"}},
		{"cluster -i data.csv -n 0 -o out.csv", []string{"-n", "0", ">= 1"}},
		{"cluster -i data.csv -n two -o out.csv", []string{"-n", "two", "whole number"}},
		{"cluster -i data.csv -n 2 -a kmean -o out.csv", []string{"-a", "kmean", "kmeans"}},
		{"cluster -i data.csv -n 2 -a constrained -o out.csv", []string{"-c"}},
		{"cluster -i data.csv -n 2 -a kmeans -c links.csv -o out.csv", []string{"-c", "constrained"}},
		{"cluster model.mlk -i data.csv -n 2 --standardize -o out.csv", []string{"--standardize", "MODEL"}},
		{"cluster -i data.csv -n 2 --restarts 0 -o out.csv", []string{"--restarts"}},
		{"cluster -i data.csv -n 1 -c links.csv -o out.csv", []string{"links.csv", "0-1 (line 6)"}},
		{"classify --train data.csv -i data.csv --neighbors 0 -o out.csv", []string{"--neighbors"}},
		{"classify --train data.csv -i data.csv --neighbors 21 -o out.csv",
			[]string{"--neighbors", "21", "20", "data.csv"}},
		{"score --predicted labels.csv", []string{"--truth"}},
		{"score --truth labels.csv", []string{"--predicted", "--embedding"}},
		{"score --truth labels.csv --predicted data.csv", []string{"data.csv", "20", "2", "labels.csv"}},
		{"score --truth labels.csv --predicted links.csv", []string{"links.csv", "label"}},
		{"links make -i data.csv -o out.csv", []string{"--pairs"}},
		{"links make -i data.csv --pairs 3 --must 2 -o out.csv", []string{"--pairs", "--must"}},
		{"links make -i data.csv --components 1.5 -o out.csv", []string{"--components", "1.5"}},
		{"links close -c links.csv -o out.csv", []string{"-i", "-n"}},
		{"links close -c links.csv -n 5 -o out.csv", []string{"links.csv", "line", "0 to 4"}},
		{"inspect model.mlk -i data.csv", []string{"-i", "-c"}},
		{"demo xro", []string{"xro", "xor"}},
		{"demo --points 3", []string{"--points"}},
		{"check -i -", []string{"-"}},
		{"info extra", []string{"extra"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			commandtest.WantInputError(t, dir, commandtest.Run(t, dir, c.line), before, c.words...)
		})
	}
}

// TestBadEnvironment: messages about the variables for the linear algebra list the choices.
func TestBadEnvironment(t *testing.T) {
	dir := commandtest.Workspace(t)
	for _, c := range []struct {
		env   string
		words []string
	}{
		{"MUSTLINK_BACKEND=blas", []string{"MUSTLINK_BACKEND", "blas", "gonum", "native"}},
		{"MUSTLINK_SIMD=sse", []string{"MUSTLINK_SIMD", "sse", "generic", "avx2", "neon"}},
	} {
		for _, line := range []string{"info", commandtest.Fit} {
			cmd := commandtest.Command(dir, strings.Fields(line)...)
			cmd.Env = append(os.Environ(), c.env)
			commandtest.WantInputError(t, dir, clitest.Finish(t, cmd), clitest.Names(t, dir), c.words...)
		}
	}
}

// TestBadModel: model files that cannot be used, and data that do not fit a model.
func TestBadModel(t *testing.T) {
	dir := commandtest.WithModel(t)
	model := clitest.Read(t, dir, "model.mlk")
	change := func(old, new string) string {
		if !strings.Contains(model, old) {
			t.Fatalf("the model file does not contain %q", old)
		}
		return strings.Replace(model, old, new, 1)
	}
	for _, c := range []struct {
		name, content string
		words         []string
	}{
		{"empty", "", nil},
		{"truncated", model[:len(model)-100], []string{"early"}},
		{"truncated in the header", model[:50], nil},
		{"corrupted", model[:len(model)-1] + "\x55", []string{"corrupt"}},
		{"foreign: text", clitest.Blobs(5, 2, false), []string{"not a mustlink model"}},
		{"foreign: safetensors", "\x40\x00\x00\x00\x00\x00\x00\x00" +
			`{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}          ` + "12345678",
			[]string{"not a mustlink model"}},
		{"newer version", change(`\"format_version\":1`, `\"format_version\":2`),
			[]string{"version", "2", "1"}},
		{"changed header", change(`\"method\":\"krca\"`, `\"method\":\"krcb\"`), []string{"corrupt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.Write(t, dir, "bad.mlk", c.content)
			before := clitest.Names(t, dir)
			for _, line := range []string{"embed bad.mlk -i data.csv -o out.csv", "inspect bad.mlk",
				"cluster bad.mlk -i data.csv -n 2 -o out.csv"} {
				commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before,
					append(c.words, "bad.mlk")...)
			}
		})
	}
	t.Run("unknown method", func(t *testing.T) {
		file, err := container.ReadFile(filepath.Join(dir, "model.mlk"))
		if err != nil {
			t.Fatal(err)
		}
		file.Header.Method = "krcb"
		if err := file.WriteFile(filepath.Join(dir, "bad.mlk")); err != nil {
			t.Fatal(err)
		}
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "embed bad.mlk -i data.csv -o out.csv"),
			clitest.Names(t, dir), "bad.mlk", "method", "krcb", "krca")
	})
	t.Run("a column is missing", func(t *testing.T) {
		clitest.Write(t, dir, "narrow.csv", clitest.Blobs(20, 2, false))
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "embed model.mlk -i narrow.csv -o out.csv"), clitest.Names(t, dir),
			"narrow.csv", "f2")
	})
	t.Run("pair out of range", func(t *testing.T) {
		clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n0,20\n")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "distance model.mlk -i data.csv --pairs pairs.csv -o out.csv"),
			clitest.Names(t, dir), "pairs.csv", "line 3", "20")
	})
}

// TestBadGram: matrices that are not Gram matrices of the points.
func TestBadGram(t *testing.T) {
	for _, c := range []struct {
		name, content string
		words         []string
	}{
		{"not square", "0,1,2\n1,0,0\n0,1,0\n", []string{"gram.csv", "square"}},
		{"not symmetric", "0,1,2\n1,0,0\n0.5,1,0\n0,0,1\n", []string{"gram.csv", "symmetric"}},
		{"negative diagonal", "0,1\n-1,0\n0,1\n", []string{"gram.csv", "diagonal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := commandtest.Workspace(t)
			clitest.Write(t, dir, "gram.csv", c.content)
			clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n")
			commandtest.WantInputError(t, dir,
				commandtest.Run(t, dir, "fit -m krca -i gram.csv --gram -c links.csv -o out.mlk"),
				clitest.Names(t, dir), c.words...)
		})
	}
}

// TestInfeasible: constrained clustering names the rows that it cannot assign.
func TestInfeasible(t *testing.T) {
	dir := commandtest.Workspace(t)
	clitest.Write(t, dir, "links.csv", "i,j,link\n3,5,cannot\n5,7,cannot\n3,7,cannot\n")
	commandtest.WantInputError(t, dir,
		commandtest.Run(t, dir, "cluster -i data.csv -n 2 -c links.csv -o out.csv"), clitest.Names(t, dir),
		"links.csv", "3", "5", "7")
	clitest.Write(t, dir, "links.csv", "i,j,link\n3,5,must\n5,7,must\n3,7,cannot\n")
	commandtest.WantInputError(t, dir,
		commandtest.Run(t, dir, "cluster -i data.csv -n 2 -c links.csv -o out.csv"), clitest.Names(t, dir),
		"links.csv", "3", "7", "5")
	commandtest.WantInputError(t, dir,
		commandtest.Run(t, dir, "links close -i data.csv -c links.csv -o out.csv"), clitest.Names(t, dir),
		"links.csv", "3-5 (line 2)", "5-7 (line 3)")
}

// TestBadOutput: a missing output folder is an error before the work begins.
func TestBadOutput(t *testing.T) {
	dir := commandtest.WithModel(t)
	before := clitest.Names(t, dir)
	for _, line := range []string{
		"fit -m krca -i nosuch.csv -c links.csv -o nosuch/out.mlk", // the input is not read
		"embed model.mlk -i data.csv -o nosuch/out.npy",
		"gram model.mlk -i data.csv -o nosuch/out.npy",
		"cluster -i data.csv -n 2 -o nosuch/out.csv",
		"classify --train data.csv -i data.csv -o nosuch/out.csv",
		"neighbors model.mlk --train data.csv -i data.csv -o nosuch/out.csv",
		"links make -i data.csv --pairs 2 -o nosuch/out.csv",
		"demo xor -o nosuch/folder",
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, "nosuch", "no such")
	}
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "fit -m krca -i data.csv -c links.csv -o ."),
		before, "folder")
}

// TestLongLine: a line of 100 MB is refused before all of it is in memory.
func TestLongLine(t *testing.T) {
	dir := commandtest.Workspace(t)
	f, err := os.Create(filepath.Join(dir, "long.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("a,b\n1,2\n"); err != nil {
		t.Fatal(err)
	}
	digits := bytes.Repeat([]byte("1"), 1<<20)
	for range 100 {
		if _, err := f.Write(digits); err != nil {
			t.Fatal(err)
		}
	}
	forgetPeak()
	cmd := commandtest.Command(dir, "fit", "-m", "krca", "-i", "long.csv", "-c", "links.csv", "-o", "out.mlk")
	commandtest.WantInputError(t, dir, clitest.Finish(t, cmd), clitest.Names(t, dir), "long.csv", "line 3",
		"line is longer")
	if peak, ok := peakMemory(cmd.ProcessState); ok && peak > 120<<20 {
		t.Errorf("peak memory is %d MiB: want less than the line's 100 MiB and some", peak>>20)
	}
}
