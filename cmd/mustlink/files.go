package main

import (
	"os"
	"path/filepath"
	"slices"
)

// stream is the path that stands for standard input or output.
const stream = "-"

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// sameFile reports whether two paths name one file; one that does not exist is compared by
// its cleaned path.
func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// formatFor returns the format name to read path in: "" where the extension says it, else
// the value of --format, which for a stream defaults to CSV.
func formatFor(path, flag string) string {
	if path == stream {
		if flag == "" {
			return "csv"
		}
		return flag
	}
	if formatOf(path) != "" {
		return ""
	}
	return flag
}

// outputFormatFor is formatFor for a file to write. --format speaks of what is read first:
// where it names a format that matrices are not written in, it says nothing here.
func outputFormatFor(path, flag string) string {
	if name := formatOf("." + flag); name != "" && !slices.Contains(outputFormats(), name) {
		flag = ""
	}
	return formatFor(path, flag)
}
