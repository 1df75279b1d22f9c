// Command cells prints the cells of tables as the library reads them, a JSON object in each line:
// the columns with their cells, the remarks of the reader and of a preparation, or the error.
// Programs in this folder compare them with what other libraries read: compare.py with pandas, and
// compare.mjs with DuckDB.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// file is what was read of one file.
type file struct {
	File    string           `json:"file"`
	Error   string           `json:"error,omitempty"`
	Remarks []string         `json:"remarks"`
	Columns map[string][]any `json:"columns"` // numbers or texts, null for missing ones
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		if err := out.Encode(read(path)); err != nil {
			fmt.Fprintln(os.Stderr, "cells:", err)
			os.Exit(1)
		}
	}
}

func read(path string) file {
	f := file{File: path, Columns: map[string][]any{}, Remarks: []string{}}
	d, err := dataset.Read(path, dataset.ReadOptions{Mixed: true,
		Extensions: []dataset.Extension{parquet.Format(), arrow.Format()}})
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Remarks = append(f.Remarks, d.Warnings...)
	_, columns, err := prepare.Fit(d, prepare.Options{})
	if err != nil {
		f.Remarks = append(f.Remarks, err.Error())
	}
	f.Remarks = append(f.Remarks, prepare.Remarks(columns)...)
	for _, texts := range []struct {
		name  string
		cells []string
	}{{"id", d.IDs}, {"label", d.Labels}} {
		for _, cell := range texts.cells {
			f.Columns[texts.name] = append(f.Columns[texts.name], text(cell))
		}
	}
	switch x := d.Points.(type) {
	case *points.Dense:
		for j := range x.D {
			name := strconv.Itoa(j)
			if d.Features != nil {
				name = d.Features[j]
			}
			for i := range x.N {
				f.Columns[name] = append(f.Columns[name], x.Row(i)[j])
			}
		}
	case *points.Mixed:
		for _, c := range x.Columns {
			for _, v := range c.Numbers {
				f.Columns[c.Name] = append(f.Columns[c.Name], number(v))
			}
			for _, code := range c.Codes {
				if code < 0 {
					f.Columns[c.Name] = append(f.Columns[c.Name], nil)
				} else {
					f.Columns[c.Name] = append(f.Columns[c.Name], strings.Clone(c.Levels[code]))
				}
			}
		}
	}
	return f
}

func text(cell string) any {
	if cell == "" {
		return nil
	}
	return cell
}

func number(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}
