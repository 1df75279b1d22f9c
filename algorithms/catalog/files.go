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

// What the Params of a method take from a file that is given as @FILE.
type (
	// rowsTaker takes row numbers.
	rowsTaker interface{ TakeRows(rows []int) }
	// similaritiesTaker learns that there are similarities, which algorithms.Common holds.
	similaritiesTaker interface{ TakeSimilarities() }
)

// fromFiles reads the files that parameters name, as @FILE, and returns the text of the others.
func (m Method) fromFiles(params any, common *algorithms.Common, given map[string]string) (map[string]string, error) {
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
			if common.Similarities, err = readSimilarities(path); err != nil {
				return nil, err
			}
			p.TakeSimilarities()
		}
	}
	return rest, nil
}

// readRows reads row numbers, one a line; empty lines and lines that begin with # do not count.
func readRows(name, path string) ([]int, error) {
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
		return nil, fault.Data(path, "it has no row numbers: want those of the landmarks, one a line")
	}
	return rows, nil
}

// readSimilarities reads a square matrix.
func readSimilarities(path string) (blas.Matrix, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return blas.Matrix{}, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok || x.N != x.D {
		return blas.Matrix{}, fault.Data(path, "want as many columns of similarities as there are rows")
	}
	return blas.Matrix{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data}, nil
}
