package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestProcessesAgree: two runs of the command, with different numbers of workers, write the same
// bytes: the model of every method, except the duration of the fit, and its embedding. Maps have
// another order in every process. (Bits of OpenBLAS depend on its number of threads, which is set.)
func TestProcessesAgree(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(30, 3, false))
	commandtest.RunOK(t, dir, "links make -i data.csv --must 12 --cannot 12 --seed 2 -o links.csv -q")
	for _, m := range catalog.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			sameFiles(t, dir, "model",
				"fit -q -m "+m.Name+" -i data.csv "+commandtest.Lesson(t, dir, m, "links.csv",
					30)+" --seed 3 -o %s")
			sameFiles(t, dir, "coordinates.npy", "embed -q 1model -i data.csv -o %s")
		})
	}
	sameFiles(t, dir, "links.csv", "links make -q -i data.csv --must 12 --cannot 12 --seed 2 -o %s")
	sameFiles(t, dir, "clusters.csv", "cluster -q 1model -i data.csv -n 2 --seed 5 -o %s")
	sameFiles(t, dir, "chosen",
		"select -q -i data.csv -c links.csv --methods krca,rca --grid eps_rel=1e-3:1e-2:2 -o %s")
}

// sameFiles runs a command that writes the named file twice, and compares what it wrote.
func sameFiles(t *testing.T, dir, name, line string) {
	t.Helper()
	var written [2]string
	for i, workers := range []int{1, 3} {
		threads := workers
		if backends.Default() == "netlib" {
			threads = 2
		}
		path := fmt.Sprintf("%d%s", i+1, name)
		commandtest.RunOK(t, dir,
			fmt.Sprintf(line, path)+fmt.Sprintf(" --workers %d --blas-threads %d", workers, threads))
		written[i] = clitest.Read(t, dir, path)
		if file, err := model.ReadFile(filepath.Join(dir, path)); err == nil {
			data, err := enginetest.Timeless(file)
			if err != nil {
				t.Fatal(err)
			}
			written[i] = string(data)
		}
	}
	if written[0] != written[1] {
		t.Errorf("%q wrote other bytes the second time", line)
	}
}
