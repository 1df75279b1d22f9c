package filestest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// saveAs writes the points of a CSV file in dir to NAME and another ending in dir.
func saveAs(t *testing.T, dir, name, ending string) {
	t.Helper()
	d, err := dataset.Read(filepath.Join(dir, name+".csv"), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.WriteData(filepath.Join(dir, name+ending), d,
		dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
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

// TestExtensions: the output of every command for a .parquet or .arrow file is bit-identical to
// that for the .csv file of the same points.
func TestExtensions(t *testing.T) {
	for _, other := range []string{"parquet", "arrow"} {
		t.Run(other, func(t *testing.T) { testExtension(t, other) })
	}
}

func testExtension(t *testing.T, other string) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(40, 3, true))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,7\n")
	saveAs(t, dir, "data", "."+other)
	for _, ending := range []string{"csv", other} {
		data := "data." + ending
		for _, line := range []string{
			"fit -q -m krca -i DATA -c links.csv -o END.mlk",
			"embed -q END.mlk -i DATA -o END-embed.csv",
			"embed -q END.mlk -i DATA -o END-embed.OTHER",
			"embed -q END.mlk -i DATA -o END-embed.npy.gz",
			"gram -q END.mlk -i DATA -o END-gram.OTHER",
			"distance -q END.mlk -i DATA --pairs pairs.csv -o END-distance.OTHER",
			"cluster -q END.mlk -i DATA -n 2 -o END-cluster.csv",
			"classify -q END.mlk --train DATA -i DATA -o END-classify.csv",
			"links make -q -i DATA --pairs 10 -o END-links.csv",
			"check -i DATA -c links.csv",
			"plot -q END.mlk -i DATA -o END.svg",
		} {
			commandtest.RunOK(t, dir,
				strings.NewReplacer("DATA", data, "END", ending, "OTHER", other).Replace(line))
		}
	}
	for _, name := range []string{"-embed.csv", "-embed." + other, "-embed.npy.gz", "-gram." + other,
		"-distance." + other, "-cluster.csv", "-classify.csv", "-links.csv"} {
		if clitest.Read(t, dir, "csv"+name) != clitest.Read(t, dir, other+name) {
			t.Errorf("%s is another from .%s than from .csv", name, other)
		}
	}
	inText, ids := matrixIn(t, dir, "csv-embed.csv")
	for _, name := range []string{other + "-embed." + other, other + "-embed.npy.gz"} {
		values, got := matrixIn(t, dir, name)
		if !slices.EqualFunc(values, inText, func(a, b float64) bool {
			return math.Float64bits(a) == math.Float64bits(b)
		}) {
			t.Errorf("%s is not what is in .csv", name)
		}
		if strings.HasSuffix(name, other) && (!slices.Equal(got, ids) || len(ids) != 40) {
			t.Errorf("%s has ids %q, .csv %q", name, got, ids)
		}
	}
	// The same through pipes.
	content := clitest.Read(t, dir, "data."+other)
	if o := commandtest.RunWith(t, dir, content,
		"embed -q csv.mlk -i - --format "+other+" -o piped.csv"); o.Stdout != "" ||
		clitest.Read(t, dir, "piped.csv") != clitest.Read(t, dir, "csv-embed.csv") {
		t.Error("a pipe is embedded as something else")
	}
	piped := commandtest.RunWith(t, dir, content, "embed -q csv.mlk -i - --format "+other+" -o -").Stdout
	if piped != clitest.Read(t, dir, "csv-embed."+other) {
		t.Errorf("%d bytes of .%s on standard output", len(piped), other)
	}
}

// TestLarge: a file of many blocks is read within a limit that its values exceed.
func TestLarge(t *testing.T) {
	dir := commandtest.WithModel(t)
	const n, d = 300_000, 3
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i))
	}
	for _, name := range []string{"large.parquet", "large.arrow", "large.npy"} {
		if err := dataset.WriteData(filepath.Join(dir, name),
			&dataset.Data{Points: x, Features: []string{"f0", "f1", "f2"}},
			dataset.WriteOptions{Extensions: session.Extensions()}); err != nil {
			t.Fatal(err)
		}
	}
	commandtest.RunOK(t, dir, "embed -q model.mlk -i large.npy -o b.npy")
	b, _ := matrixIn(t, dir, "b.npy")
	tolerance := 0.0
	if backends.Default() == "netlib" { // whose rounding depends on the size of a block
		tolerance = 1e-10
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(a)) }
	for _, ending := range []string{".parquet", ".arrow"} {
		name := "large" + ending
		before := clitest.Names(t, dir)
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "links make -i "+name+" --pairs 5 --memory-limit 6MiB -o out.csv"),
			before, name, "limit 6.0 MiB")
		commandtest.RunOK(t, dir, "embed -q model.mlk -i "+name+" --memory-limit 6MiB -o a"+ending)
		a, _ := matrixIn(t, dir, "a"+ending)
		if !slices.EqualFunc(a, b, near) || len(a) == 0 {
			t.Errorf("%s: %d values within the limit are others than %d without", name, len(a), len(b))
		}
	}
}

// TestParquetBad: a bad value or column is an error of every command that names its position, and
// leaves no output.
func TestParquetBad(t *testing.T) {
	dir := commandtest.WithModel(t)
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
	commandtest.WantInputError(t, dir,
		commandtest.Run(t, dir, "fit -m krca -i x.parquet -c links.csv -o out.mlk"), before, "x.parquet",
		`column "id"`)
	content[len(content)/3] ^= 1
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"embed model.mlk -i x.parquet -o out.parquet",
		"gram model.mlk -i x.parquet -o out.parquet", "cluster -i x.parquet -n 2 -o out.csv"} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, "x.parquet")
	}
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, "embed model.mlk -i data.csv -o out.parkett"),
		before, ".csv or .tsv or .npy or .parquet")
}
