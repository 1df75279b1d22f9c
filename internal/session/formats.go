package session

import (
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
)

// Extensions returns the formats of data that are in packages of their own. What commands ask of
// dataset about formats goes through this file.
func Extensions() []dataset.Extension { return []dataset.Extension{parquet.Format()} }

// Formats returns the names of the formats that data are read in.
func Formats() []string { return dataset.Formats(Extensions()...) }

// OutputFormats returns those that matrices are written in.
func OutputFormats() []string { return dataset.OutputFormats(Extensions()...) }

// FormatOf returns the format that a file's name tells, "" for none.
func FormatOf(path string) string { return dataset.FormatOf(path, Extensions()...) }
