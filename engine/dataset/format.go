package dataset

import (
	"path/filepath"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// format is one row of the table of file formats. A format that only goes one way has nil
// for the other.
type format struct {
	name       string
	extensions []string
	decode     func(src *source, o ReadOptions, rep *report) (*table, error)
	encode     func(w *matrixWriter) error
}

// formats is the table. Adding a format is adding a row here.
func formats() []format {
	return []format{
		{"csv", []string{".csv"}, decodeCSV, encodeCSV},
		{"npy", []string{".npy"}, decodeNPY, encodeNPY},
	}
}

// Formats returns the names of the data formats; each may have ".gz" behind it.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// inputFormat returns the format to read a file in, and whether it is compressed.
func inputFormat(path, name string) (format, bool, error) {
	return lookupFormat(path, name, func(f format) bool { return f.decode != nil })
}

func outputFormat(path, name string) (format, bool, error) {
	return lookupFormat(path, name, func(f format) bool { return f.encode != nil })
}

// lookupFormat finds a format by name ("csv", "npy.gz") or else by the extension of path;
// a stream "-" without a name is CSV. A path that ends in .gz is compressed whatever the
// name says.
func lookupFormat(path, name string, usable func(format) bool) (format, bool, error) {
	if path == "-" && name == "" {
		name = "csv"
	}
	base := strings.ToLower(filepath.Base(path))
	base, gzPath := strings.CutSuffix(base, ".gz")
	given, gzName := strings.CutSuffix(strings.ToLower(name), ".gz")
	var choices []string
	for _, f := range formats() {
		if !usable(f) {
			continue
		}
		choices = append(choices, f.name)
		if name != "" {
			if f.name == given {
				return f, gzPath || gzName, nil
			}
			continue
		}
		for _, e := range f.extensions {
			if strings.HasSuffix(base, e) {
				return f, gzPath, nil
			}
		}
	}
	if name != "" {
		return format{}, false, fault.Unknown("format", name, choices)
	}
	return format{}, false, &fault.ParamError{Param: "format of " + path, Value: filepath.Ext(base),
		Want: "one of ." + strings.Join(choices, ", .") + " (each also .gz), or the format's name beside it"}
}
