package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Stream is the path of standard input or output.
const Stream = "-"

// NameOr returns name, or other if name is empty.
func NameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// SameFile reports whether two paths name one file; one that does not exist is compared by
// its cleaned path.
func SameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// FormatFor returns the name of the format of path: "" if the extension implies it, else the value
// of --format, which for a Stream defaults to CSV.
func FormatFor(path, flag string) string {
	if path == Stream {
		if flag == "" {
			return "csv"
		}
		return flag
	}
	if FormatOf(path) != "" {
		return ""
	}
	return flag
}

// OutputFormatFor is FormatFor for a file to write. --format is about the input first: if it names
// a format that matrices are not written in, it is ignored for the output.
func OutputFormatFor(path, flag string) string {
	if name := FormatOf("." + flag); name != "" && !slices.Contains(OutputFormats(), name) {
		flag = ""
	}
	return FormatFor(path, flag)
}

// MakeFolder creates the folder of an output, if there is one, but not its parents, and checks that
// it is writable.
func MakeFolder(path string) error {
	if path == "" {
		return nil
	}
	switch err := os.Mkdir(path, 0o777); {
	case errors.Is(err, os.ErrNotExist):
		return fault.Data(path, "cannot make the folder: no such folder %s: %w", filepath.Dir(path), errors.Unwrap(err))
	case err != nil && !errors.Is(err, os.ErrExist):
		return fault.Data(path, "cannot make the folder: %w", errors.Unwrap(err))
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fault.Data(path, "it is a file: want a folder")
	}
	return nil
}
