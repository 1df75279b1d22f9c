package parquet

import "github.com/mustlink/mustlink/engine/dataset"

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in .parquet, and the name parquet.
func Format() dataset.Extension {
	return dataset.Extension{Name: "parquet", Endings: []string{".parquet"}, Open: open, Write: write}
}
