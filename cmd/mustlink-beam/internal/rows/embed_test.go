package rows

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

func TestMain(m *testing.M) { trial.Main(m) }

// local returns the coordinates of all rows, computed by the library at once.
func local(t *testing.T, model string, x *points.Dense) blas.Matrix {
	t.Helper()
	fitted, err := catalog.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fitted.Prepare(&dataset.Data{Points: x})
	if err != nil {
		t.Fatal(err)
	}
	y, err := fitted.Model.Embed(t.Context(), trial.Engine(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return y.Clone()
}

// same requires bit-identical values. With OpenBLAS, whose sums depend on the other rows of the
// call, it allows the rounding errors of an inner product of n terms.
func same(t *testing.T, eng *engine.Engine, got *points.Dense, want blas.Matrix, n int) {
	t.Helper()
	if got.N != want.Rows || got.D != want.Cols {
		t.Fatalf("%d x %d coordinates: want %d x %d", got.N, got.D, want.Rows, want.Cols)
	}
	scale := 0.0
	for _, v := range want.Data {
		scale = max(scale, math.Abs(v))
	}
	tolerance := 0.0
	if eng.Backend().Name() == "netlib" {
		tolerance = 64 * float64(n) * 0x1p-52 * scale
	}
	for i, v := range want.Data[:want.Rows*want.Cols] {
		if !(math.Abs(got.Data[i]-v) <= tolerance) {
			t.Fatalf("row %d, coordinate %d is %v: want %v", i/want.Cols, i%want.Cols, got.Data[i], v)
		}
	}
}

func embed(t *testing.T, c job.Config, set *shard.Set, out shard.Output) *job.Report {
	t.Helper()
	return trial.Run(t, func(s beam.Scope) error {
		Embed(s, c, set.Elements, out)
		return nil
	})
}

// Coordinates are bit-identical to the library's for any division into elements and any number of
// workers. The files have uneven sizes, and some are empty.
func TestEmbedMatchesLibrary(t *testing.T) {
	const n = 3000
	x := trial.Blobs(2, n, 6, 5, 1)
	pattern := trial.Files(t, x, trial.Sizes(n))
	for _, method := range []struct {
		name   string
		params map[string]string
	}{{"krca", nil}, {"kbeta", map[string]string{"landmarks": "40"}}} {
		model := trial.Model(t, method.name, &points.Dense{N: 200, D: x.D, Data: x.Data[:200*x.D]},
			method.params)
		want := local(t, model, x)
		for _, c := range []struct{ rows, workers int }{{37, 3}, {1000, 1}, {n, 2}} {
			set := trial.Plan(t, pattern, c.rows)
			config := trial.Config(set, c.workers)
			config.Model = model
			out := shard.Output{Path: filepath.Join(t.TempDir(), "y.npy")}
			r := embed(t, config, set, out)
			same(t, trial.Engine(t), trial.Rows(t, out.Pattern()), want, 200)
			for name, want := range map[string]int64{"rows_read": n, "rows_written": n, "rows_bad": 0,
				"elements": int64(len(set.Elements))} {
				if got := r.Counters[name]; got != want {
					t.Errorf("%s, elements of %d rows: the counter %s is %d: want %d", method.name, c.rows,
						name, got, want)
				}
			}
			if d := r.Distributions["element_bytes"]; d.Sum != 8*int64(len(x.Data)) ||
				d.Count != int64(len(set.Elements)) {
				t.Errorf("bytes %+v: want %d in %d elements", d, 8*len(x.Data), len(set.Elements))
			}
		}
	}
}

// Every output format has the same coordinates, and ids where it can have some.
func TestEmbedFormats(t *testing.T) {
	const n = 300
	x := trial.Blobs(3, n, 4, 3, 1)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d", i)
	}
	dir := t.TempDir()
	if err := dataset.WriteData(filepath.Join(dir, "x.csv"), &dataset.Data{Points: x, IDs: ids},
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	model := trial.Model(t, "krca", x, nil)
	want := local(t, model, x)
	set := trial.Plan(t, filepath.Join(dir, "x.csv"), 70)
	config := trial.Config(set, 2)
	config.Model = model
	for _, ending := range []string{"npy", "npy.gz", "csv", "csv.gz", "parquet", "parquet.gz", "arrow",
		"arrow.gz"} {
		out := shard.Output{Path: filepath.Join(dir, "y."+ending)}
		embed(t, config, set, out)
		got := &points.Dense{D: want.Cols}
		var gotIDs []string
		files, err := shard.Files(out.Pattern())
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			d, err := dataset.Read(file, dataset.ReadOptions{Extensions: session.Extensions()})
			if err != nil {
				t.Fatal(err)
			}
			part := d.Points.(*points.Dense)
			got.N, got.Data, gotIDs = got.N+part.N, append(got.Data, part.Data...), append(gotIDs, d.IDs...)
		}
		same(t, trial.Engine(t), got, want, n)
		if !strings.HasPrefix(ending, "npy") && !slices.Equal(gotIDs, ids) {
			t.Errorf("%s: the ids differ", ending)
		}
	}
}

// An element that is processed again, and several times at once, leaves one file with the same
// bytes.
func TestElementTwice(t *testing.T) {
	x := trial.Blobs(4, 500, 4, 3, 1)
	set := trial.Plan(t, trial.Files(t, x, []int{300, 200}), 120)
	config := trial.Config(set, 2)
	config.Model = trial.Model(t, "krca", &points.Dense{N: 100, D: 4, Data: x.Data[:400]}, nil)
	dir := t.TempDir()
	f := &embedFn{Config: config, Output: shard.Output{Path: filepath.Join(dir, "y.npy")}}
	e := set.Elements[1]
	path := f.Output.Name(e.Index, e.Count)
	var first []byte
	for round := range 3 {
		var group sync.WaitGroup
		for range 1 + 3*round {
			group.Go(func() {
				if tally, err := f.ProcessElement(context.Background(), e); err != nil ||
					tally.Written != e.Rows {
					t.Errorf("%+v, %v: want %d rows", tally, err, e.Rows)
				}
			})
		}
		group.Wait()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			first = text
		}
		if !bytes.Equal(text, first) {
			t.Fatalf("round %d wrote different bytes", round)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files, %v: want one", len(left), err)
	}

	// A runner that processes every element twice, and does so again.
	for range 2 {
		twice := *set
		twice.Elements = slices.Concat(set.Elements, set.Elements)
		embed(t, config, &twice, f.Output)
	}
	same(t, trial.Engine(t), trial.Rows(t, f.Output.Pattern()), local(t, config.Model, x), 100)
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(set.Elements) {
		t.Errorf("%d files, %v: want %d", len(left), err, len(set.Elements))
	}
}

// badFiles writes 400 rows to three text files. The rows in wrong are not numbers; it returns the
// other rows as right.
func badFiles(t *testing.T, wrong map[int]bool) (pattern string, x, right *points.Dense) {
	t.Helper()
	x = trial.Blobs(5, 400, 3, 3, 1)
	right = &points.Dense{D: 3}
	dir := t.TempDir()
	for f, rows := range [][2]int{{0, 150}, {150, 151}, {151, 400}} {
		var text strings.Builder
		text.WriteString("a,b,c\n")
		for i := rows[0]; i < rows[1]; i++ {
			v := x.Data[3*i : 3*i+3]
			if wrong[i] {
				fmt.Fprintf(&text, "%v,oops,%v\n", v[0], v[2])
				continue
			}
			fmt.Fprintf(&text, "%v,%v,%v\n", v[0], v[1], v[2])
			right.N, right.Data = right.N+1, append(right.Data, v...)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.csv", f)), []byte(text.String()),
			0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "part-*.csv"), x, right
}

// Bad rows are left out and listed, with the offset of their text, up to the limit. Beyond it the
// job fails with an input error.
func TestBadRows(t *testing.T) {
	wrong := map[int]bool{3: true, 150: true, 200: true, 399: true} // 150 is all of its shard
	pattern, x, right := badFiles(t, wrong)
	model := trial.Model(t, "krca", &points.Dense{N: 100, D: 3, Data: x.Data[:300]}, nil)
	set := trial.Plan(t, pattern, 60)
	for _, c := range []struct {
		limit string
		want  string // of the error, "" for none
	}{
		{"0", "is not a number"}, {"3", "4 of 400 rows are bad: want at most 3"},
		{"0.99%", "4 of 400 rows are bad: want at most 0.99%"},
		{"1%", ""}, {"4", ""},
	} {
		dir := t.TempDir()
		config := trial.Config(set, 2)
		config.Model, config.BadOutput = model, filepath.Join(dir, "bad.csv")
		if err := config.BadRows.Set(c.limit); err != nil {
			t.Fatal(err)
		}
		out := shard.Output{Path: filepath.Join(dir, "y.npy")}
		r, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
			Embed(s, config, set.Elements, out)
			return nil
		})
		if c.want != "" {
			if !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("limit %s: %v: want %q", c.limit, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, trial.Engine(t), trial.Rows(t, out.Pattern()), local(t, model, right), 100)
		if r.Counters["rows_bad"] != 4 || r.Counters["rows_read"] != 400 ||
			r.Counters["rows_written"] != 396 {
			t.Errorf("counters %v", r.Counters)
		}
		checkBad(t, (shard.Output{Path: config.BadOutput}).Pattern(), []int{3, 0, 49, 248})
	}
}

// checkBad compares the lists of bad rows with the expected ones, in their order, and looks up
// their text.
func checkBad(t *testing.T, pattern string, rows []int) {
	t.Helper()
	files, err := shard.Files(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || !slices.Equal(records[0], shard.BadColumns) {
			t.Fatalf("%s: %v, %v", file, records, err)
		}
		for _, r := range records[1:] {
			var row, offset int
			if _, err := fmt.Sscan(r[1]+" "+r[2], &row, &offset); err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
			source, err := os.ReadFile(r[0])
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(source[offset:]), "\n")
			if source[offset-1] != '\n' || !strings.Contains(line, "oops") || r[3] != "b" ||
				!strings.Contains(r[4], "is not a number") {
				t.Errorf("%v points at %q", r, line)
			}
		}
	}
	if !slices.Equal(got, rows) {
		t.Errorf("bad are the rows %v of their files: want %v", got, rows)
	}
}

// An error of the rows as points, not as text, also names file and row.
func TestEmbedRefuses(t *testing.T) {
	x := trial.Blobs(6, 50, 4, 2, 1)
	model := trial.Model(t, "krca", &points.Dense{N: 50, D: 2, Data: x.Data[:100]}, nil) // of two features
	set := trial.Plan(t, trial.Files(t, x, []int{50}), 20)
	config := trial.Config(set, 1)
	config.Model = model
	_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
		Embed(s, config, set.Elements, shard.Output{Path: filepath.Join(t.TempDir(), "y.npy")})
		return nil
	})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "number of features") {
		t.Errorf("%v: want an error of the number of features", err)
	}
}
