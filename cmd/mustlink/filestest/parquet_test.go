package filestest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// asParquet writes the points of a CSV file in dir to NAME.parquet in dir.
func asParquet(t *testing.T, dir, name string) {
	t.Helper()
	d, err := dataset.Read(filepath.Join(dir, name+".csv"), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.WriteData(filepath.Join(dir, name+".parquet"), d, dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
		t.Fatal(err)
	}
}

// matrixIn reads a matrix that a command has written.
func matrixIn(t *testing.T, dir, name string) ([]float64, []string) {
	t.Helper()
	d, err := dataset.Read(filepath.Join(dir, name), dataset.ReadOptions{Extensions: session.Extensions()})
	if err != nil {
		t.Fatal(err)
	}
	return d.Points.(*points.Dense).Data, d.IDs
}

// TestParquet: the output of every command for a .parquet file is bit-identical to that for the
// .csv file of the same points.
func TestParquet(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(40, 3, true))
	clitest.Write(t, dir, "links.csv", harness.FewLinks)
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,7\n")
	asParquet(t, dir, "data")
	for _, ending := range []string{"csv", "parquet"} {
		data := "data." + ending
		for _, line := range []string{
			"fit -q -m krca -i DATA -c links.csv -o END.mlk",
			"embed -q END.mlk -i DATA -o END-embed.csv",
			"embed -q END.mlk -i DATA -o END-embed.parquet",
			"embed -q END.mlk -i DATA -o END-embed.npy.gz",
			"gram -q END.mlk -i DATA -o END-gram.parquet",
			"distance -q END.mlk -i DATA --pairs pairs.csv -o END-distance.parquet",
			"cluster -q END.mlk -i DATA -n 2 -o END-cluster.csv",
			"classify -q END.mlk --train DATA -i DATA -o END-classify.csv",
			"links make -q -i DATA --pairs 10 -o END-links.csv",
			"check -i DATA -c links.csv",
			"plot -q END.mlk -i DATA -o END.svg",
		} {
			harness.RunOK(t, dir, strings.ReplaceAll(strings.ReplaceAll(line, "DATA", data), "END", ending))
		}
	}
	for _, name := range []string{"-embed.csv", "-embed.parquet", "-embed.npy.gz", "-gram.parquet", "-distance.parquet", "-cluster.csv", "-classify.csv", "-links.csv"} {
		if clitest.Read(t, dir, "csv"+name) != clitest.Read(t, dir, "parquet"+name) {
			t.Errorf("%s is another from .parquet than from .csv", name)
		}
	}
	inText, ids := matrixIn(t, dir, "csv-embed.csv")
	for _, name := range []string{"parquet-embed.parquet", "parquet-embed.npy.gz"} {
		values, got := matrixIn(t, dir, name)
		if !slices.EqualFunc(values, inText, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%s is not what is in .csv", name)
		}
		if strings.HasSuffix(name, "parquet") && (!slices.Equal(got, ids) || len(ids) != 40) {
			t.Errorf("%s has ids %q, .csv %q", name, got, ids)
		}
	}
	// The same through pipes.
	content := clitest.Read(t, dir, "data.parquet")
	if o := harness.RunWith(t, dir, content, "embed -q csv.mlk -i - --format parquet -o piped.csv"); o.Stdout != "" || clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "csv-embed.csv") {
		t.Error("a pipe of .parquet is embedded as something else")
	}
	piped := harness.RunWith(t, dir, content, "embed -q csv.mlk -i - --format parquet -o -").Stdout
	if piped != clitest.Read(t, dir, "csv-embed.parquet") {
		t.Errorf("%d bytes of .parquet on standard output", len(piped))
	}
}

// TestParquetLarge: a file of many blocks is read within a limit that its values exceed.
func TestParquetLarge(t *testing.T) {
	dir := harness.WithModel(t)
	const n, d = 300_000, 3
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i))
	}
	for _, name := range []string{"large.parquet", "large.npy"} {
		if err := dataset.WriteData(filepath.Join(dir, name), &dataset.Data{Points: x, Features: []string{"f0", "f1", "f2"}}, dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
			t.Fatal(err)
		}
	}
	before := clitest.Names(t, dir)
	harness.WantInputError(t, dir, harness.Run(t, dir, "links make -i large.parquet --pairs 5 --memory-limit 6MiB -o out.csv"), before, "large.parquet", "limit 6.0 MiB")
	harness.RunOK(t, dir, "embed -q model.mlk -i large.parquet --memory-limit 6MiB -o a.parquet")
	harness.RunOK(t, dir, "embed -q model.mlk -i large.npy -o b.npy")
	a, _ := matrixIn(t, dir, "a.parquet")
	b, _ := matrixIn(t, dir, "b.npy")
	tolerance := 0.0
	if backends.Default() == "netlib" { // whose rounding depends on the size of a block
		tolerance = 1e-10
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(a)) }
	if !slices.EqualFunc(a, b, near) || len(a) == 0 {
		t.Errorf("%d values within the limit are others than %d without", len(a), len(b))
	}
}

// TestParquetBad: a bad value or column is an error of every command that names its position, and
// leaves no output.
func TestParquetBad(t *testing.T) {
	dir := harness.WithModel(t)
	x := &points.Dense{N: 3, D: 3, Data: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}}
	d := &dataset.Data{Points: x, Features: []string{"f0", "f1", "f2"}, IDs: []string{"p", "q", "p"}}
	path := filepath.Join(dir, "x.parquet")
	if err := dataset.WriteData(path, d, dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := clitest.Names(t, dir)
	harness.WantInputError(t, dir, harness.Run(t, dir, "fit -m krca -i x.parquet -c links.csv -o out.mlk"), before, "x.parquet", `column "id"`)
	content[len(content)/3] ^= 1
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"embed model.mlk -i x.parquet -o out.parquet", "gram model.mlk -i x.parquet -o out.parquet", "cluster -i x.parquet -n 2 -o out.csv"} {
		harness.WantInputError(t, dir, harness.Run(t, dir, line), before, "x.parquet")
	}
	harness.WantInputError(t, dir, harness.Run(t, dir, "embed model.mlk -i data.csv -o out.parkett"), before, ".csv or .tsv or .npy or .parquet")
}
