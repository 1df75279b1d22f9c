package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestFlow runs the commands that a user would run: links, fit, embed, gram, distance, cluster,
// score, classify, inspect, on files with ids.
func TestFlow(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(60, 4, true))
	commandtest.RunOK(t, dir, "links make -i data.csv --pairs 30 --links-by id -o links.csv")
	if i := commandtest.Column(t, clitest.Read(t, dir, "links.csv"), "i"); len(i) != 60 ||
		!strings.HasPrefix(i[0], "p") {
		t.Fatalf("links.csv has %d links, the first of row %q: want 60, by id", len(i), i[0])
	}
	commandtest.RunOK(t, dir, "fit -m krca -i data.csv -c links.csv --links-by id --standardize -o model.mlk")

	commandtest.RunOK(t, dir, "embed model.mlk -i data.csv -o embedded.csv")
	embedded := clitest.Read(t, dir, "embedded.csv")
	if id := commandtest.Column(t, embedded, "id"); len(id) != 60 || id[59] != "p59" {
		t.Errorf("ids of the embedding: %v", id)
	}

	// The learned distance is that of the learned kernel.
	commandtest.RunOK(t, dir, "gram model.mlk -i data.csv -o gram.csv")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n7,3\n4,4\n")
	commandtest.RunOK(t, dir, "distance model.mlk -i data.csv --pairs pairs.csv -o distances.csv")
	k := commandtest.Numbers(t, clitest.Read(t, dir, "gram.csv"), true)
	d := commandtest.Column(t, clitest.Read(t, dir, "distances.csv"), "distance")
	for p, pair := range [][2]int{{0, 1}, {7, 3}, {4, 4}} {
		i, j := pair[0], pair[1]
		want := k[i][i] + k[j][j] - 2*k[i][j]
		if got := commandtest.Number(t, d[p]); !(math.Abs(got*got-want) <= 1e-9*k[i][i]) {
			t.Errorf("the square of the distance of %v is %g, by the Gram matrix %g", pair, got, want)
		}
	}
	commandtest.RunOK(t, dir, "gram model.mlk -i data.csv -j data.csv -o cross.csv")
	cross := commandtest.Numbers(t, clitest.Read(t, dir, "cross.csv"), true)
	for i := range k {
		for j := range k {
			if !(math.Abs(k[i][j]-cross[i][j]) <= 1e-9*k[i][i]) {
				t.Fatalf("gram and cross differ at %d, %d: %g and %g", i, j, k[i][j], cross[i][j])
			}
		}
	}

	// 6 standard deviations apart in one of 4 columns: every algorithm finds the two classes, with
	// and without the model.
	for _, line := range []string{
		"cluster model.mlk -i data.csv -n 2",
		"cluster -i data.csv -n 2 --standardize",
		"cluster model.mlk -i data.csv -n 2 -a kernel",
		"cluster -i data.csv -n 2 -a kernel -k rbf:sigma=median",
		"cluster model.mlk -i data.csv -n 2 -c links.csv --links-by id",
	} {
		report := clitest.Parse(t, commandtest.RunOK(t, dir, line+" -o clusters.csv --json").Stdout)
		labels := clitest.Read(t, dir, "clusters.csv")
		if !strings.HasPrefix(labels, "id,label\np0,") {
			t.Errorf("%s: labels begin with %q", line, labels[:20])
		}
		scores := clitest.Parse(t,
			commandtest.RunOK(t, dir, "score --truth data.csv --predicted clusters.csv --json").Stdout)
		if ari := scores["adjusted_rand"].(float64); ari < 0.75 {
			t.Errorf("%s: adjusted Rand index %g: want at least 0.75", line, ari)
		}
		inner := report["scores"].(map[string]any)
		if inner["adjusted_rand"] != scores["adjusted_rand"] {
			t.Errorf("%s: the summary says %v, score %v", line, inner["adjusted_rand"],
				scores["adjusted_rand"])
		}
	}

	scores := clitest.Parse(t,
		commandtest.RunOK(t, dir, "score --truth data.csv --embedding embedded.csv --json").Stdout)
	if j := scores["j_ratio"].(float64); j < 1.2 {
		t.Errorf("J of the embedding is %g", j)
	}
	for _, line := range []string{"classify model.mlk --train data.csv -i data.csv",
		"classify --train data.csv -i data.csv --standardize"} {
		if o := commandtest.RunOK(t, dir, line+" --neighbors 1 -o predicted.csv"); !strings.Contains(o.Stderr,
			"each votes for itself") {
			t.Errorf("%s: no warning: %q", line, o.Stderr)
		}
		// The nearest neighbor of a training point is itself.
		if got, want := commandtest.Column(t, clitest.Read(t, dir, "predicted.csv"), "label"),
			commandtest.Column(t, clitest.Read(t, dir, "data.csv"), "label"); !slices.Equal(got, want) {
			t.Errorf("%s: labels are not those of the nearest rows", line)
		}
	}
	o := commandtest.RunOK(t, dir, "inspect model.mlk -i data.csv -c links.csv --links-by id")
	for _, w := range []string{"krca", "rbf:sigma=", "f0, f1, f2, f3", "tensor",
		"30 must, 30 cannot, on training rows"} {
		if !strings.Contains(o.Stdout, w) {
			t.Errorf("inspect does not show %q:\n%s", w, o.Stdout)
		}
	}
}

// TestTriplets: triplets are learned from without links, by id, and with links; the summary counts
// them.
func TestTriplets(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(60, 4, true))
	var text strings.Builder
	text.WriteString("i,j,k\n")
	for i := range 20 { // the two classes take turns
		fmt.Fprintf(&text, "p%d,p%d,p%d\n", i, i+2, i+1)
	}
	clitest.Write(t, dir, "triplets.csv", text.String())
	for _, method := range []string{"gml", "itml"} {
		o := commandtest.RunOK(t, dir,
			"fit -m "+method+" -i data.csv --triplets triplets.csv --links-by id -o model.mlk")
		if !strings.Contains(o.Stdout, "20") || !strings.Contains(o.Stdout, "triplets") {
			t.Errorf("%s: summary\n%s", method, o.Stdout)
		}
		commandtest.RunOK(t, dir, "embed model.mlk -i data.csv -o embedded.csv")
	}
	commandtest.RunOK(t, dir, "fit -m scml -i data.csv --triplets triplets.csv --links-by id -o model.mlk")
	quadruplets := strings.ReplaceAll(strings.ReplaceAll(text.String(), "i,j,k", "i,j,l,k"), "\n", ",p30\n")
	clitest.Write(t, dir, "quadruplets.csv", strings.Replace(quadruplets, "i,j,l,k,p30", "i,j,l,k", 1))
	o := commandtest.RunOK(t, dir,
		"fit -m lsml -i data.csv --quadruplets quadruplets.csv --triplets triplets.csv --links-by id -o "+
			"model.mlk")
	if !strings.Contains(o.Stdout, "triplets     20") || !strings.Contains(o.Stdout, "quadruplets  20") {
		t.Errorf("summary of lsml\n%s", o.Stdout)
	}
	// For a method that learns from pairs, all labels mean every pair; for others they mean
	// classes.
	for method, want := range map[string]string{"itml": "870 must, 900 cannot",
		"lmnn": "870 must, 1 cannot"} {
		if o := commandtest.RunOK(t, dir,
			"fit -m "+method+" -i data.csv --links-from-labels all -o model.mlk"); !strings.Contains(o.Stdout,
			want) {
			t.Errorf("%s: want %q in\n%s", method, want, o.Stdout)
		}
	}
	commandtest.RunWith(t, dir, text.String(),
		"fit -m itml -i data.csv --links-from-labels 5 --triplets - --links-by id -o model.mlk")
}

// TestTargets: targets are learned from without links, from a file, standard input or the labels;
// links are ignored with a warning. The summary counts them.
func TestTargets(t *testing.T) {
	dir := t.TempDir()
	data := strings.NewReplacer(",x\n", ",0\n", ",y\n", ",1\n").Replace(clitest.Blobs(60, 4, false))
	targets := "target\n" + strings.Repeat("0\n1\n", 30)
	clitest.Write(t, dir, "data.csv", data)
	clitest.Write(t, dir, "targets.csv", targets)
	o := commandtest.RunOK(t, dir, "fit -m mlkr -i data.csv --targets targets.csv -o file.mlk")
	if !strings.Contains(o.Stdout, "targets    60\n") {
		t.Errorf("summary\n%s", o.Stdout)
	}
	commandtest.RunOK(t, dir, "fit -m mlkr -i data.csv --targets labels -o labels.mlk")
	commandtest.RunWith(t, dir, targets, "fit -m mlkr -i data.csv --targets - -o stream.mlk")
	o = commandtest.RunOK(t, dir,
		"fit -m mlkr -i data.csv --targets labels --links-from-labels 5 -o linked.mlk")
	if !strings.Contains(o.Stderr, "mlkr learns from targets: 5 links ignored") {
		t.Errorf("with links: %s", o.Stderr)
	}
	for _, name := range []string{"file", "labels", "stream", "linked"} {
		commandtest.RunOK(t, dir, "embed "+name+".mlk -i data.csv -o "+name+".csv")
		if clitest.Read(t, dir, name+".csv") != clitest.Read(t, dir, "file.csv") {
			t.Errorf("targets of %s: the model differs from that of the same targets in a file", name)
		}
	}
}

// TestStreams: "-" is standard input and output, and compressed files are read and written.
func TestStreams(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Blobs(40, 3, false)
	clitest.Write(t, dir, "data.csv", data)
	clitest.Write(t, dir, "data.csv.gz", data)
	links := commandtest.RunWith(t, dir, data, "links make -i - --pairs 15 -o -")
	if !strings.HasPrefix(links.Stdout, "i,j,link\n") || !strings.Contains(links.Stderr, "15 must-links") {
		t.Errorf("standard output %q, standard error %q", links.Stdout, links.Stderr)
	}
	commandtest.RunWith(t, dir, links.Stdout, "fit -m krca -i data.csv.gz -c - -o a.mlk")
	clitest.Write(t, dir, "links.csv.gz", links.Stdout)
	commandtest.RunWith(t, dir, data, "fit -m krca -i - -c links.csv.gz -o b.mlk")

	want := commandtest.RunOK(t, dir, "embed a.mlk -i data.csv -o -").Stdout
	if got := commandtest.RunWith(t, dir, data, "embed b.mlk -i - -o -").Stdout; got != want {
		t.Error("the same data and links in other formats have a different embedding")
	}
	// A model can be read from a pipe too.
	model := commandtest.RunWith(t, dir, links.Stdout, "fit -q -m krca -i data.csv -c - -o -").Stdout
	if got := commandtest.RunWith(t, dir, model, "embed - -i data.csv -o -").Stdout; got != want {
		t.Error("the model from a pipe has a different embedding")
	}
	commandtest.RunWith(t, dir, model, "inspect -")
	cut := commandtest.Command(dir, "embed", "-", "-i", "data.csv", "-o", "out.csv")
	cut.Stdin = strings.NewReader(model[:len(model)-9])
	commandtest.WantInputError(t, dir, clitest.Finish(t, cut), clitest.Names(t, dir), "standard input",
		"early")

	commandtest.RunOK(t, dir, "embed a.mlk -i data.csv.gz -o out.csv.gz")
	if clitest.Read(t, dir, "out.csv.gz")[:2] != "\x1f\x8b" {
		t.Error("out.csv.gz is not compressed")
	}
	clitest.Write(t, dir, "want.csv", want)
	for _, in := range []string{"out.csv.gz", "want.csv"} {
		commandtest.RunOK(t, dir, fmt.Sprintf("score --truth data.csv --embedding %s --json", in))
	}
	// One command reads the binary output of another.
	npy := commandtest.RunOK(t, dir, "embed a.mlk -i data.csv -o - --format npy").Stdout
	piped := commandtest.RunWith(t, dir, npy, "cluster -i - --format npy -n 2 -o -").Stdout
	if direct := commandtest.RunOK(t, dir, "cluster a.mlk -i data.csv -n 2 -o -").Stdout; piped != direct {
		t.Error("clustering the embedding and clustering with the model differ")
	}
}

// TestGramInput: a precomputed Gram matrix replaces its points.
func TestGramInput(t *testing.T) {
	dir := commandtest.WithModel(t)
	commandtest.RunOK(t, dir, "gram model.mlk -i data.csv -o k.npy")
	commandtest.RunOK(t, dir,
		"fit -m krca -i k.npy --gram -c links.csv -k linear -p eps_rel=1e-2 -o second.mlk")
	commandtest.RunOK(t, dir, "embed second.mlk -i k.npy --gram -o embedded.csv")
	if n := len(clitest.Lines(clitest.Read(t, dir, "embedded.csv"))); n != 21 {
		t.Errorf("%d lines: want a header and 20 rows", n)
	}
	// New objects are rows over the training objects, with their own diagonal.
	commandtest.RunOK(t, dir, "gram model.mlk -i data.csv -o new.csv")
	var rows, diagonal []string
	for i, l := range clitest.Lines(clitest.Read(t, dir, "new.csv")) {
		if i == 0 || i > 15 {
			rows = append(rows, l)
		}
		if i > 15 {
			diagonal = append(diagonal, strings.Split(l, ",")[i-1])
		}
	}
	clitest.Write(t, dir, "new.csv", strings.Join(rows, "\n")+"\n")
	clitest.Write(t, dir, "diagonal.csv", "k\n"+strings.Join(diagonal, "\n")+"\n")
	commandtest.RunOK(t, dir,
		"embed second.mlk -i new.csv --gram --gram-diagonal diagonal.csv -o new-embedded.csv")
	all, part := commandtest.Numbers(t, clitest.Read(t, dir, "embedded.csv"), false),
		commandtest.Numbers(t, clitest.Read(t, dir, "new-embedded.csv"), false)
	for i := range part {
		for j := range part[i] {
			if !(math.Abs(part[i][j]-all[15+i][j]) <= 1e-9) {
				t.Fatalf("row %d, column %d: %g as a new object, %g as a training object", i, j, part[i][j],
					all[15+i][j])
			}
		}
	}
	commandtest.RunOK(t, dir, "cluster -i k.npy --gram -a kernel -n 2 -o clusters.csv")
	before := clitest.Names(t, dir)
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "cluster -i k.npy --gram -n 2 -o out.csv"),
		before, "k.npy", "-a kernel")
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "embed second.mlk -i data.csv -o out.csv"),
		before, "data.csv")
}

// TestJSON: with --json standard output is one JSON value, with the fields that programs rely on,
// also if there are warnings.
func TestJSON(t *testing.T) {
	dir := commandtest.WithModel(t)
	commandtest.RunOK(t, dir, "cluster -i data.csv -n 2 -q -o clusters.csv")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n")
	for _, c := range []struct{ line, fields string }{
		{commandtest.Fit, "method kernel n d must_links cannot_links chunklets dim converged iterations " +
			"seconds model warnings"},
		{"embed model.mlk -i data.csv -o out.csv", "method rows cols output warnings"},
		{"export model.mlk -o out.onnx", "method format dim bytes computed_in output warnings"},
		{"gram model.mlk -i data.csv -o out.csv", "method rows cols output warnings"},
		{"distance model.mlk -i data.csv --pairs pairs.csv -o out.csv", "method rows cols output warnings"},
		{"cluster model.mlk -i data.csv -n 2 -o out.csv",
			"algorithm metric n clusters sizes inertia iterations converged restart scores output warnings"},
		{"classify --train data.csv -i data.csv -o out.csv",
			"metric train_rows n neighbors scores output warnings"},
		{"score --truth data.csv --predicted clusters.csv --embedding data.csv",
			"n classes clusters rand balanced_rand adjusted_rand nmi cluster_accuracy j_ratio pair_auc " +
				"neighbor_accuracy recall"},
		{"links make -i data.csv --pairs 3 -o out.csv",
			"links n must_links cannot_links components seed warnings"},
		{"links close -i data.csv -c links.csv -o out.csv",
			"links n must_links cannot_links components warnings"},
		{"check -i data.csv -c links.csv",
			"ok problems n d classes has_ids must_links cannot_links chunklets warnings"},
		{"inspect model.mlk -i data.csv -c links.csv",
			"model bytes format_version method params kernel features scaling dim status library_version " +
				"build fingerprint figures tensors links warnings"},
		{"version", "version go platform"},
		{"info", "version go platform build_tags cgo backend backend_detail backends simd simd_levels " +
			"workers gomaxprocs memory_limit_bytes"},
		{"demo rings --points 60 --links 20 --repetitions 1", "points links repetitions seed seconds rows"},
	} {
		t.Run(c.line, func(t *testing.T) {
			v := clitest.Parse(t, commandtest.RunOK(t, dir, c.line+" --json").Stdout)
			for _, f := range strings.Fields(c.fields) {
				if _, ok := v[f]; !ok {
					t.Errorf("no field %q in %v", f, v)
				}
			}
		})
	}
}

// TestReproducible: the same seed gives the same bytes for any number of workers, and a later run
// that fails replaces no file.
func TestReproducible(t *testing.T) {
	dir := commandtest.Workspace(t)
	var first string
	for _, workers := range []string{"1", "2", "3"} {
		commandtest.RunOK(t, dir,
			"fit -q -m krca -i data.csv -c links.csv -o m.mlk --blas-threads 1 --workers "+workers)
		commandtest.RunOK(t, dir, "embed m.mlk -q -i data.csv -o e.csv --blas-threads 1 --workers "+workers)
		commandtest.RunOK(t, dir,
			"cluster m.mlk -q -i data.csv -n 2 -o c.csv --blas-threads 1 --workers "+workers)
		got := clitest.Read(t, dir, "e.csv") + clitest.Read(t, dir, "c.csv")
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("--workers %s and --workers 1 write different bytes", workers)
		}
	}
	model := clitest.Read(t, dir, "m.mlk")
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,99,must\n")
	if o := commandtest.Run(t, dir,
		"fit -m krca -i data.csv -c links.csv -o m.mlk"); o.Code != usage.ExitInput {
		t.Errorf("exit code %d", o.Code)
	}
	if clitest.Read(t, dir, "m.mlk") != model {
		t.Error("a fit that failed changed the model file")
	}
}

// TestDemo: the learned metric separates the diagonals of the xor set, which plain k-means cannot,
// and -o writes files for the other commands.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	v := clitest.Parse(t,
		commandtest.RunOK(t, dir, "demo xor --points 200 --links 100 --repetitions 2 --json").Stdout)
	rand := map[string]float64{}
	for _, r := range v["rows"].([]any) {
		row := r.(map[string]any)
		rand[row["metric"].(string)] = row["unseen"].(map[string]any)["rand"].(float64)
	}
	if rand["none"] > 0.6 || rand["krca"] < 0.95 {
		t.Errorf("Rand index of held-out rows: %v", rand)
	}
	if left := clitest.Names(t, dir); len(left) > 0 {
		t.Errorf("the demo left %v", left)
	}
	commandtest.RunOK(t, dir, "demo xor --points 60 --links 20 --repetitions 1 -o out")
	sub := filepath.Join(dir, "out")
	commandtest.RunOK(t, sub, "cluster xor-krca.mlk -i xor-unseen.csv -n 2 -o clusters.csv")
	commandtest.RunOK(t, sub, "inspect xor-krca.mlk -i xor-seen.csv -c xor-krca-links.csv")
	if page := clitest.Read(t, sub, "xor-report.html"); !strings.Contains(page,
		"raw: prepared points, no learning") || !strings.Contains(page, "lleratio") {
		t.Error("the page does not contain the metrics")
	}
}

// TestInfoNamesTheBuild: info shows the build tags of the binary, and the backend of the
// environment.
func TestInfoNamesTheBuild(t *testing.T) {
	dir := t.TempDir()
	v := clitest.Parse(t, commandtest.RunOK(t, dir, "info --json").Stdout)
	var tags []string
	for _, tag := range v["build_tags"].([]any) {
		tags = append(tags, tag.(string))
	}
	if got := strings.Join(tags, ","); got != clitest.Tags() {
		t.Errorf("build tags %q: want %q", got, clitest.Tags())
	}
	cmd := commandtest.Command(dir, "info", "--json", "--workers", "3", "--memory-limit", "2GiB")
	cmd.Env = append(os.Environ(), "MUSTLINK_BACKEND=gonum")
	o := clitest.Parse(t, clitest.Finish(t, cmd).Stdout)
	if o["backend"] != "gonum" || o["workers"] != 3.0 || o["memory_limit_bytes"] != float64(2<<30) {
		t.Errorf("info shows %v", o)
	}
}

// TestIonosphere learns on one half of a real set and clusters the other: the results of the
// README.
func TestIonosphere(t *testing.T) {
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	dir := t.TempDir()
	var train, test strings.Builder
	for i, l := range clitest.Lines(clitest.Read(t, folder, "ionosphere.csv")) {
		if i == 0 || i%2 == 1 {
			train.WriteString(l + "\n")
		}
		if i == 0 || i%2 == 0 {
			test.WriteString(l + "\n")
		}
	}
	clitest.Write(t, dir, "train.csv", train.String())
	clitest.Write(t, dir, "test.csv", test.String())
	commandtest.RunOK(t, dir, "links make -i train.csv --pairs 200 -o links.csv")
	commandtest.RunOK(t, dir, "fit -m krca -i train.csv -c links.csv --standardize -o ion.mlk")
	commandtest.RunOK(t, dir, "embed ion.mlk -i test.csv -o embedded.npy")
	commandtest.RunOK(t, dir, "cluster -i test.csv -n 2 --standardize -o raw.csv")
	commandtest.RunOK(t, dir, "cluster -i embedded.npy -n 2 -o learned.csv")
	ari := map[string]float64{}
	for _, name := range []string{"raw", "learned"} {
		v := clitest.Parse(t,
			commandtest.RunOK(t, dir, "score --truth test.csv --predicted "+name+".csv --json").Stdout)
		ari[name] = v["adjusted_rand"].(float64)
	}
	t.Logf("adjusted Rand index of held-out rows: %v", ari)
	if ari["learned"] < ari["raw"]+0.3 {
		t.Errorf("adjusted Rand index: %v: want a clear gain", ari)
	}
}

// TestEmbedInBlocks: points in several blocks get the same coordinates as each point alone, and an
// error names the row of the file.
func TestEmbedInBlocks(t *testing.T) {
	dir := commandtest.WithModel(t)
	mostRows := catalog.BlockRows(1, 0)
	data := clitest.Blobs(mostRows+7, 3, true)
	clitest.Write(t, dir, "many.csv", data)
	commandtest.RunOK(t, dir, "embed model.mlk -i many.csv -o many-embedded.csv")
	rows, embedded := clitest.Lines(data), clitest.Lines(clitest.Read(t, dir, "many-embedded.csv"))
	if len(embedded) != mostRows+8 {
		t.Fatalf("%d lines, want %d", len(embedded), mostRows+8)
	}
	some := []int{1, mostRows - 1, mostRows, mostRows + 1, mostRows + 7}
	few, want := rows[0]+"\n", embedded[0]+"\n"
	for _, i := range some {
		few += rows[i] + "\n"
		want += embedded[i] + "\n"
	}
	clitest.Write(t, dir, "few.csv", few)
	if got := commandtest.RunOK(t, dir, "embed model.mlk -i few.csv -o -").Stdout; got != want {
		t.Errorf("rows %v alone:\n%s\nin the middle of others:\n%s", some, got, want)
	}
	commandtest.RunOK(t, dir, "fit -q -m krca -k linear -i data.csv -c links.csv -o linear.mlk")
	rows[mostRows+3] = "far,1e300,1e300,1e300,x"
	clitest.Write(t, dir, "many.csv", strings.Join(rows, "\n")+"\n")
	before := clitest.Names(t, dir)
	o := commandtest.Run(t, dir, "embed linear.mlk -i many.csv -o out.csv")
	commandtest.WantInputError(t, dir, o, before, "many.csv", fmt.Sprintf("row %d", mostRows+2))
}

// TestClassifyAlways: the accuracy is there whatever classes the rows to classify have: one of
// them, one that no training row has, a single row.
func TestClassifyAlways(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "train.csv", "a,label\n0,x\n1,x\n10,y\n11,y\n20,z\n21,z\n")
	for content, want := range map[string]string{
		"0.4,x\n0.6,x\n":              "accuracy    1.0000\n",
		"0.4,x\n9,x\n10,x\n12,y\n":    "accuracy    0.5000\n",
		"0.4,x\n19,y\n10,y\n12,y\n":   "accuracy    0.7500\n",
		"0.4,x\n19,new\n20,new\n":     "accuracy    0.3333\n",
		"19,y\n":                      "accuracy    0.0000\n",
		"19,z\n":                      "accuracy    1.0000\n",
		"0,y\n20,other\n12,another\n": "accuracy    0.0000\n",
	} {
		clitest.Write(t, dir, "rows.csv", "a,label\n"+content)
		o := commandtest.RunOK(t, dir,
			"classify --train train.csv -i rows.csv --neighbors 1 --prepare none -o out.csv")
		if !strings.Contains(o.Stdout, want) || o.Stderr != "" {
			t.Errorf("%q: want %s\n%s%s", content, want, o.Stdout, o.Stderr)
		}
	}
}
