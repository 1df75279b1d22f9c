package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// embeddingIn returns the coordinates in a file of an embedding.
func embeddingIn(t *testing.T, dir, name string) *points.Dense {
	t.Helper()
	d, err := dataset.Read(filepath.Join(dir, name), dataset.ReadOptions{Extensions: session.Extensions()})
	if err != nil {
		t.Fatal(err)
	}
	return d.Points.(*points.Dense)
}

// wantNear requires all coordinates to differ by at most a share of the largest.
func wantNear(t *testing.T, what string, got, want *points.Dense, share float64) {
	t.Helper()
	largest, off := 0.0, 0.0
	for i, v := range want.Data {
		largest, off = max(largest, math.Abs(v)), max(off, math.Abs(got.Data[i]-v))
	}
	if got.N != want.N || off == 0 || off > share*largest {
		t.Errorf("%s: %d rows, off by %.2g of the largest coordinate: want %d rows, and rounding to 24 bits",
			what, got.N, off/largest, want.N)
	}
}

// TestPrecision: an embedding in single precision is near the one in double precision in every
// format, and half as long in .npy; a model stored in single precision is also shorter, and embeds.
// Both are only used on request.
func TestPrecision(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 20, true))
	clitest.Write(t, dir, "links.csv",
		"i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,1,cannot\n2,9,cannot\n")
	for _, m := range []string{"krca", "rca", "kbeta -p extension=nystrom", "itml"} {
		name, _, _ := strings.Cut(m, " ")
		commandtest.RunOK(t, dir, "fit -q -m "+m+" -i data.csv -c links.csv -o "+name)
		commandtest.RunOK(t, dir, "embed -q "+name+" -i data.csv -o double.npy")
		want := embeddingIn(t, dir, "double.npy")
		for _, out := range []string{"single.npy", "single.csv", "single.parquet", "single.arrow"} {
			o := commandtest.RunOK(t, dir, "embed "+name+" -i data.csv --precision single -o "+out)
			if !strings.Contains(o.Stdout, "single precision, error ") {
				t.Errorf("%s: the error is not reported: %s", name, o.Stdout)
			}
			wantNear(t, name+", "+out, embeddingIn(t, dir, out), want, 1e-4)
		}
		if double, single := len(clitest.Read(t, dir, "double.npy"))-128,
			len(clitest.Read(t, dir, "single.npy"))-128; 2*single != double {
			t.Errorf("%d bytes of coordinates in single precision: want half of %d", single, double)
		}
		commandtest.RunOK(t, dir, "fit -q -m "+m+" -i data.csv -c links.csv --precision single -o half")
		if whole, half := len(clitest.Read(t, dir, name)), len(clitest.Read(t, dir, "half")); half >= whole {
			t.Errorf("a model of %s has %d bytes in single precision: want fewer than %d", name, half, whole)
		}
		commandtest.RunOK(t, dir, "embed -q half -i data.csv -o half.npy")
		wantNear(t, name+", stored", embeddingIn(t, dir, "half.npy"), want, 1e-4)
	}
}

// TestPrecisionWarning: if terms cancel, a warning and the JSON report the loss of precision.
func TestPrecisionWarning(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 2, false))
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,2,must\n1,3,must\n0,1,cannot\n")
	commandtest.RunOK(t, dir, "fit -q -m gml -p dims=0 -i data.csv -c links.csv -o model")
	o := commandtest.RunOK(t, dir, "embed model -i data.csv --precision single -o out.npy --json")
	for _, w := range []string{`"precision": "single"`, `"single_error": `, "--precision double", "cancel"} {
		if !strings.Contains(o.Stdout+o.Stderr, w) {
			t.Errorf("the report does not say %q: %s%s", w, o.Stdout, o.Stderr)
		}
	}
}

// TestBadPrecision: single precision is refused if the format or the model does not support it.
func TestBadPrecision(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(40, 3, false))
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,2,must\n1,3,must\n0,1,cannot\n")
	clitest.Write(t, dir, "large.csv", "f0,f1,f2\n1,2,3\n1,-1e39,3\n2,9e39,2\n")
	clitest.Write(t, dir, "must.csv", "i,j,link\n0,2,must\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o krca")
	commandtest.RunOK(t, dir, "fit -q -m kbeta -i data.csv -c links.csv -o kbeta")
	commandtest.RunOK(t, dir, "fit -q -m npkl -i data.csv -c links.csv -o npkl")
	commandtest.RunOK(t, dir, "fit -q -m gml -i data.csv -c links.csv --precision single -o half")
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"embed krca -i data.csv --precision half -o out.npy": {"--precision", `"half"`,
			"double", "single"},
		"fit -m krca -i data.csv -c links.csv --precision float -o out": {"--precision", `"float"`,
			"double", "single"},
		"embed npkl -i data.csv --precision single -o out.npy": {"--precision", "double", "npkl"},
		"embed kbeta -i data.csv --precision single -o out.npy": {"--precision", "double",
			"extension=nystrom"},
		"embed krca -i large.csv --precision single -o out.npy": {"large.csv", "row 1",
			"single precision"},
		"update half -i data.csv -c links.csv -o out": {"half", "single", "double"},
		"fit -q -m rca -i large.csv -c must.csv --precision single -o out": {"cannot be stored in single " +
			"precision", "beyond"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}
