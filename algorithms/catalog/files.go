package catalog

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Interfaces of Params with a parameter that accepts @FILE.
type (
	// rowsTaker takes the row numbers of a file.
	rowsTaker interface{ TakeRows(rows []int) }
	// similaritiesTaker is notified of the similarities of a file, which algorithms.Common holds.
	similaritiesTaker interface{ TakeSimilarities() }
)

// Files keeps what the files of parameters hold, so that all learners of one fit read each of them
// once. The zero value is ready to use, and safe for concurrent use.
type Files struct {
	mu           sync.Mutex
	rows         map[string]*rowList
	similarities map[string]blas.Matrix
}

// rowList is a file of row numbers, with the lines that they are on.
type rowList struct{ rows, lines []int }

// fromFiles reads the files of parameters of the form @FILE and returns the text of the other
// parameters.
func (m Method) fromFiles(params any, common *algorithms.Common, c Config) (map[string]string, error) {
	rest, files := maps.Clone(c.Params), c.Files
	if files == nil {
		files = &Files{}
	}
	for _, f := range m.Parameters {
		path, isFile := strings.CutPrefix(strings.TrimSpace(c.Params[f.Name]), "@")
		if !isFile || f.File == "" {
			continue
		}
		delete(rest, f.Name)
		switch p := params.(type) {
		case rowsTaker:
			rows, err := files.rowsOf(f.Name, path, c.Rows)
			if err != nil {
				return nil, err
			}
			p.TakeRows(rows)
		case similaritiesTaker:
			var err error
			if common.Similarities, err = files.similaritiesOf(f.Name, path, c); err != nil {
				return nil, err
			}
			p.TakeSimilarities()
		}
	}
	return rest, nil
}

// rowsOf returns the rows that a file lists, which must be below n unless that is 0.
func (f *Files) rowsOf(name, path string, n int) ([]int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := once(&f.rows, path, func() (*rowList, error) { return readRows(name, path) })
	if err != nil {
		return nil, err
	}
	for k, i := range list.rows {
		if n > 0 && i >= n {
			return nil, &fault.DataError{File: path, Line: list.lines[k], Row: -1,
				Err: fmt.Errorf("row %d does not exist: want 0 to %d", i, n-1)}
		}
	}
	return list.rows, nil
}

// similaritiesOf returns the matrix of a file, which must be that of as many points as there are.
func (f *Files) similaritiesOf(name, path string, c Config) (blas.Matrix, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := once(&f.similarities, path, func() (blas.Matrix, error) {
		return readSimilarities(name, path, c.MemoryLimit)
	})
	if err == nil && c.Rows > 0 && s.Rows != c.Rows {
		err = graphkernel.WrongSize(s, c.Rows)
	}
	return s, fault.InFile(err, path)
}

// once returns the entry of a path, which it reads if there is none.
func once[T any](known *map[string]T, path string, read func() (T, error)) (v T, err error) {
	v, there := (*known)[path]
	if there {
		return v, nil
	}
	if v, err = read(); err != nil {
		return v, err
	}
	if *known == nil {
		*known = map[string]T{}
	}
	(*known)[path] = v
	return v, nil
}

// regular returns an error for the file of a parameter that is a folder, a pipe or a device, which
// may have no end. A missing one is for its reader.
func regular(name, path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fault.Param(name, "@"+path, "a file, not a folder, a pipe or a device")
	}
	return nil
}

// readRows reads row numbers, one per line. It ignores empty lines and lines that begin with #.
func readRows(name, path string) (*rowList, error) {
	if err := regular(name, path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Param(name, "@"+path, "a file that can be read (%s)", err.Error())
	}
	defer f.Close()
	list, lines := &rowList{}, bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 {
			return nil, &fault.DataError{File: path, Line: line, Row: -1,
				Err: fmt.Errorf("%q: want a row number >= 0", text)}
		}
		list.rows, list.lines = append(list.rows, v), append(list.lines, line)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Data(path, "%w", err)
	}
	if len(list.rows) == 0 {
		return nil, fault.Data(path, "no row numbers: want those of the landmarks, one per line")
	}
	return list, nil
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
		return blas.Matrix{},
			fault.Data(path, "similarities are not a square matrix: want as many columns as rows")
	}
	s := kernel.Matrix(x)
	return s, fault.InFile(graphkernel.CheckSimilarities(s), path)
}
