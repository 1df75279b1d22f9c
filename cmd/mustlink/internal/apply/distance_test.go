package apply

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// TestStreamedDistances: distances of streamed points are bit-identical to those of points in
// memory, for rows named in any way and blocks of any size.
func TestStreamedDistances(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 3, true))
	clitest.Write(t, dir, "links.csv",
		"i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,1,cannot\n2,9,cannot\n")
	clitest.Write(t, dir, dataset.ByRow+".csv", commandtest.Pairs("i,j", " %d,%+d", 400, 300))
	clitest.Write(t, dir, dataset.ByID+".csv", commandtest.Pairs("j,i,link", "p%[2]d,p%[1]d,must", 400, 300))
	for _, method := range []string{"krca", "gml", "rca", "kbeta", "npkl", "itml"} {
		saveModel(t, dir, method)
		for _, by := range []string{dataset.ByRow, dataset.ByID} {
			var want string
			// smaller limits give smaller blocks
			for _, limit := range []session.ByteSize{0, 1 << 20, 200 << 10} {
				s := &session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
					Getenv: os.Getenv, Quiet: true}
				s.Workers, s.BLASThreads = 1+int(limit>>20), 2
				d := &distanceCommand{
					Session: s, data: source.Data{Path: filepath.Join(dir, "data.csv")},
					pairs: source.Links{Path: filepath.Join(dir, by+".csv"), By: by},
					out:   filepath.Join(dir, "out.csv"),
				}
				var err error
				if d.m, err = metric.Open(t.Context(), s, filepath.Join(dir, method)); err != nil {
					t.Fatal(err)
				}
				if want == "" {
					if n, err := d.inMemory(t.Context()); err != nil || n != 400 {
						t.Fatal(n, err)
					}
					want = clitest.Read(t, dir, "out.csv")
				}
				s.MemoryLimit = limit
				if n, err := d.stream(t.Context()); err != nil || n != 400 {
					t.Fatal(n, err)
				}
				if got := clitest.Read(t, dir, "out.csv"); got != want {
					t.Errorf("%s by %s: distances of blocks differ from those of the whole", method, by)
				}
			}
		}
	}
}

// saveModel writes a model of the method, fitted on the data and links of dir.
func saveModel(t *testing.T, dir, method string) {
	t.Helper()
	table, err := mustlink.ReadTable(filepath.Join(dir, "data.csv"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := table.ReadLinks(filepath.Join(dir, "links.csv"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mustlink.Fit(t.Context(), table, set, mustlink.Method(method))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(filepath.Join(dir, method)); err != nil {
		t.Fatal(err)
	}
}

// TestLastLook: a command that was canceled while it worked writes nothing: the last look at its
// context is its own, when the work is done.
func TestLastLook(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(20, 3, false))
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n2,3\n")
	s := &session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Getenv: os.Getenv, Quiet: true}
	s.Workers, s.BLASThreads = 1, 1
	m, err := metric.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	data, out := source.Data{Path: filepath.Join(dir, "data.csv")}, filepath.Join(dir, "out.csv")
	for place, work := range map[string]func(context.Context) error{
		"apply.(*distanceCommand).inMemory ": func(ctx context.Context) error {
			d := &distanceCommand{Session: s, m: m, data: data, out: out,
				pairs: source.Links{Path: filepath.Join(dir, "pairs.csv"), By: dataset.ByRow}}
			_, err := d.inMemory(ctx)
			return err
		},
		"apply.(*clusterCommand).clusterInMemory ": func(ctx context.Context) error {
			c := &clusterCommand{Session: s, m: m, data: data, out: out, k: 2, restarts: 2,
				algorithm: algKMeans}
			_, err := c.clusterInMemory(ctx)
			return err
		},
	} {
		whole := enginetest.StopAt(0)
		if err := work(whole); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
		last := enginetest.FailAt(whole.Looks(), enginetest.ErrBroken)
		err := work(last)
		if !errors.Is(err, enginetest.ErrBroken) || !strings.HasPrefix(last.Place(), place) {
			t.Errorf("the last look is that of %s, error %v: want %s", last.Place(), err, place)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s has written", place)
		}
	}
}

// TestClusterChecks: without a number, a distance or a model there are no clusters, and the message
// says what to give.
func TestClusterChecks(t *testing.T) {
	cmd := newCluster(&session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Getenv: os.Getenv})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"-i", "data.csv", "-o", "out.csv"})
	want := "-n and --distance are missing: want -n CLUSTERS, --distance D or a MODEL of mustlink calibrate " +
		"(see cluster --help)"
	if err := cmd.Execute(); !fault.IsInput(err) || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}
}

// TestAlike: what keeps two rows apart is one value, or two that are near.
func TestAlike(t *testing.T) {
	values := []string{"3", "x", "5"}
	if got := (&column{values: values}).alike(0, 2); got != `the same value "3"` {
		t.Errorf("one value: %s", got)
	}
	got := (&column{values: values, width: "10"}).alike(0, 2)
	if got != `the values "3" and "5", nearer than 10,` {
		t.Errorf("two values: %s", got)
	}
}
