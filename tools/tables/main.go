// Command tables writes the tables of package tabletest into a folder, and the numbers that a
// preparation makes of each: NAME, and NAME.features.csv. Tests in other languages compare with
// them.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/tabletest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "tables: want a folder")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

// write writes all tables and their numbers.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, t := range tabletest.Tables(1) {
		path := filepath.Join(folder, t.Name)
		if err := os.WriteFile(path, t.Content, 0o644); err != nil {
			return err
		}
		numbers, err := prepared(t)
		if err != nil {
			return err
		}
		if err := dataset.WriteData(path+".features.csv", numbers, dataset.WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// prepared returns the numbers of a table.
func prepared(t tabletest.Table) (*dataset.Data, error) {
	o := dataset.ReadOptions{Mixed: true, Label: tabletest.Label}
	var p mustlink.Preparing
	if len(t.Flags) > 0 {
		o.Text, p.Kinds = []string{"code"}, map[string]mustlink.ColumnKind{"code": "category"}
	}
	d, err := dataset.Decode(bytes.NewReader(t.Content), t.Name, "", o)
	if err != nil {
		return nil, err
	}
	table, err := mustlink.FromData(d).Prepare(p)
	if err != nil {
		return nil, err
	}
	out := *table.Data()
	out.Labels = nil
	return &out, nil
}
