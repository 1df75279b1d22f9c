package session

import (
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
)

// Extensions returns the formats of data that are in packages of their own. All questions of the
// commands about formats go through this file.
func Extensions() []dataset.Extension { return []dataset.Extension{parquet.Format(), arrow.Format()} }

// Formats returns the names of the input formats of data.
func Formats() []string { return dataset.Formats(Extensions()...) }

// OutputFormats returns the names of the output formats of matrices.
func OutputFormats() []string { return dataset.OutputFormats(Extensions()...) }

// FormatOf returns the format that a file's name implies, "" for none.
func FormatOf(path string) string { return dataset.FormatOf(path, Extensions()...) }
