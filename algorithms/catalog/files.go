package catalog

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Interfaces of Params with a parameter that accepts @FILE.
type (
	// rowsTaker takes the row numbers of a file.
	rowsTaker interface{ TakeRows(rows []int) }
	// similaritiesTaker is notified of the similarities of a file, which algorithms.Common holds.
	similaritiesTaker interface{ TakeSimilarities() }
)

// fromFiles reads the files of parameters of the form @FILE, within a memory limit, and returns the
// text of the other parameters.
func (m Method) fromFiles(params any, common *algorithms.Common, given map[string]string, limit int64) (map[string]string, error) {
	rest := maps.Clone(given)
	for _, f := range m.Parameters {
		path, isFile := strings.CutPrefix(strings.TrimSpace(given[f.Name]), "@")
		if !isFile || f.File == "" {
			continue
		}
		delete(rest, f.Name)
		switch p := params.(type) {
		case rowsTaker:
			rows, err := readRows(f.Name, path)
			if err != nil {
				return nil, err
			}
			p.TakeRows(rows)
		case similaritiesTaker:
			var err error
			if common.Similarities, err = readSimilarities(f.Name, path, limit); err != nil {
				return nil, err
			}
			p.TakeSimilarities()
		}
	}
	return rest, nil
}

// regular returns an error for the file of a parameter that is a folder, a pipe or a device, which
// may have no end. A missing one is for its reader.
func regular(name, path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &fault.ParamError{Param: name, Value: "@" + path, Want: "a file, not a folder, a pipe or a device"}
	}
	return nil
}

// readRows reads row numbers, one per line. It ignores empty lines and lines that begin with #.
func readRows(name, path string) ([]int, error) {
	if err := regular(name, path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &fault.ParamError{Param: name, Value: "@" + path, Want: "a file that can be read (" + err.Error() + ")"}
	}
	defer f.Close()
	rows, lines := []int{}, bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 {
			return nil, &fault.DataError{File: path, Line: line, Row: -1, Err: fmt.Errorf("%q: want a row number >= 0", text)}
		}
		rows = append(rows, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Data(path, "%w", err)
	}
	if len(rows) == 0 {
		return nil, fault.Data(path, "no row numbers: want those of the landmarks, one per line")
	}
	return rows, nil
}

// readSimilarities reads a square matrix, of so many bytes at most unless limit is 0.
func readSimilarities(name, path string, limit int64) (blas.Matrix, error) {
	if err := regular(name, path); err != nil {
		return blas.Matrix{}, err
	}
	d, err := dataset.Read(path, dataset.ReadOptions{MemoryLimit: limit})
	if err != nil {
		return blas.Matrix{}, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok || x.N != x.D {
		return blas.Matrix{}, fault.Data(path, "similarities are not a square matrix: want as many columns as rows")
	}
	return blas.MatrixOf(x.N, x.D, x.Data), nil
}
