package main

import (
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
)

// extensions returns the formats of data that are in packages of their own. What the command asks of dataset about formats goes
// through this file.
func extensions() []dataset.Extension { return []dataset.Extension{parquet.Format()} }

// formats returns the names of the formats that data are read in.
func formats() []string { return dataset.Formats(extensions()...) }

// outputFormats returns those that matrices are written in.
func outputFormats() []string { return dataset.OutputFormats(extensions()...) }

// formatOf returns the format that a file's name tells, "" for none.
func formatOf(path string) string { return dataset.FormatOf(path, extensions()...) }
